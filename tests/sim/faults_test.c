/* SPDX-License-Identifier: Apache-2.0 */
/* faults_test.c - a simulated device refuses each allocation, copy, stream and worker of a whole life once, in turn: the call says so,
 * the device works afterwards, and every block comes back. And a worker that stops for ever in somebody's run, through the interface.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/allocator.h"
#include "support/devices.h"
#include "support/program.h"
#include "support/whole_life.h"

static void refuse_each(const char *key, enum hbg_status expected, int least)
{
    int number = 1;
    for (;; ++number) {
        struct test_allocator memory = TEST_ALLOCATOR;
        struct hbg_allocator ops = test_allocator_ops(&memory);
        char spec[128];
        snprintf(spec, sizeof spec, "sim:workers=2,memory=discrete,seed=%d,%s=%d", number, key, number);
        struct whole_life life = { .spec = spec, .allocator = &ops };
        if (!whole_life(&life)) fail_msg("%s: a wrong result", spec);
        assert_int_equal(atomic_load(&memory.live), 0);
        assert_int_equal(atomic_load(&memory.wrong), 0);
        if (life.close) fail_msg("%s: the close: %s", spec, hbg_status_name(life.close));
        if (life.status == HBG_OK) break;
        if (life.status != expected || life.after || (life.error.size && life.error.status != expected))
            fail_msg("%s: %s: %s, error %s: \"%s\"; the next run: %s", spec, life.call, hbg_status_name(life.status),
                     hbg_status_name(life.error.status), life.error.text, hbg_status_name(life.after));
    }
    print_message("%s: %d refused\n", key, number - 1);
    if (number - 1 < least) fail_msg("%s: only %d were refused", key, number - 1);
}

static void allocations(void **state)
{
    (void)state;
    refuse_each("fail_alloc", HBG_E_NO_MEMORY, 5);
}

static void copies(void **state)
{
    (void)state;
    refuse_each("fail_copy", HBG_E_DEVICE, 20);
}

static void streams(void **state)
{
    (void)state;
    refuse_each("fail_stream", HBG_E_DEVICE, 4);
}

static void threads(void **state)
{
    (void)state;
    refuse_each("fail_thread", HBG_E_DEVICE, 2);
}

/* ---- a run on a device, one worker of which may stop ---- */

enum { TASKS = 30 };
static int add_one(const struct hbg_task_view *t)
{
    ++*HBG_VIEW(int32_t, t, 0);
    return 0;
}
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, add_one, "inout i32") };

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    for (int i = 0; i < TASKS; ++i) hbg_submit(g, 0, hbg_inout(hbg_cell(x, HBG_SHAPE(1), HBG_SHAPE(i % 5))));
}

/* At each of the first steps. The wait ends by its time, or the run ends; a cancelled one that does not is said to be lost, and the
   close leaves it behind. */
static void a_worker_stops_for_ever(void **state)
{
    int lost = 0;
    (void)state;
    for (int step = 0; step < 200; step += 9) {
        static int32_t x[5];
        char spec[128];
        struct hbg_run run;
        struct hbg_result result = HBG_OPTIONS(result);
        snprintf(spec, sizeof spec, "sim:workers=2,seed=%d,stop_worker=1,stop_step=%d", step, step);
        struct hbg_device *device = device_open(spec, NULL);
        struct hbg_program *program = PROGRAM(device, build, kernels);
        memset(x, 0, sizeof x);
        assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(x, 5))), NULL, &run), HBG_OK);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        enum hbg_status status = hbg_run_wait(run, 50000000);
        if (status == HBG_OK) {
            assert_int_equal(hbg_run_finish(run, &result), HBG_OK);
            for (int i = 0; i < 5; ++i) assert_int_equal(x[i], TASKS / 5);
            assert_int_equal(hbg_device_close(device), HBG_OK);
        } else {
            assert_int_equal(status, HBG_TIMEOUT);
            assert_int_equal(hbg_run_cancel(run), HBG_OK);
            assert_int_equal(hbg_run_wait(run, 1100000000), HBG_E_DEVICE);      /* simulated time, as all of this */
            assert_int_equal(hbg_run_finish(run, &result), HBG_E_DEVICE);
            assert_int_equal(hbg_device_close(device), HBG_E_DEVICE);
            ++lost;
        }
        hbg_program_destroy(program);
    }
    assert_true(lost > 1);
}

/* ---- a kernel that goes on until it is told to stop: others go on while it asks ---- */

static int until_cancelled(const struct hbg_task_view *t)
{
    while (!hbg_view_cancelled(t)) {}
    return 0;
}
static const struct hbg_kernel waiting[] = { HBG_KERNEL(0, until_cancelled, "inout i32") };

static void a_kernel_asks_whether_it_is_cancelled(void **state)
{
    (void)state;
    for (int workers = 1; workers < 4; ++workers) {
        static int32_t x[5];
        char spec[64];
        struct hbg_run run;
        snprintf(spec, sizeof spec, "sim:workers=%d", workers);
        struct hbg_device *device = device_open(spec, NULL);
        struct hbg_program *program = PROGRAM(device, build, waiting);
        assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(x, 5))), NULL, &run), HBG_OK);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, 100000), HBG_TIMEOUT);
        assert_int_equal(hbg_run_cancel(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
        hbg_program_destroy(program);
        device_close(device);
    }
}

/* ---- a limit of seconds does not pass while workers have something to do, in whatever schedule ---- */

static void build_many(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    for (int i = 0; i < 3000; ++i) hbg_submit(g, 0);
}

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel idle[] = { HBG_KERNEL(0, nothing, NULL) };

static void limits_of_the_host_hold(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 20; ++seed) {
        char spec[64];
        struct hbg_run run;
        struct hbg_result result = HBG_OPTIONS(result);
        snprintf(spec, sizeof spec, "sim:workers=4,seed=%d", seed);
        struct hbg_device *device = device_open(spec, NULL);
        struct hbg_program *program = PROGRAM(device, build_many, idle);
        assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, NULL, &run), HBG_OK);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, UINT64_C(1000000000000)), HBG_OK);
        assert_int_equal(hbg_run_finish(run, &result), HBG_OK);
        assert_true(result.device_ns < UINT64_C(1000000000));
        hbg_program_destroy(program);
        device_close(device);
    }
}

/* ---- several threads are the host ---- */

static void *cancel_soon(void *run)
{
    sleep_ms(1);
    assert_int_equal(hbg_run_cancel(*(struct hbg_run *)run), HBG_OK);
    return NULL;
}

static void another_thread_cancels(void **state)
{
    (void)state;
    for (int i = 0; i < 50; ++i) {
        static int32_t x[5];
        char spec[128];
        pthread_t thread;
        struct hbg_run run;
        snprintf(spec, sizeof spec, "sim:workers=3,seed=%d", i);
        struct hbg_device *device = device_open(spec, NULL);
        struct hbg_program *program = PROGRAM(device, build, kernels);
        assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(x, 5))), NULL, &run), HBG_OK);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &run), 0);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        pthread_join(thread, NULL);
        enum hbg_status status = hbg_run_finish(run, NULL);
        assert_true(status == HBG_OK || status == HBG_E_CANCELLED);
        hbg_program_destroy(program);
        device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations), cmocka_unit_test(copies), cmocka_unit_test(streams), cmocka_unit_test(threads),
        cmocka_unit_test(a_worker_stops_for_ever), cmocka_unit_test(a_kernel_asks_whether_it_is_cancelled),
        cmocka_unit_test(limits_of_the_host_hold), cmocka_unit_test(another_thread_cancels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
