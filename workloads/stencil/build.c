/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stencil: the graph. No step waits for the one before as a whole: what a tile reads and what it overwrites says it all.
 */
#include "stencil.h"

/* rows [row, row + rows) and columns [column, column + columns) of the plate, or what of it there is */
static struct hbg_region part(struct hbg_region plate, int64_t row, int64_t rows, int64_t column, int64_t columns)
{
    int64_t bottom = row + rows < plate.shape[0] ? row + rows : plate.shape[0];
    int64_t right = column + columns < plate.shape[1] ? column + columns : plate.shape[1];
    int64_t top = row < 0 ? 0 : row < bottom ? row : bottom, left = column < 0 ? 0 : column < right ? column : right;

    return hbg_slice(hbg_slice(plate, 0, top, bottom), 1, left, right);
}

/* Beside the rim a neighbour is an empty region, which makes no edge. */
static void build_step(struct hbg_graph *g, struct hbg_region from, struct hbg_region to, int64_t tile, struct hbg_arg rate)
{
    for (int64_t row = 0; row < to.shape[0]; row += tile) {
        for (int64_t column = 0; column < to.shape[1]; column += tile) {
            struct hbg_region own = part(from, row, tile, column, tile);
            hbg_submit(g, STENCIL_STEP, hbg_in(own), hbg_in(part(from, row - 1, 1, column, tile)),
                       hbg_in(part(from, row + tile, 1, column, tile)), hbg_in(part(from, row, tile, column - 1, 1)),
                       hbg_in(part(from, row, tile, column + tile, 1)), hbg_out(part(to, row, tile, column, tile)), rate);
        }
    }
}

void hbg__stencil_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct stencil_params *p = params;
    struct hbg_region u = hbg_args_region(args, STENCIL_U), result = hbg_args_region(args, STENCIL_RESULT), grid[2];
    struct hbg_shape shape = HBG_SHAPE(u.shape[0], u.shape[1]);

    if (p->steps == 0) {
        hbg_submit(g, STENCIL_COPY, hbg_in(u), hbg_out(result));
        return;
    }
    grid[0] = hbg_alloc(g, HBG_F32, shape);
    grid[1] = hbg_alloc(g, HBG_F32, shape);
    for (int64_t step = 0; step < p->steps; step++)
        build_step(g, step == 0 ? u : grid[(step - 1) % 2], step == p->steps - 1 ? result : grid[step % 2], p->tile,
                   hbg_args_scalar(args, STENCIL_RATE));
}
