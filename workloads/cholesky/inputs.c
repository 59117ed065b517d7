/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cholesky: parameters, the matrix and the descriptor.
 *
 * A is symmetric with entries in [-1, 1) and `dominance` * n added to the diagonal. 1 makes it positive definite with
 * certainty; 0 leaves it indefinite, and the factorisation fails in the kernel that meets the first bad pivot.
 */
#include "cholesky.h"
#include "workloads/dense/dense.h"

int hbg__cholesky_inputs(struct hbg_setup *s)
{
    struct cholesky_params params;
    double dominance = hbg_setup_f64(s, "dominance"), *a;
    int64_t n;

    if (hbg__workload_param(s, "n", 0, INT32_MAX, &n) || hbg__workload_param(s, "tile", 1, WORKLOAD_TILE_MOST, &params.tile))
        return -1;
    a = hbg_setup_tensor(s, "a", HBG_ARG_INOUT, HBG_F64, HBG_SHAPE(n, n));
    if (!a)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++)
            a[i * n + j] = a[j * n + i] = workload_uniform(s);
        a[i * n + i] = workload_uniform(s) + dominance * (double)n;
    }
    hbg_setup_params(s, &params, sizeof params);
    hbg__dense_prepare();
    return 0;
}

static const char *const params[] = {
    "n=1024  rows and columns of the matrix",
    "tile=128  edge of a tile",
    "dominance=1.0  times n is added to the diagonal; 1 makes the matrix positive definite",
    NULL,
};

const struct hbg_workload hbg__cholesky_workload = {
    WORKLOAD_PARTS(cholesky, CHOLESKY_KERNEL_COUNT),
    .doc = "tiled Cholesky factorisation of an n x n matrix; the residual |A - L L'| / |A| is checked as well",
    .rel_tolerance = 1e-9,
    .pure_build = true,
    .residual = hbg__cholesky_residual,
    .residual_tolerance = 1e-13,
};
