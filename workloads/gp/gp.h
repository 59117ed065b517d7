/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp: Gaussian-process regression on a table of times x and values y, every step a task. The tensors x and y are called
 * `times` and `values`, since the parameters x and y name columns of the table.
 *
 *     m = mean of y, z = y - m                           mean, centre
 *     K = k(x, x) + noise^2 I, lower tiles only          covariance
 *     K = L L'                                           potrf, trsm, syrk, gemm
 *     L w = z, then L' w = w                             solve_lower, reduce_lower, solve_upper, reduce_upper
 *     log p(y) = -z'w/2 - sum log L_ii - n/2 log 2 pi    term, likelihood
 *     for each block of prediction times t:
 *         S = k(x, t); mean = m + S'w                    cross, predict
 *         L V = S; deviation^2 = k(0) - column sums V^2  solve_block, reduce_block, deviation
 *
 * The predictions are of the noise-free function. The covariance is a sum of four terms: a smooth trend, a season of
 * period 1 whose shape drifts, a medium-term rational quadratic, and a local one.
 */
#ifndef HBG_WORKLOADS_GP_H
#define HBG_WORKLOADS_GP_H

#include "workloads/workloads.h"

struct gp_covariance {
    double trend_amplitude, trend_length;
    double season_amplitude, season_decay, season_width;
    double medium_amplitude, medium_length, medium_shape;
    double local_amplitude, local_length;
    double noise;                       /* standard deviation of one value */
};
struct gp_params {
    int64_t tile;
    struct gp_covariance covariance;
};

enum { GP_X, GP_Y, GP_T, GP_PREDICTION, GP_DEVIATION, GP_LIKELIHOOD };          /* boundary positions */
enum {
    GP_KERNEL_MEAN, GP_KERNEL_CENTRE, GP_KERNEL_COVARIANCE,
    GP_KERNEL_POTRF, GP_KERNEL_TRSM, GP_KERNEL_SYRK, GP_KERNEL_GEMM,
    GP_KERNEL_SOLVE_LOWER, GP_KERNEL_REDUCE_LOWER, GP_KERNEL_SOLVE_UPPER, GP_KERNEL_REDUCE_UPPER,
    GP_KERNEL_TERM, GP_KERNEL_LIKELIHOOD,
    GP_KERNEL_CROSS, GP_KERNEL_PREDICT, GP_KERNEL_SOLVE_BLOCK, GP_KERNEL_REDUCE_BLOCK, GP_KERNEL_DEVIATION,
    GP_KERNEL_COUNT
};

extern const struct hbg_kernel hbg__gp_kernels[GP_KERNEL_COUNT];

/* the covariance's parameters, checked: 0, or the failure that hbg_setup_fail() latched */
int hbg__gp_covariance_params(struct hbg_setup *s, struct gp_covariance *covariance);
int hbg__gp_inputs(struct hbg_setup *s);
void hbg__gp_build(struct hbg_graph *g, const struct hbg_args *args, const void *params);
int hbg__gp_golden(struct hbg_setup *s);
int hbg__gp_report(struct hbg_setup *s);

#endif
