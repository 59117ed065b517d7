/* SPDX-License-Identifier: Apache-2.0 */
/* run_task.h - one task on the own core, and what the worker remembers of it; the same in all modes. */
#ifndef HBG_SCHED_RUN_TASK_H
#define HBG_SCHED_RUN_TASK_H

#include "core/dispatch.h"
#include "sched/context.h"
#include "sched/sched.h"

/* Remember the failed task that comes first. HBG_PENDING is kept as a code and named at the end. */
static HBG_COLD void hbg__task_failed(struct hbg__worker *worker, const struct hbg__task_record *record, uint32_t task, int code)
{
    const struct hbg__failure *before = &worker->failure;
    worker->activation_failed = true;
    if (before->task != HBG__NIL && !hbg__is_before(&worker->sched->run, worker->activation, task, before->activation, before->task)) return;
    worker->failure.activation = worker->activation;
    worker->failure.task = task;
    worker->failure.kernel = record->kernel;
    worker->failure.code = code;
    worker->failure.detail = worker->core.detail_task == task ? worker->core.detail : 0;
}

/* Call the kernel. Returns HBG__SLOT_OK or HBG__SLOT_FAILED. */
static inline uint32_t hbg__run_kernel(struct hbg__worker *worker, const struct hbg__task_record *record, uint32_t task)
{
    int code;
    hbg__store_relaxed32(&worker->running, task);       /* relaxed: for onlookers. */
    if (HBG_UNLIKELY(!hbg__core_run(&worker->core, record, task, &code))) {
        hbg__halt(worker, HBG_E_IMAGE, task, 0, 0);
        return HBG__SLOT_FAILED;
    }
    ++worker->executed;
    if (HBG_LIKELY(code == 0)) return HBG__SLOT_OK;
    hbg__task_failed(worker, record, task, code);
    return HBG__SLOT_FAILED;
}

/* HBG__STOP_* bits, 0 in a run that goes its way. */
static inline uint32_t hbg__stop(const struct hbg__worker *worker)
{
    return hbg__load_relaxed32(&worker->sched->stop);   /* relaxed: tasks that start meanwhile have started before. */
}

#endif /* HBG_SCHED_RUN_TASK_H */
