/* SPDX-License-Identifier: Apache-2.0 */
/* 09_subgraph.c - a layer that is recorded once and submitted twelve times a run, and a network whose depth changes.
 *
 *     x = clip(x W[layer], limit[layer])                   the last layer: x = x W[layer]
 *
 * The body is called where no definition fits, and not otherwise. So it looks at its boundary and at its parameters, and at nothing
 * else: what differs from layer to layer without changing the body's tasks, the weights and the limit, is in the list; what changes
 * the tasks, whether there is a clip, is in the parameters of the key. Two definitions serve all layers, those of later runs and of
 * other depths as well.
 */
#include <hbg/hbg.h>
#include <stdio.h>
#include <string.h>

enum { MULTIPLY, CLIP, COPY, KERNEL_COUNT };
enum { BATCH = 4, WIDTH = 64, BLOCK = 16, LAYERS = 12, RUNS = 4 };

/* Compared as bytes: it has no padding. */
struct layer_params { int32_t block, clips; };

static float weights[LAYERS][WIDTH][WIDTH], x[BATCH][WIDTH], y[BATCH][WIDTH];

/* Weights are -1, 0 and 1, so all numbers are whole, and every order of additions has one result. */
static void make_weights(void)
{
    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < WIDTH * WIDTH; i++) weights[layer][i / WIDTH][i % WIDTH] = (float)((i * 7 + i / WIDTH + layer * 5) % 3 - 1);
}

static float limit_of(int layer) { return (float)(4 + layer); }

/* to = from w; w and to are blocks of columns */
static int multiply(const struct hbg_task_view *t)
{
    const float *from = HBG_VIEW(const float, t, 0), *w = HBG_VIEW(const float, t, 1);
    float *to = HBG_VIEW(float, t, 2);
    int64_t block = hbg_view_shape(t, 1)[1], ld_w = hbg_view_ld(t, 1), ld_to = hbg_view_ld(t, 2);
    for (int64_t i = 0; i < BATCH; i++) {
        for (int64_t j = 0; j < block; j++) {
            float sum = 0;
            for (int64_t k = 0; k < WIDTH; k++) sum += from[i * WIDTH + k] * w[k * ld_w + j];
            to[i * ld_to + j] = sum;
        }
    }
    return 0;
}

static int clip(const struct hbg_task_view *t)
{
    const float *from = HBG_VIEW(const float, t, 0);
    float *to = HBG_VIEW(float, t, 1), limit = hbg_view_f32(t, 2);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) to[i] = from[i] > limit ? limit : from[i] < -limit ? -limit : from[i];
    return 0;
}

static int copy(const struct hbg_task_view *t)
{
    memcpy(HBG_VIEW(float, t, 1), HBG_VIEW(const float, t, 0), sizeof(float) * (size_t)hbg_view_count(t, 0));
    return 0;
}

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(MULTIPLY, multiply, "in f32, in f32, out f32"), HBG_KERNEL(CLIP, clip, "in f32, out f32, f32"), HBG_KERNEL(COPY, copy, "in f32, out f32"),
};

/* The body. Its list: state, weights, limit. */
static void layer_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct layer_params *p = (const struct layer_params *)params;
    struct hbg_region state = hbg_args_region(args, 0), w = hbg_args_region(args, 1);
    struct hbg_region product = hbg_alloc(g, HBG_F32, HBG_SHAPE(BATCH, WIDTH));
    for (int64_t j = 0; j < WIDTH / p->block; j++)
        hbg_submit(g, MULTIPLY, hbg_in(state), hbg_in(hbg_cell(w, HBG_SHAPE(WIDTH, p->block), HBG_SHAPE(0, j))),
                   hbg_out(hbg_cell(product, HBG_SHAPE(BATCH, p->block), HBG_SHAPE(0, j))));
    if (p->clips) hbg_submit(g, CLIP, hbg_in(product), hbg_out(state), hbg_args_scalar(args, 2));
    else hbg_submit(g, COPY, hbg_in(product), hbg_out(state));
}

/* x, y, weights, depth */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region state = hbg_alloc(g, HBG_F32, HBG_SHAPE(BATCH, WIDTH));
    int32_t depth = hbg_args_get_i32(args, 3);              /* a guard: another depth is another graph, of the same bodies */
    hbg_submit(g, COPY, hbg_in(hbg_args_region(args, 0)), hbg_out(state));
    for (int32_t layer = 0; layer < depth; layer++) {
        struct layer_params p = { BLOCK, layer < depth - 1 };
        struct hbg_region w = hbg_index(hbg_args_region(args, 2), 0, layer);
        hbg_subgraph(g, HBG_KEY("layer", p), layer_body, HBG_ARGS(hbg_inout(state), hbg_in(w), hbg_f32(limit_of(layer))));
    }
    hbg_submit(g, COPY, hbg_in(state), hbg_out(hbg_args_region(args, 1)));
}

static int count_wrong(int depth)
{
    static float state[BATCH][WIDTH], product[BATCH][WIDTH];
    int wrong = 0;
    memcpy(state, x, sizeof x);
    for (int layer = 0; layer < depth; layer++) {
        float limit = limit_of(layer);
        for (int i = 0; i < BATCH * WIDTH; i++) {
            float sum = 0;
            for (int k = 0; k < WIDTH; k++) sum += state[i / WIDTH][k] * weights[layer][k][i % WIDTH];
            if (layer < depth - 1) sum = sum > limit ? limit : sum < -limit ? -limit : sum;
            product[i / WIDTH][i % WIDTH] = sum;
        }
        memcpy(state, product, sizeof state);
    }
    for (int i = 0; i < BATCH * WIDTH; i++) wrong += y[i / WIDTH][i % WIDTH] != state[i / WIDTH][i % WIDTH];
    return wrong;
}

int main(void)
{
    static const int32_t depths[RUNS] = { LAYERS, LAYERS, 8, 8 };
    static const uint32_t recorded[RUNS] = { 2, 0, 0, 0 }, found[RUNS] = { 10, 0, 8, 0 };       /* the second and the fourth run build nothing */
    struct hbg_device *device = NULL;
    struct hbg_program *program = NULL;
    struct hbg_buffer *buffer = NULL;
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_shape shape = HBG_SHAPE(BATCH, WIDTH);
    int wrong = 0, unexpected = 0;
    make_weights();
    enum hbg_status s = hbg_device_open("cpu:memory=discrete", NULL, &device);
    if (!s) s = hbg_buffer_create(device, sizeof weights, &buffer);
    if (!s) s = hbg_buffer_write(buffer, 0, weights, sizeof weights);
    options.name = "subgraph";
    options.build = build;
    options.kernels = kernels;
    options.kernel_count = KERNEL_COUNT;
    options.pure_build = true;
    if (!s) s = hbg_program_create(device, &options, &program);
    for (int r = 0; r < RUNS && !s; r++) {
        for (int i = 0; i < BATCH * WIDTH; i++) x[i / WIDTH][i % WIDTH] = (float)((i + r) % 5 - 2);
        s = hbg_run_sync(program, HBG_ARGS(hbg_in(hbg_host(x, HBG_F32, shape)), hbg_out(hbg_host(y, HBG_F32, shape)),
                                           hbg_in(hbg_buffer_region(buffer, 0, HBG_F32, HBG_SHAPE(LAYERS, WIDTH, WIDTH))), hbg_i32(depths[r])), &result);
        if (s) break;
        printf("%2d layers, %2d tasks: %u bodies recorded, %2u found; %s\n", (int)depths[r], (int)result.tasks, (unsigned)result.subgraphs_recorded,
               (unsigned)result.subgraphs_replayed, result.replayed ? "nothing was built" : "built");
        wrong += count_wrong(depths[r]);
        unexpected += result.subgraphs_recorded != recorded[r] || result.subgraphs_replayed != found[r] || result.replayed != (uint32_t)(r % 2);
    }
    if (s) fprintf(stderr, "subgraph: %s: %s\n", hbg_status_name(s), result.error.text);
    printf("%d wrong values\n", wrong);
    hbg_program_destroy(program);
    hbg_buffer_destroy(buffer);
    return hbg_device_close(device) || s || wrong || unexpected;
}
