/* SPDX-License-Identifier: Apache-2.0 */
/* stopped_worker_is_no_stall_test.c - a worker that the system does not run for a while, wherever it stands, is no stall.
 *
 * Two windows were open. A worker that had claimed an image in order counted as one without work until its next instruction; so did,
 * in claim mode, one that slept while the task it waited for was completed. If it stood still there for stall_ms, the other one ended
 * the run with HBG_E_STALLED. Here each of two workers stops at each step, for fifty times as long, in all three ways to run an image.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>

#include "support/sim_case.h"

#define STOP_NS UINT64_C(1000000000)

enum { CHAIN = 6, SLOW_STEPS = 150000 };        /* of a kernel; longer than a worker spins, and until it counts as waiting */

static int slow(const struct hbg_task_view *t)
{
    struct dag *dag = (struct dag *)(uintptr_t)t->user;
    for (int i = 0; i < SLOW_STEPS && t->task == 0; ++i) hbg__sim_step();
    dag->mark[t->task] = dag->run;
    return 0;
}

/* Each task waits for the one before and the one before that. */
static void open_chain(struct sim_case *c, struct hbg__sim *sim, uint32_t mode)
{
    struct sim_taste taste = { .tasks = 1 };
    sim_case_draw(c, "stopped", 1, &taste);
    sim_case_free(c);
    struct image_builder *builder = image_builder_create();
    for (uint32_t i = 0; i < CHAIN; ++i) image_builder_task(builder, 0, (uint32_t[]){ i - 1, i - 2 }, i < 2 ? i : 2, 0);
    dag_open(&c->dag, builder);
    dag_slots_open(&c->slots, CHAIN, 1, 1000);
    c->options.workers = 2;
    c->options.mode = HBG__SIM_ROUND;
    c->options.check = false;
    c->options.generation = 0;
    c->options.position = 0;
    c->options.stop.length_ns = 0;
    c->mode = mode;
    (void)sim;
}

static uint64_t run(struct sim_case *c, struct hbg__sim *sim, bool is_slow)
{
    struct hbg__kernel_entry *entry;
    sim_case_start(c, sim);
    dag_launch_open(&c->dag, 2, &c->slots, c->mode, &c->launch);
    entry = (struct hbg__kernel_entry *)(c->launch.table + 1);
    if (is_slow) entry->run = slow;
    assert_int_equal(hbg__sim_launch(sim, &c->launch.launch), HBG_OK);
    assert_true(hbg__sim_wait(sim, UINT64_MAX));
    hbg__sim_result(sim, &c->result);
    sim_case_judge(c, dag_check(&c->dag, &c->result));
    sim_case_end(c);
    return sim->steps;
}

/* Quick kernels: at every step. Slow ones: at steps all over the run, so that the other worker waits for long and naps. */
static void at_each_step(void **state)
{
    struct hbg__sim *sim = sim_case_device();
    (void)state;
    for (uint32_t mode = HBG__MODE_WAKE; mode <= HBG__MODE_ORDER; ++mode) {
        for (int is_slow = 0; is_slow < 2; ++is_slow) {
            struct sim_case c;
            open_chain(&c, sim, mode);
            uint64_t steps = run(&c, sim, is_slow), stride = is_slow ? steps / 200 + 1 : 1;
            c.options.stop.length_ns = STOP_NS;
            for (uint32_t worker = 0; worker < 2; ++worker) {
                c.options.stop.worker = worker;
                for (c.options.stop.step = 1; c.options.stop.step < steps; c.options.stop.step += stride) (void)run(&c, sim, is_slow);
            }
            sim_case_free(&c);
        }
    }
    hbg__sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(at_each_step) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
