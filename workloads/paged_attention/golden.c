/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paged_attention: the reference. Each request and head alone, over its tokens from first to last, in double precision and
 * without blocks: all scores, their maximum, their exponentials, the weighted mean. bf16 inputs are taken as the numbers
 * that they are.
 *
 * The tolerance, with u = 2^-24, D = head_dim, and Q, K, V the largest of each tensor. A score is a sum of D products in 16
 * partial sums, so that it is off by (D/16 + 6) u D Q K / sqrt(D) at most, and the difference of two of them is rounded by
 * 2 u sqrt(D) Q K more: its exponential by that share of itself, and 2 u. The weight of a block is brought to a new maximum
 * by each block behind it, by 3 u each time and 2 u sqrt(D) Q K all together; the sums over a block and over the blocks add
 * u for each of their terms. A weighted mean whose weights are off by a share e is off by 2 e V.
 */
#include "paged_attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* number i of f32 or bf16 data */
static double number(const void *data, int64_t i, int64_t dtype)
{
    uint32_t bits;
    float value;

    if (dtype == HBG_F32)
        return ((const float *)data)[i];
    bits = ((const uint16_t *)data)[i] * 65536u;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double largest(const void *data, int64_t count, int64_t dtype)
{
    double most = 0.0;

    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(number(data, i, dtype)));
    return most;
}

/* One request and head. */
struct head {
    const struct paged_attention_params *p;
    const int32_t *table;
    int64_t length, kv_head;
    const void *query, *keys, *values;  /* query: the whole tensor, from `at` on */
    int64_t at;
};

/* where a token's row begins in the caches */
static int64_t row_of(const struct head *h, int64_t token)
{
    const struct paged_attention_params *p = h->p;
    int64_t slot = h->table[token / p->block_size] * p->block_size + token % p->block_size;

    return (slot * p->kv_heads + h->kv_head) * p->head_dim;
}

/* weight has room for the tokens, mean for the head */
static void attend(const struct head *h, double *weight, double *mean)
{
    const struct paged_attention_params *p = h->p;
    double most = -INFINITY, sum = 0.0;

    for (int64_t i = 0; i < h->length; i++) {
        int64_t key = row_of(h, i);
        weight[i] = 0.0;
        for (int64_t j = 0; j < p->head_dim; j++)
            weight[i] += number(h->query, h->at + j, p->dtype) * number(h->keys, key + j, p->dtype);
        weight[i] /= sqrt((double)p->head_dim);
        most = fmax(most, weight[i]);
    }
    memset(mean, 0, (size_t)p->head_dim * sizeof *mean);
    for (int64_t i = 0; i < h->length; i++) {
        int64_t value = row_of(h, i);
        weight[i] = exp(weight[i] - most);
        sum += weight[i];
        for (int64_t j = 0; j < p->head_dim; j++)
            mean[j] += weight[i] * number(h->values, value + j, p->dtype);
    }
    for (int64_t j = 0; j < p->head_dim && h->length; j++)
        mean[j] /= sum;
}

int hbg__paged_attention_golden(struct hbg_setup *s)
{
    const void *query = hbg_setup_input(s, "query"), *keys = hbg_setup_input(s, "key_cache"), *values = hbg_setup_input(s, "value_cache");
    const int32_t *table = hbg_setup_input(s, "block_table"), *lengths = hbg_setup_input(s, "lengths");
    float *out = hbg_setup_expected(s, "out");
    struct paged_attention_params p;
    double *scratch, reach, root;

    if (!query || !keys || !values || !table || !lengths || !out || hbg__paged_attention_params(s, &p))
        return -1;
    scratch = malloc((size_t)(p.columns * p.block_size + p.head_dim) * sizeof *scratch);
    if (!scratch)
        return hbg_setup_fail(s, "no memory for the weights of the reference");
    for (int64_t i = 0; i < p.batch * p.heads; i++) {
        int64_t request = i / p.heads;
        struct head h = { &p, table + request * p.columns, lengths[request], i % p.heads * p.kv_heads / p.heads,
                          query, keys, values, i * p.head_dim };
        attend(&h, scratch + p.head_dim, scratch);
        for (int64_t j = 0; j < p.head_dim; j++)
            out[h.at + j] = (float)scratch[j];
    }
    free(scratch);
    root = sqrt((double)p.head_dim);
    reach = root * largest(query, hbg_setup_count(s, "query"), p.dtype) * largest(keys, hbg_setup_count(s, "key_cache"), p.dtype);
    hbg_setup_tolerance(s, "out", 2.0 * 0x1p-24 * largest(values, hbg_setup_count(s, "value_cache"), p.dtype)
                        * (reach * ((double)p.head_dim / 16.0 + 10.0) + (double)p.block_size + 4.0 * (double)p.columns + 6.0));
    return 0;
}
