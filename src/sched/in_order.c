/* SPDX-License-Identifier: Apache-2.0 */
/* in_order.c - one worker alone: ids in order, which is an order that every edge allows.
 *
 * Until the first failure there is nothing to know about producers: they ran. So no slot is read or written and no atomic
 * read-modify-write is made. From the first failure or cancellation on, failed and skipped tasks leave a mark in their slot
 * and every later task looks at all its producers' marks.
 *
 * A submission is run where it stands, as a graph of its own: failures inside of it are marked inside, and once more at the
 * submission itself. Submissions are inside of one another to a depth that the host limits.
 */
#include "sched/run_task.h"

enum { PREFETCH_TASKS = 16 };

static uint32_t run_submission(struct hbg__worker *worker, const struct hbg__task_record *record, uint32_t task);

/* From `task` to the end, looking at producers. */
static HBG_COLD void run_checked(struct hbg__worker *worker, uint32_t task)
{
    const struct hbg__graph_view *graph = &worker->graph;
    for (; task < graph->task_count; ++task) {
        const struct hbg__task_record *record = hbg__image_record(graph->payload, task);
        uint32_t count = hbg__image_producer_count(graph->payload, record), stop = hbg__stop(worker);
        uint32_t state = HBG__SLOT_OK;
        bool noop = (record->flags & HBG__TASK_NOOP) != 0, skip = !noop && (stop & HBG__STOP_CANCEL);
        if (stop & HBG__STOP_HALT) return;
        for (uint32_t i = 0; i < count && !skip && !(record->flags & HBG__TASK_REUSE); ++i) {
            uint32_t producer = hbg__image_producer(graph->payload, record, i);
            skip = hbg__slot_marked(graph->slots, graph->epoch, producer) == HBG__SLOT_FAILED;
        }
        if (skip) {
            hbg__count_skipped(worker, record);
            state = HBG__SLOT_FAILED;
        } else if (noop) {
            ++worker->noops;
        } else if (record->flags & HBG__TASK_SUBGRAPH) {
            state = run_submission(worker, record, task);
        } else {
            state = hbg__run_kernel(worker, record, task);
        }
        if (state == HBG__SLOT_FAILED) hbg__slot_mark(graph->slots, graph->epoch, task, state);
    }
}

/* From `task` up to the first failure, stop or submission; returns the first task that was not run, or the count. */
static uint32_t run_unchecked(struct hbg__worker *worker, uint32_t task)
{
    const struct hbg__graph_view *graph = &worker->graph;
    const struct hbg__task_record *record = hbg__image_record(graph->payload, task);
    for (; task < graph->task_count; ++task, --record) {
        hbg__prefetch_read(record - PREFETCH_TASKS);
        if (HBG_UNLIKELY(record->flags & HBG__TASK_NO_KERNEL)) {
            if (!(record->flags & HBG__TASK_NOOP)) return task;
            ++worker->noops;
            continue;
        }
        if (HBG_UNLIKELY(hbg__stop(worker))) return task;
        if (HBG_UNLIKELY(hbg__run_kernel(worker, record, task) == HBG__SLOT_FAILED)) {
            hbg__slot_mark(graph->slots, graph->epoch, task, HBG__SLOT_FAILED);
            return task + 1;
        }
    }
    return graph->task_count;
}

/* The records of the activation, or those of the outermost image. */
static void run_graph(struct hbg__worker *worker)
{
    uint32_t task = 0;
    for (;;) {
        task = run_unchecked(worker, task);
        if (task == worker->graph.task_count || worker->activation_failed || hbg__stop(worker)) break;
        uint32_t state = run_submission(worker, hbg__image_record(worker->graph.payload, task), task);
        if (state == HBG__SLOT_FAILED) hbg__slot_mark(worker->graph.slots, worker->graph.epoch, task, state);
        ++task;
        if (state == HBG__SLOT_FAILED) break;
    }
    run_checked(worker, task);
}

/* HBG__SLOT_FAILED: a record inside failed or was skipped, or the run was ended. */
static HBG_NO_INLINE uint32_t run_submission(struct hbg__worker *worker, const struct hbg__task_record *record, uint32_t task)
{
    uint32_t outer = worker->activation, activation = hbg__activate(worker, record, task);
    bool outer_failed = worker->activation_failed, failed;
    if (HBG_UNLIKELY(activation == 0)) return HBG__SLOT_FAILED;
    hbg__context_enter(worker, activation);
    run_graph(worker);
    failed = worker->activation_failed;
    hbg__context_enter(worker, outer);
    worker->activation_failed = failed || outer_failed;
    if (HBG_UNLIKELY(hbg__stop(worker) & HBG__STOP_HALT)) return HBG__SLOT_FAILED;
    ++worker->noops;
    /* relaxed: nobody counts it down in this mode; only this worker knows of it. */
    hbg__store_relaxed32(&hbg__activation_at(&worker->sched->run, activation)->remaining, 0);
    return failed ? HBG__SLOT_FAILED : HBG__SLOT_OK;
}

void hbg__run_in_order(struct hbg__worker *worker)
{
    hbg__store_relaxed32(&worker->running, HBG__RUNNING_BUSY);  /* relaxed: for onlookers. */
    /* relaxed: it only allots; on a device with several workers one of them gets the whole run. */
    if (hbg__load_relaxed32(&worker->sched->cursor) == 0 && hbg__fetch_add_relaxed32(&worker->sched->cursor, 1) == 0)
        run_graph(worker);
    (void)hbg__idle(worker);    /* finds nothing in this mode; sees the end of the run, or rests until it is there */
}
