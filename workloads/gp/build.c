/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp: the graph, step by step as gp.h lists them.
 */
#include "gp.h"

/* What the steps share: the tables of the boundary, the intermediates, and the tile size. */
struct plan {
    struct hbg_graph *g;
    const struct gp_params *params;
    int64_t tile, rows, tiles;
    struct hbg_region x, mean;          /* n times; one value */
    struct hbg_region K;                /* n x n; L in the end */
    struct hbg_region z, w;             /* n values: centred, and inv(K) z in the end */
};

static struct hbg_region matrix_tile(const struct plan *p, int64_t i, int64_t j)
{
    return hbg_cell(p->K, HBG_SHAPE(p->tile, p->tile), HBG_SHAPE(i, j));
}

static struct hbg_region part(const struct plan *p, struct hbg_region vector, int64_t i)
{
    return hbg_cell(vector, HBG_SHAPE(p->tile), HBG_SHAPE(i));
}

/* rows of block column `block`, which is n x (the times of one prediction block) */
static struct hbg_region block_rows(const struct plan *p, struct hbg_region block, int64_t i)
{
    return hbg_cell(block, HBG_SHAPE(p->tile, block.shape[1]), HBG_SHAPE(i, 0));
}

static void centre(const struct plan *p, struct hbg_region y)
{
    hbg_submit(p->g, GP_KERNEL_MEAN, hbg_in(y), hbg_out(p->mean));
    for (int64_t i = 0; i < p->tiles; i++)
        hbg_submit(p->g, GP_KERNEL_CENTRE, hbg_in(part(p, y, i)), hbg_in(p->mean), hbg_out(part(p, p->z, i)), hbg_out(part(p, p->w, i)));
}

static void covariance(const struct plan *p)
{
    struct hbg_arg params = hbg_bytes(&p->params->covariance, sizeof p->params->covariance);

    for (int64_t i = 0; i < p->tiles; i++)
        for (int64_t j = 0; j <= i; j++)
            hbg_submit(p->g, GP_KERNEL_COVARIANCE, hbg_in(part(p, p->x, i)), hbg_in(part(p, p->x, j)),
                       hbg_out(matrix_tile(p, i, j)), hbg_bool(i == j), params);
}

static void factorise(const struct plan *p)
{
    struct hbg_graph *g = p->g;

    for (int64_t k = 0; k < p->tiles; k++) {
        hbg_submit(g, GP_KERNEL_POTRF, hbg_inout(matrix_tile(p, k, k)));
        for (int64_t i = k + 1; i < p->tiles; i++)
            hbg_submit(g, GP_KERNEL_TRSM, hbg_in(matrix_tile(p, k, k)), hbg_inout(matrix_tile(p, i, k)));
        for (int64_t i = k + 1; i < p->tiles; i++) {
            hbg_submit(g, GP_KERNEL_SYRK, hbg_in(matrix_tile(p, i, k)), hbg_inout(matrix_tile(p, i, i)));
            for (int64_t j = k + 1; j < i; j++)
                hbg_submit(g, GP_KERNEL_GEMM, hbg_in(matrix_tile(p, i, k)), hbg_in(matrix_tile(p, j, k)),
                           hbg_inout(matrix_tile(p, i, j)));
        }
    }
}

static void solve(const struct plan *p)
{
    struct hbg_graph *g = p->g;

    for (int64_t k = 0; k < p->tiles; k++) {
        hbg_submit(g, GP_KERNEL_SOLVE_LOWER, hbg_in(matrix_tile(p, k, k)), hbg_inout(part(p, p->w, k)));
        for (int64_t i = k + 1; i < p->tiles; i++)
            hbg_submit(g, GP_KERNEL_REDUCE_LOWER, hbg_in(matrix_tile(p, i, k)), hbg_in(part(p, p->w, k)), hbg_inout(part(p, p->w, i)));
    }
    for (int64_t k = p->tiles - 1; k >= 0; k--) {
        hbg_submit(g, GP_KERNEL_SOLVE_UPPER, hbg_in(matrix_tile(p, k, k)), hbg_inout(part(p, p->w, k)));
        for (int64_t i = 0; i < k; i++)
            hbg_submit(g, GP_KERNEL_REDUCE_UPPER, hbg_in(matrix_tile(p, k, i)), hbg_in(part(p, p->w, k)), hbg_inout(part(p, p->w, i)));
    }
}

static void likelihood(const struct plan *p, struct hbg_region result)
{
    struct hbg_region terms = hbg_alloc(p->g, HBG_F64, HBG_SHAPE(p->tiles));

    for (int64_t k = 0; k < p->tiles; k++)
        hbg_submit(p->g, GP_KERNEL_TERM, hbg_in(matrix_tile(p, k, k)), hbg_in(part(p, p->z, k)), hbg_in(part(p, p->w, k)),
                   hbg_out(hbg_cell(terms, HBG_SHAPE(1), HBG_SHAPE(k))));
    hbg_submit(p->g, GP_KERNEL_LIKELIHOOD, hbg_in(terms), hbg_out(result), hbg_i64(p->rows));
}

static void predict(const struct plan *p, struct hbg_region t, struct hbg_region prediction, struct hbg_region deviation)
{
    struct hbg_graph *g = p->g;
    struct hbg_arg params = hbg_bytes(&p->params->covariance, sizeof p->params->covariance);
    struct hbg_region S = hbg_alloc(g, HBG_F64, HBG_SHAPE(p->rows, t.shape[0]));
    struct hbg_region V = hbg_alloc(g, HBG_F64, HBG_SHAPE(p->rows, t.shape[0]));

    for (int64_t i = 0; i < p->tiles; i++)
        hbg_submit(g, GP_KERNEL_CROSS, hbg_in(part(p, p->x, i)), hbg_in(t), hbg_out(block_rows(p, S, i)), hbg_out(block_rows(p, V, i)),
                   params);
    hbg_submit(g, GP_KERNEL_PREDICT, hbg_in(S), hbg_in(p->w), hbg_in(p->mean), hbg_out(prediction));
    for (int64_t k = 0; k < p->tiles; k++) {
        hbg_submit(g, GP_KERNEL_SOLVE_BLOCK, hbg_in(matrix_tile(p, k, k)), hbg_inout(block_rows(p, V, k)));
        for (int64_t i = k + 1; i < p->tiles; i++)
            hbg_submit(g, GP_KERNEL_REDUCE_BLOCK, hbg_in(matrix_tile(p, i, k)), hbg_in(block_rows(p, V, k)),
                       hbg_inout(block_rows(p, V, i)));
    }
    hbg_submit(g, GP_KERNEL_DEVIATION, hbg_in(V), hbg_out(deviation), params);
}

void hbg__gp_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct plan p = { .g = g, .params = params, .x = hbg_args_region(args, GP_X) };
    struct hbg_region t = hbg_args_region(args, GP_T);

    p.tile = p.params->tile;
    p.rows = p.x.shape[0];
    p.tiles = workload_cells(p.rows, p.tile);
    p.mean = hbg_alloc(g, HBG_F64, HBG_SHAPE(1));
    p.K = hbg_alloc(g, HBG_F64, HBG_SHAPE(p.rows, p.rows));
    p.z = hbg_alloc(g, HBG_F64, HBG_SHAPE(p.rows));
    p.w = hbg_alloc(g, HBG_F64, HBG_SHAPE(p.rows));

    centre(&p, hbg_args_region(args, GP_Y));
    covariance(&p);
    factorise(&p);
    solve(&p);
    likelihood(&p, hbg_args_region(args, GP_LIKELIHOOD));
    for (int64_t j = 0; j < workload_cells(t.shape[0], p.tile); j++)
        predict(&p, part(&p, t, j), part(&p, hbg_args_region(args, GP_PREDICTION), j), part(&p, hbg_args_region(args, GP_DEVIATION), j));
}
