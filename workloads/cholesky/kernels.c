/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cholesky: the kernel table.
 */
#include "cholesky.h"
#include "workloads/dense/kernels.h"

const struct hbg_kernel hbg__cholesky_kernels[CHOLESKY_KERNEL_COUNT] = {
    HBG__POTRF_KERNEL(CHOLESKY_POTRF),
    HBG__TRSM_KERNEL(CHOLESKY_TRSM),
    HBG__SYRK_KERNEL(CHOLESKY_SYRK),
    HBG__GEMM_KERNEL(CHOLESKY_GEMM),
};
