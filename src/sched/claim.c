/* SPDX-License-Identifier: Apache-2.0 */
/* claim.c - the in-order-claim way to run an image: workers take ids in chunks and wait for the producers' words.
 *
 * Every producer has a lower id, and a worker runs its chunk in ascending order. So the lowest task that is not complete is
 * always next on some worker, all its producers are complete, and nobody can wait forever for it: no deadlock at any number
 * of workers or CPUs. Every task that has a consumer closes its word with a store; nobody registers anywhere.
 *
 * Chunks start at one id and double while one takes less than CHUNK_NS; longer ones halve, so that slow tasks are dealt out
 * one by one.
 */
#include "sched/run_task.h"

enum {
    CHUNK_MAX = 64, CHUNK_NS = 20000,
    SPINS_PER_CLOCK = 16, WAIT_YIELDS_MAX = 8,
    NAP_FIRST_NS = 20000, NAP_MAX_NS = 1000000, NAP_SHARE = 8,  /* a nap is an eighth of the time waited so far */
    QUIET_NS = 1000000                                          /* waited longer than this: count as not running */
};

/* Somebody who has waited for long says so. True: the run is stalled. */
static bool is_quiet(struct hbg__worker *worker, uint32_t producer, uint64_t now_ns)
{
    hbg__publish(worker);
    hbg__store_release32(&worker->running, HBG__RUNNING_WAITS | producer);      /* as T3 */
    if (!hbg__stalled(worker, now_ns)) return false;
    hbg__halt(worker, HBG_E_STALLED, HBG__NIL, 0, 0);
    return true;
}

/* The producer's state. Ends when another worker completes it, or with HBG__SLOT_EMPTY when the run was ended. */
static HBG_COLD uint32_t wait_for(struct hbg__worker *worker, uint32_t producer)
{
    const struct hbg__graph_view *graph = &worker->graph;
    uint64_t started_ns = hbg__clock_ns(), now_ns = started_ns;
    uint32_t yields = 0;
    for (;;) {
        for (uint32_t i = 0; i < SPINS_PER_CLOCK; ++i) {
            uint32_t state = hbg__slot_look(graph->slots, graph->epoch, producer);
            if (hbg__slot_is_closed(state)) return state;
            hbg__pause();
        }
        if (hbg__stop(worker) & HBG__STOP_HALT) return HBG__SLOT_EMPTY;
        now_ns = hbg__clock_ns();
        uint64_t waited_ns = now_ns - started_ns;
        if (waited_ns < worker->sched->options.spin_ns) continue;
        if (waited_ns >= QUIET_NS && is_quiet(worker, producer, now_ns)) return HBG__SLOT_EMPTY;
        if (yields < WAIT_YIELDS_MAX) {
            ++yields;
            hbg__yield();
        } else {
            uint64_t nap_ns = waited_ns / NAP_SHARE;
            if (nap_ns < NAP_FIRST_NS) nap_ns = NAP_FIRST_NS;
            if (nap_ns > NAP_MAX_NS) nap_ns = NAP_MAX_NS;
            hbg__word_wait(&worker->nap, 0, nap_ns);
        }
    }
}

/* Wait for all producers. False: the run was ended. */
static inline bool await_producers(struct hbg__worker *worker, const struct hbg__task_record *record, bool *skip)
{
    const struct hbg__graph_view *graph = &worker->graph;
    uint32_t count = hbg__image_producer_count(graph->payload, record);
    bool failed = false;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t producer = hbg__image_producer(graph->payload, record, i);
        uint32_t state = hbg__slot_look(graph->slots, graph->epoch, producer);
        if (HBG_UNLIKELY(!hbg__slot_is_closed(state))) state = wait_for(worker, producer);
        if (HBG_UNLIKELY(state == HBG__SLOT_EMPTY)) return false;
        failed |= state == HBG__SLOT_FAILED;
    }
    *skip = failed && !(record->flags & HBG__TASK_REUSE);
    return true;
}

/* False: the run was ended. */
static inline bool run_one(struct hbg__worker *worker, uint32_t task)
{
    const struct hbg__task_record *record = hbg__image_record(worker->graph.payload, task);
    bool skip, has_consumer = record->first_waiter != HBG__NIL || (record->flags & HBG__TASK_QUERYABLE) != 0;
    uint32_t state, stop;
    if (has_consumer) hbg__prefetch_write(&worker->graph.slots[task]);
    if (!await_producers(worker, record, &skip)) return false;
    stop = hbg__stop(worker);
    if (HBG_UNLIKELY(stop & HBG__STOP_HALT)) return false;
    if (HBG_UNLIKELY(record->flags & HBG__TASK_NOOP)) {
        if (skip) ++worker->skipped;
        else ++worker->noops;
        state = skip ? HBG__SLOT_FAILED : HBG__SLOT_OK;
    } else if (HBG_UNLIKELY(skip || (stop & HBG__STOP_CANCEL))) {
        ++worker->skipped;
        state = HBG__SLOT_FAILED;
    } else {
        state = hbg__run_kernel(worker, record, task);
    }
    if (has_consumer) hbg__slot_publish(worker->graph.slots, worker->graph.epoch, task, state);
    return true;
}

void hbg__run_claim(struct hbg__worker *worker)
{
    struct hbg__atomic_u32 *cursor = &worker->sched->cursor;
    uint32_t count = worker->graph.task_count, chunk = 1;
    uint64_t started_ns = worker->started_ns;
    hbg__store_relaxed32(&worker->running, HBG__RUNNING_BUSY);  /* relaxed: for onlookers. */
    while (hbg__load_relaxed32(cursor) < count) {               /* relaxed: it only allots */
        uint32_t task = hbg__fetch_add_relaxed32(cursor, chunk);        /* relaxed: likewise */
        if (task >= count) break;
        uint32_t end = chunk > count - task ? count : task + chunk;
        for (; task < end; ++task)
            if (!run_one(worker, task)) return;
        uint64_t now_ns = hbg__clock_ns();
        if (now_ns - started_ns > CHUNK_NS) chunk = chunk > 1 ? chunk / 2 : 1;
        else if (chunk < CHUNK_MAX) chunk *= 2;
        started_ns = now_ns;
    }
    (void)hbg__idle(worker);    /* finds nothing in this mode; sees the end of the run, or rests until the others are done */
}
