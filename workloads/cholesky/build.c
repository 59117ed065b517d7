/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cholesky: the graph, in the order of the sequential algorithm; every order between tiles is inferred.
 */
#include "cholesky.h"

void hbg__cholesky_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int64_t tile = ((const struct cholesky_params *)params)->tile;
    struct hbg_region A = hbg_args_region(args, CHOLESKY_A);
    int64_t tiles = workload_cells(A.shape[0], tile);

#define T(i, j) hbg_cell(A, HBG_SHAPE(tile, tile), HBG_SHAPE(i, j))
    for (int64_t k = 0; k < tiles; k++) {
        hbg_submit(g, CHOLESKY_POTRF, hbg_inout(T(k, k)));
        for (int64_t i = k + 1; i < tiles; i++)
            hbg_submit(g, CHOLESKY_TRSM, hbg_in(T(k, k)), hbg_inout(T(i, k)));
        for (int64_t i = k + 1; i < tiles; i++) {
            hbg_submit(g, CHOLESKY_SYRK, hbg_in(T(i, k)), hbg_inout(T(i, i)));
            for (int64_t j = k + 1; j < i; j++)
                hbg_submit(g, CHOLESKY_GEMM, hbg_in(T(i, k)), hbg_in(T(j, k)), hbg_inout(T(i, j)));
        }
    }
#undef T
}
