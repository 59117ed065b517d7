/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - programs and runs in one line each, for tests. What does not work fails the test with the library's sentence. */
#ifndef HBG_TEST_PROGRAM_H
#define HBG_TEST_PROGRAM_H

#include <stddef.h>

#include <hbg/hbg.h>
#include "support/edges.h"

struct program_spec {
    hbg_build_fn *build;
    const struct hbg_kernel *kernels;
    size_t kernel_count;
    const void *params;
    size_t params_size;
    const char *boundary;
    bool pure;
    uint64_t limit_tasks;
};
#define KERNEL_COUNT_OF(table) (sizeof(table) / sizeof (table)[0])
#define KERNEL_TABLE(table) .kernels = (table), .kernel_count = KERNEL_COUNT_OF(table)      /* members of a program_spec */
#define KERNELS(table) (table), KERNEL_COUNT_OF(table)                                      /* two arguments of a call */

struct hbg_program *program_create(struct hbg_device *device, const struct program_spec *spec);

/* The common case: a build function, a kernel table, and a struct of parameters. */
#define PROGRAM(device, function, table)                                                                              \
    program_create((device), &(struct program_spec){ .build = (function), KERNEL_TABLE(table) })
#define PROGRAM_WITH(device, function, table, values)                                                                 \
    program_create((device), &(struct program_spec){ .build = (function), KERNEL_TABLE(table), .params = &(values),    \
                                                     .params_size = sizeof(values) })

/* One run that works. `result` and `edges` may be NULL; the edges are read from the image between prepare and launch. */
void program_run(struct hbg_program *program, struct hbg_arg_list list, struct hbg_result *result, struct edges *edges);

/* One run that is not OK, in whatever phase: its status must be this one, and its error is returned. */
struct hbg_error program_run_fails(struct hbg_program *program, struct hbg_arg_list list, enum hbg_status expected);

/* Prepare, read the edges, and give the run up: nothing is executed. */
void program_edges(struct hbg_program *program, struct hbg_arg_list list, struct edges *edges);

/* A run that works on a program of its own. */
void graph_run(struct hbg_device *device, hbg_build_fn *build, const struct hbg_kernel *kernels, size_t kernel_count,
               struct hbg_arg_list list, struct hbg_result *result, struct edges *edges);

struct hbg_counters counters_of(const struct hbg_device *device);

/* Host memory as arguments. */
#define HOST_I32(pointer, count) hbg_host((pointer), HBG_I32, HBG_SHAPE(count))

#endif /* HBG_TEST_PROGRAM_H */
