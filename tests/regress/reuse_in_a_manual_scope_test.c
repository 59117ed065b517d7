/* SPDX-License-Identifier: Apache-2.0 */
/* reuse_in_a_manual_scope_test.c - the smallest program that random graphs found: inside a manual scope an intermediate takes the bytes
 * of an ended scope. The noop of that reuse stood in its latest producer's wake list before the begin of the scope, which has the
 * lower id, and nothing ordered the tasks of the scope behind it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { SLOW_SUM, SET, KERNEL_COUNT, CELLS = 64 };

/* Reads its last element 5 ms after the others. */
static int slow_sum(const struct hbg_task_view *t)
{
    const volatile int32_t *x = HBG_VIEW(const volatile int32_t, t, 0);
    int32_t sum = 0;
    for (int i = 0; i < CELLS - 1; i++) sum += x[i];
    sleep_ms(5);
    *HBG_VIEW(int32_t, t, 1) = sum + x[CELLS - 1];
    return 0;
}

static int set(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 0)[i] = hbg_view_i32(t, 1);
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(SLOW_SUM, slow_sum, NULL), HBG_KERNEL(SET, set, NULL) };

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region y = hbg_args_region(args, 0);
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    struct hbg_region old = hbg_alloc(g, HBG_I32, HBG_SHAPE(CELLS));
    hbg_submit(g, SET, hbg_out(old), hbg_i32(1));
    hbg_submit(g, SLOW_SUM, hbg_in(old), hbg_out(hbg_index(y, 0, 0)));
    hbg_scope_end(g);
    hbg_scope_begin(g, HBG_SCOPE_MANUAL);
    struct hbg_region tenant = hbg_alloc(g, HBG_I32, HBG_SHAPE(CELLS));
    struct hbg_task made = hbg_submit(g, SET, hbg_out(tenant), hbg_i32(2));
    hbg_submit(g, SLOW_SUM, hbg_in(tenant), hbg_out(hbg_index(y, 0, 1)), hbg_after(made));
    hbg_scope_end(g);
}

static void reuse_in_a_manual_scope(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.limit_heap_bytes = CELLS * sizeof(int32_t);         /* for one of the two */
    struct hbg_device *device = device_open(kind->spec, &options);
    int32_t y[2] = { 0 };
    graph_run(device, build, KERNELS(kernels), HBG_ARGS(hbg_out(HOST_I32(y, 2))), NULL, NULL);
    assert_int_equal(y[0], CELLS);
    assert_int_equal(y[1], 2 * CELLS);
    assert_true(counters_of(device).reuse_edges > 0);
    device_close(device);
}

/* Scopes inside a manual one end, but nothing orders whoever would use their bytes: new ones are taken, or there is no room. */
static void nested_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region y = hbg_args_region(args, 0);
    hbg_scope_begin(g, HBG_SCOPE_MANUAL);
    for (int i = 0; i < 2; i++) {
        hbg_scope_begin(g, HBG_SCOPE_AUTO);
        struct hbg_region u = hbg_alloc(g, HBG_I32, HBG_SHAPE(CELLS));
        struct hbg_task made = hbg_submit(g, SET, hbg_out(u), hbg_i32(i + 1));
        hbg_submit(g, SLOW_SUM, hbg_in(u), hbg_out(hbg_index(y, 0, i)), hbg_after(made));
        hbg_scope_end(g);
    }
    hbg_scope_end(g);
}

static void no_reuse_between_nested_scopes(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device_options soft = HBG_OPTIONS(device_options), hard = HBG_OPTIONS(device_options);
    soft.heap_reuse_after_bytes = hard.limit_heap_bytes = CELLS * sizeof(int32_t);
    int32_t y[2] = { 0 };
    struct hbg_device *device = device_open(kind->spec, &soft);
    for (int round = 0; round < 5; round++) {
        graph_run(device, nested_build, KERNELS(kernels), HBG_ARGS(hbg_out(HOST_I32(y, 2))), NULL, NULL);
        assert_int_equal(y[0], CELLS);
        assert_int_equal(y[1], 2 * CELLS);
    }
    device_close(device);
    device = device_open(kind->spec, &hard);
    struct hbg_program *program = PROGRAM(device, nested_build, kernels);
    assert_string_equal(program_run_fails(program, HBG_ARGS(hbg_out(HOST_I32(y, 2))), HBG_E_LIMIT).name, "limit_heap_bytes");
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(reuse_in_a_manual_scope), DEVICE_TEST(no_reuse_between_nested_scopes) };
    return DEVICE_TESTS_RUN(tests);
}
