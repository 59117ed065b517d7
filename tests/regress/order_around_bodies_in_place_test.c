/* SPDX-License-Identifier: Apache-2.0 */
/* A body in place that has no task is a noop with a newer id than the barrier before it. It did not follow the barrier, and whoever followed it was
 * taken to be behind the barrier. And a task of a body in place was taken to follow what the body's list names where its newest producer has an id
 * of the body's: the noop that joins many readers from before the body has one too. And the end of a body without tasks did not follow its list where
 * noops stand in it: those of a manual scope without tasks, or of an intermediate that takes used bytes of the heap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

enum { EMPTY, ADDS, EMPTY_SCOPE, TAKES_HEAP };
enum { READERS = 70 };                  /* more than a task has producers without a noop that joins them */

static struct hbg_region outside;
static struct hbg_task first, last;
static bool twice;
static int32_t what_is_left;

static void adds_outside(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    int32_t what = hbg_args_get_i32(args, 0);
    if (what == ADDS) hbg_submit(g, ADD, hbg_inout(outside), hbg_i32(1));
    if (what == TAKES_HEAP) (void)hbg_alloc(g, HBG_I32, HBG_SHAPE(1));
    if (what != EMPTY_SCOPE) return;
    hbg_scope_begin(g, HBG_SCOPE_MANUAL);
    hbg_scope_end(g);
}

/* Intermediates of a scope that has ended leave bytes to the body's. */
static void build_noops(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    outside = AT(x, 1);
    hbg_subgraph(g, KEY("adds"), adds_outside, HBG_ARGS(hbg_i32(ADDS)));
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    hbg_submit(g, COPY, hbg_in(AT(x, 2)), hbg_out(hbg_alloc(g, HBG_I32, HBG_SHAPE(1))));
    hbg_scope_end(g);
    first = hbg_submit(g, ADD, hbg_inout(AT(x, 0)), hbg_i32(1));
    struct hbg_task without = hbg_subgraph(g, KEY("adds"), adds_outside, HBG_ARGS(hbg_i32(what_is_left), hbg_after(first)));
    last = hbg_submit(g, ADD, hbg_inout(AT(x, 3)), hbg_i32(1), hbg_after(without));
}

/* What captures `outside` is not kept, and the other bodies of the key are submitted in place. */
static void build_barrier(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    outside = AT(x, 1);
    hbg_subgraph(g, KEY("adds"), adds_outside, HBG_ARGS(hbg_i32(ADDS)));
    first = hbg_submit(g, ADD, hbg_inout(AT(x, 0)), hbg_i32(1));
    hbg_barrier(g);
    struct hbg_task empty = hbg_subgraph(g, KEY("adds"), adds_outside, HBG_ARGS(hbg_i32(EMPTY)));
    if (twice) empty = hbg_subgraph(g, KEY("adds"), adds_outside, HBG_ARGS(hbg_i32(EMPTY), hbg_after(empty)));
    last = hbg_submit(g, ADD, hbg_inout(AT(x, 0)), hbg_i32(1), hbg_after(empty));
}

static void reads_outside(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, COPY, hbg_in(outside), hbg_out(hbg_alloc(g, HBG_I32, HBG_SHAPE(1))));
    last = hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void build_readers(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    outside = AT(x, 1);
    hbg_subgraph(g, KEY("reads"), reads_outside, HBG_ARGS(hbg_inout(AT(x, 2))));
    for (int i = 0; i < READERS; i++) hbg_submit(g, COPY, hbg_in(AT(x, 0)), hbg_out(AT(x, 3 + i)));
    first = hbg_submit(g, ADD, hbg_inout(AT(x, 2)), hbg_i32(1));
    hbg_subgraph(g, KEY("reads"), reads_outside, HBG_ARGS(hbg_inout(AT(x, 0)), hbg_after(first)));
}

static void check_order(struct hbg_device *device, hbg_build_fn *build)
{
    int32_t x[3 + READERS] = { 0 };
    struct hbg_program *program = PROGRAM(device, build, steps);
    for (int round = 0; round < 2; round++) {
        struct edges edges;
        uint64_t before = counters_of(device).subgraphs_in_place;
        program_edges(program, HBG_ARGS(hbg_inout(HOST_I32(x, 3 + READERS))), &edges);
        assert_true(counters_of(device).subgraphs_in_place > before);
        assert_true(edges_reach(&edges, first.id, last.id));
        edges_free(&edges);
    }
    hbg_program_destroy(program);
}

static void an_empty_body_stays_behind_the_barrier(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    for (int i = 0; i < 2; i++) {
        twice = i;
        check_order(device, build_barrier);
    }
}

static void tasks_follow_the_list_of_their_body(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    check_order(device, build_readers);
}

static void a_body_of_noops_follows_its_list(struct hbg_device *unused, const struct device_kind *kind)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    (void)unused;
    options.heap_reuse_after_bytes = 1;
    struct hbg_device *device = device_open(kind->spec, &options);
    for (what_is_left = EMPTY_SCOPE; what_is_left <= TAKES_HEAP; what_is_left++) check_order(device, build_noops);
    device_close(device);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(an_empty_body_stays_behind_the_barrier), DEVICE_TEST(tasks_follow_the_list_of_their_body), DEVICE_TEST(a_body_of_noops_follows_its_list),
    };
    return DEVICE_TESTS_RUN(tests);
}
