/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - building a graph: one thread, inside a build function.
 *
 * A build function is called by hbg_run_prepare() with an empty graph and the arguments of the run. It submits tasks in an order in
 * which they could run one after the other; the result is as if they did.
 *
 * Errors are latched in the graph: the first one wins, with its task and argument; later calls do nothing; nothing is half
 * submitted; hbg_run_prepare() returns the error when the build function has returned. So no call here needs a check, and the
 * "Errors" below are statuses that are latched. HBG_E_NO_MEMORY is possible everywhere.
 *
 * Calls are for the thread that runs the build function, until it returns. A device, program or run may not be called meanwhile
 * (HBG_E_REENTRANT). With a graph of NULL the functions do nothing.
 */
#ifndef HBG_GRAPH_H
#define HBG_GRAPH_H

#include <hbg/arg.h>
#include <hbg/kernel.h>
#include <hbg/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A graph that is being built; known inside build functions only. */
struct hbg_graph;

/**
 * struct hbg_args - the boundary: the arguments of the run, as build code sees them; borrowed until the build function returns.
 *
 * Look at shapes and types of regions freely: a replay is possible only while they are the same. Scalars are looked at through the
 * functions below, which guard them.
 */
struct hbg_args { const struct hbg_arg *arg; size_t count; struct hbg_graph *graph; };

/* Builds a graph. `params` is the program's copy of its parameters, 16-byte aligned; NULL where it has none. It returns: leaving it
   by longjmp() or a C++ exception makes the device and the thread unusable; hbg_graph_fail() is how it gives up. */
typedef void hbg_build_fn(struct hbg_graph *g, const struct hbg_args *args, const void *params);

HBG_API struct hbg_region hbg__bad_region(const struct hbg_args *args, int i);

/**
 * hbg_args_region - boundary region i, to take views of and pass to submits.
 *
 * Returns  a region of the shape and strides that the run was given; read-only where it came as `in`. A bad region where position
 *          i is no region: the submit that uses it fails with HBG_E_REGION.
 */
HBG__INLINE struct hbg_region hbg_args_region(const struct hbg_args *args, int i)
{ return HBG__CAST(size_t, i) < args->count && args->arg[i].kind < HBG_ARG_SCALAR ? args->arg[i].u.region : hbg__bad_region(args, i); }

/**
 * hbg_args_scalar - boundary scalar i as an argument of a submit: bound, so that each run passes its own value to the kernel.
 *
 * Errors   HBG_E_ACCESS at the submit: position i is no scalar
 */
HBG__INLINE struct hbg_arg hbg_args_scalar(const struct hbg_args *args, int i)
{ struct hbg_arg a; a.kind = HBG_ARG_BOUND; a.dtype = HBG__CAST(size_t, i) < args->count ? args->arg[i].dtype : 0; a.index = HBG__CAST(uint32_t, i); a.u.boundary = args; return a; }

/**
 * hbg_args_get_bool, hbg_args_get_u32, hbg_args_get_u64, hbg_args_get_f32, hbg_args_get_f64, hbg_args_get_i32, hbg_args_get_i64 -
 * the value of boundary scalar i: a guard.
 *
 * A replay is allowed only while the value is the same. i32 and u32 read a bool as well, i64 an i32, u64 a u32.
 *
 * Returns  the value; 0 after an error
 * Errors   HBG_E_ACCESS (no scalar), HBG_E_SIGNATURE (a scalar of another type)
 */
HBG_API bool hbg_args_get_bool(const struct hbg_args *args, int i);
HBG_API uint32_t hbg_args_get_u32(const struct hbg_args *args, int i);
HBG_API uint64_t hbg_args_get_u64(const struct hbg_args *args, int i);
HBG_API float hbg_args_get_f32(const struct hbg_args *args, int i);
HBG_API double hbg_args_get_f64(const struct hbg_args *args, int i);
HBG_API int32_t hbg_args_get_i32(const struct hbg_args *args, int i);
HBG_API int64_t hbg_args_get_i64(const struct hbg_args *args, int i);

/**
 * hbg_read_i32 - one element of a boundary region, while building: a guard.
 *
 * x           in   a view of a boundary region, of HBG_I32
 * index       in   one index for each dimension of x
 *
 * Returns  the value; 0 after an error
 * Cost     host memory: a copy; a device buffer: one small copy from the device. Neighbouring reads become one guard
 * Errors   HBG_E_REGION (another type, or out of range), HBG_E_WRITTEN (a submitted task writes it; the error names the task),
 *          HBG_E_ACCESS (an intermediate, or a buffer that is no argument), HBG_E_SCOPE, HBG_E_DEVICE
 */
HBG_API int32_t hbg_read_i32(struct hbg_graph *g, struct hbg_region x, struct hbg_shape index);

/**
 * hbg_read - all elements of a boundary region in row-major order, while building: a guard.
 *
 * x           in   a view of a boundary region, of any type
 *
 * Returns  borrowed until the build function returns; the caller's own memory where it lies there without gaps. Not NULL for an
 *          empty region; NULL after an error
 * Cost     recording keeps a copy of the bytes, and each later prepare compares them
 * Errors   as hbg_read_i32()
 */
HBG_API const void *hbg_read(struct hbg_graph *g, struct hbg_region x);

/**
 * hbg_guard - name memory that the build looks at and that did not come through hbg.
 *
 * data        in   size_bytes bytes, compared at each later prepare: they must stay readable, at that address, while the program
 *                  exists
 *
 * Not needed for parameters, which are copied, nor for what hbg_read() and hbg_args_get_f32() return.
 *
 * Errors   HBG_E_NULL
 */
HBG_API void hbg_guard(struct hbg_graph *g, const void *data, size_t size_bytes);

/**
 * struct hbg_task_options - what else a task can be asked for; zero is the default.
 *
 * In this version all but size and name must be 0: HBG_E_UNSUPPORTED, with the option's name.
 */
struct hbg_task_options {
    size_t size;
    const char *name;           /* not used by this version */
    uint32_t width;             /* blocks; 0 is 1 */
    bool gang;                  /* all blocks start together */
    uint8_t priority;
    enum hbg_core_kind kind;
    int lane_kernel[3];         /* mixed tasks: id + 1, 0 is none */
    /* predicate: the kernel is called only if `operand op value` holds when the task is ready; op 0 is none */
    struct { struct hbg_region operand; int op; int64_t value; double value_f; } when;
};

/**
 * hbg_submit_args - submit a task: kernel, arguments, and all edges that follow from them.
 *
 * kernel      in   its place in the program's table
 * list        in   borrowed for the call; at most 65,535 arguments
 *
 * Returns  the task, for hbg_after(); after an error its id is UINT32_MAX
 * Cost     one 32-byte record and 16 bytes an argument; no allocation while the arenas are warm
 * Errors   HBG_E_OPTION (no such kernel), HBG_E_SIGNATURE, HBG_E_REGION (a bad or foreign region), HBG_E_ACCESS (writes a read-only
 *          region; binds what is no scalar), HBG_E_SCOPE (a region whose scope has ended, or of another build), HBG_E_TASK_ID,
 *          HBG_E_LIMIT (limit_tasks, or a limit of the format; hbg_error says which), HBG_E_NULL, HBG_E_UNSUPPORTED
 */
HBG_API struct hbg_task hbg_submit_args(struct hbg_graph *g, int kernel, struct hbg_arg_list list);

/**
 * hbg_submit_args_ex - submit a task with options.
 *
 * options     in   borrowed for the call; NULL: none
 *
 * Errors   as hbg_submit_args(); HBG_E_UNSUPPORTED (an option that this version does not have), HBG_E_ABI (options without a size)
 */
HBG_API struct hbg_task hbg_submit_args_ex(struct hbg_graph *g, int kernel, const struct hbg_task_options *options, struct hbg_arg_list list);

/**
 * hbg_noop_args - a task that visits no core: it gathers order and passes it on.
 *
 * list        in   regions, which order as if a kernel accessed them, and hbg_after(); no scalars
 *
 * Errors   as hbg_submit_args()
 */
HBG_API struct hbg_task hbg_noop_args(struct hbg_graph *g, struct hbg_arg_list list);

/**
 * hbg_barrier - every task submitted from here on comes after every task submitted so far.
 *
 * Cost     a look at every task since the last barrier, and one noop. Inside a manual scope it orders the tasks of that scope
 */
HBG_API void hbg_barrier(struct hbg_graph *g);

/**
 * hbg_alloc - an intermediate: memory of the run for what tasks hand on to each other.
 *
 * Returns  a contiguous region, 64-byte aligned, contents undefined; valid until the scope it was made in ends, else to the end of
 *          the build. A bad region after an error
 * Cost     some table entries; the memory itself is reserved by prepare and kept warm from run to run
 * Errors   HBG_E_REGION (type or shape), HBG_E_LIMIT (limit_heap_bytes of the device)
 */
HBG_API struct hbg_region hbg_alloc(struct hbg_graph *g, enum hbg_dtype dtype, struct hbg_shape shape);

/* Modes of a scope: lifetimes alone; lifetimes, and no edges but explicit ones. */
enum { HBG_SCOPE_AUTO, HBG_SCOPE_MANUAL };

/**
 * hbg_scope_begin - begin a scope: intermediates made in it end with it. Scopes nest.
 *
 * mode        in   HBG_SCOPE_AUTO: edges are inferred as outside. HBG_SCOPE_MANUAL: inside, only hbg_after() and hbg_barrier() make
 *                  edges; to everything outside, the scope is one task that reads and writes all its regions
 *
 * Cost     nothing; a manual scope adds a noop at each end
 * Errors   HBG_E_OPTION (no such mode)
 */
HBG_API void hbg_scope_begin(struct hbg_graph *g, int mode);

/**
 * hbg_scope_end - end the innermost scope. Its regions may not be used any more.
 *
 * Bytes of its intermediates are given to later ones only when the heap would grow beyond heap_reuse_after_bytes of the device,
 * since reuse adds order.
 *
 * Errors   HBG_E_ORDER (no scope is open; or the build function returns with one open)
 */
HBG_API void hbg_scope_end(struct hbg_graph *g);

/**
 * hbg_graph_error - what is latched, for build code that wants to stop early.
 *
 * error       out  may be NULL: set where there is an error
 *
 * Returns  HBG_OK, or the status of the first error
 */
HBG_API enum hbg_status hbg_graph_error(const struct hbg_graph *g, struct hbg_error *error);

/**
 * hbg_graph_fail - build code gives up: latched like any error, as HBG_E_BUILD.
 *
 * code        in   reaches hbg_error.code
 * text        in   a sentence, copied; NULL: a general one
 */
HBG_API void hbg_graph_fail(struct hbg_graph *g, int code, const char *text);

/**
 * hbg_submit - submit a task: hbg_submit(g, ADD, hbg_in(x), hbg_inout(y), hbg_f32(2)).
 *
 * In C a macro over hbg_submit_args() for 0 to 63 arguments; more go through hbg_submit_args(). In C++ a template for any number.
 * Neither language fixes the order in which the arguments are evaluated: call hbg_alloc() before, not inside.
 */
/**
 * hbg_submit_ex - the same with options: hbg_submit_ex(g, ADD, options, hbg_in(x)). At least one argument in C.
 */
/**
 * hbg_noop - hbg_noop(g, hbg_after(a), hbg_after(b)): hbg_noop_args() for one argument and more.
 */

#ifndef __cplusplus
/* kernel sits inside the variable part so that a task without arguments is standard C11; 0 and 1, since a name could be a macro */
#define HBG__MANY(...) HBG__65TH(__VA_ARGS__, HBG__16(1), HBG__16(1), HBG__16(1), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0)
#define HBG__16(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x
#define HBG__65TH(...) HBG__65TH_(__VA_ARGS__)
#define HBG__65TH_(a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13,a14,a15,a16,a17,a18,a19,a20,a21,a22,a23,a24,a25,a26,a27,a28,a29,a30,a31,a32,a33, \
    a34,a35,a36,a37,a38,a39,a40,a41,a42,a43,a44,a45,a46,a47,a48,a49,a50,a51,a52,a53,a54,a55,a56,a57,a58,a59,a60,a61,a62,a63,a64,a65, ...) a65
#define HBG__CAT(a, b) HBG__CAT_(a, b)
#define HBG__CAT_(a, b) a##b
#define HBG__SUBMIT_0(g, k) hbg_submit_args((g), (k), (struct hbg_arg_list){ NULL, 0 })
#define HBG__SUBMIT_1(g, k, ...) hbg_submit_args((g), (k), HBG_ARGS(__VA_ARGS__))
#define hbg_submit(g, ...) HBG__CAT(HBG__SUBMIT_, HBG__MANY(__VA_ARGS__))(g, __VA_ARGS__)
#define hbg_submit_ex(g, k, o, ...) hbg_submit_args_ex((g), (k), &(o), HBG_ARGS(__VA_ARGS__))
#endif
#define hbg_noop(g, ...) hbg_noop_args((g), HBG_ARGS(__VA_ARGS__))

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef __cplusplus
/* C++17: no macros; a list lives to the end of the full expression */
template <class... A> inline hbg_task hbg_submit(hbg_graph *g, int kernel, const A &...a)
{
    if constexpr (sizeof...(A) == 0) return hbg_submit_args(g, kernel, { nullptr, 0 });
    else { const hbg_arg v[] = { a... }; return hbg_submit_args(g, kernel, { v, sizeof...(A) }); }
}
template <class... A> inline hbg_task hbg_submit_ex(hbg_graph *g, int kernel, const hbg_task_options &o, const A &...a)
{
    if constexpr (sizeof...(A) == 0) return hbg_submit_args_ex(g, kernel, &o, { nullptr, 0 });
    else { const hbg_arg v[] = { a... }; return hbg_submit_args_ex(g, kernel, &o, { v, sizeof...(A) }); }
}
#endif

#endif /* HBG_GRAPH_H */
