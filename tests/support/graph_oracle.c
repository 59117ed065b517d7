/* SPDX-License-Identifier: Apache-2.0 */
/* graph_oracle.c - see graph_oracle.h. */
#include "support/graph_oracle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the map of bytes ---- */

struct byte_state { int writer, reader_count, reader_room; int *reader; };

/* A storage is a memory, or one intermediate. */
struct storage { int64_t size_bytes; struct byte_state *byte; uint8_t *written; };

struct resolver {
    struct plan *plan;
    struct storage storage[GRAPH_MEMORY_MAX + GRAPH_WINDOW_MAX];
    bool alive[GRAPH_WINDOW_MAX];           /* of intermediates */
    int scope_depth, manual_depth;          /* how deep scopes are nested; where the manual one is */
    int manual_begin;                       /* step of the manual scope that is open; -1: none */
    int window_scope[GRAPH_WINDOW_MAX];     /* depth at which an intermediate was made */
    int *need, need_count, need_room;
    int *step_of_label;
    uint8_t *mark;                          /* bytes of one access */
    int64_t mark_room;
};

static void *grown(void *array, int count, int *room, size_t size)
{
    if (count < *room) return array;
    *room = *room ? *room * 2 : 4;
    array = realloc(array, (size_t)*room * size);
    if (!array) abort();
    return array;
}

static struct storage *storage_of(struct resolver *r, int window)
{
    const struct graph_window *w = &r->plan->graph->window[window];
    return &r->storage[w->kind == WINDOW_ALLOC ? GRAPH_MEMORY_MAX + window : w->memory];
}

static void storage_open(struct storage *storage, int64_t size_bytes)
{
    storage->size_bytes = size_bytes;
    storage->byte = calloc((size_t)size_bytes, sizeof *storage->byte);
    storage->written = calloc((size_t)size_bytes, 1);
    if (!storage->byte || !storage->written) abort();
    for (int64_t b = 0; b < size_bytes; b++) storage->byte[b].writer = -1;
}

static void storage_close(struct storage *storage)
{
    for (int64_t b = 0; b < storage->size_bytes; b++) free(storage->byte[b].reader);
    free(storage->byte);
    free(storage->written);
    *storage = (struct storage){ 0 };
}

/* Mark the bytes of an access, from the start of its window; returns the window's offset in its storage. */
static int64_t mark_access(struct resolver *r, const struct graph_access *access)
{
    const struct graph_window *window = &r->plan->graph->window[access->window];
    struct raw_view view = { .offset = access->view.offset_bytes, .element = hbg_dtype_size(access->view.dtype), .rank = access->view.rank };
    memcpy(view.shape, access->view.shape, sizeof view.shape);
    memcpy(view.stride, access->view.stride_bytes, sizeof view.stride);
    if (window->size_bytes > r->mark_room) {
        r->mark_room = window->size_bytes;
        r->mark = realloc(r->mark, (size_t)r->mark_room);
        if (!r->mark) abort();
    }
    memset(r->mark, 0, (size_t)window->size_bytes);
    if (!raw_view_mark(&view, r->mark, window->size_bytes)) abort();
    return window->offset;
}

static void add_need(struct resolver *r, int step)
{
    for (int i = 0; i < r->need_count; i++) if (r->need[i] == step) return;
    r->need = grown(r->need, r->need_count, &r->need_room, sizeof *r->need);
    r->need[r->need_count++] = step;
}

static void note_needs(struct resolver *r, const struct graph_access *access)
{
    struct storage *storage = storage_of(r, access->window);
    int64_t at = mark_access(r, access), size = r->plan->graph->window[access->window].size_bytes;
    for (int64_t b = 0; b < size; b++) {
        const struct byte_state *byte = &storage->byte[at + b];
        if (!r->mark[b]) continue;
        if (byte->writer >= 0) add_need(r, byte->writer);
        if (access->mode == HBG_ARG_IN) continue;
        for (int i = 0; i < byte->reader_count; i++) add_need(r, byte->reader[i]);
    }
}

static void note_access(struct resolver *r, const struct graph_access *access, int step, bool writes_bytes)
{
    struct storage *storage = storage_of(r, access->window);
    int64_t at = mark_access(r, access), size = r->plan->graph->window[access->window].size_bytes;
    for (int64_t b = 0; b < size; b++) {
        struct byte_state *byte = &storage->byte[at + b];
        if (!r->mark[b]) continue;
        if (access->mode == HBG_ARG_IN) {
            if (byte->reader_count > 0 && byte->reader[byte->reader_count - 1] == step) continue;
            byte->reader = grown(byte->reader, byte->reader_count, &byte->reader_room, sizeof *byte->reader);
            byte->reader[byte->reader_count++] = step;
        } else {
            byte->writer = step;
            byte->reader_count = 0;
            if (writes_bytes) storage->written[at + b] = 1;
        }
    }
}

/* Does it read a byte of an intermediate that nobody has written? */
static bool reads_nothing(struct resolver *r, const struct graph_access *access)
{
    if (r->plan->graph->window[access->window].kind != WINDOW_ALLOC || access->mode == HBG_ARG_OUT) return false;
    struct storage *storage = storage_of(r, access->window);
    int64_t at = mark_access(r, access);
    for (int64_t b = 0; b < r->plan->graph->window[access->window].size_bytes; b++) {
        if (r->mark[b] && !storage->written[at + b]) return true;
    }
    return false;
}

/* ---- steps ---- */

static struct step *new_step(struct resolver *r, const struct graph_op *op)
{
    struct step *step = &r->plan->step[r->plan->count];
    *step = (struct step){ .kind = op->kind, .label = op->label, .window = op->window, .task = { UINT32_MAX, 0 } };
    r->step_of_label[op->label] = r->plan->count++;
    return step;
}

static void take_needs(struct resolver *r, struct step *step)
{
    step->need_count = r->need_count;
    step->need = malloc(((size_t)r->need_count + 1) * sizeof *step->need);
    if (!step->need) abort();
    for (int i = 0; i < r->need_count; i++) step->need[i] = r->need[i];
}

/* Explicit edges: those drawn, and in a manual scope those that inference would have made to other tasks of it. */
static void take_afters(struct resolver *r, struct step *step, const struct graph_op *op)
{
    step->after = malloc(((size_t)r->need_count + GRAPH_AFTER_MAX) * sizeof *step->after);
    if (!step->after) abort();
    for (int i = 0; i < op->after_count; i++) {
        int target = r->step_of_label[op->after[i]];
        if (target < 0) continue;
        enum graph_op_kind kind = r->plan->step[target].kind;
        if (kind == GRAPH_TASK || kind == GRAPH_NOOP) step->after[step->after_count++] = target;
    }
    for (int i = 0; i < r->need_count && r->manual_begin >= 0; i++) {
        if (r->need[i] > r->manual_begin) step->after[step->after_count++] = r->need[i];
    }
}

static void resolve_task(struct resolver *r, const struct graph_op *op)
{
    struct step *step = new_step(r, op);
    int self = (int)(step - r->plan->step);
    r->need_count = 0;
    for (int i = 0; i < op->access_count; i++) {
        struct graph_access access = op->access[i];
        if (r->plan->graph->window[access.window].kind == WINDOW_ALLOC && !r->alive[access.window]) continue;
        if (op->kind == GRAPH_TASK && reads_nothing(r, &access)) access.mode = HBG_ARG_OUT;
        step->access[step->access_count++] = access;
        note_needs(r, &access);
    }
    take_needs(r, step);
    take_afters(r, step, op);
    for (int i = 0; i < step->access_count; i++) note_access(r, &step->access[i], self, op->kind == GRAPH_TASK);
}

static void resolve_alloc(struct resolver *r, const struct graph_op *op)
{
    const struct graph_window *window = &r->plan->graph->window[op->window];
    if (window->kind != WINDOW_ALLOC || r->alive[op->window]) return;
    storage_close(storage_of(r, op->window));
    storage_open(storage_of(r, op->window), window->size_bytes);
    r->alive[op->window] = true;
    r->window_scope[op->window] = r->scope_depth;
    new_step(r, op);
}

static void resolve_scope_end(struct resolver *r, const struct graph_op *op)
{
    new_step(r, op);
    for (int w = 0; w < r->plan->graph->window_count; w++) {
        if (r->alive[w] && r->window_scope[w] == r->scope_depth) r->alive[w] = false;
    }
    if (r->scope_depth-- == r->manual_depth) r->manual_begin = -1;
}

static void resolve_op(struct resolver *r, const struct graph_op *op)
{
    bool manual = r->manual_begin >= 0;         /* scopes inside have lifetimes, and infer nothing either */
    switch (op->kind) {
    case GRAPH_TASK: resolve_task(r, op); break;
    case GRAPH_NOOP: if (!manual) resolve_task(r, op); break;
    case GRAPH_BARRIER: if (!manual) new_step(r, op); break;
    case GRAPH_ALLOC: resolve_alloc(r, op); break;
    case GRAPH_SCOPE_AUTO:
    case GRAPH_SCOPE_MANUAL:
        if ((manual && op->kind == GRAPH_SCOPE_MANUAL) || r->scope_depth == 3) break;
        r->scope_depth++;
        if (op->kind == GRAPH_SCOPE_MANUAL) {
            r->manual_depth = r->scope_depth;
            r->manual_begin = r->plan->count;
        }
        new_step(r, op);
        break;
    case GRAPH_SCOPE_END: if (r->scope_depth > 0) resolve_scope_end(r, op); break;
    }
}

/* ---- the boundary ---- */

static bool windows_overlap(const struct graph_window *a, const struct graph_window *b)
{
    return a->memory == b->memory && a->offset < b->offset + b->size_bytes && b->offset < a->offset + a->size_bytes;
}

/* `out` where this window writes every byte before anyone reads it, `in` where it writes none, else `inout`. */
static enum hbg_arg_kind boundary_mode(struct resolver *r, int w)
{
    const struct plan *plan = r->plan;
    const struct graph_window *window = &plan->graph->window[w];
    bool writes = false, reads_first = false, alone = true;
    for (int other = 0; other < plan->graph->window_count; other++) alone &= other == w || !windows_overlap(window, &plan->graph->window[other]);
    uint8_t *covered = calloc((size_t)window->size_bytes, 1);
    if (!covered) abort();
    for (int s = 0; s < plan->count; s++) {
        const struct step *step = &plan->step[s];
        for (int i = 0; i < step->access_count; i++) {              /* a task reads before it writes */
            if (step->access[i].window != w || step->access[i].mode == HBG_ARG_OUT) continue;
            mark_access(r, &step->access[i]);
            for (int64_t b = 0; b < window->size_bytes; b++) reads_first |= r->mark[b] && !covered[b];
        }
        for (int i = 0; i < step->access_count; i++) {
            if (step->access[i].window != w || step->access[i].mode == HBG_ARG_IN) continue;
            writes = true;
            mark_access(r, &step->access[i]);
            for (int64_t b = 0; b < window->size_bytes; b++) covered[b] |= r->mark[b] && step->kind == GRAPH_TASK;
        }
    }
    bool all = memchr(covered, 0, (size_t)window->size_bytes) == NULL;
    free(covered);
    return !writes ? HBG_ARG_IN : alone && all && !reads_first ? HBG_ARG_OUT : HBG_ARG_INOUT;
}

void graph_resolve(struct plan *plan, const struct random_graph *graph)
{
    *plan = (struct plan){ .graph = graph };
    struct resolver r = { .plan = plan, .manual_begin = -1 };
    int labels = 1;
    for (int i = 0; i < graph->op_count; i++) labels = graph->op[i].label >= labels ? graph->op[i].label + 1 : labels;
    plan->step = calloc((size_t)graph->op_count + 4, sizeof *plan->step);
    r.step_of_label = malloc((size_t)labels * sizeof *r.step_of_label);
    if (!plan->step || !r.step_of_label) abort();
    for (int i = 0; i < labels; i++) r.step_of_label[i] = -1;
    for (int m = 0; m < graph->memory_count; m++) storage_open(&r.storage[m], graph->memory_bytes[m]);
    for (int i = 0; i < graph->op_count; i++) resolve_op(&r, &graph->op[i]);
    while (r.scope_depth > 0) resolve_scope_end(&r, &(struct graph_op){ .kind = GRAPH_SCOPE_END });
    for (int w = 0; w < graph->window_count; w++) {
        bool argument = graph->window[w].kind == WINDOW_HOST || graph->window[w].kind == WINDOW_BUFFER;
        plan->position[w] = argument ? plan->argument_count++ : -1;
        plan->mode[w] = argument ? boundary_mode(&r, w) : HBG_ARG_INOUT;
    }
    for (int s = 0; s < GRAPH_MEMORY_MAX + GRAPH_WINDOW_MAX; s++) storage_close(&r.storage[s]);
    free(r.step_of_label);
    free(r.need);
    free(r.mark);
}

void plan_free(struct plan *plan)
{
    for (int s = 0; s < plan->count; s++) {
        free(plan->step[s].need);
        free(plan->step[s].after);
    }
    free(plan->step);
    plan->step = NULL;
}

/* ---- execution ---- */

void mix(uint64_t salt, const struct mix_view *view, int count)
{
    uint64_t hash = salt * 0x9e3779b97f4a7c15u + 1;
    for (int pass = 0; pass < 2; pass++) {                  /* everything is read before anything is written */
        for (int v = 0; v < count; v++) {
            if (view[v].mode == (pass == 0 ? HBG_ARG_OUT : HBG_ARG_IN)) continue;
            int64_t index[HBG_RANK_MAX] = { 0 }, elements = 1;
            for (int d = 0; d < view[v].rank; d++) elements *= view[v].shape[d];
            for (int64_t n = 0; n < elements; n++) {
                uint8_t *at = view[v].data;
                for (int d = 0; d < view[v].rank; d++) at += index[d] * view[v].stride[d];
                for (int64_t b = 0; b < view[v].element; b++) {
                    if (pass == 0) hash = (hash ^ at[b]) * 0x100000001b3u;
                    else at[b] = (uint8_t)((hash >> 24) + (uint64_t)n * 7 + (uint64_t)b + (view[v].mode == HBG_ARG_INOUT ? at[b] * 3u : 0));
                }
                for (int d = view[v].rank - 1; d >= 0 && ++index[d] == view[v].shape[d]; d--) index[d] = 0;
            }
            hash ^= hash >> 29;
        }
    }
}

void plan_execute(const struct plan *plan, uint8_t *const *memory)
{
    uint8_t *intermediate[GRAPH_WINDOW_MAX] = { NULL };
    for (int s = 0; s < plan->count; s++) {
        const struct step *step = &plan->step[s];
        struct mix_view views[GRAPH_ACCESS_MAX];
        if (step->kind == GRAPH_ALLOC && !intermediate[step->window]) {
            intermediate[step->window] = calloc((size_t)plan->graph->window[step->window].size_bytes, 1);
            if (!intermediate[step->window]) abort();
        }
        if (step->kind != GRAPH_TASK) continue;
        for (int i = 0; i < step->access_count; i++) {
            const struct graph_access *access = &step->access[i];
            const struct graph_window *window = &plan->graph->window[access->window];
            uint8_t *base = window->kind == WINDOW_ALLOC ? intermediate[access->window] : memory[window->memory] + window->offset;
            views[i] = (struct mix_view){ base + access->view.offset_bytes, access->mode, access->view.rank,
                                          hbg_dtype_size(access->view.dtype), access->view.shape, access->view.stride_bytes };
        }
        mix((uint64_t)step->label, views, step->access_count);
    }
    for (int w = 0; w < GRAPH_WINDOW_MAX; w++) free(intermediate[w]);
}

/* ---- edges ---- */

uint64_t plan_missing(const struct plan *plan, const struct edges *edges, bool loud, uint64_t *needed, uint64_t *extra)
{
    struct closure must, is;
    uint64_t missing = 0;
    uint32_t *step_of = malloc(((size_t)edges->task_count + 1) * sizeof *step_of);
    if (!step_of) abort();
    for (uint32_t t = 0; t < edges->task_count; t++) step_of[t] = UINT32_MAX;
    closure_open(&must, (uint32_t)plan->count);
    closure_of_edges(&is, edges, false);
    for (int s = 0; s < plan->count; s++) {
        const struct step *step = &plan->step[s];
        if (step->task.id < edges->task_count) step_of[step->task.id] = (uint32_t)s;
        for (int i = 0; i < step->need_count; i++) {
            closure_add(&must, (uint32_t)step->need[i], (uint32_t)s);
            if (closure_before(&is, plan->step[step->need[i]].task.id, step->task.id)) continue;
            if (missing++ == 0 && loud) fprintf(stderr, "operation %d must come before %d (tasks %u, %u) and does not\n", plan->step[step->need[i]].label, step->label, plan->step[step->need[i]].task.id, step->task.id);
        }
    }
    *needed = closure_pairs(&must);
    *extra = 0;
    for (uint32_t second = 0; second < edges->task_count; second++) {
        for (uint32_t first = 0; first < second && step_of[second] != UINT32_MAX; first++) {
            if (step_of[first] == UINT32_MAX || !closure_before(&is, first, second)) continue;
            *extra += !closure_before(&must, step_of[first], step_of[second]);
        }
    }
    closure_free(&must);
    closure_free(&is);
    free(step_of);
    return missing;
}
