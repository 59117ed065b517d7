/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bgemm: parameters, tensors and the descriptor.
 */
#include "bgemm.h"
#include "workloads/dense/dense.h"

int hbg__bgemm_params(struct hbg_setup *s, struct bgemm_params *params)
{
    int64_t tasks;

    if (hbg__workload_param(s, "task_num", 0, INT64_MAX, &tasks)
        || hbg__workload_param(s, "grid_k", 1, INT64_MAX, &params->grid_k)
        || hbg__workload_param(s, "loop", 1, INT64_MAX, &params->loop)
        || hbg__workload_param(s, "tile", 1, WORKLOAD_TILE_MOST, &params->tile)
        || hbg__workload_param(s, "scope", 0, 1, &params->scope))
        return -1;
    if (tasks % params->grid_k)
        return hbg_setup_fail(s, "task_num must be a multiple of grid_k");
    params->groups = tasks / params->grid_k;
    return 0;
}

int hbg__bgemm_inputs(struct hbg_setup *s)
{
    struct bgemm_params p;
    float *a, *b, *c;
    int64_t size;
    int failed = hbg__bgemm_params(s, &p);

    if (failed)
        return failed;
    a = hbg_setup_tensor(s, "a", HBG_ARG_IN, HBG_F32, HBG_SHAPE(p.groups, p.grid_k, p.loop, p.tile, p.tile));
    b = hbg_setup_tensor(s, "b", HBG_ARG_IN, HBG_F32, HBG_SHAPE(p.groups, p.grid_k, p.loop, p.tile, p.tile));
    c = hbg_setup_tensor(s, "c", HBG_ARG_INOUT, HBG_F32, HBG_SHAPE(p.groups, p.loop, p.tile, p.tile));
    if (!a || !b || !c)
        return -1;
    size = p.groups * p.loop * p.tile * p.tile;
    workload_fill_f32(s, a, size * p.grid_k);
    workload_fill_f32(s, b, size * p.grid_k);
    workload_fill_f32(s, c, size);
    hbg_setup_params(s, &p, sizeof p);
    hbg__dense_prepare();
    return 0;
}

static const char *const params[] = {
    "task_num=500  tasks that multiply; as many add",
    "tile=128  edge of a tile",
    "loop=4  products of one task",
    "grid_k=2  products that are added up in each tile of C; task_num is a multiple",
    "scope=1  1: the intermediates of a group live in a scope of their own; 0: to the end",
    NULL,
};

const struct hbg_workload hbg__bgemm_workload = {
    WORKLOAD_PARTS(bgemm, BGEMM_KERNEL_COUNT),
    .doc = "batched blocked matrix product: task_num products of `loop` tiles each, and as many adds into C",
    .rel_tolerance = 1e-4,
    .pure_build = true,
};
