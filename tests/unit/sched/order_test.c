/* SPDX-License-Identifier: Apache-2.0 */
/* order_test.c - in which order one worker runs what is ready, the wake-list way. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>

#include "support/dag.h"

enum { TASKS_MAX = 16 };
#define STALL_NS UINT64_C(5000000000)

static uint32_t order[TASKS_MAX], ran;

static int note_order(const struct hbg_task_view *t)
{
    if (ran < TASKS_MAX) order[ran] = t->task;
    ran++;
    return 0;
}

/* Task 0 frees `freed` tasks, and the first of these one more: `expected` is the order of all. */
static void runs_in_order(uint32_t freed, const uint32_t *expected)
{
    struct hbg_kernel kernel = HBG_KERNEL(0, note_order, NULL);
    struct hbg__workers *workers = dag_workers(1, 64, true, STALL_NS);
    struct image_builder *builder = image_builder_create();
    struct test_launch launch;
    assert_non_null(workers);
    image_builder_task(builder, 0, NULL, 0, 0);
    for (uint32_t i = 0; i < freed; ++i) image_builder_task(builder, 0, (uint32_t[]){ 0 }, 1, 0);
    image_builder_task(builder, 0, (uint32_t[]){ 0, 1 }, 2, 0);
    struct test_image image = image_builder_finish(builder);
    test_launch_open(&launch, &image, &kernel, 1, 1);
    launch.launch.mode = HBG__MODE_WAKE;
    ran = 0;
    hbg__workers_launch(workers, &launch.launch);
    assert_true(hbg__workers_wait(workers, UINT64_MAX));
    assert_int_equal(ran, freed + 2);
    for (uint32_t i = 0; i < ran; ++i) assert_int_equal(order[i], expected[i]);
    test_launch_close(&launch);
    test_image_free(&image);
    image_builder_destroy(builder);
    hbg__workers_destroy(workers);
}

/* What was just freed comes after what waits and was submitted earlier, so that no part of the graph runs ahead. */
static void a_short_queue_goes_by_submission(void **state)
{
    static const uint32_t expected[] = { 0, 1, 2, 3 };
    (void)state;
    runs_in_order(2, expected);
}

/* With enough for all the graph is worked depth first. */
static void a_long_queue_goes_depth_first(void **state)
{
    static const uint32_t expected[] = { 0, 1, 7, 6, 5, 4, 3, 2 };
    (void)state;
    runs_in_order(6, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_short_queue_goes_by_submission), cmocka_unit_test(a_long_queue_goes_depth_first) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
