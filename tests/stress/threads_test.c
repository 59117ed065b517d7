/* SPDX-License-Identifier: Apache-2.0 */
/* threads_test.c - several host threads at once: each on a device of its own, all on one device, and one that cancels what the
 * other launched. */
#include <pthread.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "base/rng.h"
#include "support/devices.h"
#include "support/program.h"

enum { THREADS = 4, CELLS = 32, TASKS = 300 };

static int work(const struct hbg_task_view *t)
{
    uint32_t *x = HBG_VIEW(uint32_t, t, 1);
    for (volatile int i = 0; i < 200; i++) { }              /* long enough for a run to be met in the middle */
    *x = *x * 3 + *HBG_VIEW(const uint32_t, t, 0) + hbg_view_u32(t, 2);
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, work, "in u32, inout u32, u32") };

static void random_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg__rng rng;
    hbg__rng_seed(&rng, *(const uint64_t *)params);
    struct hbg_region x = hbg_args_region(args, 0);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct hbg_region from = hbg_index(x, 0, hbg__rng_between(&rng, 0, CELLS - 1)), to = hbg_index(x, 0, hbg__rng_between(&rng, 0, CELLS - 1));
        hbg_submit(g, 0, hbg_in(from), hbg_inout(to), hbg_u32(i));
    }
}

static void random_golden(uint64_t seed, uint32_t *x)
{
    struct hbg__rng rng;
    hbg__rng_seed(&rng, seed);
    for (uint32_t i = 0; i < TASKS; i++) {
        int64_t from = hbg__rng_between(&rng, 0, CELLS - 1), to = hbg__rng_between(&rng, 0, CELLS - 1);
        x[to] = x[to] * 3 + x[from] + i;
    }
}

/* Threads use no cmocka: what went wrong is counted. */
struct host { pthread_t thread; struct hbg_device *device; uint64_t seed; int rounds, wrong; };

static void *build_and_run(void *user)
{
    struct host *host = user;
    for (int i = 0; i < host->rounds; i++) {
        uint64_t seed = host->seed + (uint64_t)i;
        uint32_t x[CELLS] = { 0 }, golden[CELLS] = { 0 };
        struct hbg_program_options options = HBG_OPTIONS(program_options);
        struct hbg_result result = HBG_OPTIONS(result);
        struct hbg_program *program = NULL;
        options.build = random_build;
        options.params = &seed;
        options.params_size = sizeof seed;
        options.kernels = kernels;
        options.kernel_count = 1;
        options.pure_build = i % 2;
        if (hbg_program_create(host->device, &options, &program) != HBG_OK) host->wrong++;
        for (int round = 0; program && round < 3; round++) {
            host->wrong += hbg_run_sync(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_U32, HBG_SHAPE(CELLS)))), &result) != HBG_OK;
            random_golden(seed, golden);
            host->wrong += memcmp(x, golden, sizeof x) != 0;
        }
        hbg_program_destroy(program);
    }
    return NULL;
}

static void join(struct host *hosts)
{
    int wrong = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(hosts[i].thread, NULL);
        wrong += hosts[i].wrong;
    }
    assert_int_equal(wrong, 0);
}

static void each_thread_has_a_device(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct host hosts[THREADS];
    for (int i = 0; i < THREADS; i++) {
        hosts[i] = (struct host){ .device = device_open(kind->spec, NULL), .seed = 1000u * (uint64_t)i, .rounds = test_scaled(40) };
        assert_int_equal(pthread_create(&hosts[i].thread, NULL, build_and_run, &hosts[i]), 0);
    }
    join(hosts);
    for (int i = 0; i < THREADS; i++) device_close(hosts[i].device);
}

static void all_threads_share_a_device(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct host hosts[THREADS];
    for (int i = 0; i < THREADS; i++) {
        hosts[i] = (struct host){ .device = device, .seed = 5000u * (uint64_t)i, .rounds = test_scaled(40) };
        assert_int_equal(pthread_create(&hosts[i].thread, NULL, build_and_run, &hosts[i]), 0);
    }
    join(hosts);
}

/* ---- cancelling from another thread ---- */

struct canceller { pthread_t thread; struct hbg_run run; int after_us; };

static void *cancel_later(void *user)
{
    struct canceller *canceller = user;
    uint64_t until = wall_ns() + (uint64_t)canceller->after_us * 1000u;
    while (wall_ns() < until) { }                           /* time passes */
    (void)hbg_run_cancel(canceller->run);
    return NULL;
}

static void cancelled_at_any_moment(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg__rng rng;
    uint64_t seed = test_seed(77);
    hbg__rng_seed(&rng, seed);
    struct hbg_program *program = PROGRAM_WITH(device, random_build, kernels, seed);
    int cancelled = 0, rounds = test_scaled(300);
    for (int i = 0; i < rounds; i++) {
        uint32_t x[CELLS] = { 0 }, golden[CELLS] = { 0 };
        struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_host(x, HBG_U32, HBG_SHAPE(CELLS))));
        struct hbg_result result = HBG_OPTIONS(result);
        struct canceller canceller = { .after_us = (int)hbg__rng_between(&rng, 0, 100) };
        assert_int_equal(hbg_run_prepare(program, list, NULL, &canceller.run), HBG_OK);
        assert_int_equal(hbg_run_launch(canceller.run), HBG_OK);
        if (i % 4 == 0) cancel_later(&canceller);
        else assert_int_equal(pthread_create(&canceller.thread, NULL, cancel_later, &canceller), 0);
        assert_int_equal(hbg_run_wait(canceller.run, HBG_FOREVER), HBG_OK);
        if (i % 4 != 0) pthread_join(canceller.thread, NULL);
        enum hbg_status status = hbg_run_finish(canceller.run, &result);
        assert_true(status == HBG_OK || status == HBG_E_CANCELLED);
        cancelled += status == HBG_E_CANCELLED;
        random_golden(seed, golden);
        if (status == HBG_OK) assert_memory_equal(x, golden, sizeof x);
        memset(x, 0, sizeof x);
        program_run(program, list, NULL, NULL);             /* the next run is whole */
        assert_memory_equal(x, golden, sizeof x);
    }
    print_message("%d of %d runs were cancelled before they ended\n", cancelled, rounds);
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(each_thread_has_a_device), DEVICE_TEST(all_threads_share_a_device), DEVICE_TEST(cancelled_at_any_moment),
    };
    return DEVICE_TESTS_RUN(tests);
}
