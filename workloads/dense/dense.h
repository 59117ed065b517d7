/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tile operations of dense linear algebra, for kernels.
 *
 * All matrices are row-major; `ld` is the distance of two rows in elements. Triangular matrices are lower triangular and
 * nothing reads or writes above their diagonal. With HBG_HAVE_OPENBLAS the work is done by CBLAS and LAPACKE on the
 * calling thread, else by plain loops (dense_plain.c). Either way an operation's bits depend on its operands alone: not
 * on the thread that calls it and not on what else runs.
 */
#ifndef HBG_WORKLOADS_DENSE_H
#define HBG_WORKLOADS_DENSE_H

#include <stdbool.h>
#include <stdint.h>

/* Once, before the first operation: one thread an operation, since the tasks are the parallelism. */
void hbg__dense_prepare(void);

/* a = L L', in place: 0, or the 1-based row whose pivot is not positive */
int hbg__dense_potrf(int64_t n, double *a, int64_t ld);

/* b [m x n] = b inv(L)', with L [n x n] */
void hbg__dense_trsm_right(int64_t m, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb);

/* b [m x n] = inv(L) b, with L [m x m] */
void hbg__dense_trsm_left(int64_t m, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb);

/* lower triangle of c [n x n] -= a a', with a [n x k] */
void hbg__dense_syrk(int64_t n, int64_t k, const double *a, int64_t lda, double *c, int64_t ldc);

/* c [m x n] -= a b', with a [m x k] and b [n x k] */
void hbg__dense_gemm_nt(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b, int64_t ldb,
                        double *c, int64_t ldc);

/* c [m x n] -= a b, with a [m x k] and b [k x n] */
void hbg__dense_gemm_nn(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b, int64_t ldb,
                        double *c, int64_t ldc);

/* c [m x n] = a b, or c += a b with `add`; a [m x k] and b [k x n] */
void hbg__dense_gemm_f32(bool add, int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, const float *b, int64_t ldb,
                         float *c, int64_t ldc);

#endif
