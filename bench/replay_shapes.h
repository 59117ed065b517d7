/* SPDX-License-Identifier: Apache-2.0 */
/* replay_shapes.h - programs whose layers are bodies of subgraphs: the graphs of `hbg bench replay`.
 *
 * A body is a layer of a decoder by its tasks: norm, a projection in tiles, rotate, then for each head append, attend in splits and
 * combine, a projection, add; norm, a projection, silu_mul, a projection, add. How many tiles, heads and splits make it up is a
 * `struct replay_body`, which is the parameters of its key. Its eleven boundary values are a bound scalar, the state, a table, and
 * eight tensors of the layer, each one cell of what all layers hold together. Its intermediates are its own.
 *
 *     shape=qwen3     40 submissions of one body of 277 nodes, and 7 tasks around them: 47 submissions, 11,087 tasks
 *     shape=dsv4      20 submissions of 7 bodies with 743 nodes together, 5 tasks before each and 9 around all: 129 submissions.
 *                     The smallest body is submitted 10 times, the next one 5 times, the others once: with 1,022 nodes in 20
 *                     submissions the graph stands for 109 + 1,022 = 1,131 tasks
 *
 * The same functions submit layers as bodies and task by task.
 */
#ifndef HBG_BENCH_REPLAY_SHAPES_H
#define HBG_BENCH_REPLAY_SHAPES_H

#include <hbg/hbg.h>

/* What a body is made of; parameters of a key, compared as bytes. */
struct replay_body {
    int32_t a, heads, splits, b, c, gates, d;   /* tiles of the projections; heads and splits; tasks of silu_mul, at most c / 2 */
    uint32_t serial;                            /* another one is another key */
};

enum replay_shape_id { REPLAY_QWEN3, REPLAY_DSV4, REPLAY_BODY_OF_1000, REPLAY_SHAPE_COUNT };

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

/* Boundary of every shape: a scalar, then tensors that are device buffers. */
enum { REPLAY_ARGS = 14, REPLAY_BUFFERS = REPLAY_ARGS - 1 };

/* The element type and extent of buffer i, and how the build uses it. */
struct replay_tensor { enum hbg_dtype dtype; enum hbg_arg_kind access; struct hbg_shape extent; };
const struct replay_tensor *hbg__replay_tensor(uint32_t i);

/* Kernels that do nothing, and kernels that take 1 to 2 us each. */
enum { REPLAY_KERNELS = 13 };
extern const struct hbg_kernel hbg__replay_kernels[REPLAY_KERNELS], hbg__replay_slow_kernels[REPLAY_KERNELS];

#endif /* HBG_BENCH_REPLAY_SHAPES_H */
