/* SPDX-License-Identifier: Apache-2.0 */
/* stage.h - a device with its buffers, and programs on it.
 *
 * All programs of a stage work on the same buffers: of a run, only its graph is measured.
 */
#ifndef HBG_BENCH_STAGE_H
#define HBG_BENCH_STAGE_H

#include "bench/bench.h"
#include "bench/run_mode.h"
#include "bench/shapes.h"

enum { BENCH_BUFFERS_MAX = 64 };

struct bench_stage {
    struct hbg_device *device;
    struct hbg_buffer *buffer[BENCH_BUFFERS_MAX];
    uint32_t buffer_count;
};

/* A shape as a program: an argument list of views of the stage's buffers. */
struct bench_program {
    struct hbg_program *program;
    struct hbg_arg arg[BENCH_BUFFERS_MAX];
    struct hbg_arg_list list;
};

/* A device, and buffers that are large enough for each of the shapes. False: said why; close it all the same. */
bool hbg__bench_stage_open(struct bench *b, struct bench_stage *stage, const char *device, const enum bench_shape_id *shapes, size_t shape_count);

/* Programs go first. False: the device did not close. */
bool hbg__bench_stage_close(struct bench *b, struct bench_stage *stage);

/* What is built for `shape` by `build` (params are copied): BENCH_AGAIN, BENCH_ANEW or BENCH_MADE. False: said why. */
bool hbg__bench_program_open(struct bench *b, struct bench_stage *stage, struct bench_program *p, const struct bench_shape *shape,
                             hbg_build_fn *build, const void *params, size_t params_size, enum bench_mode mode);
void hbg__bench_program_close(struct bench_program *p);

#endif /* HBG_BENCH_STAGE_H */
