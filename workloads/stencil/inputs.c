/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stencil: parameters, tensors and the descriptor.
 */
#include "stencil.h"

int hbg__stencil_inputs(struct hbg_setup *s)
{
    struct stencil_params params;
    double rate = hbg_setup_f64(s, "rate");
    int64_t rows, columns;
    float *u;

    if (hbg__workload_param(s, "rows", 0, INT32_MAX, &rows) || hbg__workload_param(s, "columns", 0, INT32_MAX, &columns)
        || hbg__workload_param(s, "tile", 1, INT32_MAX, &params.tile) || hbg__workload_param(s, "steps", 0, 1000000, &params.steps))
        return -1;
    if (!(rate >= 0.0 && rate <= 0.25))
        return hbg_setup_fail(s, "rate must be between 0 and 0.25: beyond it the plate does not calm down");
    u = hbg_setup_tensor(s, "u", HBG_ARG_IN, HBG_F32, HBG_SHAPE(rows, columns));
    if (!u || !hbg_setup_tensor(s, "result", HBG_ARG_OUT, HBG_F32, HBG_SHAPE(rows, columns)))
        return -1;
    workload_fill_f32(s, u, rows * columns);
    hbg_setup_scalar(s, "rate", hbg_f32((float)rate));
    hbg_setup_params(s, &params, sizeof params);
    return 0;
}

static const char *const params[] = {
    "rows=512  of the plate",
    "columns=512  of the plate",
    "tile=128  edge of a tile",
    "steps=100  tasks of each tile, one after the other",
    "rate=0.2  how far a cell moves in a step, 0 to 0.25",
    NULL,
};

const struct hbg_workload hbg__stencil_workload = {
    WORKLOAD_PARTS(stencil, STENCIL_KERNEL_COUNT),
    .doc = "heat in a plate: `steps` steps over two grids that take turns, tile by tile with the edges of the neighbours",
    .pure_build = true,
};
