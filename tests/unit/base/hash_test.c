/* SPDX-License-Identifier: Apache-2.0 */
/* hash_test.c - every input bit reaches the output, and no two of many near inputs meet. */
#include "base/hash.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void assert_all_differ(uint64_t *hash, size_t count)
{
    qsort(hash, count, sizeof *hash, compare_u64);
    for (size_t i = 1; i < count; i++) assert_true(hash[i] != hash[i - 1]);
}

static void every_bit_flips_about_half_of_the_output(void **state)
{
    (void)state;
    unsigned char data[40];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 37);
    uint64_t before = hbg__hash_bytes(data, sizeof data, 0);
    for (size_t bit = 0; bit < sizeof data * 8; bit++) {
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        int flips = __builtin_popcountll(before ^ hbg__hash_bytes(data, sizeof data, 0));
        assert_in_range(flips, 10, 54);
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    for (int bit = 0; bit < 64; bit++) {
        assert_in_range(__builtin_popcountll(hbg__hash_u64(12345) ^ hbg__hash_u64(12345 ^ UINT64_C(1) << bit)), 10, 54);
        assert_in_range(__builtin_popcountll(hbg__hash_join(9, 12345) ^ hbg__hash_join(9, 12345 ^ UINT64_C(1) << bit)), 10, 54);
    }
}

static void near_inputs_differ(void **state)
{
    (void)state;
    enum { COUNT = 300 * 3 + 64 * 64 };
    static uint64_t hash[COUNT];
    static unsigned char zeros[300], ones[300], two_bits[16];
    size_t count = 0;
    memset(ones, 0xff, sizeof ones);
    for (size_t length = 1; length <= 300; length++) {
        hash[count++] = hbg__hash_bytes(zeros, length, 0);      /* lengths of the same bytes */
        hash[count++] = hbg__hash_bytes(ones, length, 0);
        hash[count++] = hbg__hash_bytes(zeros, length, 1);      /* seeds */
    }
    for (int i = 0; i < 64; i++) {
        for (int k = 64; k < 128; k++) {
            memset(two_bits, 0, sizeof two_bits);
            two_bits[i / 8] ^= (unsigned char)(1u << i % 8);
            two_bits[k / 8] ^= (unsigned char)(1u << k % 8);
            hash[count++] = hbg__hash_bytes(two_bits, sizeof two_bits, 0);
        }
    }
    assert_int_equal(count, COUNT);
    assert_all_differ(hash, count);
}

static void order_of_a_sequence_matters(void **state)
{
    (void)state;
    static uint64_t hash[100 * 100];
    for (uint64_t a = 0; a < 100; a++) {
        for (uint64_t b = 0; b < 100; b++) hash[a * 100 + b] = hbg__hash_join(hbg__hash_join(0, a), b);
    }
    assert_all_differ(hash, 100 * 100);
}

static void address_and_alignment_do_not_matter(void **state)
{
    (void)state;
    unsigned char data[64];
    for (size_t shift = 0; shift < 9; shift++) {
        memset(data, (int)shift, sizeof data);
        for (size_t i = 0; i < 37; i++) data[shift + i] = (unsigned char)i;
        static uint64_t first;
        uint64_t hash = hbg__hash_bytes(data + shift, 37, 5);
        if (shift == 0) first = hash;
        assert_true(hash == first);
    }
    assert_true(hbg__hash_bytes(NULL, 0, 0) != hbg__hash_bytes(NULL, 0, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_flips_about_half_of_the_output),
        cmocka_unit_test(near_inputs_differ),
        cmocka_unit_test(order_of_a_sequence_matters),
        cmocka_unit_test(address_and_alignment_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
