/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoder: parameters, tensors and the descriptor.
 *
 * The weights of n products each have the variance 1 / n, so that a state of normed numbers stays of their size; keys are larger,
 * for with numbers of one size all tokens would weigh nearly the same. The cache has as many pages as all requests need together,
 * and the table deals them out in a random order; where table or cache come from files, they stand as they are.
 */
#include "decoder.h"

#include "workloads/shapes/replay_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const params[] = {
    "shape=custom  as the others say; qwen3 or dsv4: the tasks of a model, for measuring, whose kernels are empty unless --verify is given",
    "layers=4  of the decoder",
    "hidden=256  elements of a token's state",
    "heads=8  of queries; a multiple of kv_heads",
    "kv_heads=2  of keys and values",
    "head_dim=32  elements of a head; even",
    "ffn=512  elements between the two projections of a layer's second half",
    "context=500  tokens of each request in the cache, and so the position of the new one",
    "batch=2  requests",
    "tile=64  outputs of a projection that one task makes",
    "page=16  tokens of a page of the cache",
    "splits=4  tasks that share the tokens of a request and key head",
    "subgraph=1  submit each layer as a subgraph, 0: its tasks one by one",
    NULL,
};

enum { SIDE_MOST = 1 << 20, HEADS_MOST = 1 << 12, DIM_MOST = 1 << 12 };

static int narrow_param(struct hbg_setup *s, const char *name, int64_t least, int64_t most, int32_t *value)
{
    int64_t wide;

    if (hbg__workload_param(s, name, least, most, &wide))
        return -1;
    *value = (int32_t)wide;
    return 0;
}

int hbg__decoder_params(struct hbg_setup *s, struct decoder_params *p, int64_t *page, int64_t *position)
{
    struct decoder_shape *shape = &p->shape;

    memset(p, 0, sizeof *p);
    if (narrow_param(s, "layers", 1, 4096, &p->layers) || narrow_param(s, "hidden", 1, SIDE_MOST, &shape->hidden)
        || narrow_param(s, "heads", 1, HEADS_MOST, &shape->heads) || narrow_param(s, "kv_heads", 1, HEADS_MOST, &shape->kv_heads)
        || narrow_param(s, "head_dim", 2, DIM_MOST, &shape->head_dim) || narrow_param(s, "ffn", 1, SIDE_MOST, &shape->ffn)
        || hbg__workload_param(s, "context", 0, 1 << 24, position) || narrow_param(s, "batch", 1, 1 << 16, &shape->batch)
        || narrow_param(s, "tile", 1, WORKLOAD_TILE_MOST, &shape->tile) || hbg__workload_param(s, "page", 1, DECODER_PAGE_MOST, page)
        || narrow_param(s, "splits", 1, 1 << 16, &shape->splits) || narrow_param(s, "subgraph", 0, 1, &p->subgraph))
        return -1;
    if (shape->heads % shape->kv_heads)
        return hbg_setup_fail(s, "heads must be a multiple of kv_heads");
    if (shape->head_dim % 2)
        return hbg_setup_fail(s, "head_dim must be even: its elements are turned in pairs");
    shape->epsilon = 1e-5f;
    return 0;
}

/* numbers of the variance size^2, of one distribution */
static float *fill(struct hbg_setup *s, const char *name, enum hbg_arg_kind access, struct hbg_shape shape, double size)
{
    float *data = hbg_setup_tensor(s, name, access, HBG_F32, shape);

    for (int64_t i = 0; data && i < hbg_setup_count(s, name); i++)
        data[i] = (float)(size * sqrt(3.0) * workload_uniform(s));
    return data;
}

/* numbers near 1 */
static float *fill_norm(struct hbg_setup *s, const char *name, const struct decoder_params *p)
{
    float *data = hbg_setup_tensor(s, name, HBG_ARG_IN, HBG_F32, HBG_SHAPE(p->layers, p->shape.hidden));

    for (int64_t i = 0; data && i < hbg_setup_count(s, name); i++)
        data[i] = 1.0f + 0.25f * (float)workload_uniform(s);
    return data;
}

/* the tensor table, unless it is given: whole numbers from 0 on in a random order, which is drawn either way */
static int32_t *fill_table(struct hbg_setup *s, int64_t batch, int64_t columns)
{
    int32_t *table = hbg_setup_tensor(s, "table", HBG_ARG_IN, HBG_I32, HBG_SHAPE(batch, columns));
    bool given = hbg_setup_given(s, "table", NULL);

    for (int64_t i = 0; table && i < batch * columns; i++) {
        int64_t other = (int64_t)(hbg_setup_random(s) % (uint64_t)(i + 1));
        if (given)
            continue;
        table[i] = table[other];
        table[other] = (int32_t)i;
    }
    return table;
}

/* how many pages the cache has: those of a file, else as many as the table names; all of these must be there */
static int size_cache(struct hbg_setup *s, int64_t batch, int64_t columns, const int32_t *table, int64_t *pages)
{
    struct hbg_shape shape;
    char text[160];
    bool given = (hbg_setup_given(s, "key_pages", &shape) || hbg_setup_given(s, "value_pages", &shape)) && shape.rank == 5;

    *pages = given ? shape.dim[1] : 0;
    for (int64_t i = 0; i < batch * columns; i++) {
        if (table[i] >= *pages && !given)
            *pages = (int64_t)table[i] + 1;
        if (table[i] >= 0 && table[i] < *pages)
            continue;
        snprintf(text, sizeof text, "table gives request %lld page %d; the cache has %lld", (long long)(i / columns), (int)table[i], (long long)*pages);
        return hbg_setup_fail(s, text);
    }
    return 0;
}

static int fill_layers(struct hbg_setup *s, const struct decoder_params *p, int64_t page, int64_t pages)
{
    const struct decoder_shape *n = &p->shape;
    int64_t layers = p->layers, query_dim = n->heads * n->head_dim, key_dim = n->kv_heads * n->head_dim, hidden = n->hidden, ffn = n->ffn;
    struct hbg_shape cache = HBG_SHAPE(layers, pages, n->kv_heads, page, n->head_dim);

    return fill(s, "key_pages", HBG_ARG_INOUT, cache, 2.0) && fill(s, "value_pages", HBG_ARG_INOUT, cache, 1.0) && fill_norm(s, "norm1", p)
        && fill(s, "wqkv", HBG_ARG_IN, HBG_SHAPE(layers, query_dim + 2 * key_dim, hidden), 1.0 / sqrt((double)hidden))
        && fill(s, "wo", HBG_ARG_IN, HBG_SHAPE(layers, hidden, query_dim), 1.0 / sqrt((double)query_dim)) && fill_norm(s, "norm2", p)
        && fill(s, "w13", HBG_ARG_IN, HBG_SHAPE(layers, 2 * ffn, hidden), 1.0 / sqrt((double)hidden))
        && fill(s, "w2", HBG_ARG_IN, HBG_SHAPE(layers, hidden, ffn), 1.0 / sqrt((double)ffn)) ? 0 : -1;
}

int hbg__decoder_measuring(struct hbg_setup *s, bool *measuring, enum replay_shape_id *id)
{
    static const char *const shapes[] = { "custom", "qwen3", "dsv4", NULL };
    static const enum replay_shape_id ids[] = { REPLAY_SHAPE_COUNT, REPLAY_QWEN3, REPLAY_DSV4 };
    int place;

    if (hbg__workload_word(s, "shape", shapes, &place))
        return -1;
    *measuring = place > 0;
    *id = ids[place];
    return 0;
}

/* a shape for measuring is what it is: all that would change a custom one is refused */
static int refuse_others(struct hbg_setup *s)
{
    char name[32], text[160];

    for (int i = 0; params[i]; i++) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(params[i], "="), params[i]);
        if (strcmp(name, "shape") == 0 || strcmp(name, "subgraph") == 0 || !hbg_setup_given(s, name, NULL))
            continue;
        snprintf(text, sizeof text, "%s means nothing with shape=%s, whose tasks are given", name, hbg_setup_text(s, "shape"));
        return hbg_setup_fail(s, text);
    }
    return 0;
}

static int measuring_inputs(struct hbg_setup *s, enum replay_shape_id id)
{
    struct decoder_params p;
    int32_t subgraph;

    memset(&p, 0, sizeof p);
    p.measuring = true;
    if (refuse_others(s) || narrow_param(s, "subgraph", 0, 1, &subgraph) || hbg__replay_inputs(s, id, !subgraph, &p.replay))
        return -1;
    hbg_setup_params(s, &p, sizeof p);
    return 0;
}

static int custom_inputs(struct hbg_setup *s)
{
    struct decoder_params p;
    const int32_t *table;
    int64_t page, position, columns, pages;

    if (hbg__decoder_params(s, &p, &page, &position))
        return -1;
    columns = workload_cells(position + 1, page);
    hbg_setup_scalar(s, "position", hbg_i32((int32_t)position));
    table = fill_table(s, p.shape.batch, columns);
    if (!table || size_cache(s, p.shape.batch, columns, table, &pages)
        || !fill(s, "x", HBG_ARG_IN, HBG_SHAPE(p.shape.batch, p.shape.hidden), 1.0) || fill_layers(s, &p, page, pages)
        || !hbg_setup_tensor(s, "out", HBG_ARG_OUT, HBG_F32, HBG_SHAPE(p.shape.batch, p.shape.hidden)))
        return -1;
    hbg_setup_params(s, &p, sizeof p);
    return 0;
}

int hbg__decoder_inputs(struct hbg_setup *s)
{
    enum replay_shape_id id;
    bool measuring;

    if (hbg__decoder_measuring(s, &measuring, &id))
        return -1;
    return measuring ? measuring_inputs(s, id) : custom_inputs(s);
}

const struct hbg_workload hbg__decoder_workload = {
    WORKLOAD_PARTS(decoder, DECODER_KERNEL_COUNT),
    .doc = "one token through the layers of a transformer decoder with its keys and values in pages; each layer is a subgraph",
    .pure_build = true,
};
