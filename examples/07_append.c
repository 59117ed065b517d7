/* SPDX-License-Identifier: Apache-2.0 */
/* 07_append.c - a cache on the device that grows by one row a run, in place, with a graph that is built once.
 *
 *     run `position`:  cache[head][position] = k, v        then        out[head] = sum over p <= position of (q . k[p]) v[p]
 *
 * The position is a bound scalar (hbg_args_scalar): the kernels read it, the build function does not, so it is no guard and every
 * position replays the same graph. For that the graph may not slice the cache at the position: both kernels are given the
 * whole block of their head, `inout` where the row is appended, `in` where all rows so far are read, and index it themselves. What was
 * appended by earlier runs stays in the device buffer; a run sends q, k and v.
 *
 * (The weights of real attention pass through exp(); without it all numbers here are whole, and every order of additions has one result.)
 */
#include <hbg/hbg.h>
#include <stdio.h>

enum { APPEND, ATTEND, KERNEL_COUNT };
enum { HEADS = 4, ROWS = 256, DIM = 16 };

/* k, v: [1][DIM]; cache: [1][2][ROWS][DIM], the keys before the values */
static int append(const struct hbg_task_view *t)
{
    const float *k = HBG_VIEW(const float, t, 0), *v = HBG_VIEW(const float, t, 1);
    float *keys = HBG_VIEW(float, t, 2), *values = keys + ROWS * DIM;
    int32_t position = hbg_view_i32(t, 3);
    for (int d = 0; d < DIM; d++) {
        keys[position * DIM + d] = k[d];
        values[position * DIM + d] = v[d];
    }
    return 0;
}

static int attend(const struct hbg_task_view *t)
{
    const float *q = HBG_VIEW(const float, t, 0), *keys = HBG_VIEW(const float, t, 1), *values = keys + ROWS * DIM;
    float *out = HBG_VIEW(float, t, 2);
    int32_t position = hbg_view_i32(t, 3);
    for (int d = 0; d < DIM; d++) out[d] = 0;
    for (int32_t p = 0; p <= position; p++) {
        float weight = 0;
        for (int d = 0; d < DIM; d++) weight += q[d] * keys[p * DIM + d];
        for (int d = 0; d < DIM; d++) out[d] += weight * values[p * DIM + d];
    }
    return 0;
}

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(APPEND, append, "in f32, in f32, inout f32, i32"), HBG_KERNEL(ATTEND, attend, "in f32, in f32, out f32, i32"),
};

static struct hbg_region row_of(const struct hbg_args *args, int i, int64_t head)
{
    return hbg_cell(hbg_args_region(args, i), HBG_SHAPE(1, DIM), HBG_SHAPE(head, 0));
}

/* q, k, v, cache, out, position */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int64_t head = 0; head < HEADS; head++) {          /* heads share nothing: they run at the same time */
        struct hbg_region block = hbg_cell(hbg_args_region(args, 3), HBG_SHAPE(1, 2, ROWS, DIM), HBG_SHAPE(head, 0, 0, 0));
        hbg_submit(g, APPEND, hbg_in(row_of(args, 1, head)), hbg_in(row_of(args, 2, head)), hbg_inout(block), hbg_args_scalar(args, 5));
        hbg_submit(g, ATTEND, hbg_in(row_of(args, 0, head)), hbg_in(block), hbg_out(row_of(args, 4, head)), hbg_args_scalar(args, 5));
    }
}

static float q[HEADS][DIM], k[ROWS][HEADS][DIM], v[ROWS][HEADS][DIM], out[HEADS][DIM];

static int count_wrong(int position)
{
    int wrong = 0;
    for (int head = 0; head < HEADS; head++) {
        float expected[DIM] = { 0 };
        for (int p = 0; p <= position; p++) {
            float weight = 0;
            for (int d = 0; d < DIM; d++) weight += q[head][d] * k[p][head][d];
            for (int d = 0; d < DIM; d++) expected[d] += weight * v[p][head][d];
        }
        for (int d = 0; d < DIM; d++) wrong += out[head][d] != expected[d];
    }
    return wrong;
}

static void make_inputs(int position)
{
    for (int i = 0; i < HEADS * DIM; i++) {
        q[i / DIM][i % DIM] = (float)((i + position) % 3 - 1);
        k[position][i / DIM][i % DIM] = (float)((i * 5 + position * 7) % 5 - 2);
        v[position][i / DIM][i % DIM] = (float)((i * 3 + position) % 4 - 1);
    }
}

int main(void)
{
    struct hbg_device *device = NULL;
    struct hbg_program *program = NULL;
    struct hbg_buffer *cache = NULL;
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_result result = HBG_OPTIONS(result);
    const size_t cache_bytes = sizeof(float) * HEADS * 2 * ROWS * DIM;
    struct hbg_shape row = HBG_SHAPE(HEADS, DIM);
    int wrong = 0, replayed = 0;
    enum hbg_status s = hbg_device_open("cpu:memory=discrete", NULL, &device);
    if (!s) s = hbg_buffer_create(device, cache_bytes, &cache);
    options.name = "append";
    options.build = build;
    options.kernels = kernels;
    options.kernel_count = KERNEL_COUNT;
    options.pure_build = true;
    if (!s) s = hbg_program_create(device, &options, &program);
    for (int32_t position = 0; position < ROWS && !s; position++) {
        make_inputs(position);
        s = hbg_run_sync(program, HBG_ARGS(hbg_in(hbg_host(q, HBG_F32, row)), hbg_in(hbg_host(k[position], HBG_F32, row)), hbg_in(hbg_host(v[position], HBG_F32, row)),
                                           hbg_inout(hbg_buffer_region(cache, 0, HBG_F32, HBG_SHAPE(HEADS, 2, ROWS, DIM))), hbg_out(hbg_host(out, HBG_F32, row)),
                                           hbg_i32(position)), &result);
        if (!s) wrong += count_wrong(position);
        replayed += (int)result.replayed;
    }
    if (s) fprintf(stderr, "append: %s: %s\n", hbg_status_name(s), result.error.text);
    printf("%d runs, %d replayed, %d wrong values; %d bytes sent by the last one, of a cache of %d\n", ROWS, replayed, wrong, (int)result.upload_bytes, (int)cache_bytes);
    hbg_program_destroy(program);
    hbg_buffer_destroy(cache);
    return hbg_device_close(device) || s || wrong || replayed != ROWS - 1 || result.upload_bytes >= cache_bytes / 10;
}
