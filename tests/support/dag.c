/* SPDX-License-Identifier: Apache-2.0 */
/* dag.c - random graphs with a sequential oracle. */
#include "support/dag.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "atomic/atomic.h"
#include "base/alloc.h"
#include "base/rng.h"
#include "sched/slot.h"

/* ---- kernels ---- */

static int kernel_dag(const struct hbg_task_view *t)
{
    struct dag *dag = (struct dag *)(uintptr_t)t->user;
    uint32_t count;
    const uint32_t *producer = image_builder_producers(dag->builder, t->task, &count);
    bool early = dag->mark[t->task] == dag->run;
    for (uint32_t i = 0; i < count; ++i)
        if (dag->expected[producer[i]] == DAG_RUNS && dag->mark[producer[i]] != dag->run) early = true;
    if (early) __atomic_fetch_add(&dag->early, 1, __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < dag->spin_pauses; ++i) hbg__pause();
    dag->mark[t->task] = dag->run;
    return dag->fail[t->task] ? hbg_fail(t, dag->fail[t->task], (int64_t)t->task * 3) : 0;
}

const struct hbg_kernel dag_kernel[1] = { HBG_KERNEL(0, kernel_dag, NULL) };

/* ---- graphs ---- */

void dag_open(struct dag *dag, struct image_builder *builder)
{
    memset(dag, 0, sizeof *dag);
    dag->builder = builder;
    dag->image = image_builder_finish(builder);
    dag->count = image_builder_count(builder);
    dag->fail = calloc(dag->count + 1, sizeof *dag->fail);
    dag->expected = calloc(dag->count + 1, sizeof *dag->expected);
    dag->mark = calloc(dag->count + 1, sizeof *dag->mark);
    assert(dag->fail && dag->expected && dag->mark);
    dag_expect(dag);
}

void dag_expect(struct dag *dag)
{
    for (uint32_t i = 0; i < dag->count; ++i) {
        uint32_t count, flags = image_builder_flags(dag->builder, i);
        const uint32_t *producer = image_builder_producers(dag->builder, i, &count);
        bool skip = false;
        for (uint32_t p = 0; p < count; ++p) {
            uint8_t state = dag->expected[producer[p]];
            skip = skip || ((state == DAG_FAILS || state == DAG_SKIPPED) && !(flags & HBG__TASK_REUSE));
        }
        dag->expected[i] = (uint8_t)(skip ? DAG_SKIPPED : flags & HBG__TASK_NOOP ? DAG_NOOP : dag->fail[i] ? DAG_FAILS : DAG_RUNS);
    }
}

void dag_random(struct dag *dag, uint64_t seed, const struct dag_shape *shape)
{
    struct hbg__rng rng;
    struct image_builder *builder = image_builder_create();
    uint32_t *producer = malloc((shape->producers_max + 1) * sizeof *producer);
    assert(producer);
    hbg__rng_seed(&rng, seed);
    for (uint32_t i = 0; i < shape->tasks; ++i) {
        uint32_t back = shape->window && shape->window < i ? shape->window : i;
        uint32_t count = back ? (uint32_t)hbg__rng_below(&rng, shape->producers_max + 1) : 0;
        uint32_t dice = (uint32_t)hbg__rng_below(&rng, 100), flags = 0;
        for (uint32_t p = 0; p < count; ++p) producer[p] = i - 1 - (uint32_t)hbg__rng_below(&rng, back);
        if (dice < shape->noop_percent) flags = HBG__TASK_NOOP;
        else if (dice < shape->noop_percent + shape->reuse_percent) flags = HBG__TASK_NOOP | HBG__TASK_REUSE;
        image_builder_task(builder, 0, producer, count, flags);
        if (dice & 1) image_builder_scalar(builder, i);
    }
    free(producer);
    dag_open(dag, builder);
    for (uint32_t i = 0; i < shape->tasks; ++i)
        if (hbg__rng_below(&rng, 100) < shape->fail_percent) dag->fail[i] = 1 + (int)hbg__rng_below(&rng, 50);
    dag_expect(dag);
}

void dag_close(struct dag *dag)
{
    test_image_free(&dag->image);
    image_builder_destroy(dag->builder);
    free(dag->fail);
    free(dag->expected);
    free(dag->mark);
}

/* ---- slots ---- */

void dag_slots_open(struct dag_slots *slots, uint32_t count, uint64_t seed, uint32_t first_epoch)
{
    struct hbg__rng rng;
    hbg__rng_seed(&rng, seed);
    slots->count = count;
    slots->epoch = first_epoch;
    slots->slot = calloc(count + 1, sizeof *slots->slot);
    assert(slots->slot);
    for (uint32_t i = 0; i < count; ++i) {
        /* Epochs lie behind the first one; the values are empty, closed, or waiters. */
        uint32_t epoch = first_epoch - 1 - (uint32_t)hbg__rng_below(&rng, 1000);
        uint32_t value = hbg__rng_below(&rng, 2) ? (uint32_t)hbg__rng_below(&rng, 3) : hbg__waiter_make((uint32_t)hbg__rng_below(&rng, count), true);
        slots->slot[i].word.value = hbg__slot_word(epoch, value);
        slots->slot[i].link.value = 0xaaaaaaaa;
    }
}

uint32_t dag_slots_next(struct dag_slots *slots)
{
    if (++slots->epoch == 0) {
        memset(slots->slot, 0, slots->count * sizeof *slots->slot);
        slots->epoch = 1;
    }
    return slots->epoch;
}

void dag_slots_close(struct dag_slots *slots) { free(slots->slot); }

/* ---- runs ---- */

void dag_launch_open(struct dag *dag, uint32_t workers, struct dag_slots *slots, uint32_t mode, struct test_launch *launch)
{
    assert(dag->count <= slots->count);
    struct hbg_kernel kernel = dag_kernel[0];
    kernel.user = dag;
    test_launch_open(launch, &dag->image, &kernel, 1, workers);
    launch->launch.slots = (uint64_t)(uintptr_t)slots->slot;
    launch->launch.epoch = dag_slots_next(slots);
    launch->launch.mode = mode;
    ++dag->run;
    dag->early = 0;
}

void dag_launch(struct dag *dag, struct hbg__workers *workers, struct dag_slots *slots, uint32_t mode, struct test_launch *launch)
{
    dag_launch_open(dag, hbg__workers_count(workers), slots, mode, launch);
    hbg__workers_launch(workers, &launch->launch);
}

void dag_run(struct dag *dag, struct hbg__workers *workers, struct dag_slots *slots, uint32_t mode, struct hbg__launch_result *result)
{
    struct test_launch launch;
    dag_launch(dag, workers, slots, mode, &launch);
    hbg__workers_wait(workers, UINT64_MAX);
    hbg__workers_result(workers, result);
    test_launch_close(&launch);
}

const char *dag_check(const struct dag *dag, const struct hbg__launch_result *result)
{
    uint64_t count[5] = { 0 };
    uint32_t lowest = HBG__NIL;
    if (dag->early) return "a kernel started before a producer ended, or ran twice";
    for (uint32_t i = 0; i < dag->count; ++i) {
        bool ran = dag->mark[i] == dag->run, runs = dag->expected[i] == DAG_RUNS || dag->expected[i] == DAG_FAILS;
        ++count[dag->expected[i]];
        if (dag->expected[i] == DAG_FAILS && lowest == HBG__NIL) lowest = i;
        if (ran && !runs) return "a task ran that should be skipped";
        if (!ran && runs) return "a task did not run";
    }
    if (result->executed != count[DAG_RUNS] + count[DAG_FAILS]) return "executed is not the number of tasks that ran";
    if (result->skipped != count[DAG_SKIPPED]) return "skipped is wrong";
    if (result->noops != count[DAG_NOOP]) return "noops is wrong";
    if (result->status != (lowest == HBG__NIL ? HBG_OK : HBG_E_KERNEL)) return "the status is wrong";
    if (result->task != lowest) return "the failed task is not the lowest one";
    if (lowest != HBG__NIL && (result->code != dag->fail[lowest] || result->detail != (int64_t)lowest * 3)) return "code or detail is wrong";
    if (result->ended_ns < result->started_ns) return "the run ended before it started";
    return NULL;
}

const char *dag_check_cancelled(const struct dag *dag, const struct hbg__launch_result *result)
{
    uint64_t ran = 0;
    for (uint32_t i = 0; i < dag->count; ++i) {
        uint32_t count;
        const uint32_t *producer = image_builder_producers(dag->builder, i, &count);
        if (dag->mark[i] != dag->run) continue;
        ++ran;
        for (uint32_t p = 0; p < count; ++p)
            if (!(image_builder_flags(dag->builder, producer[p]) & HBG__TASK_NOOP) && dag->mark[producer[p]] != dag->run)
                return "a task ran although a producer of it did not";
    }
    if (result->executed != ran) return "executed is not the number of tasks that ran";
    if (result->executed + result->skipped + result->noops != dag->count) return "the counts do not add up";
    if (result->status != (result->skipped ? HBG_E_CANCELLED : HBG_OK)) return "the status is wrong";
    return NULL;
}

struct hbg__workers *dag_workers(uint32_t count, uint32_t ring_capacity, bool spill, uint64_t stall_ns)
{
    static struct hbg__memory memory;
    static bool ready;
    struct hbg__workers_options options = { .workers = count, .spill = spill, .ring_capacity = ring_capacity, .spin_ns = 3000, .stall_ns = stall_ns };
    struct hbg__workers *workers = NULL;
    struct hbg_error error;
    if (!ready) ready = hbg__memory_init(&memory, NULL);
    memset(&error, 0, sizeof error);
    return ready && hbg__workers_create(&options, &memory, &workers, &error) == HBG_OK ? workers : NULL;
}
