/* SPDX-License-Identifier: Apache-2.0 */
/* idle_test.c - what a device costs while it has nothing to do, and what happens with more workers than CPUs.
 *
 * Limits are on CPU time of the process, which other processes do not add to.
 */
#include <sched.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "base/rng.h"
#include "support/devices.h"
#include "support/program.h"

enum { NOTHING, SLEEP, WORK, KERNEL_COUNT };

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }

static int sleep_one_second(const struct hbg_task_view *t)
{
    (void)t;
    sleep_ms(1000);
    return 0;
}

static int work(const struct hbg_task_view *t)
{
    uint32_t *x = HBG_VIEW(uint32_t, t, 1);
    *x = *x * 3 + *HBG_VIEW(const uint32_t, t, 0) + 1;
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(NOTHING, nothing, NULL), HBG_KERNEL(SLEEP, sleep_one_second, NULL), HBG_KERNEL(WORK, work, "in u32, inout u32") };

static void one_task_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    hbg_submit(g, *(const int *)params);
}

static void an_idle_device_rests(void **state)
{
    (void)state;
    for (int opened = 0; opened < 2; opened++) {            /* freshly opened, and after a run */
        int kernel = NOTHING;
        struct hbg_device *device = device_open("cpu:workers=8", NULL);
        struct hbg_program *program = PROGRAM_WITH(device, one_task_build, kernels, kernel);
        if (opened) program_run(program, HBG_NO_ARGS, NULL, NULL);
        sleep_ms(50);
        uint64_t begin = process_cpu_ns();
        sleep_ms(1000);
        assert_true(process_cpu_ns() - begin < 50000000u);
        hbg_program_destroy(program);
        device_close(device);
    }
}

static void others_rest_while_one_task_sleeps(void **state)
{
    (void)state;
    int kernel = SLEEP;
    struct hbg_device *device = device_open("cpu:workers=8", NULL);
    struct hbg_program *program = PROGRAM_WITH(device, one_task_build, kernels, kernel);
    uint64_t begin = process_cpu_ns();
    program_run(program, HBG_NO_ARGS, NULL, NULL);
    assert_true(process_cpu_ns() - begin < 300000000u);
    hbg_program_destroy(program);
    device_close(device);
}

/* ---- 32 workers on one CPU ---- */

enum { CELLS = 40, TASKS = 1000 };

static void random_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg__rng rng;
    hbg__rng_seed(&rng, *(const uint64_t *)params);
    for (int i = 0; i < TASKS; i++) {
        struct hbg_region from = hbg_index(hbg_args_region(args, 0), 0, hbg__rng_between(&rng, 0, CELLS - 1));
        struct hbg_region to = hbg_index(hbg_args_region(args, 0), 0, hbg__rng_between(&rng, 0, CELLS - 1));
        hbg_submit(g, WORK, hbg_in(from), hbg_inout(to));
    }
}

static void random_golden(uint64_t seed, uint32_t *x)
{
    struct hbg__rng rng;
    hbg__rng_seed(&rng, seed);
    for (int i = 0; i < TASKS; i++) {
        int64_t from = hbg__rng_between(&rng, 0, CELLS - 1), to = hbg__rng_between(&rng, 0, CELLS - 1);
        x[to] = x[to] * 3 + x[from] + 1;
    }
}

static void more_workers_than_cpus(void **state)
{
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int c = 0; c < CPU_SETSIZE; c++) {
        if (CPU_ISSET(c, &before)) {
            CPU_SET(c, &one);
            break;
        }
    }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);        /* the workers inherit it */
    struct hbg_device *device = device_open("cpu:workers=32", NULL);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct hbg_program *program = PROGRAM_WITH(device, random_build, kernels, seed);
        uint32_t x[CELLS] = { 0 }, golden[CELLS] = { 0 };
        uint64_t begin = wall_ns();
        program_run(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_U32, HBG_SHAPE(CELLS)))), NULL, NULL);
        assert_true(wall_ns() - begin < 5000000000u);
        random_golden(seed, golden);
        assert_memory_equal(x, golden, sizeof x);
        hbg_program_destroy(program);
    }
    device_close(device);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_device_rests), cmocka_unit_test(others_rest_while_one_task_sleeps), cmocka_unit_test(more_workers_than_cpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
