/* SPDX-License-Identifier: Apache-2.0 */
/* parts_test.c - ring, own queue, spill list and bell of src/sched alone, each used by simulated workers in every way it allows.
 *
 *     HBG_TEST_SEED=7 tests/sim/parts         one schedule of each
 *
 * What is put in comes out once. Positions begin near their maximum, and the ring's cells hold stale numbers before it is opened.
 * A wake that is lost leaves everybody asleep, which stops the process.
 */
#include "platform/sim/device_code.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "platform/sim/sim.h"
#include "support/devices.h"

enum { WORKERS = 8, ITEMS = 1000, PATIENCE_STEPS = 50000000 };

static struct hbg__sim *sim;
static struct hbg__memory memory;

static struct {
    uint64_t seed;
    struct hbg__rng rng[WORKERS];
    uint32_t workers, got;
    uint8_t times[ITEMS];               /* each item came out */
    struct hbg__ring ring;
    struct hbg__ring_cell cell[64];
    struct hbg__deque deque;
    struct hbg__spill spill;
    struct hbg__slot slot[ITEMS];
    struct hbg__bell bell;
    struct hbg__atomic_u32 thing;
} now;

static uint32_t below(uint32_t worker, uint32_t bound) { return (uint32_t)hbg__rng_below(&now.rng[worker], bound); }

static void take_note(uint64_t item)
{
    if (item >= ITEMS || now.times[item]++) hbg__sim_fail(sim, "an item came out twice, or was never put in");
    ++now.got;
}

static void say_failed(void *user, const char *sentence)
{
    (void)user;
    fprintf(stderr, "%s\nagain with: HBG_TEST_SEED=%llu tests/sim/parts\n", sentence, (unsigned long long)now.seed);
}

/* All workers do `body` until they return. */
static void run(uint64_t seed, uint32_t workers, void (*body)(void *user, uint32_t worker))
{
    struct hbg__sim_options options = { .workers = workers, .ring_capacity = 2, .mode = (enum hbg__sim_mode)(seed % HBG__SIM_ALL), .seed = seed,
                                        .preemptions = 4, .patience_steps = PATIENCE_STEPS, .body = body, .failed = say_failed };
    now.seed = seed;
    now.workers = workers;
    now.got = 0;
    memset(now.times, 0, sizeof now.times);
    for (uint32_t i = 0; i < WORKERS; ++i) hbg__rng_seed(&now.rng[i], seed * WORKERS + i);
    hbg__sim_restart(sim, &options);
    hbg__sim_run_out(sim);
}

static void all_seeds(int count, void (*one)(uint64_t seed))
{
    uint64_t only = test_seed(0), first = only ? only : 1, last = only ? only : (uint64_t)test_scaled(count);
    for (uint64_t seed = first; seed <= last; ++seed) one(seed);
}

/* ---- ring: four push, four pop one or several at once ---- */

static void push_or_pop(void *user, uint32_t worker)
{
    uint64_t entry[4];
    (void)user;
    if (worker < 4) {
        for (uint32_t item = worker; item < ITEMS; item += 4)
            while (!hbg__ring_push(&now.ring, item)) hbg__pause();
        return;
    }
    while (now.got < ITEMS) {
        uint32_t count = hbg__ring_pop_many(&now.ring, entry, 1 + below(worker, 4));
        for (uint32_t i = 0; i < count; ++i) take_note(entry[i]);
        if (count == 0) hbg__pause();
    }
}

/* It is empty now, and takes as many as it has places. */
static void fill_and_drain(void)
{
    uint64_t entry;
    assert_false(hbg__ring_has_entries(&now.ring));
    assert_false(hbg__ring_pop(&now.ring, &entry));
    for (uint32_t i = 0; i < now.ring.capacity; ++i) assert_true(hbg__ring_push(&now.ring, i));
    assert_false(hbg__ring_push(&now.ring, 0));
    for (uint32_t i = 0; i < now.ring.capacity; ++i) {
        assert_true(hbg__ring_pop(&now.ring, &entry));
        assert_int_equal(entry, i);
    }
    assert_false(hbg__ring_pop(&now.ring, &entry));
}

static void one_ring(uint64_t seed)
{
    uint32_t capacity = 2u << seed % 6;
    for (uint32_t i = 0; i < capacity; ++i) now.cell[i].sequence.value = (uint32_t)(seed * 77 + i * i);
    hbg__ring_open(&now.ring, now.cell, capacity, UINT32_MAX - (uint32_t)(seed % 300));
    run(seed, 8, push_or_pop);
    assert_int_equal(now.got, ITEMS);
    fill_and_drain();
}

static void rings(void **state)
{
    (void)state;
    all_seeds(1000, one_ring);
}

/* ---- own queue: one pushes and takes, the others steal ---- */

static void own_or_steal(void *user, uint32_t worker)
{
    uint64_t entry;
    uint32_t item = 0;
    (void)user;
    if (worker > 0) {
        while (now.got < ITEMS) {
            if (hbg__deque_steal(&now.deque, &entry)) take_note(entry);
            else hbg__pause();
        }
        return;
    }
    while (item < ITEMS) {
        if (below(0, 3) && hbg__deque_push(&now.deque, item)) ++item;
        else if (hbg__deque_take(&now.deque, &entry)) take_note(entry);
    }
    while (hbg__deque_take(&now.deque, &entry)) take_note(entry);
}

static void one_deque(uint64_t seed)
{
    uint64_t top;
    hbg__deque_open(&now.deque, UINT64_MAX - seed % 100);
    run(seed, 2 + (uint32_t)(seed % 3), own_or_steal);
    assert_int_equal(now.got, ITEMS);
    assert_int_equal(hbg__deque_size(&now.deque, &top), 0);
}

static void deques(void **state)
{
    (void)state;
    all_seeds(1000, one_deque);
}

/* ---- spill list: the same few tasks come and go, so that heads come back ---- */

static void come_and_go(void *user, uint32_t worker)
{
    enum { TASKS = 6, TURNS = 200 };
    uint32_t mine[TASKS], count = 0;
    (void)user;
    if (worker == 0)
        while (count < TASKS) {
            mine[count] = count;
            now.times[count++] = 1;
        }
    for (int turn = 0; turn < TURNS || count > 0; ++turn) {
        if (count > 0 && (below(worker, 2) || turn >= TURNS)) {
            now.times[mine[--count]] = 0;
            hbg__spill_push(&now.spill, now.slot, mine[count]);
        } else if (count < TASKS && hbg__spill_pop(&now.spill, now.slot, &mine[count])) {
            if (mine[count] >= TASKS || now.times[mine[count]]++) hbg__sim_fail(sim, "a task is with two workers, or was never there");
            ++count;
        }
    }
}

static void one_spill(uint64_t seed)
{
    uint32_t task, count = 0;
    hbg__spill_open(&now.spill);
    run(seed, 2 + (uint32_t)(seed % 4), come_and_go);
    while (hbg__spill_pop(&now.spill, now.slot, &task)) ++count;
    assert_int_equal(count, 6);
    assert_false(hbg__spill_has_entries(&now.spill));
}

static void spills(void **state)
{
    (void)state;
    all_seeds(2000, one_spill);
}

/* ---- bell: one makes a thing true again and again, the others wait for each time without a clock ---- */

static void ring_or_sleep(void *user, uint32_t worker)
{
    enum { TIMES = 30 };
    (void)user;
    for (uint32_t time = 1; time <= TIMES; ++time) {
        if (worker == 0) {
            hbg__store_release32(&now.thing, time);
            hbg__bell_ring(&now.bell, UINT32_MAX);
            while (now.got < time * (now.workers - 1)) hbg__yield();
            continue;
        }
        while (hbg__load_acquire32(&now.thing) < time) {
            uint32_t seen = hbg__bell_announce(&now.bell);
            if (hbg__load_acquire32(&now.thing) >= time) hbg__bell_retract(&now.bell);
            else hbg__bell_sleep(&now.bell, seen, UINT64_MAX);
        }
        ++now.got;
    }
}

static void one_bell(uint64_t seed)
{
    hbg__bell_open(&now.bell);
    now.thing.value = 0;
    run(seed, 2 + (uint32_t)(seed % 4), ring_or_sleep);
    assert_int_equal(now.bell.sleepers.value, 0);
}

static void bells(void **state)
{
    (void)state;
    all_seeds(4000, one_bell);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rings), cmocka_unit_test(deques), cmocka_unit_test(spills), cmocka_unit_test(bells) };
    struct hbg__sim_options options = { .workers = WORKERS, .ring_capacity = 2, .patience_steps = PATIENCE_STEPS };
    struct hbg_error error = { .size = sizeof error };
    if (!hbg__memory_init(&memory, NULL) || hbg__sim_create(&options, &memory, &sim, &error) != HBG_OK) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    options.mode = HBG__SIM_RANDOM;
    hbg__sim_restart(sim, &options);
    hbg__sim_destroy(sim);
    return failed;
}
