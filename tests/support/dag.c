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

static bool is_missing(const struct dag *dag, uint32_t slot) { return dag->expected[slot] == DAG_RUNS && dag->mark[slot] != dag->run; }

/* Of a submission some of what is inside is looked at, not the same each time. */
static bool is_early_of(const struct dag *dag, uint32_t slot, uint32_t producer)
{
    const struct dag_task *task = &dag->task[producer];
    uint32_t step = 1 + task->inside_count / 64;
    if (dag->expected[producer] != DAG_SUBMITS) return is_missing(dag, producer);
    for (uint32_t i = slot % step; i < task->inside_count; i += step)
        if (is_missing(dag, task->inside + i)) return true;
    return false;
}

/* A task that waits for nobody inside of its image waits for the producers of its submission. */
static bool is_early(const struct dag *dag, uint32_t slot)
{
    bool early = false;
    for (uint32_t at = slot, count = 0; at != HBG__NIL && count == 0; at = dag->task[at].outer) {
        const struct dag_task *task = &dag->task[at];
        const uint32_t *producer = image_builder_producers(task->builder, task->task, &count);
        for (uint32_t i = 0; i < count; ++i) early = early || is_early_of(dag, slot, task->first + producer[i]);
    }
    return early;
}

static int kernel_dag(const struct hbg_task_view *t)
{
    struct dag *dag = (struct dag *)(uintptr_t)t->user;
    uint32_t slot = (uint32_t)t->base[TEST_BASE_FIRST_SLOT] + t->task;
    bool wrong = dag->mark[slot] == dag->run || is_early(dag, slot);
    /* the image's heap lies as its slots do */
    if (t->base[HBG__BASE_HEAP] - dag->heap != (slot - t->task) * UINT64_C(8)) wrong = true;
    if (wrong) __atomic_fetch_add(&dag->early, 1, __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < dag->spin_pauses; ++i) hbg__pause();
    dag->mark[slot] = dag->run;
    if (slot % 4 == 0) return dag->fail[slot];          /* without a detail */
    int code = hbg_fail(t, dag->fail[slot], (int64_t)slot * 3);
    return dag->fail[slot] ? code : 0;                  /* some say a detail and then do not fail */
}

/* What its failure says. */
static int64_t detail_of(uint32_t slot) { return slot % 4 ? (int64_t)slot * 3 : 0; }

const struct hbg_kernel dag_kernel[1] = { HBG_KERNEL(0, kernel_dag, NULL) };

/* ---- graphs ---- */

/* The tasks of one image, and of all that it submits. */
static void list_tasks(struct dag *dag, const struct image_builder *builder, uint32_t first, uint32_t activation, uint32_t outer, uint32_t *listed)
{
    for (uint32_t i = 0; i < image_builder_count(builder); ++i) {
        struct dag_task *task = &dag->task[first + i];
        struct hbg__submission submission;
        const struct image_builder *definition = image_builder_submission(builder, i, &submission);
        *task = (struct dag_task){ .builder = builder, .task = i, .first = first, .activation = activation, .outer = outer };
        dag->order[(*listed)++] = first + i;
        if (!definition) continue;
        task->inside = first + submission.slots;
        task->inside_count = submission.slot_count;
        list_tasks(dag, definition, task->inside, activation + submission.activation, first + i, listed);
    }
}

void dag_open(struct dag *dag, struct image_builder *builder)
{
    uint32_t listed = 0;
    memset(dag, 0, sizeof *dag);
    dag->builder = builder;
    dag->image = image_builder_finish(builder);
    dag->count = image_builder_slots(builder);
    dag->task = calloc(dag->count + 1, sizeof *dag->task);
    dag->order = calloc(dag->count + 1, sizeof *dag->order);
    dag->fail = calloc(dag->count + 1, sizeof *dag->fail);
    dag->expected = calloc(dag->count + 1, sizeof *dag->expected);
    dag->mark = calloc(dag->count + 1, sizeof *dag->mark);
    assert(dag->task && dag->order && dag->fail && dag->expected && dag->mark);
    list_tasks(dag, builder, 0, 0, HBG__NIL, &listed);
    assert(listed == dag->count);
    dag_expect(dag);
}

static bool is_bad(uint8_t state) { return state == DAG_FAILS || state == DAG_SKIPPED || state == DAG_SUBMITS_FAILURE; }

/* In the order of the program a submission comes before what is inside, and these before its consumers. */
void dag_expect(struct dag *dag)
{
    for (uint32_t i = 0; i < dag->count; ++i) {
        uint32_t slot = dag->order[i], count;
        const struct dag_task *task = &dag->task[slot];
        uint32_t flags = image_builder_flags(task->builder, task->task);
        const uint32_t *producer = image_builder_producers(task->builder, task->task, &count);
        bool skip = task->outer != HBG__NIL && dag->expected[task->outer] == DAG_SKIPPED;
        for (uint32_t p = 0; p < count && !(flags & HBG__TASK_REUSE); ++p) skip = skip || is_bad(dag->expected[task->first + producer[p]]);
        if (skip) dag->expected[slot] = DAG_SKIPPED;
        else if (flags & HBG__TASK_NOOP) dag->expected[slot] = DAG_NOOP;
        else if (flags & HBG__TASK_SUBGRAPH) dag->expected[slot] = DAG_SUBMITS;
        else dag->expected[slot] = dag->fail[slot] ? DAG_FAILS : DAG_RUNS;
        for (uint32_t at = task->outer; is_bad(dag->expected[slot]) && at != HBG__NIL && dag->expected[at] == DAG_SUBMITS; at = dag->task[at].outer)
            dag->expected[at] = DAG_SUBMITS_FAILURE;
    }
}

enum { DEFINITIONS = 3 };

static struct image_builder *random_builder(struct hbg__rng *rng, const struct dag_shape *shape)
{
    struct image_builder *builder = image_builder_create(), *definition[DEFINITIONS] = { NULL };
    uint32_t *producer = malloc((shape->producers_max + 1) * sizeof *producer);
    assert(producer);
    for (uint32_t i = 0; i < DEFINITIONS && shape->depth && shape->submit_percent; ++i) {
        struct dag_shape inner = *shape;
        inner.tasks = (uint32_t)hbg__rng_below(rng, shape->tasks / 2 + 1);
        inner.depth = shape->depth - 1;
        definition[i] = random_builder(rng, &inner);
    }
    for (uint32_t i = 0; i < shape->tasks; ++i) {
        uint32_t back = shape->window && shape->window < i ? shape->window : i;
        uint32_t count = back ? (uint32_t)hbg__rng_below(rng, shape->producers_max + 1) : 0;
        uint32_t dice = (uint32_t)hbg__rng_below(rng, 100), flags = 0;
        for (uint32_t p = 0; p < count; ++p) producer[p] = i - 1 - (uint32_t)hbg__rng_below(rng, back);
        if (definition[0] && hbg__rng_below(rng, 100) < shape->submit_percent) {
            image_builder_submit(builder, definition[hbg__rng_below(rng, DEFINITIONS)], producer, count);
            continue;
        }
        if (dice < shape->noop_percent) flags = HBG__TASK_NOOP;
        else if (dice < shape->noop_percent + shape->reuse_percent) flags = HBG__TASK_NOOP | HBG__TASK_REUSE;
        image_builder_task(builder, 0, producer, count, flags);
        if (dice & 1) image_builder_scalar(builder, i);
    }
    free(producer);
    for (uint32_t i = 0; i < DEFINITIONS; ++i) image_builder_destroy(definition[i]);
    return builder;
}

void dag_random(struct dag *dag, uint64_t seed, const struct dag_shape *shape)
{
    struct hbg__rng rng;
    hbg__rng_seed(&rng, seed);
    dag_open(dag, random_builder(&rng, shape));
    for (uint32_t i = 0; i < dag->count; ++i)
        if (hbg__rng_below(&rng, 100) < shape->fail_percent) dag->fail[i] = 1 + (int)hbg__rng_below(&rng, 50);
    dag_expect(dag);
}

void dag_close(struct dag *dag)
{
    test_image_free(&dag->image);
    image_builder_destroy(dag->builder);
    free(dag->task);
    free(dag->order);
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
    dag->heap = launch->launch.heap;
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

/* The task is the outermost submission that it is inside of. */
static bool is_named(const struct dag *dag, uint32_t slot, const struct hbg__launch_result *result)
{
    uint32_t outer = slot;
    if (slot == HBG__NIL) return result->task == HBG__NIL && result->node == HBG__NIL && result->activation == 0;
    while (dag->task[outer].outer != HBG__NIL) outer = dag->task[outer].outer;
    return result->task == outer && result->node == dag->task[slot].task && result->activation == dag->task[slot].activation;
}

const char *dag_check(const struct dag *dag, const struct hbg__launch_result *result)
{
    uint64_t count[DAG_STATES] = { 0 };
    uint32_t lowest = HBG__NIL;
    if (dag->early) return "a kernel started before a producer ended, or ran twice, or saw another heap";
    for (uint32_t n = 0; n < dag->count; ++n) {
        uint32_t i = dag->order[n];
        bool ran = dag->mark[i] == dag->run, runs = dag->expected[i] == DAG_RUNS || dag->expected[i] == DAG_FAILS;
        ++count[dag->expected[i]];
        if (dag->expected[i] == DAG_FAILS && lowest == HBG__NIL) lowest = i;
        if (ran && !runs) return "a task ran that should be skipped";
        if (!ran && runs) return "a task did not run";
    }
    if (result->executed != count[DAG_RUNS] + count[DAG_FAILS]) return "executed is not the number of tasks that ran";
    if (result->skipped != count[DAG_SKIPPED]) return "skipped is wrong";
    if (result->noops != count[DAG_NOOP] + count[DAG_SUBMITS] + count[DAG_SUBMITS_FAILURE]) return "noops is wrong";
    if (result->status != (lowest == HBG__NIL ? HBG_OK : HBG_E_KERNEL)) return "the status is wrong";
    if (!is_named(dag, lowest, result)) return "the failed task is not the lowest one";
    if (lowest != HBG__NIL && (result->code != dag->fail[lowest] || result->detail != detail_of(lowest))) return "code or detail is wrong";
    if (result->ended_ns < result->started_ns) return "the run ended before it started";
    return NULL;
}

/* Nothing fails in such a run; what is inside of a submission has no mark of its own for the submission. */
static bool has_run(const struct dag *dag, uint32_t slot)
{
    const struct dag_task *task = &dag->task[slot];
    uint32_t flags = image_builder_flags(task->builder, task->task);
    for (uint32_t i = 0; i < task->inside_count; ++i)
        if (dag->task[task->inside + i].inside_count == 0 && !has_run(dag, task->inside + i)) return false;
    return (flags & (HBG__TASK_NOOP | HBG__TASK_SUBGRAPH)) || dag->mark[slot] == dag->run;
}

const char *dag_check_cancelled(const struct dag *dag, const struct hbg__launch_result *result)
{
    uint64_t ran = 0;
    for (uint32_t i = 0; i < dag->count; ++i) {
        if (dag->mark[i] != dag->run) continue;
        ++ran;
        for (uint32_t at = i; at != HBG__NIL; at = dag->task[at].outer) {
            const struct dag_task *task = &dag->task[at];
            uint32_t count;
            const uint32_t *producer = image_builder_producers(task->builder, task->task, &count);
            for (uint32_t p = 0; p < count; ++p)
                if (!has_run(dag, task->first + producer[p])) return "a task ran although a producer of it did not";
        }
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
