/* SPDX-License-Identifier: Apache-2.0 */
/* idle_test.c - workers without work cost nothing, and more workers than CPUs still come to an end. */
#include <sched.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "support/dag.h"

#define STALL_NS UINT64_C(20000000000)

static uint64_t cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static int kernel_sleep(const struct hbg_task_view *t)
{
    usleep((useconds_t)hbg_view_u32(t, 0));
    return 0;
}

static void launch_sleep(struct hbg__workers *workers, uint32_t sleep_us, struct test_image *image, struct test_launch *launch)
{
    const struct hbg_kernel kernel[] = { HBG_KERNEL(0, kernel_sleep, NULL) };
    struct image_builder *builder = image_builder_create();
    image_builder_task(builder, 0, NULL, 0, 0);
    image_builder_scalar(builder, sleep_us);
    *image = image_builder_finish(builder);
    image_builder_destroy(builder);
    test_launch_open(launch, image, kernel, 1, hbg__workers_count(workers));
    hbg__workers_launch(workers, &launch->launch);
}

static void finish_sleep(struct hbg__workers *workers, struct test_image *image, struct test_launch *launch)
{
    assert_true(hbg__workers_wait(workers, UINT64_MAX));
    test_launch_close(launch);
    test_image_free(image);
}

static void an_idle_device_uses_no_cpu(void **state)
{
    struct hbg__workers *workers = dag_workers(8, 64, true, STALL_NS);
    struct test_image image;
    struct test_launch launch;
    (void)state;
    assert_non_null(workers);
    launch_sleep(workers, 1, &image, &launch);
    finish_sleep(workers, &image, &launch);
    usleep(20000);
    uint64_t before = cpu_ns();
    usleep(400000);
    assert_in_range(cpu_ns() - before, 0, 20000000);
    hbg__workers_destroy(workers);
}

/* Seven workers of eight find nothing for a second. */
static void waiting_for_one_task_is_cheap(void **state)
{
    struct hbg__workers *workers = dag_workers(8, 64, true, STALL_NS);
    struct test_image image;
    struct test_launch launch;
    (void)state;
    assert_non_null(workers);
    uint64_t before = cpu_ns();
    launch_sleep(workers, 1000000, &image, &launch);
    assert_false(hbg__workers_wait(workers, 100000000));
    struct hbg__progress seen = { .task = 7, .activation = 7, .node = 7, .kernel = 7, .worker = 77 };
    assert_true(hbg__workers_progress(workers, &seen));
    assert_int_equal(seen.task, 0);
    assert_int_equal(seen.activation, 0);
    assert_int_equal(seen.node, 0);
    assert_int_equal(seen.kernel, 0);
    assert_true(seen.worker < 8);
    finish_sleep(workers, &image, &launch);
    assert_in_range(cpu_ns() - before, 0, 300000000);
    hbg__workers_destroy(workers);
}

static void many_workers_on_one_cpu(void **state)
{
    cpu_set_t all, one;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &one);
            break;
        }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    struct hbg__workers *workers = dag_workers(32, 64, true, STALL_NS);
    assert_non_null(workers);
    struct dag_shape shape = { .tasks = 1000, .producers_max = 4 };
    struct dag_slots slots;
    struct dag dag;
    dag_random(&dag, 11, &shape);
    dag_slots_open(&slots, dag.count, 3, 50);
    for (uint32_t mode = HBG__MODE_WAKE; mode <= HBG__MODE_CLAIM; ++mode) {
        struct hbg__launch_result result;
        uint64_t start = hbg__clock_ns();
        dag_run(&dag, workers, &slots, mode, &result);
        assert_null(dag_check(&dag, &result));
        assert_in_range(hbg__clock_ns() - start, 0, UINT64_C(5000000000));
    }
    hbg__workers_destroy(workers);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    dag_slots_close(&slots);
    dag_close(&dag);
}

/* Opened and closed without a run, and again and again: no thread stays. */
static void open_and_close(void **state)
{
    (void)state;
    for (int round = 0; round < 200; ++round) {
        struct hbg__workers *workers = dag_workers(1 + (uint32_t)round % 4, 2, true, STALL_NS);
        assert_non_null(workers);
        assert_true(hbg__workers_poll(workers));
        hbg__workers_destroy(workers);
    }
    hbg__workers_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_device_uses_no_cpu), cmocka_unit_test(waiting_for_one_task_is_cheap),
        cmocka_unit_test(many_workers_on_one_cpu), cmocka_unit_test(open_and_close)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
