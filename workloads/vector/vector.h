/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector: z = x * f(f(..(x + y))) with f(s) = scale * s + shift applied `steps` times, block by block.
 *
 * Every block is a chain of steps + 2 tasks over an intermediate; the blocks are independent of each other.
 */
#ifndef HBG_WORKLOADS_VECTOR_H
#define HBG_WORKLOADS_VECTOR_H

#include "workloads/workloads.h"

struct vector_params {
    int64_t block, steps;
};

enum { VECTOR_X, VECTOR_Y, VECTOR_Z, VECTOR_SCALE, VECTOR_SHIFT };      /* boundary positions */
enum { VECTOR_ADD, VECTOR_STEP, VECTOR_MULTIPLY, VECTOR_KERNEL_COUNT };

extern const struct hbg_kernel hbg__vector_kernels[VECTOR_KERNEL_COUNT];

int hbg__vector_inputs(struct hbg_setup *s);
void hbg__vector_build(struct hbg_graph *g, const struct hbg_args *args, const void *params);
int hbg__vector_golden(struct hbg_setup *s);

#endif
