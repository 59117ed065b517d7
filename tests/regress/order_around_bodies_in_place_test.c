/* SPDX-License-Identifier: Apache-2.0 */
/* A body in place that has no task is a noop with a newer id than the barrier before it. It did not follow the barrier, and whoever followed it was
 * taken to be behind the barrier. And a task of a body in place was taken to follow what the body's list names where its newest producer has an id
 * of the body's: the noop that joins many readers from before the body has one too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

enum { READERS = 70 };                  /* more than a task has producers without a noop that joins them */

static struct hbg_region outside;
static struct hbg_task first, last;
static bool twice;

static void adds_outside(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    if (hbg_args_get_i32(args, 0)) hbg_submit(g, ADD, hbg_inout(outside), hbg_i32(1));
}

/* What captures `outside` is not kept, and the other bodies of the key are submitted in place. */
static void build_barrier(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    outside = AT(x, 1);
    hbg_subgraph(g, KEY("adds"), adds_outside, HBG_ARGS(hbg_i32(1)));
    first = hbg_submit(g, ADD, hbg_inout(AT(x, 0)), hbg_i32(1));
    hbg_barrier(g);
    struct hbg_task empty = hbg_subgraph(g, KEY("adds"), adds_outside, HBG_ARGS(hbg_i32(0)));
    if (twice) empty = hbg_subgraph(g, KEY("adds"), adds_outside, HBG_ARGS(hbg_i32(0), hbg_after(empty)));
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

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(an_empty_body_stays_behind_the_barrier), DEVICE_TEST(tasks_follow_the_list_of_their_body) };
    return DEVICE_TESTS_RUN(tests);
}
