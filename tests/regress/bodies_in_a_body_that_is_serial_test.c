/* SPDX-License-Identifier: Apache-2.0 */
/* A body whose arguments may overlap with a buffer that it names, or with a region that it captures, runs its tasks one after the other. It
 * handed both on to a body inside, which was recorded as if they were disjoint. And: such a body, recorded again by HBG_VERIFY_REPLAY,
 * submits in place what it submitted as a definition before, which was called another image. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

static struct hbg_buffer *buffer;
static struct hbg_region outside;
static bool captures;

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
    struct hbg_region other = captures ? outside : hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(1));
    hbg_subgraph(g, hbg_key_of("inner", NULL, 0), inner_body, HBG_ARGS(hbg_inout(hbg_args_region(args, 0)), hbg_inout(other)));
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    outside = captures ? hbg_args_region(args, 0) : hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(1));
    for (int i = 0; i < 2; i++) hbg_subgraph(g, HBG_KEY("body", captures), body, HBG_ARGS(hbg_inout(outside)));
}

static void run_both_ways(struct hbg_device *device)
{
    assert_int_equal(hbg_buffer_create(device, sizeof(int32_t), &buffer), HBG_OK);
    struct hbg_program *program = PROGRAM(device, build, steps);
    for (int way = 0; way < 2; way++) {
        captures = way != 0;
        for (int run = 0; run < 2; run++) {
            int32_t x[1] = { 0 }, in_buffer = 0;
            assert_int_equal(hbg_buffer_write(buffer, 0, &in_buffer, sizeof in_buffer), HBG_OK);
            program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
            assert_int_equal(hbg_buffer_read(buffer, 0, &in_buffer, sizeof in_buffer), HBG_OK);
            assert_int_equal(captures ? x[0] : in_buffer, 8);
        }
    }
    hbg_program_destroy(program);
    hbg_buffer_destroy(buffer);
}

static void tasks_follow_one_another(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    run_both_ways(device);
}

static void verified(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device *device = device_open_verifying(kind->spec, NULL);
    run_both_ways(device);
    device_close(device);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(tasks_follow_one_another), DEVICE_TEST(verified) };
    return DEVICE_TESTS_RUN(tests);
}
