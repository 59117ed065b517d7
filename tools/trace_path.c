/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The critical path of a run, printed.
 */
#include "trace_graph.h"

#include "base/json_write.h"
#include "base/plural.h"
#include "table.h"

#include <inttypes.h>

enum { STEPS = 40 };

static const char *const why_name[] = { "start", "data", "core", "end" };

static void print_share(FILE *file, const char *what, uint64_t ns, uint64_t whole)
{
    char text[64];

    fprintf(file, "  %-28s %11s %6.1f %%\n", what, hbg__table_time((double)ns, text), whole ? 100 * (double)ns / (double)whole : 0);
}

/* Of a node: " in layer 12", the submission. */
static void print_body(FILE *file, const struct trace_task *task)
{
    if (task->subgraph && task->submission != UINT32_MAX)
        fprintf(file, " in %s %" PRIu32, task->subgraph, task->submission);
    fputc('\n', file);
}

static void json_body(struct hbg__json *json, const struct trace_task *task)
{
    if (task->subgraph)
        hbg__json_key_string(json, "subgraph", task->subgraph);
    if (task->submission != UINT32_MAX)
        hbg__json_key_u64(json, "submission", task->submission);
}

void hbg__trace_path_print(FILE *file, const struct trace_graph *g, const struct trace_path *path, uint64_t run)
{
    uint64_t makespan = g->end - g->begin, at = g->begin;
    size_t tight = 0;
    char gap[64], length[64], begin[64];

    for (size_t i = 0; i < g->task_count; i++)
        tight += g->task[i].present && !g->task[i].noop && g->task[i].slack == 0;
    fprintf(file, "\ncritical path of run %" PRIu64 ": %zu task%s, %zu of them without slack\n", run, g->executed, hbg__s(g->executed), tight);
    print_share(file, "makespan", makespan, makespan);
    print_share(file, "floor, any number of cores", g->floor, makespan);
    print_share(file, "all kernels, one core", g->work, makespan);
    fputs("  of the makespan\n", file);
    print_share(file, "  kernels on the path", path->work, makespan);
    print_share(file, "  the scheduler between them", path->scheduler, makespan);
    print_share(file, "  before the first", path->start, makespan);
    print_share(file, "  after the last", path->end, makespan);
    fprintf(file, "  %8s %5s %6s %11s %11s %11s  %s\n", "task", "core", "after", "gap", "begin", "kernel", "");
    for (size_t i = 0; i < path->count; i++) {
        const struct trace_step *step = &path->step[i];

        at += step->gap;
        if (i < STEPS) {
            fprintf(file, "  %8" PRIu32 " %5" PRIu32 " %6s %11s %11s %11s  %s", step->task, g->task[step->task].core, why_name[step->why],
                    hbg__table_time((double)step->gap, gap), hbg__table_time((double)(at - g->begin), begin),
                    hbg__table_time((double)step->run, length), g->task[step->task].kernel);
            print_body(file, &g->task[step->task]);
        }
        at += step->run;
    }
    if (path->count > STEPS)
        fprintf(file, "  and %zu more, which --json has\n", path->count - STEPS);
}

bool hbg__trace_path_json(FILE *file, const struct trace_graph *g, const struct trace_path *path, uint64_t run)
{
    struct hbg__json json;

    hbg__json_begin(&json, file);
    hbg__json_open_object(&json);
    hbg__json_key_u64(&json, "run", run);
    hbg__json_key_u64(&json, "makespan_ns", g->end - g->begin);
    hbg__json_key_u64(&json, "floor_ns", g->floor);
    hbg__json_key_u64(&json, "work_ns", g->work);
    hbg__json_key(&json, "blame");
    hbg__json_open_object(&json);
    hbg__json_key_u64(&json, "kernels_ns", path->work);
    hbg__json_key_u64(&json, "scheduler_ns", path->scheduler);
    hbg__json_key_u64(&json, "start_ns", path->start);
    hbg__json_key_u64(&json, "end_ns", path->end);
    hbg__json_close(&json);
    hbg__json_key(&json, "path");
    hbg__json_open_array(&json);
    for (size_t i = 0; i < path->count; i++) {
        hbg__json_open_object(&json);
        hbg__json_key_u64(&json, "task", path->step[i].task);
        hbg__json_key_string(&json, "after", why_name[path->step[i].why]);
        hbg__json_key_u64(&json, "gap_ns", path->step[i].gap);
        hbg__json_key_u64(&json, "kernel_ns", path->step[i].run);
        hbg__json_close(&json);
    }
    hbg__json_close(&json);
    hbg__json_key(&json, "tasks");
    hbg__json_open_array(&json);
    for (size_t i = 0; i < g->task_count; i++) {
        const struct trace_task *task = &g->task[i];

        if (!task->present || task->noop)
            continue;
        hbg__json_open_object(&json);
        hbg__json_key_u64(&json, "task", i);
        hbg__json_key_string(&json, "kernel", task->kernel);
        json_body(&json, task);
        hbg__json_key_u64(&json, "core", task->core);
        hbg__json_key_u64(&json, "started", task->started);
        hbg__json_key_u64(&json, "ended", task->ended);
        hbg__json_key_u64(&json, "slack_ns", task->slack);
        hbg__json_close(&json);
    }
    hbg__json_close(&json);
    hbg__json_close(&json);
    return hbg__json_end(&json);
}
