/* SPDX-License-Identifier: Apache-2.0 */
/* arena_test.c - arenas grow at both ends, keep what they hold when they move, and take any wish for address space. */
#include "base/arena.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

enum { MIB = 1 << 20 };

static void fill(struct hbg__arena *arena)
{
    for (size_t i = 0; i < arena->above; i += 4096) arena->origin[i] = (unsigned char)(i / 4096);
    for (size_t i = 4096; i <= arena->below; i += 4096) *(arena->origin - i) = (unsigned char)(i / 4096 + 1);
}

static void holds(const struct hbg__arena *arena, size_t below, size_t above)
{
    for (size_t i = 0; i < above; i += 4096) assert_int_equal(arena->origin[i], (unsigned char)(i / 4096));
    for (size_t i = 4096; i <= below; i += 4096) assert_int_equal(*(arena->origin - i), (unsigned char)(i / 4096 + 1));
}

static void both_ends_grow_and_move(void **state)
{
    struct hbg__arena arena;
    (void)state;
    assert_true(hbg__arena_open(&arena, MIB, true));
    assert_int_equal(arena.below + arena.above, 0);
    for (size_t size = 4096; size <= 16 * MIB; size *= 2) {         /* far beyond the reservation */
        size_t below = arena.below, above = arena.above;
        assert_true(hbg__arena_grow(&arena, size, 2 * size));
        assert_true(arena.below >= size && arena.above >= 2 * size);
        assert_int_equal((size_t)arena.origin % 4096, 0);
        holds(&arena, below, above);
        fill(&arena);
    }
    uint64_t growths = arena.growths;
    unsigned char *origin = arena.origin;
    assert_true(growths > 0);
    assert_true(hbg__arena_fit(&arena, 1, 1));                      /* there is room: nothing happens */
    assert_ptr_equal(arena.origin, origin);
    assert_int_equal(arena.growths, growths);
    hbg__arena_close(&arena);
    assert_null(arena.origin);
    hbg__arena_close(&arena);
}

static void any_wish_for_space(void **state)
{
    static const size_t wish[] = { 0, 1, 4095, MIB, (size_t)1 << 46, (size_t)1 << 62, SIZE_MAX / 2 + 1, SIZE_MAX - 4096, SIZE_MAX };
    (void)state;
    for (size_t i = 0; i < sizeof wish / sizeof *wish; i++) {
        struct hbg__arena arena;
        if (!hbg__arena_open(&arena, wish[i], i % 2)) fail_msg("%zu bytes are refused", wish[i]);
        assert_true(hbg__arena_grow(&arena, i % 2 ? 4096 : 0, 4096));
        fill(&arena);
        hbg__arena_close(&arena);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    struct hbg__arena arena;
    (void)state;
    assert_true(hbg__arena_open(&arena, MIB, false));
    assert_true(hbg__arena_grow(&arena, 0, 8192));
    fill(&arena);
    unsigned char *origin = arena.origin;
    assert_false(hbg__arena_grow(&arena, 0, SIZE_MAX / 2));         /* and nothing changed */
    assert_ptr_equal(arena.origin, origin);
    holds(&arena, 0, 8192);
    hbg__arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(both_ends_grow_and_move), cmocka_unit_test(any_wish_for_space),
                                        cmocka_unit_test(what_cannot_be_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
