/* SPDX-License-Identifier: Apache-2.0 */
/* degree_test.c - graphs that are wide, deep, empty: many producers of one task, many readers of one, and sizes from 0 up. */
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "image/layout.h"
#include "support/devices.h"
#include "support/program.h"

enum { SET, SUM, ADD_ONE, NOTHING, KERNEL_COUNT };

static atomic_uint ran;

static int set(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 0)[i] = hbg_view_i32(t, 1);
    return 0;
}

static int sum(const struct hbg_task_view *t)
{
    int32_t s = 0;
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) s += HBG_VIEW(const int32_t, t, 0)[i];
    *HBG_VIEW(int32_t, t, 1) = s;
    return 0;
}

static int add_one(const struct hbg_task_view *t)
{
    ++*HBG_VIEW(int32_t, t, 0);
    return 0;
}

static int nothing(const struct hbg_task_view *t)
{
    (void)t;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return 0;
}

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(SET, set, "out i32, i32"), HBG_KERNEL(SUM, sum, "in i32, out i32"), HBG_KERNEL(ADD_ONE, add_one, "inout i32"),
    HBG_KERNEL(NOTHING, nothing, NULL),
};

/* ---- fan-in ---- */

static void fan_in_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    for (int i = 0; i < 1000; i++) hbg_submit(g, SET, hbg_out(hbg_index(x, 0, i)), hbg_i32(i));
    hbg_submit(g, SUM, hbg_in(x), hbg_out(hbg_index(y, 0, 0)));
    hbg_submit(g, SUM, hbg_in(x), hbg_out(hbg_index(y, 0, 1)));
}

/* Producer comes before consumer directly, or through one noop and nothing else. */
static bool before_by_noop(const struct edges *edges, uint32_t producer, uint32_t consumer)
{
    for (uint64_t i = 0; i < edges->count; i++) {
        if (edges->edge[i].consumer != consumer) continue;
        uint32_t direct = edges->edge[i].producer;
        if (direct == producer) return true;
        if (edges->flags[direct] & HBG__TASK_NOOP && edges_have(edges, producer, direct)) return true;
    }
    return false;
}

static void a_thousand_producers(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static int32_t x[1000];
    int32_t y[2] = { 0 };
    struct edges edges;
    struct hbg_result result = HBG_OPTIONS(result);
    graph_run(device, fan_in_build, KERNELS(kernels), HBG_ARGS(hbg_out(HOST_I32(x, 1000)), hbg_out(HOST_I32(y, 2))), &result, &edges);
    assert_int_equal(y[0], 499500);
    assert_int_equal(y[1], 499500);
    assert_int_equal(result.tasks, 1002);                   /* inserted noops are counted apart from tasks */
    uint32_t sums[2], found = 0;
    for (uint32_t task = 0; task < edges.task_count; task++) {
        if (task >= 1000 && !(edges.flags[task] & HBG__TASK_NOOP)) sums[found++ % 2] = task;
    }
    assert_int_equal(found, 2);
    for (uint32_t i = 0; i < 1000; i += 37) {
        assert_true(before_by_noop(&edges, i, sums[0]));
        assert_true(before_by_noop(&edges, i, sums[1]));
    }
    assert_true(edges.count < 1400);                        /* the second reader shares the noop of the first */
    edges_free(&edges);
}

static void fan_out_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    hbg_submit(g, SET, hbg_out(x), hbg_i32(3));
    for (int i = 0; i < 10000; i++) hbg_submit(g, SUM, hbg_in(x), hbg_out(hbg_index(y, 0, i)));
    hbg_submit(g, SET, hbg_out(x), hbg_i32(4));
    hbg_submit(g, SUM, hbg_in(y), hbg_out(hbg_index(x, 0, 0)));
}

static void ten_thousand_readers(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static int32_t y[10000];
    int32_t x[4];
    struct edges edges;
    graph_run(device, fan_out_build, KERNELS(kernels), HBG_ARGS(hbg_out(HOST_I32(x, 4)), hbg_out(HOST_I32(y, 10000))), NULL, &edges);
    for (int i = 0; i < 10000; i++) assert_int_equal(y[i], 12);
    assert_int_equal(x[0], 120000);
    assert_int_equal(x[1], 4);
    uint32_t last = edges.task_count - 1;
    for (uint32_t i = 0; i < 10001; i += 997) assert_true(edges_reach(&edges, i, last));
    edges_free(&edges);
}

/* A run of whole writes leaves one producer; so does one whole write after many parts. */
static void rewritten_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    for (int i = 0; i < 130; i++) hbg_submit(g, SET, hbg_out(x), hbg_i32(i));
    hbg_submit(g, SUM, hbg_in(x), hbg_out(y));
}

static void whole_writes_supersede(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[64], y = 0;
    struct edges edges;
    graph_run(device, rewritten_build, KERNELS(kernels), HBG_ARGS(hbg_out(HOST_I32(x, 64)), hbg_out(HOST_I32(&y, 1))), NULL, &edges);
    assert_int_equal(edges_into(&edges, 130), 1);
    assert_int_equal(edges.count, 130);
    edges_free(&edges);
    assert_int_equal(y, 129 * 64);
}

/* ---- sizes ---- */

struct size { int32_t tasks; bool chain; };

static void size_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct size *size = params;
    for (int32_t i = 0; i < size->tasks; i++) {
        if (size->chain) hbg_submit(g, ADD_ONE, hbg_inout(hbg_args_region(args, 0)));
        else hbg_submit(g, NOTHING);
    }
}

static void sizes(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static const int32_t counts[] = { 0, 1, 2, 10000, 3 };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct size size = { counts[i], false };
        struct hbg_program *program = PROGRAM_WITH(device, size_build, kernels, size);
        struct hbg_result result = HBG_OPTIONS(result);
        int32_t x = 0;
        for (int round = 0; round < 3; round++) {
            atomic_store(&ran, 0);
            program_run(program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1))), &result, NULL);
            assert_int_equal(atomic_load(&ran), size.tasks);
            assert_int_equal(result.tasks, size.tasks);
            assert_int_equal(result.edges, 0);
        }
        hbg_program_destroy(program);
    }
}

static void no_arguments_at_all(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct size size = { 5, false };
    struct hbg_program *program = PROGRAM_WITH(device, size_build, kernels, size);
    atomic_store(&ran, 0);
    program_run(program, HBG_NO_ARGS, NULL, NULL);
    assert_int_equal(atomic_load(&ran), 5);
    hbg_program_destroy(program);
}

static void a_long_chain(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct size size = { 20000, true };
    struct hbg_program *program = PROGRAM_WITH(device, size_build, kernels, size);
    struct hbg_result result = HBG_OPTIONS(result);
    int32_t x = 5;
    program_run(program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1))), &result, NULL);
    assert_int_equal(x, 20005);
    assert_int_equal(result.edges, 19999);
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(a_thousand_producers), DEVICE_TEST(ten_thousand_readers), DEVICE_TEST(whole_writes_supersede),
        DEVICE_TEST(sizes), DEVICE_TEST(no_arguments_at_all), DEVICE_TEST(a_long_chain),
    };
    return DEVICE_TESTS_RUN(tests);
}
