/* SPDX-License-Identifier: Apache-2.0 */
/* hbg_run_argument read the value of a bound scalar from the launch descriptor, which poison=1 overwrites once a discrete device has its own: 0xaa in
 * every byte was the value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

static bool in_body;

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(args, 1));
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    if (in_body) hbg_subgraph(g, KEY("adds"), body, HBG_ARGS(hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(args, 1)));
    else body(g, args, params);
}

static int32_t value_of(struct hbg_run run)
{
    struct hbg_argument_info a = HBG_OPTIONS(argument_info);
    assert_int_equal(hbg_run_argument(run, in_body ? 1 : 0, 1, &a), HBG_OK);
    return (int32_t)a.bits;
}

static void before_and_after(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    for (int way = 0; way < 2; way++) {
        int32_t x[1] = { 0 };
        struct hbg_run run;
        in_body = way != 0;
        struct hbg_program *program = PROGRAM(device, build, steps);
        assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1)), hbg_i32(5)), NULL, &run), HBG_OK);
        assert_int_equal(value_of(run), 5);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        assert_int_equal(value_of(run), 5);
        assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
        assert_int_equal(x[0], 5);
        hbg_program_destroy(program);
    }
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(before_and_after) };
    return device_tests_run_with(",poison=1", tests, 1);
}
