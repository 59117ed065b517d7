/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks of one round, as a trace of the level `task` has them, and what their times mean.
 *
 *     ready        the last producer ended
 *     dispatched   the core turned to the task
 *     started      the kernel was called
 *     ended        it returned
 *
 * Nodes of a submission are tasks like any others; the submission itself is one that takes no time, when its last node has ended.
 *
 * floor      the longest chain of kernels, one after the other without a gap: no number of cores is faster
 * slack      how much longer a task could have taken without a longer floor
 * path       backwards from the end: why did this task start only then? Because its last producer ended then (data), or because its
 *            core had another task (core), whichever was later. Kernels and gaps of the path tile the makespan without a rest.
 */
#ifndef HBG_TOOLS_TRACE_GRAPH_H
#define HBG_TOOLS_TRACE_GRAPH_H

#include "trace_rounds.h"

struct trace_task {
    bool present, noop;                 /* noop: it was on no core */
    uint32_t core;
    const char *kernel;
    const char *subgraph;               /* the body that it is a node of, or is; NULL: none */
    uint32_t submission;                /* of a node; UINT32_MAX: it is none */
    uint64_t ready, dispatched, started, ended;
    size_t first_producer, producer_count;      /* places in trace_graph.producer */
    uint64_t earliest, slack;           /* of the floor: when it would end; see above */
    uint32_t before;                    /* the task before it on its core; UINT32_MAX: none */
};

struct trace_graph {
    struct trace_task *task;            /* by id */
    uint32_t *order;                    /* those that are present, each behind its producers */
    uint32_t *producer;
    size_t task_count, present_count, producer_count, executed;
    uint64_t begin, end;                /* of the device's work: the makespan */
    uint64_t floor, work;               /* work: all kernels, one after the other */
};

/* A piece of the observed path, from `begin` to `end`. */
enum trace_why { TRACE_START, TRACE_DATA, TRACE_CORE, TRACE_END };
struct trace_step {
    uint32_t task;
    enum trace_why why;                 /* what it waited for last */
    uint64_t gap, run;                  /* between that and its start: the scheduler; and its kernel */
};
struct trace_path {
    struct trace_step *step;            /* in the order of time */
    size_t count;
    uint64_t work, scheduler, start, end;       /* together the makespan: kernels, gaps, before the first, after the last */
};

/* NULL and the graph, or why there is none: a sentence's end. */
const char *hbg__trace_graph_make(struct trace_graph *graph, const struct trace_rounds *rounds, const struct trace_round *round);
void hbg__trace_graph_free(struct trace_graph *graph);

/* What a task that is present waited for last, and when that was over; UINT32_MAX: for the begin of the device's work. */
uint32_t hbg__trace_waited_for(const struct trace_graph *graph, uint32_t task, enum trace_why *why, uint64_t *over);

/* False: no memory. */
bool hbg__trace_path_make(struct trace_path *path, const struct trace_graph *graph);

void hbg__trace_path_print(FILE *file, const struct trace_graph *graph, const struct trace_path *path, uint64_t run);
bool hbg__trace_path_json(FILE *file, const struct trace_graph *graph, const struct trace_path *path, uint64_t run);

#endif
