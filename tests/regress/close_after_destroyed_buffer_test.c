/* SPDX-License-Identifier: Apache-2.0 */
/* close_after_destroyed_buffer_test.c - a build that is not kept named a buffer, the user destroyed it, and the device was closed: the
 * close dropped the last hold on the buffer under the lock that freeing it takes, and never returned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

static struct hbg_buffer *buffer;

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, NULL) };

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    hbg_submit(g, 0, hbg_inout(hbg_buffer_region(buffer, 0, HBG_U8, HBG_SHAPE(64))));
}

static void close_after_destroyed_buffer(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, build, kernels);
    assert_int_equal(hbg_buffer_create(device, 64, &buffer), HBG_OK);
    program_run(program, HBG_NO_ARGS, NULL, NULL);
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(program);
    /* the device is closed behind every test */
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(close_after_destroyed_buffer) };
    return DEVICE_TESTS_RUN(tests);
}
