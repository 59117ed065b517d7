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
    int64_t n = hbg_setup_i64(s, "n");
    struct cholesky_params params = { hbg_setup_i64(s, "tile") };
    double dominance = hbg_setup_f64(s, "dominance"), *a;

    if (n < 0 || n > INT32_MAX)
        return hbg_setup_fail(s, "n must be between 0 and 2147483647");
    if (params.tile < 1 || params.tile > 32768)
        return hbg_setup_fail(s, "tile must be between 1 and 32768");
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

static const char *const params[] = { "n=1024", "tile=128", "dominance=1.0", NULL };

const struct hbg_workload hbg__cholesky_workload = {
    .size = sizeof(struct hbg_workload),
    .abi = HBG_WORKLOAD_ABI,
    .name = "cholesky",
    .doc = "tiled Cholesky factorisation of an n x n matrix; the residual |A - L L'| / |A| is checked as well",
    .params = params,
    .inputs = hbg__cholesky_inputs,
    .build = hbg__cholesky_build,
    .kernels = hbg__cholesky_kernels,
    .kernel_count = CHOLESKY_KERNEL_COUNT,
    .golden = hbg__cholesky_golden,
    .abs_tolerance = 1e-9,
    .rel_tolerance = 1e-9,
    .pure_build = true,
    .residual = hbg__cholesky_residual,
    .residual_tolerance = 1e-13,
};
