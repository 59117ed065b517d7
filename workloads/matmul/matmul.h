/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul: C = max(0, A B + bias), with A [m x k], B [k x n], and one bias for each column.
 *
 * C is cut into tiles. A tile's product is a chain of tasks over k, `k_tile` columns of A each, into an intermediate; the
 * epilogue is a task of its own, which adds the bias and writes the tile of C. The tiles are independent of each other.
 */
#ifndef HBG_WORKLOADS_MATMUL_H
#define HBG_WORKLOADS_MATMUL_H

#include "workloads/workloads.h"

struct matmul_params {
    int64_t tile, k_tile;
};

enum { MATMUL_A, MATMUL_B, MATMUL_BIAS, MATMUL_C };     /* boundary positions */
enum { MATMUL_PRODUCT, MATMUL_ADD_PRODUCT, MATMUL_EPILOGUE, MATMUL_KERNEL_COUNT };

extern const struct hbg_kernel hbg__matmul_kernels[MATMUL_KERNEL_COUNT];

int hbg__matmul_inputs(struct hbg_setup *s);
void hbg__matmul_build(struct hbg_graph *g, const struct hbg_args *args, const void *params);
int hbg__matmul_golden(struct hbg_setup *s);

#endif
