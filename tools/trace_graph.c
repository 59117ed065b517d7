/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks, their floor, and the path that a run took.
 */
#include "trace_graph.h"

#include <stdlib.h>
#include <string.h>

enum { MISSING_MOST = 64 };             /* tasks for each record, beyond which a number is no task's */

static bool is(const struct trace_record *r, const char *name)
{
    return strcmp(r->name, name) == 0;
}

static bool tells_task(const struct trace_record *r)
{
    return is(r, TRACE_TASK) || is(r, TRACE_NOOP) || is(r, TRACE_SUBMISSION) || is(r, TRACE_EDGES);
}

/* ---- reading ---- */

/* How many tasks and edges the round tells of, and tasks that were on a core. False: a record without a task, or one beyond all that
   hbg builds. */
static bool measure(const struct trace_rounds *t, const struct trace_round *round, size_t *tasks, size_t *edges, size_t *executed)
{
    *tasks = *edges = *executed = 0;
    for (size_t i = 0; i < round->count; i++) {
        const struct trace_record *r = t->record[round->first + i];
        const char *text;
        uint64_t task;

        if (!tells_task(r))
            continue;
        if (!hbg__trace_number(t->log, r, "task", &task) || task >= UINT32_MAX / 2)
            return false;
        if (task >= *tasks)
            *tasks = task + 1;
        *executed += is(r, TRACE_TASK);
        text = hbg__trace_note(t->log, r, "producers");
        *edges += text && *text;
        for (; text && *text; text++)
            *edges += *text == ',';
    }
    return true;
}

/* "1,2,3" behind those that are there. False: it does not read, or one of them is no other task. */
static bool take_producers(struct trace_graph *g, uint32_t task, const char *text)
{
    while (text && *text) {
        char *end;
        unsigned long producer = strtoul(text, &end, 10);

        if (end == text || producer >= g->task_count || producer == task || (*end && *end != ','))
            return false;
        g->producer[g->producer_count++] = (uint32_t)producer;
        g->task[task].producer_count++;
        text = *end ? end + 1 : end;
    }
    return true;
}

/* The first record of a task; those with further producers follow, and may not stand beside it: they go where it says. */
static bool take_task(struct trace_graph *g, const struct trace_log *log, const struct trace_record *r)
{
    uint64_t id = 0, core = 0, around = 0;
    struct trace_task *task;

    (void)hbg__trace_number(log, r, "task", &id);
    task = &g->task[id];
    if (task->present)
        return false;
    task->present = true;
    task->noop = !is(r, TRACE_TASK);
    task->ended = r->ts + r->dur;
    task->started = is(r, TRACE_SUBMISSION) ? task->ended : r->ts;
    task->kernel = hbg__trace_note(log, r, "kernel");
    task->subgraph = hbg__trace_note(log, r, "subgraph");
    task->submission = hbg__trace_number(log, r, "submission", &around) && around < UINT32_MAX ? (uint32_t)around : UINT32_MAX;
    if (!task->kernel)
        task->kernel = task->noop && task->subgraph ? task->subgraph : "noop";
    if (!hbg__trace_number(log, r, "ready", &task->ready))
        task->ready = 0;
    if (!hbg__trace_number(log, r, "dispatched", &task->dispatched))
        task->dispatched = task->started;
    if (!task->noop && (!hbg__trace_number(log, r, "core", &core) || core > UINT32_MAX))
        return false;
    task->core = (uint32_t)core;
    task->first_producer = g->producer_count;
    g->order[g->present_count++] = (uint32_t)id;
    g->executed += !task->noop;
    return take_producers(g, (uint32_t)id, hbg__trace_note(log, r, "producers"));
}

/* Is every task that is present behind those of its producers that are? */
static bool is_ordered(const struct trace_graph *g)
{
    bool *seen = calloc(g->task_count + 1, sizeof *seen), good = seen != NULL;

    for (size_t i = 0; good && i < g->present_count; i++) {
        const struct trace_task *task = &g->task[g->order[i]];

        for (size_t k = 0; good && k < task->producer_count; k++) {
            uint32_t producer = g->producer[task->first_producer + k];
            good = seen[producer] || !g->task[producer].present;
        }
        seen[g->order[i]] = true;
    }
    free(seen);
    return good;
}

static int by_task(const void *a, const void *b)
{
    const struct trace_record *x = *(const struct trace_record *const *)a, *y = *(const struct trace_record *const *)b;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* In the order in which they were written: the further producers of a task come behind it. */
static const char *take_all(struct trace_graph *g, const struct trace_rounds *t, const struct trace_round *round)
{
    const struct trace_record **told = malloc((round->count + 1) * sizeof *told);
    const char *wrong = told ? NULL : "there is no memory for its tasks";
    size_t count = 0;
    uint64_t id = UINT64_MAX;

    for (size_t i = 0; told && i < round->count; i++)
        if (tells_task(t->record[round->first + i]))
            told[count++] = t->record[round->first + i];
    if (told)
        qsort(told, count, sizeof *told, by_task);
    for (size_t i = 0; i < count && !wrong; i++) {
        uint64_t next = 0;

        (void)hbg__trace_number(t->log, told[i], "task", &next);
        if (!is(told[i], TRACE_EDGES) ? !take_task(g, t->log, told[i])
                                      : id != next || !take_producers(g, (uint32_t)next, hbg__trace_note(t->log, told[i], "producers")))
            wrong = "the record of a task does not read";
        id = next;
    }
    free(told);
    if (!wrong && !is_ordered(g))
        wrong = "a task is told of before one that it waits for";
    return wrong;
}

/* ---- what follows ---- */

static const struct trace_graph *sorted;
static int by_start(const void *a, const void *b)
{
    const struct trace_task *x = &sorted->task[*(const uint32_t *)a], *y = &sorted->task[*(const uint32_t *)b];

    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    if (x->started != y->started)
        return x->started < y->started ? -1 : 1;
    return (x->ended > y->ended) - (x->ended < y->ended);
}

/* Who was on the core before. */
static bool link_cores(struct trace_graph *g)
{
    uint32_t *order = malloc((g->executed + 1) * sizeof *order);
    size_t count = 0;

    if (!order)
        return false;
    for (size_t i = 0; i < g->task_count; i++)
        if (g->task[i].present && !g->task[i].noop)
            order[count++] = (uint32_t)i;
    sorted = g;
    qsort(order, count, sizeof *order, by_start);
    for (size_t i = 0; i < count; i++)
        g->task[order[i]].before = i && g->task[order[i - 1]].core == g->task[order[i]].core ? order[i - 1] : UINT32_MAX;
    free(order);
    return true;
}

static uint64_t length(const struct trace_task *task)
{
    return task->ended - task->started;
}

/* Forwards the earliest end of each task, backwards the latest that the floor permits. */
static bool find_floor(struct trace_graph *g)
{
    uint64_t *latest = malloc((g->task_count + 1) * sizeof *latest);

    if (!latest)
        return false;
    for (size_t i = 0; i < g->present_count; i++) {
        struct trace_task *task = &g->task[g->order[i]];

        for (size_t k = 0; k < task->producer_count; k++) {
            uint64_t end = g->task[g->producer[task->first_producer + k]].earliest;
            if (end > task->earliest)
                task->earliest = end;
        }
        task->earliest += length(task);
        g->work += length(task);
        if (task->earliest > g->floor)
            g->floor = task->earliest;
    }
    for (size_t i = 0; i < g->task_count; i++)
        latest[i] = g->floor;
    for (size_t i = g->present_count; i-- > 0;) {
        struct trace_task *task = &g->task[g->order[i]];
        uint64_t own = latest[g->order[i]];

        for (size_t k = 0; k < task->producer_count; k++) {
            uint64_t *end = &latest[g->producer[task->first_producer + k]];
            if (own - length(task) < *end)
                *end = own - length(task);
        }
        task->slack = own - task->earliest;
    }
    free(latest);
    return true;
}

const char *hbg__trace_graph_make(struct trace_graph *graph, const struct trace_rounds *rounds, const struct trace_round *round)
{
    const struct trace_record *wall = hbg__trace_round_find(rounds, round, TRACE_WALL);
    const char *wrong = NULL;
    size_t tasks, edges, told;
    uint64_t executed;

    memset(graph, 0, sizeof *graph);
    if (!wall || !hbg__trace_number(rounds->log, wall, "executed", &executed))
        return "it never ran on the device";
    graph->begin = wall->ts;
    graph->end = wall->ts + wall->dur;
    if (!measure(rounds, round, &tasks, &edges, &told))
        return "the record of a task does not read";
    if (told != executed)
        return told ? "records of its tasks are missing: a larger ring of them keeps more (trace_records)" : "its tasks were not recorded: that takes HBG_TRACE=task, or hbg run --trace-level task";
    if (tasks > MISSING_MOST * (round->count + 64))
        return "most records of its tasks are missing";
    graph->task = calloc(tasks + 1, sizeof *graph->task);
    graph->order = malloc((tasks + 1) * sizeof *graph->order);
    graph->producer = malloc((edges + 1) * sizeof *graph->producer);
    graph->task_count = tasks;
    if (!graph->task || !graph->order || !graph->producer)
        wrong = "there is no memory for its tasks";
    if (!wrong)
        wrong = take_all(graph, rounds, round);
    if (!wrong && (!link_cores(graph) || !find_floor(graph)))
        wrong = "there is no memory for its tasks";
    if (wrong)
        hbg__trace_graph_free(graph);
    return wrong;
}

void hbg__trace_graph_free(struct trace_graph *graph)
{
    free(graph->task);
    free(graph->order);
    free(graph->producer);
    memset(graph, 0, sizeof *graph);
}

/* ---- the observed path ---- */

/* The producer that ended last, seen through noops, which take no time; UINT32_MAX: it has none. */
static uint32_t last_producer(const struct trace_graph *g, const struct trace_task *task)
{
    uint32_t last = UINT32_MAX;

    for (;;) {
        last = UINT32_MAX;
        for (size_t k = 0; k < task->producer_count; k++) {
            uint32_t producer = g->producer[task->first_producer + k];
            if (last == UINT32_MAX || g->task[producer].ended > g->task[last].ended)
                last = producer;
        }
        if (last == UINT32_MAX || !g->task[last].noop)
            return last;
        task = &g->task[last];
    }
}

uint32_t hbg__trace_waited_for(const struct trace_graph *g, uint32_t id, enum trace_why *why, uint64_t *over)
{
    const struct trace_task *task = &g->task[id];
    uint32_t producer = last_producer(g, task), next = task->before;

    *why = TRACE_CORE;
    if (producer != UINT32_MAX && (next == UINT32_MAX || g->task[producer].ended >= g->task[next].ended)) {
        next = producer;
        *why = TRACE_DATA;
    }
    if (next == UINT32_MAX)
        *why = TRACE_START;
    *over = next == UINT32_MAX ? g->begin : g->task[next].ended;
    return next;
}

bool hbg__trace_path_make(struct trace_path *path, const struct trace_graph *g)
{
    uint32_t last = UINT32_MAX;
    uint64_t now = g->end;

    memset(path, 0, sizeof *path);
    path->step = malloc((g->task_count + 1) * sizeof *path->step);
    if (!path->step)
        return false;
    for (size_t i = 0; i < g->task_count; i++)
        if (g->task[i].present && !g->task[i].noop && (last == UINT32_MAX || g->task[i].ended > g->task[last].ended))
            last = (uint32_t)i;
    if (last != UINT32_MAX && g->task[last].ended < now) {
        path->end = now - g->task[last].ended;
        now = g->task[last].ended;
    }
    while (last != UINT32_MAX && path->count < g->task_count) {
        struct trace_step *step = &path->step[path->count++];
        uint64_t started = g->task[last].started < now ? g->task[last].started : now, over;
        uint32_t next = hbg__trace_waited_for(g, last, &step->why, &over);

        if (over > started)             /* clocks of two cores */
            over = started;
        step->task = last;
        step->run = now - started;
        step->gap = started - over;
        path->work += step->run;
        *(next == UINT32_MAX ? &path->start : &path->scheduler) += step->gap;
        now = over;
        last = next;
    }
    for (size_t i = 0; i < path->count / 2; i++) {
        struct trace_step other = path->step[i];

        path->step[i] = path->step[path->count - 1 - i];
        path->step[path->count - 1 - i] = other;
    }
    if (!path->count)
        path->end = g->end - g->begin;
    return true;
}
