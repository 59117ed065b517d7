/* SPDX-License-Identifier: Apache-2.0 */
/* enter.c - a worker's way into runs and out of them.
 *
 *     state {generation, finished, inside}
 *         launch        {g, 0, 0}          only when the run before is concluded
 *         enter         inside + 1         only while not finished
 *         finish, halt  finished = 1       from inside
 *         leave         inside - 1         the one that leaves {g, 1, 0} behind concludes
 *
 * Once finished nobody enters, so exactly one worker concludes a run, and what it sees is what all who were inside did.
 */
#include "sched/roots.h"
#include "sched/run_task.h"

enum { APART = 64 };                    /* so many workers sleep for times of their own, between half of rest_ns and all of it */

/* Take the run's constants and start from nothing.

   `generation` says whose the private state is, to whoever looks when nobody is inside (conclude.c, verify.c). Onlookers during a run go by
   `inside` and `published`, which carry a generation of their own and are stored last. A simulated device looks at private state between any
   two atomic operations: there is none from here to the store of `running`, and all that it looks at is set by then. */
static void begin(struct hbg__worker *worker, uint32_t generation)
{
    const struct hbg__sched_run *run = &worker->sched->run;
    worker->generation = generation;
    hbg__core_begin(&worker->core, run->launch, run->graph.payload);
    worker->activation = 0;
    worker->next = HBG__NIL;
    worker->drain = 0;
    hbg__roots_forget(&worker->roots);
    hbg__roots_forget(&worker->outer_roots);
    worker->executed = worker->skipped = worker->noops = 0;
    worker->failure.activation = worker->fault.activation = 0;
    worker->failure.task = worker->fault.task = HBG__NIL;
    worker->fault.status = HBG_OK;
    worker->started_ns = worker->ended_ns = hbg__clock_ns();
    worker->steal_victim = HBG__NIL;
    worker->rest_ns = 0;
    worker->patient = true;
    worker->quiet_total = 0;
    worker->quiet_since_ns = worker->started_ns;
    hbg__store_relaxed32(&worker->running, HBG__RUNNING_NONE);      /* relaxed: for onlookers. */
    hbg__context_enter(worker, 0);
    if (HBG_UNLIKELY(run->launch->events != 0))
        hbg__event_begin(&worker->events, run->launch->events, worker->sched->options.worker_count, run->launch->event_capacity, worker->index, run->launch->epoch);
}

/* Sleep outside a run that this worker left for want of work. */
static void sleep_resting(struct hbg__worker *worker)
{
    struct hbg__bell *bell = &worker->sched->bell;
    uint64_t apart_ns = worker->rest_ns / (2 * APART) * (worker->index % APART);
    worker->resting = false;
    hbg__bell_sleep(bell, worker->rest_seen, worker->rest_ns - apart_ns);
    /* relaxed: whether it was the bell or the clock; decides how long to look. */
    worker->patient = hbg__load_relaxed32(&bell->rings) != worker->rest_seen;
}

static bool is_closing(const struct hbg__sched *sched)
{
    /* Q2 acquire, pairs with Q1 in hbg__sched_close(): the device's last orders. */
    return hbg__load_acquire32(&sched->closing) != 0;
}

/* Nothing to enter: spin, then sleep without limit. Ends when a run is launched or the device closes. */
static void wait_outside(struct hbg__sched *sched)
{
    uint64_t started_ns = hbg__clock_ns();
    while (hbg__clock_ns() - started_ns < sched->options.spin_ns) {
        for (uint32_t i = 0; i < 8; ++i) {
            /* relaxed: hbg__enter() looks again with acquire. */
            if (!hbg__state_finished(hbg__load_relaxed64(&sched->state))) return;
            hbg__pause();
        }
    }
    uint32_t seen = hbg__bell_announce(&sched->bell);
    /* relaxed: B3 has acquired what was launched before a ring that it saw. */
    if (hbg__state_finished(hbg__load_relaxed64(&sched->state)) && !is_closing(sched))
        hbg__bell_sleep(&sched->bell, seen, UINT64_MAX);
    else
        hbg__bell_retract(&sched->bell);
}

bool hbg__enter(struct hbg__worker *worker)
{
    struct hbg__sched *sched = worker->sched;
    if (worker->resting) sleep_resting(worker);
    for (;;) {
        if (is_closing(sched)) return false;
        uint64_t state = hbg__load_relaxed64(&sched->state);       /* relaxed: L2 decides. */
        if (hbg__state_finished(state)) {
            wait_outside(sched);
            continue;
        }
        /* L2 acquire, pairs with L1 in hbg__sched_launch(): the run's constants. Entering and leaving are read-modify-writes
           of what launch stored, so it is acquired through them as well. */
        if (hbg__cas_acquire64(&sched->state, &state, state + 1)) {
            if (worker->generation != hbg__state_generation(state)) begin(worker, hbg__state_generation(state));
            return true;
        }
    }
}

void hbg__leave(struct hbg__worker *worker)
{
    /* L3 acq_rel, pairs with L3 in hbg__leave() and L4 in hbg__finish(): the last one sees what all others did. */
    uint64_t state = hbg__fetch_add_acq_rel64(&worker->sched->state, (uint64_t)-1) - 1;
    if (hbg__state_finished(state) && hbg__state_inside(state) == 0) hbg__conclude(worker->sched);
}

void hbg__finish(struct hbg__worker *worker)
{
    /* L4 acq_rel, pairs with L3 in hbg__leave(): orders nothing of its own, but must not break the chain of L1. */
    hbg__fetch_or_acq_rel64(&worker->sched->state, HBG__STATE_FINISHED);
}

HBG_COLD void hbg__halt(struct hbg__worker *worker, enum hbg_status status, uint32_t task, int64_t used, int64_t limit)
{
    if (worker->fault.status == HBG_OK) {
        worker->fault.status = status;
        worker->fault.activation = worker->activation;
        worker->fault.task = task;
        worker->fault.used = used;
        worker->fault.limit = limit;
    }
    /* S1 acq_rel, pairs with S1 in hbg__halt() and S2 in hbg__sched_cancel(): publishes nothing; L3 carries the fault. */
    hbg__fetch_or_acq_rel32(&worker->sched->stop, HBG__STOP_HALT);
    hbg__finish(worker);
}

static HBG_COLD void run_traced(struct hbg__worker *worker)
{
    uint32_t mode = worker->sched->run.mode;
    if (mode == HBG__MODE_WAKE) hbg__run_wake_traced(worker);
    else if (mode == HBG__MODE_CLAIM) hbg__run_claim_traced(worker);
    else hbg__run_in_order_traced(worker);
}

void hbg__sched_serve(struct hbg__sched *sched, uint32_t index)
{
    struct hbg__worker *worker = &sched->worker[index];
    while (hbg__enter(worker)) {
        if (HBG_UNLIKELY(sched->run.launch->events != 0)) run_traced(worker);
        else if (sched->run.mode == HBG__MODE_WAKE) hbg__run_wake(worker);
        else if (sched->run.mode == HBG__MODE_CLAIM) hbg__run_claim(worker);
        else hbg__run_in_order(worker);
        hbg__leave(worker);
    }
}
