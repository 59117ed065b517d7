/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a graph, in one pass over its tasks and edges: O(tasks + edges), eight bytes a task.
 */
#include "describe.h"

#include <stddef.h>
#include <stdlib.h>

/* per task: how many wait for it, and how long the chain is that it ends */
struct tallies { uint32_t *out, *depth; };

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

/* the producers of a task, all of which have been visited */
static enum hbg_status visit_producers(const struct description *d, const struct hbg_task_info *task, const struct tallies *t)
{
    uint32_t longest = 0;

    for (uint32_t i = 0; i < task->producer_count; i++) {
        struct hbg_edge_info edge = { .size = offsetof(struct hbg_edge_info, cause) };
        enum hbg_status status = hbg_run_edge(d->run, task->id, i, &edge);
        if (status != HBG_OK)
            return status;
        t->out[edge.producer]++;
        if (t->depth[edge.producer] > longest)
            longest = t->depth[edge.producer];
    }
    t->depth[task->id] = longest + !task->is_noop;
    return HBG_OK;
}

static enum hbg_status visit_tasks(struct description *d, const struct tallies *t)
{
    for (uint32_t i = 0; i < d->graph.task_count; i++) {
        struct hbg_task_info task = HBG_OPTIONS(task_info);
        enum hbg_status status = hbg_run_task(d->run, i, &task);
        if (status == HBG_OK)
            status = visit_producers(d, &task, t);
        if (status != HBG_OK)
            return status;
        add_degree(&d->in, task.producer_count, i);
        d->kernel[task.is_noop ? d->kernel_count - 1 : task.kernel].tasks++;
        if (t->depth[i] > d->depth)
            d->depth = t->depth[i];
    }
    for (uint32_t i = 0; i < d->graph.task_count; i++)
        add_degree(&d->out, t->out[i], i);
    return HBG_OK;
}

enum hbg_status hbg__describe(struct description *d)
{
    const struct hbg_workload *w = &d->setup->workload;
    struct tallies t = { NULL, NULL };
    enum hbg_status status;

    d->graph = HBG_OPTIONS(graph_info);
    status = hbg_run_graph(d->run, &d->graph);
    if (status != HBG_OK)
        return status;
    d->kernel_count = w->kernel_count + 1;
    d->kernel = calloc(d->kernel_count, sizeof *d->kernel);
    t.out = calloc((size_t)d->graph.task_count + 1, sizeof *t.out);
    t.depth = calloc((size_t)d->graph.task_count + 1, sizeof *t.depth);
    status = HBG_E_NO_MEMORY;
    if (d->kernel && t.out && t.depth) {
        for (size_t i = 0; i < d->kernel_count; i++)
            d->kernel[i].name = i < w->kernel_count ? w->kernels[i].name : "noop";
        status = visit_tasks(d, &t);
    }
    free(t.out);
    free(t.depth);
    return status;
}

void hbg__describe_free(struct description *d)
{
    free(d->kernel);
    d->kernel = NULL;
}
