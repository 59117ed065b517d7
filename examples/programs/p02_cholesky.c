/* SPDX-License-Identifier: Apache-2.0 */
#include <hbg/hbg.h>
#ifdef __cplusplus
extern "C" {
#endif
enum { CblasRowMajor = 101, CblasNoTrans = 111, CblasTrans = 112, CblasLower = 122, CblasNonUnit = 131, CblasRight = 142, LAPACK_ROW_MAJOR = 101 };
int LAPACKE_dpotrf(int layout, char uplo, int n, double *a, int lda);
void cblas_dtrsm(int layout, int side, int uplo, int trans, int diag, int m, int n, double alpha, const double *a, int lda, double *b, int ldb);
void cblas_dsyrk(int layout, int uplo, int trans, int n, int k, double alpha, const double *a, int lda, double beta, double *c, int ldc);
void cblas_dgemm(int layout, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);
#ifdef __cplusplus
}
#endif
enum { POTRF, TRSM, SYRK, GEMM, KERNEL_COUNT };
#define ROWS(t, i) ((int)hbg_view_shape(t, i)[0])
#define COLS(t, i) ((int)hbg_view_shape(t, i)[1])
#define LD(t, i) ((int)hbg_view_ld(t, i))
static int potrf(const struct hbg_task_view *t)
{
    int info = LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', ROWS(t, 0), HBG_VIEW(double, t, 0), LD(t, 0));
    return info ? hbg_fail(t, info < 0 ? 1 : 2, info) : 0;          /* 2: not positive definite at pivot `detail` */
}
static int trsm(const struct hbg_task_view *t)
{
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, ROWS(t, 1), COLS(t, 1), 1.0,
                HBG_VIEW(const double, t, 0), LD(t, 0), HBG_VIEW(double, t, 1), LD(t, 1));
    return 0;
}
static int syrk(const struct hbg_task_view *t)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, ROWS(t, 1), COLS(t, 0), -1.0,
                HBG_VIEW(const double, t, 0), LD(t, 0), 1.0, HBG_VIEW(double, t, 1), LD(t, 1));
    return 0;
}
static int gemm(const struct hbg_task_view *t)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, ROWS(t, 2), COLS(t, 2), COLS(t, 0), -1.0, HBG_VIEW(const double, t, 0), LD(t, 0),
                HBG_VIEW(const double, t, 1), LD(t, 1), 1.0, HBG_VIEW(double, t, 2), LD(t, 2));
    return 0;
}
struct params { int64_t tile; };
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int64_t b = ((const struct params *)params)->tile;
    struct hbg_region A = hbg_args_region(args, 0);
    int64_t nt = (A.shape[0] + b - 1) / b;
#define T(i, j) hbg_cell(A, HBG_SHAPE(b, b), HBG_SHAPE(i, j))
    for (int64_t k = 0; k < nt; k++) {
        hbg_submit(g, POTRF, hbg_inout(T(k, k)));
        for (int64_t i = k + 1; i < nt; i++) hbg_submit(g, TRSM, hbg_in(T(k, k)), hbg_inout(T(i, k)));
        for (int64_t i = k + 1; i < nt; i++) {
            hbg_submit(g, SYRK, hbg_in(T(i, k)), hbg_inout(T(i, i)));
            for (int64_t j = k + 1; j < i; j++) hbg_submit(g, GEMM, hbg_in(T(i, k)), hbg_in(T(j, k)), hbg_inout(T(i, j)));
        }
    }
#undef T
}
static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(POTRF, potrf, "inout f64"), HBG_KERNEL(TRSM, trsm, "in f64, inout f64"),
    HBG_KERNEL(SYRK, syrk, "in f64, inout f64"), HBG_KERNEL(GEMM, gemm, "in f64, in f64, inout f64") };
enum hbg_status cholesky(struct hbg_device *device, double *a, int64_t n, int64_t ld, int64_t tile, struct hbg_result *result);
enum hbg_status cholesky(struct hbg_device *device, double *a, int64_t n, int64_t ld, int64_t tile, struct hbg_result *result)
{
    struct params params = { tile };
    struct hbg_program *program = NULL;
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    o.name = "cholesky"; o.build = build; o.params = &params; o.params_size = sizeof params;
    o.kernels = kernels; o.kernel_count = KERNEL_COUNT; o.pure_build = true; o.error = &result->error;
    enum hbg_status s = hbg_program_create(device, &o, &program);
    if (!s) s = hbg_run_sync(program, HBG_ARGS(hbg_inout(hbg_host_strided(a, HBG_F64, HBG_SHAPE(n, n), HBG_SHAPE(ld * 8, 8)))), result);
    hbg_program_destroy(program);
    return s;
}
