/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paged_attention: parameters, tensors and the descriptor.
 *
 * A request has context_len tokens less a random number of 0 to `spread`, and never less than none. The cache has as many
 * blocks as all requests need together, and the table deals them out in a random order. Where lengths, table or caches come
 * from files, the others follow them.
 */
#include "paged_attention.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hbg__paged_attention_params(struct hbg_setup *s, struct paged_attention_params *p)
{
    static const char *const dtypes[] = { "f32", "bf16", NULL };
    int64_t context_len;
    int dtype;

    memset(p, 0, sizeof *p);
    if (hbg__workload_param(s, "batch", 0, INT32_MAX, &p->batch) || hbg__workload_param(s, "heads", 1, PAGED_QUERY_MOST, &p->heads)
        || hbg__workload_param(s, "kv_heads", 1, PAGED_QUERY_MOST, &p->kv_heads)
        || hbg__workload_param(s, "head_dim", 1, PAGED_DIM_MOST, &p->head_dim)
        || hbg__workload_param(s, "block_size", 1, INT32_MAX, &p->block_size)
        || hbg__workload_param(s, "context_len", 0, INT32_MAX, &context_len))
        return -1;
    if (p->heads * p->head_dim > PAGED_QUERY_MOST)
        return hbg_setup_fail(s, "heads times head_dim must be at most 65536");
    if (p->heads % p->kv_heads)
        return hbg_setup_fail(s, "heads must be a multiple of kv_heads");
    if (hbg__workload_word(s, "dtype", dtypes, &dtype))
        return -1;
    p->dtype = dtype == 0 ? HBG_F32 : HBG_BF16;
    p->columns = workload_cells(context_len, p->block_size);
    return 0;
}

/* numbers in [-size, size) */
static void fill(struct hbg_setup *s, void *data, int64_t count, int64_t dtype, double size)
{
    for (int64_t i = 0; i < count; i++) {
        float value = (float)(size * workload_uniform(s));
        if (dtype == HBG_F32)
            ((float *)data)[i] = value;
        else
            ((uint16_t *)data)[i] = workload_bf16(value);
    }
}

/* `count` whole numbers from 0 on in a random order; NULL without memory */
static int32_t *shuffled(struct hbg_setup *s, int64_t count)
{
    int32_t *order = malloc((size_t)count * sizeof *order + 1);

    for (int64_t i = 0; order && i < count; i++) {
        int64_t other = (int64_t)(hbg_setup_random(s) % (uint64_t)(i + 1));
        order[i] = order[other];
        order[other] = (int32_t)i;
    }
    return order;
}

/* the tensor lengths, unless it is given; blocks: how many the lengths need */
static int fill_lengths(struct hbg_setup *s, const struct paged_attention_params *p, int32_t *lengths, int64_t *blocks)
{
    int64_t context_len = hbg_setup_i64(s, "context_len"), spread;
    bool given = hbg_setup_given(s, "lengths", NULL);
    char text[160];

    if (hbg__workload_param(s, "spread", 0, INT32_MAX, &spread))
        return -1;
    if (spread > context_len)
        spread = context_len;
    *blocks = 0;
    for (int64_t i = 0; i < p->batch; i++) {
        int64_t drawn = context_len - (int64_t)(hbg_setup_random(s) % (uint64_t)(spread + 1));
        if (!given)
            lengths[i] = (int32_t)drawn;
        if (lengths[i] < 0 || lengths[i] > context_len) {
            snprintf(text, sizeof text, "request %lld has %d tokens; context_len allows 0 to %lld", (long long)i, (int)lengths[i],
                     (long long)context_len);
            return hbg_setup_fail(s, text);
        }
        *blocks += workload_cells(lengths[i], p->block_size);
    }
    return *blocks > INT32_MAX ? hbg_setup_fail(s, "the requests need more than 2147483647 blocks") : 0;
}

/* the tensor block_table, unless it is given */
static int fill_table(struct hbg_setup *s, const struct paged_attention_params *p, const int32_t *lengths, int64_t blocks, int32_t *table)
{
    bool given = hbg_setup_given(s, "block_table", NULL);
    int32_t *order = shuffled(s, blocks);
    int64_t used = 0;

    if (!order)
        return hbg_setup_fail(s, "no memory for the order of the blocks");
    for (int64_t i = 0; i < p->batch && !given; i++)
        for (int64_t n = 0; n < p->columns; n++)
            table[i * p->columns + n] = n < workload_cells(lengths[i], p->block_size) ? order[used++] : -1;
    free(order);
    return 0;
}

/* how many blocks the cache has: those of a file, else as many as the table names; every one in use must be there */
static int size_cache(struct hbg_setup *s, const struct paged_attention_params *p, const int32_t *lengths, const int32_t *table,
                      int64_t *blocks)
{
    struct hbg_shape shape;
    char text[160];
    bool given = (hbg_setup_given(s, "key_cache", &shape) || hbg_setup_given(s, "value_cache", &shape)) && shape.rank == 4;

    if (given)
        *blocks = shape.dim[0];
    for (int64_t i = 0; i < p->batch; i++) {
        for (int64_t n = 0; n < workload_cells(lengths[i], p->block_size); n++) {
            int32_t block = table[i * p->columns + n];
            if (block >= 0 && !given && block >= *blocks)
                *blocks = (int64_t)block + 1;
            if (block >= 0 && block < *blocks)
                continue;
            snprintf(text, sizeof text, "block_table gives request %lld block %d; the cache has %lld", (long long)i, (int)block,
                     (long long)*blocks);
            return hbg_setup_fail(s, text);
        }
    }
    return 0;
}

/* query and caches; they hold bf16 or f32 */
static int numbers(struct hbg_setup *s, const struct paged_attention_params *p, int64_t blocks)
{
    enum hbg_dtype dtype = (enum hbg_dtype)p->dtype;
    struct hbg_shape cache = HBG_SHAPE(blocks, p->block_size, p->kv_heads, p->head_dim);
    void *query = hbg_setup_tensor(s, "query", HBG_ARG_IN, dtype, HBG_SHAPE(p->batch, p->heads, p->head_dim));
    void *keys = hbg_setup_tensor(s, "key_cache", HBG_ARG_IN, dtype, cache);
    void *values = hbg_setup_tensor(s, "value_cache", HBG_ARG_IN, dtype, cache);

    if (!query || !keys || !values)
        return -1;
    fill(s, query, hbg_setup_count(s, "query"), dtype, 4.0);      /* with 1 all tokens would weigh nearly the same */
    fill(s, keys, hbg_setup_count(s, "key_cache"), dtype, 1.0);
    fill(s, values, hbg_setup_count(s, "value_cache"), dtype, 1.0);
    return 0;
}

int hbg__paged_attention_inputs(struct hbg_setup *s)
{
    struct paged_attention_params params;
    int32_t *table, *lengths;
    int64_t blocks;

    if (hbg__paged_attention_params(s, &params))
        return -1;
    lengths = hbg_setup_tensor(s, "lengths", HBG_ARG_IN, HBG_I32, HBG_SHAPE(params.batch));
    table = hbg_setup_tensor(s, "block_table", HBG_ARG_IN, HBG_I32, HBG_SHAPE(params.batch, params.columns));
    if (!table || !lengths || fill_lengths(s, &params, lengths, &blocks)
        || fill_table(s, &params, lengths, blocks, table) || size_cache(s, &params, lengths, table, &blocks) || numbers(s, &params, blocks)
        || !hbg_setup_tensor(s, "out", HBG_ARG_OUT, HBG_F32, HBG_SHAPE(params.batch, params.heads, params.head_dim)))
        return -1;
    hbg_setup_params(s, &params, sizeof params);
    return 0;
}

static const char *const params[] = {
    "batch=8  requests",
    "heads=16  of a query; a multiple of kv_heads",
    "kv_heads=1  of keys and values",
    "head_dim=128  elements of a head",
    "block_size=64  tokens of a block of the cache",
    "context_len=1024  tokens of the longest request",
    "spread=15  a request is shorter by 0 to so many tokens",
    "dtype=f32  of query and cache, f32 or bf16",
    NULL,
};

const struct hbg_workload hbg__paged_attention_workload = {
    WORKLOAD_PARTS(paged_attention, PAGED_KERNEL_COUNT),
    .doc = "attention of one query a request to a cache in blocks, found through a table: four tasks a block, one a request",
    .pure_build = true,
};
