/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - kernels: plain C functions; 0 is success, any other code but HBG_PENDING fails the run. */
#ifndef HBG_KERNEL_H
#define HBG_KERNEL_H

#include <limits.h>
#include <string.h>
#include <hbg/status.h>
#include <hbg/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HBG_PENDING INT_MIN     /* completes later by hbg_complete() */

/* How a region lies in memory: element counts and byte strides. */
struct hbg_layout {
    int16_t dtype;
    uint8_t rank, contiguous;
    uint32_t element_bytes;
    int64_t count;              /* elements: the product of the shape */
    int64_t shape[HBG_RANK_MAX], stride_bytes[HBG_RANK_MAX];
};

/* One argument as it stands in the graph's image: its address or value is base[base] + word. Opaque: use the functions below. */
struct hbg_view_arg { uint64_t word; uint32_t base, layout; };

/* What a kernel is given. The arguments are read in place from the image: a task costs nothing for those it does not look at. */
struct hbg_task_view {
    const struct hbg_view_arg *arg; uint32_t arg_count;
    uint32_t task, block, block_count, lane, worker;
    const void *user;           /* of the kernel table entry */
    const uint64_t *base;       /* opaque: addresses and bound values of this run */
    const unsigned char *payload;   /* opaque: where the image's layouts begin */
};
typedef int hbg_kernel_fn(const struct hbg_task_view *t);

HBG__INLINE uint64_t hbg__view_bits(const struct hbg_task_view *t, int i) { return t->base[t->arg[i].base] + t->arg[i].word; }
HBG__INLINE const struct hbg_layout *hbg_view_layout(const struct hbg_task_view *t, int i)
{ return (const struct hbg_layout *)(const void *)(t->payload + (size_t)t->arg[i].layout * 8); }
HBG__INLINE void *hbg_view_data(const struct hbg_task_view *t, int i) { return (void *)(uintptr_t)hbg__view_bits(t, i); }
HBG__INLINE const int64_t *hbg_view_shape(const struct hbg_task_view *t, int i) { return hbg_view_layout(t, i)->shape; }
HBG__INLINE const int64_t *hbg_view_stride_bytes(const struct hbg_task_view *t, int i) { return hbg_view_layout(t, i)->stride_bytes; }
HBG__INLINE int hbg_view_rank(const struct hbg_task_view *t, int i) { return hbg_view_layout(t, i)->rank; }
HBG__INLINE int hbg_view_dtype(const struct hbg_task_view *t, int i) { return hbg_view_layout(t, i)->dtype; }
HBG__INLINE int64_t hbg_view_count(const struct hbg_task_view *t, int i) { return hbg_view_layout(t, i)->count; }
HBG__INLINE bool hbg_view_contiguous(const struct hbg_task_view *t, int i) { return hbg_view_layout(t, i)->contiguous != 0; }
/* leading dimension in elements, as BLAS wants it */
HBG__INLINE int64_t hbg_view_ld(const struct hbg_task_view *t, int i)
{ const struct hbg_layout *l = hbg_view_layout(t, i); return l->stride_bytes[0] / (int64_t)l->element_bytes; }
HBG__INLINE float hbg_view_f32(const struct hbg_task_view *t, int i)
{ uint32_t bits = (uint32_t)hbg__view_bits(t, i); float v; memcpy(&v, &bits, sizeof v); return v; }
HBG__INLINE double hbg_view_f64(const struct hbg_task_view *t, int i)
{ uint64_t bits = hbg__view_bits(t, i); double v; memcpy(&v, &bits, sizeof v); return v; }
HBG__INLINE int64_t hbg_view_i64(const struct hbg_task_view *t, int i) { return (int64_t)hbg__view_bits(t, i); }
HBG__INLINE int32_t hbg_view_i32(const struct hbg_task_view *t, int i) { return (int32_t)hbg__view_bits(t, i); }
HBG__INLINE uint32_t hbg_view_u32(const struct hbg_task_view *t, int i) { return (uint32_t)hbg__view_bits(t, i); }
HBG__INLINE uint64_t hbg_view_u64(const struct hbg_task_view *t, int i) { return hbg__view_bits(t, i); }
HBG__INLINE bool hbg_view_bool(const struct hbg_task_view *t, int i) { return hbg__view_bits(t, i) != 0; }
/* typed pointer, C and C++: HBG_VIEW(const float, t, 0); also for hbg_bytes: HBG_VIEW(const struct params, t, 3) */
#define HBG_VIEW(type, t, i) ((type *)hbg_view_data((t), (i)))
HBG_API int hbg_fail(const struct hbg_task_view *t, int code, int64_t detail);   /* returns code; detail reaches hbg_error */
HBG_API void *hbg_view_scratch(const struct hbg_task_view *t, size_t *size_bytes);
HBG_API bool hbg_view_cancelled(const struct hbg_task_view *t);                /* long kernels may look */
struct hbg_token { uint64_t word[2]; };
HBG_API struct hbg_token hbg_view_token(const struct hbg_task_view *t);
HBG_API enum hbg_status hbg_complete(struct hbg_token token, int code);

enum hbg_core_kind { HBG_ANY, HBG_MATRIX, HBG_VECTOR };

/* A signature says what a list of arguments must be, position by position; boundaries of programs have one of the same form.
 *
 *     signature = empty | argument { "," argument }         blanks around words mean nothing
 *     argument  = mode element                              a region
 *               | dtype | "any"                             a scalar, constant or bound
 *               | "bytes" | "bytes[" N "]"                  hbg_bytes of any size, or of N = 1 .. 4096 bytes
 *     mode      = "in" | "out" | "inout" | "accumulate" | "untracked"
 *     element   = dtype | "any" | "record" | "record[" N "]"      HBG_RECORD of any size, or of N = 1 .. 4095 bytes
 *     dtype     = "bool" | "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64" | "f16" | "bf16" | "f32" | "f64"
 *
 * Mode and dtype must be equal, not convertible; shapes are not said. The empty signature takes no arguments; NULL takes any.
 */
struct hbg_kernel {
    int id;                     /* the number hbg_submit names; must equal the place in the table */
    const char *name;
    hbg_kernel_fn *run;
    const char *signature;      /* NULL or e.g. "in f32, inout f32, f32"; checked at each submit when given */
    const void *user;           /* host platforms only */
    enum hbg_core_kind kind;
    size_t scratch_bytes;       /* per worker, 64-byte aligned, contents undefined: hbg_view_scratch() */
};
#define HBG_KERNEL(id, fn, signature) { (id), #fn, (fn), (signature), NULL, HBG_ANY, 0 }

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_KERNEL_H */
