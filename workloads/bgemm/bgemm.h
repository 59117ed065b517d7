/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bgemm: a batched, blocked matrix product. C[g][l] += sum over k of A[g][k][l] * B[g][k][l], all of them tiles.
 *
 * task_num / grid_k groups g; grid_k steps k; `loop` independent tile x tile products l in one task. Per group and step
 * one task multiplies into an intermediate and one adds it to C: 2 * task_num tasks, and per group the adds form a chain.
 */
#ifndef HBG_WORKLOADS_BGEMM_H
#define HBG_WORKLOADS_BGEMM_H

#include "workloads/workloads.h"

struct bgemm_params {
    int64_t groups, grid_k, loop, tile;
    int64_t scope;                      /* 1: each group's intermediates live in a scope of their own */
};

enum { BGEMM_A, BGEMM_B, BGEMM_C };     /* boundary positions */
enum { BGEMM_MULTIPLY, BGEMM_ADD, BGEMM_KERNEL_COUNT };

extern const struct hbg_kernel hbg__bgemm_kernels[BGEMM_KERNEL_COUNT];

/* the workload's parameters, checked: 0, or the failure that hbg_setup_fail() latched */
int hbg__bgemm_params(struct hbg_setup *s, struct bgemm_params *params);
int hbg__bgemm_inputs(struct hbg_setup *s);
void hbg__bgemm_build(struct hbg_graph *g, const struct hbg_args *args, const void *params);
int hbg__bgemm_golden(struct hbg_setup *s);

#endif
