/* SPDX-License-Identifier: Apache-2.0 */
/* definition_test.c - bodies that are recorded once and replayed: what is patched, what a later submission has to meet, and what it is
 * otherwise. The counters of a result say whether a body was called; CASES 10, 11 and 12. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { SCALE, ADD, COPY, ADD_ALL, FAIL_IF };

/* out = in * k */
static int scale(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 1) = *HBG_VIEW(int32_t, t, 0) * hbg_view_i32(t, 2);
    return 0;
}

/* x += k */
static int add(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 0) += hbg_view_i32(t, 1);
    return 0;
}

static int copy(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 1) = *HBG_VIEW(int32_t, t, 0);
    return 0;
}

/* every element of a region of any shape and type += k; out = how many there were */
static int add_all(const struct hbg_task_view *t)
{
    int64_t count = hbg_view_count(t, 0);
    for (int64_t i = 0; i < count; i++) {
        if (hbg_view_dtype(t, 0) == HBG_I32) HBG_VIEW(int32_t, t, 0)[i] += hbg_view_i32(t, 1);
        else HBG_VIEW(int64_t, t, 0)[i] += hbg_view_i32(t, 1);
    }
    return 0;
}

/* fails with x where x is not 0 */
static int fail_if(const struct hbg_task_view *t)
{
    int32_t x = *HBG_VIEW(int32_t, t, 0);
    return x ? hbg_fail(t, x, 7) : 0;
}

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(SCALE, scale, "in i32, out i32, i32"), HBG_KERNEL(ADD, add, "inout i32, i32"), HBG_KERNEL(COPY, copy, "in i32, out i32"),
    HBG_KERNEL(ADD_ALL, add_all, NULL), HBG_KERNEL(FAIL_IF, fail_if, "in i32"),
};

#define KEY(text) hbg_key_of(text, NULL, 0)
#define AT(region, i) hbg_index((region), 0, (i))

static int calls;                       /* of the body at hand */

static struct hbg_result run_it(struct hbg_program *program, struct hbg_arg_list list)
{
    struct hbg_result result = HBG_OPTIONS(result);
    program_run(program, list, &result, NULL);
    return result;
}

/* ---- addresses and scalars: CASES 10 ---- */

/* (in, out, k): u = in * k, v = u + 1, out = v */
static void times_plus_one(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    struct hbg_region u = hbg_alloc(g, HBG_I32, HBG_SHAPE(1));
    hbg_submit(g, SCALE, hbg_in(hbg_args_region(args, 0)), hbg_out(u), hbg_args_scalar(args, 2));
    hbg_submit(g, ADD, hbg_inout(u), hbg_i32(1));
    hbg_submit(g, COPY, hbg_in(u), hbg_out(hbg_args_region(args, 1)));
}

static void build_forty(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int32_t i = 0; i < 40; i++)
        hbg_subgraph(g, KEY("step"), times_plus_one, HBG_ARGS(hbg_in(AT(hbg_args_region(args, 0), i)), hbg_out(AT(hbg_args_region(args, 1), i)), hbg_i32(i)));
}

static void addresses_and_scalars_are_patched(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t in[40], out[40];
    struct hbg_program *program = PROGRAM(device, build_forty, kernels);
    struct hbg_counters before = counters_of(device);
    calls = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 40; i++) in[i] = i;
        memset(out, 0, sizeof out);
        struct hbg_result result = run_it(program, HBG_ARGS(hbg_in(HOST_I32(in, 40)), hbg_out(HOST_I32(out, 40))));
        for (int i = 0; i < 40; i++) assert_int_equal(out[i], i * i + 1);
        assert_int_equal(result.subgraphs_recorded, round == 0);
        assert_int_equal(result.subgraphs_replayed, round == 0 ? 39 : 40);
        assert_int_equal(result.tasks, 120);
    }
    assert_int_equal(calls, 1);
    assert_int_equal(counters_of(device).definitions_uploaded - before.definitions_uploaded, 1);
    hbg_program_destroy(program);
    /* another program with these kernels finds the definition */
    program = PROGRAM(device, build_forty, kernels);
    run_it(program, HBG_ARGS(hbg_in(HOST_I32(in, 40)), hbg_out(HOST_I32(out, 40))));
    assert_int_equal(calls, 1);
    hbg_program_destroy(program);
}

static void one_outer_task_a_submission(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t in[40] = { 0 }, out[40];
    struct hbg_program *program = PROGRAM(device, build_forty, kernels);
    struct hbg_run run;
    struct hbg_graph_info info = HBG_OPTIONS(graph_info);
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_in(HOST_I32(in, 40)), hbg_out(HOST_I32(out, 40))), NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_graph(run, &info), HBG_OK);
    assert_int_equal(info.task_count, 40);
    assert_int_equal(info.edge_count, 0);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
}

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
    hbg_subgraph(g, KEY("next"), times_next, HBG_ARGS(hbg_in(AT(in, 5)), hbg_out(AT(out, 5)), hbg_args_scalar(args, 2)));
}

static void a_value_that_was_looked_at_is_a_guard(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static const int32_t factor[] = { 2, 6, 2, 6, 6 };
    int32_t in[6] = { 10, 20, 30, 40, 50, 60 }, out[6];
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build_derived, KERNEL_TABLE(kernels), .pure = true });
    calls = 0;
    for (int32_t k = 1; k <= 7; k += 2) {
        for (int again = 0; again < 2; again++) {
            struct hbg_result result = run_it(program, HBG_ARGS(hbg_in(HOST_I32(in, 6)), hbg_out(HOST_I32(out, 6)), hbg_i32(k)));
            for (int i = 0; i < 5; i++) assert_int_equal(out[i], in[i] * factor[i]);
            assert_int_equal(out[5], 60 * (k + 1));
            assert_int_equal(result.replayed, again);           /* a guard of the body is one of the program */
        }
    }
    assert_int_equal(calls, 4);         /* 1, 5, 3, 7 */
    hbg_program_destroy(program);
}

/* ---- recording does not depend on time: CASES 12 ---- */

static int pause_ms;

static void diamonds(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    for (int32_t i = 0; i < 20; i++) {
        hbg_submit(g, ADD, hbg_inout(AT(x, i % 5)), hbg_i32(1));
        hbg_submit(g, COPY, hbg_in(AT(x, i % 5)), hbg_out(AT(x, (i * 3 + 1) % 5)));
        if (pause_ms) sleep_ms(pause_ms);
    }
}

static void build_diamonds(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    hbg_subgraph(g, hbg_key_of("diamonds", params, sizeof(int)), diamonds, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void recording_does_not_depend_on_time(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[2][5] = { { 1, 2, 3, 4, 5 }, { 1, 2, 3, 4, 5 } };
    uint64_t edges[2];
    for (int slow = 0; slow < 2; slow++) {
        struct hbg_program *program = PROGRAM_WITH(device, build_diamonds, kernels, slow);      /* another key, so it is recorded again */
        pause_ms = slow ? 1 : 0;
        struct hbg_result result = run_it(program, HBG_ARGS(hbg_inout(HOST_I32(x[slow], 5))));
        edges[slow] = result.edges;
        assert_int_equal(result.subgraphs_recorded, 1);
        hbg_program_destroy(program);
    }
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_int_equal(edges[0], edges[1]);
}

/* ---- shapes, types and aliases that change ---- */

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
    struct hbg_program *program = PROGRAM(device, build_shapes, kernels);
    calls = 0;
    struct hbg_result result = run_it(program, HBG_ARGS(hbg_inout(HOST_I32(x, 10)), hbg_inout(hbg_host(wide, HBG_I64, HBG_SHAPE(4)))));
    for (int i = 0; i < 10; i++) assert_int_equal(x[i], i < 4 ? 3 : i < 6 ? 3 : 6);
    for (int i = 0; i < 4; i++) assert_int_equal(wide[i], 3);
    assert_int_equal(calls, 4);         /* 4 and 6 of i32, 4 of i64, none */
    assert_int_equal(result.subgraphs_missed, 3);
    assert_non_null(strstr(result.subgraph_why, "its shape, strides or type"));
    hbg_program_destroy(program);
}

/* (a, b): a += 1, then b += a's first */
static void two_regions(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    struct hbg_region a = hbg_args_region(args, 0), b = hbg_args_region(args, 1);
    hbg_submit(g, ADD_ALL, hbg_inout(a), hbg_i32(1));
    hbg_submit(g, SCALE, hbg_in(AT(a, 0)), hbg_out(AT(b, 1)), hbg_i32(10));
    hbg_submit(g, ADD_ALL, hbg_inout(b), hbg_i32(100));
}

/* The program-order result of two_regions() on x with a at `a`, b at `b`, three elements each. */
static void two_regions_plainly(int32_t *x, int a, int b)
{
    for (int i = 0; i < 3; i++) x[a + i]++;
    x[b + 1] = x[a] * 10;
    for (int i = 0; i < 3; i++) x[b + i] += 100;
}

static const int alias[][2] = { { 0, 10 }, { 20, 4 }, { 6, 6 }, { 3, 3 }, { 8, 9 }, { 8, 10 }, { 15, 14 }, { 0, 1 }, { 12, 10 }, { 0, 3 }, { 30, 31 }, { 33, 32 } };
enum { ALIASES = sizeof alias / sizeof *alias };

static void build_aliases(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    for (int i = 0; i < ALIASES; i++)
        hbg_subgraph(g, KEY("two"), two_regions, HBG_ARGS(hbg_inout(hbg_slice(x, 0, alias[i][0], alias[i][0] + 3)), hbg_inout(hbg_slice(x, 0, alias[i][1], alias[i][1] + 3))));
}

static void aliases_are_guards(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[40], expected[40];
    struct hbg_program *program = PROGRAM(device, build_aliases, kernels);
    calls = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 40; i++) x[i] = expected[i] = i;
        for (int i = 0; i < ALIASES; i++) two_regions_plainly(expected, alias[i][0], alias[i][1]);
        run_it(program, HBG_ARGS(hbg_inout(HOST_I32(x, 40))));
        assert_memory_equal(x, expected, sizeof x);
        assert_in_range(calls, 3, 4);   /* apart; one distance; as wholes, at any distance; later rounds none */
    }
    hbg_program_destroy(program);
}

/* ---- data that a body reads ---- */

static void as_data_says(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    struct hbg_region n = hbg_args_region(args, 0), x = hbg_args_region(args, 1);
    const int32_t *steps = (const int32_t *)hbg_read(g, n);
    int32_t again = hbg_read_i32(g, n, HBG_SHAPE(0));
    for (int32_t i = 0; steps && i < steps[0] + steps[1] && again == steps[0]; i++) hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1));
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
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build_from_data, KERNEL_TABLE(kernels), .pure = true });
    struct hbg_arg_list list = HBG_ARGS(hbg_in(hbg_host(n, HBG_I32, HBG_SHAPE(4, 2))), hbg_inout(HOST_I32(x, 4)));
    calls = 0;
    for (int round = 1; round <= 2; round++) {
        struct hbg_result result = run_it(program, list);
        for (int i = 0; i < 4; i++) assert_int_equal(x[i], round * (i % 2 ? 7 : 3));
        assert_int_equal(result.replayed, round == 2);
    }
    assert_int_equal(calls, 2);
    n[2][1] = 9;
    struct hbg_result result = run_it(program, list);
    assert_false(result.replayed);      /* what the body read is a guard of the program as well */
    assert_int_equal(calls, 3);
    assert_int_equal(x[2], 6 + 10);
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
    struct hbg_program *program = PROGRAM(device, build_reads_written, kernels);
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(hbg_host(n, HBG_I32, HBG_SHAPE(1, 2))), hbg_inout(HOST_I32(x, 1))), HBG_E_WRITTEN);
    assert_non_null(strstr(error.text, "task 1"));
    hbg_program_destroy(program);
}

/* ---- bodies in bodies, two keys at a time, heaps ---- */

static void inner_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const int32_t *by = params;
    calls++;
    struct hbg_region x = hbg_args_region(args, 0), t = hbg_alloc(g, HBG_I32, HBG_SHAPE(2));
    hbg_submit(g, SCALE, hbg_in(x), hbg_out(AT(t, 0)), hbg_args_scalar(args, 1));
    hbg_submit(g, SCALE, hbg_in(AT(t, 0)), hbg_out(AT(t, 1)), hbg_i32(*by));
    hbg_submit(g, COPY, hbg_in(AT(t, 1)), hbg_out(x));
}

/* x = x * k * 2 * k * 3, then + 1 through an intermediate of its own */
static void outer_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    static const int32_t two = 2, three = 3;
    struct hbg_region x = hbg_args_region(args, 0), t = hbg_alloc(g, HBG_I32, HBG_SHAPE(1));
    hbg_subgraph(g, HBG_KEY("inner", two), inner_body, HBG_ARGS(hbg_inout(x), hbg_args_scalar(args, 1)));
    hbg_submit(g, COPY, hbg_in(x), hbg_out(t));
    hbg_subgraph(g, HBG_KEY("inner", three), inner_body, HBG_ARGS(hbg_inout(t), hbg_args_scalar(args, 1)));
    hbg_submit(g, ADD, hbg_inout(t), hbg_i32(1));
    hbg_submit(g, COPY, hbg_in(t), hbg_out(x));
}

static void build_nested(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    static const int32_t two = 2;
    for (int i = 0; i < 8; i++) hbg_subgraph(g, KEY("outer"), outer_body, HBG_ARGS(hbg_inout(AT(x, i)), hbg_args_scalar(args, 1)));
    hbg_subgraph(g, HBG_KEY("inner", two), inner_body, HBG_ARGS(hbg_inout(AT(x, 8)), hbg_i32(5)));
    for (int i = 0; i < 9; i++) hbg_subgraph(g, KEY("outer"), outer_body, HBG_ARGS(hbg_inout(AT(x, i)), hbg_i32(1)));
}

static void bodies_nest(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[9];
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build_nested, KERNEL_TABLE(kernels), .pure = true });
    calls = 0;
    for (int32_t k = 1; k < 5; k++) {
        for (int i = 0; i < 9; i++) x[i] = i + 1;
        struct hbg_result result = run_it(program, HBG_ARGS(hbg_inout(HOST_I32(x, 9)), hbg_i32(k)));
        for (int i = 0; i < 8; i++) assert_int_equal(x[i], ((i + 1) * k * 2 * k * 3 + 1) * 6 + 1);
        assert_int_equal(x[8], 9 * 5 * 2 * 6 + 1);
        assert_int_equal(result.replayed, k > 1);
    }
    assert_int_equal(calls, 3);         /* outer, inner of 2, inner of 3 */
    hbg_program_destroy(program);
}

/* ---- buffers that a body names ---- */

static struct hbg_buffer *weights;

static void scale_by_weight(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    struct hbg_region x = hbg_args_region(args, 0), w = hbg_buffer_region(weights, 0, HBG_I32, HBG_SHAPE(4));
    hbg_submit(g, ADD, hbg_inout(AT(w, 3)), hbg_i32(1));
    hbg_submit(g, COPY, hbg_in(AT(w, 3)), hbg_out(x));
}

static void build_with_weights(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), w = hbg_buffer_region(weights, 0, HBG_I32, HBG_SHAPE(4));
    for (int i = 0; i < 6; i++) hbg_subgraph(g, KEY("weights"), scale_by_weight, HBG_ARGS(hbg_inout(AT(x, i))));
    hbg_submit(g, COPY, hbg_in(AT(w, 3)), hbg_out(AT(x, 6)));
    hbg_subgraph(g, KEY("weights"), scale_by_weight, HBG_ARGS(hbg_inout(AT(w, 3))));         /* which it names as well */
    hbg_submit(g, COPY, hbg_in(AT(w, 3)), hbg_out(AT(x, 7)));
}

static void buffers_that_a_body_names_make_edges(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[8], zero[4] = { 0 };
    assert_int_equal(hbg_buffer_create(device, sizeof zero, &weights), HBG_OK);
    assert_int_equal(hbg_buffer_write(weights, 0, zero, sizeof zero), HBG_OK);
    struct hbg_program *program = PROGRAM(device, build_with_weights, kernels);
    calls = 0;
    for (int32_t round = 0; round < 20; round++) {
        run_it(program, HBG_ARGS(hbg_out(HOST_I32(x, 8))));
        for (int i = 0; i < 6; i++) assert_int_equal(x[i], round * 7 + i + 1);
        assert_int_equal(x[6], round * 7 + 6);
        assert_int_equal(x[7], round * 7 + 7);
    }
    assert_int_equal(calls, 2);         /* the argument apart from the buffer, and in it */
    hbg_program_destroy(program);
    hbg_buffer_destroy(weights);
}

/* ---- captured regions ---- */

static struct hbg_region captured;
static struct hbg_arg captured_scalar;

static void adds_to_what_it_captured(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    struct hbg_region x = hbg_args_region(args, 0);
    for (int i = 0; i < 3; i++) {
        hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1));
        hbg_submit(g, SCALE, hbg_in(x), hbg_out(captured), captured_scalar);
    }
}

static void build_captures(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    captured_scalar = hbg_args_scalar(args, 1);
    for (int i = 0; i < 3; i++) {
        captured = AT(x, 2 * i + 1);
        hbg_submit(g, ADD, hbg_inout(captured), hbg_i32(1000));
        hbg_subgraph(g, KEY("captures"), adds_to_what_it_captured, HBG_ARGS(hbg_inout(AT(x, 2 * i))));
        hbg_submit(g, ADD, hbg_inout(captured), hbg_i32(1));
    }
}

static void what_cannot_be_kept_runs_all_the_same(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[6];
    struct hbg_program *program = PROGRAM(device, build_captures, kernels);
    calls = 0;
    for (int32_t round = 0; round < 3; round++) {
        for (int i = 0; i < 6; i++) x[i] = i;
        run_it(program, HBG_ARGS(hbg_inout(HOST_I32(x, 6)), hbg_i32(10)));
        for (int i = 0; i < 3; i++) {
            assert_int_equal(x[2 * i], 2 * i + 3);
            assert_int_equal(x[2 * i + 1], (2 * i + 3) * 10 + 1);
        }
        assert_int_equal(calls, 3 * (round + 1));       /* each submission calls the body, once */
    }
    hbg_program_destroy(program);
}

/* ---- failures ---- */

static void maybe_fails(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    hbg_submit(g, ADD, hbg_inout(AT(x, 1)), hbg_i32(1));
    hbg_submit(g, FAIL_IF, hbg_in(AT(x, 0)));
    hbg_submit(g, ADD, hbg_inout(AT(x, 0)), hbg_i32(1));
    hbg_submit(g, ADD, hbg_inout(AT(x, 1)), hbg_i32(1));
}

static void build_failing(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    for (int i = 0; i < 4; i++) hbg_subgraph(g, KEY("maybe"), maybe_fails, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 2 * i, 2 * i + 2))));
    hbg_submit(g, ADD, hbg_inout(AT(x, 2)), hbg_i32(100));         /* after the second */
    hbg_submit(g, ADD, hbg_inout(AT(x, 6)), hbg_i32(100));         /* after the last */
}

static void a_failure_names_node_and_subgraph(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[8] = { 0, 0, 42, 0, 43, 0, 0, 0 };
    struct hbg_program *program = PROGRAM(device, build_failing, kernels);
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 8))), HBG_E_KERNEL);
    assert_int_equal(error.code, 42);   /* the first in the program, whichever ran first */
    assert_int_equal(error.detail, 7);
    assert_int_equal(error.task, 1);
    assert_non_null(strstr(error.text, "node 1 of subgraph \"maybe\" in task 1"));
    memset(x, 0, sizeof x);
    run_it(program, HBG_ARGS(hbg_inout(HOST_I32(x, 8))));
    static const int32_t right[8] = { 1, 2, 101, 2, 1, 2, 101, 2 };
    assert_memory_equal(x, right, sizeof x);
    hbg_program_destroy(program);
}

/* ---- misuse ---- */

static int toggle;

static void changes_its_mind(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(toggle++ ? 1 : 2));
}

static void another_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(7));
}

static void build_misuse(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    bool other = *(const bool *)params;
    struct hbg_region x = hbg_args_region(args, 0);
    hbg_subgraph(g, KEY("mind"), changes_its_mind, HBG_ARGS(hbg_inout(x)));
    hbg_subgraph(g, KEY("mind"), other ? another_body : changes_its_mind, HBG_ARGS(hbg_inout(x)));
}

static void misuse_of_a_key_is_found(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t x[1] = { 0 };
    bool other = true;
    struct hbg_program *program = PROGRAM_WITH(device, build_misuse, kernels, other);
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_IMAGE);
    assert_non_null(strstr(error.text, "\"mind\""));
    hbg_program_destroy(program);
    other = false;
    setenv("HBG_VERIFY_REPLAY", "1", 1);
    struct hbg_device *verifying = device_open(kind->spec, NULL);
    unsetenv("HBG_VERIFY_REPLAY");
    program = PROGRAM_WITH(verifying, build_misuse, kernels, other);
    toggle = 0;
    error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_IMAGE);
    assert_non_null(strstr(error.text, "another image"));
    hbg_program_destroy(program);
    program = PROGRAM(verifying, build_forty, kernels);     /* a body that is none */
    int32_t in[40] = { 0 }, out[40];
    calls = 0;
    run_it(program, HBG_ARGS(hbg_in(HOST_I32(in, 40)), hbg_out(HOST_I32(out, 40))));
    assert_int_equal(calls, 40);
    hbg_program_destroy(program);
    device_close(verifying);
}

/* ---- a program that misses again and again ---- */

static void build_by_value(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    int32_t k = hbg_args_get_i32(args, 2);
    hbg_submit(g, ADD_ALL, hbg_inout(hbg_args_region(args, 0)), hbg_i32(k));
    hbg_subgraph(g, KEY("step"), times_plus_one, HBG_ARGS(hbg_in(AT(hbg_args_region(args, 0), 0)), hbg_out(AT(hbg_args_region(args, 1), 0)), hbg_i32(k)));
}

static void eight_misses_end_the_recording(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t in[4] = { 0 }, out[4];
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build_by_value, KERNEL_TABLE(kernels), .pure = true });
    uint64_t missed = counters_of(device).replay_misses;
    for (int32_t run = 0; run < 14; run++) {                /* the first has nothing to miss, then 8 do, then nobody looks */
        int32_t k = run < 12 ? run : 11;
        in[0] = 0;
        struct hbg_result result = run_it(program, HBG_ARGS(hbg_inout(HOST_I32(in, 4)), hbg_out(HOST_I32(out, 4)), hbg_i32(k)));
        assert_int_equal(out[0], k * k + 1);
        assert_false(result.replayed);
        if (run > 8) assert_non_null(strstr(result.why, "8 misses"));
    }
    assert_int_equal(counters_of(device).replay_misses - missed, 8);
    for (int again = 0; again < 2; again++) {               /* other shapes */
        struct hbg_result result = run_it(program, HBG_ARGS(hbg_inout(HOST_I32(in, 3)), hbg_out(HOST_I32(out, 4)), hbg_i32(3)));
        assert_int_equal(result.replayed, again);
    }
    hbg_program_destroy(program);
}

/* ---- limits ---- */

static void tasks_of_bodies_count(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t in[40] = { 0 }, out[40];
    struct hbg_arg_list list = HBG_ARGS(hbg_in(HOST_I32(in, 40)), hbg_out(HOST_I32(out, 40)));
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build_forty, KERNEL_TABLE(kernels), .limit_tasks = 119 });
    struct hbg_error error = program_run_fails(program, list, HBG_E_LIMIT);
    assert_int_equal(error.limit, 119);
    hbg_program_destroy(program);
    program = program_create(device, &(struct program_spec){ .build = build_forty, KERNEL_TABLE(kernels), .limit_tasks = 120 });
    run_it(program, list);
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(addresses_and_scalars_are_patched), DEVICE_TEST(one_outer_task_a_submission), DEVICE_TEST(a_value_that_was_looked_at_is_a_guard),
        DEVICE_TEST(recording_does_not_depend_on_time), DEVICE_TEST(shapes_and_types_are_guards), DEVICE_TEST(aliases_are_guards),
        DEVICE_TEST(data_that_a_body_reads_is_a_guard), DEVICE_TEST(data_that_a_task_writes_is_refused), DEVICE_TEST(bodies_nest),
        DEVICE_TEST(buffers_that_a_body_names_make_edges), DEVICE_TEST(what_cannot_be_kept_runs_all_the_same),
        DEVICE_TEST(a_failure_names_node_and_subgraph), DEVICE_TEST(misuse_of_a_key_is_found), DEVICE_TEST(tasks_of_bodies_count),
        DEVICE_TEST(eight_misses_end_the_recording),
    };
    return DEVICE_TESTS_RUN(tests);
}
