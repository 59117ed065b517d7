/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - building a graph: one thread, inside a build function. */
#ifndef HBG_GRAPH_H
#define HBG_GRAPH_H

#include <hbg/arg.h>
#include <hbg/kernel.h>
#include <hbg/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hbg_graph;
/* the boundary, as build code sees it: regions carry their position */
struct hbg_args { const struct hbg_arg *arg; size_t count; struct hbg_graph *graph; };
typedef void hbg_build_fn(struct hbg_graph *g, const struct hbg_args *args, const void *params);

HBG_API struct hbg_region hbg__bad_region(const struct hbg_args *args, int i);
HBG__INLINE struct hbg_region hbg_args_region(const struct hbg_args *args, int i)
{ return (size_t)i < args->count && args->arg[i].kind < HBG_ARG_SCALAR ? args->arg[i].u.region : hbg__bad_region(args, i); }
HBG__INLINE struct hbg_arg hbg_args_scalar(const struct hbg_args *args, int i)   /* bound: a replay patches it */
{ struct hbg_arg a; a.kind = HBG_ARG_BOUND; a.dtype = (size_t)i < args->count ? args->arg[i].dtype : 0; a.index = (uint32_t)i; return a; }
HBG_API float hbg_args_get_f32(const struct hbg_args *args, int i);              /* the value: a guard */
HBG_API int32_t hbg_args_get_i32(const struct hbg_args *args, int i);
HBG_API int64_t hbg_args_get_i64(const struct hbg_args *args, int i);

HBG_API int32_t hbg_read_i32(struct hbg_graph *g, struct hbg_region x, struct hbg_shape index);   /* a guard; 0 after an error */
HBG_API const void *hbg_read(struct hbg_graph *g, struct hbg_region x);          /* all of it, contiguous: one guard; borrowed until build returns; NULL after an error */
HBG_API void hbg_guard(struct hbg_graph *g, const void *data, size_t size_bytes); /* anything else the build looks at */

struct hbg_task_options {
    size_t size;
    const char *name;
    uint32_t width;             /* blocks; 0 is 1 */
    bool gang;
    uint8_t priority;
    enum hbg_core_kind kind;
    int lane_kernel[3];         /* mixed tasks: id + 1, 0 is none */
    struct { struct hbg_region operand; int op; int64_t value; double value_f; } when;
};
HBG_API struct hbg_task hbg_submit_args(struct hbg_graph *g, int kernel, struct hbg_arg_list list);
HBG_API struct hbg_task hbg_submit_args_ex(struct hbg_graph *g, int kernel, const struct hbg_task_options *options, struct hbg_arg_list list);
HBG_API struct hbg_task hbg_noop_args(struct hbg_graph *g, struct hbg_arg_list list);
HBG_API void hbg_barrier(struct hbg_graph *g);
HBG_API struct hbg_region hbg_alloc(struct hbg_graph *g, enum hbg_dtype dtype, struct hbg_shape shape);
enum { HBG_SCOPE_AUTO, HBG_SCOPE_MANUAL };
HBG_API void hbg_scope_begin(struct hbg_graph *g, int mode);
HBG_API void hbg_scope_end(struct hbg_graph *g);
HBG_API enum hbg_status hbg_graph_error(const struct hbg_graph *g, struct hbg_error *error);
HBG_API void hbg_graph_fail(struct hbg_graph *g, int code, const char *text);     /* build code gives up: latched like any error */

#ifndef __cplusplus
/* kernel sits inside the variable part so that a task without arguments is standard C11 */
#define HBG__MANY(...) HBG__65TH(__VA_ARGS__, HBG__16(N), HBG__16(N), HBG__16(N), N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, 0, 0)
#define HBG__16(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x
#define HBG__65TH(...) HBG__65TH_(__VA_ARGS__)
#define HBG__65TH_(a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13,a14,a15,a16,a17,a18,a19,a20,a21,a22,a23,a24,a25,a26,a27,a28,a29,a30,a31,a32,a33, \
    a34,a35,a36,a37,a38,a39,a40,a41,a42,a43,a44,a45,a46,a47,a48,a49,a50,a51,a52,a53,a54,a55,a56,a57,a58,a59,a60,a61,a62,a63,a64,a65, ...) a65
#define HBG__CAT(a, b) HBG__CAT_(a, b)
#define HBG__CAT_(a, b) a##b
#define HBG__SUBMIT_0(g, k) hbg_submit_args((g), (k), (struct hbg_arg_list){ NULL, 0 })
#define HBG__SUBMIT_N(g, k, ...) hbg_submit_args((g), (k), HBG_ARGS(__VA_ARGS__))
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
