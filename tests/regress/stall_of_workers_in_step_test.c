/* SPDX-License-Identifier: Apache-2.0 */
/* stall_of_workers_in_step_test.c - a run that cannot go on is seen to be stalled although its workers wake at the same time.
 *
 * Resting workers had the same clock, and whoever looked for work started the time anew for all others: workers in step always found
 * each other looking, and the run was never ended. Here they take their steps in turn, with every length of a turn.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>

#include "support/sim_case.h"

static void ends(void **state)
{
    struct hbg__sim *sim = sim_case_device();
    (void)state;
    for (uint64_t seed = 0; seed < 9; ++seed) {             /* lengths of a turn: turn.c */
        for (uint32_t workers = 1; workers <= SIM_CASE_WORKERS; workers += workers < 9 ? 1 : 11) {
            struct sim_taste taste = { .tasks = 1 };
            struct sim_case c;
            sim_case_draw(&c, "in step", seed, &taste);
            sim_case_free(&c);
            struct image_builder *builder = image_builder_create();
            for (uint32_t i = 0; i < 3; ++i) image_builder_task(builder, 0, (uint32_t[]){ i - 1 }, i > 0, 0);
            dag_open(&c.dag, builder);
            dag_slots_open(&c.slots, 3, 1, 1000);
            struct hbg__task_record *first = (struct hbg__task_record *)(uintptr_t)hbg__image_record(hbg__image_payload(c.dag.image.head), 0);
            first->first_waiter = HBG__NIL;                 /* nobody wakes the second task */
            c.options.workers = workers;
            c.options.mode = HBG__SIM_ROUND;
            c.mode = HBG__MODE_WAKE;
            sim_case_start(&c, sim);
            sim_case_launch(&c, sim);
            assert_true(hbg__sim_wait(sim, UINT64_MAX));    /* the device stops the process when nobody gets on */
            hbg__sim_result(sim, &c.result);
            if (c.result.status != HBG_E_STALLED) sim_case_judge(&c, "it is not stalled");
            sim_case_end(&c);
            sim_case_free(&c);
        }
    }
    hbg__sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ends) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
