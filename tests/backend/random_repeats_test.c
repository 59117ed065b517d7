/* SPDX-License-Identifier: Apache-2.0 */
/* random_repeats_test.c - seeded random programs that are built again and again, often changed a little: the results are those of a
 * sequential oracle, and each image is byte for byte the one that a program gives which has never been built.
 *
 * So a build that is compared with the last one, and left somewhere in its middle, ends as if it had been made from the start.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/graph_runner.h"
#include "support/program.h"

enum { ROUNDS = 8 };

struct attempt { struct hbg_device *device; struct graph_way way; };

static bool fails(void *user, const struct random_graph *graph)
{
    const struct attempt *attempt = user;
    return !graph_runs_right(attempt->device, graph, &attempt->way);
}

static void check(struct attempt *attempt, uint64_t seed, const struct graph_taste *taste)
{
    struct random_graph graph;
    random_graph_draw(&graph, seed, taste);
    if (fails(attempt, &graph)) {
        random_graph_shrink(&graph, fails, attempt);
        attempt->way.loud = true;
        (void)fails(attempt, &graph);
        random_graph_print(&graph);
        fail_msg("seed %" PRIu64 "%s is wrong, with changes %" PRIu64 "; above is the smallest program found", seed, attempt->way.told ? ", with signatures," : "", attempt->way.changes);
    }
    random_graph_free(&graph);
}

/* Of all builds, some must have been repeated: else nothing was tested. */
static void check_all(const struct device_kind *kind, const struct hbg_device_options *options, int count, uint64_t seed, const struct graph_taste *taste, uint64_t bodies)
{
    struct hbg_device *device = device_open(kind->spec, options), *twin = device_open(kind->spec, options);
    for (int i = 0; i < test_scaled(count); i++) {
        struct attempt attempt = { .device = device, .way = { .rounds = bodies ? 2 * ROUNDS : ROUNDS, .told = i % 2, .changes = test_seed(seed) + (uint64_t)i, .bodies = bodies ? bodies + (uint64_t)i : 0 } };
        attempt.way.twin = taste->buffers ? NULL : twin;
        check(&attempt, test_seed(seed) + (uint64_t)i, taste);
    }
    struct hbg_counters counters = counters_of(device);
    assert_true(counters.builds_repeated * 20 > counters.builds);
    assert_int_equal(counters_of(twin).builds_repeated, 0);
    device_close(twin);
    device_close(device);
}

static void plain_graphs(struct hbg_device *unused, const struct device_kind *kind)
{
    const struct graph_taste taste = { .op_min = 1, .op_max = 80, .window_bytes = 400, .intermediates = 3, .repeatable = true };
    const struct graph_taste buffers = { .op_min = 1, .op_max = 80, .window_bytes = 400, .intermediates = 3, .buffers = 3, .repeatable = true };
    (void)unused;
    check_all(kind, NULL, 120, 110000000, &taste, 0);
    check_all(kind, NULL, 120, 120000000, &buffers, 0);
}

static void graphs_with_scopes_and_orders(struct hbg_device *unused, const struct device_kind *kind)
{
    const struct graph_taste taste = { .op_min = 5, .op_max = 120, .window_bytes = 300, .intermediates = 8, .scopes = true, .orders = true, .repeatable = true };
    struct graph_taste buffers = taste;
    buffers.buffers = 2;
    (void)unused;
    check_all(kind, NULL, 120, 130000000, &taste, 0);
    check_all(kind, NULL, 60, 140000000, &buffers, 0);
}

static void graphs_in_a_small_heap(struct hbg_device *unused, const struct device_kind *kind)
{
    const struct graph_taste taste = { .op_min = 20, .op_max = 200, .window_bytes = 500, .intermediates = 10, .scopes = true, .repeatable = true };
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    (void)unused;
    options.heap_reuse_after_bytes = 2048;
    check_all(kind, &options, 60, 150000000, &taste, 0);
}

/* Half of the steps stand in bodies, nested up to three deep. */
static void graphs_with_bodies(struct hbg_device *unused, const struct device_kind *kind)
{
    const struct graph_taste plain = { .op_min = 1, .op_max = 80, .window_bytes = 400, .intermediates = 3, .repeatable = true };
    const struct graph_taste all = { .op_min = 5, .op_max = 120, .window_bytes = 300, .buffers = 2, .intermediates = 8, .scopes = true, .orders = true, .repeatable = true };
    (void)unused;
    check_all(kind, NULL, 80, 170000000, &plain, 171000000);
    check_all(kind, NULL, 80, 180000000, &all, 181000000);
}

static void long_graphs(struct hbg_device *unused, const struct device_kind *kind)
{
    const struct graph_taste taste = { .op_min = 800, .op_max = 2500, .window_bytes = 3000, .intermediates = 4, .repeatable = true };
    (void)unused;
    check_all(kind, NULL, 4, 160000000, &taste, 0);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(plain_graphs), DEVICE_TEST(graphs_with_scopes_and_orders), DEVICE_TEST(graphs_in_a_small_heap), DEVICE_TEST(long_graphs), DEVICE_TEST(graphs_with_bodies),
    };
    return DEVICE_TESTS_RUN(tests);
}
