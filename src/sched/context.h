/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - whose tasks a worker runs: those of the outermost image, or those of one activation.
 *
 *     worker->graph, slot_base, core.view      the image, its slots, its base table
 *     worker->next, drain                      tasks of it
 *     executed + skipped + noops - told        records of it that the worker completed and the activation does not know of
 *
 * A worker turns to another activation only where it takes work: a task that is made ready belongs to the same image as the one
 * that was completed. Nobody counts nodes together: a worker tells its sum when it turns away (hbg__tell).
 */
#ifndef HBG_SCHED_CONTEXT_H
#define HBG_SCHED_CONTEXT_H

#include "sched/sched.h"

static inline struct hbg__activation *hbg__activation_at(const struct hbg__sched_run *run, uint32_t activation)
{
    return &run->activations[activation - 1];
}

/* The record of the outermost image that the task belongs to. */
static inline uint32_t hbg__outer_task(const struct hbg__sched_run *run, uint32_t activation, uint32_t task)
{
    return activation ? hbg__activation_at(run, activation)->outer_task : task;
}

static inline uint64_t hbg__completed(const struct hbg__worker *worker) { return worker->executed + worker->skipped + worker->noops; }

/* What the worker completed before is told, and `next` and `drain` are empty. */
static inline void hbg__context_enter(struct hbg__worker *worker, uint32_t activation)
{
    const struct hbg__sched_run *run = &worker->sched->run;
    const uint64_t *base = (const uint64_t *)(const void *)(run->launch + 1);
    worker->graph = run->graph;
    worker->activation = activation;
    worker->slot_base = 0;
    worker->told = hbg__completed(worker);
    worker->activation_failed = false;
    if (activation) {
        const struct hbg__activation *own = hbg__activation_at(run, activation);
        worker->graph.payload = (const unsigned char *)(uintptr_t)own->payload;
        worker->graph.slots = (struct hbg__slot *)(uintptr_t)own->slots;
        worker->graph.task_count = own->task_count;
        worker->slot_base = own->slot_base;
        base = (const uint64_t *)(uintptr_t)own->base;
    }
    hbg__core_enter(&worker->core, worker->graph.payload, base);
    /* X1 release, pairs with X2 in look_at(): the activation. */
    hbg__store_release64(&worker->inside, (uint64_t)worker->generation << 32 | activation);
}

/* The task of an entry that was taken, which the worker turns to. */
static inline uint32_t hbg__take_entry(struct hbg__worker *worker, uint64_t entry)
{
    return HBG_LIKELY(entry >> 32 == worker->activation) ? hbg__entry_task(entry) : hbg__turn(worker, entry);
}

/* The task is skipped; of a submission, all that is inside of it as well, which nobody activates. */
static inline void hbg__count_skipped(struct hbg__worker *worker, const struct hbg__task_record *record)
{
    ++worker->skipped;
    worker->activation_failed = true;
    if (HBG_LIKELY(!(record->flags & HBG__TASK_SUBGRAPH))) return;
    uint32_t inside = hbg__image_submission(worker->graph.payload, record)->slot_count;
    worker->skipped += inside;
    worker->told += inside;             /* it is one record of this image */
}

#endif /* HBG_SCHED_CONTEXT_H */
