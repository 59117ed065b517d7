/* SPDX-License-Identifier: Apache-2.0 */
/* definition_guards_test.c - what a later submission of a body has to meet: values that it looked at, shapes, types and access modes, data,
 * memory; for storage, definition_storage_test.c. Where it does not meet it, the body is called again; CASES 11. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

static int calls;                       /* of the body at hand */

/* ---- a scalar that the host computes with: CASES 11 ---- */

static void times_next(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    hbg_submit(g, SCALE, hbg_in(hbg_args_region(args, 0)), hbg_out(hbg_args_region(args, 1)), hbg_i32(hbg_args_get_i32(args, 2) + 1));
}

static void build_derived(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region in = hbg_args_region(args, 0), out = hbg_args_region(args, 1);
    static const int32_t k[] = { 1, 5, 1, 5, 5 };
    for (int i = 0; i < 5; i++) hbg_subgraph(g, KEY("next"), times_next, HBG_ARGS(hbg_in(AT(in, i)), hbg_out(AT(out, i)), hbg_i32(k[i])));
    struct hbg_task last = hbg_subgraph(g, KEY("next"), times_next, HBG_ARGS(hbg_in(AT(in, 5)), hbg_out(AT(out, 5)), hbg_args_scalar(args, 2)));
    hbg_subgraph(g, KEY("next"), times_next, HBG_ARGS(hbg_after(last), hbg_in(AT(in, 6)), hbg_after(last), hbg_out(AT(out, 6)), hbg_i32(5)));
}

static void a_value_that_was_looked_at_is_a_guard(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static const int32_t factor[] = { 2, 6, 2, 6, 6 };
    int32_t in[7] = { 10, 20, 30, 40, 50, 60, 70 }, out[7];
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build_derived, KERNEL_TABLE(steps), .pure = true });
    struct hbg_counters before = counters_of(device);
    calls = 0;
    for (int32_t k = 1; k <= 7; k += 2) {
        for (int again = 0; again < 2; again++) {
            struct hbg_result result = steps_run(program, HBG_ARGS(hbg_in(HOST_I32(in, 7)), hbg_out(HOST_I32(out, 7)), hbg_i32(k)));
            for (int i = 0; i < 5; i++) assert_int_equal(out[i], in[i] * factor[i]);
            assert_int_equal(out[5], 60 * (k + 1));
            assert_int_equal(out[6], 70 * 6);
            assert_int_equal(result.replayed, again);           /* a guard of the body is one of the program */
        }
    }
    assert_int_equal(calls, 4);         /* 1, 5, 3, 7 */
    assert_int_equal(counters_of(device).subgraph_misses_value - before.subgraph_misses_value, 3);
    hbg_program_destroy(program);
}

/* ---- shapes and types ---- */

static void add_one(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    hbg_submit(g, ADD_ALL, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void build_shapes(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), wide = hbg_args_region(args, 1);
    for (int round = 0; round < 3; round++) {
        hbg_subgraph(g, KEY("one"), add_one, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 0, 4))));
        hbg_subgraph(g, KEY("one"), add_one, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 4, 10))));
        hbg_subgraph(g, KEY("one"), add_one, HBG_ARGS(hbg_inout(wide)));
        hbg_subgraph(g, KEY("one"), add_one, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 6, 10))));
        hbg_subgraph(g, KEY("one"), add_one, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 3, 3))));        /* empty */
    }
}

static void shapes_and_types_are_guards(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[10] = { 0 };
    int64_t wide[4] = { 0 };
    struct hbg_program *program = PROGRAM(device, build_shapes, steps);
    calls = 0;
    struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 10)), hbg_inout(hbg_host(wide, HBG_I64, HBG_SHAPE(4)))));
    for (int i = 0; i < 10; i++) assert_int_equal(x[i], i < 4 ? 3 : i < 6 ? 3 : 6);
    for (int i = 0; i < 4; i++) assert_int_equal(wide[i], 3);
    assert_int_equal(calls, 4);         /* 4 and 6 of i32, 4 of i64, none */
    assert_int_equal(result.subgraphs_missed, 3);
    assert_non_null(strstr(result.subgraph_why, "its shape, strides or type"));
    hbg_program_destroy(program);
}

/* Of one size and place, but of another type; of one element, out of rows of different lengths. */
static void build_types(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    for (int round = 0; round < 2; round++) {
        hbg_subgraph(g, KEY("type"), add_one, HBG_ARGS(hbg_inout(x)));
        hbg_subgraph(g, KEY("type"), add_one, HBG_ARGS(hbg_inout(hbg_cast_view(x, HBG_U64))));
        hbg_subgraph(g, KEY("type"), add_one, HBG_ARGS(hbg_inout(AT(x, 1))));
        hbg_subgraph(g, KEY("type"), add_one, HBG_ARGS(hbg_inout(AT(AT(y, 1), 2))));
        hbg_subgraph(g, KEY("type"), add_one, HBG_ARGS(hbg_inout(hbg_slice(AT(y, 0), 0, 0, 1))));
        hbg_subgraph(g, KEY("type"), add_one, HBG_ARGS(hbg_inout(hbg_reshape(hbg_slice(AT(y, 0), 0, 0, 1), HBG_SHAPE(1, 1)))));
        hbg_subgraph(g, KEY("type"), add_one, HBG_ARGS(hbg_inout(hbg_permute(y, HBG_SHAPE(1, 0)))));
        hbg_subgraph(g, KEY("type"), add_one, HBG_ARGS(hbg_inout(hbg_reshape(y, HBG_SHAPE(3, 3)))));
    }
}

static void types_and_ranks_are_guards(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int64_t x[4] = { 0 }, y[3][3] = { { 0 } };
    struct hbg_program *program = PROGRAM(device, build_types, steps);
    calls = 0;
    struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_I64, HBG_SHAPE(4))), hbg_inout(hbg_host(y, HBG_I64, HBG_SHAPE(3, 3)))));
    assert_int_equal(calls, 7);
    assert_int_equal(result.subgraphs_missed, 6);
    for (int i = 0; i < 4; i++) assert_int_equal(x[i], i == 1 ? 6 : 4);
    for (int i = 0; i < 9; i++) assert_int_equal(y[i / 3][i % 3], i == 0 ? 8 : i == 5 ? 6 : 4);
    hbg_program_destroy(program);
}

/* ---- access modes, kinds and numbers of arguments ---- */

static void copies(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    hbg_submit(g, COPY, hbg_in(hbg_args_region(args, 0)), hbg_out(hbg_args_region(args, 1)));
}

static struct hbg_region read_only(struct hbg_region x)
{
    x.flags |= HBG_REGION_READ_ONLY;
    return x;
}

static int called[10];                  /* calls, after each submission */

static void build_modes(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region a = AT(hbg_args_region(args, 0), 0), b = AT(hbg_args_region(args, 0), 1), c = AT(hbg_args_region(args, 0), 2);
    struct hbg_arg first[] = { hbg_in(a), hbg_in(read_only(a)), hbg_untracked(a), hbg_untracked(c), hbg_untracked(read_only(a)), hbg_untracked(read_only(c)),
                               hbg_inout(a), hbg_inout(c), hbg_in(c), hbg_untracked(a) };
    for (int i = 0; i < 10; i++) {
        hbg_subgraph(g, KEY("mode"), copies, HBG_ARGS(first[i], hbg_out(b)));
        called[i] = calls;
    }
}

static void access_modes_are_guards(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static const int expected[10] = { 1, 1, 2, 2, 3, 3, 4, 4, 4, 4 };
    int32_t x[3] = { 5, 6, 7 };
    struct hbg_program *program = PROGRAM(device, build_modes, steps);
    struct hbg_counters before = counters_of(device);
    calls = 0;
    struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 3))));
    for (int i = 0; i < 10; i++) assert_int_equal(called[i], expected[i]);
    assert_int_equal(x[1], 5);
    assert_string_equal(result.subgraph_why, "\"mode\" argument 0: its access mode");
    assert_int_equal(counters_of(device).subgraph_misses_shape - before.subgraph_misses_shape, 3);
    hbg_program_destroy(program);
}

/* Adds one, or its scalar, to each of its regions. */
static void adds_to_all(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    int scalar = -1;
    for (int i = 0; i < (int)args->count; i++)
        if (args->arg[i].kind == HBG_ARG_SCALAR && args->arg[i].dtype == HBG_I32) scalar = i;
    for (int i = 0; i < (int)args->count; i++)
        if (args->arg[i].kind == HBG_ARG_INOUT) hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, i)), scalar < 0 ? hbg_i32(1) : hbg_args_scalar(args, scalar));
}

static void build_lists(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = AT(hbg_args_region(args, 0), 0), y = AT(hbg_args_region(args, 0), 1);
    struct hbg_task first = hbg_submit(g, ADD, hbg_inout(y), hbg_i32(1));
    struct hbg_arg typed = hbg_inout(x);
    typed.dtype = HBG_I32;              /* of a region it means nothing */
    for (int round = 0; round < 2; round++) {
        struct hbg_arg_list lists[] = {
            HBG_NO_ARGS, HBG_ARGS(typed), HBG_ARGS(hbg_inout(x), hbg_i32(10)), HBG_ARGS(hbg_inout(x), hbg_u32(10)), HBG_ARGS(hbg_inout(x), hbg_inout(y)),
            HBG_ARGS(hbg_i32(100), hbg_inout(x)), HBG_ARGS(hbg_i32(100)), HBG_ARGS(hbg_inout(x), hbg_i32(10), hbg_i32(1000)),
        };
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) hbg_subgraph(g, KEY("list"), adds_to_all, lists[i]);
        called[round] = calls;
    }
    hbg_subgraph(g, KEY("list"), adds_to_all, HBG_ARGS(hbg_after(first), hbg_inout(x)));            /* which takes no position */
    hbg_subgraph(g, KEY("list"), adds_to_all, HBG_ARGS(hbg_inout(x), hbg_after(first), hbg_i32(10), hbg_after(first)));
    hbg_subgraph(g, KEY("list"), adds_to_all, HBG_ARGS(hbg_after(first)));
}

static void kinds_and_numbers_are_guards(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[2] = { 0 };
    struct hbg_program *program = PROGRAM(device, build_lists, steps);
    struct hbg_counters before = counters_of(device);
    calls = 0;
    struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 2))));
    assert_int_equal(called[0], 8);
    assert_int_equal(called[1], 8);
    assert_int_equal(calls, 8);
    assert_int_equal(x[0], 2 * (1 + 10 + 1 + 1 + 100 + 1000) + 11);
    assert_int_equal(x[1], 1 + 2);
    assert_string_equal(result.subgraph_why, "\"list\": the number of arguments");
    assert_int_equal(counters_of(device).subgraph_misses_shape - before.subgraph_misses_shape, 7);
    hbg_program_destroy(program);
}

/* ---- what no definition makes right ---- */

static struct hbg_region in_gone_buffer, behind_buffer;
enum { READ_ONLY_INOUT, READ_ONLY_OUT, READ_ONLY_UNTRACKED, INPUT, ENDED, HOST, FOREIGN, GONE, NO_VIEW, LEAVES, LEAVES_UNTRACKED, BAD, AFTER_FOREIGN, AFTER_LATER, WRONGS };

static struct hbg_arg wrong_arg(int which, struct hbg_region x, struct hbg_region ended)
{
    static int32_t memory[1];
    struct hbg_region foreign = x;
    foreign.storage += 1u << 20;
    switch (which) {
    case READ_ONLY_INOUT: return hbg_inout(read_only(x));
    case READ_ONLY_OUT: return hbg_out(read_only(x));
    case READ_ONLY_UNTRACKED: return hbg_untracked(read_only(x));
    case INPUT: return hbg_in(x);
    case ENDED: return hbg_inout(ended);
    case HOST: return hbg_inout(AT(HOST_I32(memory, 1), 0));
    case FOREIGN: return hbg_inout(foreign);
    case NO_VIEW: foreign = x; foreign.rank = HBG_RANK_MAX + 1; return hbg_inout(foreign);
    case LEAVES: return hbg_inout(behind_buffer);
    case LEAVES_UNTRACKED: return hbg_untracked(behind_buffer);
    case GONE: return hbg_inout(in_gone_buffer);
    default: return hbg_inout(AT(hbg_slice(hbg_reshape(x, HBG_SHAPE(1)), 0, 0, 2), 0));
    }
}

static void build_wrong(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = AT(hbg_args_region(args, 0), 0);
    hbg_subgraph(g, KEY("wrong"), add_one, HBG_ARGS(hbg_inout(x)));
    hbg_subgraph(g, KEY("wrong"), add_one, HBG_ARGS(hbg_out(x)));
    hbg_subgraph(g, KEY("wrong"), add_one, HBG_ARGS(hbg_untracked(x)));
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    struct hbg_region ended = AT(hbg_alloc(g, HBG_I32, HBG_SHAPE(1)), 0);
    hbg_scope_end(g);
    struct hbg_task first = hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1)), foreign = { first.id, first.graph + 1 }, later = { first.id + 1, first.graph };
    int which = *(const int *)params;
    if (which < AFTER_FOREIGN) hbg_subgraph(g, KEY("wrong"), add_one, HBG_ARGS(wrong_arg(which, x, ended)));
    else hbg_subgraph(g, KEY("wrong"), add_one, HBG_ARGS(hbg_inout(x), hbg_after(which == AFTER_LATER ? later : foreign)));
}

static void a_definition_does_not_make_wrong_arguments_right(struct hbg_device *device, const struct device_kind *kind)
{
    static const enum hbg_status status[WRONGS] = { HBG_E_ACCESS, HBG_E_ACCESS, HBG_E_ACCESS, HBG_E_ACCESS, HBG_E_SCOPE, HBG_E_REGION, HBG_E_SCOPE, HBG_E_REGION, HBG_E_REGION,
                                                     HBG_E_REGION, HBG_E_REGION, HBG_E_REGION, HBG_E_TASK_ID, HBG_E_TASK_ID };
    (void)kind;
    struct hbg_buffer *buffer;
    int32_t x[1] = { 0 };
    assert_int_equal(hbg_buffer_create(device, 8, &buffer), HBG_OK);
    in_gone_buffer = AT(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(2)), 1);
    hbg_buffer_destroy(buffer);
    assert_int_equal(hbg_buffer_create(device, 8, &buffer), HBG_OK);
    behind_buffer = AT(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(3)), 2);
    for (int i = 0; i < WRONGS; i++) {
        bool body_says = i == INPUT || i == READ_ONLY_UNTRACKED;        /* which writes it */
        struct hbg_program *program = PROGRAM_WITH(device, build_wrong, steps, i);
        struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), status[i]);
        if (!strstr(error.text, i >= AFTER_FOREIGN ? "hbg_after of subgraph \"wrong\"" : body_says ? "(in subgraph \"wrong\")" : "argument 0 of subgraph \"wrong\"")) fail_msg("case %d: %s", i, error.text);
        hbg_program_destroy(program);
    }
    hbg_buffer_destroy(buffer);
    assert_int_equal(x[0], 0);
}

/* A position that is no scalar, bound as if it were one of the type that the definition has there; and one of a list that is not the build's. */
static void build_bound_wrongly(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = AT(hbg_args_region(args, 0), 0);
    struct hbg_args other = *args;
    struct hbg_arg bound = *(const bool *)params ? hbg_args_scalar(&other, 1) : hbg_args_scalar(args, 0);
    bound.dtype = HBG_I32;
    hbg_subgraph(g, KEY("bound"), adds_to_all, HBG_ARGS(hbg_inout(x), hbg_i32(1)));
    hbg_subgraph(g, KEY("bound"), adds_to_all, HBG_ARGS(hbg_inout(x), bound));
}

static void what_is_bound_is_a_scalar_of_the_build(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    for (int i = 0; i < 2; i++) {
        bool other = i;
        int32_t x[1] = { 0 };
        struct hbg_program *program = PROGRAM_WITH(device, build_bound_wrongly, steps, other);
        struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1)), hbg_i32(1)), HBG_E_ACCESS);
        assert_non_null(strstr(error.text, "argument 1 of subgraph \"bound\" binds a boundary position that is no scalar"));
        hbg_program_destroy(program);
    }
}

/* ---- data that a body reads ---- */

static void as_data_says(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    struct hbg_region n = hbg_args_region(args, 0), x = hbg_args_region(args, 1);
    const int32_t *counts = (const int32_t *)hbg_read(g, n);
    int32_t again = hbg_read_i32(g, n, HBG_SHAPE(0));
    for (int32_t i = 0; counts && i < counts[0] + counts[1] && again == counts[0]; i++) hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1));
}

static void build_from_data(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 4; i++)
        hbg_subgraph(g, KEY("data"), as_data_says, HBG_ARGS(hbg_in(AT(hbg_args_region(args, 0), i)), hbg_inout(AT(hbg_args_region(args, 1), i))));
}

static void data_that_a_body_reads_is_a_guard(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t n[4][2] = { { 1, 2 }, { 3, 4 }, { 1, 2 }, { 3, 4 } }, x[4] = { 0 };
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build_from_data, KERNEL_TABLE(steps), .pure = true });
    struct hbg_arg_list list = HBG_ARGS(hbg_in(hbg_host(n, HBG_I32, HBG_SHAPE(4, 2))), hbg_inout(HOST_I32(x, 4)));
    calls = 0;
    for (int round = 1; round <= 2; round++) {
        struct hbg_result result = steps_run(program, list);
        for (int i = 0; i < 4; i++) assert_int_equal(x[i], round * (i % 2 ? 7 : 3));
        assert_int_equal(result.replayed, round == 2);
    }
    assert_int_equal(calls, 2);
    n[2][1] = 9;
    struct hbg_result result = steps_run(program, list);
    assert_string_equal(result.subgraph_why, "\"data\" argument 0: data in it that the body read");
    assert_false(result.replayed);      /* what the body read is a guard of the program as well */
    assert_int_equal(calls, 3);
    assert_int_equal(x[2], 6 + 10);
    hbg_program_destroy(program);
}

static int32_t table[2];

static void as_memory_says(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    hbg_guard(g, &table[0], sizeof table[0]);
    hbg_guard(g, &table[1], sizeof table[1]);
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(table[0] + table[1]));
}

static void build_from_memory(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 3; i++) hbg_subgraph(g, KEY("memory"), as_memory_says, HBG_ARGS(hbg_inout(AT(hbg_args_region(args, 0), i))));
}

static void memory_that_a_body_names_is_a_guard(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static const int32_t values[][2] = { { 1, 2 }, { 1, 3 }, { 4, 2 }, { 1, 2 }, { 4, 2 } };
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build_from_memory, KERNEL_TABLE(steps), .pure = true });
    struct hbg_counters before = counters_of(device);
    int32_t x[3];
    calls = 0;
    for (int i = 0; i < 5; i++) {
        memset(x, 0, sizeof x);
        memcpy(table, values[i], sizeof table);
        struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 3))));
        for (int k = 0; k < 3; k++) assert_int_equal(x[k], values[i][0] + values[i][1]);
        assert_int_equal(calls, i < 3 ? i + 1 : 3);
        if (i == 1) assert_string_equal(result.subgraph_why, "\"memory\": memory named by hbg_guard");
        assert_int_equal(result.replayed, i > 2);
    }
    assert_int_equal(counters_of(device).subgraph_misses_data - before.subgraph_misses_data, 2);
    hbg_program_destroy(program);
}

static void build_reads_written(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region n = AT(hbg_args_region(args, 0), 0), x = AT(hbg_args_region(args, 1), 0);
    hbg_subgraph(g, KEY("data"), as_data_says, HBG_ARGS(hbg_in(n), hbg_inout(x)));
    hbg_submit(g, ADD_ALL, hbg_inout(n), hbg_i32(1));
    hbg_subgraph(g, KEY("data"), as_data_says, HBG_ARGS(hbg_in(n), hbg_inout(x)));
}

static void data_that_a_task_writes_is_refused(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t n[1][2] = { { 1, 2 } }, x[1] = { 0 };
    struct hbg_program *program = PROGRAM(device, build_reads_written, steps);
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(hbg_host(n, HBG_I32, HBG_SHAPE(1, 2))), hbg_inout(HOST_I32(x, 1))), HBG_E_WRITTEN);
    assert_non_null(strstr(error.text, "task 1"));
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(a_value_that_was_looked_at_is_a_guard), DEVICE_TEST(shapes_and_types_are_guards),
        DEVICE_TEST(types_and_ranks_are_guards), DEVICE_TEST(access_modes_are_guards), DEVICE_TEST(kinds_and_numbers_are_guards),
        DEVICE_TEST(a_definition_does_not_make_wrong_arguments_right), DEVICE_TEST(what_is_bound_is_a_scalar_of_the_build),
        DEVICE_TEST(data_that_a_body_reads_is_a_guard), DEVICE_TEST(memory_that_a_body_names_is_a_guard),
        DEVICE_TEST(data_that_a_task_writes_is_refused),
    };
    return DEVICE_TESTS_RUN(tests);
}
