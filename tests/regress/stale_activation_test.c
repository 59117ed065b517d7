/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a submission was activated in a run is told by its activation's epoch, and activations are not cleared between runs. They lay where
 * an earlier run with fewer submissions had base tables, so a scalar of the caller could be taken for the epoch: the checks at the end of the
 * run said that a submission was not complete, and those of a simulated device followed wild pointers. Where epochs come round, after 2^32
 * runs, activations were not cleared as slots are: those of a run that was ended early looked active then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "run/device.h"
#include "support/devices.h"
#include "support/program.h"

enum { SUBMISSIONS = 40, SCALARS = 2000, BURST = 5000 };

/* Both halves are the epoch of the second run. */
#define SCALAR UINT64_C(0x200000002)

static int add(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 0) += 1;
    return 0;
}

static int set(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 1) = *HBG_VIEW(const int32_t, t, 0);
    return 0;
}

static int refuse(const struct hbg_task_view *t)
{
    (void)t;
    return 7;
}

enum { ADD, SET, REFUSE };
static const struct hbg_kernel kernels[] = { HBG_KERNEL(ADD, add, "inout i32"), HBG_KERNEL(SET, set, "in i32, out i32"), HBG_KERNEL(REFUSE, refuse, "inout i32") };

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)));
}

static void build_one(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_arg arg[1 + SCALARS];
    (void)params;
    arg[0] = hbg_inout(hbg_args_region(args, 0));
    for (int i = 1; i <= SCALARS; i++) arg[i] = hbg_u64(SCALAR);
    hbg_subgraph(g, hbg_key_of("wide", NULL, 0), body, (struct hbg_arg_list){ arg, 1 + SCALARS });
}

/* The end of one task makes more ready than there is room for. */
static void burst_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    (void)params;
    hbg_submit(g, ADD, hbg_inout(x));
    for (int i = 0; i < BURST; i++) hbg_submit(g, SET, hbg_in(x), hbg_out(hbg_index(y, 0, i)));
}

static void build_burst(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, hbg_key_of("burst", NULL, 0), burst_body, HBG_ARGS(hbg_inout(hbg_args_region(args, 0)), hbg_out(hbg_args_region(args, 1))));
}

static void build_add(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)));
}

/* None of them is activated. */
static void build_many(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    hbg_submit(g, REFUSE, hbg_inout(x));
    for (int i = 0; i < SUBMISSIONS; i++) hbg_subgraph(g, hbg_key_of("narrow", NULL, 0), body, HBG_ARGS(hbg_inout(x)));
}

static void scalars_are_no_activations(void **state)
{
    static const char *const specs[] = { "cpu:workers=1", "cpu:workers=2", "cpu:workers=2,memory=discrete", "sim:workers=2" };
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        int32_t x[1] = { 0 };
        struct hbg_device *device = device_open(specs[i], NULL);
        struct hbg_program *one = PROGRAM(device, build_one, kernels), *many = PROGRAM(device, build_many, kernels);
        program_run(one, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
        struct hbg_error error = program_run_fails(many, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_KERNEL);
        assert_int_equal(error.task, 0);
        program_run(one, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
        assert_int_equal(x[0], 2);
        hbg_program_destroy(many);
        hbg_program_destroy(one);
        device_close(device);
    }
}

static void epochs_come_round(void **state)
{
    static const char *const specs[] = { "cpu:workers=2,ring=4,spill=0", "cpu:workers=2,ring=4,spill=0,memory=discrete", "sim:workers=2,ring=4,spill=0" };
    static int32_t x[1], y[BURST];
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct hbg_device *device = device_open(specs[i], NULL);
        struct hbg_program *burst = PROGRAM(device, build_burst, kernels), *many = PROGRAM(device, build_many, kernels), *plain = PROGRAM(device, build_add, kernels);
        (void)program_run_fails(burst, HBG_ARGS(hbg_inout(HOST_I32(x, 1)), hbg_out(HOST_I32(y, BURST))), HBG_E_LIMIT);      /* in epoch 1 */
        hbg__device_start_epoch(device, UINT32_MAX);
        program_run(plain, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
        struct hbg_error error = program_run_fails(many, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_KERNEL);                /* in epoch 1 */
        assert_int_equal(error.task, 0);
        hbg_program_destroy(plain);
        hbg_program_destroy(many);
        hbg_program_destroy(burst);
        device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(scalars_are_no_activations), cmocka_unit_test(epochs_come_round) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
