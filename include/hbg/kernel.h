/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - kernels: what a task runs, and what it can ask for while it does.
 *
 * A kernel is a plain C function that a core calls once for its task. It returns 0, or a code of its own that fails the run. It needs
 * no fences: all that its producers wrote is visible. It may not call a device, a program or a run (HBG_E_REENTRANT), and no C++
 * exception may leave it.
 *
 * The functions below are called from inside a kernel, with the view that it was given and a position i below its arg_count. They cost
 * a few loads; arguments that a kernel does not look at cost nothing.
 */
#ifndef HBG_KERNEL_H
#define HBG_KERNEL_H

#include <limits.h>
#include <string.h>
#include <hbg/status.h>
#include <hbg/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * HBG_PENDING - the code of a kernel that completes later, by hbg_complete().
 *
 * Reserved: this version ends such a run with HBG_E_UNSUPPORTED.
 */
#define HBG_PENDING INT_MIN

/**
 * struct hbg_layout - how a region lies in memory.
 *
 * A scalar has rank 0; hbg_bytes has the dtype HBG_U8 and one dimension.
 */
struct hbg_layout {
    int16_t dtype;              /* enum hbg_dtype */
    uint8_t rank, contiguous;   /* contiguous: 1 where the elements lie in row-major order without gaps */
    uint32_t element_bytes;
    int64_t count;              /* elements: the product of the shape */
    int64_t shape[HBG_RANK_MAX], stride_bytes[HBG_RANK_MAX];
};

/* One argument as it stands in the image: its address or value is base[base] + word. Opaque: use the functions below. */
struct hbg_view_arg { uint64_t word; uint32_t base, layout; };

/**
 * struct hbg_task_view - what a kernel is given; borrowed until it returns.
 *
 * Arguments are read in place from the image, through the functions below.
 */
struct hbg_task_view {
    const struct hbg_view_arg *arg; uint32_t arg_count;
    uint32_t task, block, block_count, lane, worker;    /* one block and lane 0 in this version; worker: which core, from 0 */
    const void *user;           /* of the kernel table entry */
    const uint64_t *base;       /* opaque: addresses and bound values of this run */
    const unsigned char *payload;   /* opaque: where the image's layouts begin */
};

/* Returns 0, or a code of its own choice (positive, by convention) that fails the run: tasks that come after this one are skipped. */
typedef int hbg_kernel_fn(const struct hbg_task_view *t);

HBG__INLINE uint64_t hbg__view_bits(const struct hbg_task_view *t, int i) { return t->base[t->arg[i].base] + t->arg[i].word; }

/**
 * hbg_view_layout - shape, strides and type of argument i in one struct; borrowed until the kernel returns.
 */
HBG__INLINE const struct hbg_layout *hbg_view_layout(const struct hbg_task_view *t, int i)
{ return HBG__CAST(const struct hbg_layout *, HBG__CAST(const void *, t->payload + HBG__CAST(size_t, t->arg[i].layout) * 8)); }

/**
 * hbg_view_data - the address of element 0 of region i, or of the bytes of an hbg_bytes.
 *
 * Alignment  device buffers 256 bytes, intermediates 64, hbg_bytes 16, host memory as the caller has it; views of them as their offsets
 *            say
 */
HBG__INLINE void *hbg_view_data(const struct hbg_task_view *t, int i) { return HBG__POINTER(void *, hbg__view_bits(t, i)); }

/**
 * hbg_view_shape, hbg_view_stride_bytes, hbg_view_rank, hbg_view_dtype, hbg_view_count, hbg_view_contiguous - one field of the layout of
 * region i.
 *
 * Shape and strides have `rank` entries; count is the product of the shape.
 */
HBG__INLINE const int64_t *hbg_view_shape(const struct hbg_task_view *t, int i) { return hbg_view_layout(t, i)->shape; }
HBG__INLINE const int64_t *hbg_view_stride_bytes(const struct hbg_task_view *t, int i) { return hbg_view_layout(t, i)->stride_bytes; }
HBG__INLINE int hbg_view_rank(const struct hbg_task_view *t, int i) { return hbg_view_layout(t, i)->rank; }
HBG__INLINE int hbg_view_dtype(const struct hbg_task_view *t, int i) { return hbg_view_layout(t, i)->dtype; }
HBG__INLINE int64_t hbg_view_count(const struct hbg_task_view *t, int i) { return hbg_view_layout(t, i)->count; }
HBG__INLINE bool hbg_view_contiguous(const struct hbg_task_view *t, int i) { return hbg_view_layout(t, i)->contiguous != 0; }

/**
 * hbg_view_ld - the leading dimension of region i, as BLAS wants it: its first stride.
 *
 * Units    elements; i is a region of rank 1 or more
 */
HBG__INLINE int64_t hbg_view_ld(const struct hbg_task_view *t, int i)
{ const struct hbg_layout *l = hbg_view_layout(t, i); return l->stride_bytes[0] / HBG__CAST(int64_t, l->element_bytes); }

/**
 * hbg_view_f32, hbg_view_f64, hbg_view_i64, hbg_view_i32, hbg_view_u32, hbg_view_u64, hbg_view_bool - the value of scalar i.
 *
 * The function is that of the scalar's own type; a signature makes sure of it at the submit.
 */
HBG__INLINE float hbg_view_f32(const struct hbg_task_view *t, int i)
{ uint32_t bits = HBG__CAST(uint32_t, hbg__view_bits(t, i)); float v; memcpy(&v, &bits, sizeof v); return v; }
HBG__INLINE double hbg_view_f64(const struct hbg_task_view *t, int i)
{ uint64_t bits = hbg__view_bits(t, i); double v; memcpy(&v, &bits, sizeof v); return v; }
HBG__INLINE int64_t hbg_view_i64(const struct hbg_task_view *t, int i) { return HBG__CAST(int64_t, hbg__view_bits(t, i)); }
HBG__INLINE int32_t hbg_view_i32(const struct hbg_task_view *t, int i) { return HBG__CAST(int32_t, hbg__view_bits(t, i)); }
HBG__INLINE uint32_t hbg_view_u32(const struct hbg_task_view *t, int i) { return HBG__CAST(uint32_t, hbg__view_bits(t, i)); }
HBG__INLINE uint64_t hbg_view_u64(const struct hbg_task_view *t, int i) { return hbg__view_bits(t, i); }
HBG__INLINE bool hbg_view_bool(const struct hbg_task_view *t, int i) { return hbg__view_bits(t, i) != 0; }

/**
 * HBG_VIEW - a typed pointer to argument i: HBG_VIEW(const float, t, 0), HBG_VIEW(const struct params, t, 3).
 *
 * The type is not checked against the argument's.
 */
#define HBG_VIEW(type, t, i) HBG__CAST(type *, hbg_view_data((t), (i)))

/**
 * hbg_fail - leave a number beside the code with which the kernel is about to fail: return hbg_fail(t, 42, row).
 *
 * code        in   what the kernel will return; any but 0
 * detail      in   reaches hbg_error.detail if this is the failed task with the lowest id
 *
 * Returns  code
 */
HBG_API int hbg_fail(const struct hbg_task_view *t, int code, int64_t detail);

/**
 * hbg_view_scratch - memory of this worker's own, for the time of the call.
 *
 * size_bytes  out  may be NULL: scratch_bytes of the kernel
 *
 * Returns  64-byte aligned, contents undefined; NULL where the kernel declared no scratch
 */
HBG_API void *hbg_view_scratch(const struct hbg_task_view *t, size_t *size_bytes);

/**
 * hbg_view_cancelled - was the run cancelled? Long kernels may look and return early.
 *
 * Once a kernel has been told so, its run ends with HBG_E_CANCELLED, whatever the kernel returns, unless something worse happened.
 */
HBG_API bool hbg_view_cancelled(const struct hbg_task_view *t);

/* Names a task that returned HBG_PENDING. */
struct hbg_token { uint64_t word[2]; };

/**
 * hbg_view_token - the token with which this task will be completed after it returned HBG_PENDING.
 *
 * Reserved: in this version it is zero.
 */
HBG_API struct hbg_token hbg_view_token(const struct hbg_task_view *t);

/**
 * hbg_complete - complete a task that returned HBG_PENDING.
 *
 * Errors   HBG_E_UNSUPPORTED, always in this version
 */
HBG_API enum hbg_status hbg_complete(struct hbg_token token, int code);

/* The kind of core that a kernel needs. This version refuses all but HBG_ANY with HBG_E_UNSUPPORTED. */
enum hbg_core_kind { HBG_ANY, HBG_MATRIX, HBG_VECTOR };

/**
 * struct hbg_kernel - one entry of a program's kernel table.
 *
 * A signature says what a list of arguments must be, position by position; boundaries of programs have one of the same form.
 *
 *     signature = empty | argument { "," argument }         blanks around words mean nothing
 *     argument  = mode element                              a region
 *               | dtype | "any"                             a scalar, constant or bound
 *               | "bytes" | "bytes[" N "]"                  hbg_bytes of any size, or of N = 1 .. 4096 bytes
 *     mode      = "in" | "out" | "inout" | "accumulate" | "untracked"
 *     element   = dtype | "any" | "record" | "record[" N "]"      HBG_RECORD of any size, or of N = 1 .. 4095 bytes
 *     dtype     = "bool" | "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64" | "f16" | "bf16" | "f32" | "f64"
 *
 * Mode and dtype must be equal, not convertible. Rank, shape and strides are not said and not checked: a kernel that needs some
 * looks at hbg_view_rank(), hbg_view_shape() and hbg_view_stride_bytes(). The empty signature takes no arguments; NULL takes any.
 */
struct hbg_kernel {
    int id;                     /* the number hbg_submit names; must equal the place in the table */
    const char *name;           /* for messages */
    hbg_kernel_fn *run;
    const char *signature;      /* NULL or e.g. "in f32, inout f32, f32"; checked at each submit when given */
    const void *user;           /* reaches the kernel as t->user; borrowed while the program lives; no part of any guard */
    enum hbg_core_kind kind;
    size_t scratch_bytes;       /* at most 1 GiB; a worker's block is as large as the largest of the table: hbg_view_scratch() */
};

/**
 * HBG_KERNEL - an entry named after its function, without user pointer and scratch: HBG_KERNEL(ADD, add, "in f32, inout f32").
 */
#define HBG_KERNEL(id, fn, signature) { (id), #fn, (fn), (signature), HBG__NULL, HBG_ANY, 0 }

/* What a thread is inside of. */
enum hbg_inside { HBG_INSIDE_NOTHING, HBG_INSIDE_BUILD, HBG_INSIDE_KERNEL };

/**
 * struct hbg_running - what a thread is doing for hbg: HBG_OPTIONS(running), then hbg_running_get().
 */
struct hbg_running {
    size_t size;
    enum hbg_inside inside;
    uint32_t worker, task, kernel;      /* with HBG_INSIDE_KERNEL, else 0; task: of the run's graph, of a node its submission; kernel: its place in the program's table */
};

/**
 * hbg_running_get - what does the calling thread do for hbg? For the signal handler of a program that wants to say where it crashed.
 *
 * running     out  NULL or a size that is too small: nothing is written
 *
 * Returns  what the thread is inside of. A worker counts as inside the last kernel that it took until it looks for another one
 * Threads  any, in signal handlers as well: async-signal-safe, errno is kept. Signals that a thread raises by its own fault (SIGSEGV,
 *          SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT) reach handlers in workers, all others are blocked there; a handler with
 *          SA_ONSTACK gets a stack of its own, so that it can tell of a kernel that used up its worker's
 */
HBG_API enum hbg_inside hbg_running_get(struct hbg_running *running);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_KERNEL_H */
