/* SPDX-License-Identifier: Apache-2.0 */
/* replay_shapes.c - see replay_shapes.h. */
#include "workloads/shapes/replay_shapes.h"

static const struct replay_tensor tensors[REPLAY_BUFFERS] = {
    [REPLAY_TABLE - 1] = { "table", HBG_I32, HBG_ARG_IN, { { REPLAY_PAGES }, 1 } },
    [REPLAY_IDS - 1] = { "ids", HBG_I32, HBG_ARG_IN, { { 1 }, 1 } },
    [REPLAY_EMBEDDING - 1] = { "embedding", HBG_F32, HBG_ARG_IN, { { REPLAY_VOCAB, REPLAY_HIDDEN }, 2 } },
    [REPLAY_KEYS - 1] = { "keys", HBG_F32, HBG_ARG_INOUT, { { REPLAY_LAYERS * REPLAY_PAGES, REPLAY_HEADS, REPLAY_PAGE }, 3 } },
    [REPLAY_VALUES - 1] = { "values", HBG_F32, HBG_ARG_INOUT, { { REPLAY_LAYERS * REPLAY_PAGES, REPLAY_HEADS, REPLAY_PAGE }, 3 } },
    [REPLAY_NORM1 - 1] = { "norm1", HBG_F32, HBG_ARG_IN, { { REPLAY_LAYERS, REPLAY_HIDDEN }, 2 } },
    [REPLAY_W_A - 1] = { "w_a", HBG_F32, HBG_ARG_IN, { { REPLAY_LAYERS * REPLAY_ROWS, REPLAY_HIDDEN }, 2 } },
    [REPLAY_W_B - 1] = { "w_b", HBG_F32, HBG_ARG_IN, { { REPLAY_LAYERS * REPLAY_ROWS, REPLAY_HIDDEN }, 2 } },
    [REPLAY_NORM2 - 1] = { "norm2", HBG_F32, HBG_ARG_IN, { { REPLAY_LAYERS, REPLAY_HIDDEN }, 2 } },
    [REPLAY_W_C - 1] = { "w_c", HBG_F32, HBG_ARG_IN, { { REPLAY_LAYERS * REPLAY_ROWS, REPLAY_HIDDEN }, 2 } },
    [REPLAY_W_D - 1] = { "w_d", HBG_F32, HBG_ARG_IN, { { REPLAY_LAYERS * REPLAY_ROWS, REPLAY_HIDDEN }, 2 } },
    [REPLAY_LOGITS - 1] = { "logits", HBG_F32, HBG_ARG_OUT, { { 1, REPLAY_VOCAB }, 2 } },
    [REPLAY_NEXT - 1] = { "next", HBG_I32, HBG_ARG_OUT, { { 1 }, 1 } },
};

const struct replay_tensor *hbg__replay_tensor(uint32_t i) { return &tensors[i]; }

/* ---- a layer ---- */

/* What a layer works on. */
struct layer {
    struct hbg_region x, table, keys, values, norm1, w_a, w_b, norm2, w_c, w_d;
    struct hbg_arg position;
};

static struct hbg_region rows_of(struct hbg_region w, int64_t i) { return hbg_cell(w, HBG_SHAPE(REPLAY_TILE, REPLAY_HIDDEN), HBG_SHAPE(i, 0)); }
static struct hbg_region tile_of(struct hbg_region y, int64_t i) { return hbg_cell(y, HBG_SHAPE(1, REPLAY_TILE), HBG_SHAPE(0, i)); }

/* Tiles of a new intermediate. */
static struct hbg_region project(struct hbg_graph *g, struct hbg_region x, struct hbg_region w, int32_t tiles)
{
    struct hbg_region y = hbg_alloc(g, HBG_F32, HBG_SHAPE(1, tiles * REPLAY_TILE));
    for (int32_t i = 0; i < tiles; i++) hbg_submit(g, REPLAY_PROJECT, hbg_in(x), hbg_in(rows_of(w, i)), hbg_out(tile_of(y, i)));
    return y;
}

static struct hbg_region normed(struct hbg_graph *g, struct hbg_region x, struct hbg_region weight)
{
    struct hbg_region y = hbg_alloc(g, HBG_F32, HBG_SHAPE(1, REPLAY_HIDDEN));
    hbg_submit(g, REPLAY_NORM, hbg_in(x), hbg_in(weight), hbg_out(y), hbg_f32(1e-5f));
    return y;
}

static void attend(struct hbg_graph *g, const struct replay_body *body, const struct layer *l, struct hbg_region qkv, struct hbg_region mixed)
{
    for (int32_t h = 0; h < body->heads; h++) {
        struct hbg_region keys = hbg_slice(l->keys, 1, h, h + 1), values = hbg_slice(l->values, 1, h, h + 1);
        struct hbg_region part = hbg_alloc(g, HBG_F32, HBG_SHAPE(body->splits, REPLAY_PAGE));
        hbg_submit(g, REPLAY_APPEND, hbg_in(qkv), hbg_in(l->table), hbg_inout(keys), hbg_inout(values), l->position, hbg_i32(h));
        for (int32_t s = 0; s < body->splits; s++)
            hbg_submit(g, REPLAY_ATTEND, hbg_in(qkv), hbg_in(l->table), hbg_in(keys), hbg_in(values),
                       hbg_out(hbg_cell(part, HBG_SHAPE(1, REPLAY_PAGE), HBG_SHAPE(s, 0))), l->position, hbg_i32(s));
        hbg_submit(g, REPLAY_COMBINE, hbg_in(part), hbg_out(hbg_cell(mixed, HBG_SHAPE(1, REPLAY_TILE), HBG_SHAPE(0, h))));
    }
}

static void submit_layer(struct hbg_graph *g, const struct replay_body *body, const struct layer *l)
{
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    struct hbg_region qkv = project(g, normed(g, l->x, l->norm1), l->w_a, body->a);
    struct hbg_region mixed = hbg_alloc(g, HBG_F32, HBG_SHAPE(1, body->heads * REPLAY_TILE));
    hbg_submit(g, REPLAY_ROTATE, hbg_inout(qkv), l->position);
    attend(g, body, l, qkv, mixed);
    hbg_submit(g, REPLAY_ADD, hbg_in(project(g, mixed, l->w_b, body->b)), hbg_inout(l->x));
    struct hbg_region wide = project(g, normed(g, l->x, l->norm2), l->w_c, body->c);
    for (int32_t i = 0; i < body->gates; i++) hbg_submit(g, REPLAY_SILU_MUL, hbg_in(tile_of(wide, body->gates + i)), hbg_inout(tile_of(wide, i)));
    hbg_submit(g, REPLAY_ADD, hbg_in(project(g, wide, l->w_d, body->d)), hbg_inout(l->x));
    hbg_scope_end(g);
}

static uint32_t body_nodes(const struct replay_body *body)
{
    return (uint32_t)(5 + body->a + body->heads * (body->splits + 2) + body->b + body->c + body->gates + body->d);
}

enum { BODY_POSITION, BODY_X, BODY_TABLE, BODY_KEYS, BODY_VALUES, BODY_NORM1, BODY_W_A, BODY_W_B, BODY_NORM2, BODY_W_C, BODY_W_D };

static void layer_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct layer l = {
        .x = hbg_args_region(args, BODY_X), .table = hbg_args_region(args, BODY_TABLE), .keys = hbg_args_region(args, BODY_KEYS),
        .values = hbg_args_region(args, BODY_VALUES), .norm1 = hbg_args_region(args, BODY_NORM1), .w_a = hbg_args_region(args, BODY_W_A),
        .w_b = hbg_args_region(args, BODY_W_B), .norm2 = hbg_args_region(args, BODY_NORM2), .w_c = hbg_args_region(args, BODY_W_C),
        .w_d = hbg_args_region(args, BODY_W_D), .position = hbg_args_scalar(args, BODY_POSITION)
    };
    submit_layer(g, params, &l);
}

/* ---- shapes ---- */

static const struct replay_body qwen3_bodies[] = { { 40, 8, 4, 32, 76, 38, 38, 0 } };
static const struct replay_body dsv4_bodies[] = {
    { 3, 1, 2, 2, 2, 1, 2, 0 }, { 4, 2, 2, 3, 4, 1, 2, 0 }, { 16, 4, 3, 12, 24, 8, 12, 0 }, { 20, 4, 4, 16, 32, 12, 16, 0 },
    { 24, 4, 4, 16, 36, 14, 20, 0 }, { 25, 8, 3, 16, 40, 16, 16, 0 }, { 29, 8, 3, 20, 48, 16, 20, 0 },
};
static const struct replay_body thousand_bodies[] = { { 160, 16, 8, 120, 320, 115, 120, 0 } };
static const uint8_t dsv4_order[] = { 2, 0, 1, 0, 3, 0, 1, 0, 4, 0, 1, 0, 5, 0, 1, 0, 6, 0, 1, 0 };

static const struct replay_shape shapes[REPLAY_SHAPE_COUNT] = {
    [REPLAY_QWEN3] = { qwen3_bodies, NULL, REPLAY_LAYERS, 0, 4 },
    [REPLAY_DSV4] = { dsv4_bodies, dsv4_order, sizeof dsv4_order, 2, 6 },
    [REPLAY_BODY_OF_1000] = { thousand_bodies, NULL, 1, 0, 4 },
};

const struct replay_shape *hbg__replay_shape(enum replay_shape_id id) { return &shapes[id]; }

uint32_t hbg__replay_layers(enum replay_shape_id id) { return shapes[id].layers; }

uint32_t hbg__replay_tasks(enum replay_shape_id id)
{
    const struct replay_shape *shape = &shapes[id];
    uint32_t count = 3 + shape->logits;
    for (uint32_t i = 0; i < shape->layers; i++) count += body_nodes(replay_body_of(shape, i)) + (shape->routes ? shape->routes + 3 : 0);
    return count;
}

/* which parts of the state go to which experts, and back to the state */
static void submit_routes(struct hbg_graph *g, uint32_t routes, struct hbg_region x, struct hbg_region w)
{
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    struct hbg_region scores = hbg_alloc(g, HBG_F32, HBG_SHAPE(1, routes * REPLAY_TILE)), chosen = hbg_alloc(g, HBG_F32, HBG_SHAPE(1, REPLAY_TILE));
    struct hbg_region spread = hbg_alloc(g, HBG_F32, HBG_SHAPE(1, REPLAY_HIDDEN));
    for (uint32_t i = 0; i < routes; i++) hbg_submit(g, REPLAY_PROJECT, hbg_in(x), hbg_in(rows_of(w, i)), hbg_out(tile_of(scores, i)));
    hbg_submit(g, REPLAY_ROUTE, hbg_in(scores), hbg_in(x), hbg_out(chosen));
    hbg_submit(g, REPLAY_SPREAD, hbg_in(x), hbg_in(chosen), hbg_out(spread));
    hbg_submit(g, REPLAY_GATHER, hbg_in(spread), hbg_inout(x));
    hbg_scope_end(g);
}

static struct hbg_region cell_of(const struct hbg_args *args, int tensor, int64_t rows, int64_t layer)
{
    struct hbg_region all = hbg_args_region(args, tensor);
    return hbg_cell(all, HBG_SHAPE(rows, REPLAY_HIDDEN), HBG_SHAPE(layer, 0));
}

static struct hbg_region pages_of(const struct hbg_args *args, int tensor, int64_t layer)
{
    return hbg_cell(hbg_args_region(args, tensor), HBG_SHAPE(REPLAY_PAGES, REPLAY_HEADS, REPLAY_PAGE), HBG_SHAPE(layer, 0, 0));
}

static void submit_one(struct hbg_graph *g, const struct hbg_args *args, const struct replay_params *p, const struct replay_body *body, struct hbg_region x, int64_t i)
{
    const struct layer l = {
        .x = x, .table = hbg_args_region(args, REPLAY_TABLE), .keys = pages_of(args, REPLAY_KEYS, i), .values = pages_of(args, REPLAY_VALUES, i),
        .norm1 = cell_of(args, REPLAY_NORM1, 1, i), .w_a = cell_of(args, REPLAY_W_A, REPLAY_ROWS, i), .w_b = cell_of(args, REPLAY_W_B, REPLAY_ROWS, i),
        .norm2 = cell_of(args, REPLAY_NORM2, 1, i), .w_c = cell_of(args, REPLAY_W_C, REPLAY_ROWS, i), .w_d = cell_of(args, REPLAY_W_D, REPLAY_ROWS, i),
        .position = hbg_args_scalar(args, REPLAY_POSITION)
    };
    struct replay_body key = *body;
    if (p->plain) {
        submit_layer(g, body, &l);
        return;
    }
    key.serial = *p->serial;
    hbg_subgraph(g, HBG_KEY("layer", key), layer_body,
                 HBG_ARGS(l.position, hbg_inout(l.x), hbg_in(l.table), hbg_inout(l.keys), hbg_inout(l.values), hbg_in(l.norm1), hbg_in(l.w_a), hbg_in(l.w_b),
                          hbg_in(l.norm2), hbg_in(l.w_c), hbg_in(l.w_d)));
}

void hbg__replay_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct replay_params *p = params;
    const struct replay_shape *shape = &shapes[p->shape];
    struct hbg_region x = hbg_alloc(g, HBG_F32, HBG_SHAPE(1, REPLAY_HIDDEN)), embedding = hbg_args_region(args, REPLAY_EMBEDDING);
    struct hbg_region logits = hbg_args_region(args, REPLAY_LOGITS);
    hbg_submit(g, REPLAY_EMBED, hbg_in(hbg_args_region(args, REPLAY_IDS)), hbg_out(x));
    for (uint32_t i = 0; i < shape->layers; i++) {
        if (shape->routes) submit_routes(g, shape->routes, x, embedding);
        submit_one(g, args, p, replay_body_of(shape, i), x, i);
    }
    struct hbg_region last = normed(g, x, cell_of(args, REPLAY_NORM1, 1, 0));
    for (uint32_t i = 0; i < shape->logits; i++) hbg_submit(g, REPLAY_PROJECT, hbg_in(last), hbg_in(rows_of(embedding, i)), hbg_out(tile_of(logits, i)));
    hbg_submit(g, REPLAY_SAMPLE, hbg_in(logits), hbg_out(hbg_args_region(args, REPLAY_NEXT)));
}
