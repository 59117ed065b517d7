/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bgemm: the products of one task, and their addition to C.
 */
#include "bgemm.h"
#include "workloads/dense/dense.h"

static int multiply(const struct hbg_task_view *t)
{
    const float *a = HBG_VIEW(const float, t, 0), *b = HBG_VIEW(const float, t, 1);
    float *ab = HBG_VIEW(float, t, 2);
    const int64_t *shape = hbg_view_shape(t, 2);
    int64_t loop = shape[1], tile = shape[2];

    for (int64_t l = 0; l < loop; l++) {
        int64_t at = l * tile * tile;
        hbg__dense_gemm_f32(false, tile, tile, tile, a + at, tile, b + at, tile, ab + at, tile);
    }
    return 0;
}

static int add(const struct hbg_task_view *t)
{
    const float *ab = HBG_VIEW(const float, t, 0);
    float *c = HBG_VIEW(float, t, 1);
    int64_t n = hbg_view_count(t, 1);

    for (int64_t i = 0; i < n; i++)
        c[i] += ab[i];
    return 0;
}

const struct hbg_kernel hbg__bgemm_kernels[BGEMM_KERNEL_COUNT] = {
    HBG_KERNEL(BGEMM_MULTIPLY, multiply, "in f32, in f32, out f32"),
    HBG_KERNEL(BGEMM_ADD, add, "in f32, inout f32"),
};
