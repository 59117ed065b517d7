/* SPDX-License-Identifier: Apache-2.0 */
/* replay_in_a_named_buffer_test.c - a pure build names a device buffer, of which the boundary passes a part: passed from another place
 * the part overlaps other regions of the build, and the earlier graph was replayed without the edge.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { PUT, COPY, KERNEL_COUNT };
static int put(const struct hbg_task_view *t) { *HBG_VIEW(int32_t, t, 0) = 7; return 0; }
static int copy(const struct hbg_task_view *t) { *HBG_VIEW(int32_t, t, 1) = *HBG_VIEW(const int32_t, t, 0); return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(PUT, put, "inout i32"), HBG_KERNEL(COPY, copy, "in i32, out i32") };
static struct hbg_buffer *buffer;

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, PUT, hbg_inout(hbg_args_region(args, 0)));
    hbg_submit(g, COPY, hbg_in(hbg_buffer_region(buffer, 64, HBG_I32, HBG_SHAPE(1))), hbg_out(hbg_args_region(args, 1)));
}

static void another_place_in_a_named_buffer(struct hbg_device *device, const struct device_kind *kind)
{
    static const struct { size_t offset; uint32_t replayed; } run[] = { { 0, 0 }, { 64, 0 }, { 64, 1 }, { 0, 1 }, { 128, 0 } };
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_program *program;
    int32_t zero[64] = { 0 };
    (void)kind;
    o.build = build;
    o.kernels = kernels;
    o.kernel_count = KERNEL_COUNT;
    o.pure_build = true;
    assert_int_equal(hbg_program_create(device, &o, &program), HBG_OK);
    assert_int_equal(hbg_buffer_create(device, sizeof zero, &buffer), HBG_OK);
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        struct hbg_result result = HBG_OPTIONS(result);
        int32_t z = -1;
        assert_int_equal(hbg_buffer_write(buffer, 0, zero, sizeof zero), HBG_OK);
        assert_int_equal(hbg_run_sync(program, HBG_ARGS(hbg_inout(hbg_buffer_region(buffer, run[i].offset, HBG_I32, HBG_SHAPE(1))), hbg_out(HOST_I32(&z, 1))), &result), HBG_OK);
        assert_true(run[i].offset != 64 || result.edges == 1);      /* elsewhere one is not needed */
        assert_int_equal(result.replayed, run[i].replayed);
        assert_int_equal(z, run[i].offset == 64 ? 7 : 0);
    }
    hbg_program_destroy(program);
    hbg_buffer_destroy(buffer);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(another_place_in_a_named_buffer) };
    return DEVICE_TESTS_RUN(tests);
}
