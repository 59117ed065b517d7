/* SPDX-License-Identifier: Apache-2.0 */
/* wake.c - the wake-list way to run an image: completions make tasks ready, workers run what is ready.
 *
 * A worker takes, in this order: the task that its last completion freed first, the youngest of its own queue, the next root
 * of the range it claimed, then whatever find.c turns up. So a chain stays on one core, and a tree is worked depth first.
 * Tasks with one successor each, which waits for nothing else, follow one another without a detour.
 *
 * Of the first two the one that was submitted earlier goes first where the queue is short. Depth first alone would have two workers
 * climb from the middle of a stencil to its sides, step by step, until nothing was ready but in the middle; so their
 * front stays flat, and each has work left. A queue that is not short has enough for all.
 *
 * Successors are of the same image; what is taken otherwise may be of another activation, and the worker turns to that (expand.c).
 */
#include "sched/roots.h"
#include "sched/run_task.h"
#include "sched/wake_list.h"

enum { FEW = 4 };                       /* entries of a queue that is short */

/* The task, which is ready, or the youngest of the own queue. */
static inline uint32_t earlier_of(struct hbg__worker *worker, uint32_t task)
{
    struct hbg__deque *deque = &worker->deque;
    uint64_t top, entry, size = hbg__deque_size(deque, &top);
    if (size == 0 || size > FEW || hbg__deque_bottom(deque) == worker->roots.floor) return task;
    entry = hbg__deque_youngest(deque);
    if (entry >> 32 != worker->activation || hbg__entry_task(entry) >= task || !hbg__deque_take(deque, &entry)) return task;
    hbg__push_queue(worker, task);
    return hbg__entry_task(entry);
}

static inline uint32_t take_own(struct hbg__worker *worker)
{
    uint64_t entry;
    uint32_t task = worker->next;
    if (task != HBG__NIL) {
        worker->next = HBG__NIL;
        return earlier_of(worker, task);
    }
    do {
        if (hbg__deque_bottom(&worker->deque) != worker->roots.floor && hbg__deque_take(&worker->deque, &entry))
            return hbg__take_entry(worker, entry);
        if (worker->roots.at != worker->roots.end) return hbg__roots_next(worker);
    } while (hbg__roots_drop(worker));
    return HBG__NIL;
}

/* The worker has no work of its own: what it completed is told, which may make a task ready. HBG__NIL: leave. The own queue is empty,
   unless its bottom stands where HBG__NO_FLOOR does, once in 2^64 entries. */
static HBG_NO_INLINE uint32_t take_other(struct hbg__worker *worker)
{
    uint64_t entry;
    if (HBG_UNLIKELY(hbg__deque_take(&worker->deque, &entry))) return hbg__take_entry(worker, entry);
    hbg__tell(worker);
    uint32_t task = worker->next;
    worker->next = HBG__NIL;
    return task != HBG__NIL ? task : hbg__idle(worker);
}

/* A task without a kernel, or one of a run that is cancelled: how it ends. A noop is a root: others never come here.
   HBG__SLOT_EMPTY: it is a submission that is to be expanded. */
static HBG_NO_INLINE uint32_t pass_over(struct hbg__worker *worker, const struct hbg__task_record *record, uint32_t stop)
{
    if (record->flags & HBG__TASK_NOOP) {
        ++worker->noops;
        return HBG__SLOT_OK;
    }
    if (!(stop & HBG__STOP_CANCEL)) return HBG__SLOT_EMPTY;
    hbg__count_skipped(worker, record);
    return HBG__SLOT_FAILED;
}

void hbg__run_wake(struct hbg__worker *worker)
{
    const unsigned char *payload = NULL;
    uint32_t task = HBG__NIL;
    for (;;) {
        if (task == HBG__NIL) {
            task = take_own(worker);
            if (HBG_UNLIKELY(task == HBG__NIL)) task = take_other(worker);
            if (HBG_UNLIKELY(task == HBG__NIL)) return;
            payload = worker->graph.payload;
        }
        const struct hbg__task_record *record = hbg__image_record(payload, task);
        uint32_t stop = hbg__stop(worker);
        uint32_t state, successor = HBG__NIL;
        if (HBG_UNLIKELY(stop != 0 || (record->flags & HBG__TASK_NO_KERNEL))) {
            if (stop & HBG__STOP_HALT) return;
            state = pass_over(worker, record, stop);
            if (state == HBG__SLOT_EMPTY) {
                task = hbg__expand(worker, record, task);
                payload = worker->graph.payload;
                continue;
            }
        } else {
            if (record->flags & HBG__TASK_QUERYABLE) hbg__prefetch_write(&worker->graph.slots[task]);
            state = hbg__run_kernel(worker, record, task);
        }
        if (state == HBG__SLOT_OK) successor = hbg__sole_successor(&worker->graph, record);
        if (successor == HBG__NIL) {
            hbg__complete(worker, record, task, state);
            hbg__drain(worker);
        }
        task = successor;
    }
}
