/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp: what the tasks do. The factorisation's kernels and the block solves are those of workloads/dense; the rest works on
 * vectors and is plain C. gp.h says which formula each kernel belongs to.
 */
#include "gp.h"
#include "workloads/dense/dense.h"
#include "workloads/dense/kernels.h"

#include <math.h>

static double square(double v)
{
    return v * v;
}

/* k(r) without noise */
static double covariance_at(const struct gp_covariance *c, double r)
{
    double trend = square(c->trend_amplitude) * exp(-square(r) / (2.0 * square(c->trend_length)));
    double season = square(c->season_amplitude)
                    * exp(-square(r) / (2.0 * square(c->season_decay)) - 2.0 * square(sin(M_PI * r) / c->season_width));
    double medium = square(c->medium_amplitude)
                    * pow(1.0 + square(r) / (2.0 * c->medium_shape * square(c->medium_length)), -c->medium_shape);
    double local = square(c->local_amplitude) * exp(-square(r) / (2.0 * square(c->local_length)));
    return trend + season + medium + local;
}

/* in y, out mean */
static int mean(const struct hbg_task_view *t)
{
    const double *y = HBG_VIEW(const double, t, 0);
    int64_t n = hbg_view_count(t, 0);
    double sum = 0.0;

    for (int64_t i = 0; i < n; i++)
        sum += y[i];
    *HBG_VIEW(double, t, 1) = sum / (double)n;
    return 0;
}

/* in y, in mean, out z, out w: both y - mean */
static int centre(const struct hbg_task_view *t)
{
    const double *y = HBG_VIEW(const double, t, 0);
    double m = *HBG_VIEW(const double, t, 1), *z = HBG_VIEW(double, t, 2), *w = HBG_VIEW(double, t, 3);

    for (int64_t i = 0; i < hbg_view_count(t, 0); i++)
        z[i] = w[i] = y[i] - m;
    return 0;
}

/* in x_i, in x_j, out tile, whether it lies on the diagonal, parameters */
static int covariance(const struct hbg_task_view *t)
{
    const double *xi = HBG_VIEW(const double, t, 0), *xj = HBG_VIEW(const double, t, 1);
    double *tile = HBG_VIEW(double, t, 2);
    bool diagonal = hbg_view_bool(t, 3);
    const struct gp_covariance *c = HBG_VIEW(const struct gp_covariance, t, 4);
    int64_t rows = hbg_view_count(t, 0), columns = hbg_view_count(t, 1), ld = hbg_view_ld(t, 2);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++)
            tile[i * ld + j] = covariance_at(c, xi[i] - xj[j]);
        if (diagonal)
            tile[i * ld + i] += square(c->noise);
    }
    return 0;
}

/* in L, inout w: w = inv(L) w */
static int solve_lower(const struct hbg_task_view *t)
{
    const double *l = HBG_VIEW(const double, t, 0);
    double *w = HBG_VIEW(double, t, 1);
    int64_t n = hbg_view_count(t, 1), ld = hbg_view_ld(t, 0);

    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++)
            w[i] -= l[i * ld + j] * w[j];
        w[i] /= l[i * ld + i];
    }
    return 0;
}

/* in L, in w_k, inout w_i: w_i -= L w_k */
static int reduce_lower(const struct hbg_task_view *t)
{
    const double *l = HBG_VIEW(const double, t, 0), *wk = HBG_VIEW(const double, t, 1);
    double *wi = HBG_VIEW(double, t, 2);
    int64_t rows = hbg_view_count(t, 2), columns = hbg_view_count(t, 1), ld = hbg_view_ld(t, 0);

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            wi[i] -= l[i * ld + j] * wk[j];
    return 0;
}

/* in L, inout w: w = inv(L') w */
static int solve_upper(const struct hbg_task_view *t)
{
    const double *l = HBG_VIEW(const double, t, 0);
    double *w = HBG_VIEW(double, t, 1);
    int64_t n = hbg_view_count(t, 1), ld = hbg_view_ld(t, 0);

    for (int64_t i = n - 1; i >= 0; i--) {
        w[i] /= l[i * ld + i];
        for (int64_t j = 0; j < i; j++)
            w[j] -= l[i * ld + j] * w[i];
    }
    return 0;
}

/* in L, in w_k, inout w_i: w_i -= L' w_k */
static int reduce_upper(const struct hbg_task_view *t)
{
    const double *l = HBG_VIEW(const double, t, 0), *wk = HBG_VIEW(const double, t, 1);
    double *wi = HBG_VIEW(double, t, 2);
    int64_t rows = hbg_view_count(t, 1), columns = hbg_view_count(t, 2), ld = hbg_view_ld(t, 0);

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            wi[j] -= l[i * ld + j] * wk[i];
    return 0;
}

/* in L, in z, in w, out one number: these rows' share of the log likelihood */
static int term(const struct hbg_task_view *t)
{
    const double *l = HBG_VIEW(const double, t, 0), *z = HBG_VIEW(const double, t, 1), *w = HBG_VIEW(const double, t, 2);
    int64_t n = hbg_view_count(t, 1), ld = hbg_view_ld(t, 0);
    double sum = 0.0;

    for (int64_t i = 0; i < n; i++)
        sum -= 0.5 * z[i] * w[i] + log(l[i * ld + i]);
    *HBG_VIEW(double, t, 3) = sum;
    return 0;
}

/* in terms, out the log likelihood, n */
static int likelihood(const struct hbg_task_view *t)
{
    const double *terms = HBG_VIEW(const double, t, 0);
    double sum = -0.5 * (double)hbg_view_i64(t, 2) * log(2.0 * M_PI);

    for (int64_t i = 0; i < hbg_view_count(t, 0); i++)
        sum += terms[i];
    *HBG_VIEW(double, t, 1) = sum;
    return 0;
}

/* in x, in t, out S, out V: both k(x, t); parameters */
static int cross(const struct hbg_task_view *t)
{
    const double *x = HBG_VIEW(const double, t, 0), *at = HBG_VIEW(const double, t, 1);
    double *s = HBG_VIEW(double, t, 2), *v = HBG_VIEW(double, t, 3);
    const struct gp_covariance *c = HBG_VIEW(const struct gp_covariance, t, 4);
    int64_t rows = hbg_view_count(t, 0), columns = hbg_view_count(t, 1);

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            s[i * columns + j] = v[i * columns + j] = covariance_at(c, x[i] - at[j]);
    return 0;
}

/* in S, in w, in mean, out prediction */
static int predict(const struct hbg_task_view *t)
{
    const double *s = HBG_VIEW(const double, t, 0), *w = HBG_VIEW(const double, t, 1);
    double m = *HBG_VIEW(const double, t, 2), *prediction = HBG_VIEW(double, t, 3);
    int64_t rows = hbg_view_count(t, 1), columns = hbg_view_count(t, 3);

    for (int64_t j = 0; j < columns; j++)
        prediction[j] = 0.0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            prediction[j] += s[i * columns + j] * w[i];
    for (int64_t j = 0; j < columns; j++)
        prediction[j] += m;
    return 0;
}

/* in L, inout V: V = inv(L) V */
static int solve_block(const struct hbg_task_view *t)
{
    const int64_t *shape = hbg_view_shape(t, 1);
    hbg__dense_trsm_left(shape[0], shape[1], HBG_VIEW(const double, t, 0), hbg_view_ld(t, 0), HBG_VIEW(double, t, 1), shape[1]);
    return 0;
}

/* in L, in V_k, inout V_i: V_i -= L V_k */
static int reduce_block(const struct hbg_task_view *t)
{
    const int64_t *shape = hbg_view_shape(t, 2);
    hbg__dense_gemm_nn(shape[0], shape[1], hbg_view_shape(t, 1)[0], HBG_VIEW(const double, t, 0), hbg_view_ld(t, 0),
                       HBG_VIEW(const double, t, 1), shape[1], HBG_VIEW(double, t, 2), shape[1]);
    return 0;
}

/* in V, out deviation, parameters. Rounding may leave a variance just below zero where the function is known exactly. */
static int deviation(const struct hbg_task_view *t)
{
    const double *v = HBG_VIEW(const double, t, 0);
    double *result = HBG_VIEW(double, t, 1), at_zero = covariance_at(HBG_VIEW(const struct gp_covariance, t, 2), 0.0);
    int64_t rows = hbg_view_shape(t, 0)[0], columns = hbg_view_count(t, 1);

    for (int64_t j = 0; j < columns; j++) {
        double variance = at_zero;
        for (int64_t i = 0; i < rows; i++)
            variance -= square(v[i * columns + j]);
        result[j] = variance < 0.0 ? 0.0 : sqrt(variance);
    }
    return 0;
}

const struct hbg_kernel hbg__gp_kernels[GP_KERNEL_COUNT] = {
    HBG_KERNEL(GP_KERNEL_MEAN, mean, "in f64, out f64"),
    HBG_KERNEL(GP_KERNEL_CENTRE, centre, "in f64, in f64, out f64, out f64"),
    HBG_KERNEL(GP_KERNEL_COVARIANCE, covariance, NULL),
    HBG__POTRF_KERNEL(GP_KERNEL_POTRF),
    HBG__TRSM_KERNEL(GP_KERNEL_TRSM),
    HBG__SYRK_KERNEL(GP_KERNEL_SYRK),
    HBG__GEMM_KERNEL(GP_KERNEL_GEMM),
    HBG_KERNEL(GP_KERNEL_SOLVE_LOWER, solve_lower, "in f64, inout f64"),
    HBG_KERNEL(GP_KERNEL_REDUCE_LOWER, reduce_lower, "in f64, in f64, inout f64"),
    HBG_KERNEL(GP_KERNEL_SOLVE_UPPER, solve_upper, "in f64, inout f64"),
    HBG_KERNEL(GP_KERNEL_REDUCE_UPPER, reduce_upper, "in f64, in f64, inout f64"),
    HBG_KERNEL(GP_KERNEL_TERM, term, "in f64, in f64, in f64, out f64"),
    HBG_KERNEL(GP_KERNEL_LIKELIHOOD, likelihood, "in f64, out f64, i64"),
    HBG_KERNEL(GP_KERNEL_CROSS, cross, NULL),
    HBG_KERNEL(GP_KERNEL_PREDICT, predict, "in f64, in f64, in f64, out f64"),
    HBG_KERNEL(GP_KERNEL_SOLVE_BLOCK, solve_block, "in f64, inout f64"),
    HBG_KERNEL(GP_KERNEL_REDUCE_BLOCK, reduce_block, "in f64, in f64, inout f64"),
    HBG_KERNEL(GP_KERNEL_DEVIATION, deviation, NULL),
};
