/* SPDX-License-Identifier: Apache-2.0 */
/* bits_test.c - rounding against plain loops, and the edges of 64 bits. */
#include "base/bits.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

static void powers_of_two(void **state)
{
    (void)state;
    assert_false(hbg__is_power_of_two(0));
    for (uint64_t x = 1; x < 5000; x++) {
        uint64_t power = 1;
        unsigned log2 = 0;
        while (power * 2 <= x) power *= 2, log2++;
        assert_int_equal(hbg__log2_floor(x), log2);
        assert_int_equal(hbg__is_power_of_two(x), power == x);
        assert_int_equal(hbg__ceil_power_of_two(x), power == x ? x : power * 2);
        unsigned lowest = 0;
        while (!(x >> lowest & 1)) lowest++;
        assert_int_equal(hbg__lowest_bit(x), lowest);
    }
    assert_int_equal(hbg__ceil_power_of_two(0), 1);
    assert_true(hbg__ceil_power_of_two((UINT64_C(1) << 63) - 1) == UINT64_C(1) << 63);
    assert_true(hbg__ceil_power_of_two(UINT64_C(1) << 63) == UINT64_C(1) << 63);
    assert_int_equal(hbg__log2_floor(UINT64_MAX), 63);
}

static void rounding(void **state)
{
    (void)state;
    for (uint64_t x = 0; x < 300; x++) {
        for (uint64_t to = 1; to <= 128; to *= 2) {
            assert_int_equal(hbg__round_up(x, to) % to, 0);
            assert_in_range(hbg__round_up(x, to), x, x + to - 1);
            assert_int_equal(hbg__round_down(x, to), x - x % to);
        }
        for (uint64_t by = 1; by < 40; by++) {
            uint64_t steps = hbg__div_up(x, by);
            assert_true(steps * by >= x);
            assert_true(steps == 0 || (steps - 1) * by < x);
        }
    }
    assert_true(hbg__div_up(UINT64_MAX, 2) == UINT64_C(1) << 63);
}

static void smaller_and_larger(void **state)
{
    (void)state;
    assert_true(hbg__min_i64(-1, 1) == -1 && hbg__max_i64(-1, 1) == 1);
    assert_true(hbg__min_u64(UINT64_MAX, 1) == 1 && hbg__max_u64(UINT64_MAX, 1) == UINT64_MAX);
}

static void overflow_is_noticed(void **state)
{
    (void)state;
    int64_t i;
    uint64_t u;
    assert_true(hbg__add_i64(INT64_MAX - 1, 1, &i) && i == INT64_MAX);
    assert_false(hbg__add_i64(INT64_MAX, 1, &i));
    assert_false(hbg__add_i64(INT64_MIN, -1, &i));
    assert_true(hbg__mul_i64(INT64_MIN, 1, &i) && i == INT64_MIN);
    assert_false(hbg__mul_i64(INT64_MIN, -1, &i));
    assert_false(hbg__mul_i64(INT64_C(1) << 32, INT64_C(1) << 31, &i));
    assert_true(hbg__add_u64(UINT64_MAX, 0, &u) && u == UINT64_MAX);
    assert_false(hbg__add_u64(UINT64_MAX, 1, &u));
    assert_false(hbg__mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 32, &u));
    assert_true(hbg__mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 31, &u) && u == UINT64_C(1) << 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_two),
        cmocka_unit_test(rounding),
        cmocka_unit_test(smaller_and_larger),
        cmocka_unit_test(overflow_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
