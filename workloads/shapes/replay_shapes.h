/* SPDX-License-Identifier: Apache-2.0 */
/* replay_shapes.h - programs whose layers are bodies of subgraphs: the graphs of `hbg bench replay` and, but for the body of 1,000, of
 * `hbg run decoder shape=..`.
 *
 * A body is a layer of a decoder by its tasks: norm, a projection in tiles, rotate, then for each head append, attend in splits and
 * combine, a projection, add; norm, a projection, silu_mul, a projection, add. How many tiles, heads and splits make it up is a
 * `struct replay_body`, which is the parameters of its key. Its eleven boundary values are a bound scalar, the state, a table, and
 * eight tensors of the layer, each one cell of what all layers hold together. Its intermediates are its own.
 *
 *     shape=qwen3     40 submissions of one body of 277 tasks, and 7 tasks around them: 47 calls of the build, 11,087 tasks
 *     shape=dsv4      20 submissions of 7 bodies with 743 tasks together, 5 tasks before each and 9 around all: 129 calls.
 *                     The smallest body is submitted 10 times, the next one 5 times, the others once: with 1,022 tasks in 20
 *                     submissions the graph stands for 109 + 1,022 = 1,131 tasks
 *
 * Noops that hbg inserts come on top, in bodies and around them.
 *
 * The same functions submit layers as bodies and task by task.
 */
#ifndef HBG_WORKLOADS_SHAPES_REPLAY_SHAPES_H
#define HBG_WORKLOADS_SHAPES_REPLAY_SHAPES_H

#include <hbg/hbg.h>

/* What a body is made of; parameters of a key, compared as bytes. */
struct replay_body {
    int32_t a, heads, splits, b, c, gates, d;   /* tiles of the projections; heads and splits; tasks of silu_mul, at most c / 2 */
    uint32_t serial;                            /* another one is another key */
};

enum replay_shape_id { REPLAY_QWEN3, REPLAY_DSV4, REPLAY_BODY_OF_1000, REPLAY_SHAPE_COUNT };

struct replay_shape {
    const struct replay_body *bodies;
    const uint8_t *order;               /* which body each layer is; NULL: the first */
    uint32_t layers, routes, logits;    /* routes: tiles of two of the tasks before each layer, which submit_routes() makes; 0: none of them; logits: tiles of the last projection */
};
const struct replay_shape *hbg__replay_shape(enum replay_shape_id id);

static inline const struct replay_body *replay_body_of(const struct replay_shape *shape, uint32_t layer)
{
    return &shape->bodies[shape->order ? shape->order[layer] : 0];
}

/* Parameters of the build function. */
struct replay_params {
    uint32_t shape;                             /* enum replay_shape_id */
    uint32_t plain;                             /* 1: task by task */
    const uint32_t *serial;                     /* of all keys, looked at by each build; borrowed */
};

/* How many tasks and nodes a run of the shape has, and how many submissions of bodies. */
uint32_t hbg__replay_tasks(enum replay_shape_id id);
uint32_t hbg__replay_layers(enum replay_shape_id id);

/* Parameters: struct replay_params. */
void hbg__replay_build(struct hbg_graph *g, const struct hbg_args *args, const void *params);

/* What a tile holds plays no part: its rows and columns are few. */
enum {
    REPLAY_HIDDEN = 16, REPLAY_TILE = 4, REPLAY_LAYERS = 40, REPLAY_HEADS = 16, REPLAY_PAGES = 4, REPLAY_PAGE = 16, REPLAY_TILES = 320,
    REPLAY_ROWS = REPLAY_TILES * REPLAY_TILE, REPLAY_VOCAB = 6 * REPLAY_TILE
};

/* Boundary of every shape: a scalar, then tensors. A shape of fewer layers or tiles leaves the rest of a tensor alone. */
enum {
    REPLAY_POSITION, REPLAY_TABLE, REPLAY_IDS, REPLAY_EMBEDDING, REPLAY_KEYS, REPLAY_VALUES, REPLAY_NORM1, REPLAY_W_A, REPLAY_W_B, REPLAY_NORM2,
    REPLAY_W_C, REPLAY_W_D, REPLAY_LOGITS, REPLAY_NEXT, REPLAY_ARGS, REPLAY_BUFFERS = REPLAY_ARGS - 1
};

/* The name, element type and extent of tensor i, which stands behind the scalar, and how the build uses it. */
struct replay_tensor { const char *name; enum hbg_dtype dtype; enum hbg_arg_kind access; struct hbg_shape extent; };
const struct replay_tensor *hbg__replay_tensor(uint32_t i);

/* The kernels, of which each set is a table: REPLAY_ADD, its name and its signature. */
#define REPLAY_EACH_KERNEL(X)                                                                                                            \
    X(REPLAY_EMBED, "embed", "in i32, out f32") X(REPLAY_NORM, "norm", "in f32, in f32, out f32, f32")                                   \
    X(REPLAY_PROJECT, "project", "in f32, in f32, out f32") X(REPLAY_ROTATE, "rotate", "inout f32, i32")                                 \
    X(REPLAY_APPEND, "append", "in f32, in i32, inout f32, inout f32, i32, i32")                                                         \
    X(REPLAY_ATTEND, "attend", "in f32, in i32, in f32, in f32, out f32, i32, i32") X(REPLAY_COMBINE, "combine", "in f32, out f32")      \
    X(REPLAY_ADD, "add", "in f32, inout f32") X(REPLAY_SILU_MUL, "silu_mul", "in f32, inout f32")                                        \
    X(REPLAY_ROUTE, "route", "in f32, in f32, out f32") X(REPLAY_SPREAD, "spread", "in f32, in f32, out f32")                            \
    X(REPLAY_GATHER, "gather", "in f32, inout f32") X(REPLAY_SAMPLE, "sample", "in f32, out i32")
#define REPLAY_KERNEL_ID(id, text, expected) id,
enum { REPLAY_EACH_KERNEL(REPLAY_KERNEL_ID) REPLAY_KERNELS };

/* Kernels that do nothing. */
extern const struct hbg_kernel hbg__replay_kernels[REPLAY_KERNELS];

#endif /* HBG_WORKLOADS_SHAPES_REPLAY_SHAPES_H */
