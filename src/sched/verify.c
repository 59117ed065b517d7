/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - what must hold when a run that reached its count has ended. */
#include "sched/sched.h"

static const char *verify_worker(const struct hbg__worker *worker, uint32_t generation)
{
    uint64_t top;
    if (hbg__deque_size(&worker->deque, &top) != 0) return "a worker's queue holds a task";
    if (worker->generation != generation) return NULL;
    if (worker->next != HBG__NIL) return "a worker's next-task place holds a task";
    if (worker->drain != 0) return "a worker's drain list holds a task";
    if (worker->root_at != worker->root_end) return "a worker holds roots that it did not run";
    return NULL;
}

const char *hbg__sched_verify(const struct hbg__sched *sched, uint32_t generation)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < sched->options.worker_count; ++i) {
        const struct hbg__worker *worker = &sched->worker[i];
        const char *wrong = verify_worker(worker, generation);
        if (wrong) return wrong;
        if (worker->generation == generation) total += worker->executed + worker->skipped + worker->noops;
    }
    if (total != sched->run.graph.task_count) return "the counts do not add up to the tasks";
    if (hbg__ring_has_entries(&sched->ring)) return "the shared ring holds a task";
    if (hbg__spill_has_entries(&sched->spill)) return "the spill list holds a task";
    return NULL;
}
