/* SPDX-License-Identifier: Apache-2.0 */
/* queues_test.c - ring, deque and spill list on real threads, and the edges of the ring. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "sched/deque.h"
#include "sched/ring.h"
#include "sched/spill.h"

#ifdef HBG_SANITIZED
enum { ITEMS = 40000 };
#else
enum { ITEMS = 1000000 };
#endif
enum { SIDE = 4, RING = 64 };

/* ---- everything arrives exactly once ---- */

struct flow {
    struct hbg__ring ring;
    struct hbg__ring_cell cell[RING];
    struct hbg__deque deque;
    struct hbg__spill spill;
    struct hbg__slot *slot;
    uint8_t *arrived;
    uint32_t made, taken;               /* atomic */
};

static uint32_t next_item(struct flow *flow) { return __atomic_fetch_add(&flow->made, 1, __ATOMIC_RELAXED); }
static bool all_taken(struct flow *flow) { return __atomic_load_n(&flow->taken, __ATOMIC_RELAXED) == ITEMS; }

static void arrive(struct flow *flow, uint64_t item)
{
    if (item < ITEMS) ++flow->arrived[item];    /* plain: two that have the same item race, and ThreadSanitizer says so */
    __atomic_fetch_add(&flow->taken, 1, __ATOMIC_RELAXED);
}

static void *ring_push(void *argument)
{
    struct flow *flow = argument;
    for (uint32_t item; (item = next_item(flow)) < ITEMS;)
        while (!hbg__ring_push(&flow->ring, item)) sched_yield();
    return NULL;
}

static void *ring_pop(void *argument)
{
    struct flow *flow = argument;
    while (!all_taken(flow)) {
        uint64_t entry[7];
        uint32_t count = hbg__ring_pop_many(&flow->ring, entry, 7);
        for (uint32_t i = 0; i < count; ++i) arrive(flow, entry[i]);
        if (count == 0) sched_yield();
    }
    return NULL;
}

static void *deque_owner(void *argument)
{
    struct flow *flow = argument;
    uint64_t entry;
    for (uint32_t item; (item = next_item(flow)) < ITEMS;) {
        while (!hbg__deque_push(&flow->deque, item))
            if (hbg__deque_take(&flow->deque, &entry)) arrive(flow, entry);
        if (item % 3 == 0 && hbg__deque_take(&flow->deque, &entry)) arrive(flow, entry);
    }
    while (hbg__deque_take(&flow->deque, &entry)) arrive(flow, entry);
    return NULL;
}

static void *deque_thief(void *argument)
{
    struct flow *flow = argument;
    uint64_t entry;
    while (!all_taken(flow)) {
        if (hbg__deque_steal(&flow->deque, &entry)) arrive(flow, entry);
        else sched_yield();
    }
    return NULL;
}

static void *spill_push(void *argument)
{
    struct flow *flow = argument;
    for (uint32_t item; (item = next_item(flow)) < ITEMS;) hbg__spill_push(&flow->spill, flow->slot, item);
    return NULL;
}

static void *spill_pop(void *argument)
{
    struct flow *flow = argument;
    uint32_t task;
    while (!all_taken(flow)) {
        if (hbg__spill_pop(&flow->spill, flow->slot, &task)) arrive(flow, task);
        else sched_yield();
    }
    return NULL;
}

static void flow_through(void *(*put)(void *), int putters, void *(*take)(void *), int takers)
{
    struct flow *flow = aligned_alloc(HBG__LINE, sizeof *flow);
    pthread_t thread[2 * SIDE];
    assert_non_null(flow);
    memset(flow, 0, sizeof *flow);
    hbg__ring_open(&flow->ring, flow->cell, RING, UINT32_MAX - 1000);
    hbg__deque_open(&flow->deque, UINT64_MAX - 1000);
    hbg__spill_open(&flow->spill);
    flow->slot = calloc(ITEMS, sizeof *flow->slot);
    flow->arrived = calloc(ITEMS, 1);
    assert_non_null(flow->slot);
    assert_non_null(flow->arrived);
    for (int i = 0; i < putters; ++i) assert_int_equal(pthread_create(&thread[i], NULL, put, flow), 0);
    for (int i = 0; i < takers; ++i) assert_int_equal(pthread_create(&thread[putters + i], NULL, take, flow), 0);
    for (int i = 0; i < putters + takers; ++i) pthread_join(thread[i], NULL);
    for (uint32_t i = 0; i < ITEMS; ++i)
        if (flow->arrived[i] != 1) fail_msg("item %u arrived %u times", i, flow->arrived[i]);
    assert_false(hbg__ring_has_entries(&flow->ring));
    assert_false(hbg__spill_has_entries(&flow->spill));
    free(flow->slot);
    free(flow->arrived);
    free(flow);
}

static void ring_flow(void **state)
{
    (void)state;
    flow_through(ring_push, SIDE, ring_pop, SIDE);
}

static void deque_flow(void **state)
{
    (void)state;
    flow_through(deque_owner, 1, deque_thief, SIDE - 1);
}

static void spill_flow(void **state)
{
    (void)state;
    flow_through(spill_push, SIDE, spill_pop, SIDE);
}

static void ring_flow_on_one_cpu(void **state)
{
    cpu_set_t all, one;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = CPU_SETSIZE - 1; i >= 0; --i)
        if (CPU_ISSET(i, &all)) {
            CPU_ZERO(&one);
            CPU_SET(i, &one);
        }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    flow_through(ring_push, SIDE, ring_pop, SIDE);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

/* ---- the ring's edges ---- */

static void open_stale(struct hbg__ring *ring, struct hbg__ring_cell *cell, uint32_t capacity, uint32_t first)
{
    for (uint32_t i = 0; i < capacity; ++i) {
        cell[i].sequence.value = first + capacity + i + 1;     /* full, as a later lap would leave it */
        cell[i].entry.value = 0xdeadbeef;
    }
    hbg__ring_open(ring, cell, capacity, first);
}

/* N entries into memory full of larger numbers: a batched pop gives N and ends, though it looks at the cell behind them. */
static void pop_looks_one_too_far(void **state)
{
    struct hbg__ring ring;
    struct hbg__ring_cell cell[8];
    uint64_t entry[8];
    (void)state;
    for (uint32_t first = UINT32_MAX - 8; first != 8; ++first)
        for (uint32_t count = 0; count <= 8; ++count) {
            open_stale(&ring, cell, 8, first);
            for (uint32_t i = 0; i < count; ++i) assert_true(hbg__ring_push(&ring, 100 + i));
            assert_int_equal(hbg__ring_pop_many(&ring, entry, 8), count);
            for (uint32_t i = 0; i < count; ++i) assert_int_equal(entry[i], 100 + i);
            assert_int_equal(hbg__ring_pop_many(&ring, entry, 8), 0);
        }
}

/* What a process says that takes everything out of a ring, and what became of it. */
struct drain {
    uint32_t popped;                    /* atomic: it has had so many entries, and goes on */
    bool wrong;                         /* one of them was not what was pushed */
};
enum { DRAIN_SPINS = -1, DRAIN_WRONG = -2 };
#define WATCHDOG_NS UINT64_C(1000000000)
#define PATIENCE_NS UINT64_C(20000000000)       /* until the entries are out */

/* Memory full of larger numbers, a ramp over the first `seeded` cells of eight, `count` entries: pop until the ring says "empty". */
static void drain(struct drain *said, uint32_t first, uint32_t seeded, uint32_t count)
{
    struct hbg__ring ring;
    struct hbg__ring_cell cell[8];
    open_stale(&ring, cell, 8, first);
    for (uint32_t i = seeded; i < 8; ++i) cell[(first + i) & 7].sequence.value = first + 8 + i + 1;
    for (uint32_t i = 0; i < count; ++i)
        if (!hbg__ring_push(&ring, 100 + i)) said->wrong = true;
    for (uint32_t total = 0, got = 1; got > 0; total += got) {
        uint64_t entry[8];
        got = hbg__ring_pop_many(&ring, entry, 8);
        for (uint32_t i = 0; i < got; ++i) said->wrong |= entry[i] != 100 + total + i;
        __atomic_store_n(&said->popped, total + got, __ATOMIC_RELEASE);
    }
}

/* The same in a process of its own: how many came out; or DRAIN_SPINS, when it had them all and had not ended a second later. */
static int drain_watched(uint32_t first, uint32_t seeded, uint32_t count)
{
    struct drain *said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(said != MAP_FAILED);
    pid_t child = fork(), ended = 0;
    assert_true(child >= 0);
    if (child == 0) {
        drain(said, first, seeded, count);
        _exit(0);
    }
    uint64_t started_ns = hbg__clock_ns(), since_ns = started_ns, now_ns = started_ns;
    while (ended == 0 && now_ns - since_ns < WATCHDOG_NS) {
        usleep(1000);
        now_ns = hbg__clock_ns();
        if (__atomic_load_n(&said->popped, __ATOMIC_ACQUIRE) < count && now_ns - started_ns < PATIENCE_NS) since_ns = now_ns;
        ended = waitpid(child, NULL, WNOHANG);
    }
    if (ended == 0) {
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
    }
    int outcome = said->wrong ? DRAIN_WRONG : ended == 0 ? DRAIN_SPINS : (int)said->popped;
    munmap(said, sizeof *said);
    return outcome;
}

/* The control: with a ramp over the cells of the entries alone, the pop that should say "empty" looks for ever at a number that is
   ahead. The same ring, opened as it should be, gives its entries and ends. */
static void half_a_ramp_spins(void **state)
{
    (void)state;
    assert_int_equal(drain_watched(UINT32_MAX - 1, 8, 3), 3);
    assert_int_equal(drain_watched(UINT32_MAX - 1, 4, 3), 3);           /* one more than was pushed is enough */
    assert_int_equal(drain_watched(UINT32_MAX - 1, 3, 3), DRAIN_SPINS);
}

/* Without the ramp cells of a zeroed ring look full after one push. With it a ring fills to its capacity at any position. */
static void ramp_makes_it_fill(void **state)
{
    struct hbg__ring ring;
    struct hbg__ring_cell cell[4];
    uint64_t entry;
    (void)state;
    hbg__ring_open(&ring, cell, 4, 0);
    memset(cell, 0, sizeof cell);
    assert_true(hbg__ring_push(&ring, 1));
    assert_false(hbg__ring_push(&ring, 2));
    for (uint32_t odd = 1; odd < 30; odd += 2) {
        hbg__ring_open(&ring, cell, 4, UINT32_MAX - 10);
        for (uint32_t i = 0; i < odd; ++i) {
            assert_true(hbg__ring_push(&ring, i));
            assert_true(hbg__ring_pop(&ring, &entry));
            assert_int_equal(entry, i);
        }
        assert_false(hbg__ring_pop(&ring, &entry));
        for (uint32_t i = 0; i < 4; ++i) assert_true(hbg__ring_push(&ring, i));
        assert_false(hbg__ring_push(&ring, 9));
    }
}

static void a_full_deque_refuses(void **state)
{
    struct hbg__deque *deque = aligned_alloc(HBG__LINE, sizeof *deque);
    uint64_t entry;
    (void)state;
    assert_non_null(deque);
    hbg__deque_open(deque, UINT64_MAX - 5);
    for (uint64_t i = 0; i < HBG__DEQUE_CAPACITY; ++i) assert_true(hbg__deque_push(deque, i));
    assert_false(hbg__deque_push(deque, 1));
    assert_true(hbg__deque_steal(deque, &entry));
    assert_int_equal(entry, 0);
    assert_true(hbg__deque_take(deque, &entry));
    assert_int_equal(entry, HBG__DEQUE_CAPACITY - 1);
    assert_true(hbg__deque_push(deque, 7));
    assert_true(hbg__deque_push(deque, 8));
    assert_false(hbg__deque_push(deque, 9));
    free(deque);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_flow), cmocka_unit_test(ring_flow_on_one_cpu), cmocka_unit_test(deque_flow), cmocka_unit_test(spill_flow),
        cmocka_unit_test(pop_looks_one_too_far), cmocka_unit_test(half_a_ramp_spins), cmocka_unit_test(ramp_makes_it_fill),
        cmocka_unit_test(a_full_deque_refuses)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
