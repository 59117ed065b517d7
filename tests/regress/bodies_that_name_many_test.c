/* SPDX-License-Identifier: Apache-2.0 */
/* A body in which bodies of more than 65,535 keys are submitted, at whatever depth, was refused with HBG_E_LIMIT once it was recorded, although its
 * tasks are fine: what a body names was counted like the arguments of a task. And where base tables were full, the sentence named tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

enum { KEYS = 70000, PART = 3500, CELLS = 64 };

static void one_key(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1 + *(const int32_t *)params % 3));
}

static void part_of_them(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int32_t from = *(const int32_t *)params;
    for (int32_t i = from; i < from + PART; i++) hbg_subgraph(g, HBG_KEY("one", i), one_key, HBG_ARGS(hbg_inout(AT(hbg_args_region(args, 0), i % CELLS))));
}

static void all_of_them(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int32_t from = 0; from < KEYS; from += PART) hbg_subgraph(g, HBG_KEY("part", from), part_of_them, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void build_all_of_them(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, KEY("all"), all_of_them, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void what_is_inside_is_not_counted_as_arguments(void **state)
{
    struct hbg_device *device = device_open("cpu:workers=2", NULL);
    struct hbg_program *program = PROGRAM(device, build_all_of_them, steps);
    int32_t x[CELLS] = { 0 }, expected[CELLS] = { 0 };
    (void)state;
    for (int run = 0; run < 2; run++) {             /* recorded, then found */
        for (int32_t i = 0; i < KEYS; i++) expected[i % CELLS] += 1 + i % 3;
        struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, CELLS))));
        assert_int_equal(result.tasks, KEYS);
        assert_memory_equal(x, expected, sizeof x);
    }
    hbg_program_destroy(program);
    device_close(device);
}

/* What a body takes from around its list counts as little. Such a body is recorded in the first run and in place in the second. */
static struct hbg_region outside[KEYS];

static void into_all(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int32_t i = 0; i < KEYS; i++) hbg_submit(g, SCALE, hbg_in(hbg_args_region(args, 0)), hbg_out(outside[i]), hbg_i32(i));
}

static void build_into_all(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    for (int32_t i = 0; i < KEYS; i++) outside[i] = hbg_alloc(g, HBG_I32, HBG_SHAPE(1));
    hbg_subgraph(g, KEY("into all"), into_all, HBG_ARGS(hbg_in(AT(x, 0))));
    hbg_submit(g, COPY, hbg_in(outside[1]), hbg_out(AT(x, 1)));
    hbg_submit(g, COPY, hbg_in(outside[KEYS - 1]), hbg_out(AT(x, 2)));
}

static void what_is_captured_is_not_counted_as_arguments(void **state)
{
    struct hbg_device *device = device_open("cpu:workers=2", NULL);
    struct hbg_program *program = PROGRAM(device, build_into_all, steps);
    (void)state;
    for (int run = 0; run < 2; run++) {
        int32_t x[3] = { 5, 0, 0 };
        struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 3))));
        assert_int_equal(result.tasks, KEYS + 2);
        assert_int_equal(result.subgraphs_in_place, run);
        assert_int_equal(x[1], 5);
        assert_int_equal(x[2], 5 * (KEYS - 1));
    }
    hbg_program_destroy(program);
    device_close(device);
}

/* ---- base tables ---- */

enum { LONG_LIST = 60000, SIXTEEN = 16, LEVELS = 4 };

static void first_of_many(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void submit_many(struct hbg_graph *g, struct hbg_arg x, uint64_t count)
{
    static struct hbg_arg list[LONG_LIST];
    for (int i = 0; i < LONG_LIST; i++) list[i] = x;
    hbg_subgraph(g, KEY("first of many"), first_of_many, (struct hbg_arg_list){ list, count });
}

/* Of the level below, and of a long list in the lowest: many base tables, few records. */
static void sixteen(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_arg x = hbg_inout(hbg_args_region(args, 0));
    int32_t below = *(const int32_t *)params - 1;
    for (int i = 0; i < SIXTEEN; i++) {
        if (below < 0) submit_many(g, x, LONG_LIST);
        else hbg_subgraph(g, HBG_KEY("sixteen", below), sixteen, HBG_ARGS(x));
    }
}

static void nothing(struct hbg_graph *g, const struct hbg_args *args, const void *params) { (void)g; (void)args; (void)params; }

static void build_until_full(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_arg x = hbg_inout(AT(hbg_args_region(args, 0), 0));
    uint64_t left = UINT32_MAX, inside = 3 + LONG_LIST, each[LEVELS];
    (void)params;
    for (uint64_t level = 0; level < LEVELS; level++) inside = each[level] = 3 + 1 + (level + 1) + SIXTEEN * inside;    /* its list, what it names, those inside */
    for (int32_t level = LEVELS - 1; level >= 0; level--)
        for (; left >= each[level]; left -= each[level]) hbg_subgraph(g, HBG_KEY("sixteen", level), sixteen, HBG_ARGS(x));
    for (; left >= 3 + LONG_LIST; left -= 3 + LONG_LIST) submit_many(g, x, LONG_LIST);
    submit_many(g, x, left - 3);
    assert_int_equal(hbg_graph_error(g, NULL), HBG_OK);
    hbg_subgraph(g, KEY("nothing"), nothing, HBG_NO_ARGS);
}

static void full_base_tables_are_named(void **state)
{
    struct hbg_device *device = device_open("cpu:workers=1", NULL);
    int32_t x[1] = { 0 };
    struct hbg_program *program = PROGRAM(device, build_until_full, steps);
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_LIMIT);
    (void)state;
    assert_string_equal(error.name, "entries of base tables of one graph");
    if (!strstr(error.text, "pass bodies fewer, larger regions, or split the graph")) fail_msg("%s", error.text);
    assert_int_equal(error.limit, UINT32_MAX);
    assert_int_equal(error.detail, UINT32_MAX);
    assert_int_equal(error.requested, 3);
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_inside_is_not_counted_as_arguments),
        cmocka_unit_test(what_is_captured_is_not_counted_as_arguments),
        cmocka_unit_test(full_base_tables_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
