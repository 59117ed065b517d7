/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector: the graph. The scalars are bound, so a replay takes new values of them.
 */
#include "vector.h"

void hbg__vector_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct vector_params *p = params;
    struct hbg_region x = hbg_args_region(args, VECTOR_X), y = hbg_args_region(args, VECTOR_Y), z = hbg_args_region(args, VECTOR_Z);
    struct hbg_arg scale = hbg_args_scalar(args, VECTOR_SCALE), shift = hbg_args_scalar(args, VECTOR_SHIFT);
    int64_t blocks = workload_cells(x.shape[0], p->block);

    for (int64_t i = 0; i < blocks; i++) {
        struct hbg_region xi = hbg_cell(x, HBG_SHAPE(p->block), HBG_SHAPE(i));
        struct hbg_region yi = hbg_cell(y, HBG_SHAPE(p->block), HBG_SHAPE(i));
        struct hbg_region zi = hbg_cell(z, HBG_SHAPE(p->block), HBG_SHAPE(i));
        struct hbg_region sum = hbg_alloc(g, HBG_F32, HBG_SHAPE(xi.shape[0]));
        hbg_submit(g, VECTOR_ADD, hbg_in(xi), hbg_in(yi), hbg_out(sum));
        for (int64_t step = 0; step < p->steps; step++)
            hbg_submit(g, VECTOR_STEP, hbg_inout(sum), scale, shift);
        hbg_submit(g, VECTOR_MULTIPLY, hbg_in(sum), hbg_in(xi), hbg_out(zi));
    }
}
