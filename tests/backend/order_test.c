/* SPDX-License-Identifier: Apache-2.0 */
/* order_test.c - orders that the user asks for: explicit edges, noops, barriers; and accesses that make none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define N 1024                          /* a user's macros do not reach into hbg_submit */
#include <hbg/hbg.h>
#include "image/layout.h"
#include "support/devices.h"
#include "support/program.h"

enum { NOTHING, SET, COPY, KERNEL_COUNT };

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }

static int set(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 0) = hbg_view_i32(t, 1);
    return 0;
}

static int copy(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 1) = *HBG_VIEW(const int32_t, t, 0);
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(NOTHING, nothing, NULL), HBG_KERNEL(SET, set, NULL), HBG_KERNEL(COPY, copy, NULL) };

static void edges_of(struct hbg_device *device, hbg_build_fn *build, struct hbg_arg_list list, struct edges *edges)
{
    struct hbg_program *program = PROGRAM(device, build, kernels);
    program_run(program, list, NULL, edges);
    hbg_program_destroy(program);
}

/* ---- explicit edges ---- */

static void after_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    struct hbg_task a = hbg_submit(g, NOTHING), b = hbg_submit(g, NOTHING);
    struct hbg_task c = hbg_submit(g, NOTHING, hbg_after(a), hbg_after(b), hbg_after(a));       /* named twice: one edge */
    struct hbg_task d = hbg_noop(g, hbg_after(c));
    hbg_submit(g, NOTHING, hbg_after(d));
}

static void explicit_edges(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct edges edges;
    edges_of(device, after_build, HBG_NO_ARGS, &edges);
    assert_true(edges_are(&edges, "0>2 1>2 2>3 3>4"));
    assert_int_equal(edges.noop_count, 1);
    assert_true(edges.flags[3] & HBG__TASK_NOOP);
    edges_free(&edges);
}

/* hbg_after takes no position: the scalar behind it is argument 1 of the kernel. */
static void positions_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    struct hbg_task first = hbg_submit(g, SET, hbg_out(x), hbg_i32(1));
    hbg_submit(g, SET, hbg_after(first), hbg_inout(x), hbg_after(first), hbg_i32(2));
}

static void after_takes_no_position(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x = 0;
    struct edges edges;
    edges_of(device, positions_build, HBG_ARGS(hbg_out(HOST_I32(&x, 1))), &edges);
    assert_true(edges_are(&edges, "0>1"));
    edges_free(&edges);
    assert_int_equal(x, 2);
}

/* ---- noops and barriers ---- */

static void noop_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    hbg_submit(g, SET, hbg_out(hbg_index(x, 0, 0)), hbg_i32(1));
    hbg_submit(g, SET, hbg_out(hbg_index(x, 0, 1)), hbg_i32(2));
    hbg_noop(g, hbg_inout(x));
    hbg_submit(g, COPY, hbg_in(hbg_index(x, 0, 0)), hbg_out(hbg_index(x, 0, 2)));
    hbg_submit(g, COPY, hbg_in(hbg_index(x, 0, 1)), hbg_out(hbg_index(x, 0, 3)));
}

static void a_noop_is_a_task_without_a_kernel(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[4] = { 0 };
    struct edges edges;
    edges_of(device, noop_build, HBG_ARGS(hbg_inout(HOST_I32(x, 4))), &edges);
    assert_true(edges_are(&edges, "0>2 1>2 2>3 2>4"));
    edges_free(&edges);
    assert_int_equal(x[0], 1);          /* a noop writes nothing */
    assert_int_equal(x[2], 1);
    assert_int_equal(x[3], 2);
}

static void barrier_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    hbg_barrier(g);                     /* nothing is there to wait for */
    for (int i = 0; i < 200; i++) hbg_submit(g, NOTHING);
    hbg_barrier(g);
    hbg_barrier(g);
    for (int i = 0; i < 200; i++) hbg_submit(g, NOTHING);
}

static void a_barrier_parts_the_graph(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct edges edges;
    uint32_t first[200], second[200], tasks = 0;
    edges_of(device, barrier_build, HBG_NO_ARGS, &edges);
    for (uint32_t t = 0; t < edges.task_count; t++) {
        if (edges.flags[t] & HBG__TASK_NOOP) continue;
        if (tasks < 200) first[tasks] = t;
        else if (tasks < 400) second[tasks - 200] = t;
        tasks++;
    }
    assert_int_equal(tasks, 400);
    struct closure closure;
    closure_of_edges(&closure, &edges, false);
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < 200; k++) {
            assert_true(closure_before(&closure, first[i], second[k]));
            if (i < k) assert_false(closure_before(&closure, first[i], first[k]) || closure_before(&closure, second[i], second[k]));
        }
    }
    assert_true(edges.count < 1000);    /* through a noop, not 200 x 200 */
    closure_free(&closure);
    edges_free(&edges);
}

/* ---- accesses that order nothing ---- */

static void untracked_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    hbg_submit(g, NOTHING, hbg_inout(x));
    struct hbg_task set_it = hbg_submit(g, SET, hbg_untracked(hbg_index(x, 0, 2)), hbg_i32(77));
    hbg_submit(g, COPY, hbg_untracked(hbg_index(x, 0, 2)), hbg_untracked(hbg_index(x, 0, 3)), hbg_after(set_it));
}

static void untracked_reaches_the_kernel(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[4] = { 1, 2, 3, 4 };
    struct edges edges;
    edges_of(device, untracked_build, HBG_ARGS(hbg_inout(HOST_I32(x, 4))), &edges);
    assert_true(edges_are(&edges, "1>2"));
    edges_free(&edges);
    assert_int_equal(x[2], 77);
    assert_int_equal(x[3], 77);
    assert_int_equal(x[0], 1);
}

static void readers_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    for (int i = 0; i < 50; i++) hbg_submit(g, NOTHING, hbg_in(x), hbg_in(hbg_index(x, 0, i % 4)));
}

static void readers_are_apart(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[4] = { 0 };
    struct edges edges;
    edges_of(device, readers_build, HBG_ARGS(hbg_in(hbg_host_const(x, HBG_I32, HBG_SHAPE(4)))), &edges);
    assert_int_equal(edges.count, 0);
    edges_free(&edges);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(explicit_edges), DEVICE_TEST(after_takes_no_position), DEVICE_TEST(a_noop_is_a_task_without_a_kernel),
        DEVICE_TEST(a_barrier_parts_the_graph), DEVICE_TEST(untracked_reaches_the_kernel), DEVICE_TEST(readers_are_apart),
    };
    return DEVICE_TESTS_RUN(tests);
}
