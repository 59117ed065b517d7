/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cholesky: two references. The factor row by row over the whole matrix, without tiles; and the residual of the factor
 * that the run left, which needs no other factor to compare with.
 */
#include "cholesky.h"

#include <math.h>
#include <string.h>

int hbg__cholesky_golden(struct hbg_setup *s)
{
    const double *a = hbg_setup_input(s, "a");
    double *l = hbg_setup_expected(s, "a");
    int64_t n = hbg_setup_i64(s, "n");
    double largest = 0.0;

    if (!a || !l)
        return -1;
    memcpy(l, a, (size_t)n * (size_t)n * sizeof *l);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            double sum = l[i * n + j];
            for (int64_t k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            l[i * n + j] = sum / l[j * n + j];
        }
        for (int64_t k = 0; k < i; k++)
            l[i * n + i] -= l[i * n + k] * l[i * n + k];
        l[i * n + i] = sqrt(l[i * n + i]);
        largest = fmax(largest, a[i * n + i]);
    }
    hbg_setup_tolerance(s, "a", 1e-10 * sqrt(largest));     /* no element of L is larger than that root */
    return 0;
}

int hbg__cholesky_residual(struct hbg_setup *s, double *residual)
{
    const double *a = hbg_setup_input(s, "a"), *l = hbg_setup_result(s, "a");
    int64_t n = hbg_setup_i64(s, "n");
    double difference = 0.0, norm = 0.0;

    if (!a || !l)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double weight = i == j ? 1.0 : 2.0;         /* the other triangle counts as well */
            double product = 0.0;
            for (int64_t k = 0; k <= j; k++)
                product += l[i * n + k] * l[j * n + k];
            difference += weight * (a[i * n + j] - product) * (a[i * n + j] - product);
            norm += weight * a[i * n + j] * a[i * n + j];
        }
    }
    *residual = norm > 0.0 ? sqrt(difference / norm) : sqrt(difference);
    return 0;
}
