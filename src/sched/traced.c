/* SPDX-License-Identifier: Apache-2.0 */
/* traced.c - the three ways to run an image once more, with a record of each task that visits the core.
 *
 * The files are compiled a second time around another call of the kernel, so that nothing is looked at for a task of a run that
 * is not traced. A record costs two looks at the clock and the stores of event.h.
 */
#include "sched/run_task.h"

/* Did the worker look for work since its last task? Then it has published as many as it ran. */
static inline bool has_searched(const struct hbg__worker *worker)
{
    uint64_t count = hbg__completed(worker);
    /* relaxed: only this worker writes it. */
    return worker->sched->run.mode == HBG__MODE_WAKE &&
           hbg__load_relaxed64(&worker->published) == ((uint64_t)worker->generation << 32 | (uint32_t)count);
}

static inline uint32_t run_kernel_traced(struct hbg__worker *worker, const struct hbg__task_record *record, uint32_t task)
{
    uint64_t started = hbg__ticks();
    uint64_t dispatched = has_searched(worker) ? started : worker->events.free;
    uint32_t state = hbg__run_kernel(worker, record, task);
    hbg__event_put(&worker->events, worker->slot_base + task, dispatched, started, hbg__ticks());
    return state;
}

#define hbg__run_kernel run_kernel_traced
#define hbg__run_wake hbg__run_wake_traced
#define hbg__run_claim hbg__run_claim_traced
#define hbg__run_in_order hbg__run_in_order_traced
#include "sched/wake.c"
#include "sched/claim.c"
#include "sched/in_order.c"
