/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a graph, in one pass over its tasks, nodes and edges: O(tasks + nodes + edges), twelve bytes each.
 */
#include "describe.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* per task and node: how many it waits for, how many wait for it, and how long the chain is that it ends */
struct tallies { uint32_t *in, *out, *depth; };

static int class_of(uint32_t degree)
{
    return degree < 4 ? (int)degree : 33 - __builtin_clz(degree);
}

uint32_t hbg__degree_of_class(int i)
{
    return i < 4 ? (uint32_t)i : 1u << (i - 2);
}

static void add_degree(struct degrees *d, uint32_t degree, uint32_t task)
{
    d->count[class_of(degree)]++;
    if (degree <= d->most)
        return;
    d->most = degree;
    d->most_of = task;
}

/* the longest chain before a task, whose producers have all been visited; `before` where it has none */
static enum hbg_status visit_producers(struct description *d, const struct hbg_task_info *task, const struct tallies *t, uint32_t before, uint32_t *longest)
{
    *longest = before;
    t->in[task->id] = task->producer_count;
    if (task->parent != UINT32_MAX)
        d->node_edges += task->producer_count;
    for (uint32_t i = 0; i < task->producer_count; i++) {
        struct hbg_edge_info edge = { .size = offsetof(struct hbg_edge_info, cause) };
        enum hbg_status status = hbg_run_edge(d->run, task->id, i, &edge);
        if (status != HBG_OK)
            return status;
        t->out[edge.producer]++;
        if (t->depth[edge.producer] > *longest)
            *longest = t->depth[edge.producer];
    }
    return HBG_OK;
}

static enum hbg_status count_body(struct description *d, const char *name)
{
    size_t i = 0, room = d->body_room ? 2 * d->body_room : 16;

    while (i < d->body_count && strcmp(d->body[i].name, name) != 0)
        i++;
    if (i == d->body_room) {
        struct use *more = realloc(d->body, room * sizeof *more);
        if (!more)
            return HBG_E_NO_MEMORY;
        d->body = more;
        d->body_room = room;
    }
    if (i == d->body_count)
        d->body[d->body_count++] = (struct use){ name, 0 };
    d->body[i].tasks++;
    return HBG_OK;
}

/* `count` tasks of one level, after a chain of `before`; *end is the longest one with them */
static enum hbg_status visit_level(struct description *d, const struct tallies *t, uint32_t first, uint32_t count, uint32_t before, uint32_t *end)
{
    *end = before;
    for (uint32_t i = first; i < first + count; i++) {
        struct hbg_task_info task = HBG_OPTIONS(task_info);
        enum hbg_status status = hbg_run_task(d->run, i, &task);
        uint32_t longest = before;
        if (status == HBG_OK)
            status = visit_producers(d, &task, t, before, &longest);
        if (status == HBG_OK && task.is_subgraph) {
            status = count_body(d, task.subgraph);
            if (status == HBG_OK)
                status = visit_level(d, t, task.first_node, task.body_count, longest, &t->depth[i]);
        } else if (status == HBG_OK) {
            d->kernel[task.is_noop ? d->kernel_count - 1 : task.kernel].tasks++;
            t->depth[i] = longest + !task.is_noop;
        }
        if (status != HBG_OK)
            return status;
        if (t->depth[i] > *end)
            *end = t->depth[i];
    }
    return HBG_OK;
}

static enum hbg_status visit_tasks(struct description *d, const struct tallies *t)
{
    enum hbg_status status = visit_level(d, t, 0, d->graph.task_count, 0, &d->depth);

    for (uint32_t i = 0; i < describe_ids(d); i++) {
        add_degree(&d->in, t->in[i], i);
        add_degree(&d->out, t->out[i], i);
    }
    d->edge_count = d->graph.edge_count + (d->open ? d->node_edges : 0);
    return status;
}

enum hbg_status hbg__describe(struct description *d)
{
    const struct hbg_workload *w = &d->setup->workload;
    struct tallies t = { NULL, NULL, NULL };
    size_t size;
    enum hbg_status status;

    d->graph = HBG_OPTIONS(graph_info);
    status = hbg_run_graph(d->run, &d->graph);
    if (status != HBG_OK)
        return status;
    d->kernel_count = w->kernel_count + 1;
    d->kernel = calloc(d->kernel_count, sizeof *d->kernel);
    size = (size_t)d->graph.slot_count + 1;
    t.in = calloc(size, sizeof *t.in);
    t.out = calloc(size, sizeof *t.out);
    t.depth = calloc(size, sizeof *t.depth);
    status = HBG_E_NO_MEMORY;
    if (d->kernel && t.in && t.out && t.depth) {
        for (size_t i = 0; i < d->kernel_count; i++)
            d->kernel[i].name = i < w->kernel_count ? w->kernels[i].name : "noop";
        status = visit_tasks(d, &t);
    }
    free(t.in);
    free(t.out);
    free(t.depth);
    return status;
}

void hbg__describe_free(struct description *d)
{
    free(d->kernel);
    free(d->body);
    d->kernel = d->body = NULL;
}
