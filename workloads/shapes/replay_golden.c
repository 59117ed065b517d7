/* SPDX-License-Identifier: Apache-2.0 */
/* replay_golden.c - the digests of a shape in the order of submission, over plain arrays: what replay_check.h expects. */
#include "workloads/shapes/replay_check.h"

#include <stdlib.h>

enum { PARTS = REPLAY_TILES, WIDEST = REPLAY_TILES * REPLAY_TILE };

struct reference {
    const struct replay_shape *shape;
    const int32_t *table, *ids;
    const float *embedding, *norm1, *w_a, *w_b, *norm2, *w_c, *w_d;
    float *keys, *values, *logits;
    int32_t position;
    float x[REPLAY_HIDDEN], normed[REPLAY_HIDDEN], qkv[WIDEST], mixed[WIDEST], part[PARTS * REPLAY_PAGE], wide[WIDEST], delta[WIDEST];
};

/* ---- a task: its name, what it reads in the order of its arguments, what it writes ---- */

static void read_bits(struct replay_digest *d, const void *data, int64_t count)
{
    const uint32_t *bits = data;
    for (int64_t i = 0; i < count; i++) replay_digest_add(d, bits[i]);
}

static void read_f32(struct replay_digest *d, const float *data, int64_t count) { read_bits(d, data, count); }
static void read_i32(struct replay_digest *d, int32_t value) { replay_digest_add(d, (uint32_t)value); }

static void write_f32(struct replay_digest *d, float *data, int64_t count)
{
    for (int64_t i = 0; i < count; i++) data[i] = replay_digest_next(d);
}

/* one head of a layer's pages */
static float *head_of(float *pages, int32_t page, int32_t head) { return pages + ((int64_t)page * REPLAY_HEADS + head) * REPLAY_PAGE; }

static void read_head(struct replay_digest *d, float *pages, int32_t head)
{
    for (int32_t page = 0; page < REPLAY_PAGES; page++) read_f32(d, head_of(pages, page, head), REPLAY_PAGE);
}

static void write_head(struct replay_digest *d, float *pages, int32_t head)
{
    for (int32_t page = 0; page < REPLAY_PAGES; page++) write_f32(d, head_of(pages, page, head), REPLAY_PAGE);
}

/* ---- a layer ---- */

static void normalise(struct reference *r, const float *weight)
{
    struct replay_digest d = replay_digest_begin("norm");
    const float epsilon = 1e-5f;
    read_f32(&d, r->x, REPLAY_HIDDEN);
    read_f32(&d, weight, REPLAY_HIDDEN);
    read_f32(&d, &epsilon, 1);
    write_f32(&d, r->normed, REPLAY_HIDDEN);
}

static void project(const float *x, int64_t count, const float *w, int64_t tiles, float *y)
{
    for (int64_t i = 0; i < tiles; i++) {
        struct replay_digest d = replay_digest_begin("project");
        read_f32(&d, x, count);
        read_f32(&d, w + i * REPLAY_TILE * REPLAY_HIDDEN, REPLAY_TILE * REPLAY_HIDDEN);
        write_f32(&d, y + i * REPLAY_TILE, REPLAY_TILE);
    }
}

/* in what, inout y */
static void merge(const char *name, const float *what, int64_t count, float *y, int64_t y_count)
{
    struct replay_digest d = replay_digest_begin(name);
    read_f32(&d, what, count);
    read_f32(&d, y, y_count);
    write_f32(&d, y, y_count);
}

static void rotate(struct reference *r, int64_t count)
{
    struct replay_digest d = replay_digest_begin("rotate");
    read_f32(&d, r->qkv, count);
    read_i32(&d, r->position);
    write_f32(&d, r->qkv, count);
}

static void attend(struct reference *r, const struct replay_body *body, float *keys, float *values, int32_t head)
{
    int64_t count = body->a * REPLAY_TILE;
    struct replay_digest d = replay_digest_begin("append");
    read_f32(&d, r->qkv, count);
    read_bits(&d, r->table, REPLAY_PAGES);
    read_head(&d, keys, head);
    read_head(&d, values, head);
    read_i32(&d, r->position);
    read_i32(&d, head);
    write_head(&d, keys, head);
    write_head(&d, values, head);
    for (int32_t split = 0; split < body->splits; split++) {
        d = replay_digest_begin("attend");
        read_f32(&d, r->qkv, count);
        read_bits(&d, r->table, REPLAY_PAGES);
        read_head(&d, keys, head);
        read_head(&d, values, head);
        read_i32(&d, r->position);
        read_i32(&d, split);
        write_f32(&d, r->part + split * REPLAY_PAGE, REPLAY_PAGE);
    }
    d = replay_digest_begin("combine");
    read_f32(&d, r->part, body->splits * REPLAY_PAGE);
    write_f32(&d, r->mixed + head * REPLAY_TILE, REPLAY_TILE);
}

static void layer(struct reference *r, int64_t i)
{
    const struct replay_body *body = replay_body_of(r->shape, (uint32_t)i);
    int64_t rows = i * REPLAY_ROWS * REPLAY_HIDDEN, pages = i * REPLAY_PAGES * REPLAY_HEADS * REPLAY_PAGE;
    normalise(r, r->norm1 + i * REPLAY_HIDDEN);
    project(r->normed, REPLAY_HIDDEN, r->w_a + rows, body->a, r->qkv);
    rotate(r, body->a * REPLAY_TILE);
    for (int32_t head = 0; head < body->heads; head++) attend(r, body, r->keys + pages, r->values + pages, head);
    project(r->mixed, body->heads * REPLAY_TILE, r->w_b + rows, body->b, r->delta);
    merge("add", r->delta, body->b * REPLAY_TILE, r->x, REPLAY_HIDDEN);
    normalise(r, r->norm2 + i * REPLAY_HIDDEN);
    project(r->normed, REPLAY_HIDDEN, r->w_c + rows, body->c, r->wide);
    for (int64_t gate = 0; gate < body->gates; gate++)
        merge("silu_mul", r->wide + (body->gates + gate) * REPLAY_TILE, REPLAY_TILE, r->wide + gate * REPLAY_TILE, REPLAY_TILE);
    project(r->wide, body->c * REPLAY_TILE, r->w_d + rows, body->d, r->delta);
    merge("add", r->delta, body->d * REPLAY_TILE, r->x, REPLAY_HIDDEN);
}

/* ---- what stands around the layers ---- */

static void routes(struct reference *r)
{
    float scores[WIDEST], chosen[REPLAY_TILE], spread[REPLAY_HIDDEN];
    int64_t count = r->shape->routes * REPLAY_TILE;
    struct replay_digest d;
    project(r->x, REPLAY_HIDDEN, r->embedding, r->shape->routes, scores);
    d = replay_digest_begin("route");
    read_f32(&d, scores, count);
    read_f32(&d, r->x, REPLAY_HIDDEN);
    write_f32(&d, chosen, REPLAY_TILE);
    d = replay_digest_begin("spread");
    read_f32(&d, r->x, REPLAY_HIDDEN);
    read_f32(&d, chosen, REPLAY_TILE);
    write_f32(&d, spread, REPLAY_HIDDEN);
    merge("gather", spread, REPLAY_HIDDEN, r->x, REPLAY_HIDDEN);
}

static void compute(struct reference *r)
{
    struct replay_digest d = replay_digest_begin("embed");
    read_bits(&d, r->ids, 1);
    write_f32(&d, r->x, REPLAY_HIDDEN);
    for (uint32_t i = 0; i < r->shape->layers; i++) {
        if (r->shape->routes) routes(r);
        layer(r, i);
    }
    normalise(r, r->norm1);
    project(r->normed, REPLAY_HIDDEN, r->embedding, r->shape->logits, r->logits);
}

/* the expected copy of a cache, as the run is given it */
static float *cache(struct hbg_setup *s, const char *name)
{
    float *expected = hbg_setup_expected(s, name);
    const float *given = hbg_setup_input(s, name);
    if (expected && given) memcpy(expected, given, (size_t)hbg_setup_count(s, name) * sizeof *expected);
    return given ? expected : NULL;
}

static int take_tensors(struct hbg_setup *s, struct reference *r)
{
    r->table = hbg_setup_input(s, "table");
    r->ids = hbg_setup_input(s, "ids");
    r->embedding = hbg_setup_input(s, "embedding");
    r->norm1 = hbg_setup_input(s, "norm1");
    r->w_a = hbg_setup_input(s, "w_a");
    r->w_b = hbg_setup_input(s, "w_b");
    r->norm2 = hbg_setup_input(s, "norm2");
    r->w_c = hbg_setup_input(s, "w_c");
    r->w_d = hbg_setup_input(s, "w_d");
    r->keys = cache(s, "keys");
    r->values = cache(s, "values");
    r->logits = hbg_setup_expected(s, "logits");
    return r->table && r->ids && r->embedding && r->norm1 && r->w_a && r->w_b && r->norm2 && r->w_c && r->w_d && r->keys && r->values && r->logits ? 0 : -1;
}

int hbg__replay_golden(struct hbg_setup *s, enum replay_shape_id id)
{
    struct reference *r = calloc(1, sizeof *r);
    int32_t *next = hbg_setup_expected(s, "next");
    int status = -1;
    if (!r) hbg_setup_fail(s, "no memory for the state of the reference");
    else if (next && take_tensors(s, r) == 0) {
        r->shape = hbg__replay_shape(id);
        compute(r);
        *next = (int32_t)hbg__replay_tasks(id);
        hbg_setup_kernels(s, hbg__replay_check_kernels, REPLAY_KERNELS);
        status = 0;
    }
    free(r);
    return status;
}
