/* SPDX-License-Identifier: Apache-2.0 */
/* rng_test.c - the sequence of a seed is fixed, ranges are kept and evenly filled. */
#include "base/rng.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static void sequences_are_fixed(void **state)
{
    (void)state;
    uint64_t split = 0;
    assert_true(hbg__rng_split(&split) == UINT64_C(0xe220a8397b1dcdaf));    /* published first values of splitmix64 from 0 */
    assert_true(hbg__rng_split(&split) == UINT64_C(0x6e789e6aa1b965f4));

    struct hbg__rng rng = { { 1, 2, 3, 4 } };
    assert_true(hbg__rng_next(&rng) == 11520);              /* published first values of xoshiro256** from 1 2 3 4 */
    assert_true(hbg__rng_next(&rng) == 0);
    assert_true(hbg__rng_next(&rng) == 1509978240);
    assert_true(hbg__rng_next(&rng) == UINT64_C(1215971899390074240));

    struct hbg__rng a, b, c;
    hbg__rng_seed(&a, 42);
    hbg__rng_seed(&b, 42);
    hbg__rng_seed(&c, 43);
    int differing = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t x = hbg__rng_next(&a);
        assert_true(x == hbg__rng_next(&b));
        differing += x != hbg__rng_next(&c);
    }
    assert_int_equal(differing, 100);
}

static void ranges_are_evenly_filled(void **state)
{
    (void)state;
    struct hbg__rng rng;
    int seen[7] = { 0 };
    hbg__rng_seed(&rng, 1);
    for (int i = 0; i < 70000; i++) {
        int64_t x = hbg__rng_between(&rng, -3, 3);
        assert_in_range(x + 3, 0, 6);
        seen[x + 3]++;
    }
    for (int i = 0; i < 7; i++) assert_in_range(seen[i], 9500, 10500);      /* 5 standard deviations */
    assert_int_equal(hbg__rng_below(&rng, 1), 0);
    for (int i = 0; i < 1000; i++) assert_true(hbg__rng_below(&rng, (UINT64_C(1) << 63) + 1) <= UINT64_C(1) << 63);
}

static void doubles_lie_in_the_unit_interval(void **state)
{
    (void)state;
    struct hbg__rng rng;
    double sum = 0;
    hbg__rng_seed(&rng, 2);
    for (int i = 0; i < 100000; i++) {
        double x = hbg__rng_f64(&rng);
        assert_true(x >= 0 && x < 1);
        sum += x;
    }
    assert_true(sum > 49500 && sum < 50500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_are_fixed),
        cmocka_unit_test(ranges_are_evenly_filled),
        cmocka_unit_test(doubles_lie_in_the_unit_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
