/* SPDX-License-Identifier: Apache-2.0 */
/* idle.c - a worker without work: publish what was done, look, see whether the run is over, spin, yield, rest.
 *
 * Termination. The number of tasks is known, those of all submissions included. Workers count completions privately and publish
 * their count only here; when the published counts add up to it, everything is complete and every worker has published, so the sum
 * is exact.
 *
 * No lost wake can hang a run. An item in a worker's own queue, next-task place or root range has an awake owner: a worker
 * comes here only when all three are empty. An item in the ring or on the spill list was pushed by a worker that was awake
 * then and looks at both before it rests. So whoever rests leaves no work of its own behind, and a hint that was missed
 * (sleepers and searchers are read relaxed) costs parallelism until the sleeper's clock runs out, never progress.
 *
 * Resting is leaving: the worker announces itself on the bell, looks once more, and goes to sleep outside the run (enter.c).
 * The sleep of a resting worker is timed and grows; one that was woken by the clock looks once and rests again. Workers that went to
 * rest together do not wake together.
 */
#include "sched/run_task.h"

enum {
    PAUSES_MAX = 64,                    /* between two looks, while spinning */
    YIELDS_MAX = 8,                     /* before resting */
    REST_FIRST_NS = 1000000, REST_MAX_NS = 4000000
};

void hbg__publish(struct hbg__worker *worker)
{
    uint64_t count = worker->executed + worker->skipped + worker->noops;
    /* T1 release, pairs with T2 in hbg__published_total(): what the tasks that are counted did. */
    hbg__store_release64(&worker->published, (uint64_t)worker->generation << 32 | (uint32_t)count);
}

uint64_t hbg__published_total(struct hbg__sched *sched, uint32_t generation)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < sched->options.worker_count; ++i) {
        /* T2 acquire, pairs with T1 in hbg__publish(): whoever finishes the run has seen all of it. */
        uint64_t published = hbg__load_acquire64(&sched->worker[i].published);
        if (published >> 32 == generation) total += (uint32_t)published;
    }
    return total;
}

/* A task, or HBG__NIL. While it looks the worker counts as busy: it may hold a task that no queue shows any more. */
static uint32_t look(struct hbg__worker *worker, uint64_t now_ns)
{
    hbg__store_relaxed32(&worker->running, HBG__RUNNING_BUSY);      /* relaxed: for onlookers. */
    uint32_t task = hbg__find(worker, now_ns);
    /* T3 release, pairs with T4 in hbg__stalled(): whoever sees it sees what this worker has published. */
    if (task == HBG__NIL) hbg__store_release32(&worker->running, HBG__RUNNING_NONE);
    return task;
}

/* Nothing more is coming: every task is complete, somebody ended the run, or it is stalled. */
static bool is_over(struct hbg__worker *worker, uint64_t now_ns)
{
    struct hbg__sched *sched = worker->sched;
    /* relaxed: a worker that sees it late leaves late. */
    if (hbg__state_finished(hbg__load_relaxed64(&sched->state))) return true;
    if (hbg__published_total(sched, worker->generation) == sched->run.slot_count) {
        hbg__finish(worker);
        return true;
    }
    if (!hbg__stalled(worker, now_ns)) return false;
    hbg__halt(worker, HBG_E_STALLED, HBG__NIL, 0, 0);
    return true;
}

/* Announce, look once more, and leave to sleep. Returns a task if the second look finds one. */
static uint32_t rest(struct hbg__worker *worker, uint64_t now_ns)
{
    struct hbg__bell *bell = &worker->sched->bell;
    worker->rest_seen = hbg__bell_announce(bell);
    uint32_t task = look(worker, now_ns);
    if (task != HBG__NIL || is_over(worker, now_ns)) {
        hbg__bell_retract(bell);
        return task;
    }
    worker->resting = true;
    worker->rest_ns *= 2;
    if (worker->rest_ns < REST_FIRST_NS) worker->rest_ns = REST_FIRST_NS;
    if (worker->rest_ns > REST_MAX_NS) worker->rest_ns = REST_MAX_NS;
    return HBG__NIL;
}

/* Ends when a task is found, when the run is over, or after the spin and yield budget. */
static uint32_t search(struct hbg__worker *worker, uint64_t started_ns)
{
    struct hbg__sched *sched = worker->sched;
    uint64_t now_ns = started_ns;
    uint32_t pauses = 1, yields = 0;
    for (;;) {
        uint32_t task = look(worker, now_ns);
        if (task != HBG__NIL || is_over(worker, now_ns)) return task;
        if (now_ns - started_ns < sched->options.spin_ns && worker->patient) {
            for (uint32_t i = 0; i < pauses; ++i) hbg__pause();
            if (pauses < PAUSES_MAX) pauses *= 2;
        } else if (yields < YIELDS_MAX && worker->patient) {
            ++yields;
            hbg__yield();
        } else {
            return rest(worker, now_ns);
        }
        now_ns = hbg__clock_ns();
    }
}

uint32_t hbg__idle(struct hbg__worker *worker)
{
    struct hbg__sched *sched = worker->sched;
    uint64_t now_ns = hbg__clock_ns();
    uint64_t published = (uint32_t)(worker->executed + worker->skipped + worker->noops);
    /* relaxed: only this worker writes it. */
    if (hbg__load_relaxed64(&worker->published) != ((uint64_t)worker->generation << 32 | published)) {
        worker->ended_ns = now_ns;
        hbg__publish(worker);
    }
    hbg__fetch_add_relaxed32(&sched->searchers, 1);                 /* relaxed: a hint. */
    hbg__store_relaxed32(&sched->hinted, 0);                        /* relaxed: likewise; whoever was woken looks now. */
    uint32_t task = search(worker, now_ns);
    hbg__fetch_add_relaxed32(&sched->searchers, (uint32_t)-1);      /* relaxed: likewise. */
    if (task != HBG__NIL) {
        worker->rest_ns = 0;
        worker->patient = true;
        /* Now that this worker does not look any more: one that sleeps may take the rest, and wakes the next. */
        if (HBG_UNLIKELY(hbg__bell_has_sleepers(&sched->bell)) && hbg__find_left_some(worker)) hbg__hint(sched);
    }
    return task;
}
