/* SPDX-License-Identifier: Apache-2.0 */
/* random_graph.c - see random_graph.h. */
#include "support/random_graph.h"
#include "base/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- views ---- */

/* How a window is looked at for a while: a grid of elements, cut into tiles. It is drawn anew now and then. */
struct look { struct hbg_region grid; struct hbg_shape tile; };

static struct hbg_region whole_bytes(int64_t size_bytes)
{
    struct hbg_region r = { .dtype = HBG_U8, .rank = 1, .shape = { size_bytes }, .stride_bytes = { 1 } };
    return r;
}

static struct look draw_look(struct hbg__rng *rng, int64_t size_bytes)
{
    static const int dtypes[] = { HBG_U8, HBG_BOOL, HBG_I16, HBG_F32, HBG_F64, HBG_RECORD_0 + 3, HBG_RECORD_0 + 7, HBG_RECORD_0 + 18 };
    int dtype = dtypes[hbg__rng_between(rng, 0, 7)];
    int rank = (int)hbg__rng_between(rng, 1, 3);
    struct hbg_shape shape = { { 1, 1, 1, 1, 1 }, rank };
    struct look look = { .tile = shape };
    int64_t elements = size_bytes / hbg_dtype_size(dtype);
    for (int d = 0; d < rank; d++) {
        int64_t most = d == rank - 1 ? elements : elements < 24 ? elements : 24;
        shape.dim[d] = d == rank - 1 && hbg__rng_between(rng, 0, 1) ? most : hbg__rng_between(rng, 1, most);
        elements /= shape.dim[d];
        look.tile.dim[d] = hbg__rng_between(rng, 1, 1 + shape.dim[d] / hbg__rng_between(rng, 1, 8));
    }
    int64_t bytes = hbg_dtype_size(dtype);
    for (int d = 0; d < rank; d++) bytes *= shape.dim[d];
    look.grid = hbg_reshape(hbg_cast_view(hbg_slice(whole_bytes(size_bytes), 0, 0, bytes), (enum hbg_dtype)dtype), shape);
    return look;
}

static struct hbg_region draw_permuted(struct hbg__rng *rng, struct hbg_region x)
{
    struct hbg_shape order = { { 0, 1, 2, 3, 4 }, x.rank };
    for (int d = x.rank - 1; d > 0; d--) {
        int other = (int)hbg__rng_between(rng, 0, d);
        int64_t kept = order.dim[d];
        order.dim[d] = order.dim[other];
        order.dim[other] = kept;
    }
    return x.rank ? hbg_permute(x, order) : x;
}

static struct hbg_region draw_tile(struct hbg__rng *rng, const struct look *look)
{
    struct hbg_shape at = { { 0 }, look->grid.rank };
    for (int d = 0; d < at.rank; d++) at.dim[d] = hbg__rng_between(rng, 0, (look->grid.shape[d] - 1) / look->tile.dim[d]);
    return hbg_cell(look->grid, look->tile, at);
}

static struct hbg_region draw_box(struct hbg__rng *rng, struct hbg_region x)
{
    for (int d = 0; d < x.rank; d++) {
        int64_t lo = hbg__rng_between(rng, 0, x.shape[d]), hi = hbg__rng_between(rng, lo, x.shape[d]);
        if (hbg__rng_between(rng, 0, 2)) x = hbg_slice(x, d, lo, hi);
    }
    return x;
}

static struct hbg_region draw_raw(struct hbg__rng *rng, int64_t size_bytes)
{
    static const int dtypes[] = { HBG_U8, HBG_U16, HBG_U32, HBG_U64 };
    struct raw_view view = { 0 };
    do view = raw_view_random(rng, size_bytes < 4096 ? 4096 : size_bytes); while (raw_view_extent(&view) > size_bytes);
    int64_t extent = raw_view_extent(&view);
    if (extent > 0) raw_view_place(&view, hbg__rng_between(rng, 0, size_bytes - extent));
    struct hbg_region r = { .dtype = (uint16_t)dtypes[__builtin_ctzll((uint64_t)view.element)], .rank = (uint8_t)view.rank, .offset_bytes = view.offset };
    for (int d = 0; d < view.rank; d++) {
        r.shape[d] = view.shape[d];
        r.stride_bytes[d] = view.stride[d];
    }
    return r;
}

static struct hbg_region draw_view(struct hbg__rng *rng, const struct look *look, int64_t size_bytes)
{
    const struct hbg_region *grid = &look->grid;
    int64_t kind = hbg__rng_between(rng, 0, 19);
    if (kind < 3) return whole_bytes(size_bytes);
    if (kind < 4) return *grid;
    if (kind < 10) return draw_tile(rng, look);
    if (kind < 12) return draw_permuted(rng, draw_tile(rng, look));
    if (kind < 14) {
        int d = (int)hbg__rng_between(rng, 0, grid->rank - 1);
        return hbg_index(*grid, d, hbg__rng_between(rng, 0, grid->shape[d] - 1));
    }
    if (kind < 16) return draw_box(rng, *grid);
    if (kind < 17) return draw_permuted(rng, draw_box(rng, hbg_permute(*grid, (struct hbg_shape){ { grid->rank - 1, 0, 1 }, grid->rank })));
    return draw_raw(rng, size_bytes);
}

/* ---- memories and windows ---- */

static void add_window(struct random_graph *graph, enum window_kind kind, int memory, int64_t offset, int64_t size_bytes)
{
    graph->window[graph->window_count++] = (struct graph_window){ kind, memory, offset, size_bytes };
}

static void draw_windows(struct random_graph *graph, struct hbg__rng *rng, const struct graph_taste *taste)
{
    int hosts = (int)hbg__rng_between(rng, 1, 3), buffers = (int)hbg__rng_between(rng, 0, taste->buffers);
    for (int m = 0; m < hosts + buffers; m++) {
        int64_t size = hbg__rng_between(rng, 40, taste->window_bytes);
        graph->memory_bytes[graph->memory_count] = size;
        enum window_kind kind = m < hosts ? WINDOW_HOST : hbg__rng_between(rng, 0, 1) ? WINDOW_BUFFER : WINDOW_NAMED;
        bool shared = kind != WINDOW_NAMED && hbg__rng_between(rng, 0, 3) == 0;
        for (int64_t n = shared ? hbg__rng_between(rng, 2, 3) : 1; n > 0; n--) {        /* several that may overlap */
            int64_t lo = shared ? hbg__rng_between(rng, 0, size / 2) : 0, hi = shared ? hbg__rng_between(rng, lo + 20, size) : size;
            add_window(graph, kind, graph->memory_count, lo, hi - lo);
        }
        graph->memory_count++;
    }
    for (int64_t n = hbg__rng_between(rng, 0, taste->intermediates); n > 0 && graph->window_count < GRAPH_WINDOW_MAX; n--) {
        add_window(graph, WINDOW_ALLOC, -1, 0, hbg__rng_between(rng, 20, taste->window_bytes));
    }
}

/* ---- operations ---- */

static void draw_task(const struct random_graph *graph, struct hbg__rng *rng, struct look *looks, struct graph_op *op)
{
    op->access_count = (int)hbg__rng_between(rng, op->kind == GRAPH_NOOP ? 0 : 1, GRAPH_ACCESS_MAX);
    for (int i = 0; i < op->access_count; i++) {
        struct graph_access *access = &op->access[i];
        int64_t mode = hbg__rng_between(rng, 0, 6);
        access->window = (int)hbg__rng_between(rng, 0, graph->window_count - 1);
        access->mode = mode < 3 ? HBG_ARG_IN : mode < 5 ? HBG_ARG_OUT : HBG_ARG_INOUT;
        int64_t size = graph->window[access->window].size_bytes;
        if (hbg__rng_between(rng, 0, 39) == 0) looks[access->window] = draw_look(rng, size);
        access->view = draw_view(rng, &looks[access->window], size);
    }
}

static enum graph_op_kind draw_kind(struct hbg__rng *rng, const struct graph_taste *taste)
{
    int64_t kind = hbg__rng_between(rng, 0, 99);
    if (kind < 4) return GRAPH_ALLOC;
    if (taste->scopes && kind < 8) return hbg__rng_between(rng, 0, 2) || taste->repeatable ? GRAPH_SCOPE_AUTO : GRAPH_SCOPE_MANUAL;
    if (taste->scopes && kind < 13) return GRAPH_SCOPE_END;
    if (taste->orders && kind == 13) return GRAPH_BARRIER;
    if (taste->orders && kind < 17 && !taste->repeatable) return GRAPH_NOOP;
    return GRAPH_TASK;
}

void random_graph_draw(struct random_graph *graph, uint64_t seed, const struct graph_taste *taste)
{
    struct hbg__rng rng;
    hbg__rng_seed(&rng, seed);
    struct look looks[GRAPH_WINDOW_MAX];
    *graph = (struct random_graph){ .seed = seed };
    draw_windows(graph, &rng, taste);
    for (int w = 0; w < graph->window_count; w++) looks[w] = draw_look(&rng, graph->window[w].size_bytes);
    graph->op_count = (int)hbg__rng_between(&rng, taste->op_min, taste->op_max);
    graph->op = calloc((size_t)graph->op_count + 1, sizeof *graph->op);
    if (!graph->op) abort();
    for (int i = 0; i < graph->op_count; i++) {
        struct graph_op *op = &graph->op[i];
        op->label = i;
        op->kind = draw_kind(&rng, taste);
        op->window = (int)hbg__rng_between(&rng, 0, graph->window_count - 1);
        if (op->kind == GRAPH_TASK || op->kind == GRAPH_NOOP) draw_task(graph, &rng, looks, op);
        if (taste->orders && i > 0 && hbg__rng_between(&rng, 0, 9) == 0) {
            op->after_count = (int)hbg__rng_between(&rng, 1, GRAPH_AFTER_MAX);
            for (int a = 0; a < op->after_count; a++) op->after[a] = (int)hbg__rng_between(&rng, 0, i - 1);
        }
    }
}

void random_graph_free(struct random_graph *graph)
{
    free(graph->op);
    graph->op = NULL;
}

/* ---- changing ---- */

void random_graph_vary(struct random_graph *varied, const struct random_graph *graph, uint64_t seed)
{
    struct hbg__rng rng;
    hbg__rng_seed(&rng, seed);
    *varied = *graph;
    varied->op = calloc((size_t)graph->op_count + 1, sizeof *varied->op);
    if (!varied->op) abort();
    memcpy(varied->op, graph->op, (size_t)graph->op_count * sizeof *varied->op);
    if (graph->op_count == 0) return;
    int at = (int)hbg__rng_between(&rng, 0, graph->op_count - 1);
    struct graph_op *op = &varied->op[at];
    switch (hbg__rng_between(&rng, 0, 4)) {
    case 0:
        memmove(op, op + 1, (size_t)(graph->op_count - at - 1) * sizeof *op);
        varied->op_count--;
        break;
    case 1: varied->op_count = at; break;
    case 2:
        if (op->access_count > 0) op->access[0].view = whole_bytes(graph->window[op->access[0].window].size_bytes);
        break;
    case 3:
        op->label += 1000000;           /* what the kernel mixes in; who was to come after it does not */
        break;
    default:
        if (at + 1 == graph->op_count) break;
        varied->op[at] = graph->op[at + 1];
        varied->op[at + 1] = graph->op[at];
    }
}

/* ---- printing ---- */

static const char *mode_name(enum hbg_arg_kind mode) { return mode == HBG_ARG_IN ? "in" : mode == HBG_ARG_OUT ? "out" : "inout"; }

static void print_access(const struct graph_access *access)
{
    const struct hbg_region *v = &access->view;
    struct raw_view view = { .offset = v->offset_bytes, .element = hbg_dtype_size(v->dtype), .rank = v->rank };
    memcpy(view.shape, v->shape, sizeof v->shape);
    memcpy(view.stride, v->stride_bytes, sizeof v->stride_bytes);
    fprintf(stderr, "    %s window %d: %s\n", mode_name(access->mode), access->window, raw_view_text(&view));
}

void random_graph_print(const struct random_graph *graph)
{
    static const char *const windows[] = { "host", "buffer", "buffer named by the build", "intermediate" };
    static const char *const ops[] = { "task", "noop", "barrier", "alloc", "scope {", "manual scope {", "} end of scope" };
    fprintf(stderr, "seed %" PRIu64 "\n", graph->seed);
    for (int w = 0; w < graph->window_count; w++) {
        const struct graph_window *window = &graph->window[w];
        fprintf(stderr, "window %d: %s, memory %d, bytes [%" PRId64 ", %" PRId64 ")\n", w, windows[window->kind], window->memory, window->offset, window->offset + window->size_bytes);
    }
    for (int i = 0; i < graph->op_count; i++) {
        const struct graph_op *op = &graph->op[i];
        fprintf(stderr, "%4d %s", op->label, ops[op->kind]);
        if (op->kind == GRAPH_ALLOC) fprintf(stderr, " window %d", op->window);
        for (int a = 0; a < op->after_count; a++) fprintf(stderr, " after %d", op->after[a]);
        fputs("\n", stderr);
        for (int a = 0; a < op->access_count; a++) print_access(&op->access[a]);
    }
}

/* ---- shrinking ---- */

static bool fails_without(struct random_graph *graph, int first, int count, graph_fails_fn *fails, void *user)
{
    struct graph_op *kept = graph->op;
    int op_count = graph->op_count;
    graph->op = calloc((size_t)op_count + 1, sizeof *kept);
    if (!graph->op) abort();
    memcpy(graph->op, kept, (size_t)first * sizeof *kept);
    memcpy(graph->op + first, kept + first + count, (size_t)(op_count - first - count) * sizeof *kept);
    graph->op_count = op_count - count;
    if (fails(user, graph)) {
        free(kept);
        return true;
    }
    free(graph->op);
    graph->op = kept;
    graph->op_count = op_count;
    return false;
}

static bool shrink_ops(struct random_graph *graph, graph_fails_fn *fails, void *user)
{
    bool shrunk = false;
    for (int chunk = (graph->op_count + 1) / 2; chunk >= 1; chunk /= 2) {
        for (int first = graph->op_count - chunk; first >= 0; first -= chunk) shrunk |= fails_without(graph, first, chunk, fails, user);
    }
    return shrunk;
}

static bool shrink_accesses(struct random_graph *graph, graph_fails_fn *fails, void *user)
{
    bool shrunk = false;
    for (int i = 0; i < graph->op_count; i++) {
        for (int a = graph->op[i].access_count - 1; a >= 0; a--) {
            struct graph_op kept = graph->op[i];
            graph->op[i].access_count--;
            for (int k = a; k < graph->op[i].access_count; k++) graph->op[i].access[k] = kept.access[k + 1];
            if (fails(user, graph)) shrunk = true;
            else graph->op[i] = kept;
        }
        struct graph_op kept = graph->op[i];
        graph->op[i].after_count = 0;
        if (kept.after_count && fails(user, graph)) shrunk = true;
        else graph->op[i] = kept;
    }
    return shrunk;
}

void random_graph_shrink(struct random_graph *graph, graph_fails_fn *fails, void *user)
{
    bool shrunk = true;
    while (shrunk) {
        shrunk = shrink_ops(graph, fails, user);
        shrunk |= shrink_accesses(graph, fails, user);
    }
}
