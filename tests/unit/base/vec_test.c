/* SPDX-License-Identifier: Apache-2.0 */
/* vec_test.c - contents survive growth, clearing keeps the memory, failures change nothing. */
#include "base/vec.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/allocator.h"

struct triple { uint32_t a; uint64_t b; uint16_t c; };

static void elements_survive_growth(void **state)
{
    (void)state;
    struct hbg__memory memory;
    assert_true(hbg__memory_init(&memory, NULL));
    struct { HBG__VEC(struct triple); } v = { 0 };
    for (uint32_t i = 0; i < 5000; i++) {
        assert_true(hbg__vec_push(&memory, &v, ((struct triple){ i, (uint64_t)i * i, (uint16_t)i })));
        assert_int_equal(v.count, i + 1);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        assert_int_equal(v.at[i].a, i);
        assert_int_equal(v.at[i].b, (uint64_t)i * i);
        assert_int_equal(v.at[i].c, (uint16_t)i);
    }
    assert_true(hbg__memory_allocations(&memory) <= 11);      /* doubling: 8, 16, .. 8192 */
    assert_int_equal(hbg__vec_pop(&v).a, 4999);
    assert_int_equal(v.count, 4999);
    hbg__vec_free(&memory, &v);
    assert_null(v.at);
    assert_int_equal(v.capacity, 0);
    assert_int_equal(hbg__memory_live_bytes(&memory), 0);
}

static void cleared_vectors_allocate_no_more(void **state)
{
    (void)state;
    struct hbg__memory memory;
    assert_true(hbg__memory_init(&memory, NULL));
    struct { HBG__VEC(char); } v = { 0 };
    assert_true(hbg__vec_reserve(&memory, &v, 1000));
    assert_true(v.capacity >= 1000);
    for (int round = 0; round < 3; round++) {
        char *at = hbg__vec_extend(&memory, &v, 500);
        assert_ptr_equal(at, v.at);
        memset(at, 'a' + round, 500);
        at = hbg__vec_extend(&memory, &v, 500);
        assert_ptr_equal(at, v.at + 500);
        hbg__vec_clear(&v);
        assert_int_equal(v.count, 0);
    }
    assert_int_equal(hbg__memory_allocations(&memory), 1);
    hbg__vec_free(&memory, &v);
}

static void no_memory_changes_nothing(void **state)
{
    (void)state;
    struct test_allocator allocator = TEST_ALLOCATOR;
    const struct hbg_allocator given = test_allocator_ops(&allocator);
    struct hbg__memory memory;
    assert_true(hbg__memory_init(&memory, &given));
    struct { HBG__VEC(uint64_t); } v = { 0 };
    test_allocator_fail(&allocator, 1, INT_MAX);
    for (uint64_t i = 0; i < 8; i++) assert_true(hbg__vec_push(&memory, &v, i));
    assert_false(hbg__vec_push(&memory, &v, 8));
    assert_null(hbg__vec_extend(&memory, &v, 5));
    assert_int_equal(v.count, 8);
    assert_int_equal(v.capacity, 8);
    for (uint64_t i = 0; i < 8; i++) assert_int_equal(v.at[i], i);
    int calls = atomic_load(&allocator.calls);
    assert_false(hbg__vec_reserve(&memory, &v, SIZE_MAX / 8 + 1));
    assert_false(hbg__vec_reserve(&memory, &v, SIZE_MAX / 16 + 1));
    assert_int_equal(atomic_load(&allocator.calls), calls);         /* nobody was asked for a wrapped size */
    hbg__vec_free(&memory, &v);
    assert_int_equal(hbg__memory_live_bytes(&memory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_survive_growth),
        cmocka_unit_test(cleared_vectors_allocate_no_more),
        cmocka_unit_test(no_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
