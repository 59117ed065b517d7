/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paged_attention: what the tasks do, each for all heads of one block.
 *
 * Rows of the caches are used by several heads, so a row is widened once where it is bf16. Sums run in LANES interleaved
 * partial sums, or along a row: both keep their order whatever the compiler makes of them, and vectorise.
 */
#include "paged_attention.h"

#include <math.h>
#include <string.h>

enum { LANES = 16, TOKENS = 4 };

/* One argument as rows of head_dim numbers. */
struct rows {
    const char *data;
    int64_t dim;
    bool narrow;                        /* bf16 */
};

static struct rows rows_of(const struct hbg_task_view *t, int i)
{
    return (struct rows){ HBG_VIEW(const char, t, i), hbg_view_shape(t, i)[hbg_view_rank(t, i) - 1], hbg_view_dtype(t, i) == HBG_BF16 };
}

static void widen(const uint16_t *from, int64_t n, float *to)
{
    for (int64_t j = 0; j < n; j++) {
        uint32_t bits = (uint32_t)from[j] << 16;
        memcpy(&to[j], &bits, sizeof *to);
    }
}

/* row i as f32: in place, or widened into `space`, which holds a row */
static const float *row(const struct rows *r, int64_t i, float *space)
{
    if (!r->narrow)
        return (const float *)(const void *)r->data + i * r->dim;
    widen((const uint16_t *)(const void *)r->data + i * r->dim, r->dim, space);
    return space;
}

static float dot(const float *a, const float *b, int64_t n)
{
    float sum[LANES] = { 0 };
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            sum[l] += a[i + l] * b[i + l];
    for (int l = 0; i < n; i++, l++)
        sum[l] += a[i] * b[i];
    for (int l = 0; l < 8; l++)
        sum[l] += sum[l + 8];
    for (int l = 0; l < 4; l++)
        sum[l] += sum[l + 4];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* in query, in keys, out scores [heads x tokens] */
static int qk(const struct hbg_task_view *t)
{
    struct rows q = rows_of(t, 0), k = rows_of(t, 1);
    int64_t heads = hbg_view_shape(t, 0)[1], kv_heads = hbg_view_shape(t, 1)[2], group = heads / kv_heads;
    int64_t tokens = hbg_view_shape(t, 2)[1];
    const float *queries = HBG_VIEW(const float, t, 0);
    float *scores = HBG_VIEW(float, t, 2), scale = 1.0f / sqrtf((float)k.dim), space[PAGED_DIM_MOST];

    if (q.narrow) {
        float *wide = hbg_view_scratch(t, NULL);
        widen(HBG_VIEW(const uint16_t, t, 0), heads * q.dim, wide);
        queries = wide;
    }
    for (int64_t i = 0; i < tokens; i++) {
        for (int64_t g = 0; g < kv_heads; g++) {
            const float *key = row(&k, i * kv_heads + g, space);
            for (int64_t h = g * group; h < (g + 1) * group; h++)
                scores[h * tokens + i] = scale * dot(queries + h * k.dim, key, k.dim);
        }
    }
    return 0;
}

/* inout scores [heads x tokens], out {largest, sum} of each head */
static int softmax(const struct hbg_task_view *t)
{
    float *scores = HBG_VIEW(float, t, 0), *state = HBG_VIEW(float, t, 1);
    int64_t heads = hbg_view_shape(t, 0)[0], tokens = hbg_view_shape(t, 0)[1];

    for (int64_t h = 0; h < heads; h++, scores += tokens, state += 2) {
        float largest = scores[0], sum = 0.0f;
        for (int64_t i = 1; i < tokens; i++)
            largest = fmaxf(largest, scores[i]);
        for (int64_t i = 0; i < tokens; i++) {
            scores[i] = expf(scores[i] - largest);
            sum += scores[i];
        }
        state[0] = largest;
        state[1] = sum;
    }
    return 0;
}

/* sum += weight[0] value[0] + .. of TOKENS tokens */
static void add_tokens(const float *weight, const float *const *value, int64_t dim, float *sum)
{
    for (int64_t j = 0; j < dim; j++)
        sum[j] += (weight[0] * value[0][j] + weight[1] * value[1][j]) + (weight[2] * value[2][j] + weight[3] * value[3][j]);
}

static void add_token(float weight, const float *value, int64_t dim, float *sum)
{
    for (int64_t j = 0; j < dim; j++)
        sum[j] += weight * value[j];
}

/* in scores [heads x tokens], in values, out part [heads x head_dim] */
static int pv(const struct hbg_task_view *t)
{
    const float *scores = HBG_VIEW(const float, t, 0);
    struct rows v = rows_of(t, 1);
    int64_t heads = hbg_view_shape(t, 0)[0], tokens = hbg_view_shape(t, 0)[1];
    int64_t kv_heads = hbg_view_shape(t, 1)[2], group = heads / kv_heads;
    float *part = HBG_VIEW(float, t, 2), space[TOKENS][PAGED_DIM_MOST];
    const float *value[TOKENS];

    memset(part, 0, (size_t)(heads * v.dim) * sizeof *part);
    for (int64_t g = 0; g < kv_heads; g++) {
        int64_t i = 0;
        for (; i + TOKENS <= tokens; i += TOKENS) {
            for (int n = 0; n < TOKENS; n++)
                value[n] = row(&v, (i + n) * kv_heads + g, space[n]);
            for (int64_t h = g * group; h < (g + 1) * group; h++)
                add_tokens(scores + h * tokens + i, value, v.dim, part + h * v.dim);
        }
        for (; i < tokens; i++) {
            value[0] = row(&v, i * kv_heads + g, space[0]);
            for (int64_t h = g * group; h < (g + 1) * group; h++)
                add_token(scores[h * tokens + i], value[0], v.dim, part + h * v.dim);
        }
    }
    return 0;
}

/* in {largest, sum} and part of a block, inout both of the request so far, whether there is nothing so far */
static int update(const struct hbg_task_view *t)
{
    const float *state = HBG_VIEW(const float, t, 0), *part = HBG_VIEW(const float, t, 1);
    float *all = HBG_VIEW(float, t, 2), *sum = HBG_VIEW(float, t, 3);
    int64_t heads = hbg_view_shape(t, 3)[0], dim = hbg_view_shape(t, 3)[1];

    if (hbg_view_bool(t, 4)) {
        memcpy(all, state, (size_t)heads * 2 * sizeof *all);
        memcpy(sum, part, (size_t)(heads * dim) * sizeof *sum);
        return 0;
    }
    for (int64_t h = 0; h < heads; h++, state += 2, all += 2, part += dim, sum += dim) {
        float largest = fmaxf(all[0], state[0]), before = expf(all[0] - largest), now = expf(state[0] - largest);
        all[0] = largest;
        all[1] = before * all[1] + now * state[1];
        for (int64_t j = 0; j < dim; j++)
            sum[j] = before * sum[j] + now * part[j];
    }
    return 0;
}

/* in {largest, sum}, in the weighted sum, out the mean */
static int normalise(const struct hbg_task_view *t)
{
    const float *all = HBG_VIEW(const float, t, 0), *sum = HBG_VIEW(const float, t, 1);
    float *out = HBG_VIEW(float, t, 2);
    int64_t heads = hbg_view_shape(t, 1)[0], dim = hbg_view_shape(t, 1)[1];

    for (int64_t h = 0; h < heads; h++)
        for (int64_t j = 0; j < dim; j++)
            out[h * dim + j] = sum[h * dim + j] / all[2 * h + 1];
    return 0;
}

/* out: a request without tokens */
static int nothing(const struct hbg_task_view *t)
{
    memset(HBG_VIEW(float, t, 0), 0, (size_t)hbg_view_count(t, 0) * sizeof(float));
    return 0;
}

const struct hbg_kernel hbg__paged_attention_kernels[PAGED_KERNEL_COUNT] = {
    { .id = PAGED_QK, .name = "qk", .run = qk, .signature = "in any, in any, out f32", .scratch_bytes = PAGED_QUERY_MOST * sizeof(float) },
    HBG_KERNEL(PAGED_SOFTMAX, softmax, "inout f32, out f32"),
    HBG_KERNEL(PAGED_PV, pv, "in f32, in any, out f32"),
    HBG_KERNEL(PAGED_UPDATE, update, "in f32, in f32, inout f32, inout f32, bool"),
    HBG_KERNEL(PAGED_NORMALISE, normalise, "in f32, in f32, out f32"),
    HBG_KERNEL(PAGED_NOTHING, nothing, "out f32"),
};
