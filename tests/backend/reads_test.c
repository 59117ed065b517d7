/* SPDX-License-Identifier: Apache-2.0 */
/* reads_test.c - build code that looks at data: what it gets, and the error at once when a submitted task writes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { SET, NOTHING, KERNEL_COUNT };

static int set(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 0)[i] = 9;
    return 0;
}

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }

static const struct hbg_kernel kernels[] = { HBG_KERNEL(SET, set, NULL), HBG_KERNEL(NOTHING, nothing, NULL) };

/* ---- values ---- */

static int32_t got[4][12];
static int32_t one;
static bool missing;

static void take(int row, struct hbg_graph *g, struct hbg_region x, int count)
{
    const int32_t *values = hbg_read(g, x);
    missing |= !values;
    for (int i = 0; i < count && values; i++) got[row][i] = values[i];
}

static void values_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);             /* 3 x 4 */
    take(0, g, x, 12);
    take(1, g, hbg_permute(x, HBG_SHAPE(1, 0)), 12);            /* row-major, as the view has it */
    take(2, g, hbg_slice(hbg_slice(x, 1, 1, 3), 0, 1, 3), 4);
    take(3, g, hbg_broadcast(hbg_index(x, 0, 2), HBG_SHAPE(3, 4)), 12);
    take(0, g, hbg_slice(x, 0, 1, 1), 0);                       /* nothing is read, and that is fine */
    one = hbg_read_i32(g, hbg_permute(x, HBG_SHAPE(1, 0)), HBG_SHAPE(3, 1));
    hbg_submit(g, NOTHING);
}

static void check_values(void)
{
    assert_false(missing);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(got[0][i], i);
        assert_int_equal(got[1][i], i % 3 * 4 + i / 3);
        assert_int_equal(got[3][i], 8 + i % 4);
    }
    for (int i = 0; i < 4; i++) assert_int_equal(got[2][i], (1 + i / 2) * 4 + 1 + i % 2);
    assert_int_equal(one, 7);
}

static void values_of_every_view(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[12];
    struct hbg_buffer *buffer;
    for (int i = 0; i < 12; i++) x[i] = i;
    missing = false;
    graph_run(device, values_build, KERNELS(kernels), HBG_ARGS(hbg_in(hbg_host_const(x, HBG_I32, HBG_SHAPE(3, 4)))), NULL, NULL);
    check_values();
    memset(got, 0, sizeof got);
    assert_int_equal(hbg_buffer_create(device, 4 + sizeof x, &buffer), HBG_OK);
    assert_int_equal(hbg_buffer_write(buffer, 4, x, sizeof x), HBG_OK);
    graph_run(device, values_build, KERNELS(kernels), HBG_ARGS(hbg_in(hbg_buffer_region(buffer, 4, HBG_I32, HBG_SHAPE(3, 4)))), NULL, NULL);
    check_values();
    hbg_buffer_destroy(buffer);
}

/* ---- what a task writes ---- */

static enum hbg_status at_once;
static uint32_t writer;

static void written_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0), alias = hbg_args_region(args, 1);
    struct hbg_error error = HBG_OPTIONS(error);
    int which = *(const int *)params;
    hbg_submit(g, NOTHING, hbg_in(x));                          /* readers do not matter */
    hbg_submit(g, SET, hbg_out(hbg_slice(x, 0, 4, 8)));         /* 1 */
    hbg_submit(g, SET, hbg_inout(hbg_slice(x, 0, 6, 7)));       /* 2 */
    if (which == 0) take(0, g, hbg_slice(x, 0, 0, 4), 4);       /* beside it */
    if (which == 1) (void)hbg_read_i32(g, x, HBG_SHAPE(8));
    if (which == 2) take(0, g, hbg_slice(x, 0, 7, 8), 1);
    if (which == 3) take(0, g, hbg_slice(x, 0, 6, 8), 2);
    if (which == 4) take(0, g, x, 12);
    if (which == 5) (void)hbg_read_i32(g, alias, HBG_SHAPE(0)); /* the same memory under another name */
    if (which == 6) take(0, g, hbg_slice(alias, 0, 4, 8), 4);
    at_once = hbg_graph_error(g, &error);
    writer = error.task;
}

static void what_a_task_writes(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static const enum hbg_status expected[] = {
        HBG_OK, HBG_OK, HBG_E_WRITTEN, HBG_E_WRITTEN, HBG_E_WRITTEN, HBG_E_WRITTEN, HBG_OK,
    };
    int32_t x[16] = { 0 };
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, 12)), hbg_in(HOST_I32(x + 5, 11)));
    for (int which = 0; which < 7; which++) {
        struct hbg_program *program = PROGRAM_WITH(device, written_build, kernels, which);
        uint64_t begin = wall_ns();
        missing = false;
        if (expected[which] == HBG_OK) {
            program_run(program, list, NULL, NULL);
            assert_int_equal(at_once, HBG_OK);
            assert_false(missing);
        } else {
            struct hbg_error error = program_run_fails(program, list, HBG_E_WRITTEN);
            assert_int_equal(at_once, HBG_E_WRITTEN);           /* before the build went on */
            assert_true(writer == 1 || writer == 2);
            assert_int_equal(error.task, writer);
            char name[32];
            snprintf(name, sizeof name, "task %u", writer);
            assert_non_null(strstr(error.text, name));
        }
        assert_true(wall_ns() - begin < 1000000000u);
        hbg_program_destroy(program);
    }
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(values_of_every_view), DEVICE_TEST(what_a_task_writes) };
    return DEVICE_TESTS_RUN(tests);
}
