/* SPDX-License-Identifier: Apache-2.0 */
/* wake_list.h - what the end of a task means to others: close its word, examine its waiters, hand on what is ready.
 *
 *     completion of P ---> waiters linked by the host    P.first_waiter -> next_waiter -> ...       (P is their latest producer)
 *                     \--> waiters that registered       slot[P].word -> slot[waiter].link -> ...   (only if P is queryable)
 *     each waiter:    settle ---> it waits elsewhere now
 *                            \--> ready: the worker's next-task place, else its queue
 *                             \-> skipped, or a ready noop: the worker's drain list, completed by a loop, never by recursion
 *
 * The drain list goes through slot.link: a task on it has no other use for its link. Cost: a task that nobody can query and
 * whose consumers have one producer each completes without any atomic operation.
 */
#ifndef HBG_SCHED_WAKE_LIST_H
#define HBG_SCHED_WAKE_LIST_H

#include "sched/context.h"
#include "sched/sched.h"

/* The next-task place is taken: into the own queue. */
static HBG_NO_INLINE void hbg__push_queue(struct hbg__worker *worker, uint32_t task)
{
    uint64_t entry = hbg__entry_make(worker->activation, task);
    if (HBG_UNLIKELY(!hbg__deque_push(&worker->deque, entry))) hbg__push_overflow(worker, entry);
    if (HBG_UNLIKELY(hbg__bell_has_sleepers(&worker->sched->bell))) hbg__hint(worker->sched);
}

/* The task is ready to run: next on this worker if that place is free. */
static inline void hbg__push_ready(struct hbg__worker *worker, uint32_t task)
{
    if (worker->next == HBG__NIL) worker->next = task;
    else hbg__push_queue(worker, task);
}

/* Every producer of `task` is complete. */
HBG__INLINE void hbg__release(struct hbg__worker *worker, const struct hbg__task_record *record, uint32_t task, bool skip)
{
    if (HBG_LIKELY(!skip && !(record->flags & HBG__TASK_NOOP))) {
        hbg__push_ready(worker, task);
        return;
    }
    /* relaxed: only this worker has the task. */
    hbg__store_relaxed32(&worker->graph.slots[task].link, worker->drain);
    worker->drain = hbg__waiter_make(task, skip);
}

/* `task` waited for a producer that is complete now: go on with the producers from position `from`. */
HBG__INLINE void hbg__examine(struct hbg__worker *worker, const struct hbg__task_record *record, uint32_t task, uint32_t from,
                              bool failed, bool skip)
{
    enum hbg__settled settled;
    skip = skip || (failed && !(record->flags & HBG__TASK_REUSE));
    if (record->producer_count == 1) settled = skip ? HBG__SETTLED_SKIPPED : HBG__SETTLED_READY;
    else settled = hbg__settle(&worker->graph, record, task, from, skip);
    if (settled != HBG__SETTLED_WAITS) hbg__release(worker, record, task, settled == HBG__SETTLED_SKIPPED);
}

/* Those that registered with `task`; out of line, so that tasks which nobody queries stay short. */
static HBG_NO_INLINE void hbg__wake_registered(struct hbg__worker *worker, uint32_t task, uint32_t registered, bool failed)
{
    const struct hbg__graph_view *graph = &worker->graph;
    while (registered) {
        uint32_t waiter = hbg__waiter_task(registered);
        bool skip = hbg__waiter_skip(registered);
        const struct hbg__task_record *waiting = hbg__image_record(graph->payload, waiter);
        registered = hbg__slot_link(graph->slots, waiter);
        hbg__examine(worker, waiting, waiter, hbg__producer_position(graph, waiting, task) + 1, failed, skip);
    }
}

/* The task is done. `state`: HBG__SLOT_OK, or HBG__SLOT_FAILED for failed and skipped ones. */
HBG__INLINE void hbg__complete(struct hbg__worker *worker, const struct hbg__task_record *record, uint32_t task, uint32_t state)
{
    const struct hbg__graph_view *graph = &worker->graph;
    bool failed = state == HBG__SLOT_FAILED;
    uint32_t registered = 0;
    if (record->flags & HBG__TASK_QUERYABLE) registered = hbg__slot_close(graph->slots, graph->epoch, task, state);
    for (uint32_t waiter = record->first_waiter; waiter != HBG__NIL;) {
        if (HBG_UNLIKELY(waiter >= graph->task_count)) {
            hbg__halt(worker, HBG_E_IMAGE, task, 0, 0);
            break;
        }
        const struct hbg__task_record *waiting = hbg__image_record(graph->payload, waiter);
        uint32_t next = waiting->next_waiter;
        hbg__examine(worker, waiting, waiter, 1, failed, false);
        waiter = next;
    }
    if (registered) hbg__wake_registered(worker, task, registered, failed);
}

/* The task that is ready by this completion and all that the completion means: nobody can have registered, and the one waiter
   has no other producer and is no noop. HBG__NIL: complete it in full. A chain goes from task to task this way. */
static inline uint32_t hbg__sole_successor(const struct hbg__graph_view *graph, const struct hbg__task_record *record)
{
    uint32_t waiter = record->first_waiter;
    if ((record->flags & HBG__TASK_QUERYABLE) || waiter >= graph->task_count) return HBG__NIL;
    const struct hbg__task_record *waiting = hbg__image_record(graph->payload, waiter);
    bool sole = waiting->next_waiter == HBG__NIL && waiting->producer_count == 1 && !(waiting->flags & HBG__TASK_NOOP);
    return sole ? waiter : HBG__NIL;
}

/* Complete skipped tasks and noops until none is left: they visit no core. */
static HBG_NO_INLINE void hbg__drain_all(struct hbg__worker *worker)
{
    while (worker->drain) {
        uint32_t task = hbg__waiter_task(worker->drain);
        bool skip = hbg__waiter_skip(worker->drain);
        worker->drain = hbg__slot_link(worker->graph.slots, task);
        const struct hbg__task_record *record = hbg__image_record(worker->graph.payload, task);
        if (skip) hbg__count_skipped(worker, record);
        else ++worker->noops;
        hbg__complete(worker, record, task, skip ? HBG__SLOT_FAILED : HBG__SLOT_OK);
    }
}

static inline void hbg__drain(struct hbg__worker *worker)
{
    if (HBG_UNLIKELY(worker->drain)) hbg__drain_all(worker);
}

#endif /* HBG_SCHED_WAKE_LIST_H */
