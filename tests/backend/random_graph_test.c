/* SPDX-License-Identifier: Apache-2.0 */
/* random_graph_test.c - thousands of seeded random programs, executed and compared byte for byte with a sequential oracle.
 *
 * The same oracle for every device makes results bit-identical for 1, 2 and 8 workers, unified and discrete, built and replayed.
 * A program that fails is made smaller as long as it fails, and printed with its seed.
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

struct attempt { struct hbg_device *device; struct graph_way way; int tries; };

static bool fails(void *user, const struct random_graph *graph)
{
    const struct attempt *attempt = user;
    for (int i = 0; i < attempt->tries; i++) {
        if (!graph_runs_right(attempt->device, graph, &attempt->way)) return true;
    }
    return false;
}

static void check(struct attempt *attempt, const char *spec, uint64_t seed, const struct graph_taste *taste)
{
    struct random_graph graph;
    random_graph_draw(&graph, seed, taste);
    attempt->tries = 1;
    if (fails(attempt, &graph)) {
        attempt->tries = 20;                    /* a race does not show every time */
        random_graph_shrink(&graph, fails, attempt);
        attempt->way.loud = true;
        bool again = fails(attempt, &graph);
        random_graph_print(&graph);
        fail_msg("seed %" PRIu64 " on %s%s is wrong; above is the smallest program found%s", seed, spec, attempt->way.pure ? ", pure" : "", again ? "" : ", which fails rarely");
    }
    random_graph_free(&graph);
}

/* Every program on one kind of device, in turn; every eighth on all of them. Even seeds are pure and replayed. */
static void check_all(const char *extra, const struct hbg_device_options *options, int count, uint64_t seed, const struct graph_taste *taste, bool bodies)
{
    struct hbg_device *devices[DEVICE_KIND_COUNT];
    char specs[DEVICE_KIND_COUNT][128];
    for (int k = 0; k < DEVICE_KIND_COUNT; k++) {
        snprintf(specs[k], sizeof specs[k], "%s%s", DEVICE_KINDS[k].spec, extra);
        devices[k] = device_open(specs[k], options);
    }
    for (int i = 0; i < test_scaled(count); i++) {
        for (int k = 0; k < DEVICE_KIND_COUNT; k++) {
            if (i % 8 != 0 && k != i % DEVICE_KIND_COUNT) continue;
            bool pure = i / 2 % 2;
            struct attempt attempt = { .device = devices[k], .way = { .pure = pure, .rounds = pure ? 3 : 1, .bodies = bodies ? test_seed(seed) + (uint64_t)i : 0 } };
            check(&attempt, specs[k], test_seed(seed) + (uint64_t)i, taste);
        }
    }
    for (int k = 0; k < DEVICE_KIND_COUNT; k++) device_close(devices[k]);
}

static void plain_graphs(void **state)
{
    (void)state;
    const struct graph_taste taste = { .op_min = 1, .op_max = 80, .window_bytes = 400, .buffers = 2, .intermediates = 3 };
    check_all("", NULL, 1600, 10000000, &taste, false);
}

static void graphs_with_scopes_and_orders(void **state)
{
    (void)state;
    const struct graph_taste taste = { .op_min = 5, .op_max = 120, .window_bytes = 300, .buffers = 2, .intermediates = 8, .scopes = true, .orders = true };
    check_all("", NULL, 1100, 20000000, &taste, false);
}

/* A heap that hardly holds the intermediates: their bytes are used again, and the order that this takes is made. */
static void graphs_in_a_small_heap(void **state)
{
    (void)state;
    const struct graph_taste taste = { .op_min = 20, .op_max = 200, .window_bytes = 500, .buffers = 1, .intermediates = 10, .scopes = true };
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.heap_reuse_after_bytes = 2048;
    check_all("", &options, 600, 30000000, &taste, false);
}

static void long_graphs(void **state)
{
    (void)state;
    const struct graph_taste taste = { .op_min = 800, .op_max = 2500, .window_bytes = 3000, .buffers = 2, .intermediates = 4 };
    check_all("", NULL, 20, 40000000, &taste, false);
}

static void poisoned_graphs(void **state)
{
    (void)state;
    const struct graph_taste taste = { .op_min = 1, .op_max = 100, .window_bytes = 400, .buffers = 2, .intermediates = 6, .scopes = true, .orders = true };
    check_all(",poison=1", NULL, 400, 50000000, &taste, false);
}

/* Half of the steps stand in bodies of subgraphs, nested up to three deep: the result is that of the same steps without them. */
static void graphs_with_bodies(void **state)
{
    (void)state;
    const struct graph_taste plain = { .op_min = 1, .op_max = 80, .window_bytes = 400, .buffers = 2, .intermediates = 3 };
    const struct graph_taste all = { .op_min = 5, .op_max = 120, .window_bytes = 300, .buffers = 2, .intermediates = 8, .scopes = true, .orders = true };
    check_all("", NULL, 800, 60000000, &plain, true);
    check_all("", NULL, 800, 70000000, &all, true);
    check_all(",poison=1", NULL, 200, 80000000, &all, true);
}

/* ---- the shrinker ---- */

/* A stand-in for a fault: two writes of one window, the second through a view of rank 2 or more. */
static bool has_the_pattern(void *user, const struct random_graph *graph)
{
    int *calls = user;
    bool written[GRAPH_WINDOW_MAX] = { false };
    ++*calls;
    for (int i = 0; i < graph->op_count; i++) {
        for (int a = 0; a < graph->op[i].access_count; a++) {
            const struct graph_access *access = &graph->op[i].access[a];
            if (access->mode == HBG_ARG_IN) continue;
            if (written[access->window] && access->view.rank >= 2) return true;
            written[access->window] = true;
        }
    }
    return false;
}

static void a_failing_program_is_made_small(void **state)
{
    (void)state;
    const struct graph_taste taste = { .op_min = 100, .op_max = 100, .window_bytes = 400, .buffers = 2, .intermediates = 3, .scopes = true, .orders = true };
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct random_graph graph;
        int calls = 0;
        random_graph_draw(&graph, seed, &taste);
        assert_true(has_the_pattern(&calls, &graph));
        random_graph_shrink(&graph, has_the_pattern, &calls);
        assert_true(has_the_pattern(&calls, &graph));
        int accesses = 0;
        for (int i = 0; i < graph.op_count; i++) accesses += graph.op[i].access_count + graph.op[i].after_count;
        assert_int_equal(accesses, 2);
        assert_true(graph.op_count <= 2);
        assert_true(calls < 5000);
        random_graph_free(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failing_program_is_made_small), cmocka_unit_test(plain_graphs), cmocka_unit_test(graphs_with_scopes_and_orders),
        cmocka_unit_test(graphs_in_a_small_heap), cmocka_unit_test(long_graphs), cmocka_unit_test(poisoned_graphs), cmocka_unit_test(graphs_with_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
