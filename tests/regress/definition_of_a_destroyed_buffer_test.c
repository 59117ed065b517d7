/* SPDX-License-Identifier: Apache-2.0 */
/* A definition that named a device buffer was found after the buffer had been destroyed, and every submission of its key failed from then on;
 * and it kept the buffer's memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

static int add(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 1) += *HBG_VIEW(const int32_t, t, 0);
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, add, "in i32, inout i32") };

static struct hbg_buffer *weights;

static void inner_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, 0, hbg_in(hbg_buffer_region(weights, 0, HBG_I32, HBG_SHAPE(1))), hbg_inout(hbg_args_region(args, 0)));
}

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, hbg_key_of("inner", NULL, 0), inner_body, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 3; i++) hbg_subgraph(g, hbg_key_of("layer", NULL, 0), body, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void another_buffer_is_recorded(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    for (int32_t i = 1; i < 6; i++) {
        int32_t x[1] = { 0 };
        struct hbg_result result = HBG_OPTIONS(result);
        assert_int_equal(hbg_buffer_create(device, 1 << 20, &weights), HBG_OK);
        assert_int_equal(hbg_buffer_write(weights, 0, &i, sizeof i), HBG_OK);
        struct hbg_program *program = PROGRAM(device, build, kernels);
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), &result, NULL);
        assert_int_equal(x[0], 3 * i);
        assert_int_equal(result.subgraphs_recorded, 2);
        if (i % 2) hbg_program_destroy(program);
        hbg_buffer_destroy(weights);
        if (!(i % 2)) hbg_program_destroy(program);
    }
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(another_buffer_is_recorded) };
    return DEVICE_TESTS_RUN(tests);
}
