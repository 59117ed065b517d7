/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often the whole analysis raises a false alarm, and how often it finds what is there: 2,000 comparisons each, of one seed.
 *
 * The interval must be wrong in 3.5 to 6.5 % of comparisons, the verdict in no more than 6.5 %. Power: within five points of that of
 * the noncentral t.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "tools/ab/simulate.h"
#include "tools/ab/student.h"

enum { TRIALS = 2000 };

static void false_alarms(void **state)
{
    static const uint32_t blocks[] = { 6, 8, 10, 20 };
    (void)state;

    for (size_t i = 0; i < hbg__ab_scenario_count; i++) {
        for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
            struct ab_rates rates;

            if (blocks[k] != 10 && (i % 8 != 0 || (i && blocks[k] == 20)))      /* all scenarios at ten blocks, the first and the last at other counts */
                continue;
            rates = hbg__ab_simulate(&hbg__ab_scenarios[i], 0.0, blocks[k], TRIALS, 20261130);
            print_message("%-14s %2u blocks: interval %.2f %%, verdict %.2f %%\n", hbg__ab_scenarios[i].name, blocks[k], 100 * rates.interval,
                          100 * rates.verdict);
            if (blocks[k] >= 8)
                assert_true(rates.interval >= .035 && rates.interval <= .065);
            assert_true(rates.verdict <= (blocks[k] == 6 ? .04 : .065));
        }
    }
}

static void power(void **state)
{
    const struct ab_scenario *quiet = &hbg__ab_scenarios[0];
    double sd = hbg__ab_simulate(quiet, 0.0, 10, TRIALS, 1).sd;
    (void)state;

    for (double size = .4; size < 1.7; size += .4) {
        double found = hbg__ab_simulate(quiet, size * sd, 10, TRIALS, 2).interval, wanted = hbg__student_power(size * sqrt(10.0), 9, .05);
        print_message("effect of %.1f deviations: found in %.1f %%, noncentral t %.1f %%\n", size, 100 * found, 100 * wanted);
        assert_true(fabs(found - wanted) <= .05);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(false_alarms), cmocka_unit_test(power) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
