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
 * An argument takes the short way (short_way.h) or the general one (argument.c), each on its own; the result is the same.
 */
#include "graph/submit.h"
#include "base/plural.h"
#include "graph/append.h"
#include "graph/body.h"
#include "graph/repeat.h"
#include "graph/short_way.h"
#include "graph/signature.h"

enum { SHORT_UNITS = 2 * HBG__SHORT_ARGUMENTS + HBG__SHORT_TASK_MARKS };     /* payload that a task of the short way takes at most */

static struct hbg_task no_task(const struct hbg_graph *g)
{
    struct hbg_task t = { UINT32_MAX, g->serial };
    return t;
}

bool hbg__producer_add(struct hbg_graph *g, uint32_t mark)
{
    if (hbg__producers_add(&g->producers, mark)) return true;
    return hbg__graph_reserve(g, (void **)&g->producers.mark, &g->producers.capacity, g->producers.count + 1, sizeof(uint32_t))
        && hbg__producers_add(&g->producers, mark);
}

/* ---- arguments ---------------------------------------------------------------------------------------------------- */

static inline struct hbg_view_arg *first_argument(const struct hbg_graph *g)
{
    return (struct hbg_view_arg *)(void *)(g->payload + (size_t)g->payload_top * 8);
}

/* One argument on the general way; *position moves on when it takes one. False: latched. */
static HBG_NO_INLINE bool put_general(struct hbg_graph *g, int kernel, const struct hbg_arg *arg, uint32_t *position)
{
    const struct hbg__build_input *in = g->input;
    struct hbg__submit s = { g, NULL, "noop", *position };
    if (kernel >= 0) {
        s.signature = &in->signatures[kernel];
        s.kernel_name = in->kernels[kernel].name;
    }
    bool put = hbg__submit_argument(&s, arg);
    *position = s.arg_count;
    return put;
}

/* Where a task begins that has arguments of the general way. */
static void begin_general(struct hbg_graph *g, size_t arg_count)
{
    g->producers.count = g->access_count = 0;
    g->pending_units = (uint32_t)(2 * arg_count);
}

/* An argument that is not settled here, in the middle of a short list. */
static HBG_NO_INLINE bool put_between(struct hbg_graph *g, struct hbg__short_task *t, int kernel, const struct hbg_arg *arg, size_t arg_count,
                                      uint32_t *position)
{
    if (!t->mixed) begin_general(g, arg_count);
    t->mixed = true;
    return put_general(g, kernel, arg, position);
}

/* A constant of a type that the build has used before. */
static inline bool is_known_scalar(const struct hbg_graph *g, const struct hbg_arg *arg)
{
    return arg->kind == HBG_ARG_SCALAR && arg->dtype <= HBG_F64 && g->scalar_layouts[arg->dtype];
}

/* The kind of an argument and its type as a signature wants them; the type is 0 for kinds that have none. */
static inline uint32_t kind_and_type(const struct hbg_arg *arg)
{
    return arg->kind | (uint32_t)(arg->kind <= HBG_ARG_INOUT ? arg->u.region.dtype : arg->dtype) << 16;
}

/* One argument, settled here. False: nothing has happened yet. */
static HBG_ALWAYS_INLINE bool put_one(struct hbg_graph *g, struct hbg__short_task *t, const struct hbg_arg *arg, struct hbg_view_arg *out)
{
    if (HBG_LIKELY(arg->kind - 1u < HBG_ARG_INOUT)) return hbg__short_region(g, t, &arg->u.region, arg->kind != HBG_ARG_IN, out);
    if (!is_known_scalar(g, arg)) return false;
    *out = (struct hbg_view_arg){ arg->u.bits, HBG__BASE_ZERO, g->scalar_layouts[arg->dtype] };
    return true;
}

/* A short list whose length is that of the signature, if there is one. *position: how many places it took. False: latched. */
static inline bool put_short(struct hbg_graph *g, struct hbg__short_task *t, int kernel, struct hbg_arg_list list, uint32_t *position)
{
    const uint32_t *want = g->input->signatures[kernel].want;
    struct hbg_view_arg *first = first_argument(g);
    uint32_t at = 0;
    for (const struct hbg_arg *arg = list.arg, *end = arg + list.count; arg != end; arg++) {
        if ((!want || want[at] == kind_and_type(arg)) && HBG_LIKELY(put_one(g, t, arg, first + at))) {
            at++;
            continue;
        }
        if (HBG_UNLIKELY(!put_between(g, t, kernel, arg, list.count, &at))) return false;
        first = first_argument(g);
    }
    *position = at;
    return true;
}

/* Of a list of any length; kernel is -1 for a noop. What was settled goes to g->bodies->settled, its producers to g->producers. False: latched. */
static HBG_NO_INLINE bool put_list(struct hbg_graph *g, int kernel, struct hbg_arg_list list, uint32_t *position)
{
    struct hbg__bodies *b = g->bodies;
    const struct hbg__signature *sig = (uint32_t)kernel < g->short_kernels ? &g->input->signatures[kernel] : NULL;
    struct hbg__short_task t;
    if (!hbg__graph_reserve(g, (void **)&b->settled, &b->settled_capacity, (uint32_t)list.count, sizeof *b->settled)) return false;
    t.noted = b->settled;
    t.producer = t.mark;
    t.nobody = 0;
    for (const struct hbg_arg *arg = list.arg, *end = arg + list.count; arg != end; arg++) {
        bool fits = sig && (!sig->want || (*position < sig->arg_count && sig->want[*position] == kind_and_type(arg)));
        if (HBG_UNLIKELY(t.producer > t.mark + HBG__SHORT_TASK_MARKS - HBG__SHORT_MARKS) && !hbg__short_take_marks(g, &t)) return false;
        if (fits && put_one(g, &t, arg, first_argument(g) + *position)) ++*position;
        else if (!put_general(g, kernel, arg, position)) return false;
    }
    b->settled_count = (uint32_t)(t.noted - b->settled);
    return hbg__short_take_marks(g, &t);
}

void hbg__short_insert(struct hbg__short_task *t, uint32_t mark)
{
    uint32_t *at = t->producer;
    while (at > t->mark && at[-1] > mark) at--;
    if (at > t->mark && at[-1] == mark) return;
    memmove(at + 1, at, (size_t)(t->producer++ - at) * sizeof *at);
    *at = mark;
}

bool hbg__short_take_marks(struct hbg_graph *g, struct hbg__short_task *t)
{
    for (const uint32_t *mark = t->mark; mark != t->producer; mark++)
        if (!hbg__producer_add(g, *mark)) return false;
    t->producer = t->mark;
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

/* Every task of a body comes after what the body's submission comes after. One that has a task of the body for a producer does so already; a noop
   may be one that joins tasks from before the body. */
static HBG_COLD bool enter_body(struct hbg_graph *g)
{
    const struct hbg__producers *p = &g->producers;
    uint32_t entry = g->frame->entry;
    uint32_t newest = p->count > 0 ? p->mark[p->count - 1] : 0;
    bool follows = newest >= entry && newest > 0 && !(hbg__image_record(g->payload, newest - 1)->flags & HBG__TASK_NOOP);
    return entry == 0 || follows || hbg__producer_add(g, entry);
}

/* An access of the short way as one of the general way. */
static struct hbg__access settled(const struct hbg__short_access *access)
{
    return (struct hbg__access){ .home = access->home_writes / 2, .cell = access->cell, .writes = access->home_writes % 2,
                                 .place = access->cell == HBG__NIL ? HBG__ACCESS_WHOLE : HBG__ACCESS_CELL };
}

static HBG_COLD bool note_settled(struct hbg_graph *g, const struct hbg__short_access *access, uint32_t mark)
{
    struct hbg__access general = settled(access);
    return hbg__hazard_note(g, &general, mark);
}

/* The arguments are written and the producers collected: the task itself, where nothing has to be looked at any more. */
static inline struct hbg_task append_short(struct hbg_graph *g, const struct hbg__short_task *t, int kernel, uint32_t arg_count)
{
    uint32_t mark = g->task_count + 1;
    g->payload_top += 2 * arg_count;
    for (const struct hbg__short_access *access = t->access; access != t->noted; access++)
        if (HBG_UNLIKELY(!hbg__short_note(g, access, mark)) && !note_settled(g, access, mark)) return no_task(g);
    return (struct hbg_task){ hbg__append(g, (uint32_t)kernel, arg_count, 0, t->mark, hbg__short_count(t)), g->serial };
}

static bool writes_whole(const struct hbg__access *access) { return access->place == HBG__ACCESS_WHOLE && access->writes; }

struct hbg_task hbg__submit_append(struct hbg_graph *g, uint32_t kernel, uint32_t arg_count, uint32_t flags, uint32_t before,
                                   const struct hbg__short_access *short_access, uint32_t short_count)
{
    g->pending_units = 0;
    if (HBG_UNLIKELY(g->frame != NULL) && !enter_body(g)) return no_task(g);
    if ((g->manual || g->barrier) && !keep_order(g)) return no_task(g);
    g->payload_top += before + 2 * arg_count;
    if (g->task_count >= g->task_limit && !hbg__tasks_grow(g)) return no_task(g);
    if (!hbg__payload_fit(g, hbg__edge_row_units(g->producers.count))) return no_task(g);
    uint32_t mark = g->task_count + 1;
    for (uint32_t i = 0; i < short_count; i++)
        if (HBG_UNLIKELY(!hbg__short_note(g, &short_access[i], mark)) && !note_settled(g, &short_access[i], mark)) return no_task(g);
    /* What is written as a whole comes last: it empties the cells, whichever way the task's other arguments took and in whatever order they stand. */
    for (uint32_t wholes = 0; wholes < 2; wholes++)
        for (uint32_t i = 0; i < g->access_count; i++)
            if (writes_whole(&g->accesses[i]) == wholes && !hbg__hazard_note(g, &g->accesses[i], mark)) return no_task(g);
    struct hbg_task task = { hbg__append(g, kernel, arg_count, flags, g->producers.mark, g->producers.count), g->serial };
    if (HBG_UNLIKELY(g->is_serial)) g->barrier = mark;
    if (g->regrid_home != HBG__NIL && !hbg__hazard_regrid(g)) return no_task(g);
    return task;
}

/* A short list in which some arguments took the general way, or which comes after a barrier. */
static HBG_NO_INLINE struct hbg_task append_mixed(struct hbg_graph *g, struct hbg__short_task *t, int kernel, uint32_t arg_count)
{
    uint32_t settled_count = (uint32_t)(t->noted - t->access);
    if (!t->mixed) begin_general(g, arg_count);
    if (!hbg__short_take_marks(g, t)) return no_task(g);
    return hbg__submit_append(g, (uint32_t)kernel, arg_count, 0, 0, t->access, settled_count);
}

static struct hbg_task append_noop(struct hbg_graph *g)
{
    g->user_noops++;
    return hbg__submit_append(g, 0, 0, HBG__TASK_NOOP, 0, NULL, 0);
}

static HBG_COLD bool fail_call(struct hbg_graph *g, int kernel, bool noop, struct hbg_arg_list list)
{
    const struct hbg__build_input *in = g->input;
    const char *name = noop ? "noop" : (uint32_t)kernel < in->kernel_count ? in->kernels[kernel].name : "";
    if (list.count && !list.arg)
        hbg__graph_fail(g, HBG_E_NULL, -1, name, "the argument list of %s%s is NULL but has %zu entries", noop ? "a " : "kernel ", name, list.count);
    else if (!noop && (uint32_t)kernel >= in->kernel_count)
        hbg__graph_fail(g, HBG_E_OPTION, -1, "kernel", "kernel %d is not in the program's table of %u", kernel, in->kernel_count);
    else if (list.count > HBG__ARGS_MAX)
        hbg__graph_fail_limit(g, "arguments of one task", 0, HBG__ARGS_MAX, list.count, "pass one region that holds many, or split the task");
    else
        hbg__graph_fail_limit(g, "limit_tasks", hbg__tasks_used(g), in->limit_tasks, 1, "raise limit_tasks in the program's options");
    return false;
}

static bool make_room(struct hbg_graph *g, size_t count)
{
    return (g->task_count < g->task_limit || hbg__tasks_grow(g)) && hbg__payload_fit(g, 2 * count + SHORT_UNITS) &&
           hbg__graph_reserve(g, (void **)&g->accesses, &g->access_capacity, (uint32_t)count + 1, sizeof *g->accesses);
}

/* Does the signature of the kernel tell what the arguments of its record were? */
static bool is_told(const struct hbg_graph *g, int kernel, struct hbg_arg_list list)
{
    const struct hbg__signature *sig = &g->input->signatures[kernel];
    if (!sig->given || list.count != sig->arg_count) return list.count == 0;
    for (size_t i = 0; i < list.count; i++)
        if (list.arg[i].kind != sig->kind[i] || list.arg[i].kind > HBG_ARG_SCALAR || list.arg[i].kind == HBG_ARG_UNTRACKED) return false;
    return true;
}

/* Any call that the short way does not take: checked in full. */
static HBG_NO_INLINE struct hbg_task submit_general(struct hbg_graph *g, int kernel, bool noop, struct hbg_arg_list list)
{
    const struct hbg__build_input *in = g->input;
    uint32_t position = 0;
    if (!hbg__graph_is_open(g, noop ? "hbg_noop" : "hbg_submit") || (noop && !hbg__repeat_forbid(g))) return no_task(g);
    if ((list.count && !list.arg) || list.count > HBG__ARGS_MAX || (!noop && (uint32_t)kernel >= in->kernel_count) ||
        (in->limit_tasks && hbg__tasks_used(g) >= in->limit_tasks)) {
        fail_call(g, kernel, noop, list);
        return no_task(g);
    }
    if (!make_room(g, list.count)) return no_task(g);
    begin_general(g, list.count);
    if (!put_list(g, noop ? -1 : kernel, list, &position)) return no_task(g);
    if (!noop && in->signatures[kernel].given && position < in->signatures[kernel].arg_count) {
        hbg__graph_fail(g, HBG_E_SIGNATURE, (int)position, in->kernels[kernel].name, "kernel %s takes %u argument%s, %u %s given",
                        in->kernels[kernel].name, in->signatures[kernel].arg_count, hbg__s(in->signatures[kernel].arg_count), position, hbg__is(position));
        return no_task(g);
    }
    if (noop) return append_noop(g);
    if (!is_told(g, kernel, list)) hbg__note_list(g, list);
    return hbg__submit_append(g, (uint32_t)kernel, position, 0, 0, g->bodies->settled, g->bodies->settled_count);
}

/* May the list go argument by argument, without a look at room and limits in between? */
static inline bool is_plain(const struct hbg_graph *g, int kernel, struct hbg_arg_list list)
{
    return (uint32_t)kernel < g->short_kernels && list.count <= HBG__SHORT_ARGUMENTS && (list.arg || !list.count) &&
           g->task_count < g->short_tasks && g->payload_top + SHORT_UNITS <= g->payload_limit;
}

struct hbg_task hbg_submit_args(struct hbg_graph *g, int kernel, struct hbg_arg_list list)
{
    struct hbg__short_task t;
    uint32_t position = 0;
    if (HBG_UNLIKELY(!g)) return (struct hbg_task){ UINT32_MAX, 0 };
    if (HBG_UNLIKELY(!is_plain(g, kernel, list))) return g->repeat.is_on ? hbg__repeat_submit(g, kernel, list) : submit_general(g, kernel, false, list);
    const struct hbg__signature *sig = &g->input->signatures[kernel];
    if (HBG_UNLIKELY(sig->given && list.count != sig->arg_count)) return submit_general(g, kernel, false, list);
    t.noted = t.access;
    t.producer = t.mark;
    t.nobody = 0;
    t.mixed = false;
    if (HBG_UNLIKELY(!put_short(g, &t, kernel, list, &position))) return no_task(g);
    if (HBG_UNLIKELY(sig->given && position != sig->arg_count)) return submit_general(g, kernel, false, list);     /* an hbg_after took a place */
    if (HBG_UNLIKELY(t.mixed || !sig->given) && !is_told(g, kernel, list)) hbg__note_list(g, list);
    if (HBG_UNLIKELY(t.mixed || g->barrier)) return append_mixed(g, &t, kernel, position);
    return append_short(g, &t, kernel, position);
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
        hbg__graph_fail(g, HBG_E_ABI, -1, "size", "a struct hbg_task_options says that it has %zu bytes: make it with HBG_OPTIONS(task_options)", options->size);
    if (unsupported(&o, &what)) hbg__graph_fail(g, HBG_E_UNSUPPORTED, -1, what, "the task option %s is not supported yet", what);
    return hbg_submit_args(g, kernel, list);
}

struct hbg_task hbg_noop_args(struct hbg_graph *g, struct hbg_arg_list list)
{
    if (!g) return (struct hbg_task){ UINT32_MAX, 0 };
    return submit_general(g, 0, true, list);
}
