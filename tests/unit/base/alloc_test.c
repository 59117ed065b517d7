/* SPDX-License-Identifier: Apache-2.0 */
/* alloc_test.c - alignment, counting, and a user's allocator that sees every block come back as it went. */
#include "base/alloc.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A user's allocator: remembers one size and alignment a block, fails when `left` reaches 0. */
struct ledger { int left, live; size_t mismatches; struct { void *block; size_t size, align; } entry[16]; };

static void *ledger_alloc(void *user, size_t size_bytes, size_t align_bytes)
{
    struct ledger *ledger = user;
    void *block;
    if (ledger->left-- <= 0 || posix_memalign(&block, align_bytes < 8 ? 8 : align_bytes, size_bytes)) return NULL;
    for (int i = 0; i < 16; i++) {
        if (ledger->entry[i].block) continue;
        ledger->entry[i].block = block;
        ledger->entry[i].size = size_bytes;
        ledger->entry[i].align = align_bytes;
        ledger->live++;
        return block;
    }
    free(block);
    return NULL;
}

static void ledger_free(void *user, void *block, size_t size_bytes, size_t align_bytes)
{
    struct ledger *ledger = user;
    size_t found = 0;
    for (int i = 0; i < 16; i++) {
        if (ledger->entry[i].block != block) continue;
        found = ledger->entry[i].size == size_bytes && ledger->entry[i].align == align_bytes;
        ledger->entry[i].block = NULL;
        ledger->live--;
        break;
    }
    ledger->mismatches += !found;
    free(block);
}

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
    struct ledger ledger = { .left = 100 };
    struct hbg__memory memory;
    const struct hbg_allocator given = { ledger_alloc, ledger_free, &ledger };
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
    assert_int_equal(ledger.live, 1);
    hbg__free(&memory, text, 4, 32);
    assert_int_equal(ledger.live, 0);
    assert_int_equal(ledger.mismatches, 0);
    assert_int_equal(hbg__memory_allocations(&memory), 3);
}

static void failure_keeps_the_old_block_and_counts_nothing(void **state)
{
    (void)state;
    struct ledger ledger = { .left = 1 };
    struct hbg__memory memory;
    const struct hbg_allocator given = { ledger_alloc, ledger_free, &ledger };
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
    assert_int_equal(ledger.live, 0);
}

static void half_an_allocator_is_refused(void **state)
{
    (void)state;
    struct hbg__memory memory;
    assert_false(hbg__memory_init(&memory, &(struct hbg_allocator){ .alloc = ledger_alloc }));
    assert_false(hbg__memory_init(&memory, &(struct hbg_allocator){ .free = ledger_free }));
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
