/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of a tiled Cholesky factorisation: views unpacked, then one tile operation each.
 */
#include "kernels.h"
#include "dense.h"

int hbg__dense_potrf_task(const struct hbg_task_view *t)
{
    int row = hbg__dense_potrf(hbg_view_shape(t, 0)[0], HBG_VIEW(double, t, 0), hbg_view_ld(t, 0));
    return row ? hbg_fail(t, POTRF_NOT_DEFINITE, row) : 0;
}

int hbg__dense_trsm_task(const struct hbg_task_view *t)
{
    const int64_t *shape = hbg_view_shape(t, 1);
    hbg__dense_trsm_right(shape[0], shape[1], HBG_VIEW(const double, t, 0), hbg_view_ld(t, 0), HBG_VIEW(double, t, 1), hbg_view_ld(t, 1));
    return 0;
}

int hbg__dense_syrk_task(const struct hbg_task_view *t)
{
    const int64_t *shape = hbg_view_shape(t, 0);
    hbg__dense_syrk(shape[0], shape[1], HBG_VIEW(const double, t, 0), hbg_view_ld(t, 0), HBG_VIEW(double, t, 1), hbg_view_ld(t, 1));
    return 0;
}

int hbg__dense_gemm_task(const struct hbg_task_view *t)
{
    const int64_t *shape = hbg_view_shape(t, 2);
    hbg__dense_gemm_nt(shape[0], shape[1], hbg_view_shape(t, 0)[1], HBG_VIEW(const double, t, 0), hbg_view_ld(t, 0),
                       HBG_VIEW(const double, t, 1), hbg_view_ld(t, 1), HBG_VIEW(double, t, 2), hbg_view_ld(t, 2));
    return 0;
}
