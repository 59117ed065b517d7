/* SPDX-License-Identifier: Apache-2.0 */
/* another_function_inside_test.c - of two functions under one key in one build the first was taken for the second where they differ in the function of
 * a body inside alone, since bodies inside were compared by their keys, and where one holds a body that cannot be kept, since nothing was
 * compared. HBG_VERIFY_REPLAY did not see another function of a body either. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

static struct hbg_region seen;
static bool captures;
static int run;

static void add_1(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(captures ? seen : hbg_args_region(args, 0)), hbg_i32(1));
}

static void add_1000(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1000));
}

static void first(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    seen = hbg_args_region(args, 0);
    struct hbg_arg_list none = HBG_NO_ARGS, list = HBG_ARGS(hbg_inout(seen));
    hbg_subgraph(g, KEY("inside"), add_1, captures ? none : list);
}

static void second(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    if (captures) add_1000(g, args, params);
    else hbg_subgraph(g, KEY("inside"), add_1000, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void build_both(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_args_region(args, 0)));
    (void)params;
    hbg_subgraph(g, KEY("around"), first, list);
    hbg_subgraph(g, KEY("around"), second, list);
}

static void build_one(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, KEY("inside"), run ? add_1000 : add_1, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void is_found(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t x[1] = { 0 };
    (void)kind;
    captures = false;
    struct hbg_program *program = PROGRAM(device, build_both, steps);
    program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_IMAGE);
    hbg_program_destroy(program);
}

static void is_submitted_where_nothing_can_be_compared(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    captures = true;
    struct hbg_program *program = PROGRAM(device, build_both, steps);
    for (int i = 0; i < 3; i++) {
        int32_t x[1] = { 0 };
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
        assert_int_equal(x[0], 1001);
    }
    hbg_program_destroy(program);
}

static void is_found_when_a_replay_is_verified(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device *device = device_open_verifying(kind->spec, NULL);
    int32_t x[1] = { 0 };
    captures = false;
    struct program_spec spec = { .build = build_one, KERNEL_TABLE(steps), .pure = true };
    struct hbg_program *program = program_create(device, &spec);
    run = 0;
    for (int i = 0; i < 2; i++) program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
    run = 1;
    program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_IMAGE);
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(is_found), DEVICE_TEST(is_submitted_where_nothing_can_be_compared), DEVICE_TEST(is_found_when_a_replay_is_verified),
    };
    return DEVICE_TESTS_RUN(tests);
}
