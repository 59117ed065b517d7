/* SPDX-License-Identifier: Apache-2.0 */
/* subgraph.c - bodies that are submitted as one task.
 *
 *     entry (noop, where the list has an hbg_after)  ->  the body's tasks, with all edges that their regions ask for  ->  end (noop)
 *
 * The tasks of a body stand in the graph like any others; the end is the task that hbg_subgraph() returns. A body has a number of
 * its own while it is submitted, so that its tasks cannot be named outside of it, nor tasks from outside in it, and a scope of its own,
 * so that its intermediates end with it.
 *
 * A scalar of a body's boundary is a constant, or a scalar of the run's boundary that came in through any number of bodies: that is
 * what is bound, and guarded, in the end.
 */
#include <stdio.h>
#include <string.h>

#include <hbg/subgraph.h>

#include "base/plural.h"
#include "graph/append.h"
#include "graph/hazard_map.h"
#include "graph/signature.h"

enum { ARGS_ON_STACK = 24 };

/* What a submission works with, beside its frame. */
struct submission {
    struct hbg_graph *g;
    const char *name;
    struct hbg_arg *arg;                /* what the body is given */
    uint32_t *bound;
    uint32_t count;
    struct hbg_arg arg_here[ARGS_ON_STACK];
    uint32_t bound_here[ARGS_ON_STACK];
};

static struct hbg_task no_task(const struct hbg_graph *g) { return (struct hbg_task){ UINT32_MAX, g->serial }; }

/* ---- scalars ---------------------------------------------------------------------------------------------------- */

bool hbg__scalar_origin(const struct hbg_graph *g, const void *boundary, uint32_t index, const struct hbg_args **args, uint32_t *position)
{
    *args = &g->args;
    *position = index;
    for (const struct hbg__frame *f = g->frame; f && boundary != &g->args; f = f->outer) {
        if (boundary != &f->args) continue;
        *args = &f->args;
        if (index < f->args.count) *position = f->bound[index];
        break;
    }
    return *args == boundary && index < (*args)->count && (*args)->arg[index].kind == HBG_ARG_SCALAR;
}

/* ---- the list --------------------------------------------------------------------------------------------------- */

static bool fail_argument(const struct submission *s, enum hbg_status status, const char *what)
{
    hbg__graph_fail(s->g, status, (int)s->count, s->name, "argument %u of subgraph \"%.60s\" %s", s->count, s->name, what);
    return false;
}

/* A region of this build, which the body may write if the list says so. */
static bool put_region(struct submission *s, const struct hbg_arg *given)
{
    struct hbg_arg *arg = &s->arg[s->count];
    const struct hbg_region *r = &given->u.region;
    bool writes = given->kind == HBG_ARG_OUT || given->kind == HBG_ARG_INOUT;
    char who[100];
    if (!hbg__storage_of(s->g, r, (int)s->count)) {
        snprintf(who, sizeof who, "argument %u of subgraph \"%.60s\"", s->count, s->name);
        hbg__graph_say_who(s->g, s->name, who);
        return false;
    }
    if (writes && r->flags & HBG_REGION_READ_ONLY) return fail_argument(s, HBG_E_ACCESS, "would be written and is read-only");
    *arg = *given;
    if (given->kind == HBG_ARG_IN) arg->u.region.flags |= HBG_REGION_READ_ONLY;
    return true;
}

static bool put_bound(struct submission *s, const struct hbg_arg *given)
{
    const struct hbg_args *boundary;
    if (!hbg__scalar_origin(s->g, given->u.boundary, given->index, &boundary, &s->bound[s->count]))
        return fail_argument(s, HBG_E_ACCESS, "binds a boundary position that is no scalar");
    s->arg[s->count] = boundary->arg[given->index];
    return true;
}

/* The next position of the body's boundary. False: latched. */
static bool put(struct submission *s, const struct hbg_arg *given)
{
    s->bound[s->count] = HBG__NIL;
    switch (given->kind) {
    case HBG_ARG_IN: case HBG_ARG_OUT: case HBG_ARG_INOUT: case HBG_ARG_UNTRACKED:
        return put_region(s, given);
    case HBG_ARG_BOUND:
        return put_bound(s, given);
    case HBG_ARG_SCALAR:
        if (!hbg__is_scalar_dtype(given->dtype)) return fail_argument(s, HBG_E_SIGNATURE, "is a scalar of a type that no scalar has");
        s->arg[s->count] = *given;
        return true;
    case HBG_ARG_BYTES:
        return fail_argument(s, HBG_E_UNSUPPORTED, "is hbg_bytes; a boundary takes regions and scalars, and the key parameter bytes");
    case HBG_ARG_ACCUMULATE:
        return fail_argument(s, HBG_E_UNSUPPORTED, "is hbg_accumulate, which this version does not run");
    default:
        return fail_argument(s, HBG_E_ACCESS, "has a kind that a boundary does not take");
    }
}

/* An explicit edge takes no position. */
static bool put_after(struct submission *s, const struct hbg_arg *given)
{
    struct hbg_graph *g = s->g;
    struct hbg_task task = given->u.task;
    if (task.graph == g->serial && task.id < g->task_count) return hbg__producer_add(g, task.id + 1);
    hbg__graph_fail(g, HBG_E_TASK_ID, -1, s->name, "hbg_after of subgraph \"%.60s\" names task %u of %s", s->name, task.id,
                    task.graph == g->serial ? "this graph, which has not been submitted" : "another graph or body");
    return false;
}

static bool put_list(struct submission *s, struct hbg_arg_list list)
{
    s->g->producers.count = 0;
    for (size_t i = 0; i < list.count; i++) {
        bool after = list.arg[i].kind == HBG_ARG_AFTER;
        if (!(after ? put_after(s, &list.arg[i]) : put(s, &list.arg[i]))) return false;
        s->count += !after;
    }
    return s->g->regrid_home == HBG__NIL || hbg__hazard_regrid(s->g);      /* a buffer that the build has named before in another way */
}

/* ---- the body ----------------------------------------------------------------------------------------------------- */

/* The noop that all its tasks come after: *mark, 0 where the list names no task and no body around this one has an entry. */
static bool make_entry(struct hbg_graph *g, uint32_t *mark)
{
    struct hbg__producers *p = &g->producers;
    *mark = g->frame ? g->frame->entry : 0;
    if (p->count == 0) return true;         /* tasks that the list can name come after the entry further out */
    *mark = hbg__append_noop(g, p->mark, p->count, 0);
    return *mark != 0;
}

/* The body's error, with the name of the body. */
static void say_where(struct hbg_graph *g, const char *name)
{
    size_t length = strlen(g->error.text);
    snprintf(g->error.text + length, sizeof g->error.text - length, " (in subgraph \"%.60s\")", name);
}

/* All of the body, between the scope that is its own. */
static void run_body(struct hbg_graph *g, struct hbg__frame *frame, hbg_build_fn *fn, const void *params)
{
    uint32_t outer_serial = g->serial;
    frame->outer = g->frame;
    g->frame = frame;
    g->serial = hbg__serial_take();
    hbg__short_way_renew(g);
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    frame->scope_depth = g->scope_depth;
    fn(g, &frame->args, params);
    if (!g->failed && g->scope_depth != frame->scope_depth) {
        uint32_t open = g->scope_depth - frame->scope_depth;
        hbg__graph_fail(g, HBG_E_ORDER, -1, "hbg_scope_end", "the body has returned and %u scope%s still open", open, open == 1 ? " is" : "s are");
    }
    if (g->failed) say_where(g, frame->name);
    g->frame = frame->outer;
    g->serial = outer_serial;
    if (!g->failed) hbg_scope_end(g);
    hbg__short_way_renew(g);
}

/* The task that stands for the body: after all of it, or after the entry of an empty one. */
static struct hbg_task end_of(struct hbg_graph *g, uint32_t first, uint32_t entry)
{
    if (g->failed || !hbg__gather_leaves(g, first)) return no_task(g);
    if (g->gathered_count == 0 && entry && !hbg__gather(g, entry)) return no_task(g);
    uint32_t mark = hbg__append_noop(g, g->gathered, g->gathered_count, 0);
    return mark ? (struct hbg_task){ mark - 1, g->serial } : no_task(g);
}

static struct hbg_task submit_body(struct submission *s, hbg_build_fn *fn, const void *params, struct hbg_arg_list list)
{
    struct hbg_graph *g = s->g;
    struct hbg__frame frame = { .name = s->name, .bound = s->bound };
    if (!put_list(s, list) || !make_entry(g, &frame.entry)) return no_task(g);
    uint32_t first = g->task_count;
    frame.args = (struct hbg_args){ s->arg, s->count, g };
    run_body(g, &frame, fn, params);
    return end_of(g, first, frame.entry);
}

static bool check_call(struct hbg_graph *g, const char *name, const struct hbg_key *key, hbg_build_fn *fn, struct hbg_arg_list list)
{
    if (g->failed) return false;
    if (!key->name || !fn || (key->params_size && !key->params) || (list.count && !list.arg))
        hbg__graph_fail(g, HBG_E_NULL, -1, name, "hbg_subgraph got no %s", !key->name ? "name in its key" : !fn ? "body" : key->params_size && !key->params ? "parameters" : "list");
    else if (list.count > HBG__ARGS_MAX)
        hbg__graph_fail_limit(g, "arguments of one subgraph", 0, HBG__ARGS_MAX, list.count, "pass one region that holds many, or split the body");
    else if (g->manual)
        hbg__graph_fail(g, HBG_E_UNSUPPORTED, -1, name, "subgraph \"%.60s\" is submitted inside a manual scope, where nothing is inferred: end the scope before", name);
    return !g->failed;
}

struct hbg_task hbg_subgraph(struct hbg_graph *g, struct hbg_key key, hbg_build_fn *fn, struct hbg_arg_list list)
{
    const char *name = key.name ? key.name : "";
    struct submission s;
    if (!g) return (struct hbg_task){ UINT32_MAX, 0 };
    if (!check_call(g, name, &key, fn, list)) return no_task(g);
    s.g = g;
    s.name = name;
    s.count = 0;
    s.arg = s.arg_here;
    s.bound = s.bound_here;
    size_t room = list.count > ARGS_ON_STACK ? list.count : 0;
    if (room) {
        s.arg = hbg__alloc(g->memory, room * sizeof *s.arg, 16);
        s.bound = hbg__alloc(g->memory, room * sizeof *s.bound, 16);
    }
    struct hbg_task end = no_task(g);
    if (s.arg && s.bound) end = submit_body(&s, fn, key.params, list);
    else hbg__graph_fail_memory(g, "subgraphs");
    if (room) {
        hbg__free(g->memory, s.arg, room * sizeof *s.arg, 16);
        hbg__free(g->memory, s.bound, room * sizeof *s.bound, 16);
    }
    return end;
}
