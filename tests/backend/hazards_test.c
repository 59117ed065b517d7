/* SPDX-License-Identifier: Apache-2.0 */
/* hazards_test.c - read-after-write, write-after-read and write-after-write, on whole buffers, rows and overlapping parts.
 *
 * Edges are compared with the exact set that the accesses need; values with what one task after the other would have left.
 */
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { FILL, SUM, SLOW_SUM, MEET_FILL, ADD_INTO, SUM_TWO, KERNEL_COUNT };

/* How many tasks must be inside a kernel at once before any of them goes on; they give up after two seconds. */
static atomic_int meet_wanted, meet_inside, meet_failed;

static void meet(void)
{
    uint64_t until = wall_ns() + 2000000000u;
    atomic_fetch_add(&meet_inside, 1);
    while (atomic_load(&meet_inside) < atomic_load(&meet_wanted)) {     /* another task of the meeting enters, or time is up */
        if (wall_ns() > until) {
            atomic_store(&meet_failed, 1);
            return;
        }
        sleep_ms(1);
    }
}

static void meeting_of(int tasks)
{
    atomic_store(&meet_wanted, tasks);
    atomic_store(&meet_inside, 0);
    atomic_store(&meet_failed, 0);
}

static int fill(const struct hbg_task_view *t)
{
    int32_t *x = HBG_VIEW(int32_t, t, 0);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) x[i] = hbg_view_i32(t, 1);
    return 0;
}

static int sum(const struct hbg_task_view *t)
{
    const int32_t *x = HBG_VIEW(const int32_t, t, 0);
    int32_t s = 0;
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) s += x[i];
    *HBG_VIEW(int32_t, t, 1) = s;
    return 0;
}

/* Reads its last element 20 ms after the others, so that a writer which does not wait is seen. */
static int slow_sum(const struct hbg_task_view *t)
{
    const volatile int32_t *x = HBG_VIEW(const volatile int32_t, t, 0);
    int32_t s = 0;
    int64_t last = hbg_view_count(t, 0) - 1;
    for (int64_t i = 0; i < last; i++) s += x[i];
    meet();
    sleep_ms(20);
    *HBG_VIEW(int32_t, t, 1) = s + x[last];
    return 0;
}

static int meet_fill(const struct hbg_task_view *t)
{
    int code = fill(t);
    meet();
    return code;
}

static int add_into(const struct hbg_task_view *t)
{
    const int32_t *x = HBG_VIEW(const int32_t, t, 0);
    int32_t *y = HBG_VIEW(int32_t, t, 1);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) y[i] += x[i];
    return 0;
}

static int sum_two(const struct hbg_task_view *t)
{
    int32_t s = 0;
    for (int a = 0; a < 2; a++) {
        for (int64_t i = 0; i < hbg_view_count(t, a); i++) s += HBG_VIEW(const int32_t, t, a)[i];
    }
    *HBG_VIEW(int32_t, t, 2) = s;
    return 0;
}

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(FILL, fill, "out i32, i32"), HBG_KERNEL(SUM, sum, "in i32, out i32"), HBG_KERNEL(SLOW_SUM, slow_sum, "in i32, out i32"),
    HBG_KERNEL(MEET_FILL, meet_fill, "out i32, i32"), HBG_KERNEL(ADD_INTO, add_into, "in i32, inout i32"),
    HBG_KERNEL(SUM_TWO, sum_two, "in i32, in i32, out i32"),
};

/* ---- readers share, a writer waits for them ---- */

static void readers_then_writer_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    for (int i = 0; i < 4; i++) hbg_submit(g, SLOW_SUM, hbg_in(x), hbg_out(hbg_index(y, 0, i)));
    hbg_submit(g, FILL, hbg_out(x), hbg_i32(7));
    hbg_submit(g, SUM, hbg_in(x), hbg_out(hbg_index(y, 0, 4)));
}

static void readers_then_writer(struct hbg_device *device, const struct device_kind *kind)
{
    static int32_t x[1024];
    int32_t y[5] = { 0 };
    struct edges edges;
    for (int i = 0; i < 1024; i++) x[i] = 1;
    meeting_of(kind->workers < 4 ? kind->workers : 4);
    graph_run(device, readers_then_writer_build, KERNELS(kernels), HBG_ARGS(hbg_inout(HOST_I32(x, 1024)), hbg_out(HOST_I32(y, 5))), NULL, &edges);
    assert_true(edges_are(&edges, "0>4 1>4 2>4 3>4 4>5"));
    edges_free(&edges);
    assert_int_equal(atomic_load(&meet_failed), 0);
    for (int i = 0; i < 4; i++) assert_int_equal(y[i], 1024);
    assert_int_equal(y[4], 7168);
    for (int i = 0; i < 1024; i++) assert_int_equal(x[i], 7);
}

/* ---- rows of one buffer are apart ---- */

static void disjoint_rows_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    hbg_submit(g, MEET_FILL, hbg_out(hbg_slice(x, 0, 0, 1)), hbg_i32(3));
    hbg_submit(g, MEET_FILL, hbg_out(hbg_slice(x, 0, 1, 2)), hbg_i32(5));
    hbg_submit(g, SUM, hbg_in(hbg_slice(x, 0, 0, 1)), hbg_out(hbg_index(y, 0, 0)));
    hbg_submit(g, SUM, hbg_in(hbg_slice(x, 0, 1, 2)), hbg_out(hbg_index(y, 0, 1)));
    hbg_submit(g, SUM, hbg_in(x), hbg_out(hbg_index(y, 0, 2)));
}

static void disjoint_rows(struct hbg_device *device, const struct device_kind *kind)
{
    static int32_t x[2][512];
    int32_t y[3] = { 0 };
    struct edges edges;
    meeting_of(kind->workers < 2 ? 1 : 2);
    uint64_t begin = wall_ns();
    graph_run(device, disjoint_rows_build, KERNELS(kernels), HBG_ARGS(hbg_out(hbg_host(x, HBG_I32, HBG_SHAPE(2, 512))), hbg_out(HOST_I32(y, 3))), NULL, &edges);
    assert_true(wall_ns() - begin < 1000000000u);
    assert_true(edges_are(&edges, "0>2 1>3 0>4 1>4"));
    edges_free(&edges);
    assert_int_equal(atomic_load(&meet_failed), 0);
    assert_int_equal(y[0], 3 * 512);
    assert_int_equal(y[1], 5 * 512);
    assert_int_equal(y[2], 8 * 512);
}

/* ---- parts that cover one another in part ---- */

static void partial_cover_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    hbg_submit(g, FILL, hbg_out(hbg_slice(x, 0, 0, 100)), hbg_i32(1));
    hbg_submit(g, FILL, hbg_out(hbg_slice(x, 0, 50, 150)), hbg_i32(2));
    hbg_submit(g, SUM, hbg_in(hbg_slice(x, 0, 0, 150)), hbg_out(hbg_index(y, 0, 0)));
    hbg_submit(g, FILL, hbg_out(hbg_slice(x, 0, 0, 150)), hbg_i32(3));
    hbg_submit(g, SUM, hbg_in(hbg_slice(x, 0, 10, 20)), hbg_out(hbg_index(y, 0, 1)));
}

static void partial_cover(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[150], y[2] = { 0 };
    struct edges edges;
    graph_run(device, partial_cover_build, KERNELS(kernels), HBG_ARGS(hbg_out(HOST_I32(x, 150)), hbg_out(HOST_I32(y, 2))), NULL, &edges);
    static const struct edge needed[] = { { 0, 1 }, { 0, 2 }, { 1, 2 }, { 2, 3 }, { 3, 4 } };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        assert_true(edges_reach(&edges, needed[i].producer, needed[i].consumer));
    }
    edges_free(&edges);
    assert_int_equal(y[0], 250);
    assert_int_equal(y[1], 30);
    for (int i = 0; i < 150; i++) assert_int_equal(x[i], 3);
}

/* ---- the same region twice, several parts of one producer ---- */

static void twice_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1), z = hbg_args_region(args, 2);
    hbg_submit(g, FILL, hbg_out(x), hbg_i32(4));
    hbg_submit(g, ADD_INTO, hbg_in(x), hbg_inout(x));                       /* 1: runs once, no edge to itself */
    hbg_submit(g, SUM_TWO, hbg_in(hbg_slice(x, 0, 0, 10)), hbg_in(hbg_slice(x, 0, 90, 100)), hbg_out(hbg_index(y, 0, 0)));
    hbg_submit(g, ADD_INTO, hbg_in(hbg_slice(x, 0, 20, 30)), hbg_inout(hbg_slice(x, 0, 20, 30)));
    hbg_submit(g, SUM, hbg_in(x), hbg_out(z));                              /* 4: after 1 and 3 */
}

static void same_region_twice(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[100], y[1] = { 0 }, z[1] = { 0 };
    struct edges edges;
    struct hbg_result result = HBG_OPTIONS(result);
    graph_run(device, twice_build, KERNELS(kernels), HBG_ARGS(hbg_out(HOST_I32(x, 100)), hbg_out(HOST_I32(y, 1)), hbg_out(HOST_I32(z, 1))), &result, &edges);
    assert_int_equal(edges_into(&edges, 1), 1);
    assert_int_equal(edges_into(&edges, 2), 1);         /* three arguments, one producer */
    assert_true(edges_have(&edges, 0, 1) && edges_have(&edges, 1, 2) && edges_have(&edges, 1, 3) && edges_have(&edges, 3, 4));
    assert_false(edges_reach(&edges, 2, 3));
    edges_free(&edges);
    assert_int_equal(result.tasks, 5);
    assert_int_equal(y[0], 20 * 8);
    assert_int_equal(z[0], 90 * 8 + 10 * 16);
}

/* ---- both write hazards of one buffer alone ---- */

static void chain_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    hbg_submit(g, FILL, hbg_out(x), hbg_i32(1));
    hbg_submit(g, FILL, hbg_out(x), hbg_i32(2));        /* 1: write after write, although nobody read */
    hbg_submit(g, SUM, hbg_in(x), hbg_out(y));
    hbg_submit(g, FILL, hbg_out(x), hbg_i32(3));        /* 3: write after read */
    hbg_submit(g, FILL, hbg_out(y), hbg_i32(9));        /* 4: after the writer of y, which wrote it as an output */
}

static void every_hazard(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[8], y[1] = { 0 };
    struct edges edges;
    graph_run(device, chain_build, KERNELS(kernels), HBG_ARGS(hbg_out(HOST_I32(x, 8)), hbg_out(HOST_I32(y, 1))), NULL, &edges);
    assert_true(edges_have(&edges, 0, 1) && edges_have(&edges, 1, 2) && edges_have(&edges, 2, 3) && edges_have(&edges, 2, 4));
    assert_false(edges_reach(&edges, 3, 4));
    edges_free(&edges);
    assert_int_equal(x[7], 3);
    assert_int_equal(y[0], 9);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(readers_then_writer), DEVICE_TEST(disjoint_rows), DEVICE_TEST(partial_cover),
        DEVICE_TEST(same_region_twice), DEVICE_TEST(every_hazard),
    };
    return DEVICE_TESTS_RUN(tests);
}
