/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workloads that are built into the command, and what several of them share.
 *
 * Each folder holds one workload: inputs (parameters checked, tensors filled), build (the graph), kernels (what a task
 * does) and golden (a plain reference in double precision that shares no code with the kernels). A built-in workload is
 * the same struct hbg_workload that a workload in a file of its own exports.
 */
#ifndef HBG_WORKLOADS_WORKLOADS_H
#define HBG_WORKLOADS_WORKLOADS_H

#include <hbg/hbg.h>

#include <string.h>

extern const struct hbg_workload hbg__vector_workload;
extern const struct hbg_workload hbg__matmul_workload;
extern const struct hbg_workload hbg__bgemm_workload;
extern const struct hbg_workload hbg__stencil_workload;
extern const struct hbg_workload hbg__cholesky_workload;
extern const struct hbg_workload hbg__paged_attention_workload;
extern const struct hbg_workload hbg__decoder_workload;
extern const struct hbg_workload hbg__gp_workload;

/* in the order that `hbg list` prints; ends with NULL */
extern const struct hbg_workload *const hbg__workloads[];

/* What a descriptor says of every workload: functions and kernels are named after it, and its file has `params`. */
#define WORKLOAD_PARTS(workload, count)                                                                                \
    .size = sizeof(struct hbg_workload), .abi = HBG_WORKLOAD_ABI, .name = #workload, .params = params,                 \
    .inputs = hbg__##workload##_inputs, .build = hbg__##workload##_build, .kernels = hbg__##workload##_kernels,        \
    .kernel_count = (count), .golden = hbg__##workload##_golden

/* the largest tile: its elements are counted in an int by the BLAS */
enum { WORKLOAD_TILE_MOST = 32768 };

/* a whole parameter from least to most (INT64_MAX: no limit): 0 and the value, or the failure that hbg_setup_fail() latched */
int hbg__workload_param(struct hbg_setup *s, const char *name, int64_t least, int64_t most, int64_t *value);

/* a parameter that is one of the words, two or more, NULL behind the last: 0 and its place among them, or the latched failure, which names them */
int hbg__workload_word(struct hbg_setup *s, const char *name, const char *const *words, int *place);

/* a number in [-1, 1) with 24 random bits: the same number in f32 and in f64 */
static inline double workload_uniform(struct hbg_setup *s)
{
    return (double)(hbg_setup_random(s) >> 40) * 0x1p-23 - 1.0;
}

static inline void workload_fill_f32(struct hbg_setup *s, float *data, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        data[i] = (float)workload_uniform(s);
}

/* the nearest bf16, the even one of two; not for NaN */
static inline uint16_t workload_bf16(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

/* the largest |data[i]|, for tolerances */
static inline double workload_largest_f32(const float *data, int64_t count)
{
    float largest = 0.0f;

    for (int64_t i = 0; i < count; i++) {
        float size = data[i] < 0.0f ? -data[i] : data[i];
        largest = size > largest ? size : largest;
    }
    return largest;
}

/* cells of `cell` elements that cover `extent` elements; no overflow for any extent and cell above zero */
static inline int64_t workload_cells(int64_t extent, int64_t cell)
{
    return extent / cell + (extent % cell != 0);
}

#endif
