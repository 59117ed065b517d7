/* SPDX-License-Identifier: Apache-2.0 */
#include "sim_graph.h"

#include <string.h>

static int64_t mixed(int64_t held, int64_t first, int64_t second, uint64_t salt)
{
    uint64_t state = (uint64_t)held * 3 + (uint64_t)first * 5 + (uint64_t)second * 7 + salt;

    return (int64_t)hbg__rng_split(&state);
}

/* salt: the task's number, with a bit above it where it is to fail */
static int mix(const struct hbg_task_view *t)
{
    int64_t *cell = HBG_VIEW(int64_t, t, 0);
    uint64_t salt = hbg_view_u64(t, 3);

    if (salt >> 32)
        return hbg_fail(t, SIM_FAIL_CODE, (int64_t)(uint32_t)salt);
    *cell = mixed(*cell, *HBG_VIEW(const int64_t, t, 1), *HBG_VIEW(const int64_t, t, 2), salt);
    return 0;
}

const struct hbg_kernel hbg__sim_kernels[1] = { HBG_KERNEL(0, mix, "inout i64, in i64, in i64, u64") };

void hbg__sim_graph_draw(struct sim_graph *graph, struct hbg__rng *rng, bool wide)
{
    graph->tasks = (int)hbg__rng_between(rng, 1, SIM_TASKS_MAX);
    graph->cells = (int)(wide ? SIM_CELLS_MAX : hbg__rng_between(rng, 1, SIM_CELLS_MAX));
    graph->failing = -1;
    for (int i = 0; i < graph->tasks; i++) {
        struct sim_task *task = &graph->task[i];
        task->write = (int)hbg__rng_below(rng, (uint64_t)graph->cells);
        for (int r = 0; r < 2; r++)
            task->read[r] = wide && hbg__rng_below(rng, 4) ? task->write : (int)hbg__rng_below(rng, (uint64_t)graph->cells);
    }
    memset(graph->skipped, 0, sizeof graph->skipped);
}

/* do they share a cell that one of them writes? */
static bool conflict(const struct sim_task *a, const struct sim_task *b)
{
    return a->write == b->write || a->write == b->read[0] || a->write == b->read[1] || b->write == a->read[0] || b->write == a->read[1];
}

void hbg__sim_graph_expect(struct sim_graph *graph, int64_t *cell)
{
    for (int i = 0; i < graph->tasks; i++) {
        const struct sim_task *task = &graph->task[i];
        graph->skipped[i] = false;
        for (int j = 0; j < i; j++)
            graph->skipped[i] |= (graph->skipped[j] || j == graph->failing) && conflict(&graph->task[j], task);
        if (!graph->skipped[i] && i != graph->failing)
            cell[task->write] = mixed(cell[task->write], cell[task->read[0]], cell[task->read[1]], (uint64_t)i);
    }
}

int hbg__sim_graph_skipped(const struct sim_graph *graph)
{
    int count = 0;

    for (int i = 0; i < graph->tasks; i++)
        count += graph->skipped[i];
    return count;
}

void hbg__sim_graph_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct sim_graph *graph = *(const struct sim_graph *const *)params;
    struct hbg_region cells = hbg_args_region(args, 0);

    for (int i = 0; i < graph->tasks; i++) {
        const struct sim_task *task = &graph->task[i];
        struct hbg_region write = hbg_cell(cells, HBG_SHAPE(1), HBG_SHAPE(task->write));
        struct hbg_region first = hbg_cell(cells, HBG_SHAPE(1), HBG_SHAPE(task->read[0]));
        struct hbg_region second = hbg_cell(cells, HBG_SHAPE(1), HBG_SHAPE(task->read[1]));
        hbg_submit(g, 0, hbg_inout(write), hbg_in(first), hbg_in(second), hbg_u64((uint64_t)i | (uint64_t)(i == graph->failing) << 32));
    }
}
