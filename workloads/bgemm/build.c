/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bgemm: the graph.
 */
#include "bgemm.h"

void hbg__bgemm_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct bgemm_params *p = params;
    struct hbg_region A = hbg_args_region(args, BGEMM_A), B = hbg_args_region(args, BGEMM_B), C = hbg_args_region(args, BGEMM_C);
    struct hbg_shape product = HBG_SHAPE(1, 1, p->loop, p->tile, p->tile), sum = HBG_SHAPE(1, p->loop, p->tile, p->tile);

    for (int64_t i = 0; i < p->groups; i++) {
        struct hbg_region c = hbg_cell(C, sum, HBG_SHAPE(i, 0, 0, 0));
        if (p->scope)
            hbg_scope_begin(g, HBG_SCOPE_AUTO);
        for (int64_t k = 0; k < p->grid_k; k++) {
            struct hbg_region a = hbg_cell(A, product, HBG_SHAPE(i, k, 0, 0, 0));
            struct hbg_region b = hbg_cell(B, product, HBG_SHAPE(i, k, 0, 0, 0));
            struct hbg_region ab = hbg_alloc(g, HBG_F32, sum);
            hbg_submit(g, BGEMM_MULTIPLY, hbg_in(a), hbg_in(b), hbg_out(ab));
            hbg_submit(g, BGEMM_ADD, hbg_in(ab), hbg_inout(c));
        }
        if (p->scope)
            hbg_scope_end(g);
    }
}
