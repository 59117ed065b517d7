/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul: the product of two tiles, and what is done to a finished sum.
 */
#include "matmul.h"
#include "workloads/dense/dense.h"

/* in a, in b, sum: written, or added to */
static void multiply(const struct hbg_task_view *t, bool add)
{
    const int64_t *shape = hbg_view_shape(t, 2);

    hbg__dense_gemm_f32(add, shape[0], shape[1], hbg_view_shape(t, 0)[1], HBG_VIEW(const float, t, 0), hbg_view_ld(t, 0),
                        HBG_VIEW(const float, t, 1), hbg_view_ld(t, 1), HBG_VIEW(float, t, 2), hbg_view_ld(t, 2));
}

static int product(const struct hbg_task_view *t)
{
    multiply(t, false);
    return 0;
}

static int add_product(const struct hbg_task_view *t)
{
    multiply(t, true);
    return 0;
}

/* in sum, in bias, out c */
static int epilogue(const struct hbg_task_view *t)
{
    const float *sum = HBG_VIEW(const float, t, 0), *bias = HBG_VIEW(const float, t, 1);
    float *c = HBG_VIEW(float, t, 2);
    const int64_t *shape = hbg_view_shape(t, 2);

    for (int64_t i = 0; i < shape[0]; i++, sum += shape[1], c += hbg_view_ld(t, 2)) {
        for (int64_t j = 0; j < shape[1]; j++) {
            float v = sum[j] + bias[j];
            c[j] = v > 0.0f ? v : 0.0f;
        }
    }
    return 0;
}

const struct hbg_kernel hbg__matmul_kernels[MATMUL_KERNEL_COUNT] = {
    HBG_KERNEL(MATMUL_PRODUCT, product, "in f32, in f32, out f32"),
    HBG_KERNEL(MATMUL_ADD_PRODUCT, add_product, "in f32, in f32, inout f32"),
    HBG_KERNEL(MATMUL_EPILOGUE, epilogue, "in f32, in f32, out f32"),
};
