/* SPDX-License-Identifier: Apache-2.0 */
/* A body inside named a device buffer that only the body around had in its list. It was recorded when its own argument lay elsewhere, and found again
 * when that lay in the buffer as well: tasks on the same bytes ran side by side. And verified, the body around was one after the other by then,
 * which gave another image of the inner one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

static struct hbg_buffer *buffer;
static struct hbg_region part(int64_t lo, int64_t hi) { return hbg_slice(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(4)), 0, lo, hi); }

/* The tasks between make it wide, so that several workers take part. */
static void inner(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, SLOW_SET, hbg_inout(hbg_args_region(args, 0)));
    for (int i = 0; i < 14; i++) hbg_submit(g, ADD, hbg_inout(hbg_alloc(g, HBG_I32, HBG_SHAPE(1))), hbg_i32(1));
    hbg_submit(g, ADD_ALL, hbg_inout(part(0, 4)), hbg_i32(1));
}

static void around(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, hbg_key_of("inner", NULL, 0), inner, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, hbg_key_of("around", NULL, 0), around, HBG_ARGS(hbg_inout(hbg_args_region(args, 0)), hbg_inout(part(2, 4))));
    hbg_subgraph(g, hbg_key_of("around", NULL, 0), around, HBG_ARGS(hbg_inout(part(0, 2)), hbg_inout(part(2, 4))));
}

static void run_twice(struct hbg_device *device)
{
    assert_int_equal(hbg_buffer_create(device, 4 * sizeof(int32_t), &buffer), HBG_OK);
    struct hbg_program *program = PROGRAM(device, build, steps);
    for (int run = 0; run < 2; run++) {
        int32_t x[2] = { 0 }, in_buffer[4] = { 0 };
        assert_int_equal(hbg_buffer_write(buffer, 0, in_buffer, sizeof in_buffer), HBG_OK);
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 2))), NULL, NULL);
        assert_int_equal(hbg_buffer_read(buffer, 0, in_buffer, sizeof in_buffer), HBG_OK);
        assert_int_equal(x[0], 7);
        assert_int_equal(in_buffer[0], 8);
        assert_int_equal(in_buffer[1], 2);
    }
    hbg_program_destroy(program);
    hbg_buffer_destroy(buffer);
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
