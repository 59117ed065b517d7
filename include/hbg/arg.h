/* SPDX-License-Identifier: Apache-2.0 */
/* arg.h - arguments: self-contained values, and lists of them.
 *
 * An argument may be kept, returned, and filled in loops. Its position is its place among the regions and scalars of its list:
 * the same number at the submit, in the kernel and at the boundary. hbg_after() takes no position.
 *
 * Functions of this header run on any thread, allocate nothing and cannot fail: what is wrong with an argument is said by the
 * submit or the run that is given it.
 */
#ifndef HBG_ARG_H
#define HBG_ARG_H

#include <hbg/region.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct hbg_task - a task of one graph, as hbg_submit() and its kin return it.
 *
 * Ids count from 0 in the order of submission; noops that hbg inserts take ids as well. In another build, and where it was never
 * submitted, it is refused with HBG_E_TASK_ID.
 */
struct hbg_task { uint32_t id, graph; };

/* What an argument is. HBG_ARG_ACCUMULATE is refused with HBG_E_UNSUPPORTED by this version. */
enum hbg_arg_kind {
    HBG_ARG_IN = 1, HBG_ARG_OUT, HBG_ARG_INOUT, HBG_ARG_ACCUMULATE, HBG_ARG_UNTRACKED,
    HBG_ARG_SCALAR = 16, HBG_ARG_BYTES, HBG_ARG_BOUND, HBG_ARG_AFTER = 32
};
/**
 * struct hbg_arg - one argument; made by the functions below.
 */
struct hbg_arg {
    uint16_t kind, dtype;
    uint32_t index;             /* HBG_ARG_BOUND: the boundary position; HBG_ARG_BYTES: how many */
    union { struct hbg_region region; uint64_t bits; const void *bytes, *boundary; struct hbg_task task; double f64; float f32; } u;
};

/**
 * struct hbg_arg_list - arguments in order; borrowed by the call that takes it.
 */
struct hbg_arg_list { const struct hbg_arg *arg; size_t count; };

/**
 * hbg_in, hbg_out, hbg_inout - a region that a kernel reads, writes, or reads and writes.
 *
 * Order follows: a task comes after the last writers of every byte that it touches, and, where it writes, after the readers since.
 * `out` and `inout` order alike; an `out` argument of a run promises besides that every byte is written, so its old contents
 * need not reach the device. Of a task that writes only some of the bytes of a region, the others keep what they held.
 *
 * Nothing keeps the regions of one task apart: a kernel that is given the same bytes as `in` and as `out`, or views that overlap,
 * reads what it has just written. Where callers may do that, the kernel has to expect it.
 */
/**
 * hbg_accumulate - a region that several tasks add to: in any order, never two at once; readers wait for all.
 *
 * Not in this version: HBG_E_UNSUPPORTED.
 */
/**
 * hbg_untracked - a region whose address reaches the kernel and which makes no edges.
 *
 * For data that is ordered by other means (hbg_after(), a barrier). At the boundary it is copied in and, unless it is read-only,
 * copied back like inout.
 */
#define HBG__REGION_ARG(name, KIND)                                                                                  \
    HBG__INLINE struct hbg_arg name(struct hbg_region region)                                                        \
    { struct hbg_arg a; a.kind = KIND; a.dtype = 0; a.index = 0; a.u.region = region; return a; }
HBG__REGION_ARG(hbg_in, HBG_ARG_IN)
HBG__REGION_ARG(hbg_out, HBG_ARG_OUT)
HBG__REGION_ARG(hbg_inout, HBG_ARG_INOUT)
HBG__REGION_ARG(hbg_accumulate, HBG_ARG_ACCUMULATE)
HBG__REGION_ARG(hbg_untracked, HBG_ARG_UNTRACKED)
#undef HBG__REGION_ARG

/**
 * hbg_bool, hbg_u32, hbg_u64, hbg_f32, hbg_f64, hbg_i64, hbg_i32 - a value.
 *
 * In a submit it is a constant of the graph. In the argument list of a run it is a boundary scalar: build code binds it with
 * hbg_args_scalar(), so that a replay takes the new value, or looks at it with hbg_args_get_f32() and its kin, which is a guard.
 */
#define HBG__SCALAR_ARG(name, type, DTYPE, member)                                                                   \
    HBG__INLINE struct hbg_arg name(type value)                                                                      \
    { struct hbg_arg a; a.kind = HBG_ARG_SCALAR; a.dtype = DTYPE; a.index = 0; a.u.bits = 0; a.u.member = value; return a; }
HBG__SCALAR_ARG(hbg_bool, bool, HBG_BOOL, bits)
HBG__SCALAR_ARG(hbg_u32, uint32_t, HBG_U32, bits)
HBG__SCALAR_ARG(hbg_u64, uint64_t, HBG_U64, bits)
HBG__SCALAR_ARG(hbg_f32, float, HBG_F32, f32)
HBG__SCALAR_ARG(hbg_f64, double, HBG_F64, f64)
#undef HBG__SCALAR_ARG
HBG__INLINE struct hbg_arg hbg_i64(int64_t v) { struct hbg_arg a = hbg_u64(HBG__CAST(uint64_t, v)); a.dtype = HBG_I64; return a; }
HBG__INLINE struct hbg_arg hbg_i32(int32_t v) { struct hbg_arg a = hbg_u64(HBG__CAST(uint64_t, HBG__CAST(int64_t, v))); a.dtype = HBG_I32; return a; }

/**
 * hbg_bytes - a struct of parameters for a kernel, read there with HBG_VIEW(const struct params, t, i).
 *
 * data        in   size_bytes bytes, at most 4096; borrowed until the submit that is given it returns, which copies them
 *
 * The kernel sees a 16-byte aligned copy. Not for the argument list of a run: HBG_E_UNSUPPORTED.
 */
HBG__INLINE struct hbg_arg hbg_bytes(const void *data, size_t size_bytes)
{ struct hbg_arg a; a.kind = HBG_ARG_BYTES; a.dtype = 0; a.index = size_bytes < UINT32_MAX ? HBG__CAST(uint32_t, size_bytes) : UINT32_MAX; a.u.bytes = data; return a; }

/**
 * hbg_after - come after a task, whatever regions the two touch.
 *
 * Takes no position. A task of another graph, or one that was not submitted: HBG_E_TASK_ID at the submit.
 */
HBG__INLINE struct hbg_arg hbg_after(struct hbg_task task)
{ struct hbg_arg a; a.kind = HBG_ARG_AFTER; a.dtype = 0; a.index = 0; a.u.task = task; return a; }

/**
 * HBG_ARGS - a list of one argument and more: HBG_ARGS(hbg_in(x), hbg_inout(y), hbg_f32(2)).
 *
 * In C it lives to the end of the enclosing block, in C++ to the end of the full expression. C evaluates the elements of one list
 * in no fixed order: two calls of hbg_alloc() in one list may swap.
 */
/**
 * HBG_NO_ARGS - the empty list.
 */
#ifndef __cplusplus
#define HBG__COUNT(...) (sizeof((const struct hbg_arg[]){ __VA_ARGS__ }) / sizeof(struct hbg_arg))
#define HBG_ARGS(...) ((struct hbg_arg_list){ (const struct hbg_arg[]){ __VA_ARGS__ }, HBG__COUNT(__VA_ARGS__) })
#endif
#define HBG_NO_ARGS (hbg__none())
HBG__INLINE struct hbg_arg_list hbg__none(void) { struct hbg_arg_list l; l.arg = HBG__NULL; l.count = 0; return l; }

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef __cplusplus
template <size_t N> inline hbg_arg_list hbg__list(const hbg_arg (&&v)[N]) { return { v, N }; }
#define HBG_ARGS(...) hbg__list({ __VA_ARGS__ })
#endif

#endif /* HBG_ARG_H */
