/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sign-flip test and the Hodges-Lehmann estimate against published values.
 *
 * Darwin's maize: R. A. Fisher, The Design of Experiments, section 21: of the 32,768 sums of 15 differences, 863 are at least as large as
 * the one observed. Depression scores: M. Hollander, D. A. Wolfe, Nonparametric Statistical Methods, example 3.1: the estimate is -.46.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "tools/ab/flip.h"

#define NEAR(got, wanted, off) assert_true(fabs((got) - (wanted)) <= (off))

static const double maize[15] = { 49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48 };

static void exact(void **state)
{
    static const double same[6] = { 1, 1, 1, 1, 1, 1 }, five[5] = { 2, 3, 1, 4, 2 }, one[1] = { 3 };
    (void)state;

    NEAR(hbg__flip_p(maize, 15, 1), 2 * 863 / 32768.0, 1e-15);
    NEAR(hbg__flip_p(same, 6, 1), 2 / 64.0, 1e-15);
    NEAR(hbg__flip_p(five, 5, 1), .0625, 1e-15);                /* five blocks cannot do better */
    assert_true(hbg__flip_p(one, 1, 1) == 1.0);
}

/* 21 differences are drawn for; the 15 and six zeros have the exact answer of the 15 alone. */
static void drawn(void **state)
{
    double many[21] = { 0 };
    (void)state;

    for (int i = 0; i < 15; i++)
        many[i] = maize[i];
    NEAR(hbg__flip_p(many, 21, 1), 2 * 863 / 32768.0, .0035);   /* five standard errors of 100,000 draws */
    assert_true(hbg__flip_p(many, 21, 1) == hbg__flip_p(many, 21, 1));
    assert_true(hbg__flip_p(many, 21, 1) != hbg__flip_p(many, 21, 2));
}

static void estimate(void **state)
{
    static const double before[9] = { 1.83, .50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 };
    static const double after[9] = { .878, .647, .598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 };
    double d[9];
    (void)state;

    for (int i = 0; i < 9; i++)
        d[i] = after[i] - before[i];
    NEAR(hbg__hodges_lehmann(d, 9), -.46, 1e-9);
    assert_true(hbg__hodges_lehmann(maize, 1) == 49);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(exact), cmocka_unit_test(drawn), cmocka_unit_test(estimate) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
