/* SPDX-License-Identifier: Apache-2.0 */
/* submit.c - one task: check the call, write its arguments, ask the hazard map, append.
 *
 *     for each argument    check it, write its 16 bytes above payload_top, classify its region, collect producers
 *     for each region      note the access under the task's mark
 *     append               record, edge row, waiter list
 *
 * Producers are collected for all arguments before any access is noted: so a task never depends on itself, and noops that
 * the map inserts come before it. A call that fails latches the error; what it has noted by then does not matter, since
 * nothing can be submitted any more.
 *
 * The short way. A region with the layout of the cells of its storage, lying on the grid, or with the layout of the whole
 * storage, and a history without parts and long chains, is settled right here. This is what tiled code submits, and what the
 * cost of a task is made of; any other argument goes to argument.c.
 */
#include "graph/submit.h"
#include "graph/append.h"
#include "graph/hazard_map.h"
#include "graph/signature.h"

#include <hbg/subgraph.h>

enum { SHORT_ACCESSES = 8, MARKS_PER_ARGUMENT = 16 };

/* An access that was settled on the short way: cell is HBG__NIL for all of the storage. */
struct short_access { uint32_t home, cell; bool writes; };

static struct hbg_task no_task(const struct hbg_graph *g)
{
    struct hbg_task t = { UINT32_MAX, g->serial };
    return t;
}

bool hbg__producer_add(struct hbg_graph *g, uint32_t mark)
{
    if (hbg__producers_add(&g->producers, mark)) return true;
    return hbg__graph_reserve(g, (void **)&g->producers.mark, &g->producers.capacity, g->producers.count + MARKS_PER_ARGUMENT, sizeof(uint32_t))
        && hbg__producers_add(&g->producers, mark);
}

/* ---- the short way ------------------------------------------------------------------------------------------------
 *
 * The loop keeps what it needs of the graph in registers: every store to a table might otherwise be one to the graph.
 */

struct short_way {
    unsigned char *payload;
    struct hbg__storage *storages;
    struct hbg__cell *cells;
    const struct hbg__reader_block *blocks;
    uint32_t *mark;                             /* producers so far */
    uint32_t mark_count, storage_base, storage_count;
    struct hbg_view_arg *out;                   /* of the next position */
};

static inline void load(struct short_way *w, const struct hbg_graph *g, uint32_t position)
{
    w->payload = g->payload;
    w->storages = g->storages;
    w->cells = (struct hbg__cell *)(void *)g->cell_arena.origin;
    w->blocks = (const struct hbg__reader_block *)(const void *)g->pool_arena.origin;
    w->mark = g->producers.mark;
    w->mark_count = g->producers.count;
    w->storage_base = g->storage_base;
    w->storage_count = g->storage_count;
    w->out = (struct hbg_view_arg *)(void *)(g->payload + (size_t)g->payload_top * 8) + position;
}

/* There is room: see MARKS_PER_ARGUMENT. */
static inline void put_mark(struct short_way *w, uint32_t mark)
{
    uint32_t at = w->mark_count;
    if (mark == 0) return;
    while (at > 0 && w->mark[at - 1] > mark) at--;
    if (at > 0 && w->mark[at - 1] == mark) return;
    for (uint32_t i = w->mark_count++; i > at; i--) w->mark[i] = w->mark[i - 1];
    w->mark[at] = mark;
}

/* The readers of a cell and, when none of them is newer, its last writer. False: too many, nothing added. */
static inline bool put_readers(struct short_way *w, uint32_t writer, uint32_t chain)
{
    uint32_t newest = 0, block = chain & ~HBG__CHAIN;
    for (int count = 0; (block = w->blocks[block].next & ~HBG__CHAIN) != 0; count++)
        if (count == 3) return false;
    for (block = chain & ~HBG__CHAIN; block; block = w->blocks[block].next & ~HBG__CHAIN) {
        for (int i = 0; i < 3 && w->blocks[block].mark[i]; i++) {
            put_mark(w, w->blocks[block].mark[i]);
            if (w->blocks[block].mark[i] > newest) newest = w->blocks[block].mark[i];
        }
    }
    if (newest < writer) put_mark(w, writer);
    return true;
}

static inline bool put_history(struct short_way *w, uint32_t writer, uint32_t readers, bool writes)
{
    if (writes && (readers & HBG__CHAIN)) return put_readers(w, writer, readers);
    if (!writes || readers < writer) put_mark(w, writer);
    if (writes) put_mark(w, readers);
    return true;
}

static inline bool same_layout(const struct hbg_layout *l, const struct hbg_region *r)
{
    if (((unsigned)(uint16_t)l->dtype ^ r->dtype) | ((unsigned)l->rank ^ r->rank)) return false;
    if (r->rank != 2) return hbg__layout_is(l, r);
    return ((l->shape[0] ^ r->shape[0]) | (l->shape[1] ^ r->shape[1]) | (l->stride_bytes[0] ^ r->stride_bytes[0]) |
            (l->stride_bytes[1] ^ r->stride_bytes[1])) == 0;
}

/* Settle the region, or leave everything as it was. */
static inline bool region_short(struct short_way *w, const struct hbg_arg *arg, struct short_access *access)
{
    const struct hbg_region *r = &arg->u.region;
    bool writes = arg->kind != HBG_ARG_IN;
    uint32_t index = r->storage - w->storage_base, cell = HBG__NIL, layout;
    if (index >= w->storage_count) return false;
    const struct hbg__storage *s = &w->storages[index];
    uint32_t flags = writes ? r->flags : r->flags & ~(uint32_t)HBG_REGION_READ_ONLY;
    if (flags | s->wide | s->no_short) return false;
    if ((layout = s->cell_layout) && same_layout((const struct hbg_layout *)(const void *)(w->payload + (size_t)layout * 8), r)) {
        cell = hbg__hazard_fast_cell(s, r->offset_bytes + s->displacement);
        if (cell == HBG__NIL || (writes && s->readers)) return false;
        const struct hbg__cell *c = &w->cells[cell];
        uint32_t writer = s->writer, readers = 0;
        if (c->generation == s->generation) {
            if (c->parts) return false;
            if (c->writer > writer) writer = c->writer;
            readers = c->readers;
        }
        if (!put_history(w, writer, readers, writes)) return false;
    } else {
        layout = s->whole_layout;
        if (s->grid || !layout || r->offset_bytes || !same_layout((const struct hbg_layout *)(const void *)(w->payload + (size_t)layout * 8), r) ||
            !put_history(w, s->writer, s->readers, writes)) return false;
    }
    *access = (struct short_access){ index, cell, writes };
    *w->out++ = (struct hbg_view_arg){ (uint64_t)(r->offset_bytes + s->word_bias), s->base, layout };
    return true;
}

/* A scalar of a type that the build has seen before. */
static inline bool scalar_short(struct short_way *w, const struct hbg_graph *g, const struct hbg_arg *arg)
{
    uint32_t layout = arg->dtype <= HBG_F64 ? g->scalar_layouts[arg->dtype] : 0;
    if (!layout) return false;
    *w->out++ = (struct hbg_view_arg){ arg->u.bits, HBG__BASE_ZERO, layout };
    return true;
}

/* Enter a settled access; false: the general path has to. */
static inline bool note_short(struct hbg_graph *g, const struct short_access *access, uint32_t mark)
{
    struct hbg__storage *s = &g->storages[access->home];
    if (access->cell == HBG__NIL) {
        if (s->grid) return false;      /* another argument of this task has brought one */
        if (!access->writes) return hbg__reader_add(g, &s->readers, mark);
        s->writer = mark;
        s->readers = 0;
        return true;
    }
    struct hbg__cell *cell = hbg__cell_open(g, s, access->cell);
    if (!access->writes) return hbg__reader_add(g, &cell->readers, mark);
    s->part_writer = cell->writer = mark;
    cell->readers = cell->parts = 0;
    return true;
}

/* ---- the task ------------------------------------------------------------------------------------------------------- */

/* Everybody comes after the last barrier, and inside a manual scope after its begin. A producer that does so already
   stands for it; older ones are covered by the barrier. */
static HBG_COLD bool keep_order(struct hbg_graph *g)
{
    struct hbg__producers *p = &g->producers;
    uint32_t floor = g->manual && g->manual_begin > g->barrier ? g->manual_begin : g->barrier, drop = 0;
    if (g->manual) return (p->count > 0 && p->mark[p->count - 1] >= floor) || hbg__producer_add(g, floor);
    while (drop < p->count && p->mark[drop] < floor) drop++;
    p->count -= drop;
    memmove(p->mark, p->mark + drop, (size_t)p->count * sizeof *p->mark);
    return p->count > 0 || hbg__producer_add(g, floor);
}

static HBG_COLD bool make_room(struct hbg_graph *g, size_t count)
{
    if (count > HBG__ARGS_MAX) {
        hbg__graph_fail_limit(g, "arguments of one task", 0, HBG__ARGS_MAX, count, "pass a region of regions, or split the task");
        return false;
    }
    return (g->task_count < g->task_limit || hbg__tasks_grow(g)) && hbg__payload_fit(g, 2 * count) &&
           hbg__graph_reserve(g, (void **)&g->accesses, &g->access_capacity, (uint32_t)count + 1, sizeof *g->accesses);
}

static inline bool has_room(const struct hbg_graph *g, size_t count)
{
    return count < g->access_capacity && g->payload_top + 2 * count <= g->payload_limit && g->task_count < g->task_limit;
}

static HBG_COLD void too_few(struct hbg__submit *s)
{
    hbg__graph_fail(s->g, HBG_E_SIGNATURE, (int)s->arg_count, s->kernel_name, "kernel %s takes %u arguments, %u are given",
                    s->kernel_name, s->signature->arg_count, s->arg_count);
}

/* Is position i just this? `any` and wrong ones are for the general way. */
static inline bool signature_is(const struct hbg__signature *sig, uint32_t i, uint32_t kind, uint32_t dtype)
{
    return !sig->given || (i < sig->arg_count && sig->kind[i] == kind && sig->dtype[i] == dtype);
}

/* Every argument, on the short way if it may be; `noted` gets the accesses that took it. Returns their number, -1: latched. */
static inline int put_all(struct hbg__submit *s, struct hbg_arg_list list, struct short_access *noted)
{
    struct hbg_graph *g = s->g;
    const struct hbg__signature *sig = s->signature;
    struct short_way w;
    int count = 0;
    bool general = !sig || g->manual;
    load(&w, g, 0);
    for (size_t i = 0; i < list.count; i++) {
        const struct hbg_arg *arg = &list.arg[i];
        uint32_t kind = arg->kind;
        if (HBG_LIKELY(!general && w.mark_count + MARKS_PER_ARGUMENT <= g->producers.capacity)) {
            if (kind - 1u < HBG_ARG_INOUT) {
                if (HBG_LIKELY(count < SHORT_ACCESSES && signature_is(sig, s->arg_count, kind, arg->u.region.dtype) && region_short(&w, arg, &noted[count]))) {
                    s->arg_count++;
                    count++;
                    continue;
                }
            } else if (kind == HBG_ARG_SCALAR && signature_is(sig, s->arg_count, kind, arg->dtype) && scalar_short(&w, g, arg)) {
                s->arg_count++;
                continue;
            }
        }
        g->producers.count = w.mark_count;
        if (HBG_UNLIKELY(!hbg__submit_argument(s, arg))) return -1;
        load(&w, g, s->arg_count);
    }
    g->producers.count = w.mark_count;
    if (sig && sig->given && s->arg_count < sig->arg_count) { too_few(s); return -1; }
    return count;
}

/* Enter all accesses under the mark of the task. False: latched. */
static inline bool note_all(struct hbg__submit *s, const struct short_access *noted, int noted_count, uint32_t mark)
{
    struct hbg_graph *g = s->g;
    for (int i = 0; i < noted_count; i++) {
        if (HBG_LIKELY(note_short(g, &noted[i], mark))) continue;
        struct hbg__access access = { .home = noted[i].home, .cell = noted[i].cell, .writes = noted[i].writes,
                                      .place = noted[i].cell == HBG__NIL ? HBG__ACCESS_WHOLE : HBG__ACCESS_CELL };
        if (!hbg__hazard_note(g, &access, mark)) return false;
    }
    for (uint32_t i = 0; i < s->access_count; i++)
        if (!hbg__hazard_note(g, &g->accesses[i], mark)) return false;
    return true;
}

static inline __attribute__((always_inline)) struct hbg_task submit(struct hbg__submit *s, uint32_t kernel, struct hbg_arg_list list, uint32_t flags)
{
    struct hbg_graph *g = s->g;
    struct short_access noted[SHORT_ACCESSES];
    g->producers.count = 0;
    g->pending_units = (uint32_t)(2 * list.count);
    int noted_count = put_all(s, list, noted);
    if (HBG_UNLIKELY(noted_count < 0)) return no_task(g);
    g->pending_units = 0;
    if (HBG_UNLIKELY(g->manual || g->barrier) && !keep_order(g)) return no_task(g);
    uint32_t args = s->signature ? s->arg_count : 0;
    g->payload_top += 2 * args;
    if (HBG_UNLIKELY(g->task_count >= g->task_limit && !hbg__tasks_grow(g))) return no_task(g);
    if (HBG_UNLIKELY(g->producers.count > 3 && !hbg__payload_fit(g, hbg__edge_row_units(g->producers.count)))) return no_task(g);
    if (HBG_UNLIKELY(!note_all(s, noted, noted_count, g->task_count + 1))) return no_task(g);
    struct hbg_task task = { hbg__append(g, kernel, args, flags, g->producers.mark, g->producers.count), g->serial };
    g->user_tasks++;
    if (flags & HBG__TASK_NOOP) g->user_noops++;
    if (HBG_UNLIKELY(g->regrid_home != HBG__NIL) && !hbg__hazard_regrid(g)) return no_task(g);
    return task;
}

static HBG_COLD bool fail_call(struct hbg_graph *g, bool noop, int kernel, struct hbg_arg_list list)
{
    const struct hbg__build_input *in = g->input;
    if (g->failed) return false;
    if (list.count && !list.arg)
        hbg__graph_fail(g, HBG_E_NULL, -1, "", "the argument list is NULL but has %zu entries", list.count);
    else if (!noop && (uint32_t)kernel >= in->kernel_count)
        hbg__graph_fail(g, HBG_E_OPTION, -1, "kernel", "kernel %d is not in the program's table of %u", kernel, in->kernel_count);
    else
        hbg__graph_fail_limit(g, "limit_tasks", g->user_tasks, in->limit_tasks, 1, "raise limit_tasks in the program's options");
    return false;
}

/* `kernel` means nothing for a noop. */
static inline bool may_submit(struct hbg_graph *g, bool noop, int kernel, struct hbg_arg_list list)
{
    const struct hbg__build_input *in = g->input;
    if (HBG_UNLIKELY(g->failed || (list.count && !list.arg) || (!noop && (uint32_t)kernel >= in->kernel_count) ||
                     (in->limit_tasks && g->user_tasks >= in->limit_tasks))) return fail_call(g, noop, kernel, list);
    return HBG_LIKELY(has_room(g, list.count)) || make_room(g, list.count);
}

struct hbg_task hbg_submit_args(struct hbg_graph *g, int kernel, struct hbg_arg_list list)
{
    if (!g) return (struct hbg_task){ UINT32_MAX, 0 };
    if (!may_submit(g, false, kernel, list)) return no_task(g);
    struct hbg__submit s = { g, &g->input->signatures[kernel], g->input->kernels[kernel].name, 0, 0 };
    return submit(&s, (uint32_t)kernel, list, 0);
}

static bool unsupported(const struct hbg_task_options *o, const char **what)
{
    *what = o->width > 1 ? "width" : o->gang ? "gang" : o->priority ? "priority" : o->kind != HBG_ANY ? "kind"
          : o->lane_kernel[0] || o->lane_kernel[1] || o->lane_kernel[2] ? "lane_kernel" : o->when.op ? "when" : NULL;
    return *what != NULL;
}

struct hbg_task hbg_submit_args_ex(struct hbg_graph *g, int kernel, const struct hbg_task_options *options, struct hbg_arg_list list)
{
    struct hbg_task_options o = { 0 };
    const char *what;
    if (!g) return (struct hbg_task){ UINT32_MAX, 0 };
    if (options) memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    if (options && options->size < sizeof o.size)
        hbg__graph_fail(g, HBG_E_ABI, -1, "size", "task options without a size: make them with HBG_OPTIONS(task_options)");
    if (unsupported(&o, &what)) hbg__graph_fail(g, HBG_E_UNSUPPORTED, -1, what, "the task option %s is not supported yet", what);
    return hbg_submit_args(g, kernel, list);
}

struct hbg_task hbg_noop_args(struct hbg_graph *g, struct hbg_arg_list list)
{
    if (!g) return (struct hbg_task){ UINT32_MAX, 0 };
    if (!may_submit(g, true, 0, list)) return no_task(g);
    struct hbg__submit s = { g, NULL, "noop", 0, 0 };
    return submit(&s, 0, list, HBG__TASK_NOOP);
}

struct hbg_task hbg_subgraph(struct hbg_graph *g, struct hbg_key key, hbg_build_fn *fn, struct hbg_arg_list list)
{
    (void)fn;
    (void)list;
    if (!g) return (struct hbg_task){ UINT32_MAX, 0 };
    hbg__graph_fail(g, HBG_E_UNSUPPORTED, -1, key.name, "subgraphs are not supported yet");
    return no_task(g);
}
