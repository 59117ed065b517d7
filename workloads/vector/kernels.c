/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector: what a task does to its block.
 */
#include "vector.h"

static int add(const struct hbg_task_view *t)
{
    const float *x = HBG_VIEW(const float, t, 0), *y = HBG_VIEW(const float, t, 1);
    float *sum = HBG_VIEW(float, t, 2);
    int64_t n = hbg_view_count(t, 2);

    for (int64_t i = 0; i < n; i++)
        sum[i] = x[i] + y[i];
    return 0;
}

static int step(const struct hbg_task_view *t)
{
    float *sum = HBG_VIEW(float, t, 0);
    float scale = hbg_view_f32(t, 1), shift = hbg_view_f32(t, 2);
    int64_t n = hbg_view_count(t, 0);

    for (int64_t i = 0; i < n; i++)
        sum[i] = scale * sum[i] + shift;
    return 0;
}

static int multiply(const struct hbg_task_view *t)
{
    const float *sum = HBG_VIEW(const float, t, 0), *x = HBG_VIEW(const float, t, 1);
    float *z = HBG_VIEW(float, t, 2);
    int64_t n = hbg_view_count(t, 2);

    for (int64_t i = 0; i < n; i++)
        z[i] = sum[i] * x[i];
    return 0;
}

const struct hbg_kernel hbg__vector_kernels[VECTOR_KERNEL_COUNT] = {
    HBG_KERNEL(VECTOR_ADD, add, "in f32, in f32, out f32"),
    HBG_KERNEL(VECTOR_STEP, step, "inout f32, f32, f32"),
    HBG_KERNEL(VECTOR_MULTIPLY, multiply, "in f32, in f32, out f32"),
};
