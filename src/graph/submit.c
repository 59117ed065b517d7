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
 * Two thirds of this file is the short way for a region that is one whole cell, or all of its storage.
 */
#include "graph/append.h"
#include "graph/hazard_map.h"
#include "graph/signature.h"

#include <hbg/subgraph.h>

/* One submit in progress. */
struct submit {
    struct hbg_graph *g;
    const struct hbg__signature *signature;     /* NULL: a noop */
    const char *kernel_name;
    uint32_t arg_count;                         /* positions taken so far */
    uint32_t access_count;
};

static struct hbg_task no_task(const struct hbg_graph *g)
{
    struct hbg_task t = { UINT32_MAX, g->serial };
    return t;
}

/* ---- producers --------------------------------------------------------------------------------------------------- */

static HBG_COLD bool add_producer_slowly(struct hbg_graph *g, uint32_t mark)
{
    return hbg__graph_reserve(g, (void **)&g->producers.mark, &g->producers.capacity, g->producers.count + 1, sizeof(uint32_t))
        && hbg__producers_add(&g->producers, mark);
}

static inline bool add_producer(struct hbg_graph *g, uint32_t mark)
{
    return HBG_LIKELY(hbg__producers_add(&g->producers, mark)) || add_producer_slowly(g, mark);
}

/* A whole cell without parts, or a storage without cells: the history is one small record, and so are the rules. */
static inline bool collect_simple(struct hbg_graph *g, uint32_t writer, uint32_t reader, bool writes)
{
    if (!writes) return add_producer(g, writer);
    return add_producer(g, reader) && (reader > writer || add_producer(g, writer));
}

static inline bool collect(struct hbg_graph *g, const struct hbg__storage *s, const struct hbg__access *a)
{
    if (a->place == HBG__ACCESS_CELL) {
        const struct hbg__cell *cell = hbg__cell_at(g, a->cell);
        bool used = cell->generation == s->generation;
        uint32_t own = used ? cell->writer : 0, readers = used ? cell->readers : 0;
        bool simple = !(used && cell->parts) && !s->wide && !(a->writes && (s->readers | (readers & HBG__CHAIN)));
        if (HBG_LIKELY(simple)) return collect_simple(g, own > s->writer ? own : s->writer, readers, a->writes);
    } else if (a->place == HBG__ACCESS_WHOLE && !s->grid && !s->wide && !(s->readers & HBG__CHAIN)) {
        return collect_simple(g, s->writer, s->readers, a->writes);
    }
    return hbg__hazard_collect(g, a);
}

static inline bool note(struct hbg_graph *g, const struct hbg__access *a, uint32_t mark)
{
    struct hbg__storage *s = &g->storages[a->home];
    if (a->place == HBG__ACCESS_CELL) {
        struct hbg__cell *cell = hbg__cell_at(g, a->cell);
        if (HBG_LIKELY(cell->generation == s->generation && (a->writes || cell->readers == 0))) {
            if (a->writes) {
                s->part_writer = cell->writer = mark;
                cell->readers = cell->parts = 0;
            } else {
                cell->readers = mark;
            }
            return true;
        }
    }
    return hbg__hazard_note(g, a, mark);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static inline struct hbg_view_arg *arg_at(const struct hbg_graph *g, uint32_t i)
{
    return (struct hbg_view_arg *)(void *)(g->payload + (size_t)g->payload_top * 8) + i;
}

static HBG_COLD void fail_signature(struct submit *s, const struct hbg_arg *arg)
{
    char wanted[32], given[32];
    hbg__signature_text_of_arg(arg, given);
    if (s->arg_count >= s->signature->arg_count) {
        hbg__graph_fail(s->g, HBG_E_SIGNATURE, (int)s->arg_count, s->kernel_name, "kernel %s takes %u arguments, argument %u (%s) is one more",
                        s->kernel_name, s->signature->arg_count, s->arg_count, given);
        return;
    }
    hbg__signature_text_of(s->signature, s->arg_count, wanted);
    hbg__graph_fail(s->g, HBG_E_SIGNATURE, (int)s->arg_count, s->kernel_name, "argument %u of kernel %s is '%s', its signature says '%s'",
                    s->arg_count, s->kernel_name, given, wanted);
}

static inline bool check_signature(struct submit *s, const struct hbg_arg *arg, uint32_t kind, uint32_t dtype)
{
    const struct hbg__signature *sig = s->signature;
    uint32_t i = s->arg_count;
    if (!sig->given) return true;
    if (HBG_LIKELY(i < sig->arg_count && sig->kind[i] == kind && sig->dtype[i] == dtype)) return true;
    if (hbg__signature_permits(sig, i, arg)) return true;
    fail_signature(s, arg);
    return false;
}

static bool put_scalar(struct submit *s, const struct hbg_arg *arg, uint64_t word, uint32_t base, int dtype)
{
    struct hbg_graph *g = s->g;
    uint32_t layout = dtype >= 0 && dtype <= HBG_F64 ? g->scalar_layouts[dtype] : 0;
    if (!check_signature(s, arg, HBG_ARG_SCALAR, (uint32_t)dtype)) return false;
    if (!layout && dtype && !(layout = hbg__layout_of_scalar(g, dtype))) return false;
    *arg_at(g, s->arg_count++) = (struct hbg_view_arg){ word, base, layout };
    return true;
}

static bool put_bound(struct submit *s, const struct hbg_arg *arg)
{
    struct hbg_graph *g = s->g;
    const struct hbg__boundary *b = &g->input->boundary;
    if (arg->index >= b->arg_count || b->arg[arg->index].group != UINT32_MAX || b->arg[arg->index].arg.kind != HBG_ARG_SCALAR) {
        hbg__graph_fail(g, HBG_E_ACCESS, (int)s->arg_count, s->kernel_name, "argument %u binds boundary position %u, which is no scalar",
                        s->arg_count, arg->index);
        return false;
    }
    return put_scalar(s, arg, 0, HBG__BASE_BOUNDARY + arg->index, arg->dtype);
}

/* Parameter bytes stand in the payload, 16-byte aligned. */
static bool put_bytes(struct submit *s, const struct hbg_arg *arg)
{
    struct hbg_graph *g = s->g;
    uint32_t size = arg->index, units = (size + 15) / 16 * 2, offset, pad;
    if (size > 4096 || (size > 0 && !arg->u.bytes)) {
        hbg__graph_fail(g, size > 4096 ? HBG_E_LIMIT : HBG_E_NULL, (int)s->arg_count, s->kernel_name,
                        "argument %u: parameter bytes are %u at a pointer; up to 4096 bytes and no NULL", s->arg_count, size);
        return false;
    }
    if (!check_signature(s, arg, HBG_ARG_BYTES, size)) return false;
    struct hbg_region shape = { .dtype = HBG_U8, .rank = 1, .shape = { size }, .stride_bytes = { 1 } };
    uint32_t layout = hbg__layout_of_region(g, &shape);
    if (!layout || (g->payload_top & 1 && !hbg__payload_insert(g, 1, &pad)) || !hbg__payload_insert(g, units, &offset)) return false;
    memset(g->payload + (size_t)offset * 8, 0, (size_t)units * 8);
    if (size) memcpy(g->payload + (size_t)offset * 8, arg->u.bytes, size);
    *arg_at(g, s->arg_count++) = (struct hbg_view_arg){ (uint64_t)offset * 8, HBG__BASE_PAYLOAD, layout };
    return true;
}

static bool put_after(struct submit *s, const struct hbg_arg *arg)
{
    struct hbg_graph *g = s->g;
    struct hbg_task task = arg->u.task;
    if (task.graph != g->serial || task.id >= g->task_count) {
        hbg__graph_fail(g, HBG_E_TASK_ID, -1, s->kernel_name, "hbg_after names task %u of %s", task.id,
                        task.graph == g->serial ? "this graph, which has not been submitted" : "another graph");
        return false;
    }
    return add_producer(g, task.id + 1);
}

/* A region that is neither a whole cell nor a whole storage by its looks. */
static HBG_NO_INLINE uint32_t classify(struct submit *s, const struct hbg_region *r, uint32_t home, int64_t off, struct hbg__access *access)
{
    if (!hbg__hazard_classify(s->g, home, off, r, (int)s->arg_count, access)) return 0;
    return hbg__layout_of_region(s->g, r);
}

static inline bool put_region(struct submit *s, const struct hbg_arg *arg)
{
    struct hbg_graph *g = s->g;
    const struct hbg_region *r = &arg->u.region;
    bool writes = arg->kind != HBG_ARG_IN;
    uint32_t index = r->storage - g->storage_base, layout;
    struct hbg__storage *own = &g->storages[index];
    if (HBG_UNLIKELY(index >= g->storage_count || (r->flags & ~HBG_REGION_READ_ONLY) || (own->flags & HBG__STORAGE_FREED))) {
        if (!(own = hbg__storage_of(g, r, (int)s->arg_count))) return false;
    }
    if (s->signature && !check_signature(s, arg, arg->kind, r->dtype)) return false;
    if (HBG_UNLIKELY(writes && (r->flags & HBG_REGION_READ_ONLY) && arg->kind != HBG_ARG_UNTRACKED)) {
        hbg__graph_fail(g, HBG_E_ACCESS, (int)s->arg_count, s->kernel_name, "argument %u would write a read-only region", s->arg_count);
        return false;
    }
    struct hbg__storage *home = &g->storages[own->home];
    struct hbg__access *access = &g->accesses[s->access_count];
    int64_t off = r->offset_bytes + own->displacement, word = r->offset_bytes + own->word_bias;
    uint32_t base = own->base;
    access->home = own->home;
    access->writes = writes;
    if (home->cell_layout && !home->wide && hbg__layout_is(hbg__layout_at(g, home->cell_layout), r) &&
        (access->cell = hbg__hazard_fast_cell(home, off)) != HBG__NIL) {
        access->place = HBG__ACCESS_CELL;
        layout = home->cell_layout;
    } else if (own == home && r->offset_bytes == 0 && own->whole_layout && !(own->flags & HBG__STORAGE_SHARED) &&
               own->size_bytes > 0 && hbg__layout_is(hbg__layout_at(g, own->whole_layout), r)) {
        access->place = HBG__ACCESS_WHOLE;
        layout = own->whole_layout;
    } else {
        layout = classify(s, r, access->home, off, access);
        if (HBG_UNLIKELY(!layout)) return false;
    }
    if (s->signature) *arg_at(g, s->arg_count) = (struct hbg_view_arg){ (uint64_t)word, base, layout };
    s->arg_count++;
    if (arg->kind == HBG_ARG_UNTRACKED || access->place == HBG__ACCESS_NONE) return true;
    s->access_count++;
    if (HBG_UNLIKELY(g->manual)) return hbg__manual_note(g, access);
    return collect(g, &g->storages[access->home], access);
}

static HBG_COLD bool fail_kind(struct submit *s, const struct hbg_arg *arg)
{
    if (arg->kind == HBG_ARG_ACCUMULATE)
        hbg__graph_fail(s->g, HBG_E_UNSUPPORTED, (int)s->arg_count, s->kernel_name, "argument %u: accumulate is not supported yet", s->arg_count);
    else
        hbg__graph_fail(s->g, HBG_E_ACCESS, (int)s->arg_count, s->kernel_name, "argument %u has the unknown kind %u", s->arg_count, arg->kind);
    return false;
}

static bool put_value(struct submit *s, const struct hbg_arg *arg)
{
    if (arg->kind == HBG_ARG_AFTER) return put_after(s, arg);
    if (!s->signature) {
        hbg__graph_fail(s->g, HBG_E_SIGNATURE, (int)s->arg_count, "noop", "a noop takes regions and hbg_after, no scalars");
        return false;
    }
    switch (arg->kind) {
    case HBG_ARG_SCALAR: return put_scalar(s, arg, arg->u.bits, HBG__BASE_ZERO, arg->dtype);
    case HBG_ARG_BOUND: return put_bound(s, arg);
    case HBG_ARG_BYTES: return put_bytes(s, arg);
    default: return fail_kind(s, arg);
    }
}

/* ---- the task ------------------------------------------------------------------------------------------------------- */

/* Everybody comes after the last barrier, and inside a manual scope after its begin. A producer that does so already
   stands for it; older ones are covered by the barrier. */
static HBG_COLD bool keep_order(struct hbg_graph *g)
{
    struct hbg__producers *p = &g->producers;
    uint32_t floor = g->manual && g->manual_begin > g->barrier ? g->manual_begin : g->barrier, drop = 0;
    if (g->manual) return (p->count > 0 && p->mark[p->count - 1] >= floor) || add_producer(g, floor);
    while (drop < p->count && p->mark[drop] < floor) drop++;
    p->count -= drop;
    memmove(p->mark, p->mark + drop, (size_t)p->count * sizeof *p->mark);
    return p->count > 0 || add_producer(g, floor);
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

static inline bool put_all(struct submit *s, struct hbg_arg_list list)
{
    for (size_t i = 0; i < list.count; i++) {
        const struct hbg_arg *arg = &list.arg[i];
        bool region = arg->kind - 1u < HBG_ARG_UNTRACKED && arg->kind != HBG_ARG_ACCUMULATE;
        if (HBG_UNLIKELY(!(region ? put_region(s, arg) : put_value(s, arg)))) return false;
    }
    if (s->signature && s->signature->given && s->arg_count < s->signature->arg_count) {
        hbg__graph_fail(s->g, HBG_E_SIGNATURE, (int)s->arg_count, s->kernel_name, "kernel %s takes %u arguments, %u are given",
                        s->kernel_name, s->signature->arg_count, s->arg_count);
        return false;
    }
    return true;
}

static inline struct hbg_task submit(struct submit *s, uint32_t kernel, struct hbg_arg_list list, uint32_t flags)
{
    struct hbg_graph *g = s->g;
    g->producers.count = 0;
    g->pending_units = (uint32_t)(2 * list.count);
    if (HBG_UNLIKELY(!put_all(s, list))) return no_task(g);
    g->pending_units = 0;
    uint32_t args = s->signature ? s->arg_count : 0;
    if (HBG_UNLIKELY(g->manual || g->barrier) && !keep_order(g)) return no_task(g);
    g->payload_top += 2 * args;
    if (HBG_UNLIKELY(g->task_count >= g->task_limit && !hbg__tasks_grow(g))) return no_task(g);
    if (HBG_UNLIKELY(g->producers.count > 3 && !hbg__payload_fit(g, hbg__edge_row_units(g->producers.count)))) return no_task(g);
    if (!g->manual)
        for (uint32_t i = 0; i < s->access_count; i++)
            if (HBG_UNLIKELY(!note(g, &g->accesses[i], g->task_count + 1))) return no_task(g);
    struct hbg_task task = { hbg__append(g, kernel, args, flags, g->producers.mark, g->producers.count), g->serial };
    g->user_tasks++;
    if (HBG_UNLIKELY(g->regrid_home != HBG__NIL) && !hbg__hazard_regrid(g)) return no_task(g);
    return task;
}

static HBG_COLD bool fail_call(struct hbg_graph *g, int kernel, struct hbg_arg_list list)
{
    const struct hbg__build_input *in = g->input;
    if (g->failed) return false;
    if (list.count && !list.arg)
        hbg__graph_fail(g, HBG_E_NULL, -1, "", "the argument list is NULL but has %zu entries", list.count);
    else if ((uint32_t)kernel >= in->kernel_count)
        hbg__graph_fail(g, HBG_E_OPTION, -1, "kernel", "kernel %d is not in the program's table of %u", kernel, in->kernel_count);
    else
        hbg__graph_fail_limit(g, "limit_tasks", g->user_tasks, in->limit_tasks, 1, "raise limit_tasks in the program's options");
    return false;
}

static inline bool may_submit(struct hbg_graph *g, int kernel, struct hbg_arg_list list)
{
    const struct hbg__build_input *in = g->input;
    if (HBG_UNLIKELY(g->failed || (list.count && !list.arg) || (uint32_t)kernel >= in->kernel_count ||
                     (in->limit_tasks && g->user_tasks >= in->limit_tasks))) return fail_call(g, kernel, list);
    return HBG_LIKELY(has_room(g, list.count)) || make_room(g, list.count);
}

struct hbg_task hbg_submit_args(struct hbg_graph *g, int kernel, struct hbg_arg_list list)
{
    if (!g) return (struct hbg_task){ UINT32_MAX, 0 };
    if (!may_submit(g, kernel, list)) return no_task(g);
    struct submit s = { g, &g->input->signatures[kernel], g->input->kernels[kernel].name, 0, 0 };
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
    if (g->input->kernel_count == 0 && !g->failed)      /* a program of noops alone is fine */
        return make_room(g, list.count) ? submit(&(struct submit){ g, NULL, "noop", 0, 0 }, 0, list, HBG__TASK_NOOP) : no_task(g);
    if (!may_submit(g, 0, list)) return no_task(g);
    struct submit s = { g, NULL, "noop", 0, 0 };
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
