/* SPDX-License-Identifier: Apache-2.0 */
/* small_test.c - small graphs with two workers, under every schedule with two preemptions in all of the run's steps.
 *
 *     seam       A -> P1 -> C, B -> P2 -> D, P0 -> C, D: a completion before, in the middle of and behind two registrations
 *     pair       two tasks: the producer is complete before its consumer is looked for, or not
 *     diamond    A -> {B, C} -> D
 *     failing    A -> {B, C} -> D, E -> F, B fails: D is skipped
 *     submits    A -> S -> B with four roots in S
 *     nests      S -> A with a root and a submission of two roots in S, whose consumer is there as well
 *     rejects    A -> S -> B with two roots in S, one of which fails: B is skipped
 *
 *     HBG_TEST_SEED=7 tests/sim/small         one schedule of each
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "support/devices.h"
#include "support/sim_case.h"

enum { WORKERS = 2, FIBERS = WORKERS + 1 };

static struct hbg__sim *sim;
static uint64_t schedules;

static uint32_t add(struct image_builder *builder, int count, uint32_t first, uint32_t second)
{
    const uint32_t producer[2] = { first, second };
    return image_builder_task(builder, 0, producer, (uint32_t)count, 0);
}

static void build_seam(struct image_builder *builder)
{
    uint32_t a = add(builder, 0, 0, 0), b = add(builder, 0, 0, 0), p0 = add(builder, 0, 0, 0);
    uint32_t p1 = add(builder, 1, a, 0);
    add(builder, 2, p1, p0);
    uint32_t p2 = add(builder, 1, b, 0);
    add(builder, 2, p2, p0);
}

static void build_pair(struct image_builder *builder)
{
    uint32_t a = add(builder, 0, 0, 0), b = add(builder, 0, 0, 0);
    add(builder, 2, b, a);
}

static void build_diamond(struct image_builder *builder)
{
    uint32_t a = add(builder, 0, 0, 0), b = add(builder, 1, a, 0), c = add(builder, 1, a, 0);
    add(builder, 2, c, b);
}

static void build_failing(struct image_builder *builder)
{
    build_diamond(builder);
    add(builder, 1, add(builder, 0, 0, 0), 0);
}

static void build_roots(struct image_builder *builder, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) add(builder, 0, 0, 0);
}

static uint32_t submit(struct image_builder *builder, struct image_builder *body, int count, uint32_t producer)
{
    uint32_t task = image_builder_submit(builder, body, &producer, (uint32_t)count);
    image_builder_destroy(body);
    return task;
}

static void build_submits(struct image_builder *builder)
{
    struct image_builder *body = image_builder_create();
    build_roots(body, 4);
    add(builder, 1, submit(builder, body, 1, add(builder, 0, 0, 0)), 0);
}

static void build_nests(struct image_builder *builder)
{
    struct image_builder *body = image_builder_create(), *inner = image_builder_create();
    build_roots(inner, 2);
    uint32_t root = add(body, 0, 0, 0);
    add(body, 2, submit(body, inner, 0, 0), root);
    add(builder, 1, submit(builder, body, 0, 0), 0);
}

static void build_rejects(struct image_builder *builder)
{
    struct image_builder *body = image_builder_create();
    build_roots(body, 2);
    add(builder, 1, submit(builder, body, 1, add(builder, 0, 0, 0)), 0);
}

static const struct small { const char *name; void (*build)(struct image_builder *builder); int failing; } smalls[] = {
    { "seam", build_seam, -1 }, { "pair", build_pair, -1 }, { "diamond", build_diamond, -1 }, { "failing", build_failing, 1 },
    { "submits", build_submits, -1 }, { "nests", build_nests, -1 }, { "rejects", build_rejects, 4 },
};
enum { SMALLS = sizeof smalls / sizeof smalls[0] };

/* One schedule; returns how many steps it took. */
static uint64_t one(struct sim_case *c, uint64_t seed)
{
    c->seed = c->options.seed = seed;
    sim_case_start(c, sim);
    sim_case_run(c, sim);
    ++schedules;
    return sim->steps;
}

static void every_schedule(void **state)
{
    const struct small *small = *state;
    struct sim_taste taste = { .tasks = 1 };
    uint64_t only = test_seed(0);
    struct sim_case c;
    sim_case_draw(&c, small->name, 1, &taste);
    sim_case_free(&c);
    c.options.workers = WORKERS;
    c.options.mode = HBG__SIM_ALL;
    c.options.spin_ns = 0;
    c.options.generation = 0;
    c.options.position = 0;
    c.mode = HBG__MODE_WAKE;
    struct image_builder *builder = image_builder_create();
    small->build(builder);
    dag_open(&c.dag, builder);
    if (small->failing >= 0) c.dag.fail[small->failing] = 42;
    dag_expect(&c.dag);
    dag_slots_open(&c.slots, c.dag.count, 3, 1000);
    uint64_t most = one(&c, 0);
    uint64_t seeds = (uint64_t)test_scaled((int)(FIBERS * FIBERS * most * (most + 1) / 2));
    for (uint64_t seed = only ? only : 1; seed < (only ? only + 1 : seeds); ++seed) one(&c, seed);
    print_message("%s: %llu steps, %llu schedules\n", small->name, (unsigned long long)most, (unsigned long long)seeds);
    sim_case_free(&c);
}

int main(void)
{
    struct CMUnitTest tests[SMALLS] = { { 0 } };
    for (int i = 0; i < SMALLS; ++i)
        tests[i] = (struct CMUnitTest){ .name = smalls[i].name, .test_func = every_schedule, .initial_state = (void *)(uintptr_t)&smalls[i] };
    sim = sim_case_device();
    int failed = _cmocka_run_group_tests("small", tests, SMALLS, NULL, NULL);
    printf("%llu schedules\n", (unsigned long long)schedules);
    hbg__sim_destroy(sim);
    return failed;
}
