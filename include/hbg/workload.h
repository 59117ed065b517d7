/* SPDX-License-Identifier: Apache-2.0 */
/* workload.h - workloads of the command: inputs, graph, kernels and a reference in one struct.
 *
 * The workloads that are built into `hbg run` are such structs. A shared object that exports one with HBG_WORKLOAD is a workload of
 * its own: `hbg run ./mine.so`, `hbg list ./mine.so`. `hbg new mine` writes one to start from. The object may be linked with
 * libhbg.so and need not be; hbg_setup_* and the library are found in the command that loads it.
 *
 * The functions below are defined by the command, not by the library. They are called inside the functions of the workload, on the
 * command's thread. The first failure is latched in the setup and later calls do nothing, so one check at the end is enough; a
 * number that could not be had is 0, a pointer NULL, a text empty.
 */
#ifndef HBG_WORKLOAD_H
#define HBG_WORKLOAD_H

#include <hbg/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a workload declares, and what its runs leave. Opaque. */
struct hbg_setup;

/**
 * struct hbg_workload - a workload. Its functions return 0, or what hbg_setup_fail() returned.
 *
 * Fields behind rel_tolerance may be missing: `size` tells.
 */
struct hbg_workload {
    size_t size;
    const char *abi, *name, *doc;       /* abi = HBG_WORKLOAD_ABI */
    const char *const *params;          /* "n=1048576  elements of x", .., NULL: name=default and, behind a blank, what it means */
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

/* The layout of struct hbg_workload and the meaning of hbg_setup_*. */
#define HBG_WORKLOAD_ABI "hbg-workload-1"
/* Defines the one that a file exports: HBG_WORKLOAD = { .size = sizeof(struct hbg_workload), .abi = HBG_WORKLOAD_ABI, .. }; */
#ifdef __cplusplus
#define HBG_WORKLOAD extern "C" HBG_API const struct hbg_workload hbg_workload
#else
#define HBG_WORKLOAD HBG_API extern const struct hbg_workload hbg_workload; HBG_API const struct hbg_workload hbg_workload
#endif

/**
 * hbg_setup_i64, hbg_setup_f64, hbg_setup_text - a parameter: what the command line says, else its default.
 *
 * name        in   one of the workload's `params`
 *
 * Returns  the value; the text is borrowed until the command ends
 * Errors   a text that is no such number is a mistake of the user; an unknown name is one of the workload
 */
HBG_API int64_t hbg_setup_i64(struct hbg_setup *s, const char *name);
HBG_API double hbg_setup_f64(struct hbg_setup *s, const char *name);
HBG_API const char *hbg_setup_text(struct hbg_setup *s, const char *name);

/**
 * hbg_setup_random - 64 random bits, from the seed that the command prints.
 */
HBG_API uint64_t hbg_setup_random(struct hbg_setup *s);

/**
 * hbg_setup_given - whether the command line gives a parameter, or a tensor as a file, query=q.npy; only in `inputs`.
 *
 * shape       out  may be NULL: the shape of the array in the file; of a parameter none, rank 0
 *
 * For parameters that mean nothing beside others, and for inputs whose parameters or other tensors follow from a file. The memory that
 * hbg_setup_tensor() returns then holds the file's elements, and after `inputs` it does again, whatever was filled in: a workload need
 * not ask. A name that is a parameter as well is the parameter's on the command line.
 */
HBG_API bool hbg_setup_given(struct hbg_setup *s, const char *name, struct hbg_shape *shape);

/**
 * hbg_setup_tensor - declare the next boundary argument, a tensor; only in `inputs`.
 *
 * name        in   copied; each once
 * access      in   HBG_ARG_IN, HBG_ARG_OUT or HBG_ARG_INOUT
 *
 * Returns  its memory, row-major, 64-byte aligned, to be filled; zeroed, or with the elements of the file that was given; owned by
 *          the setup
 */
HBG_API void *hbg_setup_tensor(struct hbg_setup *s, const char *name, enum hbg_arg_kind access, enum hbg_dtype dtype, struct hbg_shape shape);

/**
 * hbg_setup_scalar - declare the next boundary argument, a scalar: hbg_f32(..) and its kin; only in `inputs`.
 */
HBG_API void hbg_setup_scalar(struct hbg_setup *s, const char *name, struct hbg_arg scalar);

/**
 * hbg_setup_params - the parameters of the build function, copied; only in `inputs`.
 */
HBG_API void hbg_setup_params(struct hbg_setup *s, const void *params, size_t size_bytes);

/**
 * hbg_setup_kernels - other kernels than the descriptor's; only in `inputs`, and in `golden`, which is called for --verify alone.
 *
 * kernels     in   borrowed until the command ends
 *
 * For parameters that decide which graph it is, and for a graph whose kernels do nothing: to be verified, it can have others that do.
 */
HBG_API void hbg_setup_kernels(struct hbg_setup *s, const struct hbg_kernel *kernels, size_t count);

/**
 * hbg_setup_input - what the runs are given in an `in` or `inout` tensor; for `golden`. Borrowed.
 */
HBG_API const void *hbg_setup_input(struct hbg_setup *s, const char *name);

/**
 * hbg_setup_count - elements of a tensor.
 */
HBG_API int64_t hbg_setup_count(struct hbg_setup *s, const char *name);

/**
 * hbg_setup_expected - the zeroed copy of an `out` or `inout` tensor that `golden` fills; owned by the setup.
 */
HBG_API void *hbg_setup_expected(struct hbg_setup *s, const char *name);

/**
 * hbg_setup_tolerance - how far elements of a result may be from their expected copies, in `golden`; besides rel_tolerance.
 *
 * abs_tolerance in  stands for that of the workload, for this tensor alone. Rounding grows with the inputs, which may be a user's own:
 *                   a reference that has seen them can say how far
 *
 * Errors   the tensor is `in`, or the tolerance is no finite number of 0 or more
 */
HBG_API void hbg_setup_tolerance(struct hbg_setup *s, const char *name, double abs_tolerance);

/**
 * hbg_setup_result - what the last round left in a tensor; for `residual` and `report`. Borrowed.
 */
HBG_API const void *hbg_setup_result(struct hbg_setup *s, const char *name);

/**
 * hbg_setup_value - report one number; underscores of the name are printed as blanks.
 */
HBG_API void hbg_setup_value(struct hbg_setup *s, const char *name, double value);

/**
 * hbg_setup_table - report a table: printed, and written by --out and --json.
 *
 * cells       in   row_count rows of column_count numbers; all is copied
 */
HBG_API void hbg_setup_table(struct hbg_setup *s, const char *const *columns, size_t column_count, const double *cells, size_t row_count);

/**
 * hbg_setup_fail - the workload cannot go on: return hbg_setup_fail(s, "n must be at least 0").
 *
 * text        in   a sentence without a full stop, copied; printed as a mistake of the user
 *
 * Returns  a number that is not 0
 */
HBG_API int hbg_setup_fail(struct hbg_setup *s, const char *text);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_WORKLOAD_H */
