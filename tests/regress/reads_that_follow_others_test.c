/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbouring pieces that a body has read are one guard. To try its definition all of it was asked for, although the body comes to the second piece only for
 * some values of the first: where a task of the build had written that piece, a right program failed with HBG_E_WRITTEN. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

static int add(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 0) += 1;
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, add, "inout i32") };
static bool writes, deep;

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    int32_t n = hbg_read_i32(g, hbg_args_region(args, 0), HBG_SHAPE(0));
    if (n == 1) n += hbg_read_i32(g, hbg_args_region(args, 0), HBG_SHAPE(1));
    for (int32_t i = 0; i < n; i++) hbg_submit(g, 0, hbg_inout(hbg_args_region(args, 1)));
}

#define BOTH HBG_ARGS(hbg_in(hbg_args_region(args, 0)), hbg_inout(hbg_args_region(args, 1)))

static void around(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, hbg_key_of("body", NULL, 0), body, BOTH);
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    if (writes) hbg_submit(g, 0, hbg_inout(hbg_slice(hbg_args_region(args, 0), 0, 1, 2)));
    if (deep) hbg_subgraph(g, hbg_key_of("around", NULL, 0), around, BOTH);
    else hbg_subgraph(g, hbg_key_of("body", NULL, 0), body, BOTH);
}

static void run(struct hbg_device *device, int32_t first, int32_t expected, enum hbg_status status)
{
    int32_t counts[2] = { first, 3 }, x[1] = { 0 };
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_program *program = PROGRAM(device, build, kernels);
    assert_int_equal(hbg_run_sync(program, HBG_ARGS(hbg_inout(HOST_I32(counts, 2)), hbg_inout(HOST_I32(x, 1))), &result), status);
    assert_int_equal(x[0], expected);
    hbg_program_destroy(program);
}

static void what_is_not_read_may_be_written(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    for (int n = 0; n < 2; n++) {
        deep = n != 0;
        writes = false;
        run(device, 1, 4, HBG_OK);
        writes = true;
        run(device, 2, 2, HBG_OK);
        run(device, 1, 0, HBG_E_WRITTEN);       /* the body does read it */
        run(device, 2, 2, HBG_OK);
    }
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(what_is_not_read_may_be_written) };
    return DEVICE_TESTS_RUN(tests);
}
