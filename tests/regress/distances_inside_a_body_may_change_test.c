/* SPDX-License-Identifier: Apache-2.0 */
/* A body whose arguments share storage at changing distances is recorded as good for all of them. What it handed on of two such arguments
 * to a body inside was taken for disjoint if it was so in the recording; at another distance, tasks on the same bytes ran side by side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

/* The tasks between make it wide, so that several workers take part. */
static void inner_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, SLOW_SET, hbg_inout(hbg_args_region(args, 0)));
    for (int i = 0; i < 14; i++) hbg_submit(g, ADD, hbg_inout(hbg_alloc(g, HBG_I32, HBG_SHAPE(1))), hbg_i32(1));
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 1)), hbg_i32(1));
}

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region fifth = hbg_slice(hbg_args_region(args, 0), 0, 4, 5), first = hbg_slice(hbg_args_region(args, 1), 0, 0, 1);
    hbg_subgraph(g, hbg_key_of("inner", NULL, 0), inner_body, HBG_ARGS(hbg_inout(fifth), hbg_inout(first)));
}

/* At distances of 0 and 1 the two elements differ; at 4 they are one. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    static const int distance[] = { 0, 1, 4 };
    (void)params;
    for (int i = 0; i < 3; i++) {
        struct hbg_region x = hbg_index(hbg_args_region(args, 0), 0, i);
        hbg_subgraph(g, hbg_key_of("body", NULL, 0), body, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 0, 8)), hbg_inout(hbg_slice(x, 0, distance[i], distance[i] + 8))));
    }
}

static void run_twice(struct hbg_device *device)
{
    struct hbg_program *program = PROGRAM(device, build, steps);
    for (int run = 0; run < 2; run++) {
        int32_t x[3][16] = { { 0 } };
        program_run(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(3, 16)))), NULL, NULL);
        assert_int_equal(x[0][4], 7);
        assert_int_equal(x[0][0], 1);
        assert_int_equal(x[1][1], 1);
        assert_int_equal(x[2][4], 8);
    }
    hbg_program_destroy(program);
}

static void tasks_on_the_same_bytes_follow_one_another(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    run_twice(device);
}

static void verified(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device *device = device_open_verifying(kind->spec, NULL);
    run_twice(device);
    device_close(device);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(tasks_on_the_same_bytes_follow_one_another), DEVICE_TEST(verified) };
    return DEVICE_TESTS_RUN(tests);
}
