/* SPDX-License-Identifier: Apache-2.0 */
/* 05_buffers.c - weights that are uploaded once and stay on the device, and a graph that is replayed with new inputs.
 *
 *     y = relu(x W1) W2        x and y come with each run; W1 and W2 are device buffers that the build function names itself
 *
 * The device keeps its memory apart here (memory=discrete), so what is sent to it can be counted: a replay ships no image, only x
 * and the descriptor of the launch. The program copies the pointers to the buffers with its parameters; the buffers are destroyed
 * after the program.
 */
#include <hbg/hbg.h>
#include <stdio.h>

enum { MULTIPLY, RELU, KERNEL_COUNT };
enum { BATCH = 8, IN = 64, HIDDEN = 256, OUT = 32, BLOCK = 64, RUNS = 20 };

struct model { struct hbg_buffer *w1, *w2; };

/* to = from w, all of them whole rows of a matrix or a block of its columns */
static int multiply(const struct hbg_task_view *t)
{
    const float *from = HBG_VIEW(const float, t, 0), *w = HBG_VIEW(const float, t, 1);
    float *to = HBG_VIEW(float, t, 2);
    const int64_t *shape = hbg_view_shape(t, 1);
    int64_t ld_from = hbg_view_ld(t, 0), ld_w = hbg_view_ld(t, 1), ld_to = hbg_view_ld(t, 2);
    for (int64_t i = 0; i < hbg_view_shape(t, 0)[0]; i++) {
        for (int64_t j = 0; j < shape[1]; j++) {
            float sum = 0;
            for (int64_t k = 0; k < shape[0]; k++) sum += from[i * ld_from + k] * w[k * ld_w + j];
            to[i * ld_to + j] = sum;
        }
    }
    return 0;
}

static int relu(const struct hbg_task_view *t)
{
    const int64_t *shape = hbg_view_shape(t, 0);
    float *x = HBG_VIEW(float, t, 0);
    for (int64_t i = 0; i < shape[0]; i++) {
        for (int64_t j = 0; j < shape[1]; j++) x[i * hbg_view_ld(t, 0) + j] = x[i * hbg_view_ld(t, 0) + j] > 0 ? x[i * hbg_view_ld(t, 0) + j] : 0;
    }
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(MULTIPLY, multiply, "in f32, in f32, out f32"), HBG_KERNEL(RELU, relu, "inout f32") };

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct model *m = (const struct model *)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    struct hbg_region w1 = hbg_buffer_region(m->w1, 0, HBG_F32, HBG_SHAPE(IN, HIDDEN)), w2 = hbg_buffer_region(m->w2, 0, HBG_F32, HBG_SHAPE(HIDDEN, OUT));
    struct hbg_region hidden = hbg_alloc(g, HBG_F32, HBG_SHAPE(BATCH, HIDDEN));
    for (int64_t j = 0; j < HIDDEN / BLOCK; j++) {
        struct hbg_region block = hbg_cell(hidden, HBG_SHAPE(BATCH, BLOCK), HBG_SHAPE(0, j));
        hbg_submit(g, MULTIPLY, hbg_in(x), hbg_in(hbg_cell(w1, HBG_SHAPE(IN, BLOCK), HBG_SHAPE(0, j))), hbg_out(block));
        hbg_submit(g, RELU, hbg_inout(block));
    }
    hbg_submit(g, MULTIPLY, hbg_in(hidden), hbg_in(w2), hbg_out(y));
}

static float w1[IN][HIDDEN], w2[HIDDEN][OUT], x[BATCH][IN], y[BATCH][OUT];

/* Small whole numbers, so that every order of additions has one result. Returns how many values of y are wrong. */
static int count_wrong(void)
{
    int wrong = 0;
    for (int i = 0; i < BATCH; i++) {
        float hidden[HIDDEN];
        for (int j = 0; j < HIDDEN; j++) {
            hidden[j] = 0;
            for (int k = 0; k < IN; k++) hidden[j] += x[i][k] * w1[k][j];
            if (hidden[j] < 0) hidden[j] = 0;
        }
        for (int j = 0; j < OUT; j++) {
            float sum = 0;
            for (int k = 0; k < HIDDEN; k++) sum += hidden[k] * w2[k][j];
            wrong += y[i][j] != sum;
        }
    }
    return wrong;
}

static enum hbg_status upload(struct hbg_device *device, const void *data, size_t size_bytes, struct hbg_buffer **buffer)
{
    enum hbg_status s = hbg_buffer_create(device, size_bytes, buffer);
    return s ? s : hbg_buffer_write(*buffer, 0, data, size_bytes);
}

int main(void)
{
    struct hbg_device *device = NULL;
    struct hbg_program *program = NULL;
    struct model model = { NULL, NULL };
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_result result = HBG_OPTIONS(result);
    uint64_t built_bytes = 0, replayed_bytes = 0;
    int wrong = 0, replayed = 0;
    for (int i = 0; i < IN * HIDDEN; i++) w1[i / HIDDEN][i % HIDDEN] = (float)(i * 7 % 5 - 2);
    for (int i = 0; i < HIDDEN * OUT; i++) w2[i / OUT][i % OUT] = (float)(i * 3 % 7 - 3);
    enum hbg_status s = hbg_device_open("cpu:memory=discrete", NULL, &device);
    if (!s) s = upload(device, w1, sizeof w1, &model.w1);
    if (!s) s = upload(device, w2, sizeof w2, &model.w2);
    options.name = "buffers";
    options.build = build;
    options.params = &model;
    options.params_size = sizeof model;
    options.kernels = kernels;
    options.kernel_count = KERNEL_COUNT;
    options.pure_build = true;              /* the same buffers in every build */
    if (!s) s = hbg_program_create(device, &options, &program);
    for (int r = 0; r < RUNS && !s; r++) {
        for (int i = 0; i < BATCH * IN; i++) x[i / IN][i % IN] = (float)((i + r) % 3 - 1);
        s = hbg_run_sync(program, HBG_ARGS(hbg_in(hbg_host(x, HBG_F32, HBG_SHAPE(BATCH, IN))), hbg_out(hbg_host(y, HBG_F32, HBG_SHAPE(BATCH, OUT)))), &result);
        if (!s) wrong += count_wrong();
        replayed += (int)result.replayed;
        *(result.replayed ? &replayed_bytes : &built_bytes) = result.upload_bytes;
    }
    if (s) fprintf(stderr, "buffers: %s: %s\n", hbg_status_name(s), result.error.text);
    printf("%d runs, %d replayed, %d wrong values; %d bytes sent by the built one, %d by a replay, weights of %d bytes by none\n", RUNS, replayed, wrong,
           (int)built_bytes, (int)replayed_bytes, (int)(sizeof w1 + sizeof w2));
    hbg_program_destroy(program);
    hbg_buffer_destroy(model.w1);
    hbg_buffer_destroy(model.w2);
    return hbg_device_close(device) || s || wrong || replayed != RUNS - 1 || replayed_bytes >= built_bytes || built_bytes >= sizeof w1;
}
