/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Student's t against published values and closed forms.
 *
 * Quantiles: the usual tables, as in NIST/SEMATECH, e-Handbook of Statistical Methods, 1.3.6.7.2. Power: the examples of
 * power.t.test() in the documentation of R. Distribution: closed forms for 1 and 2 degrees of freedom.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "tools/ab/student.h"

#define NEAR(got, wanted, off) assert_true(fabs((got) - (wanted)) <= (off))

static void quantiles(void **state)
{
    static const struct { double p, df, t; } known[] = {
        { .975, 1, 12.7062 }, { .975, 2, 4.302653 }, { .975, 4, 2.776445 }, { .975, 5, 2.570582 }, { .975, 9, 2.262157 }, { .975, 19, 2.093024 },
        { .975, 29, 2.045230 }, { .95, 10, 1.812461 }, { .995, 5, 4.032143 }, { .9, 3, 1.637744 }, { .999, 8, 4.500791 }, { .975, 120, 1.979930 },
    };
    (void)state;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        NEAR(hbg__student_quantile(known[i].p, known[i].df), known[i].t, i ? 6e-7 : 6e-5);
        NEAR(hbg__student_quantile(1.0 - known[i].p, known[i].df), -known[i].t, i ? 6e-7 : 6e-5);
    }
    NEAR(hbg__student_quantile(.5, 7), 0.0, 1e-12);
    NEAR(hbg__student_quantile(.975, 1e7), 1.959964, 1e-6);
}

static void closed_forms(void **state)
{
    (void)state;
    for (double t = -30.0; t <= 30.0; t += 0.37) {
        NEAR(hbg__student_cdf(t, 1), 0.5 + atan(t) / M_PI, 1e-13);
        NEAR(hbg__student_cdf(t, 2), 0.5 + t / (2.0 * sqrt(2.0 + t * t)), 1e-13);
        NEAR(hbg__student_cdf(t, 11) + hbg__student_cdf(-t, 11), 1.0, 1e-14);
    }
    for (double x = 0.0; x <= 1.0; x += 0.125)
        NEAR(hbg__beta_inc(1, 1, x), x, 1e-14);
    NEAR(hbg__beta_inc(2, 3, 0.4), 0.5248, 1e-13);              /* the chance of at least 2 successes in 4 tries at 0.4 */
}

/* What power.t.test() gives: findings with the wrong sign are left out. */
static double upper(double shift, double df)
{
    return 1.0 - hbg__student_shifted_cdf(hbg__student_quantile(.975, df), df, shift);
}

static void powers(void **state)
{
    (void)state;
    for (double t = -3.0; t <= 3.0; t += 0.5)
        NEAR(hbg__student_shifted_cdf(t, 9, 0.0), hbg__student_cdf(t, 9), 1e-12);
    NEAR(hbg__student_power(0.0, 9, .05), .05, 1e-12);
    NEAR(upper(sqrt(20.0 / 2.0), 38), .8689528, 6e-8);                          /* n = 20, delta = 1 */
    NEAR(upper(sqrt(22.02110 / 2.0), 2 * (22.02110 - 1)), .90, 1e-6);           /* power = .90: n = 22.02110 */
    NEAR(hbg__student_power(.8 * sqrt(10.0), 9, .05), .60, .02);
    NEAR(hbg__student_power(.8 * sqrt(10.0), 9, .05), hbg__student_power(-.8 * sqrt(10.0), 9, .05), 1e-12);
    NEAR(hbg__student_power(40.0, 9, .05), 1.0, 1e-12);
}

/* The half widths, in deviations of a block, that a number of blocks gives: the table in docs/ab.md. */
static void half_widths(void **state)
{
    static const struct { int blocks; double half; } known[] = { { 6, 1.05 }, { 8, .84 }, { 10, .72 }, { 15, .55 }, { 20, .47 }, { 30, .37 }, { 40, .32 } };
    (void)state;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        NEAR(hbg__student_quantile(.975, known[i].blocks - 1) / sqrt(known[i].blocks), known[i].half, .005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles), cmocka_unit_test(closed_forms), cmocka_unit_test(powers), cmocka_unit_test(half_widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
