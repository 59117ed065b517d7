/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoder: the graph. It depends on the parameters and on shapes alone; where the tokens are is looked up by the kernels.
 */
#include "decoder.h"

/* What a layer works on: views of the boundary, of the run's or of the body's own. */
struct layer {
    struct hbg_region x, table, keys, values, norm1, wqkv, wo, norm2, w13, w2;
    struct hbg_arg position;
};

/* boundary positions of the body */
enum { BODY_POSITION, BODY_X, BODY_TABLE, BODY_KEYS, BODY_VALUES, BODY_NORM1, BODY_WQKV, BODY_WO, BODY_NORM2, BODY_W13, BODY_W2 };

/* columns [lo, hi) */
static struct hbg_region columns(struct hbg_region x, int64_t lo, int64_t hi)
{
    return hbg_slice(x, 1, lo, hi);
}

/* tile j of the columns */
static struct hbg_region tile_of(struct hbg_region x, int64_t tile, int64_t j)
{
    return hbg_cell(x, HBG_SHAPE(x.shape[0], tile), HBG_SHAPE(0, j));
}

/* y = x w' */
static void project(struct hbg_graph *g, struct hbg_region x, struct hbg_region w, struct hbg_region y, int64_t tile)
{
    for (int64_t j = 0; j < workload_cells(y.shape[1], tile); j++)
        hbg_submit(g, DECODER_PROJECT, hbg_in(x), hbg_in(hbg_cell(w, HBG_SHAPE(tile, w.shape[1]), HBG_SHAPE(j, 0))), hbg_out(tile_of(y, tile, j)));
}

/* The new token's keys and values enter the cache; each query head gathers what its key head has. qkv is projected and rotated. */
static void attend_head(struct hbg_graph *g, const struct decoder_shape *p, const struct layer *l, struct hbg_region qkv, struct hbg_region mixed,
                        int64_t head)
{
    int64_t dim = p->head_dim, group = p->heads / p->kv_heads, key_at = p->heads * dim, value_at = key_at + p->kv_heads * dim;
    struct hbg_region keys = hbg_slice(l->keys, 1, head, head + 1), values = hbg_slice(l->values, 1, head, head + 1);
    struct hbg_region part = hbg_alloc(g, HBG_F32, HBG_SHAPE(p->batch, p->splits, group, dim + 2));

    hbg_submit(g, DECODER_APPEND, hbg_in(columns(qkv, key_at + head * dim, key_at + (head + 1) * dim)),
               hbg_in(columns(qkv, value_at + head * dim, value_at + (head + 1) * dim)), hbg_in(l->table), hbg_inout(keys), hbg_inout(values), l->position);
    for (int64_t request = 0; request < p->batch; request++) {
        struct hbg_region row = hbg_slice(l->table, 0, request, request + 1);
        struct hbg_region query = columns(hbg_slice(qkv, 0, request, request + 1), head * group * dim, (head + 1) * group * dim);
        struct hbg_region out = columns(hbg_slice(mixed, 0, request, request + 1), head * group * dim, (head + 1) * group * dim);

        for (int32_t split = 0; split < p->splits; split++)
            hbg_submit(g, DECODER_ATTEND, hbg_in(query), hbg_in(row), hbg_in(keys), hbg_in(values),
                       hbg_out(hbg_cell(part, HBG_SHAPE(1, 1, group, dim + 2), HBG_SHAPE(request, split, 0, 0))), l->position,
                       hbg_i32(split), hbg_i32(p->splits));
        hbg_submit(g, DECODER_COMBINE, hbg_in(hbg_slice(part, 0, request, request + 1)), hbg_out(out));
    }
}

static void attention(struct hbg_graph *g, const struct decoder_shape *p, const struct layer *l)
{
    int64_t dim = p->head_dim, query_dim = p->heads * dim, key_dim = p->kv_heads * dim;
    struct hbg_region normed = hbg_alloc(g, HBG_F32, HBG_SHAPE(p->batch, p->hidden));
    struct hbg_region qkv = hbg_alloc(g, HBG_F32, HBG_SHAPE(p->batch, query_dim + 2 * key_dim));
    struct hbg_region mixed = hbg_alloc(g, HBG_F32, HBG_SHAPE(p->batch, query_dim));
    struct hbg_region delta = hbg_alloc(g, HBG_F32, HBG_SHAPE(p->batch, p->hidden));

    hbg_submit(g, DECODER_NORM, hbg_in(l->x), hbg_in(l->norm1), hbg_out(normed), hbg_f32(p->epsilon));
    project(g, normed, l->wqkv, qkv, p->tile);
    hbg_submit(g, DECODER_ROTATE, hbg_inout(columns(qkv, 0, query_dim + key_dim)), l->position, hbg_i32(p->head_dim));
    for (int64_t head = 0; head < p->kv_heads; head++)
        attend_head(g, p, l, qkv, mixed, head);
    project(g, mixed, l->wo, delta, p->tile);
    hbg_submit(g, DECODER_ADD, hbg_in(delta), hbg_inout(l->x));
}

static void perceptron(struct hbg_graph *g, const struct decoder_shape *p, const struct layer *l)
{
    struct hbg_region normed = hbg_alloc(g, HBG_F32, HBG_SHAPE(p->batch, p->hidden));
    struct hbg_region wide = hbg_alloc(g, HBG_F32, HBG_SHAPE(p->batch, 2 * (int64_t)p->ffn));
    struct hbg_region gates = columns(wide, 0, p->ffn), through = columns(wide, p->ffn, 2 * (int64_t)p->ffn);
    struct hbg_region delta = hbg_alloc(g, HBG_F32, HBG_SHAPE(p->batch, p->hidden));

    hbg_submit(g, DECODER_NORM, hbg_in(l->x), hbg_in(l->norm2), hbg_out(normed), hbg_f32(p->epsilon));
    project(g, normed, l->w13, wide, p->tile);
    for (int64_t j = 0; j < workload_cells(p->ffn, p->tile); j++)
        hbg_submit(g, DECODER_SILU_MUL, hbg_in(tile_of(through, p->tile, j)), hbg_inout(tile_of(gates, p->tile, j)));
    project(g, gates, l->w2, delta, p->tile);
    hbg_submit(g, DECODER_ADD, hbg_in(delta), hbg_inout(l->x));
}

static void submit_layer(struct hbg_graph *g, const struct decoder_shape *p, const struct layer *l)
{
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    attention(g, p, l);
    perceptron(g, p, l);
    hbg_scope_end(g);
}

static void layer_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct layer l = {
        .x = hbg_args_region(args, BODY_X), .table = hbg_args_region(args, BODY_TABLE), .keys = hbg_args_region(args, BODY_KEYS),
        .values = hbg_args_region(args, BODY_VALUES), .norm1 = hbg_args_region(args, BODY_NORM1), .wqkv = hbg_args_region(args, BODY_WQKV),
        .wo = hbg_args_region(args, BODY_WO), .norm2 = hbg_args_region(args, BODY_NORM2), .w13 = hbg_args_region(args, BODY_W13),
        .w2 = hbg_args_region(args, BODY_W2), .position = hbg_args_scalar(args, BODY_POSITION),
    };

    submit_layer(g, params, &l);
}

void hbg__decoder_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct decoder_params *p = params;
    struct hbg_region x;

    if (p->measuring) {
        hbg__replay_build(g, args, &p->replay);
        return;
    }
    x = hbg_args_region(args, DECODER_OUT);
#define OF(tensor) hbg_index(hbg_args_region(args, tensor), 0, i)
    hbg_submit(g, DECODER_COPY, hbg_in(hbg_args_region(args, DECODER_X)), hbg_out(x));
    for (int32_t i = 0; i < p->layers; i++) {
        struct layer l = {
            .x = x, .table = hbg_args_region(args, DECODER_TABLE), .keys = OF(DECODER_KEY_PAGES), .values = OF(DECODER_VALUE_PAGES),
            .norm1 = OF(DECODER_NORM1), .wqkv = OF(DECODER_WQKV), .wo = OF(DECODER_WO), .norm2 = OF(DECODER_NORM2), .w13 = OF(DECODER_W13),
            .w2 = OF(DECODER_W2), .position = hbg_args_scalar(args, DECODER_POSITION),
        };

        if (p->subgraph)
            hbg_subgraph(g, HBG_KEY("decoder layer", p->shape), layer_body,
                         HBG_ARGS(l.position, hbg_inout(l.x), hbg_in(l.table), hbg_inout(l.keys), hbg_inout(l.values), hbg_in(l.norm1),
                                  hbg_in(l.wqkv), hbg_in(l.wo), hbg_in(l.norm2), hbg_in(l.w13), hbg_in(l.w2)));
        else
            submit_layer(g, &p->shape, &l);
    }
#undef OF
}
