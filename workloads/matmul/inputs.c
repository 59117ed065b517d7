/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul: parameters, tensors and the descriptor.
 */
#include "matmul.h"
#include "workloads/dense/dense.h"

int hbg__matmul_inputs(struct hbg_setup *s)
{
    struct matmul_params params;
    int64_t m, n, k;
    float *a, *b, *bias;

    if (hbg__workload_param(s, "m", 0, INT32_MAX, &m) || hbg__workload_param(s, "n", 0, INT32_MAX, &n)
        || hbg__workload_param(s, "k", 0, INT32_MAX, &k) || hbg__workload_param(s, "tile", 1, WORKLOAD_TILE_MOST, &params.tile)
        || hbg__workload_param(s, "k_tile", 1, INT32_MAX, &params.k_tile))
        return -1;
    a = hbg_setup_tensor(s, "a", HBG_ARG_IN, HBG_F32, HBG_SHAPE(m, k));
    b = hbg_setup_tensor(s, "b", HBG_ARG_IN, HBG_F32, HBG_SHAPE(k, n));
    bias = hbg_setup_tensor(s, "bias", HBG_ARG_IN, HBG_F32, HBG_SHAPE(n));
    if (!a || !b || !bias || !hbg_setup_tensor(s, "c", HBG_ARG_OUT, HBG_F32, HBG_SHAPE(m, n)))
        return -1;
    workload_fill_f32(s, a, m * k);
    workload_fill_f32(s, b, k * n);
    workload_fill_f32(s, bias, n);
    hbg_setup_params(s, &params, sizeof params);
    hbg__dense_prepare();
    return 0;
}

static const char *const params[] = {
    "m=512  rows of A and C",
    "n=512  columns of B and C",
    "k=512  columns of A, rows of B",
    "tile=128  edge of a tile of C",
    "k_tile=512  columns of A that a task multiplies; below k a tile takes several",
    NULL,
};

const struct hbg_workload hbg__matmul_workload = {
    WORKLOAD_PARTS(matmul, MATMUL_KERNEL_COUNT),
    .doc = "blocked matrix product with an epilogue, C = max(0, A B + bias): two tasks a tile, more where k_tile is below k",
    .pure_build = true,
};
