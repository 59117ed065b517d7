/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tile operations through CBLAS and LAPACKE; an empty file without them.
 */
#include "dense.h"

#ifdef HBG_HAVE_OPENBLAS

#include <cblas.h>
#include <lapacke.h>

void hbg__dense_prepare(void)
{
    openblas_set_num_threads(1);
}

int hbg__dense_potrf(int64_t n, double *a, int64_t ld)
{
    /* The lower triangle of a row-major matrix is the upper one of the same bytes read by columns, and L' there is the
       L wanted here: LAPACKE's row-major form would copy the tile twice. */
    return n ? (int)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, a, (lapack_int)ld) : 0;
}

void hbg__dense_trsm_right(int64_t m, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb)
{
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)m, (int)n, 1.0, l, (int)ldl, b, (int)ldb);
}

void hbg__dense_trsm_left(int64_t m, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb)
{
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)m, (int)n, 1.0, l, (int)ldl, b, (int)ldb);
}

void hbg__dense_syrk(int64_t n, int64_t k, const double *a, int64_t lda, double *c, int64_t ldc)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)n, (int)k, -1.0, a, (int)lda, 1.0, c, (int)ldc);
}

void hbg__dense_gemm_nt(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b, int64_t ldb,
                        double *c, int64_t ldc)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m, (int)n, (int)k, -1.0, a, (int)lda, b, (int)ldb, 1.0, c, (int)ldc);
}

void hbg__dense_gemm_nn(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b, int64_t ldb,
                        double *c, int64_t ldc)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, -1.0, a, (int)lda, b, (int)ldb, 1.0, c, (int)ldc);
}

void hbg__dense_gemm_f32(bool add, int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, const float *b, int64_t ldb,
                         float *c, int64_t ldc)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1.0f, a, lda ? (int)lda : 1, b, (int)ldb,
                add ? 1.0f : 0.0f, c, (int)ldc);
}

#endif

