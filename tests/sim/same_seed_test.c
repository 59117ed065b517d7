/* SPDX-License-Identifier: Apache-2.0 */
/* same_seed_test.c - one seed is one schedule: the same steps, the same moments, the same record of every task, bit for bit. Others
 * are others.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/devices.h"
#include "support/sim_case.h"
#include "trace/event.h"

enum { EVENTS_EACH = 64 };

static struct hbg__sim *sim;

/* The records of a run, and its result behind them; *steps is how long it took. */
static unsigned char *record(struct sim_case *c, size_t *bytes, uint64_t *steps)
{
    uint64_t events = hbg__event_bytes(c->options.workers, EVENTS_EACH);
    unsigned char *block = calloc(1, events + sizeof c->result);
    assert_non_null(block);
    sim_case_start(c, sim);
    dag_launch_open(&c->dag, c->options.workers, &c->slots, c->mode, &c->launch);
    c->launch.launch.events = (uint64_t)(uintptr_t)block;
    c->launch.launch.event_capacity = EVENTS_EACH;
    assert_int_equal(hbg__sim_launch(sim, &c->launch.launch), HBG_OK);
    assert_true(hbg__sim_wait(sim, UINT64_MAX));
    memset(&c->result, 0, sizeof c->result);
    hbg__sim_result(sim, &c->result);
    sim_case_judge(c, dag_check(&c->dag, &c->result));
    sim_case_end(c);
    memset(c->result.text, 0, sizeof c->result.text);
    memcpy(block + events, &c->result, sizeof c->result);
    *bytes = events + sizeof c->result;
    *steps = sim->steps;
    for (uint32_t i = 0; i < c->options.workers; ++i) ((struct hbg__event_core *)(void *)block)[i].epoch = 0;     /* each run has its own */
    return block;
}

static void same_and_others(void **state)
{
    struct sim_taste taste = { .tasks = 40, .failures = true };
    uint64_t others = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)test_scaled(2000); ++seed) {
        struct sim_case c;
        size_t bytes;
        uint64_t steps, steps_again;
        sim_case_draw(&c, "same_seed", seed, &taste);
        unsigned char *first = record(&c, &bytes, &steps), *again = record(&c, &bytes, &steps_again);
        assert_int_equal(steps, steps_again);
        if (memcmp(first, again, bytes)) fail_msg("seed %llu has two records", (unsigned long long)seed);
        free(again);
        c.options.seed += 1000;
        again = record(&c, &bytes, &steps_again);
        others += c.dag.count > 4 && c.options.workers > 1 && memcmp(first, again, bytes) != 0;
        free(first);
        free(again);
        sim_case_free(&c);
    }
    assert_true(others > (uint64_t)test_scaled(2000) / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_and_others) };
    sim = sim_case_device();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hbg__sim_destroy(sim);
    return failed;
}
