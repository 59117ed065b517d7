/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - see steps.h. */
#include "support/steps.h"

#include "support/devices.h"

static int scale(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 1) = *HBG_VIEW(int32_t, t, 0) * hbg_view_i32(t, 2);
    return 0;
}

static int add(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 0) += hbg_view_i32(t, 1);
    return 0;
}

static int copy(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 1) = *HBG_VIEW(int32_t, t, 0);
    return 0;
}

static int add_all(const struct hbg_task_view *t)
{
    int64_t count = hbg_view_count(t, 0);
    for (int64_t i = 0; i < count; i++) {
        if (hbg_view_dtype(t, 0) == HBG_I32) HBG_VIEW(int32_t, t, 0)[i] += hbg_view_i32(t, 1);
        else HBG_VIEW(int64_t, t, 0)[i] += hbg_view_i32(t, 1);
    }
    return 0;
}

static int fail_if(const struct hbg_task_view *t)
{
    int32_t x = *HBG_VIEW(int32_t, t, 0);
    return x ? hbg_fail(t, x, 7) : 0;
}

static int slow_set(const struct hbg_task_view *t)
{
    sleep_ms(5);
    *HBG_VIEW(int32_t, t, 0) = 7;
    return 0;
}

const struct hbg_kernel steps[STEPS] = {
    HBG_KERNEL(SCALE, scale, "in i32, out i32, i32"), HBG_KERNEL(ADD, add, "inout i32, i32"), HBG_KERNEL(COPY, copy, "in i32, out i32"),
    HBG_KERNEL(ADD_ALL, add_all, NULL), HBG_KERNEL(FAIL_IF, fail_if, "in i32"), HBG_KERNEL(SLOW_SET, slow_set, "inout i32"),
};

struct hbg_result steps_run(struct hbg_program *program, struct hbg_arg_list list)
{
    struct hbg_result result = HBG_OPTIONS(result);
    program_run(program, list, &result, NULL);
    return result;
}
