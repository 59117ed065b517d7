/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoder: one token of each request of a batch goes through the layers of a transformer decoder, which keep the keys and
 * values of earlier tokens in pages that only a table finds. All requests stand at the same position.
 *
 *     position     i32: tokens that a request has in the cache; a bound scalar, so that one graph serves every position
 *     table        batch x columns: which page holds tokens 0 .. page - 1 of a request, the next ones, ..
 *     x            batch x hidden: the state that enters the first layer
 *     key_pages    layers x pages x kv_heads x page x head_dim, and value_pages alike
 *     norm1, norm2 layers x hidden
 *     wqkv         layers x (heads + 2 kv_heads) head_dim x hidden: queries, keys, values; a row is what one output is made with
 *     wo           layers x hidden x heads head_dim
 *     w13          layers x 2 ffn x hidden: gates, then what they let through
 *     w2           layers x hidden x ffn
 *     out          batch x hidden: the state that leaves the last layer
 *
 * A layer, with `splits` shares of the tokens that attend() looks at, by pages:
 *
 *     norm -> project wqkv -> rotate -> append -> attend, attend, .. -> combine -> project wo -> add
 *          -> norm -> project w13 -> silu_mul -> project w2 -> add
 *
 * Projections and silu_mul are a task a tile of `tile` outputs, append is one a key head, attend one a request, key head and
 * share. The same function submits a layer as the body of a subgraph, which all layers share, and task by task.
 *
 * Another `shape` than custom has tensors, graph and kernels of workloads/shapes instead: tasks alone, which compute nothing.
 */
#ifndef HBG_WORKLOADS_DECODER_H
#define HBG_WORKLOADS_DECODER_H

#include "workloads/shapes/replay_shapes.h"
#include "workloads/workloads.h"

/* the largest page: a kernel holds the scores of one on its stack */
enum { DECODER_PAGE_MOST = 1024 };

/* What a layer is made from: the parameters of its key, compared as bytes. */
struct decoder_shape {
    int32_t batch, hidden, heads, kv_heads, head_dim, ffn, tile, splits;
    float epsilon;
};

struct decoder_params {
    struct decoder_shape shape;
    int32_t layers;
    int32_t subgraph;                   /* 1: a layer is a subgraph; 0: its tasks are submitted one by one */
    bool measuring;                     /* a shape for measuring, which is in `replay`; nothing else is set */
    struct replay_params replay;
};

/* boundary positions of the graph */
enum {
    DECODER_POSITION, DECODER_TABLE, DECODER_X, DECODER_KEY_PAGES, DECODER_VALUE_PAGES, DECODER_NORM1, DECODER_WQKV, DECODER_WO,
    DECODER_NORM2, DECODER_W13, DECODER_W2, DECODER_OUT
};
enum {
    DECODER_COPY, DECODER_NORM, DECODER_PROJECT, DECODER_ROTATE, DECODER_APPEND, DECODER_ATTEND, DECODER_COMBINE, DECODER_ADD,
    DECODER_SILU_MUL, DECODER_KERNEL_COUNT
};
enum { DECODER_NO_PAGE = 2 };           /* a kernel's code: the table names no page of the cache; detail is what it says */

/* elements i and i + head_dim / 2 of a head are turned by position / this ^ (2 i / head_dim) radians */
#define DECODER_ROTATION_BASE 10000.0

extern const struct hbg_kernel hbg__decoder_kernels[DECODER_KERNEL_COUNT];

/* the parameter shape: 0 and whether it is one for measuring, and which; or the latched failure */
int hbg__decoder_measuring(struct hbg_setup *s, bool *measuring, enum replay_shape_id *id);

/* the workload's other parameters, checked: 0, or the failure that hbg_setup_fail() latched */
int hbg__decoder_params(struct hbg_setup *s, struct decoder_params *params, int64_t *page, int64_t *position);
int hbg__decoder_inputs(struct hbg_setup *s);
void hbg__decoder_build(struct hbg_graph *g, const struct hbg_args *args, const void *params);
int hbg__decoder_golden(struct hbg_setup *s);

#endif
