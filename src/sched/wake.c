/* SPDX-License-Identifier: Apache-2.0 */
/* wake.c - the wake-list way to run an image: completions make tasks ready, workers run what is ready.
 *
 * A worker takes, in this order: the task that its last completion freed first, the youngest of its own queue, the next root
 * of the range it claimed, then whatever find.c turns up. So a chain stays on one core, and a tree is worked depth first.
 * Tasks with one successor each, which waits for nothing else, follow one another without a detour.
 */
#include "sched/roots.h"
#include "sched/run_task.h"
#include "sched/wake_list.h"

static inline uint32_t take_own(struct hbg__worker *worker)
{
    uint64_t entry;
    uint32_t task = worker->next;
    worker->next = HBG__NIL;
    if (task != HBG__NIL) return task;
    if (hbg__deque_take(&worker->deque, &entry)) return hbg__entry_node(entry);
    return hbg__roots_next(worker);
}

void hbg__run_wake(struct hbg__worker *worker)
{
    const unsigned char *payload = worker->graph.payload;
    uint32_t task = HBG__NIL;
    for (;;) {
        if (task == HBG__NIL) task = take_own(worker);
        if (HBG_UNLIKELY(task == HBG__NIL)) task = hbg__idle(worker);
        if (HBG_UNLIKELY(task == HBG__NIL)) return;

        const struct hbg__task_record *record = hbg__image_record(payload, task);
        uint32_t stop = hbg__stop(worker);
        uint32_t state, successor = HBG__NIL;
        if (HBG_UNLIKELY(stop & HBG__STOP_HALT)) return;
        if (HBG_UNLIKELY(record->flags & HBG__TASK_NOOP)) {     /* a root; others never come here */
            ++worker->noops;
            state = HBG__SLOT_OK;
        } else if (HBG_UNLIKELY(stop & HBG__STOP_CANCEL)) {
            ++worker->skipped;
            state = HBG__SLOT_FAILED;
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
