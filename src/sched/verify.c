/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - what must hold when a run that reached its count has ended. */
#include "sched/context.h"

static const char *verify_worker(const struct hbg__worker *worker, uint32_t generation)
{
    uint64_t top;
    if (hbg__deque_size(&worker->deque, &top) != 0) return "a worker's queue holds a task";
    if (worker->generation != generation) return NULL;
    if (worker->next != HBG__NIL) return "a worker's next-task place holds a task";
    if (worker->drain != 0) return "a worker's drain list holds a task";
    if (worker->roots.at != worker->roots.end || worker->outer_roots.at != worker->outer_roots.end) return "a worker holds roots that it did not run";
    return NULL;
}

static const char *verify_activations(const struct hbg__sched_run *run)
{
    for (uint32_t i = 1; i <= run->activation_count; ++i) {
        const struct hbg__activation *activation = hbg__activation_at(run, i);
        if (activation->epoch != run->graph.epoch) continue;     /* skipped, with all that is inside */
        /* relaxed: nobody else is inside. */
        if (hbg__load_relaxed32(&activation->remaining) != 0) return "a submission is not complete";
    }
    return NULL;
}

const char *hbg__sched_verify(const struct hbg__sched *sched, uint32_t generation)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < sched->options.worker_count; ++i) {
        const struct hbg__worker *worker = &sched->worker[i];
        const char *wrong = verify_worker(worker, generation);
        if (wrong) return wrong;
        if (worker->generation == generation) total += hbg__completed(worker);
    }
    if (total != sched->run.slot_count) return "the counts do not add up to the tasks";
    if (hbg__ring_has_entries(&sched->ring)) return "the shared ring holds a task";
    if (hbg__spill_has_entries(&sched->spill)) return "the spill list holds a task";
    return verify_activations(&sched->run);
}
