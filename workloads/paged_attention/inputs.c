/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paged_attention: parameters, tensors and the descriptor.
 *
 * A request has context_len tokens less a random number of 0 to `spread`. The cache has as many blocks as all requests need
 * together, and the table deals them out in a random order.
 */
#include "paged_attention.h"

#include <stdlib.h>
#include <string.h>

int hbg__paged_attention_params(struct hbg_setup *s, struct paged_attention_params *p)
{
    const char *dtype = hbg_setup_text(s, "dtype");
    int64_t context_len;

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
    if (strcmp(dtype, "f32") != 0 && strcmp(dtype, "bf16") != 0)
        return hbg_setup_fail(s, "dtype must be f32 or bf16");
    p->dtype = strcmp(dtype, "f32") == 0 ? HBG_F32 : HBG_BF16;
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

/* the tensors block_table and lengths; the number of blocks that they need */
static int tables(struct hbg_setup *s, const struct paged_attention_params *p, int32_t *table, int32_t *lengths, int64_t *blocks)
{
    int64_t context_len = hbg_setup_i64(s, "context_len"), spread, used = 0;
    int32_t *order;

    if (hbg__workload_param(s, "spread", 0, context_len, &spread))
        return -1;
    *blocks = 0;
    for (int64_t i = 0; i < p->batch; i++) {
        lengths[i] = (int32_t)(context_len - (int64_t)(hbg_setup_random(s) % (uint64_t)(spread + 1)));
        *blocks += workload_cells(lengths[i], p->block_size);
    }
    if (*blocks > INT32_MAX)
        return hbg_setup_fail(s, "the cache has more than 2147483647 blocks");
    order = shuffled(s, *blocks);
    if (!order)
        return hbg_setup_fail(s, "no memory for the order of the blocks");
    for (int64_t i = 0; i < p->batch; i++)
        for (int64_t n = 0; n < p->columns; n++)
            table[i * p->columns + n] = n < workload_cells(lengths[i], p->block_size) ? order[used++] : -1;
    free(order);
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
    if (!table || !lengths || tables(s, &params, table, lengths, &blocks) || numbers(s, &params, blocks)
        || !hbg_setup_tensor(s, "out", HBG_ARG_OUT, HBG_F32, HBG_SHAPE(params.batch, params.heads, params.head_dim)))
        return -1;
    hbg_setup_params(s, &params, sizeof params);
    return 0;
}

static const char *const params[] = {
    "batch=8", "heads=16", "kv_heads=1", "head_dim=128", "block_size=64", "context_len=1024", "spread=15", "dtype=f32", NULL,
};

const struct hbg_workload hbg__paged_attention_workload = {
    WORKLOAD_PARTS(paged_attention, PAGED_KERNEL_COUNT),
    .doc = "attention of one query a request to a cache in blocks, found through a table: four tasks a block, one a request",
    .pure_build = true,
};
