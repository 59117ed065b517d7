/* SPDX-License-Identifier: Apache-2.0 */
/* conclude.c - the end of a run: the last worker out adds up what all of them did and leaves empty queues behind.
 *
 * Which status wins: a run that was ended early says why (damaged image, a full ring, a stall); else the failed task that comes
 * first in the program; else the cancellation, if it skipped anything or a kernel was told of it, whose output may be half done.
 */
#include "sched/run_task.h"

/* How many submissions the tasks of an activation are inside of. */
static uint32_t activation_depth(const struct hbg__sched_run *run, uint32_t activation)
{
    uint32_t depth = 0;
    for (; activation; activation = hbg__activation_at(run, activation)->parent) ++depth;
    return depth;
}

/* The task becomes the submission that it is inside of. */
static void step_out(const struct hbg__sched_run *run, uint32_t *activation, uint32_t *task)
{
    const struct hbg__activation *own = hbg__activation_at(run, *activation);
    *activation = own->parent;
    *task = own->task;
}

HBG_COLD bool hbg__is_before(const struct hbg__sched_run *run, uint32_t a, uint32_t task_a, uint32_t b, uint32_t task_b)
{
    uint32_t depth_a = activation_depth(run, a), depth_b = activation_depth(run, b);
    for (; depth_a > depth_b; --depth_a) step_out(run, &a, &task_a);
    for (; depth_b > depth_a; --depth_b) step_out(run, &b, &task_b);
    while (a != b) {
        step_out(run, &a, &task_a);
        step_out(run, &b, &task_b);
    }
    return task_a < task_b;
}

/* HBG__NIL comes last. */
static bool comes_first(const struct hbg__sched_run *run, uint32_t a, uint32_t task_a, uint32_t b, uint32_t task_b)
{
    if (task_a == HBG__NIL || task_b == HBG__NIL) return task_a < task_b;
    return hbg__is_before(run, a, task_a, b, task_b);
}

static void add_up(struct hbg__sched *sched, uint32_t generation, struct hbg__failure *failure, struct hbg__fault *fault, bool *told)
{
    struct hbg__launch_result *result = &sched->result;
    const struct hbg__sched_run *run = &sched->run;
    for (uint32_t i = 0; i < sched->options.worker_count; ++i) {
        const struct hbg__worker *worker = &sched->worker[i];
        if (worker->generation != generation) continue;         /* slept through the run */
        result->executed += worker->executed;
        result->skipped += worker->skipped;
        result->noops += worker->noops;
        if (worker->started_ns < result->started_ns) result->started_ns = worker->started_ns;
        if (worker->ended_ns > result->ended_ns) result->ended_ns = worker->ended_ns;
        *told = *told || worker->core.told_cancelled;
        if (comes_first(run, worker->failure.activation, worker->failure.task, failure->activation, failure->task)) *failure = worker->failure;
        if (worker->fault.status == HBG_OK) continue;
        if (fault->status == HBG_OK || comes_first(run, worker->fault.activation, worker->fault.task, fault->activation, fault->task)) *fault = worker->fault;
    }
}

/* After a run that ended early tasks may stand anywhere. Slots need nothing: the next run has another epoch. */
static void empty_queues(struct hbg__sched *sched)
{
    uint64_t entry;
    for (uint32_t i = 0; i < sched->options.worker_count; ++i) {
        struct hbg__deque *deque = &sched->worker[i].deque;
        /* relaxed: nobody else is inside; L1 of the next launch publishes it. */
        hbg__deque_open(deque, hbg__load_relaxed64(&deque->bottom));
    }
    while (hbg__ring_pop(&sched->ring, &entry)) {}
    hbg__spill_open(&sched->spill);
}

/* The task, and where the failed one is inside of it. */
static void name_task(const struct hbg__sched *sched, struct hbg__launch_result *result, uint32_t activation, uint32_t task)
{
    result->task = hbg__outer_task(&sched->run, activation, task);
    result->activation = activation;
    result->node = task;
}

static void name_failure(struct hbg__sched *sched, const struct hbg__failure *failure)
{
    struct hbg__launch_result *result = &sched->result;
    result->status = failure->code == HBG_PENDING ? HBG_E_UNSUPPORTED : HBG_E_KERNEL;
    name_task(sched, result, failure->activation, failure->task);
    result->kernel = failure->kernel;
    result->code = failure->code;
    result->detail = failure->detail;
}

static void name_fault(struct hbg__sched *sched, const struct hbg__fault *fault)
{
    struct hbg__launch_result *result = &sched->result;
    const struct hbg__sched_run *run = &sched->run;
    result->status = fault->status;
    result->detail = fault->used;
    result->limit = fault->limit;
    if (fault->task == HBG__NIL) return;
    name_task(sched, result, fault->activation, fault->task);
    const unsigned char *payload = fault->activation ? (const unsigned char *)(uintptr_t)hbg__activation_at(run, fault->activation)->payload : run->graph.payload;
    result->kernel = hbg__image_record(payload, fault->task)->kernel;
}

void hbg__conclude(struct hbg__sched *sched)
{
    struct hbg__launch_result *result = &sched->result;
    struct hbg__failure failure = { 0, HBG__NIL, 0, 0, 0 };
    struct hbg__fault fault = { HBG_OK, 0, HBG__NIL, 0, 0 };
    bool told_cancelled = false;
    /* relaxed: nobody else changes it before the next launch. */
    uint32_t generation = hbg__state_generation(hbg__load_relaxed64(&sched->state));
    add_up(sched, generation, &failure, &fault, &told_cancelled);
    if (fault.status != HBG_OK) {
        name_fault(sched, &fault);
        if (fault.status == HBG_E_STALLED) hbg__stall_describe(&sched->run, result->text, sizeof result->text);
        empty_queues(sched);
    } else if (failure.task != HBG__NIL) {
        name_failure(sched, &failure);
    } else if (result->skipped > 0 || told_cancelled) {
        result->status = HBG_E_CANCELLED;
    }
    /* relaxed: halted without a fault is a device that closed over the run (hbg__sched_abandon). */
    bool halted = (hbg__load_relaxed32(&sched->stop) & HBG__STOP_HALT) != 0;
    if (fault.status == HBG_OK && !halted) HBG_DEBUG_ASSERT(hbg__sched_verify(sched, generation) == NULL);
    /* N1 release, pairs with N2 in hbg__sched_poll(): the result, and all that the run wrote. */
    hbg__store_release32(&sched->done, generation);
    hbg__bell_ring(&sched->done_bell, UINT32_MAX);
    if (sched->options.concluded) sched->options.concluded(sched->options.concluded_user);
}
