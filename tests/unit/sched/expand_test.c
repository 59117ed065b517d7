/* SPDX-License-Identifier: Apache-2.0 */
/* expand_test.c - graphs with submissions of definitions, inside of one another, with several numbers of workers and in both modes,
 * against a sequential oracle. Activations begin with whatever the memory held. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/rng.h"
#include "support/dag.h"
#include "support/devices.h"

static const uint32_t WORKERS[] = { 1, 2, 8 };
enum { POOLS = sizeof WORKERS / sizeof WORKERS[0] };
#define STALL_NS UINT64_C(5000000000)
#ifdef HBG_SANITIZED
enum { RANDOM_GRAPHS = 400, CANCELS = 60, MANY = 2000, WIDE = 10000 };
#else
enum { RANDOM_GRAPHS = 3000, CANCELS = 400, MANY = 10000, WIDE = 10000 };
#endif

static struct hbg__workers *pool[POOLS];

static int open_pools(void **state)
{
    (void)state;
    for (int i = 0; i < POOLS; ++i)
        if (!(pool[i] = dag_workers(WORKERS[i], 64, true, STALL_NS))) return -1;
    return 0;
}

static int close_pools(void **state)
{
    (void)state;
    for (int i = 0; i < POOLS; ++i) hbg__workers_destroy(pool[i]);
    return 0;
}

static void run_everywhere(struct dag *dag, struct dag_slots *slots, uint64_t seed)
{
    static const uint32_t modes[] = { HBG__MODE_WAKE, HBG__MODE_ORDER };
    for (int p = 0; p < POOLS; ++p)
        for (int m = 0; m < 2; ++m) {
            struct hbg__launch_result result;
            dag_run(dag, pool[p], slots, modes[m], &result);
            const char *wrong = dag_check(dag, &result);
            if (wrong) fail_msg("seed %llu, %u slots, %u workers, mode %u: %s", (unsigned long long)seed, dag->count, WORKERS[p], modes[m], wrong);
        }
}

/* Takes the builder; three runs on the same slots. */
static void run_builder(struct image_builder *builder)
{
    struct dag_slots slots;
    struct dag dag;
    dag_open(&dag, builder);
    dag_slots_open(&slots, dag.count + 1, 3, UINT32_MAX - 4);
    for (int round = 0; round < 3; ++round) run_everywhere(&dag, &slots, (uint64_t)round);
    dag_slots_close(&slots);
    dag_close(&dag);
}

static uint32_t plain(struct image_builder *builder, int count, uint32_t producer)
{
    return image_builder_task(builder, 0, &producer, (uint32_t)count, 0);
}

/* ---- */

static void random_graphs(void **state)
{
    int graphs = test_scaled(RANDOM_GRAPHS);
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)graphs; ++seed) {
        static const uint32_t windows[] = { 0, 1, 3, 10, 200 };
        struct dag_slots slots;
        struct hbg__rng rng;
        struct dag dag;
        hbg__rng_seed(&rng, seed);
        struct dag_shape shape = {
            .tasks = (uint32_t)hbg__rng_below(&rng, seed % 10 == 0 ? 300 : 40), .producers_max = (uint32_t)hbg__rng_below(&rng, 6),
            .window = windows[hbg__rng_below(&rng, 5)], .fail_percent = seed % 3 == 0 ? (uint32_t)hbg__rng_below(&rng, 10) : 0,
            .noop_percent = (uint32_t)hbg__rng_below(&rng, 20), .reuse_percent = (uint32_t)hbg__rng_below(&rng, 10),
            .depth = (uint32_t)hbg__rng_below(&rng, 4), .submit_percent = (uint32_t)hbg__rng_below(&rng, 30) };
        dag_random(&dag, seed, &shape);
        dag_slots_open(&slots, dag.count + 1, seed, 1000);
        run_everywhere(&dag, &slots, seed);
        dag_slots_close(&slots);
        dag_close(&dag);
    }
}

/* Nothing inside: complete at once, in front of others, behind others, alone, and inside of one another. */
static void empty_definitions(void **state)
{
    struct image_builder *empty = image_builder_create(), *of_empty = image_builder_create(), *outer = image_builder_create();
    (void)state;
    uint32_t inside = image_builder_submit(of_empty, empty, NULL, 0);
    image_builder_submit(of_empty, empty, &inside, 1);
    uint32_t first = image_builder_submit(outer, empty, NULL, 0), task = plain(outer, 1, first);
    uint32_t second = image_builder_submit(outer, of_empty, &task, 1);
    plain(outer, 1, second);
    image_builder_submit(outer, of_empty, NULL, 0);
    image_builder_submit(outer, empty, &second, 1);
    image_builder_destroy(empty);
    image_builder_destroy(of_empty);
    run_builder(outer);
}

/* Many roots, one after the other, side by side, and inside of one another. */
static void wide_bodies(void **state)
{
    struct image_builder *wide = image_builder_create(), *of_wide = image_builder_create(), *outer = image_builder_create();
    (void)state;
    for (uint32_t i = 0; i < WIDE; ++i) plain(wide, 0, 0);
    uint32_t before = plain(outer, 0, 0);
    uint32_t one = image_builder_submit(outer, wide, &before, 1), two = image_builder_submit(outer, wide, &one, 1);
    image_builder_submit(outer, wide, NULL, 0);
    plain(outer, 1, two);
    plain(of_wide, 0, 0);
    image_builder_submit(of_wide, wide, NULL, 0);
    image_builder_submit(of_wide, wide, NULL, 0);
    image_builder_submit(outer, of_wide, &before, 1);
    image_builder_destroy(wide);
    image_builder_destroy(of_wide);
    run_builder(outer);
}

/* Each body submits the one below twice and a fan behind them. */
static struct image_builder *nest(uint32_t depth, uint32_t fan)
{
    struct image_builder *builder = image_builder_create();
    uint32_t first = plain(builder, 0, 0);
    if (depth) {
        struct image_builder *inner = nest(depth - 1, fan);
        uint32_t left = image_builder_submit(builder, inner, &first, 1);
        image_builder_submit(builder, inner, NULL, 0);
        first = image_builder_task(builder, 0, &left, 1, 0);
        image_builder_destroy(inner);
    }
    for (uint32_t i = 0; i < fan; ++i) plain(builder, (int)(i % 2), first);
    return builder;
}

static void nested_bodies(void **state)
{
    (void)state;
    run_builder(nest(3, 10));
    run_builder(nest(3, 300));
    run_builder(nest(10, 1));
}

/* As deep as the host allows: nobody's stack grows with it but that of one worker alone. */
static void deep_bodies(void **state)
{
    enum { DEEP = 32 };
    struct image_builder *builder = image_builder_create();
    (void)state;
    plain(builder, 0, 0);
    for (uint32_t i = 0; i < DEEP; ++i) {
        struct image_builder *outer = image_builder_create();
        uint32_t inside = image_builder_submit(outer, builder, NULL, 0);
        for (uint32_t k = 0; k < 20; ++k) plain(outer, (int)(k % 2), inside);
        image_builder_destroy(builder);
        builder = outer;
    }
    run_builder(builder);
}

/* Submissions by the thousand: side by side, and one after the other. */
static void many_submissions(void **state)
{
    struct image_builder *body = image_builder_create(), *outer = image_builder_create();
    uint32_t before = HBG__NIL;
    (void)state;
    for (uint32_t i = 0; i < 6; ++i) plain(body, i > 2, i / 2);
    for (uint32_t i = 0; i < MANY; ++i) image_builder_submit(outer, body, NULL, 0);
    for (uint32_t i = 0; i < MANY; ++i) before = image_builder_submit(outer, body, &before, before != HBG__NIL);
    image_builder_destroy(body);
    run_builder(outer);
}

/* A body whose roots are submissions of bodies with many roots: more entries of roots than a small ring and a queue have room for. */
static struct image_builder *crowd(uint32_t bodies, uint32_t roots)
{
    struct image_builder *body = image_builder_create(), *middle = image_builder_create(), *outer = image_builder_create();
    for (uint32_t i = 0; i < roots; ++i) plain(body, 0, 0);
    for (uint32_t i = 0; i < bodies; ++i) image_builder_submit(middle, body, NULL, 0);
    for (uint32_t i = 0; i < roots; ++i) plain(middle, 0, 0);
    for (uint32_t i = 0; i < bodies; ++i) image_builder_submit(outer, middle, NULL, 0);
    uint32_t last = image_builder_submit(outer, body, &(uint32_t){ 0 }, 1);
    for (uint32_t i = 0; i < 3000; ++i) plain(outer, 1, last);
    image_builder_destroy(body);
    image_builder_destroy(middle);
    return outer;
}

static void queues_overflow(void **state)
{
    struct dag_slots slots;
    struct dag dag;
    (void)state;
    dag_open(&dag, crowd(40, 60));
    dag_slots_open(&slots, dag.count + 1, 3, 50);
    for (uint32_t capacity = 2; capacity <= 64; capacity *= 4) {
        for (uint32_t count = 1; count <= 8; count += count < 2 ? 1 : 3) {
            struct hbg__launch_result result;
            struct hbg__workers *spills = dag_workers(count, capacity, true, STALL_NS), *refuses = dag_workers(count, capacity, false, STALL_NS);
            assert_non_null(spills);
            assert_non_null(refuses);
            for (int round = 0; round < 2; ++round) {
                dag_run(&dag, spills, &slots, HBG__MODE_WAKE, &result);
                const char *wrong = dag_check(&dag, &result);
                if (wrong) fail_msg("capacity %u, %u workers: %s", capacity, count, wrong);
                dag_run(&dag, refuses, &slots, HBG__MODE_WAKE, &result);
                if (count == 1) assert_int_equal(result.status, HBG_E_LIMIT);
                if (result.status == HBG_E_LIMIT) assert_int_equal(result.limit, capacity);
                else assert_null(dag_check(&dag, &result));
            }
            hbg__workers_destroy(spills);
            hbg__workers_destroy(refuses);
        }
    }
    dag_slots_close(&slots);
    dag_close(&dag);
}

/* One node of each level fails in turn: its consumers are skipped, its submission failed, and so on outwards; what fails first in
   the program is named. */
static void failing_nodes(void **state)
{
    struct dag_slots slots;
    struct dag dag;
    (void)state;
    dag_open(&dag, nest(3, 4));
    dag_slots_open(&slots, dag.count + 1, 3, 50);
    for (uint32_t slot = 0; slot < dag.count; ++slot) {
        dag.fail[slot] = (int)slot + 1;
        dag.fail[(slot + 7) % dag.count] = 77;
        dag_expect(&dag);
        run_everywhere(&dag, &slots, slot);
        dag.fail[slot] = dag.fail[(slot + 7) % dag.count] = 0;
    }
    dag_slots_close(&slots);
    dag_close(&dag);
}

/* A submission behind a failed task is skipped with all that is inside; one beside it runs. */
static void skipped_submissions(void **state)
{
    struct image_builder *body = nest(1, 5), *outer = image_builder_create();
    struct dag_slots slots;
    struct dag dag;
    (void)state;
    uint32_t fails = plain(outer, 0, 0), skipped = image_builder_submit(outer, body, &fails, 1), after = plain(outer, 1, skipped);
    uint32_t runs = image_builder_submit(outer, body, NULL, 0);
    image_builder_submit(outer, body, &after, 1);
    plain(outer, 1, runs);
    image_builder_destroy(body);
    dag_open(&dag, outer);
    dag.fail[fails] = 5;
    dag_expect(&dag);
    dag_slots_open(&slots, dag.count + 1, 3, 50);
    run_everywhere(&dag, &slots, 0);
    assert_int_equal(dag.expected[skipped], DAG_SKIPPED);
    assert_int_equal(dag.expected[dag.task[skipped].inside], DAG_SKIPPED);
    assert_int_equal(dag.expected[runs], DAG_SUBMITS);
    dag_slots_close(&slots);
    dag_close(&dag);
}

/* Cancelled at a random moment: what did not start is skipped, with all that is inside; the next run is whole. */
static void cancelled_runs(void **state)
{
    struct dag_slots slots;
    struct dag dag;
    struct dag_shape shape = { .tasks = 150, .producers_max = 3, .window = 20, .noop_percent = 5, .submit_percent = 15, .depth = 2 };
    uint32_t skipped_some = 0;
    struct hbg__rng rng;
    (void)state;
    hbg__rng_seed(&rng, 17);
    dag_random(&dag, 24, &shape);
    dag.spin_pauses = 3;
    dag_slots_open(&slots, dag.count + 1, 3, 50);
    for (int round = 0; round < test_scaled(CANCELS); ++round) {
        struct hbg__workers *workers = pool[round % POOLS];
        struct hbg__launch_result result;
        struct test_launch launch;
        uint32_t mode = hbg__rng_below(&rng, 2) ? HBG__MODE_WAKE : HBG__MODE_ORDER;
        uint64_t until = hbg__clock_ns() + hbg__rng_below(&rng, 300000);
        dag_launch(&dag, workers, &slots, mode, &launch);
        while (hbg__clock_ns() < until) {}
        hbg__workers_cancel(workers);
        assert_true(hbg__workers_wait(workers, UINT64_MAX));
        hbg__workers_result(workers, &result);
        test_launch_close(&launch);
        const char *wrong = dag_check_cancelled(&dag, &result);
        if (wrong) fail_msg("round %d, mode %u: %s", round, mode, wrong);
        skipped_some += result.skipped > 0;
        dag_run(&dag, workers, &slots, mode, &result);
        wrong = dag_check(&dag, &result);
        if (wrong) fail_msg("after cancelled round %d: %s", round, wrong);
    }
    assert_true(skipped_some > 0);
    dag_slots_close(&slots);
    dag_close(&dag);
}

/* ---- what is wrong with an image ---- */

static struct hbg__task_record *record_in(const struct test_image *image, uint32_t task)
{
    return (struct hbg__task_record *)(uintptr_t)hbg__image_record(hbg__image_payload(image->head), task);
}

/* Inside of a submission two tasks wait for each other: the run says where. */
static void stalled_inside(void **state)
{
    struct image_builder *body = image_builder_create(), *outer = image_builder_create();
    struct dag_slots slots;
    struct dag dag;
    (void)state;
    uint32_t a = plain(body, 0, 0), b = plain(body, 0, 0), c = image_builder_task(body, 0, (uint32_t[]){ a, b }, 2, 0);
    image_builder_task(body, 0, (uint32_t[]){ c, a }, 2, 0);
    uint32_t first = plain(outer, 0, 0), submission = image_builder_submit(outer, body, &first, 1);
    image_builder_task(outer, 0, (uint32_t[]){ submission, first }, 2, 0);
    image_builder_destroy(body);
    dag_open(&dag, outer);
    record_in(&dag.image.definition[0], c)->producer[1] = 3;
    record_in(&dag.image.definition[0], 3)->flags |= HBG__TASK_QUERYABLE;
    dag_slots_open(&slots, dag.count + 1, 3, 50);
    for (int p = 0; p < POOLS; ++p) {
        struct hbg__workers *workers = dag_workers(WORKERS[p], 64, true, 50000000);
        struct hbg__launch_result result;
        assert_non_null(workers);
        dag_run(&dag, workers, &slots, HBG__MODE_WAKE, &result);
        assert_int_equal(result.status, HBG_E_STALLED);
        assert_non_null(strstr(result.text, "task 2 waits for task 1"));
        assert_non_null(strstr(result.text, "task 1, node 2 waits for node 3"));
        assert_non_null(strstr(result.text, "task 1, node 3 waits for node 2"));
        hbg__workers_destroy(workers);
    }
    dag_slots_close(&slots);
    dag_close(&dag);
}

/* Submissions that name nothing, activations that there are not, and ids inside that there are not end the run with a status. */
static void damaged_submissions(void **state)
{
    enum { NOTHING, ACTIVATION, SLOTS, ROOT, KERNEL, WHATS };
    (void)state;
    for (int p = 0; p < POOLS; ++p)
        for (int what = NOTHING; what < WHATS; ++what)
            for (uint32_t mode = HBG__MODE_WAKE; mode <= HBG__MODE_ORDER; mode += 2) {
                struct image_builder *body = nest(0, 3), *outer = image_builder_create();
                struct hbg__launch_result result;
                struct test_launch launch;
                struct dag_slots slots;
                struct dag dag;
                uint32_t submission = image_builder_submit(outer, body, &(uint32_t){ plain(outer, 0, 0) }, 1);
                image_builder_destroy(body);
                dag_open(&dag, outer);
                dag_slots_open(&slots, dag.count + 1, 3, 50);
                dag_launch_open(&dag, WORKERS[p], &slots, mode, &launch);
                const struct test_image *inside = &dag.image.definition[0];
                const unsigned char *payload = hbg__image_payload(dag.image.head);
                struct hbg__submission *place = (struct hbg__submission *)(uintptr_t)hbg__image_submission(payload, record_in(&dag.image, submission));
                if (what == NOTHING) launch.base[TEST_BASE_DEFINITION] = 0;
                else if (what == ACTIVATION) place->activation = 2;
                else if (what == SLOTS) ++place->slot_count;
                else if (what == ROOT) *(uint32_t *)(uintptr_t)hbg__image_at(hbg__image_payload(inside->head), inside->head->roots) = 4000000;
                else record_in(inside, 0)->kernel = 17;
                hbg__workers_launch(pool[p], &launch.launch);
                assert_true(hbg__workers_wait(pool[p], UINT64_MAX));
                hbg__workers_result(pool[p], &result);
                if (what != ROOT || mode == HBG__MODE_WAKE) assert_int_equal(result.status, HBG_E_IMAGE);
                if (what != ROOT) assert_int_equal(result.task, submission);
                if (what == KERNEL) assert_int_equal(result.activation, 1);
                if (what == KERNEL) assert_int_equal(result.node, 0);
                test_launch_close(&launch);
                dag_slots_close(&slots);
                dag_close(&dag);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs), cmocka_unit_test(empty_definitions), cmocka_unit_test(wide_bodies), cmocka_unit_test(nested_bodies),
        cmocka_unit_test(deep_bodies), cmocka_unit_test(many_submissions), cmocka_unit_test(queues_overflow), cmocka_unit_test(failing_nodes),
        cmocka_unit_test(skipped_submissions), cmocka_unit_test(cancelled_runs), cmocka_unit_test(stalled_inside),
        cmocka_unit_test(damaged_submissions)
    };
    return cmocka_run_group_tests(tests, open_pools, close_pools);
}
