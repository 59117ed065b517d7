/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul: the graph. Without a column of A the epilogue alone makes C: its sum is then an intermediate that the empty
 * product has filled with zeros.
 */
#include "matmul.h"

static void build_tile(struct hbg_graph *g, const struct hbg_args *args, const struct matmul_params *p, int64_t i, int64_t j)
{
    struct hbg_region A = hbg_args_region(args, MATMUL_A), B = hbg_args_region(args, MATMUL_B), bias = hbg_args_region(args, MATMUL_BIAS);
    struct hbg_region c = hbg_cell(hbg_args_region(args, MATMUL_C), HBG_SHAPE(p->tile, p->tile), HBG_SHAPE(i, j));
    struct hbg_region sum = hbg_alloc(g, HBG_F32, HBG_SHAPE(c.shape[0], c.shape[1]));
    int64_t steps = workload_cells(A.shape[1], p->k_tile);

    if (!steps)
        steps = 1;
    for (int64_t k = 0; k < steps; k++) {
        struct hbg_region a = hbg_cell(A, HBG_SHAPE(p->tile, p->k_tile), HBG_SHAPE(i, k));
        struct hbg_region b = hbg_cell(B, HBG_SHAPE(p->k_tile, p->tile), HBG_SHAPE(k, j));
        if (k == 0)
            hbg_submit(g, MATMUL_PRODUCT, hbg_in(a), hbg_in(b), hbg_out(sum));
        else
            hbg_submit(g, MATMUL_ADD_PRODUCT, hbg_in(a), hbg_in(b), hbg_inout(sum));
    }
    hbg_submit(g, MATMUL_EPILOGUE, hbg_in(sum), hbg_in(hbg_cell(bias, HBG_SHAPE(p->tile), HBG_SHAPE(j))), hbg_out(c));
}

void hbg__matmul_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct matmul_params *p = params;
    struct hbg_region C = hbg_args_region(args, MATMUL_C);
    int64_t rows = workload_cells(C.shape[0], p->tile), columns = workload_cells(C.shape[1], p->tile);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            hbg_scope_begin(g, HBG_SCOPE_AUTO);
            build_tile(g, args, p, i, j);
            hbg_scope_end(g);
        }
    }
}
