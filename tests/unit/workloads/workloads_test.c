/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several workloads share: rounding to bf16, cells, largest values.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "workloads/workloads.h"

static float value_of(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &wide, sizeof value);
    return value;
}

/* every bf16 is itself; halfway between two it is the even one, and beside that the nearer one */
static void bf16(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x7f80; bits++) {
        float value = value_of((uint16_t)bits), next = value_of((uint16_t)(bits + 1)), half;
        uint32_t wide = bits << 16 | 0x8000;
        uint16_t even = (uint16_t)(bits + (bits & 1));
        memcpy(&half, &wide, sizeof half);
        assert_int_equal(workload_bf16(value), bits);
        assert_int_equal(workload_bf16(-value), bits | 0x8000);
        assert_int_equal(workload_bf16(half), even);
        assert_int_equal(workload_bf16(nextafterf(half, 0.0f)), bits);
        assert_int_equal(workload_bf16(nextafterf(half, INFINITY)), bits + 1);
        assert_true(next > value);
    }
}

static void cells(void **state)
{
    (void)state;
    assert_int_equal(workload_cells(0, 3), 0);
    assert_int_equal(workload_cells(1, 3), 1);
    assert_int_equal(workload_cells(3, 3), 1);
    assert_int_equal(workload_cells(4, 3), 2);
    assert_int_equal(workload_cells(INT64_MAX, 1), INT64_MAX);
    assert_int_equal(workload_cells(INT64_MAX, INT64_MAX), 1);
}

static void largest(void **state)
{
    const float data[] = { 1.0f, -3.0f, 2.0f };
    (void)state;

    assert_true(workload_largest_f32(data, 3) == 3.0);
    assert_true(workload_largest_f32(data, 1) == 1.0);
    assert_true(workload_largest_f32(data, 0) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(bf16), cmocka_unit_test(cells), cmocka_unit_test(largest) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
