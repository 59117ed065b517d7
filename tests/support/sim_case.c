/* SPDX-License-Identifier: Apache-2.0 */
/* sim_case.c - see sim_case.h. */
#include "support/sim_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/alloc.h"

enum { SUBMITTING_TASKS = 16, SPIN_BITS = 5, STALL_NS = 20000000, PATIENCE_STEPS = 20000000 };

struct hbg__sim *sim_case_device(void)
{
    static struct hbg__memory memory;
    struct hbg__sim_options options = { .workers = SIM_CASE_WORKERS, .ring_capacity = SIM_CASE_RING, .check = true, .patience_steps = PATIENCE_STEPS };
    struct hbg__sim *sim = NULL;
    struct hbg_error error = { .size = sizeof error };
    if (!hbg__memory_init(&memory, NULL) || hbg__sim_create(&options, &memory, &sim, &error) != HBG_OK) fail_msg("no device: %s", error.text);
    return sim;
}

static void say_failed(void *user, const char *sentence)
{
    const struct sim_case *c = user;
    fprintf(stderr, "%s: %s\nagain with: HBG_TEST_SEED=%llu tests/sim/schedules %s\n", c->name, sentence, (unsigned long long)c->seed, c->name);
}

void sim_case_draw(struct sim_case *c, const char *name, uint64_t seed, const struct sim_taste *taste)
{
    static const uint32_t workers[] = { 1, 2, 2, 2, 3, 3, 4, 8 }, windows[] = { 0, 1, 3, 10 };
    static const uint32_t modes[] = { HBG__MODE_WAKE, HBG__MODE_WAKE, HBG__MODE_CLAIM, HBG__MODE_ORDER };
    struct hbg__rng *rng = &c->rng;
    *c = (struct sim_case){ .name = name, .seed = seed };
    hbg__rng_seed(rng, seed);
    struct dag_shape shape = { .tasks = (uint32_t)hbg__rng_below(rng, taste->tasks), .producers_max = (uint32_t)hbg__rng_below(rng, 6),
                               .window = windows[hbg__rng_below(rng, 4)], .noop_percent = (uint32_t)hbg__rng_below(rng, 30),
                               .reuse_percent = (uint32_t)hbg__rng_below(rng, 10) };
    if (taste->submissions || hbg__rng_below(rng, 4) == 0) {
        shape.tasks %= SUBMITTING_TASKS;
        shape.depth = 1 + (uint32_t)hbg__rng_below(rng, 3);
        shape.submit_percent = 1 + (uint32_t)hbg__rng_below(rng, 40);
    }
    if (taste->failures && hbg__rng_below(rng, 2)) shape.fail_percent = (uint32_t)hbg__rng_below(rng, 30);
    c->options = (struct hbg__sim_options){
        .workers = hbg__rng_below(rng, 40) ? workers[hbg__rng_below(rng, 8)] : 1 + (uint32_t)hbg__rng_below(rng, SIM_CASE_WORKERS),
        .ring_capacity = 2u << hbg__rng_below(rng, 3), .spill = true, .spin_ns = 100u << hbg__rng_below(rng, SPIN_BITS), .stall_ns = STALL_NS,
        .mode = (enum hbg__sim_mode)hbg__rng_below(rng, HBG__SIM_MODES), .seed = seed, .preemptions = 1 + (uint32_t)hbg__rng_below(rng, 5),
        .patience_steps = PATIENCE_STEPS, .check = true, .failed = say_failed };
    c->mode = modes[hbg__rng_below(rng, taste->wake_only ? 2 : 4)];
    if (hbg__rng_below(rng, 4) == 0) {          /* counters pass their maximum */
        c->options.generation = UINT32_MAX - (uint32_t)hbg__rng_below(rng, 3);
        c->options.position = (uint64_t)0 - hbg__rng_below(rng, 4);
    }
    dag_random(&c->dag, seed, &shape);
    if (c->dag.image.head->activation_count && c->mode == HBG__MODE_CLAIM) c->mode = HBG__MODE_WAKE;
    dag_slots_open(&c->slots, c->dag.count + 1, seed, hbg__rng_below(rng, 4) ? 1000 : UINT32_MAX - (uint32_t)hbg__rng_below(rng, 3));
}

void sim_case_free(struct sim_case *c)
{
    dag_slots_close(&c->slots);
    dag_close(&c->dag);
}

void sim_case_start(struct sim_case *c, struct hbg__sim *sim)
{
    c->options.failed_user = c;
    hbg__sim_restart(sim, &c->options);
}

void sim_case_launch(struct sim_case *c, struct hbg__sim *sim)
{
    dag_launch_open(&c->dag, c->options.workers, &c->slots, c->mode, &c->launch);
    if (hbg__sim_launch(sim, &c->launch.launch) != HBG_OK) sim_case_judge(c, "it is not launched");
}

void sim_case_end(struct sim_case *c) { test_launch_close(&c->launch); }

void sim_case_run(struct sim_case *c, struct hbg__sim *sim)
{
    sim_case_launch(c, sim);
    if (!hbg__sim_wait(sim, UINT64_MAX)) sim_case_judge(c, "the wait without limit ended before the run");
    hbg__sim_result(sim, &c->result);
    sim_case_judge(c, dag_check(&c->dag, &c->result));
    sim_case_end(c);
}

void sim_case_judge(const struct sim_case *c, const char *wrong)
{
    if (!wrong) return;
    fail_msg("%s: %s; %s %s (%u slots, %u submissions, %u workers, way %u, mode %s)\nagain with: HBG_TEST_SEED=%llu tests/sim/schedules %s", c->name, wrong,
             hbg_status_name(c->result.status), c->result.text, c->dag.count, c->dag.image.head->activation_count, c->options.workers, c->mode, hbg__sim_mode_name[c->options.mode],
             (unsigned long long)c->seed, c->name);
}
