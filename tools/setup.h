/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of struct hbg_setup: what a workload's inputs declare, and what a round and its verification need of it.
 *
 *     tensor   data      what the runs read and write; borrowed by the boundary list
 *              input     inout only: what data held before the first run
 *              expected  out and inout, once golden asked for it
 *              first     out and inout, with verification: what the first run left
 *
 * The first failure is latched (like an error in a graph) and later calls do nothing, so that a workload may check once.
 */
#ifndef HBG_TOOLS_SETUP_H
#define HBG_TOOLS_SETUP_H

#include "base/rng.h"
#include "name_table.h"
#include "npy.h"

#include <hbg/hbg.h>

#include <stdbool.h>

struct setup_param {
    char *name, *usual;                 /* owned; usual: its default */
    char *value;                        /* owned; the default until one is given */
    bool given;
};

struct setup_tensor {
    char *name;                         /* NULL: a scalar stands at this boundary position */
    enum hbg_arg_kind access;
    enum hbg_dtype dtype;
    struct hbg_shape shape;
    int64_t count;
    size_t size_bytes;
    void *data, *input, *expected, *first;
    double abs_tolerance;               /* the workload's, unless golden gives another */
};

/* A tensor's file on the command line: query=q.npy. */
struct setup_given {
    char *name;                         /* owned */
    struct npy_file file;
};

struct setup_value {
    char *name;
    double value;
};

struct hbg_setup {
    struct hbg_workload workload;       /* a copy; fields that its `size` does not cover are zero */
    struct setup_param *param;
    size_t param_count;
    struct setup_given *given;
    size_t given_count;
    uint64_t seed, random_drawn;
    struct hbg__rng random;

    struct setup_tensor *tensor;        /* one for each boundary position */
    struct hbg_arg *arg;
    size_t boundary_count, boundary_room;
    struct name_table tensor_names;     /* their places in the boundary */
    void *params;                       /* of the build function */
    size_t params_size;

    struct setup_value *value;          /* report */
    size_t value_count;
    char **column;
    double *cell;
    size_t column_count, row_count;

    bool failed;
    bool misused;                       /* the failure lies in what the user typed */
    char text[512];
};

/* A setup of the workload with its defaults; NULL without memory, or with text where the descriptor is no good. */
struct hbg_setup *hbg__setup_create(const struct hbg_workload *workload, uint64_t seed, char *text, size_t text_size);
void hbg__setup_destroy(struct hbg_setup *s);

/* Latches the first failure; `misused`: it lies in what the user typed. Returns -1. */
__attribute__((format(printf, 3, 4))) int hbg__setup_fail(struct hbg_setup *s, bool misused, const char *format, ...);

/* "key=value", or "tensor=file.npy" for a name that is no parameter; false: refused, s->text says why */
bool hbg__setup_assign(struct hbg_setup *s, const char *assignment);

/* after inputs: copies of the inout tensors, which the runs change. False: s->text says why. */
bool hbg__setup_keep_inputs(struct hbg_setup *s);

/* before each run: inout tensors as at first, out tensors full of 0xAA, so that nothing stale passes for a result */
void hbg__setup_rewind(struct hbg_setup *s);

struct setup_tensor *hbg__setup_find_tensor(struct hbg_setup *s, const char *name);

static inline bool setup_is_result(const struct setup_tensor *t)
{
    return t->name && (t->access == HBG_ARG_OUT || t->access == HBG_ARG_INOUT);
}

/* zeroed memory with room for tensors of any alignment; never NULL for size 0 */
void *hbg__setup_alloc(size_t size_bytes);

#endif
