/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stencil: heat in a plate. Every step a cell moves towards its four neighbours, u += rate (n + s + w + e - 4 u), all cells
 * at once; those on the rim of the plate keep their values.
 *
 *     u -> grid 0 -> grid 1 -> grid 0 -> .. -> result     `steps` steps over two grids that take turns
 *
 * A task makes one tile of one step. It reads the tile of the step before, and of each tile beside it the row or column
 * that lies next to it: so it waits for five tasks, and tiles far apart may be several steps apart.
 */
#ifndef HBG_WORKLOADS_STENCIL_H
#define HBG_WORKLOADS_STENCIL_H

#include "workloads/workloads.h"

struct stencil_params {
    int64_t tile, steps;
};

enum { STENCIL_U, STENCIL_RESULT, STENCIL_RATE };       /* boundary positions */
enum { STENCIL_STEP, STENCIL_COPY, STENCIL_KERNEL_COUNT };

extern const struct hbg_kernel hbg__stencil_kernels[STENCIL_KERNEL_COUNT];

int hbg__stencil_inputs(struct hbg_setup *s);
void hbg__stencil_build(struct hbg_graph *g, const struct hbg_args *args, const void *params);
int hbg__stencil_golden(struct hbg_setup *s);

#endif
