/* SPDX-License-Identifier: Apache-2.0 */
/* definition_test.c - the store of definitions: what is beyond the budget, or too much of a key, goes in the order of last uses. */
#include "graph/definition.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { MANY = 1000 };

static struct hbg__memory memory;
static struct hbg__definitions store;
static struct hbg__definition *made[MANY];

static void open_store(uint64_t budget_bytes)
{
    struct hbg__buffer_ops none = { .drop = NULL };
    assert_true(hbg__memory_init(&memory, NULL));
    hbg__definitions_open(&store, &memory, &none, budget_bytes);
}

/* All go that are left, and with them all memory. */
static void close_store(void)
{
    hbg__definitions_close(&store);
    assert_int_equal(hbg__memory_live_bytes(&memory), 0);
}

static struct hbg__definition_key key_of(const int *number)
{
    return (struct hbg__definition_key){ .hash = (uint64_t)*number % 50 + 1, .name = "body", .params = number, .params_size = sizeof *number };
}

/* Kept, and pinned as the caller does who submits it. */
static struct hbg__definition *keep(int number)
{
    struct hbg__definition_key key = key_of(&number);
    struct hbg__definition *d = hbg__definition_create(&store, &key, 0, 0, 0, 0, 0);
    assert_non_null(d);
    assert_true(hbg__definition_keep(d));
    return d;
}

/* How many there are of the key, by looking at each. */
static uint32_t count_of(int number)
{
    struct hbg__definition_key key = key_of(&number);
    uint32_t count = 0;
    for (struct hbg__definition *d = NULL; (d = hbg__definition_next(&store, &key, d)) != NULL;) count++;
    return count;
}

static bool is_there(const struct hbg__definition *wanted)
{
    for (const struct hbg__definition *d = store.newest; d; d = d->older)
        if (d == wanted) return true;
    return false;
}

/* What leaves is looked for among those that nobody names: of many that are named, none is met. */
static void a_budget_meets_none_that_is_pinned(void **state)
{
    (void)state;
    open_store(1);
    for (int i = 0; i < MANY; i++) {
        made[i] = keep(i);
        assert_null(store.idle_soonest);
    }
    assert_int_equal(store.count, MANY);
    for (int i = 0; i < MANY; i++) {
        hbg__definition_unpin(made[i]);
        assert_int_equal(store.count, MANY - 1 - i);
        assert_null(store.idle_soonest);
    }
    close_store();
}

/* As many as the budget holds stay, those whose use has ended last. One that was looked at is where it was; one that was used is not. */
static void the_order_is_that_of_last_uses(void **state)
{
    int third = 2;
    struct hbg__definition_key key = key_of(&third);
    (void)state;
    open_store(UINT64_MAX);
    for (int i = 0; i < 6; i++) made[i] = keep(i);
    for (int i = 5; i >= 0; i--) hbg__definition_unpin(made[i]);
    hbg__definition_pin(made[4]);
    assert_int_equal(count_of(2), 1);
    hbg__definition_unpin(made[4]);
    static const int order[] = { 5, 3, 2, 1, 0, 4 };
    const struct hbg__definition *d = store.idle_soonest;
    for (int i = 0; i < 6; i++, d = d->later) assert_ptr_equal(d, made[order[i]]);
    assert_null(d);

    struct hbg__definition *looked_at = hbg__definition_next(&store, &key, NULL);
    assert_ptr_equal(looked_at, made[2]);
    store.budget_bytes = store.used_bytes / 2;
    hbg__definition_unpin(keep(6));
    assert_int_equal(store.count, 3);
    assert_true(is_there(made[2]) && !is_there(made[3]) && !is_there(made[5]) && is_there(made[4]));
    hbg__definition_unpin(looked_at);
    hbg__definition_unpin(keep(7));
    assert_int_equal(store.count, 3);
    assert_false(is_there(made[2]));
    close_store();
}

static void a_key_has_so_many_definitions_and_no_more(void **state)
{
    (void)state;
    open_store(0);
    hbg__definition_unpin(keep(1));
    hbg__definition_unpin(keep(51));                    /* of the same hash */
    hbg__definition_unpin(keep(57));                    /* of that of 7 */
    for (int i = 0; i < MANY; i++) {
        made[i] = keep(7);
        hbg__definition_unpin(made[i]);
        assert_int_equal(count_of(7), i < HBG__DEFINITIONS_OF_KEY ? i + 1 : HBG__DEFINITIONS_OF_KEY);
        if (i >= HBG__DEFINITIONS_OF_KEY + 1) assert_true(is_there(made[1]));
        if (i < HBG__DEFINITIONS_OF_KEY - 1) continue;
        hbg__definition_pin(made[1]);                   /* it is used again and again */
        hbg__definition_unpin(made[1]);
    }
    for (int i = MANY - HBG__DEFINITIONS_OF_KEY + 1; i < MANY; i++) assert_true(is_there(made[i]));
    assert_int_equal(count_of(1), 1);
    assert_int_equal(count_of(51), 1);
    assert_int_equal(count_of(57), 1);
    close_store();
}

/* Those that a build has submitted stay while it does, however many; when others come then, no more than so many are left. A mark stays, too. */
static void what_is_pinned_is_not_too_much(void **state)
{
    (void)state;
    open_store(0);
    struct hbg__definition *mark = keep(7);
    mark->in_place = true;
    hbg__definition_unpin(mark);
    for (int i = 0; i < 100; i++) made[i] = keep(7);
    assert_int_equal(count_of(7), 101);
    for (int i = 0; i < 90; i++) hbg__definition_unpin(made[i]);
    assert_int_equal(count_of(7), 101);
    struct hbg__definition *one_more = keep(7);
    assert_int_equal(count_of(7), HBG__DEFINITIONS_OF_KEY + 1);
    for (int i = 0; i < 100; i++) assert_int_equal(is_there(made[i]), i >= 101 - HBG__DEFINITIONS_OF_KEY);
    assert_true(is_there(mark) && is_there(one_more));
    for (int i = 90; i < 100; i++) hbg__definition_unpin(made[i]);
    hbg__definition_unpin(one_more);
    close_store();
}

/* The table has grown several times: of each key the newest is still found first. */
static void the_newest_of_a_key_is_found_first(void **state)
{
    (void)state;
    open_store(0);
    for (int i = 0; i < MANY; i++) made[i] = keep(i / 4);
    for (int i = 0; i < MANY; i += 4) {
        int number = i / 4;
        struct hbg__definition_key key = key_of(&number);
        struct hbg__definition *d = NULL;
        for (int k = 3; k >= 0; k--) assert_ptr_equal(d = hbg__definition_next(&store, &key, d), made[i + k]);
        assert_null(hbg__definition_next(&store, &key, d));
    }
    for (int i = 0; i < MANY; i++) hbg__definition_unpin(made[i]);
    close_store();
}

/* Each thing by which building again may submit something else, alone, and one definition inside another. */
static void what_depends_on_the_store(void **state)
{
    (void)state;
    open_store(0);
    struct hbg__definition *d = keep(1);
    struct hbg__named named[] = { { .kind = HBG__NAMED_BUFFER }, { .kind = HBG__NAMED_DEFINITION, .definition = d } };
    struct hbg__recording recording = { .named = named, .named_count = 2 };
    assert_false(hbg__depends_on_store(&recording));
    recording.bodies_in_place = 1;
    assert_true(hbg__depends_on_store(&recording));
    recording.bodies_in_place = 0;
    d->single = "for this test";
    assert_true(hbg__depends_on_store(&recording));
    d->single = NULL;
    bool *const each[] = { &d->wholes, &d->heap_was_full, &d->depends_on_store };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        *each[i] = true;
        assert_true(hbg__depends_on_store(&recording));
        *each[i] = false;
    }
    assert_false(hbg__depends_on_store(&recording));
    hbg__definition_unpin(d);
    close_store();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_budget_meets_none_that_is_pinned), cmocka_unit_test(the_order_is_that_of_last_uses),
        cmocka_unit_test(a_key_has_so_many_definitions_and_no_more), cmocka_unit_test(what_is_pinned_is_not_too_much),
        cmocka_unit_test(the_newest_of_a_key_is_found_first), cmocka_unit_test(what_depends_on_the_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
