/* SPDX-License-Identifier: Apache-2.0 */
/* subgraph.c - bodies that are submitted as one task. See body.h for what becomes of them.
 *
 * A scalar of a body's boundary is a constant, or a scalar of the boundary around it that came in through any number of bodies: that is
 * what is bound, and guarded, in the end.
 */
#include <stdio.h>
#include <string.h>

#include <hbg/subgraph.h>

#include "base/plural.h"
#include "graph/append.h"
#include "graph/body.h"
#include "graph/hazard_map.h"
#include "graph/repeat.h"
#include "graph/signature.h"
#include "graph/turn.h"

enum { ARGS_ON_STACK = 24 };

static struct hbg_task no_task(const struct hbg_graph *g) { return (struct hbg_task){ UINT32_MAX, g->serial }; }

bool hbg__graph_is_open(struct hbg_graph *g, const char *call)
{
    if (HBG_UNLIKELY(g->inner_open)) hbg__graph_fail(g, HBG_E_ORDER, -1, call, "%s: a body is given a graph of its own; this one is the build's around it", call);
    return !g->failed;
}

/* ---- scalars ---------------------------------------------------------------------------------------------------- */

bool hbg__scalar_origin(struct hbg_graph *g, const void *boundary, uint32_t index, const struct hbg_args **args, uint32_t *position)
{
    *args = &g->args;
    *position = index;
    for (const struct hbg__frame *f = g->frame; f && boundary != &g->args; f = f->outer) {
        if (boundary != &f->args) continue;
        *args = &f->args;
        if (index < f->args.count) *position = f->bound[index];
        break;
    }
    if (*args != boundary && g->input->body) return hbg__capture_scalar(g, boundary, index, args, position);
    return *args == boundary && index < (*args)->count && (*args)->arg[index].kind == HBG_ARG_SCALAR;
}

/* ---- the list --------------------------------------------------------------------------------------------------- */

static bool fail_argument(const struct hbg__call *s, enum hbg_status status, const char *what)
{
    hbg__graph_fail(s->g, status, (int)s->count, s->key.name, "argument %u of subgraph \"%.60s\" %s", s->count, s->key.name, what);
    return false;
}

void hbg__say_argument(struct hbg_graph *g, const char *name)
{
    char who[100];
    snprintf(who, sizeof who, "argument %d of subgraph \"%.60s\"", g->error.argument, name);
    hbg__graph_say_who(g, name, who);
}

/* A region of this build, which the body may write if the list says so. */
static bool put_region(struct hbg__call *s, const struct hbg_arg *given)
{
    struct hbg_arg *arg = &s->arg[s->count];
    const struct hbg_region *r = &given->u.region;
    bool writes = given->kind == HBG_ARG_OUT || given->kind == HBG_ARG_INOUT;
    if (!hbg__storage_of(s->g, r, (int)s->count)) {
        hbg__say_argument(s->g, s->key.name);
        return false;
    }
    if (writes && r->flags & HBG_REGION_READ_ONLY) return fail_argument(s, HBG_E_ACCESS, "would be written and is read-only");
    *arg = *given;
    if (given->kind == HBG_ARG_IN) arg->u.region.flags |= HBG_REGION_READ_ONLY;
    return true;
}

static bool put_bound(struct hbg__call *s, const struct hbg_arg *given)
{
    const struct hbg_args *boundary;
    if (!hbg__scalar_origin(s->g, given->u.boundary, given->index, &boundary, &s->bound[s->count]))
        return fail_argument(s, HBG_E_ACCESS, "binds a boundary position that is no scalar");
    s->arg[s->count] = boundary->arg[given->index];
    return true;
}

/* The next position of the body's boundary. False: latched. */
static bool put(struct hbg__call *s, const struct hbg_arg *given)
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
static bool put_after(struct hbg__call *s, const struct hbg_arg *given)
{
    struct hbg_graph *g = s->g;
    struct hbg_task task = given->u.task;
    if (task.graph == g->serial && task.id < g->task_count) return hbg__producer_add(g, task.id + 1);
    hbg__graph_fail(g, HBG_E_TASK_ID, -1, s->key.name, "hbg_after of subgraph \"%.60s\" names task %u of %s", s->key.name, task.id,
                    task.graph == g->serial ? "this graph, which has not been submitted" : "another graph or body");
    return false;
}

bool hbg__call_check(struct hbg__call *s)
{
    s->g->producers.count = 0;
    s->count = 0;
    for (size_t i = 0; i < s->list.count; i++) {
        bool after = s->list.arg[i].kind == HBG_ARG_AFTER;
        if (!(after ? put_after(s, &s->list.arg[i]) : put(s, &s->list.arg[i]))) return false;
        s->count += !after;
    }
    return s->g->regrid_home == HBG__NIL || hbg__hazard_regrid(s->g);      /* a buffer that the build has named before in another way */
}

/* ---- the call ----------------------------------------------------------------------------------------------------- */

static bool check_call(struct hbg_graph *g, const char *name, const struct hbg_key *key, hbg_build_fn *fn, struct hbg_arg_list list)
{
    if (!hbg__graph_is_open(g, "hbg_subgraph")) return false;
    if (!key->name || !fn || (list.count && !list.arg))
        hbg__graph_fail(g, HBG_E_NULL, -1, name, "hbg_subgraph got no %s", !key->name ? "name in its key" : !fn ? "body" : "list");
    else if (key->params_size && !key->params)
        hbg__graph_fail(g, HBG_E_NULL, -1, name, "the key of subgraph \"%.60s\" has params NULL and a params_size of %zu", name, key->params_size);
    else if (list.count > HBG__ARGS_MAX)
        hbg__graph_fail_limit(g, "arguments of one subgraph", 0, HBG__ARGS_MAX, list.count, "pass one region that holds many, or split the body");
    else if (g->manual)
        hbg__graph_fail(g, HBG_E_UNSUPPORTED, -1, name, "subgraph \"%.60s\" is submitted inside a manual scope, where nothing is inferred: end the scope before", name);
    return !g->failed;
}

enum way { RECORD, IN_PLACE, VERIFY };

/* Not found, or not to be looked for: all of the list is checked, and the body is called. */
static struct hbg_task call_body(struct hbg__call *call, enum way way, bool wholes, const struct hbg__known *known)
{
    struct hbg_graph *g = call->g;
    struct hbg_arg arg_here[ARGS_ON_STACK];
    uint32_t bound_here[ARGS_ON_STACK];
    size_t room = call->list.count > ARGS_ON_STACK ? call->list.count : 0;
    struct hbg_task task = no_task(g);
    call->arg = room ? hbg__alloc(g->memory, room * sizeof *call->arg, 16) : arg_here;
    call->bound = room ? hbg__alloc(g->memory, room * sizeof *call->bound, 16) : bound_here;
    if (!call->arg || !call->bound) {
        hbg__graph_fail_memory(g, "subgraphs");
    } else if (hbg__call_check(call)) {
        if (way == RECORD) known = hbg__record_body(call, wholes);
        if (way == VERIFY && !hbg__verify_body(call, known->definition)) known = NULL;
        if (way == IN_PLACE) task = hbg__submit_in_place(call);
        else if (known) task = hbg__submit_definition(call, known);
    }
    if (room) {
        hbg__free(g->memory, call->arg, room * sizeof *call->arg, 16);
        hbg__free(g->memory, call->bound, room * sizeof *call->bound, 16);
    }
    return task;
}

struct hbg_task hbg_subgraph(struct hbg_graph *g, struct hbg_key key, hbg_build_fn *fn, struct hbg_arg_list list)
{
    if (!g) return (struct hbg_task){ UINT32_MAX, 0 };
    if (!check_call(g, key.name ? key.name : "", &key, fn, list)) return no_task(g);
    const struct hbg__body *around = g->input->body;
    struct hbg__call call = { .g = g, .fn = fn, .list = list,
                              .key = { .kernel_set = g->input->kernel_set, .fn = fn, .name = key.name, .params = key.params, .params_size = key.params_size } };
    struct hbg_task task;
    if (HBG_UNLIKELY(g->repeat.is_on)) {
        if (hbg__repeat_subgraph(&call, &task)) return task;
        if (!hbg__repeat_leave(g)) return no_task(g);
    }
    bool wholes = false, too_deep = around && around->depth >= HBG__BODY_DEPTH_MAX, in_place = !g->input->definitions || too_deep;
    if (too_deep) g->recording->too_deep = true;
    bool possible = g->repeat.is_possible;
    g->repeat.is_possible = false;
    if (in_place) return call_body(&call, IN_PLACE, false, NULL);
    const struct hbg__known *known = hbg__match(&call, &in_place, &wholes);
    if (g->failed) {
        hbg__say_argument(g, key.name);
        return no_task(g);
    }
    if (!known) return call_body(&call, in_place ? IN_PLACE : RECORD, wholes, NULL);
    bool other_body = known->definition->key.fn != fn;
    if (other_body || hbg__turn_comes(g->input->verify_count, g->input->verify_every)) return call_body(&call, VERIFY, false, known);
    g->repeat.is_possible = possible;
    hbg__note_submission(g, known, list);
    return hbg__submit_definition(&call, known);
}
