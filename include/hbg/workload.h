/* SPDX-License-Identifier: Apache-2.0 */
/* workload.h - workloads for `hbg run ./mine.so`: export one hbg_workload. */
#ifndef HBG_WORKLOAD_H
#define HBG_WORKLOAD_H

#include <hbg/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hbg_setup;
struct hbg_workload {
    size_t size;
    const char *abi, *name, *doc;       /* abi = HBG_WORKLOAD_ABI */
    const char *const *params;          /* "n=1048576", .., NULL: names and defaults */
    int (*inputs)(struct hbg_setup *s); /* declares and fills tensors, in boundary order */
    hbg_build_fn *build;
    const struct hbg_kernel *kernels; size_t kernel_count;
    int (*golden)(struct hbg_setup *s); /* fills expected copies; NULL: --verify is refused */
    double abs_tolerance, rel_tolerance;
    bool pure_build;                    /* as in struct hbg_program_options: later rounds may be replayed */
    int (*residual)(struct hbg_setup *s, double *residual);  /* one measure of the whole result, checked by --verify; NULL: none */
    double residual_tolerance;
    int (*report)(struct hbg_setup *s); /* after the last round: what is printed of the results; NULL: nothing */
};
#define HBG_WORKLOAD_ABI "hbg-workload-1"
#ifdef __cplusplus
#define HBG_WORKLOAD extern "C" HBG_API const struct hbg_workload hbg_workload
#else
#define HBG_WORKLOAD HBG_API extern const struct hbg_workload hbg_workload; HBG_API const struct hbg_workload hbg_workload
#endif
HBG_API int64_t hbg_setup_i64(struct hbg_setup *s, const char *name);
HBG_API double hbg_setup_f64(struct hbg_setup *s, const char *name);
HBG_API const char *hbg_setup_text(struct hbg_setup *s, const char *name);         /* borrowed */
HBG_API uint64_t hbg_setup_random(struct hbg_setup *s);                            /* of the printed seed */
HBG_API void *hbg_setup_tensor(struct hbg_setup *s, const char *name, enum hbg_arg_kind access, enum hbg_dtype dtype, struct hbg_shape shape);
HBG_API void hbg_setup_scalar(struct hbg_setup *s, const char *name, struct hbg_arg scalar);
HBG_API void hbg_setup_params(struct hbg_setup *s, const void *params, size_t size_bytes);
HBG_API const void *hbg_setup_input(struct hbg_setup *s, const char *name);        /* golden: what the run was given */
HBG_API int64_t hbg_setup_count(struct hbg_setup *s, const char *name);             /* elements of a tensor */
HBG_API void *hbg_setup_expected(struct hbg_setup *s, const char *name);
HBG_API const void *hbg_setup_result(struct hbg_setup *s, const char *name);       /* residual, report: what the last round left */
HBG_API void hbg_setup_value(struct hbg_setup *s, const char *name, double value); /* report: one number */
HBG_API void hbg_setup_table(struct hbg_setup *s, const char *const *columns, size_t column_count, const double *cells, size_t row_count);
HBG_API int hbg_setup_fail(struct hbg_setup *s, const char *text);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_WORKLOAD_H */
