/* SPDX-License-Identifier: Apache-2.0 */
/* alloc_test.c - alignment, counting, and a user's allocator that sees every block come back as it went. */
#include "base/alloc.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "support/allocator.h"

static void blocks_are_aligned_and_counted(void **state)
{
    (void)state;
    struct hbg__memory memory;
    assert_true(hbg__memory_init(&memory, NULL));
    uint64_t live = 0, calls = 0;
    unsigned char *block[16];
    for (size_t i = 0, align = 1; i < 13; i++, align *= 2) {
        block[i] = hbg__alloc(&memory, 100 + i, align);
        assert_non_null(block[i]);
        assert_int_equal((uintptr_t)block[i] % align, 0);
        memset(block[i], 0xaa, 100 + i);
        live += 100 + i;
        assert_int_equal(hbg__memory_allocations(&memory), ++calls);
        assert_int_equal(hbg__memory_live_bytes(&memory), live);
    }
    for (size_t i = 0, align = 1; i < 13; i++, align *= 2) hbg__free(&memory, block[i], 100 + i, align);
    assert_int_equal(hbg__memory_live_bytes(&memory), 0);
    assert_int_equal(hbg__memory_allocations(&memory), calls);
    hbg__free(&memory, NULL, 8, 8);
    assert_int_equal(hbg__memory_live_bytes(&memory), 0);
}

static void zeroed_and_empty_blocks(void **state)
{
    (void)state;
    struct hbg__memory memory;
    assert_true(hbg__memory_init(&memory, NULL));
    unsigned char *block = hbg__alloc_zero(&memory, 333, 64), sum = 0;
    assert_non_null(block);
    for (int i = 0; i < 333; i++) sum |= block[i];
    assert_int_equal(sum, 0);
    hbg__free(&memory, block, 333, 64);

    void *first = hbg__alloc(&memory, 0, 8), *second = hbg__alloc(&memory, 0, 8);
    assert_non_null(first);
    assert_ptr_not_equal(first, second);
    hbg__free(&memory, first, 0, 8);
    hbg__free(&memory, second, 0, 8);
    assert_int_equal(hbg__memory_live_bytes(&memory), 0);

    struct hbg_counters *counters = HBG__NEW(&memory, struct hbg_counters);
    assert_non_null(counters);
    assert_int_equal(counters->runs, 0);
    HBG__DELETE(&memory, counters);
    assert_int_equal(hbg__memory_live_bytes(&memory), 0);
}

static void users_allocator_gets_back_what_it_gave(void **state)
{
    (void)state;
    struct test_allocator ledger = TEST_ALLOCATOR;
    struct hbg__memory memory;
    const struct hbg_allocator given = test_allocator_ops(&ledger);
    assert_true(hbg__memory_init(&memory, &given));
    char *text = hbg__alloc(&memory, 10, 32);
    assert_non_null(text);
    memcpy(text, "012345678", 10);
    text = hbg__realloc(&memory, text, 10, 1000, 32);
    assert_non_null(text);
    assert_string_equal(text, "012345678");
    text = hbg__realloc(&memory, text, 1000, 4, 32);
    assert_non_null(text);
    assert_memory_equal(text, "0123", 4);
    assert_int_equal(atomic_load(&ledger.live), 1);
    hbg__free(&memory, text, 4, 32);
    assert_int_equal(atomic_load(&ledger.live), 0);
    assert_int_equal(atomic_load(&ledger.wrong), 0);
    assert_int_equal(hbg__memory_allocations(&memory), 3);
}

static void failure_keeps_the_old_block_and_counts_nothing(void **state)
{
    (void)state;
    struct test_allocator ledger = TEST_ALLOCATOR;
    test_allocator_fail(&ledger, 1, INT_MAX);
    struct hbg__memory memory;
    const struct hbg_allocator given = test_allocator_ops(&ledger);
    assert_true(hbg__memory_init(&memory, &given));
    char *text = hbg__alloc(&memory, 4, 8);
    assert_non_null(text);
    memcpy(text, "abc", 4);
    assert_null(hbg__realloc(&memory, text, 4, 400, 8));
    assert_string_equal(text, "abc");
    assert_null(hbg__alloc_zero(&memory, 4, 8));
    assert_int_equal(hbg__memory_allocations(&memory), 1);
    assert_int_equal(hbg__memory_live_bytes(&memory), 4);
    hbg__free(&memory, text, 4, 8);
    assert_int_equal(atomic_load(&ledger.live), 0);
}

static void half_an_allocator_is_refused(void **state)
{
    (void)state;
    struct hbg__memory memory;
    struct test_allocator nobody = TEST_ALLOCATOR;
    const struct hbg_allocator given = test_allocator_ops(&nobody);
    assert_false(hbg__memory_init(&memory, &(struct hbg_allocator){ .alloc = given.alloc }));
    assert_false(hbg__memory_init(&memory, &(struct hbg_allocator){ .free = given.free }));
    assert_true(hbg__memory_init(&memory, &(struct hbg_allocator){ NULL, NULL, NULL }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_counted),
        cmocka_unit_test(zeroed_and_empty_blocks),
        cmocka_unit_test(users_allocator_gets_back_what_it_gave),
        cmocka_unit_test(failure_keeps_the_old_block_and_counts_nothing),
        cmocka_unit_test(half_an_allocator_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
