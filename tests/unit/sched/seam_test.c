/* SPDX-License-Identifier: Apache-2.0 */
/* seam_test.c - the completion of a producer before, in the middle of, and behind the registration of its consumer.
 *
 *     A ---> P1 ---> C        C registers at P0 when P1 is complete; D, where it takes part, when P2 is.
 *     B ---> P2 ---> D        P0 is nobody's latest producer, so both wait in its slot word.
 *           P0 --> C, D
 *
 * An order is a list of operations; whoever comes to one of them before its turn is held at the seam in front of it. With two
 * workers he waits there for the other one. A worker alone runs other tasks there, as if an interrupt had done so.
 *
 * What it notices: in hbg__slot_register() of src/sched/slot.h, a compare-exchange that is always taken for a success, or is a
 * store, or is tried once more without a new look at the word; a look for "closed" at the first word only, or none; a link that
 * is stored in front of the loop; in hbg__slot_close(), a list that is dropped. A completion in two steps has no seam between
 * them: wake_model.cpp finds it.
 */
#include <sched.h>
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "sched/roots.h"
#include "sched/run_task.h"
#include "sched/wake_list.h"
#include "support/dag.h"

#define STALL_NS UINT64_C(300000000)
#define PATIENCE_NS UINT64_C(20000000000)

enum { A, B, P0, P1, C, TASKS_OF_ONE, P2 = TASKS_OF_ONE, D, TASKS };
enum { TURNS_MAX = 4, FAILED = 5 };

/* One operation on the word of P0: by the task that registers, or, CLOSE, by P0. */
struct turn { enum hbg__seam_place operation; uint32_t task; };

static const struct order {
    const char *name;
    uint32_t task_count;                /* TASKS_OF_ONE: without D */
    struct turn turn[TURNS_MAX];
    uint32_t turn_count;
    bool links_c, links_d;              /* who came into the word of P0 */
} orders[] = {
    { "complete, look", TASKS_OF_ONE, { { HBG__SEAM_CLOSE, P0 }, { HBG__SEAM_LOOK, C } }, 2, false, false },
    { "look, complete, link", TASKS_OF_ONE, { { HBG__SEAM_LOOK, C }, { HBG__SEAM_CLOSE, P0 }, { HBG__SEAM_LINK, C } }, 3, false, false },
    { "link, complete", TASKS_OF_ONE, { { HBG__SEAM_LINK, C }, { HBG__SEAM_CLOSE, P0 } }, 2, true, false },
    { "link, complete, the other looks", TASKS, { { HBG__SEAM_LINK, C }, { HBG__SEAM_CLOSE, P0 }, { HBG__SEAM_LOOK, D } }, 3, true, false },
    { "look, the other links, link, complete", TASKS,
      { { HBG__SEAM_LOOK, C }, { HBG__SEAM_LINK, D }, { HBG__SEAM_LINK, C }, { HBG__SEAM_CLOSE, P0 } }, 4, true, true },
    { "look, the other links, complete, link", TASKS,
      { { HBG__SEAM_LOOK, C }, { HBG__SEAM_LINK, D }, { HBG__SEAM_CLOSE, P0 }, { HBG__SEAM_LINK, C } }, 4, false, true },
};
enum { ORDERS = sizeof orders / sizeof orders[0], ROUNDS = 20 };

static struct {
    const struct order *order;
    struct hbg__worker *alone;          /* NULL: there are two */
    uint32_t done[TURNS_MAX];           /* atomic, as all below */
    uint32_t linked[TASKS], ran[TASKS], met, gave_up;
    bool fails;
} now;

static uint32_t get(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static void add(uint32_t *word) { __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL); }

/* ---- the seams ---- */

/* The worker runs one more task here. False: it has none. */
static bool run_another(struct hbg__worker *worker)
{
    uint32_t task = worker->next;
    uint64_t entry;
    worker->next = HBG__NIL;
    if (task == HBG__NIL && hbg__deque_take(&worker->deque, &entry)) task = hbg__entry_task(entry);
    if (task == HBG__NIL && hbg__roots_claim(worker)) task = hbg__roots_next(worker);
    if (task == HBG__NIL) return false;
    const struct hbg__task_record *record = hbg__image_record(worker->graph.payload, task);
    hbg__complete(worker, record, task, hbg__run_kernel(worker, record, task));
    hbg__drain(worker);
    return true;
}

static void await_turn(enum hbg__seam_place operation, uint32_t task)
{
    const struct order *order = now.order;
    uint64_t started_ns = hbg__clock_ns();
    uint32_t turn = 0, before = 0;
    while (turn < order->turn_count && (order->turn[turn].operation != operation || order->turn[turn].task != task)) ++turn;
    if (turn == order->turn_count) return;
    while (before < turn) {
        if (get(&now.done[before])) {
            ++before;
            continue;
        }
        if (get(&now.gave_up) || hbg__clock_ns() - started_ns > PATIENCE_NS || (now.alone && !run_another(now.alone))) {
            add(&now.gave_up);
            return;
        }
        if (!now.alone) sched_yield();
    }
}

static void have_done(enum hbg__seam_place operation, uint32_t task)
{
    for (uint32_t i = 0; i < now.order->turn_count; ++i)
        if (now.order->turn[i].operation == operation && now.order->turn[i].task == task) add(&now.done[i]);
}

static void at_seam(enum hbg__seam_place place, uint32_t producer, uint32_t task)
{
    if (producer != P0) return;
    switch (place) {
    case HBG__SEAM_LOOK:
        await_turn(HBG__SEAM_LOOK, task);
        break;
    case HBG__SEAM_LOOKED:
        have_done(HBG__SEAM_LOOK, task);
        break;
    case HBG__SEAM_LINK:
        await_turn(HBG__SEAM_LINK, task);
        break;
    case HBG__SEAM_LINKED:
        add(&now.linked[task]);
        have_done(HBG__SEAM_LINK, task);
        break;
    case HBG__SEAM_CLOSE:
        await_turn(HBG__SEAM_CLOSE, task);
        break;
    case HBG__SEAM_CLOSED:
        have_done(HBG__SEAM_CLOSE, task);
        break;
    }
}

/* ---- the graph ---- */

/* Of two workers each has one of A and B, so that while C is held the other one can go on. */
static int kernel(const struct hbg_task_view *t)
{
    uint64_t started_ns = hbg__clock_ns();
    add(&now.ran[t->task]);
    if (!now.alone && t->task <= B) {
        add(&now.met);
        while (get(&now.met) < 2 && hbg__clock_ns() - started_ns < PATIENCE_NS) sched_yield();
    }
    return now.fails && t->task == P0 ? FAILED : 0;
}

static struct test_image make_image(uint32_t task_count)
{
    struct image_builder *builder = image_builder_create();
    image_builder_task(builder, 0, NULL, 0, 0);
    image_builder_task(builder, 0, NULL, 0, 0);
    image_builder_task(builder, 0, NULL, 0, 0);
    image_builder_task(builder, 0, (uint32_t[]){ A }, 1, 0);
    image_builder_task(builder, 0, (uint32_t[]){ P1, P0 }, 2, 0);
    if (task_count == TASKS) {
        image_builder_task(builder, 0, (uint32_t[]){ B }, 1, 0);
        image_builder_task(builder, 0, (uint32_t[]){ P2, P0 }, 2, 0);
    }
    assert_int_equal(image_builder_count(builder), task_count);
    struct test_image image = image_builder_finish(builder);
    image_builder_destroy(builder);
    return image;
}

static void check(const struct order *order, const char *where, const struct hbg__launch_result *result)
{
    uint32_t skipped = !now.fails ? 0 : order->task_count == TASKS ? 2 : 1;
    if (get(&now.gave_up)) fail_msg("%s, %s: the order was not reached", order->name, where);
    if (result->status != (now.fails ? HBG_E_KERNEL : HBG_OK))
        fail_msg("%s, %s: %s %s", order->name, where, hbg_status_text(result->status), result->text);
    for (uint32_t task = 0; task < order->task_count; ++task) {
        uint32_t times = now.fails && (task == C || task == D) ? 0 : 1;
        if (now.ran[task] != times) fail_msg("%s, %s: task %u ran %u times", order->name, where, task, now.ran[task]);
    }
    assert_int_equal(result->skipped, skipped);
    assert_int_equal(result->executed, order->task_count - skipped);
    if (now.linked[C] != order->links_c || now.linked[D] != order->links_d)
        fail_msg("%s, %s: C was linked %u times, D %u times", order->name, where, now.linked[C], now.linked[D]);
}

/* Stale words of the epoch before stand in the slots. */
static void one_run(struct hbg__workers *workers, const struct test_image *image, const struct order *order, bool fails)
{
    const struct hbg_kernel kernels[] = { HBG_KERNEL(0, kernel, NULL) };
    uint32_t worker_count = hbg__workers_count(workers);
    struct hbg__launch_result result;
    struct test_launch launch;
    memset(&now, 0, sizeof now);
    now.order = order;
    now.fails = fails;
    if (worker_count == 1) now.alone = &((struct hbg__sched *)(uintptr_t)hbg__workers_sched(workers))->worker[0];
    test_launch_open(&launch, image, kernels, 1, worker_count);
    launch.launch.epoch = 8;
    for (uint32_t task = 0; task < order->task_count; ++task)
        launch.slots[task].word.value = hbg__slot_word(7, task % 2 ? HBG__SLOT_OK : hbg__waiter_make(C, true));
    hbg__seam = at_seam;
    hbg__workers_launch(workers, &launch.launch);
    assert_true(hbg__workers_wait(workers, UINT64_MAX));
    hbg__seam = NULL;
    hbg__workers_result(workers, &result);
    check(order, worker_count == 1 ? "one worker" : "two workers", &result);
    test_launch_close(&launch);
}

/* Every order, also with a producer that fails: then the consumers are skipped, once each. */
static void all_orders(uint32_t worker_count)
{
    struct hbg__workers *workers = dag_workers(worker_count, 64, true, STALL_NS);
    assert_non_null(workers);
    for (uint32_t i = 0; i < ORDERS * ROUNDS; ++i) {
        const struct order *order = &orders[i % ORDERS];
        struct test_image image = make_image(order->task_count);
        one_run(workers, &image, order, false);
        one_run(workers, &image, order, true);
        test_image_free(&image);
    }
    hbg__workers_destroy(workers);
}

static void one_worker(void **state)
{
    (void)state;
    all_orders(1);
}

static void two_workers(void **state)
{
    (void)state;
    all_orders(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(one_worker), cmocka_unit_test(two_workers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
