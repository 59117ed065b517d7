/* SPDX-License-Identifier: Apache-2.0 */
/* known_test.c - definitions that a build knows: how many are met on the way to those of a key, and in which order. */
#include "graph/body.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

enum { MANY = 5000, OF_ONE = 5 };

static struct hbg__definition definition[MANY];

/* Definition i has the hash i / of_key + 1: so of each key there are of_key, one after the other. */
static void know_many(struct hbg_graph *g, uint32_t count, uint32_t of_key)
{
    hbg__known_begin(g);
    for (uint32_t i = 0; i < count; i++) {
        definition[i] = (struct hbg__definition){ .key.hash = i / of_key + 1 };
        assert_null(hbg__known_find(g->bodies, &definition[i]));
        const struct hbg__known *known = hbg__known_add(g, (struct hbg__known){ .definition = &definition[i], .base = i });
        assert_non_null(known);
        assert_ptr_equal(known, hbg__known_find(g->bodies, &definition[i]));
    }
}

/* Where many are known, those of other keys are not met. */
static void check_chains(const struct hbg_graph *g, uint32_t count, uint32_t of_key)
{
    for (uint32_t key = 0; key * of_key < count; key++) {
        uint32_t last = (key + 1) * of_key < count ? (key + 1) * of_key : count, met = 0;
        uint32_t i = hbg__known_newest(g->bodies, key + 1);
        for (; i; i = g->bodies->known[i - 1].older) assert_int_equal(i, last - met++);
        assert_int_equal(met, last - key * of_key);
    }
    assert_int_equal(hbg__known_newest(g->bodies, count + 1), 0);
}

static struct hbg_graph *graph(struct hbg__memory *memory)
{
    struct hbg_graph *g;
    assert_true(hbg__memory_init(memory, NULL));
    assert_int_equal(hbg__graph_create(memory, 1 << 20, &g), HBG_OK);
    return g;
}

static void one_of_many_keys_is_met_alone(void **state)
{
    struct hbg__memory memory;
    struct hbg_graph *g = graph(&memory);
    (void)state;
    know_many(g, MANY, 1);
    check_chains(g, MANY, 1);
    know_many(g, HBG__FEW_KNOWN + 1, 1);        /* the first that are many; nothing is left of what another build knew */
    check_chains(g, HBG__FEW_KNOWN + 1, 1);
    hbg__graph_destroy(g);
    assert_int_equal(hbg__memory_live_bytes(&memory), 0);
}

static void those_of_a_key_are_met_newest_first(void **state)
{
    struct hbg__memory memory;
    struct hbg_graph *g = graph(&memory);
    (void)state;
    know_many(g, MANY, OF_ONE);
    check_chains(g, MANY, OF_ONE);
    know_many(g, MANY, MANY);
    check_chains(g, MANY, MANY);
    hbg__graph_destroy(g);
    assert_int_equal(hbg__memory_live_bytes(&memory), 0);
}

/* All of them, of whatever key: keys are compared, and none is hashed. */
static void few_are_looked_through(void **state)
{
    struct hbg__memory memory;
    struct hbg_graph *g = graph(&memory);
    (void)state;
    for (uint32_t count = 0; count <= HBG__FEW_KNOWN; count++) {
        know_many(g, count, 1);
        uint32_t i = hbg__known_newest(g->bodies, 0), met = 0;
        for (; i; i = g->bodies->known[i - 1].older) assert_int_equal(i, count - met++);
        assert_int_equal(met, count);
    }
    hbg__graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_many_keys_is_met_alone), cmocka_unit_test(those_of_a_key_are_met_newest_first), cmocka_unit_test(few_are_looked_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
