/* SPDX-License-Identifier: Apache-2.0 */
/* Where epochs come round all that holds them is cleared. When that failed, the run said so, but the next one went on with epoch 2 over
 * words that were not cleared: what an earlier run had left in its epoch 2 counted as of that run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "run/device.h"
#include "run/run.h"
#include "support/devices.h"
#include "support/program.h"

enum { READERS = 5000 };

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

static void build_add(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)));
}

/* The end of one task makes more ready than there is room for. */
static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    (void)params;
    hbg_submit(g, ADD, hbg_inout(x));
    for (int i = 0; i < READERS; i++) hbg_submit(g, SET, hbg_in(x), hbg_out(hbg_index(y, 0, i)));
}

/* Ended early in the submission. */
static void build_burst(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, hbg_key_of("burst", NULL, 0), body, HBG_ARGS(hbg_inout(hbg_args_region(args, 0)), hbg_out(hbg_args_region(args, 1))));
}

/* The submission is skipped. */
static void build_skipped(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, REFUSE, hbg_inout(hbg_args_region(args, 0)));
    build_burst(g, args, params);
}

static void the_next_run_clears(void **state)
{
    static int32_t x[1], y[READERS];
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, 1)), hbg_out(HOST_I32(y, READERS)));
    (void)state;
    for (int refused = 1; refused <= 2; refused++) {            /* the slots, the activations */
        char spec[80];
        snprintf(spec, sizeof spec, "sim:workers=2,depth=1,ring=4,spill=0,fail_copy=%d", refused);
        struct hbg_device *device = device_open(spec, NULL);
        struct hbg_program *add_one = PROGRAM(device, build_add, kernels), *burst = PROGRAM(device, build_burst, kernels), *skipped = PROGRAM(device, build_skipped, kernels);
        program_run(add_one, list, NULL, NULL);
        (void)program_run_fails(burst, list, HBG_E_LIMIT);      /* in epoch 2 */
        hbg__device_start_epoch(device, 0);
        (void)program_run_fails(add_one, list, HBG_E_DEVICE);
        (void)program_run_fails(skipped, list, HBG_E_KERNEL);
        assert_int_equal(device->run[0].bank.epoch, 1);
        hbg_program_destroy(skipped);
        hbg_program_destroy(burst);
        hbg_program_destroy(add_one);
        device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_next_run_clears) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
