/* SPDX-License-Identifier: Apache-2.0 */
/* mode_test.c - which way an image is run. */
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "sched/mode.h"

static struct hbg__image_head head_of(uint32_t tasks, uint32_t near_count, uint32_t flags)
{
    struct hbg__image_head head;
    memset(&head, 0, sizeof head);
    head.task_count = tasks;
    head.near_count = near_count;
    head.flags = flags;
    return head;
}

static void one_worker_runs_in_order(void **state)
{
    struct hbg__image_head free_head = head_of(100, 0, HBG__IMAGE_IN_ORDER), bound_head = head_of(100, 0, 0);
    (void)state;
    assert_int_equal(hbg__mode_choose(&free_head, 1, 0), HBG__MODE_ORDER);
    assert_int_equal(hbg__mode_choose(&free_head, 1, 100), HBG__MODE_ORDER);
    assert_int_equal(hbg__mode_choose(&bound_head, 1, 100), HBG__MODE_WAKE);
    assert_int_equal(hbg__mode_choose(&bound_head, 2, 100), HBG__MODE_WAKE);
}

static void claim_needs_a_wide_graph_of_short_tasks(void **state)
{
    struct hbg__image_head wide = head_of(100, 49, HBG__IMAGE_IN_ORDER), narrow = head_of(100, 50, HBG__IMAGE_IN_ORDER);
    (void)state;
    assert_int_equal(hbg__mode_choose(&wide, 2, 0), HBG__MODE_WAKE);            /* nothing is known yet */
    assert_int_equal(hbg__mode_choose(&wide, 2, HBG__CLAIM_TASK_NS - 1), HBG__MODE_CLAIM);
    assert_int_equal(hbg__mode_choose(&wide, 2, HBG__CLAIM_TASK_NS), HBG__MODE_WAKE);
    assert_int_equal(hbg__mode_choose(&narrow, 2, 100), HBG__MODE_WAKE);
    wide.flags |= HBG__IMAGE_SUBGRAPHS;
    assert_int_equal(hbg__mode_choose(&wide, 2, 100), HBG__MODE_WAKE);
    assert_int_equal(hbg__mode_choose(&wide, 1, 100), HBG__MODE_ORDER);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(one_worker_runs_in_order), cmocka_unit_test(claim_needs_a_wide_graph_of_short_tasks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
