/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul: the reference, row by row over the whole matrices in double precision.
 *
 * The tolerance. An f32 sum of k products, in whatever order, differs from the exact one by at most k u sum |a b|, with
 * u = 2^-24; roundings are of either sign, so that sqrt(k) stands for k in practice, and sum |a b| is at most the largest
 * row norm of A times the largest column norm of B. Four times that, and bias and result rounded once, is allowed.
 */
#include "matmul.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    int64_t m, n, k;
};

/* sum is scratch of n numbers */
static void multiply(const struct shape *d, const float *a, const float *b, const float *bias, double *sum, float *c)
{
    for (int64_t i = 0; i < d->m; i++) {
        for (int64_t j = 0; j < d->n; j++)
            sum[j] = bias[j];
        for (int64_t p = 0; p < d->k; p++) {
            double factor = a[i * d->k + p];
            for (int64_t j = 0; j < d->n; j++)
                sum[j] += factor * b[p * d->n + j];
        }
        for (int64_t j = 0; j < d->n; j++)
            c[i * d->n + j] = sum[j] > 0.0 ? (float)sum[j] : 0.0f;
    }
}

/* square is scratch of n numbers */
static double tolerance(const struct shape *d, const float *a, const float *b, const float *bias, double *square)
{
    double row = 0.0, column = 0.0, largest = workload_largest_f32(bias, d->n);

    for (int64_t i = 0; i < d->m; i++) {
        double norm = 0.0;
        for (int64_t p = 0; p < d->k; p++)
            norm += (double)a[i * d->k + p] * a[i * d->k + p];
        row = fmax(row, norm);
    }
    memset(square, 0, (size_t)d->n * sizeof *square);
    for (int64_t i = 0; i < d->k * d->n; i++)
        square[i % d->n] += (double)b[i] * b[i];
    for (int64_t j = 0; j < d->n; j++)
        column = fmax(column, square[j]);
    return 0x1p-24 * (4.0 * sqrt((double)d->k) * sqrt(row * column) + 2.0 * (sqrt(row * column) + largest));
}

int hbg__matmul_golden(struct hbg_setup *s)
{
    const float *a = hbg_setup_input(s, "a"), *b = hbg_setup_input(s, "b"), *bias = hbg_setup_input(s, "bias");
    struct shape d = { hbg_setup_i64(s, "m"), hbg_setup_i64(s, "n"), hbg_setup_i64(s, "k") };
    float *c = hbg_setup_expected(s, "c");
    double *scratch;

    if (!a || !b || !bias || !c)
        return -1;
    scratch = malloc((size_t)d.n * sizeof *scratch + 1);
    if (!scratch)
        return hbg_setup_fail(s, "no memory for a row of the reference");
    multiply(&d, a, b, bias, scratch, c);
    hbg_setup_tolerance(s, "c", tolerance(&d, a, b, bias, scratch));
    free(scratch);
    return 0;
}
