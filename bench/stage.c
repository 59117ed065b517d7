/* SPDX-License-Identifier: Apache-2.0 */
/* stage.c - see stage.h. */
#include "bench/stage.h"

/* What buffer `index` must hold for every shape that uses it; 0: none does. */
static size_t buffer_bytes(uint32_t index, const enum bench_shape_id *shapes, size_t shape_count)
{
    size_t most = 0;
    for (size_t i = 0; i < shape_count; i++) {
        const struct bench_shape *shape = hbg__bench_shape(shapes[i]);
        if (index < shape->buffers && hbg__bench_shape_bytes(shape) > most) most = hbg__bench_shape_bytes(shape);
    }
    return most;
}

bool hbg__bench_stage_open(struct bench *b, struct bench_stage *stage, const char *device, const enum bench_shape_id *shapes, size_t shape_count)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    *stage = (struct bench_stage){ .device = NULL };
    options.error = &b->error;
    enum hbg_status status = hbg_device_open(device, &options, &stage->device);
    if (status) return hbg__bench_fail(b, device, status);
    for (uint32_t i = 0; i < BENCH_BUFFERS_MAX; i++) {
        size_t size_bytes = buffer_bytes(i, shapes, shape_count);
        if (size_bytes == 0) break;
        status = hbg_buffer_create(stage->device, size_bytes, &stage->buffer[i]);
        if (status) return hbg__bench_fail(b, "a buffer", status);
        stage->buffer_count++;
    }
    return true;
}

bool hbg__bench_stage_close(struct bench *b, struct bench_stage *stage)
{
    while (stage->buffer_count > 0) hbg_buffer_destroy(stage->buffer[--stage->buffer_count]);
    enum hbg_status status = hbg_device_close(stage->device);
    stage->device = NULL;
    return status == HBG_OK || hbg__bench_fail(b, "the end of the device", status);
}

bool hbg__bench_program_open(struct bench *b, struct bench_stage *stage, struct bench_program *p, const struct bench_shape *shape,
                             hbg_build_fn *build, const void *params, size_t params_size, enum bench_mode mode)
{
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    options.name = shape->name;
    options.build = build;
    options.params = params;
    options.params_size = params_size;
    options.kernels = hbg__bench_kernels;
    options.kernel_count = hbg__bench_kernel_count();
    options.pure_build = mode == BENCH_AGAIN;
    options.no_compare = mode == BENCH_MADE;
    options.error = &b->error;
    for (uint32_t i = 0; i < shape->buffers; i++) {
        struct hbg_region x = hbg_buffer_region(stage->buffer[i], 0, HBG_F32, shape->extent);
        p->arg[i] = i < shape->inputs ? hbg_in(x) : hbg_inout(x);
    }
    p->list = (struct hbg_arg_list){ p->arg, shape->buffers };
    p->program = NULL;
    enum hbg_status status = hbg_program_create(stage->device, &options, &p->program);
    return status == HBG_OK || hbg__bench_fail(b, shape->name, status);
}

void hbg__bench_program_close(struct bench_program *p)
{
    hbg_program_destroy(p->program);
    p->program = NULL;
}
