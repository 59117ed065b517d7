/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of a body follow one another from where it names a buffer in which one of its arguments lies. That some argument lay in some buffer that
   the body names was remembered, and not in which: a list with its argument in another of them got the definition, and tasks before were not in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

enum { BUFFERS = 2, SIDE_TASKS = 14 };

static struct hbg_buffer *buffer[BUFFERS];
static int which;

static struct hbg_region in_buffer(int i) { return hbg_buffer_region(buffer[i], 0, HBG_I32, HBG_SHAPE(1)); }

/* The tasks between make it wide, so that several workers take part. */
static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, SLOW_SET, hbg_inout(in_buffer(0)));
    for (int i = 0; i < SIDE_TASKS; i++) hbg_submit(g, ADD, hbg_inout(hbg_alloc(g, HBG_I32, HBG_SHAPE(1))), hbg_i32(1));
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
    hbg_submit(g, ADD, hbg_inout(in_buffer(1)), hbg_i32(1));
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_subgraph(g, hbg_key_of("body", NULL, 0), body, HBG_ARGS(hbg_inout(in_buffer(which))));
}

static void in_this_one_or_that(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static const int32_t zero;
    for (int i = 0; i < BUFFERS; i++) assert_int_equal(hbg_buffer_create(device, sizeof zero, &buffer[i]), HBG_OK);
    struct hbg_program *program = PROGRAM(device, build, steps);
    for (int run = 0; run < 4; run++) {
        int32_t x[BUFFERS];
        which = run % 2 == 0;
        for (int i = 0; i < BUFFERS; i++) assert_int_equal(hbg_buffer_write(buffer[i], 0, &zero, sizeof zero), HBG_OK);
        program_run(program, HBG_NO_ARGS, NULL, NULL);
        for (int i = 0; i < BUFFERS; i++) assert_int_equal(hbg_buffer_read(buffer[i], 0, &x[i], sizeof x[i]), HBG_OK);
        assert_int_equal(x[0], which ? 7 : 8);
        assert_int_equal(x[1], which ? 2 : 1);
    }
    hbg_program_destroy(program);
    for (int i = 0; i < BUFFERS; i++) hbg_buffer_destroy(buffer[i]);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(in_this_one_or_that) };
    return DEVICE_TESTS_RUN(tests);
}
