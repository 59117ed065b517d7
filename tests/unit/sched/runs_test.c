/* SPDX-License-Identifier: Apache-2.0 */
/* runs_test.c - graphs through the scheduler in every mode and with several numbers of workers, against a sequential oracle. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/rng.h"
#include "support/dag.h"

static const uint32_t WORKERS[] = { 1, 2, 3, 8 };
enum { POOLS = sizeof WORKERS / sizeof WORKERS[0] };
#define STALL_NS UINT64_C(5000000000)
#ifdef HBG_SANITIZED
enum { RANDOM_GRAPHS = 400, CHAIN = 100000, CANCELS = 60 };
#else
enum { RANDOM_GRAPHS = 4000, CHAIN = 1000000, CANCELS = 400 };
#endif

static struct hbg__workers *pool[POOLS];

static int open_pools(void **state)
{
    (void)state;
    for (int i = 0; i < POOLS; ++i)
        if (!(pool[i] = dag_workers(WORKERS[i], 64, true, STALL_NS))) return -1;
    return 0;
}

static int close_pools(void **state)
{
    (void)state;
    for (int i = 0; i < POOLS; ++i) hbg__workers_destroy(pool[i]);
    return 0;
}

static void run_one(struct dag *dag, struct dag_slots *slots, int p, uint32_t mode, uint64_t seed)
{
    struct hbg__launch_result result;
    dag_run(dag, pool[p], slots, mode, &result);
    const char *wrong = dag_check(dag, &result);
    if (wrong) fail_msg("seed %llu, %u tasks, %u workers, mode %u: %s", (unsigned long long)seed, dag->count, WORKERS[p], mode, wrong);
}

static void run_everywhere(struct dag *dag, struct dag_slots *slots, uint64_t seed)
{
    for (int p = 0; p < POOLS; ++p)
        for (uint32_t mode = HBG__MODE_WAKE; mode <= HBG__MODE_ORDER; ++mode) run_one(dag, slots, p, mode, seed);
}

/* Thousands of graphs of all sizes and shapes, one after the other on the same slots with stale words, failures included. */
static void random_graphs(void **state)
{
    struct dag_slots slots;
    (void)state;
    dag_slots_open(&slots, 2001, 7, 1000);
    for (uint64_t seed = 1; seed <= RANDOM_GRAPHS; ++seed) {
        static const uint32_t windows[] = { 0, 1, 3, 10, 200 };
        struct hbg__rng rng;
        struct dag dag;
        hbg__rng_seed(&rng, seed);
        struct dag_shape shape = {
            .tasks = (uint32_t)hbg__rng_below(&rng, seed % 10 == 0 ? 2001 : 120), .producers_max = (uint32_t)hbg__rng_below(&rng, 9),
            .window = windows[hbg__rng_below(&rng, 5)], .fail_percent = seed % 3 == 0 ? (uint32_t)hbg__rng_below(&rng, 10) : 0,
            .noop_percent = (uint32_t)hbg__rng_below(&rng, 30), .reuse_percent = (uint32_t)hbg__rng_below(&rng, 10)
        };
        dag_random(&dag, seed, &shape);
        dag.spin_pauses = seed % 7 == 0 ? 20 : 0;
        run_everywhere(&dag, &slots, seed);
        dag_close(&dag);
    }
    dag_slots_close(&slots);
}

static void no_task_and_one(void **state)
{
    struct dag_slots slots;
    (void)state;
    dag_slots_open(&slots, 4, 1, 5);
    for (uint32_t tasks = 0; tasks < 2; ++tasks) {
        struct dag dag;
        struct dag_shape shape = { .tasks = tasks };
        dag_random(&dag, 1, &shape);
        for (int round = 0; round < 50; ++round) run_everywhere(&dag, &slots, 1);
        dag_close(&dag);
    }
    dag_slots_close(&slots);
}

/* One image, run again and again on slots whose epochs pass their maximum. */
static void epochs_wrap(void **state)
{
    struct dag_slots slots;
    struct dag dag;
    struct dag_shape shape = { .tasks = 300, .producers_max = 5, .fail_percent = 2, .noop_percent = 5 };
    (void)state;
    dag_random(&dag, 99, &shape);
    dag_slots_open(&slots, 300, 3, UINT32_MAX - 40);
    for (int round = 0; round < 10; ++round) run_everywhere(&dag, &slots, 99);
    assert_true(slots.epoch < 100);
    dag_slots_close(&slots);
    dag_close(&dag);
}

/* Rows of more than 255 producers, and one producer with very many waiters. */
static void wide_degree(void **state)
{
    enum { WIDE = 3000 };
    struct dag_slots slots;
    struct dag dag;
    struct image_builder *builder = image_builder_create();
    uint32_t *producer = malloc(WIDE * sizeof *producer);
    (void)state;
    assert_non_null(producer);
    for (uint32_t i = 0; i < WIDE; ++i) producer[i] = image_builder_task(builder, 0, NULL, 0, 0);
    for (uint32_t wide = 254; wide <= 257; ++wide) image_builder_task(builder, 0, producer, wide, 0);
    uint32_t all = image_builder_task(builder, 0, producer, WIDE, 0);
    for (uint32_t i = 0; i < WIDE; ++i) image_builder_task(builder, 0, (uint32_t[]){ all, i }, 2, 0);
    free(producer);
    dag_open(&dag, builder);
    dag_slots_open(&slots, dag.count, 5, 100);
    run_everywhere(&dag, &slots, 0);
    dag.fail[WIDE / 2] = 9;
    dag_expect(&dag);
    run_everywhere(&dag, &slots, 1);
    dag_slots_close(&slots);
    dag_close(&dag);
}

static void make_chain(struct dag *dag, uint32_t flags)
{
    struct image_builder *builder = image_builder_create();
    image_builder_task(builder, 0, NULL, 0, 0);
    for (uint32_t i = 1; i < CHAIN; ++i) image_builder_task(builder, 0, (uint32_t[]){ i - 1 }, 1, flags);
    dag_open(dag, builder);
}

/* A long chain of skips or noops is drained by a loop: fast, and on a flat stack (worker threads have megabytes, not gigabytes).
   Claim mode is left to few workers: on a chain all but one of them wait, and nobody chooses it there. */
static void run_chain(struct dag *dag, struct dag_slots *slots)
{
    for (int p = 0; p < POOLS; ++p) {
        run_one(dag, slots, p, HBG__MODE_WAKE, p);
        run_one(dag, slots, p, HBG__MODE_ORDER, p);
        if (WORKERS[p] <= 2) run_one(dag, slots, p, HBG__MODE_CLAIM, p);
    }
}

static void long_chains(void **state)
{
    struct dag_slots slots;
    struct dag dag;
    (void)state;
    dag_slots_open(&slots, CHAIN, 5, 100);
    make_chain(&dag, 0);
    dag.fail[0] = 3;
    dag_expect(&dag);
    uint64_t start = hbg__clock_ns();
    run_chain(&dag, &slots);
    dag_close(&dag);
    make_chain(&dag, HBG__TASK_NOOP);
    run_chain(&dag, &slots);
    dag_close(&dag);
    assert_true(hbg__clock_ns() - start < UINT64_C(20000000000));
    dag_slots_close(&slots);
}

/* Cancelled at a random moment: what did not start is skipped, by the normal path; the next run is whole. */
static void cancelled_runs(void **state)
{
    struct dag_slots slots;
    struct dag dag;
    struct dag_shape shape = { .tasks = 1500, .producers_max = 3, .window = 50, .noop_percent = 5 };
    uint32_t skipped_some = 0;
    struct hbg__rng rng;
    (void)state;
    hbg__rng_seed(&rng, 17);
    dag_random(&dag, 23, &shape);
    dag.spin_pauses = 3;
    dag_slots_open(&slots, dag.count, 3, 50);
    for (int round = 0; round < CANCELS; ++round) {
        struct hbg__workers *workers = pool[round % POOLS];
        struct hbg__launch_result result;
        struct test_launch launch;
        uint32_t mode = 1 + (uint32_t)hbg__rng_below(&rng, 3);
        uint64_t until = hbg__clock_ns() + hbg__rng_below(&rng, 300000);
        dag_launch(&dag, workers, &slots, mode, &launch);
        while (hbg__clock_ns() < until) {}
        hbg__workers_cancel(workers);
        assert_true(hbg__workers_wait(workers, UINT64_MAX));
        hbg__workers_result(workers, &result);
        test_launch_close(&launch);
        const char *wrong = dag_check_cancelled(&dag, &result);
        if (wrong) fail_msg("round %d, mode %u: %s", round, mode, wrong);
        skipped_some += result.skipped > 0;
        dag_run(&dag, workers, &slots, mode, &result);
        wrong = dag_check(&dag, &result);
        if (wrong) fail_msg("after cancelled round %d: %s", round, wrong);
    }
    assert_true(skipped_some > 0);
    dag_slots_close(&slots);
    dag_close(&dag);
}

/* One task frees more than a queue, a ring and a spill list of this size can hold together. */
static void queues_overflow(void **state)
{
    enum { FAN = 5000 };
    struct dag_slots slots;
    struct dag dag;
    struct image_builder *builder = image_builder_create();
    (void)state;
    image_builder_task(builder, 0, NULL, 0, 0);
    for (uint32_t i = 0; i < FAN; ++i) image_builder_task(builder, 0, (uint32_t[]){ 0 }, 1, 0);
    for (uint32_t i = 0; i < FAN; ++i) image_builder_task(builder, 0, (uint32_t[]){ 1 + i, FAN - i }, 2, 0);
    dag_open(&dag, builder);
    dag_slots_open(&slots, dag.count, 3, 50);
    for (uint32_t capacity = 2; capacity <= 64; capacity *= 2) {
        for (uint32_t count = 1; count <= 4; count += 3) {
            struct hbg__launch_result result;
            struct hbg__workers *spills = dag_workers(count, capacity, true, STALL_NS), *refuses = dag_workers(count, capacity, false, STALL_NS);
            assert_non_null(spills);
            assert_non_null(refuses);
            for (int round = 0; round < 3; ++round) {
                dag_run(&dag, spills, &slots, HBG__MODE_WAKE, &result);
                const char *wrong = dag_check(&dag, &result);
                if (wrong) fail_msg("capacity %u, %u workers: %s", capacity, count, wrong);
                dag_run(&dag, refuses, &slots, HBG__MODE_WAKE, &result);
                if (count == 1) assert_int_equal(result.status, HBG_E_LIMIT);
                if (result.status == HBG_E_LIMIT) assert_int_equal(result.limit, capacity);
                else assert_null(dag_check(&dag, &result));
            }
            hbg__workers_destroy(spills);
            hbg__workers_destroy(refuses);
        }
    }
    dag_slots_close(&slots);
    dag_close(&dag);
}

static struct hbg__task_record *record_of(struct dag *dag, uint32_t task)
{
    return (struct hbg__task_record *)(uintptr_t)hbg__image_record(hbg__image_payload(dag->image.head), task);
}

/* A damaged image: a task waits for one that comes later. The run says so, and the next one works. */
static void stalled_runs(void **state)
{
    struct dag_slots slots;
    struct dag dag, whole;
    struct dag_shape shape = { .tasks = 200, .producers_max = 3 };
    struct image_builder *builder = image_builder_create();
    (void)state;
    uint32_t a = image_builder_task(builder, 0, NULL, 0, 0), b = image_builder_task(builder, 0, NULL, 0, 0);
    uint32_t c = image_builder_task(builder, 0, (uint32_t[]){ a, b }, 2, 0);
    image_builder_task(builder, 0, (uint32_t[]){ c, a }, 2, 0);
    dag_open(&dag, builder);
    record_of(&dag, c)->producer[1] = 3;        /* was a: now c and 3 wait for each other */
    record_of(&dag, 3)->flags |= HBG__TASK_QUERYABLE;
    dag_random(&whole, 4, &shape);
    dag_slots_open(&slots, whole.count, 3, 50);
    for (int p = 0; p < POOLS; ++p) {
        struct hbg__workers *workers = dag_workers(WORKERS[p], 64, true, 50000000);
        assert_non_null(workers);
        for (uint32_t mode = HBG__MODE_WAKE; mode <= HBG__MODE_CLAIM; ++mode) {
            struct hbg__launch_result result;
            uint64_t start = hbg__clock_ns();
            dag_run(&dag, workers, &slots, mode, &result);
            assert_int_equal(result.status, HBG_E_STALLED);
            assert_true(hbg__clock_ns() - start < UINT64_C(10000000000));
            assert_non_null(strstr(result.text, "task 2 waits for task 3"));
            assert_non_null(strstr(result.text, "task 3 waits for task 2"));
            assert_int_equal(result.executed, 2);
            dag_run(&whole, workers, &slots, mode, &result);
            assert_null(dag_check(&whole, &result));
        }
        hbg__workers_destroy(workers);
    }
    dag_slots_close(&slots);
    dag_close(&dag);
    dag_close(&whole);
}

/* Ids and kernels outside their tables end the run with a status. */
static void damaged_ids(void **state)
{
    struct dag_slots slots;
    (void)state;
    dag_slots_open(&slots, 100, 3, 50);
    for (int p = 0; p < POOLS; ++p)
        for (int what = 0; what < 2; ++what) {
            struct hbg__launch_result result;
            struct dag_shape shape = { .tasks = 100, .producers_max = 2 };
            struct dag dag;
            dag_random(&dag, 5, &shape);
            if (what == 0) record_of(&dag, 50)->first_waiter = 5000000;
            else record_of(&dag, 50)->kernel = 17;
            dag_run(&dag, pool[p], &slots, HBG__MODE_WAKE, &result);
            assert_int_equal(result.status, HBG_E_IMAGE);
            assert_int_equal(result.task, 50);
            dag_close(&dag);
        }
    dag_slots_close(&slots);
}

/* Asynchronous kernels do not exist yet: the task is named. */
static void pending_is_refused(void **state)
{
    struct dag_slots slots;
    struct dag dag;
    struct dag_shape shape = { .tasks = 60, .producers_max = 2 };
    (void)state;
    dag_random(&dag, 6, &shape);
    dag.fail[20] = HBG_PENDING;
    dag_expect(&dag);
    dag_slots_open(&slots, 60, 3, 50);
    for (int p = 0; p < POOLS; ++p) {
        struct hbg__launch_result result;
        dag_run(&dag, pool[p], &slots, HBG__MODE_WAKE, &result);
        assert_int_equal(result.status, dag.expected[20] == DAG_FAILS ? HBG_E_UNSUPPORTED : HBG_OK);
        assert_int_equal(result.task, 20);
    }
    dag_slots_close(&slots);
    dag_close(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_task_and_one), cmocka_unit_test(random_graphs), cmocka_unit_test(epochs_wrap),
        cmocka_unit_test(wide_degree), cmocka_unit_test(long_chains), cmocka_unit_test(cancelled_runs),
        cmocka_unit_test(queues_overflow), cmocka_unit_test(stalled_runs), cmocka_unit_test(damaged_ids),
        cmocka_unit_test(pending_is_refused)
    };
    return cmocka_run_group_tests(tests, open_pools, close_pools);
}
