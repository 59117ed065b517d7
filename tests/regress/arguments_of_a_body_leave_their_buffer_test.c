/* SPDX-License-Identifier: Apache-2.0 */
/* An untracked argument of a body was not compared with the buffer that it lies in, so kernels were given elements behind its end; and one of a rank
 * that no region has was read beyond its shape. Tracked ones, and those of plain tasks, were refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

static int touch(const struct hbg_task_view *t)
{
    memset(HBG_VIEW(int32_t, t, 0), 0, (size_t)hbg_view_count(t, 0) * sizeof(int32_t));
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, touch, NULL) };

static struct hbg_region region;        /* 10 elements of a buffer of 8 */

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, 0, hbg_untracked(hbg_args_region(args, 0)));
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_arg arg = *(const bool *)params ? hbg_untracked(region) : hbg_inout(region);
    (void)args;
    hbg_subgraph(g, hbg_key_of("body", NULL, 0), body, HBG_ARGS(arg));
}

static void each_is_refused(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_buffer *buffer;
    assert_int_equal(hbg_buffer_create(device, 8 * sizeof(int32_t), &buffer), HBG_OK);
    for (int wrong = 0; wrong < 2; wrong++) {
        region = hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(10));
        if (wrong) region.rank = HBG_RANK_MAX + 1;
        for (int untracked = 0; untracked < 2; untracked++) {
            bool arg = untracked;
            struct hbg_program *program = PROGRAM_WITH(device, build, kernels, arg);
            struct hbg_error error = program_run_fails(program, HBG_NO_ARGS, HBG_E_REGION);
            assert_non_null(strstr(error.text, "argument 0 of subgraph \"body\""));
            hbg_program_destroy(program);
        }
    }
    hbg_buffer_destroy(buffer);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(each_is_refused) };
    return DEVICE_TESTS_RUN(tests);
}
