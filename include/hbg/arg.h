/* SPDX-License-Identifier: Apache-2.0 */
/* arg.h - arguments: self-contained values, and lists of them. */
#ifndef HBG_ARG_H
#define HBG_ARG_H

#include <hbg/region.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hbg_task { uint32_t id, graph; };            /* a task of one graph; another graph's is an error */

enum hbg_arg_kind {
    HBG_ARG_IN = 1, HBG_ARG_OUT, HBG_ARG_INOUT, HBG_ARG_ACCUMULATE, HBG_ARG_UNTRACKED,
    HBG_ARG_SCALAR = 16, HBG_ARG_BYTES, HBG_ARG_BOUND, HBG_ARG_AFTER = 32
};
struct hbg_arg {
    uint16_t kind, dtype;
    uint32_t index;             /* bound boundary position, or bytes */
    union { struct hbg_region region; uint64_t bits; const void *bytes; struct hbg_task task; double f64; float f32; } u;
};
struct hbg_arg_list { const struct hbg_arg *arg; size_t count; };

#define HBG__REGION_ARG(name, KIND)                                                                                  \
    HBG__INLINE struct hbg_arg name(struct hbg_region region)                                                        \
    { struct hbg_arg a; a.kind = KIND; a.dtype = 0; a.index = 0; a.u.region = region; return a; }
HBG__REGION_ARG(hbg_in, HBG_ARG_IN)
HBG__REGION_ARG(hbg_out, HBG_ARG_OUT)
HBG__REGION_ARG(hbg_inout, HBG_ARG_INOUT)
HBG__REGION_ARG(hbg_accumulate, HBG_ARG_ACCUMULATE)  /* writers in any order, never together; readers wait for all */
HBG__REGION_ARG(hbg_untracked, HBG_ARG_UNTRACKED)    /* its device address reaches the kernel; no edges */
#undef HBG__REGION_ARG

#define HBG__SCALAR_ARG(name, type, DTYPE, member)                                                                   \
    HBG__INLINE struct hbg_arg name(type value)                                                                      \
    { struct hbg_arg a; a.kind = HBG_ARG_SCALAR; a.dtype = DTYPE; a.index = 0; a.u.bits = 0; a.u.member = value; return a; }
HBG__SCALAR_ARG(hbg_bool, bool, HBG_BOOL, bits)
HBG__SCALAR_ARG(hbg_u32, uint32_t, HBG_U32, bits)
HBG__SCALAR_ARG(hbg_u64, uint64_t, HBG_U64, bits)
HBG__SCALAR_ARG(hbg_f32, float, HBG_F32, f32)
HBG__SCALAR_ARG(hbg_f64, double, HBG_F64, f64)
#undef HBG__SCALAR_ARG
HBG__INLINE struct hbg_arg hbg_i64(int64_t v) { struct hbg_arg a = hbg_u64((uint64_t)v); a.dtype = HBG_I64; return a; }
HBG__INLINE struct hbg_arg hbg_i32(int32_t v) { struct hbg_arg a = hbg_u64((uint64_t)(int64_t)v); a.dtype = HBG_I32; return a; }
/* a struct of parameters, copied at the call; 16-byte aligned in the kernel; up to 4096 bytes */
HBG__INLINE struct hbg_arg hbg_bytes(const void *data, size_t size_bytes)
{ struct hbg_arg a; a.kind = HBG_ARG_BYTES; a.dtype = 0; a.index = (uint32_t)size_bytes; a.u.bytes = data; return a; }
HBG__INLINE struct hbg_arg hbg_after(struct hbg_task task)
{ struct hbg_arg a; a.kind = HBG_ARG_AFTER; a.dtype = 0; a.index = 0; a.u.task = task; return a; }

#ifndef __cplusplus
/* In C the elements of one list are evaluated in no fixed order. */
#define HBG__COUNT(...) (sizeof((const struct hbg_arg[]){ __VA_ARGS__ }) / sizeof(struct hbg_arg))
#define HBG_ARGS(...) ((struct hbg_arg_list){ (const struct hbg_arg[]){ __VA_ARGS__ }, HBG__COUNT(__VA_ARGS__) })
#endif
#define HBG_NO_ARGS (hbg__none())
HBG__INLINE struct hbg_arg_list hbg__none(void) { struct hbg_arg_list l; l.arg = NULL; l.count = 0; return l; }

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef __cplusplus
template <size_t N> inline hbg_arg_list hbg__list(const hbg_arg (&&v)[N]) { return { v, N }; }
#define HBG_ARGS(...) hbg__list({ __VA_ARGS__ })    /* lives to the end of the full expression */
#endif

#endif /* HBG_ARG_H */
