/* SPDX-License-Identifier: Apache-2.0 */
/* clock_test.c - the clock goes forward, in nanoseconds; deadlines do not wrap. */
#include "base/clock.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <time.h>
#include <cmocka.h>

static void time_passes(void **state)
{
    (void)state;
    uint64_t before = hbg__clock_ns();
    nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
    uint64_t after = hbg__clock_ns();
    assert_true(after - before >= 2000000);
}

static void deadlines_do_not_wrap(void **state)
{
    (void)state;
    uint64_t before = hbg__clock_ns(), deadline = hbg__clock_after_ns(1000), after = hbg__clock_ns();
    assert_in_range(deadline, before + 1000, after + 1000);
    assert_true(hbg__clock_after_ns(UINT64_MAX) == UINT64_MAX);
    assert_true(hbg__clock_after_ns(UINT64_MAX - 1) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_passes),
        cmocka_unit_test(deadlines_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
