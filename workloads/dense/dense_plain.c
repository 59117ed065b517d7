/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tile operations in plain C, for machines without OpenBLAS.
 *
 * The inner loops run along rows, so that they read consecutive memory. Sums have a fixed order: the same operands give
 * the same bits everywhere. dense.h declares what each does.
 */
#include "dense.h"

#ifndef HBG_HAVE_OPENBLAS

#include <math.h>

void hbg__dense_prepare(void)
{
}

/* sum of a[i] * b[i] in four interleaved partial sums */
static double dot(int64_t n, const double *a, const double *b)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    int64_t i = 0;

    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++)
        s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

int hbg__dense_potrf(int64_t n, double *a, int64_t ld)
{
    for (int64_t j = 0; j < n; j++) {
        double *row = a + j * ld;
        double pivot = row[j] - dot(j, row, row);
        if (!(pivot > 0.0))             /* a NaN is no pivot either */
            return (int)(j + 1);
        row[j] = sqrt(pivot);
        for (int64_t i = j + 1; i < n; i++) {
            double *below = a + i * ld;
            below[j] = (below[j] - dot(j, below, row)) / row[j];
        }
    }
    return 0;
}

void hbg__dense_trsm_right(int64_t m, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb)
{
    for (int64_t i = 0; i < m; i++) {
        double *x = b + i * ldb;
        for (int64_t j = 0; j < n; j++)
            x[j] = (x[j] - dot(j, x, l + j * ldl)) / l[j * ldl + j];
    }
}

void hbg__dense_trsm_left(int64_t m, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb)
{
    for (int64_t i = 0; i < m; i++) {
        double *x = b + i * ldb, pivot = l[i * ldl + i];
        for (int64_t k = 0; k < i; k++) {
            double factor = l[i * ldl + k];
            const double *y = b + k * ldb;
            for (int64_t j = 0; j < n; j++)
                x[j] -= factor * y[j];
        }
        for (int64_t j = 0; j < n; j++)
            x[j] /= pivot;
    }
}

void hbg__dense_syrk(int64_t n, int64_t k, const double *a, int64_t lda, double *c, int64_t ldc)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            c[i * ldc + j] -= dot(k, a + i * lda, a + j * lda);
}

void hbg__dense_gemm_nt(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b, int64_t ldb,
                        double *c, int64_t ldc)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            c[i * ldc + j] -= dot(k, a + i * lda, b + j * ldb);
}

void hbg__dense_gemm_nn(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b, int64_t ldb,
                        double *c, int64_t ldc)
{
    for (int64_t i = 0; i < m; i++) {
        double *x = c + i * ldc;
        for (int64_t p = 0; p < k; p++) {
            double factor = a[i * lda + p];
            const double *y = b + p * ldb;
            for (int64_t j = 0; j < n; j++)
                x[j] -= factor * y[j];
        }
    }
}

void hbg__dense_gemm_f32(bool add, int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, const float *b, int64_t ldb,
                         float *c, int64_t ldc)
{
    for (int64_t i = 0; i < m; i++) {
        float *x = c + i * ldc;
        for (int64_t j = 0; !add && j < n; j++)
            x[j] = 0.0f;
        for (int64_t p = 0; p < k; p++) {
            float factor = a[i * lda + p];
            const float *y = b + p * ldb;
            for (int64_t j = 0; j < n; j++)
                x[j] += factor * y[j];
        }
    }
}

#endif
