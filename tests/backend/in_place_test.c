/* SPDX-License-Identifier: Apache-2.0 */
/* in_place_test.c - bodies that are submitted in place, since others of their key could not be kept: the same order, names, scopes and scalars as of
 * those that are recorded. Each is recorded first, and what was made of it is marked; then it is submitted again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "run/device.h"
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

static void mark_all(struct hbg_device *device)
{
    for (struct hbg__definition *d = device->definitions.newest; d; d = d->older) d->in_place = true;
}

/* ---- order ---- */

static void three_cells(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 3; i++) hbg_submit(g, ADD, hbg_inout(AT(hbg_args_region(args, 0), i)), hbg_i32(1));
}

static void nothing(struct hbg_graph *g, const struct hbg_args *args, const void *params) { (void)g, (void)args, (void)params; }

static void inner_cells(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, KEY("cells"), three_cells, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

/* No cell twice: only explicit edges order these. */
static void build_in_a_row(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    struct hbg_task first = hbg_submit(g, ADD, hbg_inout(AT(x, 0)), hbg_i32(1));
    struct hbg_task second = hbg_subgraph(g, KEY("cells"), three_cells, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 1, 4)), hbg_after(first)));
    struct hbg_task third = hbg_subgraph(g, KEY("nothing"), nothing, HBG_ARGS(hbg_after(second)));
    struct hbg_task fourth = hbg_subgraph(g, KEY("inner"), inner_cells, HBG_ARGS(hbg_after(third), hbg_inout(hbg_slice(x, 0, 4, 7))));
    hbg_submit(g, ADD, hbg_inout(AT(x, 7)), hbg_i32(1), hbg_after(fourth));
    hbg_submit(g, ADD, hbg_inout(AT(x, 8)), hbg_i32(1), hbg_after(first));
    hbg_subgraph(g, KEY("cells"), three_cells, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 9, 12))));
    hbg_subgraph(g, KEY("nothing"), nothing, HBG_NO_ARGS);
}

static void tasks_come_between_entry_and_end(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, build_in_a_row, steps);
    struct hbg_counters before = counters_of(device);
    for (int32_t round = 0; round < 3; round++) {
        int32_t x[12] = { 0 };
        struct edges edges;
        struct hbg_result result = HBG_OPTIONS(result);
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 12))), &result, &edges);
        if (round) assert_true(edges_are(&edges, "0>1 1>2 1>3 1>4 2>5 3>5 4>5 5>6 6>7 7>8 8>9 8>10 8>11 9>12 10>12 11>12 12>13 8>13 13>14 0>15 16>19 17>19 18>19"));
        edges_free(&edges);
        for (int i = 0; i < 12; i++) assert_int_equal(x[i], 1);
        assert_int_equal(result.tasks, 12);
        assert_int_equal(counters_of(device).subgraphs_in_place - before.subgraphs_in_place, 6 * round);
        mark_all(device);
    }
    hbg_program_destroy(program);
}

/* ---- names and scopes ---- */

enum wrong { TASK_OUTSIDE, TASK_INSIDE, REGION_OUTSIDE, OPEN_SCOPE, SCOPE_OF_OTHERS, GIVES_UP, BOUND_REGION, TASK_IN_LIST, WRONGS };
static enum wrong wrong;
static bool is_wrong;
static struct hbg_task kept_task;
static struct hbg_region kept_region;

static void may_be_wrong(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0), t = hbg_alloc(g, HBG_I32, HBG_SHAPE(1));
    struct hbg_task outside = kept_task, inside = hbg_submit(g, COPY, hbg_in(x), hbg_out(AT(t, 0)));
    hbg_submit(g, ADD, hbg_inout(AT(t, 0)), hbg_i32(1), hbg_after(inside));
    hbg_submit(g, COPY, hbg_in(AT(t, 0)), hbg_out(x));
    if (is_wrong && wrong == TASK_INSIDE) hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1), hbg_after(outside));
    if (is_wrong && wrong == OPEN_SCOPE) hbg_scope_begin(g, HBG_SCOPE_AUTO);
    if (is_wrong && wrong == SCOPE_OF_OTHERS) hbg_scope_end(g);
    if (is_wrong && wrong == GIVES_UP) hbg_graph_fail(g, 3, "no more");
    if (wrong == TASK_OUTSIDE || wrong == TASK_IN_LIST) kept_task = inside;
    kept_region = AT(t, 0);
    (void)params;
}

static void build_wrong(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = AT(hbg_args_region(args, 0), 0);
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    kept_task = hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1));
    if (is_wrong && wrong == BOUND_REGION) hbg_subgraph(g, KEY("wrong"), may_be_wrong, HBG_ARGS(hbg_inout(x), hbg_args_scalar(args, 0)));
    else hbg_subgraph(g, KEY("wrong"), may_be_wrong, HBG_ARGS(hbg_inout(x)));
    if (is_wrong && wrong == TASK_IN_LIST) hbg_subgraph(g, KEY("wrong"), may_be_wrong, HBG_ARGS(hbg_inout(x), hbg_after(kept_task)));
    if (is_wrong && wrong == TASK_OUTSIDE) hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1), hbg_after(kept_task));
    if (is_wrong && wrong == REGION_OUTSIDE) hbg_submit(g, COPY, hbg_in(kept_region), hbg_out(x));
    hbg_scope_end(g);
}

static void misuse_has_a_name(struct hbg_device *unused, const struct device_kind *kind)
{
    static const struct { enum hbg_status status; const char *text; } cases[WRONGS] = {
        { HBG_E_TASK_ID, "another graph" }, { HBG_E_TASK_ID, "(in subgraph \"wrong\")" }, { HBG_E_SCOPE, "scope has ended" },
        { HBG_E_ORDER, "1 scope is still open (in subgraph \"wrong\")" }, { HBG_E_ORDER, "(in subgraph \"wrong\")" }, { HBG_E_BUILD, "no more (in subgraph \"wrong\")" },
        { HBG_E_ACCESS, "argument 1 of subgraph \"wrong\" binds a boundary position that is no scalar" },
        { HBG_E_TASK_ID, "hbg_after of subgraph \"wrong\"" },
    };
    (void)unused;
    for (wrong = 0; wrong < WRONGS; wrong++) {
        struct hbg_device *device = device_open(kind->spec, NULL);
        struct hbg_program *program = PROGRAM(device, build_wrong, steps);
        int32_t x[1] = { 0 };
        for (int round = 0; round < 2; round++) {
            is_wrong = false;
            steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))));
            assert_int_equal(x[0], 2 * round + 2);
            mark_all(device);
        }
        is_wrong = true;
        struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), cases[wrong].status);
        if (!strstr(error.text, cases[wrong].text)) fail_msg("case %d: %s", (int)wrong, error.text);
        assert_int_equal(x[0], 4);
        hbg_program_destroy(program);
        device_close(device);
    }
}

/* ---- scalars ---- */

static int32_t seen;

static void scaled(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    seen = hbg_args_get_i32(args, 3);
    hbg_submit(g, SCALE, hbg_in(hbg_args_region(args, 0)), hbg_out(hbg_args_region(args, 1)), hbg_args_scalar(args, 2));
}

static void scaled_inside(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, KEY("scaled"), scaled, HBG_ARGS(hbg_in(hbg_args_region(args, 2)), hbg_out(hbg_args_region(args, 3)), hbg_args_scalar(args, 1), hbg_args_scalar(args, 0)));
}

static void build_scaled(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    hbg_subgraph(g, KEY("inside"), scaled_inside, HBG_ARGS(hbg_args_scalar(args, 2), hbg_args_scalar(args, 1), hbg_in(AT(x, 0)), hbg_out(AT(x, 1))));
    hbg_subgraph(g, KEY("inside"), scaled_inside, HBG_ARGS(hbg_i32(-1), hbg_i32(5), hbg_in(AT(x, 0)), hbg_out(AT(x, 2))));
}

/* What the body looks at is a guard of the program, which is replayed with other values of the rest. */
static void scalars_come_in_through_bodies(struct hbg_device *device, const struct device_kind *kind)
{
    static const struct { int32_t scale, looked_at; bool replayed; } runs[] = { { 2, 7, false }, { 3, 7, false }, { 4, 7, true }, { 4, 8, false }, { 5, 8, true }, { 5, 7, true } };
    (void)kind;
    struct program_spec spec = { .build = build_scaled, KERNEL_TABLE(steps), .pure = true };
    struct hbg_program *program = NULL;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        int32_t x[3] = { 10, 0, 0 };
        if (i < 2) {                    /* the first one records; the second one has no recording of its own */
            hbg_program_destroy(program);
            program = program_create(device, &spec);
        }
        struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 3)), hbg_i32(runs[i].scale), hbg_i32(runs[i].looked_at)));
        assert_int_equal(x[1], 10 * runs[i].scale);
        assert_int_equal(x[2], 50);
        assert_int_equal(result.replayed, runs[i].replayed);
        assert_int_equal(result.subgraphs_recorded, i == 0 ? 4 : 0);
        mark_all(device);
    }
    assert_int_equal(seen, -1);         /* by the last that was called */
    hbg_program_destroy(program);
}

/* A body that is recorded inside of one in place, and takes a scalar of it that is a constant there, or bound. */
static const struct hbg_args *outer;
static int32_t generation;

static void takes_a_scalar(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(outer, 1));
}

static void around_a_taker(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    outer = args;
    hbg_subgraph(g, HBG_KEY("taker", generation), takes_a_scalar, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void build_around_takers(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 4; i++) hbg_subgraph(g, KEY("around"), around_a_taker, HBG_ARGS(hbg_inout(AT(hbg_args_region(args, 0), i)), i % 2 ? hbg_args_scalar(args, 1) : hbg_i32(10 + i)));
}

static void scalars_that_are_captured(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, build_around_takers, steps);
    for (generation = 0; generation < 3; generation++) {
        int32_t x[4] = { 0 };
        steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 4)), hbg_i32(generation)));
        for (int i = 0; i < 4; i++) assert_int_equal(x[i], i % 2 ? generation : 10 + i);
        mark_all(device);
    }
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(tasks_come_between_entry_and_end), DEVICE_TEST(misuse_has_a_name), DEVICE_TEST(scalars_come_in_through_bodies),
        DEVICE_TEST(scalars_that_are_captured),
    };
    return DEVICE_TESTS_RUN(tests);
}
