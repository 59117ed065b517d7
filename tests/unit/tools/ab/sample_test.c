/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Median, autocorrelation and variance components against published values.
 *
 * Dyestuff: O. L. Davies (ed.), Statistical Methods in Research and Production, 1947: six batches of five yields, for which analyses
 * since then give 1764 between batches and 2451 inside. Luteinizing hormone: P. J. Diggle, Time Series, 1990, table A.1; .576 at lag 1.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "tools/ab/sample.h"

#define NEAR(got, wanted, off) assert_true(fabs((got) - (wanted)) <= (off))

static void medians(void **state)
{
    double odd[] = { 5, 1, 4 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };
    (void)state;

    assert_true(hbg__sample_median(odd, 3) == 4);
    assert_true(hbg__sample_median(even, 4) == 2.5);
    assert_true(hbg__sample_median(one, 1) == 7);
    assert_true(isnan(hbg__sample_variance(one, 1)));
    NEAR(hbg__sample_variance(even, 4), 5.0 / 3.0, 1e-15);
}

static void neighbours(void **state)
{
    static const double up[] = { 1, 2, 3, 4, 5 }, flat[] = { 2, 2, 2 }, hormone[] = {
        2.4, 2.4, 2.4, 2.2, 2.1, 1.5, 2.3, 2.3, 2.5, 2.0, 1.9, 1.7, 2.2, 1.8, 3.2, 3.2, 2.7, 2.2, 2.2, 1.9, 1.9, 1.8, 2.7, 3.0,
        2.3, 2.0, 2.0, 2.9, 2.9, 2.7, 2.7, 2.3, 2.6, 2.4, 1.8, 1.7, 1.5, 1.4, 2.1, 3.3, 3.5, 3.5, 3.1, 2.6, 2.1, 3.4, 3.0, 2.9,
    };
    (void)state;

    NEAR(hbg__sample_lag1(up, 5), .4, 1e-15);
    NEAR(hbg__sample_lag1(hormone, 48), .576, .0005);
    assert_true(isnan(hbg__sample_lag1(flat, 3)) && isnan(hbg__sample_lag1(up, 1)));
    NEAR(hbg__sample_effective(.815, 400), 41, .5);
    assert_true(hbg__sample_effective(-.3, 400) == 400);
}

static void components(void **state)
{
    static const double yield[6][5] = {
        { 1545, 1440, 1440, 1520, 1580 }, { 1540, 1555, 1490, 1560, 1495 }, { 1595, 1550, 1605, 1510, 1560 },
        { 1445, 1440, 1595, 1465, 1545 }, { 1595, 1630, 1515, 1635, 1625 }, { 1520, 1455, 1450, 1480, 1445 },
    };
    static const double alone[2] = { 3, 4 };
    struct variance_sums sums = { .inside = 0.0 }, none = { .inside = 0.0 };
    struct variance_parts parts;
    (void)state;

    for (int i = 0; i < 6; i++)
        hbg__variance_add(&sums, 0, yield[i], 5);
    parts = hbg__variance_divide(&sums);
    NEAR(parts.inside, 2451.25, 1e-6);
    NEAR(parts.between, 1764.05, 1e-6);
    NEAR(parts.correlation, 1764.05 / (1764.05 + 2451.25), 1e-9);
    NEAR(parts.design_effect, 1 + 4 * parts.correlation, 1e-12);

    hbg__variance_add(&none, 0, &alone[0], 1);                  /* one value a group: nothing is known of the inside */
    hbg__variance_add(&none, 1, &alone[1], 1);
    parts = hbg__variance_divide(&none);
    assert_true(isnan(parts.inside) && isnan(parts.between) && isnan(parts.design_effect));
}

/* The difference of the arms is no variance of the groups. */
static void arms_apart(void **state)
{
    struct variance_sums near = { .inside = 0.0 }, far = { .inside = 0.0 };
    (void)state;

    for (int i = 0; i < 8; i++) {
        double x[3] = { 1 + .1 * (i / 2), 1.2, 1.1 }, y[3] = { x[0] + 50 * (i % 2), x[1] + 50 * (i % 2), x[2] + 50 * (i % 2) };
        hbg__variance_add(&near, i % 2, x, 3);
        hbg__variance_add(&far, i % 2, y, 3);
    }
    NEAR(hbg__variance_divide(&near).between, hbg__variance_divide(&far).between, 1e-9);
    NEAR(hbg__variance_divide(&near).inside, hbg__variance_divide(&far).inside, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians), cmocka_unit_test(neighbours), cmocka_unit_test(components), cmocka_unit_test(arms_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
