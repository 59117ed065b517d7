/* SPDX-License-Identifier: Apache-2.0 */
/* launches_test.c - very many very short runs: entering, finishing, leaving and sleeping race as often as they can. */
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "support/dag.h"

#ifdef HBG_SANITIZED
enum { LAUNCHES = 4000 };
#else
enum { LAUNCHES = 50000 };
#endif
#define STALL_NS UINT64_C(20000000000)

/* One producer, one consumer: it runs once, whatever comes first, the completion or the consumer's look. */
static void two_tasks(void **state)
{
    struct dag_slots slots;
    (void)state;
    dag_slots_open(&slots, 8, 3, UINT32_MAX - LAUNCHES / 2);
    for (uint32_t workers = 1; workers <= 4; ++workers) {
        struct hbg__workers *pool = dag_workers(workers, 2, true, STALL_NS);
        struct image_builder *builder = image_builder_create();
        struct dag dag;
        assert_non_null(pool);
        image_builder_task(builder, 0, NULL, 0, 0);
        image_builder_task(builder, 0, NULL, 0, 0);
        image_builder_task(builder, 0, (uint32_t[]){ 0, 1 }, 2, 0);
        dag_open(&dag, builder);
        for (uint32_t i = 0; i < LAUNCHES; ++i) {
            struct hbg__launch_result result;
            dag_run(&dag, pool, &slots, 1 + i % 3, &result);
            const char *wrong = dag_check(&dag, &result);
            if (wrong) fail_msg("%u workers, launch %u: %s", workers, i, wrong);
            if (i % 1000 == 0) usleep(i % 3000);        /* long enough to fall asleep now and then */
        }
        dag_close(&dag);
        hbg__workers_destroy(pool);
    }
    dag_slots_close(&slots);
}

/* Nothing but noops, nothing at all, and one task, in turn. */
static void next_to_nothing(void **state)
{
    struct hbg__workers *pool = dag_workers(3, 2, true, STALL_NS);
    struct dag_shape shape[3] = { { .tasks = 0 }, { .tasks = 1 }, { .tasks = 20, .producers_max = 3, .noop_percent = 100 } };
    struct dag_slots slots;
    struct dag dag[3];
    (void)state;
    assert_non_null(pool);
    dag_slots_open(&slots, 20, 3, 1);
    for (int i = 0; i < 3; ++i) dag_random(&dag[i], 5, &shape[i]);
    for (uint32_t i = 0; i < LAUNCHES; ++i) {
        struct hbg__launch_result result;
        dag_run(&dag[i % 3], pool, &slots, 1 + i % 2, &result);
        assert_null(dag_check(&dag[i % 3], &result));
    }
    for (int i = 0; i < 3; ++i) dag_close(&dag[i]);
    dag_slots_close(&slots);
    hbg__workers_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(two_tasks), cmocka_unit_test(next_to_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
