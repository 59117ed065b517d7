/* SPDX-License-Identifier: Apache-2.0 */
/* map_u64_test.c - random histories against a plain array, removal in full clusters, and the wrap of the generation. */
#include "base/map_u64.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/allocator.h"

#include "base/rng.h"

enum { KEYS = 200 };

/* Key k of the oracle; some are extreme. */
static uint64_t key_of(size_t k) { return k == 0 ? 0 : k == 1 ? UINT64_MAX : (uint64_t)k << (k % 2 ? 40 : 0); }

static void histories_agree_with_an_array(void **state)
{
    (void)state;
    struct hbg__memory memory;
    assert_true(hbg__memory_init(&memory, NULL));
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct hbg__map_u64 map;
        struct hbg__rng rng;
        bool present[KEYS] = { false };
        uint64_t value[KEYS] = { 0 };
        size_t count = 0;
        hbg__map_u64_init(&map, &memory);
        hbg__rng_seed(&rng, seed);
        if (seed % 2) map.generation = UINT32_MAX - 3;
        for (int step = 0; step < 4000; step++) {
            size_t k = (size_t)hbg__rng_below(&rng, KEYS);
            uint64_t what = hbg__rng_below(&rng, 1000);
            if (what < 500) {
                bool added;
                uint64_t *place = hbg__map_u64_add(&map, key_of(k), &added);
                assert_non_null(place);
                assert_int_equal(added, !present[k]);
                assert_true(*place == (present[k] ? value[k] : 0));
                count += added;
                present[k] = true;
                *place = value[k] = hbg__rng_next(&rng);
            } else if (what < 800) {
                assert_int_equal(hbg__map_u64_remove(&map, key_of(k)), present[k]);
                count -= present[k];
                present[k] = false;
            } else if (what < 995) {
                uint64_t *place = hbg__map_u64_find(&map, key_of(k));
                assert_int_equal(place != NULL, present[k]);
                if (place) assert_true(*place == value[k]);
            } else {
                hbg__map_u64_clear(&map);
                memset(present, 0, sizeof present);
                count = 0;
            }
            assert_int_equal(map.count, count);
        }
        hbg__map_u64_free(&map);
    }
    assert_int_equal(hbg__memory_live_bytes(&memory), 0);
}

static void keys_left_and_right_of_each_other_are_told_apart(void **state)
{
    (void)state;
    struct hbg__memory memory;
    struct hbg__map_u64 map;
    assert_true(hbg__memory_init(&memory, NULL));
    hbg__map_u64_init(&map, &memory);
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t *place = hbg__map_u64_add(&map, i * 64, NULL);
        assert_non_null(place);
        *place = i;
    }
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t *place = hbg__map_u64_find(&map, i * 64);
        assert_non_null(place);
        assert_int_equal(*place, i);
        assert_null(hbg__map_u64_find(&map, i * 64 + 1));
    }
    assert_true(map.count <= map.capacity / 4 * 3);
    hbg__map_u64_free(&map);
}

static void clearing_is_no_allocation_and_wraps(void **state)
{
    (void)state;
    struct hbg__memory memory;
    struct hbg__map_u64 map;
    assert_true(hbg__memory_init(&memory, NULL));
    hbg__map_u64_init(&map, &memory);
    assert_non_null(hbg__map_u64_add(&map, 7, NULL));       /* written in generation 1 */
    map.generation = UINT32_MAX;
    map.count = 0;
    assert_null(hbg__map_u64_find(&map, 7));
    assert_non_null(hbg__map_u64_add(&map, 8, NULL));
    uint64_t calls = hbg__memory_allocations(&memory);
    hbg__map_u64_clear(&map);
    assert_int_equal(map.generation, 1);
    assert_non_null(hbg__map_u64_add(&map, 9, NULL));
    assert_null(hbg__map_u64_find(&map, 7));                /* generation 1 again, and still absent */
    assert_null(hbg__map_u64_find(&map, 8));
    assert_int_equal(hbg__memory_allocations(&memory), calls);
    hbg__map_u64_free(&map);
}

static void no_memory_leaves_the_map(void **state)
{
    (void)state;
    struct test_allocator allocator = TEST_ALLOCATOR;
    const struct hbg_allocator given = test_allocator_ops(&allocator);
    struct hbg__memory memory;
    struct hbg__map_u64 map;
    assert_true(hbg__memory_init(&memory, &given));
    hbg__map_u64_init(&map, &memory);
    test_allocator_fail(&allocator, 0, INT_MAX);
    assert_null(hbg__map_u64_add(&map, 1, NULL));
    assert_int_equal(map.count, 0);
    test_allocator_fail(&allocator, 1, INT_MAX);
    uint64_t key = 0;
    while (hbg__map_u64_add(&map, key, NULL)) key++;
    assert_int_equal(map.count, key);
    assert_int_equal(key, 12);
    bool added = true;
    assert_non_null(hbg__map_u64_add(&map, 3, &added));     /* a present key needs no room */
    assert_false(added);
    for (uint64_t k = 0; k < key; k++) assert_non_null(hbg__map_u64_find(&map, k));
    hbg__map_u64_free(&map);
    assert_int_equal(hbg__memory_live_bytes(&memory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histories_agree_with_an_array),
        cmocka_unit_test(keys_left_and_right_of_each_other_are_told_apart),
        cmocka_unit_test(clearing_is_no_allocation_and_wraps),
        cmocka_unit_test(no_memory_leaves_the_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
