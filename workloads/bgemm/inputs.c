/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bgemm: parameters, tensors and the descriptor.
 */
#include "bgemm.h"
#include "workloads/dense/dense.h"

int hbg__bgemm_params(struct hbg_setup *s, struct bgemm_params *params)
{
    int64_t tasks = hbg_setup_i64(s, "task_num");

    params->grid_k = hbg_setup_i64(s, "grid_k");
    params->loop = hbg_setup_i64(s, "loop");
    params->tile = hbg_setup_i64(s, "tile");
    params->scope = hbg_setup_i64(s, "scope");
    if (tasks < 0)
        return hbg_setup_fail(s, "task_num must be at least 0");
    if (params->grid_k < 1)
        return hbg_setup_fail(s, "grid_k must be at least 1");
    if (params->loop < 1)
        return hbg_setup_fail(s, "loop must be at least 1");
    if (params->tile < 1 || params->tile > 32768)
        return hbg_setup_fail(s, "tile must be between 1 and 32768");
    if (params->scope != 0 && params->scope != 1)
        return hbg_setup_fail(s, "scope must be 0 or 1");
    if (tasks % params->grid_k)
        return hbg_setup_fail(s, "task_num must be a multiple of grid_k");
    params->groups = tasks / params->grid_k;
    return 0;
}

static void fill(struct hbg_setup *s, float *data, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        data[i] = (float)workload_uniform(s);
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
    fill(s, a, size * p.grid_k);
    fill(s, b, size * p.grid_k);
    fill(s, c, size);
    hbg_setup_params(s, &p, sizeof p);
    hbg__dense_prepare();
    return 0;
}

static const char *const params[] = { "task_num=500", "tile=128", "loop=4", "grid_k=2", "scope=1", NULL };

const struct hbg_workload hbg__bgemm_workload = {
    .size = sizeof(struct hbg_workload),
    .abi = HBG_WORKLOAD_ABI,
    .name = "bgemm",
    .doc = "batched blocked matrix product: task_num products of `loop` tiles each, and as many adds into C",
    .params = params,
    .inputs = hbg__bgemm_inputs,
    .build = hbg__bgemm_build,
    .kernels = hbg__bgemm_kernels,
    .kernel_count = BGEMM_KERNEL_COUNT,
    .golden = hbg__bgemm_golden,
    .abs_tolerance = 1e-4,
    .rel_tolerance = 1e-4,
    .pure_build = true,
};
