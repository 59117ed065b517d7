/* SPDX-License-Identifier: Apache-2.0 */
/* schedules_test.c - random graphs under many schedules of a simulated device, against a sequential oracle.
 *
 * One seed is one device, one graph and one schedule: HBG_TEST_SEED runs that one alone.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "platform/sim/sim.h"
#include "support/dag.h"
#include "support/devices.h"

static struct hbg__memory memory;
static uint64_t total_steps;

static void say_failed(void *user, const char *sentence)
{
    fprintf(stderr, "HBG_TEST_SEED=%llu: %s\n", *(const unsigned long long *)user, sentence);
}

static void one_schedule(uint64_t seed)
{
    static const uint32_t workers[] = { 1, 2, 2, 3, 3, 4, 5, 8 };
    static const uint32_t windows[] = { 0, 1, 3, 10 };
    struct hbg__rng rng;
    struct hbg__sim *sim;
    struct dag dag;
    struct dag_slots slots;
    struct test_launch launch;
    struct hbg__launch_result result;
    struct hbg_error error = { .size = sizeof error };
    hbg__rng_seed(&rng, seed);
    struct dag_shape shape = {
        .tasks = (uint32_t)hbg__rng_below(&rng, 40), .producers_max = (uint32_t)hbg__rng_below(&rng, 6), .window = windows[hbg__rng_below(&rng, 4)],
        .fail_percent = (uint32_t)(hbg__rng_below(&rng, 3) ? 0 : hbg__rng_below(&rng, 30)), .noop_percent = (uint32_t)hbg__rng_below(&rng, 30),
        .reuse_percent = (uint32_t)hbg__rng_below(&rng, 10) };
    struct hbg__sim_options options = {
        .workers = seed % 50 == 0 ? 1 + (uint32_t)hbg__rng_below(&rng, 64) : workers[hbg__rng_below(&rng, 8)], .ring_capacity = 2u << hbg__rng_below(&rng, 3), .spill = true,
        .spin_ns = 100u << hbg__rng_below(&rng, 5), .stall_ns = 20000000, .mode = (enum hbg__sim_mode)hbg__rng_below(&rng, 3), .seed = seed,
        .preemptions = 1 + (uint32_t)hbg__rng_below(&rng, 5), .patience_steps = 20000000, .check = true, .failed = say_failed, .failed_user = &seed };
    assert_int_equal(hbg__sim_create(&options, &memory, &sim, &error), HBG_OK);
    dag_random(&dag, seed, &shape);
    dag_slots_open(&slots, dag.count + 1, seed, 1000);
    for (int round = 0; round < 2; ++round) {
        uint32_t mode = HBG__MODE_WAKE + (uint32_t)(hbg__rng_below(&rng, 4) * hbg__rng_below(&rng, 2)) % 3;
        dag_launch_open(&dag, options.workers, &slots, mode, &launch);
        assert_int_equal(hbg__sim_launch(sim, &launch.launch), HBG_OK);
        assert_true(hbg__sim_wait(sim, UINT64_MAX));
        hbg__sim_result(sim, &result);
        const char *wrong = dag_check(&dag, &result);
        if (wrong) fail_msg("HBG_TEST_SEED=%llu: %u tasks, %u workers, mode %u: %s: %s", (unsigned long long)seed, dag.count, options.workers, mode, wrong, result.text);
        test_launch_close(&launch);
    }
    total_steps += sim->steps;
    hbg__sim_destroy(sim);
    dag_slots_close(&slots);
    dag_close(&dag);
}

static void random_graphs(void **state)
{
    uint64_t only = test_seed(0);
    (void)state;
    assert_true(hbg__memory_init(&memory, NULL));
    if (only) one_schedule(only);
    for (uint64_t seed = 1; !only && seed <= (uint64_t)test_scaled(20000); ++seed) one_schedule(seed);
    print_message("%llu steps\n", (unsigned long long)total_steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_graphs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
