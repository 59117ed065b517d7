/* SPDX-License-Identifier: Apache-2.0 */
/* schedules_test.c - graphs of all kinds under very many schedules of a simulated device, against a sequential oracle.
 *
 *     tests/sim/schedules                                 every kind, as many seeds as it says below
 *     HBG_TEST_SEED=7 tests/sim/schedules cancelled       that case alone
 *
 * Slots hold stale words, generations, epochs and the positions of queues begin near their maximum in a quarter of the cases each,
 * own queues have four places and the ring two to eight, so that most graphs spill.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/devices.h"
#include "support/sim_case.h"

static struct hbg__sim *sim;
static uint64_t schedules, steps, submissions;

static uint32_t below(struct sim_case *c, uint64_t bound) { return (uint32_t)hbg__rng_below(&c->rng, bound); }

/* Some steps: few, or about as many as a run takes. */
static uint64_t some_steps(struct sim_case *c) { return below(c, UINT64_C(1) << (2 + below(c, 11))); }

/* ---- kinds of cases ---- */

/* Three runs on the same slots, all of which end as the graph says. */
static void plain(const char *name, uint64_t seed)
{
    struct sim_taste taste = { .tasks = 40, .failures = true };
    struct sim_case c;
    sim_case_draw(&c, name, seed, &taste);
    sim_case_start(&c, sim);
    for (int run = 0; run < 3; ++run) sim_case_run(&c, sim);
    hbg__sim_run_closed(sim);
    sim_case_free(&c);
}

/* Bodies with many roots and few, inside of one another. */
static void expanded(const char *name, uint64_t seed)
{
    struct sim_taste taste = { .tasks = 16, .failures = true, .submissions = true };
    struct sim_case c;
    sim_case_draw(&c, name, seed, &taste);
    sim_case_start(&c, sim);
    for (int run = 0; run < 2; ++run) sim_case_run(&c, sim);
    hbg__sim_run_closed(sim);
    submissions += 2 * c.dag.image.head->activation_count;
    sim_case_free(&c);
}

/* At some step the run is cancelled; another one after it is as if nothing had been. */
static void cancelled(const char *name, uint64_t seed)
{
    struct sim_taste taste = { .tasks = 40 };
    struct sim_case c;
    sim_case_draw(&c, name, seed, &taste);
    sim_case_start(&c, sim);
    sim_case_launch(&c, sim);
    hbg__sim_run(sim, some_steps(&c));
    hbg__sim_cancel(sim);
    if (!hbg__sim_wait(sim, UINT64_MAX)) sim_case_judge(&c, "the wait without limit ended before the run");
    hbg__sim_result(sim, &c.result);
    sim_case_judge(&c, dag_check_cancelled(&c.dag, &c.result));
    sim_case_end(&c);
    sim_case_run(&c, sim);
    sim_case_free(&c);
}

/* At some step the device is closed over the run: every worker comes out. */
static void abandoned(const char *name, uint64_t seed)
{
    struct sim_taste taste = { .tasks = 40, .failures = true };
    struct sim_case c;
    sim_case_draw(&c, name, seed, &taste);
    sim_case_start(&c, sim);
    sim_case_launch(&c, sim);
    hbg__sim_run(sim, some_steps(&c));
    if (hbg__sim_abandon(sim) != 0) sim_case_judge(&c, "a worker did not come out of a device that was closed");
    sim_case_end(&c);
    sim_case_free(&c);
}

/* Between two runs the device is closed. */
static void closed(const char *name, uint64_t seed)
{
    struct sim_taste taste = { .tasks = 20 };
    struct sim_case c;
    sim_case_draw(&c, name, seed, &taste);
    sim_case_start(&c, sim);
    if (below(&c, 4)) sim_case_run(&c, sim);
    if (below(&c, 2)) hbg__sim_run(sim, some_steps(&c));
    hbg__sim_run_closed(sim);
    sim_case_free(&c);
}

/* A task that nobody wakes: it is taken out of the list of its latest producer. HBG__NIL: none has producers. */
static uint32_t forget_a_task(struct sim_case *c)
{
    const unsigned char *payload = hbg__image_payload(c->dag.image.head);
    uint32_t count = c->dag.image.head->task_count;
    for (uint32_t task = below(c, count); task < count; ++task) {
        struct hbg__task_record *record = (struct hbg__task_record *)(uintptr_t)hbg__image_record(payload, task);
        if (record->producer_count == 0) continue;
        struct hbg__task_record *producer = (struct hbg__task_record *)(uintptr_t)hbg__image_record(payload, record->producer[0]);
        uint32_t *link = &producer->first_waiter;
        while (*link != task) link = &((struct hbg__task_record *)(uintptr_t)hbg__image_record(payload, *link))->next_waiter;
        *link = record->next_waiter;
        return task;
    }
    return HBG__NIL;
}

/* It ends all the same, says so, and leaves nothing behind: another graph runs after it. A task that others look at is named. */
static void stalled(const char *name, uint64_t seed)
{
    struct sim_taste taste = { .tasks = 40, .failures = true, .wake_only = true };
    struct sim_case c, after;
    sim_case_draw(&c, name, seed, &taste);
    sim_case_start(&c, sim);
    uint32_t task = c.dag.count ? forget_a_task(&c) : HBG__NIL;
    if (task != HBG__NIL) {
        sim_case_launch(&c, sim);
        if (!hbg__sim_wait(sim, UINT64_MAX)) sim_case_judge(&c, "the wait without limit ended before the run");
        hbg__sim_result(sim, &c.result);
        if (c.result.status != HBG_E_STALLED) sim_case_judge(&c, "it is not stalled");
        bool looked_at = (hbg__image_record(hbg__image_payload(c.dag.image.head), task)->flags & HBG__TASK_QUERYABLE) != 0;
        if (looked_at && !strstr(c.result.text, "task ")) sim_case_judge(&c, "it does not say who waits");
        sim_case_end(&c);
        sim_case_draw(&after, name, seed, &taste);
        after.options = c.options;
        sim_case_run(&after, sim);
        sim_case_free(&after);
    }
    sim_case_free(&c);
}

/* One producer and many consumers, so that all queues are full; one of them names a kernel that there is not. The run is left as it
   is, and nothing of it is there for the next one. */
static void damaged(const char *name, uint64_t seed)
{
    enum { CONSUMERS = 40 };
    struct sim_taste taste = { .tasks = 40, .wake_only = true };
    struct image_builder *builder = image_builder_create();
    struct sim_case c, first;
    sim_case_draw(&c, name, seed, &taste);
    first = c;
    uint32_t producer = image_builder_task(builder, 0, NULL, 0, 0), wrong = below(&c, CONSUMERS);
    for (uint32_t i = 0; i < CONSUMERS; ++i) image_builder_task(builder, i == wrong ? 77 : 0, &producer, 1, 0);
    dag_open(&first.dag, builder);
    dag_slots_open(&first.slots, CONSUMERS + 1, seed, 1000);
    sim_case_start(&first, sim);
    sim_case_launch(&first, sim);
    if (!hbg__sim_wait(sim, UINT64_MAX)) sim_case_judge(&first, "the wait without limit ended before the run");
    hbg__sim_result(sim, &first.result);
    if (first.result.status != HBG_E_IMAGE || first.result.task != wrong + 1) sim_case_judge(&first, "the damaged task is not named");
    sim_case_end(&first);
    sim_case_free(&first);
    sim_case_run(&c, sim);
    sim_case_free(&c);
}

/* A full ring without a spill list: refused by name, or all tasks run. */
static void limited(const char *name, uint64_t seed)
{
    struct sim_taste taste = { .tasks = 60, .wake_only = true };
    struct sim_case c;
    sim_case_draw(&c, name, seed, &taste);
    c.options.spill = false;
    c.options.ring_capacity = 2;
    sim_case_start(&c, sim);
    for (int run = 0; run < 2; ++run) {
        sim_case_launch(&c, sim);
        if (!hbg__sim_wait(sim, UINT64_MAX)) sim_case_judge(&c, "the wait without limit ended before the run");
        hbg__sim_result(sim, &c.result);
        if (c.result.status != HBG_E_LIMIT) sim_case_judge(&c, dag_check(&c.dag, &c.result));
        else if (c.result.limit != 2) sim_case_judge(&c, "the limit is not the ring's");
        sim_case_end(&c);
    }
    sim_case_free(&c);
}

/* A worker stands still for a while, up to many times the time after which a run counts as stalled. */
static void stopped(const char *name, uint64_t seed)
{
    struct sim_taste taste = { .tasks = 40, .failures = true };
    struct sim_case c;
    sim_case_draw(&c, name, seed, &taste);
    c.options.stop.worker = below(&c, c.options.workers);
    c.options.stop.step = some_steps(&c);
    c.options.stop.length_ns = UINT64_C(1) << (4 + below(&c, 26));
    sim_case_start(&c, sim);
    for (int run = 0; run < 2; ++run) sim_case_run(&c, sim);
    sim_case_free(&c);
}

/* A worker stops for ever. Either the run can do without it, or the waits end by their time, and the close leaves that one behind. */
static void lost(const char *name, uint64_t seed)
{
    enum { LONG_NS = 200000000, SETTLE_STEPS = 20000 };
    struct sim_taste taste = { .tasks = 40, .failures = true };
    struct hbg__progress seen = { .worker = 0 };
    struct sim_case c;
    sim_case_draw(&c, name, seed, &taste);
    c.options.stop.worker = below(&c, c.options.workers);
    c.options.stop.step = some_steps(&c);
    c.options.stop.length_ns = HBG__SIM_FOR_EVER;
    sim_case_start(&c, sim);
    sim_case_launch(&c, sim);
    if (hbg__sim_wait(sim, LONG_NS)) {
        hbg__sim_result(sim, &c.result);
        sim_case_judge(&c, dag_check(&c.dag, &c.result));
    } else {
        if (c.dag.early) sim_case_judge(&c, "a kernel started before a producer ended");
        hbg__sim_cancel(sim);
        hbg__sim_run(sim, SETTLE_STEPS);                /* time may have jumped: the others skip what they can */
        if (!hbg__sim_wait(sim, LONG_NS) && hbg__sim_progress(sim, &seen) && seen.worker != c.options.stop.worker)
            sim_case_judge(&c, "another worker than the lost one is said to run");
    }
    if (hbg__sim_abandon(sim) > 1) sim_case_judge(&c, "more than the lost worker are left");
    sim_case_end(&c);
    sim_case_free(&c);
}

/* Each number of workers from 1 to 64. */
static void crowded(const char *name, uint64_t seed)
{
    struct sim_taste taste = { .tasks = 40, .failures = true };
    struct sim_case c;
    sim_case_draw(&c, name, seed, &taste);
    c.options.workers = 1 + (uint32_t)(seed % SIM_CASE_WORKERS);
    sim_case_start(&c, sim);
    for (int run = 0; run < 2; ++run) sim_case_run(&c, sim);
    hbg__sim_run_closed(sim);
    sim_case_free(&c);
}

/* Large, small, large again on one device and the same slots. */
static void sizes(const char *name, uint64_t seed)
{
    static const uint32_t tasks[] = { 300, 10, 300, 1, 40 };
    struct sim_taste taste = { .tasks = 2 };
    struct dag_slots slots;
    struct sim_case c;
    sim_case_draw(&c, name, seed, &taste);
    dag_slots_open(&slots, 301, seed, seed % 2 ? UINT32_MAX - 2 : 1000);
    sim_case_start(&c, sim);
    for (int i = 0; i < 5; ++i) {
        struct dag_shape shape = { .tasks = tasks[i], .producers_max = 1 + below(&c, 5), .fail_percent = i == 1 ? 20 : 0, .noop_percent = 10 };
        struct sim_case one = c;
        dag_random(&one.dag, seed + (uint64_t)i, &shape);
        one.slots = slots;
        sim_case_run(&one, sim);
        slots = one.slots;
        dag_close(&one.dag);
    }
    dag_slots_close(&slots);
    sim_case_free(&c);
}

/* ---- */

static const struct kind { const char *name; void (*run)(const char *name, uint64_t seed); int seeds; } kinds[] = {
    { "plain", plain, 24000 }, { "expanded", expanded, 20000 }, { "cancelled", cancelled, 16000 }, { "abandoned", abandoned, 12000 }, { "closed", closed, 12000 },
    { "stalled", stalled, 8000 }, { "damaged", damaged, 4000 }, { "limited", limited, 8000 }, { "stopped", stopped, 16000 }, { "lost", lost, 8000 }, { "crowded", crowded, 1280 },
    { "sizes", sizes, 400 },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void run_kind(void **state)
{
    const struct kind *kind = *state;
    uint64_t only = test_seed(0), first = only ? only : 1, last = only ? only : (uint64_t)test_scaled(kind->seeds);
    for (uint64_t seed = first; seed <= last; ++seed) {
        kind->run(kind->name, seed);
        ++schedules;
        steps += sim->steps;
    }
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[KINDS] = { { 0 } };
    int count = 0;
    for (int i = 0; i < KINDS; ++i)
        if (argc < 2 || strcmp(argv[1], kinds[i].name) == 0)
            tests[count++] = (struct CMUnitTest){ .name = kinds[i].name, .test_func = run_kind, .initial_state = (void *)(uintptr_t)&kinds[i] };
    sim = sim_case_device();
    int failed = _cmocka_run_group_tests("schedules", tests, (size_t)count, NULL, NULL);
    printf("%llu schedules of %llu steps, %llu submissions\n", (unsigned long long)schedules, (unsigned long long)steps, (unsigned long long)submissions);
    hbg__sim_destroy(sim);
    return failed || count == 0;
}
