/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The four kernels of a tiled Cholesky factorisation over row-major f64 tiles.
 *
 * potrf  inout a              a = L L'; fails with POTRF_NOT_DEFINITE and the tile's 1-based row as detail
 * trsm   in L, inout b        b = b inv(L)'
 * syrk   in a, inout c        lower triangle of c -= a a'
 * gemm   in a, in b, inout c  c -= a b'
 */
#ifndef HBG_WORKLOADS_DENSE_KERNELS_H
#define HBG_WORKLOADS_DENSE_KERNELS_H

#include <hbg/hbg.h>

enum { POTRF_NOT_DEFINITE = 2 };        /* the kernel's code */

#define HBG__POTRF_KERNEL(place) { .id = (place), .name = "potrf", .run = hbg__dense_potrf_task, .signature = "inout f64" }
#define HBG__TRSM_KERNEL(place) { .id = (place), .name = "trsm", .run = hbg__dense_trsm_task, .signature = "in f64, inout f64" }
#define HBG__SYRK_KERNEL(place) { .id = (place), .name = "syrk", .run = hbg__dense_syrk_task, .signature = "in f64, inout f64" }
#define HBG__GEMM_KERNEL(place) { .id = (place), .name = "gemm", .run = hbg__dense_gemm_task, .signature = "in f64, in f64, inout f64" }

int hbg__dense_potrf_task(const struct hbg_task_view *t);
int hbg__dense_trsm_task(const struct hbg_task_view *t);
int hbg__dense_syrk_task(const struct hbg_task_view *t);
int hbg__dense_gemm_task(const struct hbg_task_view *t);

#endif
