/* SPDX-License-Identifier: Apache-2.0 */
/* in_place.c - a body whose tasks are submitted at each submission: of a key that cannot be kept, or where nothing is kept.
 *
 *     entry (noop, where the list has an hbg_after)  ->  the body's tasks, with all edges that their regions ask for  ->  end (noop)
 *
 * The tasks of a body stand in the graph like any others; the end is the task that hbg_subgraph() returns. A body has a number of
 * its own while it is submitted, so that its tasks cannot be named outside of it, nor tasks from outside in it, and a scope of its own,
 * so that its intermediates end with it.
 */
#include <stdio.h>
#include <string.h>

#include "graph/append.h"
#include "graph/body.h"
#include "graph/hazard_map.h"

static struct hbg_task no_task(const struct hbg_graph *g) { return (struct hbg_task){ UINT32_MAX, g->serial }; }

/* The noop that all its tasks come after: *mark, 0 where the list names no task and no body around this one has an entry. */
static bool make_entry(struct hbg_graph *g, uint32_t *mark)
{
    struct hbg__producers *p = &g->producers;
    *mark = g->frame ? g->frame->entry : 0;
    if (p->count == 0) return true;         /* tasks that the list can name come after the entry further out */
    *mark = hbg__append_noop(g, p->mark, p->count, 0);
    return *mark != 0;
}

void hbg__say_where(struct hbg_graph *g, const char *name)
{
    size_t length = strlen(g->error.text);
    snprintf(g->error.text + length, sizeof g->error.text - length, " (in subgraph \"%.60s\")", name);
}

/* Inside of the body its arguments are not buffers that the build named, but what the body was given: a body inside that uses one of them
   without having it in its list uses what is not its own, and is not one that names a buffer. */
static bool own_arguments(struct hbg__call *call)
{
    struct hbg_graph *g = call->g;
    for (uint32_t i = 0; i < call->count; i++) {
        struct hbg_region *r = &call->arg[i].u.region;
        if (call->arg[i].kind >= HBG_ARG_SCALAR || !(r->flags & HBG_REGION_BUFFER)) continue;
        const struct hbg__storage *s = hbg__storage_of(g, r, (int)i);
        if (!s) return false;
        r->storage = hbg__storage_number(g, hbg__storage_index(g, s));
        r->flags &= (uint8_t)~HBG_REGION_BUFFER;
    }
    return true;
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
    if (g->failed) hbg__say_where(g, frame->name);
    g->frame = frame->outer;
    g->serial = outer_serial;
    if (!g->failed) hbg_scope_end(g);
    hbg__short_way_renew(g);
}

/* Is one of the tasks that were gathered sure to come after the body's entry and the barrier? Noops may not: an empty scope's, one of heap bytes. */
static bool any_follows(const struct hbg_graph *g)
{
    for (uint32_t i = 0; i < g->gathered_count; i++)
        if (!(hbg__image_record(g->payload, g->gathered[i] - 1)->flags & HBG__TASK_NOOP)) return true;
    return false;
}

/* The task that stands for the body: after all of it; one without tasks, after what its tasks would come after. */
static struct hbg_task end_of(struct hbg_graph *g, uint32_t first, uint32_t entry)
{
    if (g->failed || !hbg__gather_leaves(g, first)) return no_task(g);
    if (!any_follows(g) && (!hbg__gather(g, entry) || !hbg__gather(g, g->barrier))) return no_task(g);
    uint32_t mark = hbg__append_noop(g, g->gathered, g->gathered_count, 0);
    return mark ? (struct hbg_task){ mark - 1, g->serial } : no_task(g);
}

struct hbg_task hbg__submit_in_place(struct hbg__call *call)
{
    struct hbg_graph *g = call->g;
    struct hbg__frame frame = { .name = call->key.name, .bound = call->bound };
    if (!make_entry(g, &frame.entry)) return no_task(g);
    uint32_t first = g->task_count;
    if (!own_arguments(call)) return no_task(g);
    frame.args = (struct hbg_args){ call->arg, call->count, g };
    g->recording->bodies_in_place++;
    run_body(g, &frame, call->fn, call->key.params);
    return end_of(g, first, frame.entry);
}
