/* SPDX-License-Identifier: Apache-2.0 */
/* p03_main.c - decodes tokens with p03_decoder.c: a small model of random weights in device buffers, its kernels, and a plain reference.
 *
 * Everything but the parts of attention is bf16, and the reference rounds where the tasks do. It is given the tokens that the run chose,
 * and judges each choice by its own logits: a token whose logit is the largest but for three hundredths is right.
 */
#include <hbg/hbg.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 30, PAGE = 64, PAGES = 3, HIDDEN = 16, HEADS = 4, KV_HEADS = 2, DIM = 4, GROUP = HEADS / KV_HEADS, FFN = 24, TILE = 10, SPLITS = 2 };
enum { VOCAB = 40, QUERY = HEADS * DIM, KEY = KV_HEADS * DIM, QKV = QUERY + 2 * KEY, TOKENS = 150, FIRST = 100 };
struct shape { int32_t hidden, heads, kv_heads, head_dim, ffn, tile, splits; float eps; };
struct model { struct hbg_buffer *embed, *logits, *table, *layer[LAYERS][8]; struct hbg_region region[LAYERS][8]; struct shape shape; int64_t vocab, pages; };
enum hbg_status decode(struct hbg_device *device, struct model *m, int32_t *ids, int count, int32_t start, struct hbg_result *result);

/* what lies in the buffers of a layer, behind those of its pages */
struct weights { uint16_t norm1[HIDDEN], wqkv[QKV][HIDDEN], wo[HIDDEN][QUERY], norm2[HIDDEN], w13[2 * FFN][HIDDEN], w2[HIDDEN][FFN]; };
static struct weights weights[LAYERS];
static uint16_t embedding[VOCAB][HIDDEN], logit_weights[VOCAB][HIDDEN], no_keys[PAGES][KV_HEADS][PAGE][DIM];
static const int32_t table[PAGES] = { 2, 0, 1 };

static double widen(uint16_t x)
{
    union { uint32_t bits; float value; } u;
    u.bits = (uint32_t)x << 16;
    return u.value;
}

/* the nearest bf16, the even one of two */
static uint16_t narrow(double x)
{
    union { uint32_t bits; float value; } u;
    u.value = (float)x;
    return (uint16_t)((u.bits + 0x7fffu + (u.bits >> 16 & 1)) >> 16);
}

/* ---- kernels ---- */

int norm(const struct hbg_task_view *t);
int matmul(const struct hbg_task_view *t);
int rope(const struct hbg_task_view *t);
int append(const struct hbg_task_view *t);
int attend(const struct hbg_task_view *t);
int combine(const struct hbg_task_view *t);
int add(const struct hbg_task_view *t);
int silu_mul(const struct hbg_task_view *t);
int embed(const struct hbg_task_view *t);
int sample(const struct hbg_task_view *t);

int norm(const struct hbg_task_view *t)
{
    const uint16_t *x = HBG_VIEW(const uint16_t, t, 0), *weight = HBG_VIEW(const uint16_t, t, 1);
    uint16_t *y = HBG_VIEW(uint16_t, t, 2);
    int64_t n = hbg_view_count(t, 0);
    double squares = 0;
    for (int64_t i = 0; i < n; i++) squares += widen(x[i]) * widen(x[i]);
    for (int64_t i = 0; i < n; i++) y[i] = narrow(widen(x[i]) * widen(weight[i]) / sqrt(squares / (double)n + hbg_view_f32(t, 3)));
    return 0;
}

int matmul(const struct hbg_task_view *t)
{
    const uint16_t *x = HBG_VIEW(const uint16_t, t, 0), *w = HBG_VIEW(const uint16_t, t, 1);
    uint16_t *y = HBG_VIEW(uint16_t, t, 2);
    for (int64_t j = 0; j < hbg_view_count(t, 2); j++) {
        double sum = 0;
        for (int64_t i = 0; i < hbg_view_count(t, 0); i++) sum += widen(x[i]) * widen(w[j * hbg_view_ld(t, 1) + i]);
        y[j] = narrow(sum);
    }
    return 0;
}

int rope(const struct hbg_task_view *t)
{
    uint16_t *x = HBG_VIEW(uint16_t, t, 0);
    for (int64_t head = 0; head < hbg_view_count(t, 0) / DIM; head++) {
        for (int i = 0; i < DIM / 2; i++) {
            double angle = hbg_view_i32(t, 1) * pow(100, -2.0 * i / DIM), low = widen(x[head * DIM + i]), high = widen(x[head * DIM + i + DIM / 2]);
            x[head * DIM + i] = narrow(low * cos(angle) - high * sin(angle));
            x[head * DIM + i + DIM / 2] = narrow(low * sin(angle) + high * cos(angle));
        }
    }
    return 0;
}

/* A token of one key head, in the page that the table names: pages x 1 x PAGE x DIM. NULL: the table does not reach so far. */
static uint16_t *token_of(const struct hbg_task_view *t, int table_argument, int pages, int64_t position)
{
    if (position < 0 || position / PAGE >= hbg_view_count(t, table_argument)) return NULL;
    int64_t page = HBG_VIEW(const int32_t, t, table_argument)[position / PAGE];
    return HBG_VIEW(uint16_t, t, pages) + page * hbg_view_ld(t, pages) + position % PAGE * DIM;
}

int append(const struct hbg_task_view *t)
{
    const uint16_t *kv = HBG_VIEW(const uint16_t, t, 0);
    uint16_t *k = token_of(t, 1, 2, hbg_view_i32(t, 4)), *v = token_of(t, 1, 3, hbg_view_i32(t, 4));
    if (!k || !v) return hbg_fail(t, 1, hbg_view_i32(t, 4));
    for (int i = 0; i < DIM; i++) {
        k[i] = kv[hbg_view_i32(t, 5) * DIM + i];
        v[i] = kv[KEY + hbg_view_i32(t, 5) * DIM + i];
    }
    return 0;
}

/* The split's share of the pages. Of each head of the group: the weighted sum, the sum of the weights, the largest score. */
int attend(const struct hbg_task_view *t)
{
    int64_t n = hbg_view_i32(t, 6), pages = hbg_view_i32(t, 5) / PAGE + 1, share = (pages + SPLITS - 1) / SPLITS, first = hbg_view_i32(t, 7) * share * PAGE;
    for (int h = 0; h < GROUP; h++) {
        const uint16_t *q = HBG_VIEW(const uint16_t, t, 0) + (n * GROUP + h) * DIM;
        double sum[DIM] = { 0 }, total = 0, largest = -INFINITY;
        for (int64_t i = first; i < first + share * PAGE && i <= hbg_view_i32(t, 5); i++) {
            const uint16_t *k = token_of(t, 1, 2, i), *v = token_of(t, 1, 3, i);
            double score = 0;
            for (int d = 0; d < DIM; d++) score += widen(q[d]) * widen(k[d]) / sqrt((double)DIM);
            double next = fmax(largest, score), old = exp(largest - next), now = exp(score - next);
            for (int d = 0; d < DIM; d++) sum[d] = sum[d] * old + widen(v[d]) * now;
            total = total * old + now;
            largest = next;
        }
        float *part = HBG_VIEW(float, t, 4) + h * (DIM + 2);
        for (int d = 0; d < DIM; d++) part[d] = (float)sum[d];
        part[DIM] = (float)total;
        part[DIM + 1] = (float)largest;
    }
    return 0;
}

int combine(const struct hbg_task_view *t)
{
    uint16_t *out = HBG_VIEW(uint16_t, t, 1);
    for (int h = 0; h < GROUP; h++) {
        double sum[DIM] = { 0 }, total = 0, largest = -INFINITY;
        for (int s = 0; s < SPLITS; s++) largest = fmax(largest, HBG_VIEW(const float, t, 0)[(s * GROUP + h) * (DIM + 2) + DIM + 1]);
        for (int s = 0; s < SPLITS; s++) {
            const float *part = HBG_VIEW(const float, t, 0) + (s * GROUP + h) * (DIM + 2);
            double weight = exp(part[DIM + 1] - largest);
            for (int d = 0; d < DIM; d++) sum[d] += weight * part[d];
            total += weight * part[DIM];
        }
        for (int d = 0; d < DIM; d++) out[h * DIM + d] = narrow(sum[d] / total);
    }
    return 0;
}

int add(const struct hbg_task_view *t)
{
    uint16_t *x = HBG_VIEW(uint16_t, t, 1);
    for (int64_t i = 0; i < hbg_view_count(t, 1); i++) x[i] = narrow(widen(x[i]) + widen(HBG_VIEW(const uint16_t, t, 0)[i]));
    return 0;
}

int silu_mul(const struct hbg_task_view *t)
{
    uint16_t *u = HBG_VIEW(uint16_t, t, 0);
    for (int i = 0; i < FFN; i++) u[i] = narrow(widen(u[i]) / (1 + exp(-widen(u[i]))) * widen(u[FFN + i]));
    return 0;
}

int embed(const struct hbg_task_view *t)
{
    int64_t id = HBG_VIEW(const int32_t, t, 0)[0];
    for (int64_t i = 0; i < HIDDEN; i++) HBG_VIEW(uint16_t, t, 2)[i] = HBG_VIEW(const uint16_t, t, 1)[id * HIDDEN + i];
    return 0;
}

int sample(const struct hbg_task_view *t)
{
    const uint16_t *x = HBG_VIEW(const uint16_t, t, 0), *w = HBG_VIEW(const uint16_t, t, 1);
    double best = -INFINITY;
    for (int64_t id = 0; id < hbg_view_shape(t, 1)[0]; id++) {
        double logit = 0;
        for (int i = 0; i < HIDDEN; i++) logit += widen(x[i]) * widen(w[id * HIDDEN + i]);
        if (logit > best) HBG_VIEW(int32_t, t, 2)[0] = (int32_t)id;
        best = fmax(best, logit);
    }
    return 0;
}

/* ---- reference ---- */

static double keys[LAYERS][TOKENS][KEY], values[LAYERS][TOKENS][KEY];

static double rounded(double x) { return widen(narrow(x)); }

static void times(const uint16_t *w, const double *x, int rows, int n, double *y)
{
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += widen(w[r * n + i]) * x[i];
        y[r] = rounded(sum);
    }
}

static void normed(const double *x, const uint16_t *weight, double eps, double *y)
{
    double squares = 0;
    for (int i = 0; i < HIDDEN; i++) squares += x[i] * x[i] / HIDDEN;
    for (int i = 0; i < HIDDEN; i++) y[i] = rounded(x[i] * widen(weight[i]) / sqrt(squares + eps));
}

static void turned(double *x, int heads, int position)
{
    for (int p = 0; p < heads * DIM / 2; p++) {
        double *low = &x[p / (DIM / 2) * DIM + p % (DIM / 2)], *high = low + DIM / 2, angle = position / pow(100, p % (DIM / 2) * 2.0 / DIM), before = *low;
        *low = rounded(before * cos(angle) - *high * sin(angle));
        *high = rounded(before * sin(angle) + *high * cos(angle));
    }
}

/* all tokens up to `position` at once */
static void attention(int layer, int position, const double *q, double *mean)
{
    for (int h = 0; h < HEADS; h++) {
        double total = 0, sum[DIM] = { 0 };
        for (int i = 0; i <= position; i++) {
            const double *k = keys[layer][i] + h / GROUP * DIM, *v = values[layer][i] + h / GROUP * DIM;
            double score = 0;
            for (int d = 0; d < DIM; d++) score += q[h * DIM + d] * k[d] / sqrt((double)DIM);
            total += exp(score);
            for (int d = 0; d < DIM; d++) sum[d] += exp(score) * v[d];
        }
        for (int d = 0; d < DIM; d++) mean[h * DIM + d] = rounded(sum[d] / total);
    }
}

static void one_layer(int layer, int position, double eps, double *x)
{
    const struct weights *w = &weights[layer];
    double h[HIDDEN], qkv[QKV], mean[QUERY], o[HIDDEN], u[2 * FFN];
    normed(x, w->norm1, eps, h);
    times(&w->wqkv[0][0], h, QKV, HIDDEN, qkv);
    turned(qkv, HEADS + KV_HEADS, position);
    for (int i = 0; i < KEY; i++) {
        keys[layer][position][i] = qkv[QUERY + i];
        values[layer][position][i] = qkv[QUERY + KEY + i];
    }
    attention(layer, position, qkv, mean);
    times(&w->wo[0][0], mean, HIDDEN, QUERY, o);
    for (int i = 0; i < HIDDEN; i++) x[i] = rounded(x[i] + o[i]);
    normed(x, w->norm2, eps, h);
    times(&w->w13[0][0], h, 2 * FFN, HIDDEN, u);
    for (int i = 0; i < FFN; i++) u[i] = rounded(u[i] / (1 + exp(-u[i])) * u[FFN + i]);
    times(&w->w2[0][0], u, HIDDEN, FFN, o);
    for (int i = 0; i < HIDDEN; i++) x[i] = rounded(x[i] + o[i]);
}

/* by how much of the largest logit the one that was chosen falls short */
static double shortfall(int id, int position, int chosen, double eps)
{
    double x[HIDDEN], best = -INFINITY, of_chosen = -INFINITY, size = 0;
    for (int i = 0; i < HIDDEN; i++) x[i] = widen(embedding[id][i]);
    for (int layer = 0; layer < LAYERS; layer++) one_layer(layer, position, eps, x);
    for (int n = 0; n < VOCAB; n++) {
        double logit = 0;
        for (int i = 0; i < HIDDEN; i++) logit += x[i] * widen(logit_weights[n][i]);
        best = fmax(best, logit);
        size = fmax(size, fabs(logit));
        if (n == chosen) of_chosen = logit;
    }
    return (best - of_chosen) / size;
}

/* ---- the model ---- */

static void fill(uint16_t *x, int64_t count, double middle, double size)
{
    static uint64_t state = 12345;
    for (int64_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        x[i] = narrow(middle + size * ((double)(state >> 33) / (double)(UINT64_C(1) << 30) - 1));
    }
}

static enum hbg_status buffer(struct hbg_device *device, struct hbg_buffer **b, const void *data, size_t size_bytes)
{
    enum hbg_status s = hbg_buffer_create(device, size_bytes, b);
    return s ? s : hbg_buffer_write(*b, 0, data, size_bytes);
}

static enum hbg_status make_layer(struct hbg_device *device, struct model *m, int n)
{
    struct weights *w = &weights[n];
    struct hbg_shape cache = HBG_SHAPE(PAGES, KV_HEADS, PAGE, DIM), row = HBG_SHAPE(HIDDEN);
    const struct { uint16_t *data; size_t size_bytes; struct hbg_shape shape; double middle, size; } part[8] = {
        { &no_keys[0][0][0][0], sizeof no_keys, cache, 0, 0 }, { &no_keys[0][0][0][0], sizeof no_keys, cache, 0, 0 }, { w->norm1, sizeof w->norm1, row, 1, 0.2 },
        { &w->wqkv[0][0], sizeof w->wqkv, HBG_SHAPE(QKV, HIDDEN), 0, 1 }, { &w->wo[0][0], sizeof w->wo, HBG_SHAPE(HIDDEN, QUERY), 0, 0.3 },
        { w->norm2, sizeof w->norm2, row, 1, 0.2 }, { &w->w13[0][0], sizeof w->w13, HBG_SHAPE(2 * FFN, HIDDEN), 0, 0.4 }, { &w->w2[0][0], sizeof w->w2, HBG_SHAPE(HIDDEN, FFN), 0, 0.3 } };
    enum hbg_status s = HBG_OK;
    for (int i = 0; i < 8 && !s; i++) {
        fill(part[i].data, (int64_t)(part[i].size_bytes / sizeof *part[i].data), part[i].middle, part[i].size);
        s = buffer(device, &m->layer[n][i], part[i].data, part[i].size_bytes);
        m->region[n][i] = hbg_buffer_region(m->layer[n][i], 0, HBG_BF16, part[i].shape);
    }
    return s;
}

static enum hbg_status make_model(struct hbg_device *device, struct model *m)
{
    struct shape shape = { HIDDEN, HEADS, KV_HEADS, DIM, FFN, TILE, SPLITS, 1e-5f };
    m->shape = shape;
    m->vocab = VOCAB;
    m->pages = PAGES;
    fill(&embedding[0][0], VOCAB * HIDDEN, 0, 1);
    fill(&logit_weights[0][0], VOCAB * HIDDEN, 0, 1);
    enum hbg_status s = buffer(device, &m->embed, embedding, sizeof embedding);
    if (!s) s = buffer(device, &m->logits, logit_weights, sizeof logit_weights);
    if (!s) s = buffer(device, &m->table, table, sizeof table);
    for (int n = 0; n < LAYERS && !s; n++) s = make_layer(device, m, n);
    return s;
}

static void destroy_model(struct model *m)
{
    hbg_buffer_destroy(m->embed);
    hbg_buffer_destroy(m->logits);
    hbg_buffer_destroy(m->table);
    for (int i = 0; i < LAYERS * 8; i++) hbg_buffer_destroy(m->layer[i / 8][i % 8]);
}

int main(void)
{
    static struct model model;
    static int32_t ids[PAGES * PAGE + 2] = { 7 };
    struct hbg_device *device = NULL;
    struct hbg_result result = HBG_OPTIONS(result);
    double worst = 0;
    int kinds = 0, seen[VOCAB] = { 0 };
    enum hbg_status s = hbg_device_open("cpu:workers=2,memory=discrete", NULL, &device);
    if (!s) s = make_model(device, &model);
    if (!s) s = decode(device, &model, ids, FIRST, 0, &result);
    if (!s) s = decode(device, &model, ids + FIRST, TOKENS - FIRST, FIRST, &result);                 /* another program goes on in the same pages */
    int wrong = s != HBG_OK || !result.replayed;
    for (int i = 0; i < TOKENS && !wrong; i++) {
        worst = fmax(worst, shortfall(ids[i], i, ids[i + 1], model.shape.eps));
        kinds += !seen[ids[i]]++;
    }
    printf("%s: %d tokens of %d kinds, %d tasks each, replayed; a chosen logit is %.1e below the largest at most\n", hbg_status_text(s), TOKENS, kinds, (int)result.tasks, worst);
    wrong |= worst > 0.03 || kinds < VOCAB / 4;
    if (!wrong) s = decode(device, &model, ids + TOKENS, PAGES * PAGE + 1 - TOKENS, TOKENS, &result);    /* one more than the pages have room for */
    printf("%s: %s\n", hbg_status_name(s), result.error.text);
    wrong |= s != HBG_E_KERNEL || result.error.code != 1 || result.error.detail != PAGES * PAGE;
    destroy_model(&model);
    return hbg_device_close(device) || wrong;
}
