/* SPDX-License-Identifier: Apache-2.0 */
/* inside_test.c - what is seen from outside of runs with submissions: who runs what, what was recorded, and that all workers take part. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <hbg/hbg.h>

#include "support/dag.h"
#include "support/devices.h"
#include "trace/event.h"

static const uint32_t WORKERS[] = { 1, 2, 8 };
enum { POOLS = sizeof WORKERS / sizeof WORKERS[0], ROUNDS = 100 };
#define STALL_NS UINT64_C(5000000000)

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

static uint32_t plain(struct image_builder *builder, int count, uint32_t producer)
{
    return image_builder_task(builder, 0, &producer, (uint32_t)count, 0);
}

static struct hbg_running running;
static struct hbg__atomic_u32 let_go, started, together;        /* of kernels that wait; relaxed all of them: they order nothing */

/* The second task of a body that is the second submission waits for the host. */
static int kernel_waits(const struct hbg_task_view *t)
{
    if (t->base[TEST_BASE_FIRST_SLOT] < 7 || t->task != 1) return 0;
    running = (struct hbg_running)HBG_OPTIONS(running);
    (void)hbg_running_get(&running);
    while (!hbg__load_relaxed32(&let_go)) usleep(100);
    return 0;
}

static int kernel_returns(const struct hbg_task_view *t)
{
    (void)t;
    return 0;
}

/* What runs is named by the task of the outermost image, and by the node inside; the run that is looked at is that of now. */
static void progress_names_the_node(void **state)
{
    struct hbg_kernel kernels[] = { HBG_KERNEL(0, kernel_returns, NULL), HBG_KERNEL(1, kernel_waits, NULL) };
    struct image_builder *body = image_builder_create(), *outer = image_builder_create();
    struct test_launch launch;
    (void)state;
    image_builder_task(body, 0, NULL, 0, 0);
    image_builder_task(body, 1, &(uint32_t){ 0 }, 1, 0);
    uint32_t first = image_builder_submit(outer, body, NULL, 0), second = image_builder_submit(outer, body, &first, 1);
    for (uint32_t i = 0; i < 3; ++i) plain(outer, 1, second);
    image_builder_destroy(body);
    struct test_image image = image_builder_finish(outer);
    for (int p = 0; p < POOLS; ++p)
        for (uint32_t mode = HBG__MODE_WAKE; mode <= HBG__MODE_ORDER; mode += 2) {
            struct hbg__progress seen = { .worker = 0 };
            test_launch_open(&launch, &image, kernels, 2, WORKERS[p]);
            launch.launch.mode = mode;
            hbg__store_relaxed32(&let_go, 0);
            hbg__workers_launch(pool[p], &launch.launch);
            while (!hbg__workers_progress(pool[p], &seen) || seen.kernel != 1 || seen.activation != 2) usleep(100);
            assert_int_equal(seen.task, second);
            assert_int_equal(seen.node, 1);
            hbg__store_relaxed32(&let_go, 1);
            assert_true(hbg__workers_wait(pool[p], UINT64_MAX));
            assert_int_equal(running.inside, HBG_INSIDE_KERNEL);
            assert_int_equal(running.task, second);
            assert_int_equal(running.kernel, 1);
            test_launch_close(&launch);
        }
    test_image_free(&image);
    image_builder_destroy(outer);
}

/* Ends when another one has started meanwhile; the last one of a worker that has them all alone waits in vain. */
static int kernel_meets_another(const struct hbg_task_view *t)
{
    uint32_t mine = hbg__fetch_add_relaxed32(&started, 1) + 1;
    (void)t;
    for (int i = 0; i < 20000; ++i) {
        if (hbg__load_relaxed32(&started) > mine) {
            hbg__store_relaxed32(&together, 1);
            break;
        }
        if (hbg__load_relaxed32(&together)) break;
        usleep(100);
    }
    return 0;
}

/* A few roots that take long are not one worker's alone. */
static void few_roots_are_shared(void **state)
{
    enum { ROOTS = 6 };
    struct hbg_kernel kernels[] = { HBG_KERNEL(0, kernel_meets_another, NULL) };
    struct image_builder *body = image_builder_create(), *outer = image_builder_create();
    struct test_launch launch;
    (void)state;
    for (uint32_t i = 0; i < ROOTS; ++i) plain(body, 0, 0);
    image_builder_submit(outer, body, NULL, 0);
    image_builder_destroy(body);
    struct test_image image = image_builder_finish(outer);
    hbg__store_relaxed32(&started, 0);
    hbg__store_relaxed32(&together, 0);
    test_launch_open(&launch, &image, kernels, 1, WORKERS[POOLS - 1]);
    hbg__workers_launch(pool[POOLS - 1], &launch.launch);
    assert_true(hbg__workers_wait(pool[POOLS - 1], UINT64_MAX));
    assert_int_equal(hbg__load_relaxed32(&together), 1);
    test_launch_close(&launch);
    test_image_free(&image);
    image_builder_destroy(outer);
}

/* Somebody looks all the time while workers turn from one submission to another. */
static void onlookers_stay_inside(void **state)
{
    struct dag_shape shape = { .tasks = 60, .producers_max = 3, .window = 20, .submit_percent = 30, .depth = 2 };
    struct dag_slots slots;
    struct dag dag;
    uint64_t looks = 0;
    (void)state;
    dag_random(&dag, 31, &shape);
    dag.spin_pauses = 100;
    dag_slots_open(&slots, dag.count + 1, 3, 50);
    for (int round = 0; round < test_scaled(ROUNDS) || looks < 100; ++round) {
        struct hbg__workers *workers = pool[round % POOLS];
        struct hbg__progress seen = { .worker = 0 };
        struct hbg__launch_result result;
        struct test_launch launch;
        dag_launch(&dag, workers, &slots, round % 2 ? HBG__MODE_WAKE : HBG__MODE_ORDER, &launch);
        do {
            if (!hbg__workers_progress(workers, &seen)) continue;
            assert_true(seen.task < dag.image.head->task_count);
            assert_true(seen.activation == 0 || dag.task[seen.task].inside_count > 0);
            ++looks;
        } while (!hbg__workers_poll(workers));
        hbg__workers_result(workers, &result);
        test_launch_close(&launch);
        const char *wrong = dag_check(&dag, &result);
        if (wrong) fail_msg("round %d: %s", round, wrong);
    }
    dag_slots_close(&slots);
    dag_close(&dag);
}

/* Each task that ran is recorded once, under its slot, by the one who ran it. */
static void records_name_slots(void **state)
{
    struct dag_shape shape = { .tasks = 60, .producers_max = 3, .window = 20, .submit_percent = 20, .noop_percent = 10, .depth = 2 };
    struct dag_slots slots;
    struct dag dag;
    (void)state;
    dag_random(&dag, 31, &shape);
    dag_slots_open(&slots, dag.count + 1, 3, 50);
    unsigned char *seen = malloc(dag.count);
    assert_non_null(seen);
    for (int p = 0; p < POOLS; ++p)
        for (uint32_t mode = HBG__MODE_WAKE; mode <= HBG__MODE_ORDER; mode += 2) {
            uint64_t bytes = hbg__event_bytes(WORKERS[p], dag.count);
            struct hbg__event_core *core = aligned_alloc(64, (bytes + 63) / 64 * 64);
            struct hbg__launch_result result;
            struct test_launch launch;
            assert_non_null(core);
            memset(core, 0, bytes);
            memset(seen, 0, dag.count);
            dag_launch_open(&dag, WORKERS[p], &slots, mode, &launch);
            launch.launch.events = (uint64_t)(uintptr_t)core;
            launch.launch.event_capacity = dag.count;
            hbg__workers_launch(pool[p], &launch.launch);
            assert_true(hbg__workers_wait(pool[p], UINT64_MAX));
            hbg__workers_result(pool[p], &result);
            assert_null(dag_check(&dag, &result));
            for (uint32_t w = 0; w < WORKERS[p]; ++w) {
                const struct hbg__event *event = (const struct hbg__event *)(const void *)((const unsigned char *)core + hbg__event_ring_offset(WORKERS[p], dag.count, w));
                for (uint64_t i = 0; core[w].epoch == launch.launch.epoch && i < core[w].count; ++i) {
                    assert_true(event[i].task < dag.count);
                    assert_int_equal(event[i].core, w);
                    ++seen[event[i].task];
                }
            }
            for (uint32_t slot = 0; slot < dag.count; ++slot) assert_int_equal(seen[slot], dag.expected[slot] == DAG_RUNS);
            test_launch_close(&launch);
            free(core);
        }
    free(seen);
    dag_slots_close(&slots);
    dag_close(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_names_the_node), cmocka_unit_test(onlookers_stay_inside), cmocka_unit_test(few_roots_are_shared),
        cmocka_unit_test(records_name_slots)
    };
    return cmocka_run_group_tests(tests, open_pools, close_pools);
}
