/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cholesky: A = L L' of a symmetric positive definite matrix, in place, tile by tile in the order of the plain loops.
 *
 * Only the lower triangle is read and written; what stands above the diagonal stays as it was.
 */
#ifndef HBG_WORKLOADS_CHOLESKY_H
#define HBG_WORKLOADS_CHOLESKY_H

#include "workloads/workloads.h"

struct cholesky_params {
    int64_t tile;
};

enum { CHOLESKY_A };                    /* boundary positions */
enum { CHOLESKY_POTRF, CHOLESKY_TRSM, CHOLESKY_SYRK, CHOLESKY_GEMM, CHOLESKY_KERNEL_COUNT };

extern const struct hbg_kernel hbg__cholesky_kernels[CHOLESKY_KERNEL_COUNT];

int hbg__cholesky_inputs(struct hbg_setup *s);
void hbg__cholesky_build(struct hbg_graph *g, const struct hbg_args *args, const void *params);
int hbg__cholesky_golden(struct hbg_setup *s);

/* |A - L L'| / |A| of the lower triangles, Frobenius norms */
int hbg__cholesky_residual(struct hbg_setup *s, double *residual);

#endif
