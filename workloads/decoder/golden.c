/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoder: the reference. Layer by layer and request by request, in double precision, with all tokens of a head at once: no
 * tiles, no splits. What enters the cache is rounded to f32, as the cache is.
 *
 * The tolerance is no proof: rounding errors are taken to add up as random ones do, n of them to the root of n, and a layer to hand
 * on what it was given without enlarging it. With u = 2^-24, a sum of n products in 16 partial sums is off by the root of n/16 times u
 * of its size; a score by u |q| |k| / sqrt(head_dim), and the weight of a token by as large a share of itself; a mean of tokens by u
 * times the root of the tokens of a page and of the pages. These and 4 for all else, times the largest state, times the root of the
 * number of layers, is how far an element may be off.
 */
#include "decoder.h"

#include "workloads/shapes/replay_check.h"

#include <math.h>
#include <stdlib.h>

/* The sizes, what is given, and room to work in. */
struct reference {
    int64_t layers, batch, hidden, heads, kv_heads, dim, ffn, page, pages, columns, position;
    double epsilon, reach, largest;     /* reach: the most of |q| |k| / sqrt(head_dim) so far; largest: likewise of the state */
    const int32_t *table;
    const float *norm1, *wqkv, *wo, *norm2, *w13, *w2;
    float *keys, *values;               /* the caches that are expected */
    double *room, *state, *qkv;         /* state and qkv: a row a request */
    double *normed, *mixed, *wide, *weight;     /* of one request */
};

/* y = w x, with w [rows x n] */
static void times(const float *w, const double *x, int64_t rows, int64_t n, double *y)
{
    for (int64_t r = 0; r < rows; r++) {
        y[r] = 0.0;
        for (int64_t i = 0; i < n; i++)
            y[r] += w[r * n + i] * x[i];
    }
}

static void normalise(const struct reference *r, const double *x, const float *weight)
{
    double squares = 0.0;

    for (int64_t i = 0; i < r->hidden; i++)
        squares += x[i] * x[i];
    for (int64_t i = 0; i < r->hidden; i++)
        r->normed[i] = x[i] * weight[i] / sqrt(squares / (double)r->hidden + r->epsilon);
}

static void turn(const struct reference *r, double *x)
{
    int64_t half = r->dim / 2;

    for (int64_t i = 0; i < half; i++) {
        double angle = (double)r->position / pow(DECODER_ROTATION_BASE, (double)i / (double)half), low = x[i], high = x[i + half];
        x[i] = low * cos(angle) - high * sin(angle);
        x[i + half] = high * cos(angle) + low * sin(angle);
    }
}

/* where a token of a request has its keys, and its values, in the caches */
static int64_t place(const struct reference *r, int64_t layer, int64_t request, int64_t kv_head, int64_t token)
{
    int64_t page = r->table[request * r->columns + token / r->page];

    return (((layer * r->pages + page) * r->kv_heads + kv_head) * r->page + token % r->page) * r->dim;
}

static double length(const double *x, int64_t n)
{
    double squares = 0.0;

    for (int64_t i = 0; i < n; i++)
        squares += x[i] * x[i];
    return sqrt(squares);
}

/* one query head of a request */
static void attend(struct reference *r, int64_t layer, int64_t request, int64_t head, const double *query, double *mean)
{
    int64_t kv_head = head * r->kv_heads / r->heads;
    double most = -INFINITY, sum = 0.0, root = sqrt((double)r->dim);

    for (int64_t i = 0; i <= r->position; i++) {
        const float *key = r->keys + place(r, layer, request, kv_head, i);
        double squares = 0.0;
        r->weight[i] = 0.0;
        for (int64_t j = 0; j < r->dim; j++) {
            r->weight[i] += query[j] * key[j] / root;
            squares += (double)key[j] * key[j];
        }
        most = fmax(most, r->weight[i]);
        r->reach = fmax(r->reach, length(query, r->dim) * sqrt(squares) / root);
    }
    for (int64_t i = 0; i <= r->position; i++)
        sum += exp(r->weight[i] - most);
    for (int64_t j = 0; j < r->dim; j++)
        mean[j] = 0.0;
    for (int64_t i = 0; i <= r->position; i++) {
        const float *value = r->values + place(r, layer, request, kv_head, i);
        for (int64_t j = 0; j < r->dim; j++)
            mean[j] += exp(r->weight[i] - most) / sum * value[j];
    }
}

/* the keys and values of the new token enter the caches; its queries stay in qkv */
static void project_token(struct reference *r, int64_t layer, int64_t request)
{
    int64_t query_dim = r->heads * r->dim, key_dim = r->kv_heads * r->dim, all = query_dim + 2 * key_dim;
    double *query = r->qkv + request * all, *key = query + query_dim, *value = key + key_dim;

    normalise(r, r->state + request * r->hidden, r->norm1 + layer * r->hidden);
    times(r->wqkv + layer * all * r->hidden, r->normed, all, r->hidden, query);
    for (int64_t h = 0; h < r->heads + r->kv_heads; h++)
        turn(r, query + h * r->dim);
    for (int64_t h = 0; h < r->kv_heads; h++) {
        int64_t at = place(r, layer, request, h, r->position);
        for (int64_t j = 0; j < r->dim; j++) {
            r->keys[at + j] = (float)key[h * r->dim + j];
            r->values[at + j] = (float)value[h * r->dim + j];
        }
    }
}

/* the layer from attention on */
static void finish_layer(struct reference *r, int64_t layer, int64_t request)
{
    int64_t query_dim = r->heads * r->dim;
    double *x = r->state + request * r->hidden, *query = r->qkv + request * (query_dim + 2 * r->kv_heads * r->dim);

    for (int64_t h = 0; h < r->heads; h++)
        attend(r, layer, request, h, query + h * r->dim, r->mixed + h * r->dim);
    times(r->wo + layer * r->hidden * query_dim, r->mixed, r->hidden, query_dim, r->normed);
    for (int64_t i = 0; i < r->hidden; i++)
        x[i] += r->normed[i];
    normalise(r, x, r->norm2 + layer * r->hidden);
    times(r->w13 + layer * 2 * r->ffn * r->hidden, r->normed, 2 * r->ffn, r->hidden, r->wide);
    for (int64_t i = 0; i < r->ffn; i++)
        r->wide[i] *= r->wide[i + r->ffn] / (1.0 + exp(-r->wide[i]));
    times(r->w2 + layer * r->hidden * r->ffn, r->wide, r->hidden, r->ffn, r->normed);
    for (int64_t i = 0; i < r->hidden; i++) {
        x[i] += r->normed[i];
        r->largest = fmax(r->largest, fabs(x[i]));
    }
}

static double tolerance(const struct reference *r)
{
    double longest = fmax(fmax((double)r->hidden, (double)r->ffn), (double)(r->heads * r->dim));
    double pages = ((double)r->position + 1.0) / (double)r->page;
    double share = 4.0 + sqrt(longest / 16.0) + r->reach + sqrt((double)r->page + pages);

    return 0x1p-24 * share * sqrt((double)r->layers + 1.0) * fmax(r->largest, 1.0);
}

static int take_sizes(struct hbg_setup *s, struct reference *r)
{
    struct decoder_params p;

    memset(r, 0, sizeof *r);
    if (hbg__decoder_params(s, &p, &r->page, &r->position))
        return -1;
    r->layers = p.layers;
    r->batch = p.shape.batch;
    r->hidden = p.shape.hidden;
    r->heads = p.shape.heads;
    r->kv_heads = p.shape.kv_heads;
    r->dim = p.shape.head_dim;
    r->ffn = p.shape.ffn;
    r->epsilon = p.shape.epsilon;
    r->columns = hbg_setup_count(s, "table") / r->batch;
    r->pages = hbg_setup_count(s, "key_pages") / (r->layers * r->kv_heads * r->page * r->dim);
    return 0;
}

static int take_tensors(struct hbg_setup *s, struct reference *r)
{
    const float *keys = hbg_setup_input(s, "key_pages"), *values = hbg_setup_input(s, "value_pages");
    size_t size = (size_t)hbg_setup_count(s, "key_pages") * sizeof *keys;

    r->table = hbg_setup_input(s, "table");
    r->norm1 = hbg_setup_input(s, "norm1");
    r->wqkv = hbg_setup_input(s, "wqkv");
    r->wo = hbg_setup_input(s, "wo");
    r->norm2 = hbg_setup_input(s, "norm2");
    r->w13 = hbg_setup_input(s, "w13");
    r->w2 = hbg_setup_input(s, "w2");
    r->keys = hbg_setup_expected(s, "key_pages");
    r->values = hbg_setup_expected(s, "value_pages");
    if (!keys || !values || !r->table || !r->norm1 || !r->wqkv || !r->wo || !r->norm2 || !r->w13 || !r->w2 || !r->keys || !r->values)
        return -1;
    memcpy(r->keys, keys, size);
    memcpy(r->values, values, size);
    return 0;
}

static int take_room(struct hbg_setup *s, struct reference *r)
{
    int64_t query_dim = r->heads * r->dim, state = r->batch * r->hidden, qkv = r->batch * (query_dim + 2 * r->kv_heads * r->dim);

    r->room = malloc((size_t)(state + qkv + r->hidden + query_dim + 2 * r->ffn + r->position + 1) * sizeof *r->room);
    if (!r->room)
        return hbg_setup_fail(s, "no memory for the state of the reference");
    r->state = r->room;
    r->qkv = r->state + state;
    r->normed = r->qkv + qkv;
    r->mixed = r->normed + r->hidden;
    r->wide = r->mixed + query_dim;
    r->weight = r->wide + 2 * r->ffn;
    return 0;
}

static int reference(struct hbg_setup *s)
{
    struct reference r;
    const float *x = hbg_setup_input(s, "x");
    float *out = hbg_setup_expected(s, "out");

    if (!x || !out || take_sizes(s, &r) || take_tensors(s, &r) || take_room(s, &r))
        return -1;
    for (int64_t i = 0; i < r.batch * r.hidden; i++)
        r.state[i] = x[i];
    for (int64_t layer = 0; layer < r.layers; layer++) {
        for (int64_t request = 0; request < r.batch; request++)
            project_token(&r, layer, request);
        for (int64_t request = 0; request < r.batch; request++)
            finish_layer(&r, layer, request);
    }
    for (int64_t i = 0; i < r.batch * r.hidden; i++)
        out[i] = (float)r.state[i];
    hbg_setup_tolerance(s, "out", tolerance(&r));
    hbg_setup_tolerance(s, "key_pages", tolerance(&r));
    hbg_setup_tolerance(s, "value_pages", tolerance(&r));
    free(r.room);
    return 0;
}

int hbg__decoder_golden(struct hbg_setup *s)
{
    enum replay_shape_id id;
    bool measuring;

    if (hbg__decoder_measuring(s, &measuring, &id))
        return -1;
    return measuring ? hbg__replay_golden(s, id) : reference(s);
}
