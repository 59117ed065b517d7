/* SPDX-License-Identifier: Apache-2.0 */
/* first_buffer_of_a_process_test.c - a build named the first buffer of its process, whose handle is 0, and its task wrote the
 * first argument of the run instead: an empty entry of a table looked like that handle. One test: the buffer must be the first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/program.h"

static struct hbg_buffer *buffer;

static int set_seven(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(double, t, 0)[i] = 7;
    return 0;
}
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, set_seven, "inout f64") };

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    hbg_submit(g, 0, hbg_inout(hbg_buffer_region(buffer, 0, HBG_F64, HBG_SHAPE(4))));
}

static void the_buffer_is_written(void **state)
{
    (void)state;
    double x[4] = { 1, 1, 1, 1 }, y[4] = { 2, 2, 2, 2 };
    struct hbg_device *device = NULL;
    assert_int_equal(hbg_device_open("cpu:workers=1", NULL, &device), HBG_OK);
    assert_int_equal(hbg_buffer_create(device, sizeof y, &buffer), HBG_OK);
    struct hbg_program *program = PROGRAM(device, build, kernels);
    program_run(program, HBG_ARGS(hbg_in(hbg_host_const(x, HBG_F64, HBG_SHAPE(4)))), NULL, NULL);
    assert_int_equal(hbg_buffer_read(buffer, 0, y, sizeof y), HBG_OK);
    for (int i = 0; i < 4; i++) {
        assert_true(x[i] == 1);
        assert_true(y[i] == 7);
    }
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_buffer_is_written) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
