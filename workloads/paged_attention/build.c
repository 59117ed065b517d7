/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paged_attention: the graph. Lengths and table come from guarded reads: other ones are another graph.
 */
#include "paged_attention.h"

/* What the requests share. */
struct plan {
    struct hbg_graph *g;
    const struct paged_attention_params *params;
    struct hbg_region query, keys, values, out;
};

/* What a request gathers: {largest, sum} of each head, and the weighted sum of the values. */
struct gathered {
    struct hbg_region state, sum;
};

/* the first `live` tokens of a block */
static struct hbg_region tokens(const struct plan *p, struct hbg_region cache, int64_t block, int64_t live)
{
    const struct paged_attention_params *d = p->params;
    struct hbg_region cell = hbg_cell(cache, HBG_SHAPE(1, d->block_size, d->kv_heads, d->head_dim), HBG_SHAPE(block, 0, 0, 0));

    return live < d->block_size ? hbg_slice(cell, 1, 0, live) : cell;
}

static void build_block(const struct plan *p, struct hbg_region q, int64_t block, int64_t live, const struct gathered *r, bool first)
{
    const struct paged_attention_params *d = p->params;
    struct hbg_region scores, state, part;

    hbg_scope_begin(p->g, HBG_SCOPE_AUTO);
    scores = hbg_alloc(p->g, HBG_F32, HBG_SHAPE(d->heads, live));
    state = hbg_alloc(p->g, HBG_F32, HBG_SHAPE(d->heads, 2));
    part = hbg_alloc(p->g, HBG_F32, HBG_SHAPE(d->heads, d->head_dim));
    hbg_submit(p->g, PAGED_QK, hbg_in(q), hbg_in(tokens(p, p->keys, block, live)), hbg_out(scores));
    hbg_submit(p->g, PAGED_SOFTMAX, hbg_inout(scores), hbg_out(state));
    hbg_submit(p->g, PAGED_PV, hbg_in(scores), hbg_in(tokens(p, p->values, block, live)), hbg_out(part));
    hbg_submit(p->g, PAGED_UPDATE, hbg_in(state), hbg_in(part), hbg_inout(r->state), hbg_inout(r->sum), hbg_bool(first));
    hbg_scope_end(p->g);
}

/* table: the request's row */
static void build_request(const struct plan *p, int64_t request, int64_t length, const int32_t *table)
{
    const struct paged_attention_params *d = p->params;
    struct hbg_shape row = HBG_SHAPE(1, d->heads, d->head_dim), at = HBG_SHAPE(request, 0, 0);
    struct hbg_region q = hbg_cell(p->query, row, at), out = hbg_cell(p->out, row, at);
    struct gathered gathered;

    if (length == 0) {
        hbg_submit(p->g, PAGED_NOTHING, hbg_out(out));
        return;
    }
    hbg_scope_begin(p->g, HBG_SCOPE_AUTO);
    gathered.state = hbg_alloc(p->g, HBG_F32, HBG_SHAPE(d->heads, 2));
    gathered.sum = hbg_alloc(p->g, HBG_F32, HBG_SHAPE(d->heads, d->head_dim));
    for (int64_t n = 0; n * d->block_size < length; n++) {
        int64_t left = length - n * d->block_size;
        build_block(p, q, table[n], left < d->block_size ? left : d->block_size, &gathered, n == 0);
    }
    hbg_submit(p->g, PAGED_NORMALISE, hbg_in(gathered.state), hbg_in(gathered.sum), hbg_out(out));
    hbg_scope_end(p->g);
}

/* the tables are data of the user: what lies outside the cache ends the build */
static bool request_fits(const struct plan *p, int64_t request, int64_t length, const int32_t *table)
{
    const struct paged_attention_params *d = p->params;

    if (length < 0 || length > d->columns * d->block_size) {
        hbg_graph_fail(p->g, (int)request, "a request's length does not fit the block table");
        return false;
    }
    for (int64_t n = 0; n * d->block_size < length; n++) {
        if (table[n] < 0 || table[n] >= p->keys.shape[0]) {
            hbg_graph_fail(p->g, (int)request, "the block table names a block that the cache does not have");
            return false;
        }
    }
    return true;
}

void hbg__paged_attention_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct paged_attention_params *d = params;
    struct plan p = { g, d, hbg_args_region(args, PAGED_QUERY), hbg_args_region(args, PAGED_KEY_CACHE),
                      hbg_args_region(args, PAGED_VALUE_CACHE), hbg_args_region(args, PAGED_OUT) };
    const int32_t *table = hbg_read(g, hbg_args_region(args, PAGED_BLOCK_TABLE));
    const int32_t *lengths = hbg_read(g, hbg_args_region(args, PAGED_LENGTHS));

    if (!table || !lengths)
        return;                         /* latched: prepare says why */
    for (int64_t i = 0; i < d->batch && request_fits(&p, i, lengths[i], table + i * d->columns); i++)
        build_request(&p, i, lengths[i], table + i * d->columns);
}
