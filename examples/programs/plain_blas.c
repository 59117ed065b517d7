/* SPDX-License-Identifier: Apache-2.0 */
/* plain_blas.c - the four routines of CBLAS and LAPACKE that p02_cholesky.c calls, in plain loops and for those arguments only:
 * row-major, lower triangles. So the program runs where no BLAS is installed. */
#include <math.h>

int LAPACKE_dpotrf(int layout, char uplo, int n, double *a, int lda);
void cblas_dtrsm(int layout, int side, int uplo, int trans, int diag, int m, int n, double alpha, const double *a, int lda, double *b, int ldb);
void cblas_dsyrk(int layout, int uplo, int trans, int n, int k, double alpha, const double *a, int lda, double beta, double *c, int ldc);
void cblas_dgemm(int layout, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);

static double dot(const double *x, const double *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

int LAPACKE_dpotrf(int layout, char uplo, int n, double *a, int lda)
{
    (void)layout;
    (void)uplo;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) a[i * lda + j] = (a[i * lda + j] - dot(a + i * lda, a + j * lda, j)) / a[j * lda + j];
        double square = a[i * lda + i] - dot(a + i * lda, a + i * lda, i);
        if (!(square > 0)) return i + 1;
        a[i * lda + i] = sqrt(square);
    }
    return 0;
}

/* B = B L^-T */
void cblas_dtrsm(int layout, int side, int uplo, int trans, int diag, int m, int n, double alpha, const double *a, int lda, double *b, int ldb)
{
    (void)layout;
    (void)side;
    (void)uplo;
    (void)trans;
    (void)diag;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) b[i * ldb + j] = (alpha * b[i * ldb + j] - dot(b + i * ldb, a + j * lda, j)) / a[j * lda + j];
    }
}

void cblas_dsyrk(int layout, int uplo, int trans, int n, int k, double alpha, const double *a, int lda, double beta, double *c, int ldc)
{
    (void)layout;
    (void)uplo;
    (void)trans;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) c[i * ldc + j] = beta * c[i * ldc + j] + alpha * dot(a + i * lda, a + j * lda, k);
    }
}

/* C = beta C + alpha A B^T */
void cblas_dgemm(int layout, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc)
{
    (void)layout;
    (void)ta;
    (void)tb;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) c[i * ldc + j] = beta * c[i * ldc + j] + alpha * dot(a + i * lda, b + j * ldb, k);
    }
}
