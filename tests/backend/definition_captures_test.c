/* SPDX-License-Identifier: Apache-2.0 */
/* definition_captures_test.c - bodies that use what is not in their list: each submission uses its own, and other bodies of the key are found all
 * the same; what a second recording is compared with; buffers that are let go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "run/device.h"
#include "run/run.h"
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

static int calls;                       /* of the body at hand */

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
    struct hbg_program *program = PROGRAM(device, build_captures, steps);
    struct hbg_counters before = counters_of(device);
    calls = 0;
    for (int32_t round = 0; round < 3; round++) {
        for (int i = 0; i < 6; i++) x[i] = i;
        steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 6)), hbg_i32(10)));
        for (int i = 0; i < 3; i++) {
            assert_int_equal(x[2 * i], 2 * i + 3);
            assert_int_equal(x[2 * i + 1], (2 * i + 3) * 10 + 1);
        }
        assert_int_equal(calls, 3 * (round + 1));       /* each submission calls the body, once */
    }
    assert_int_equal(counters_of(device).subgraphs_recorded - before.subgraphs_recorded, 1);
    assert_int_equal(counters_of(device).subgraphs_in_place - before.subgraphs_in_place, 8);
    assert_int_equal(counters_of(device).subgraph_misses_shape - before.subgraph_misses_shape, 0);
    struct hbg_result result = HBG_OPTIONS(result);
    assert_int_equal(hbg_run_sync(program, HBG_ARGS(hbg_inout(HOST_I32(x, 6)), hbg_i32(10)), &result), HBG_OK);
    assert_int_equal(result.subgraphs_in_place, 3);
    assert_string_equal(result.subgraph_why, "\"captures\" is not kept: it uses a region that is not in its list");
    hbg_program_destroy(program);
}

/* Without a list: all that it uses is captured. */
static struct hbg_region captured_too;
static void scales_by_what_it_captured(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    calls++;
    if (args->count) hbg_submit(g, SCALE, hbg_in(hbg_args_region(args, 0)), hbg_out(hbg_args_region(args, 1)), captured_scalar);
    else hbg_submit(g, SCALE, hbg_in(captured_too), hbg_out(captured), captured_scalar);
    (void)params;
}

static void build_captures_scalars(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 8; i++) {
        captured_scalar = hbg_args_scalar(args, 2 + i % 2);
        captured_too = AT(hbg_args_region(args, 0), i);
        captured = AT(hbg_args_region(args, 1), i);
        if (i < 4) hbg_subgraph(g, KEY("captures a scalar"), scales_by_what_it_captured, HBG_ARGS(hbg_in(captured_too), hbg_out(captured)));
        else hbg_subgraph(g, KEY("captures all"), scales_by_what_it_captured, HBG_NO_ARGS);
    }
}

static void captured_scalars_are_those_of_the_submission(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, build_captures_scalars, steps);
    calls = 0;
    for (int32_t round = 1; round < 4; round++) {
        int32_t x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, y[8];
        steps_run(program, HBG_ARGS(hbg_in(HOST_I32(x, 8)), hbg_out(HOST_I32(y, 8)), hbg_i32(10 * round), hbg_i32(7)));
        for (int i = 0; i < 8; i++) assert_int_equal(y[i], x[i] * (i % 2 ? 7 : 10 * round));
        assert_int_equal(calls, 8 * round);
    }
    hbg_program_destroy(program);
}

static void captures_if_wide(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    calls++;
    hbg_submit(g, ADD_ALL, hbg_inout(x), hbg_i32(1));
    if (x.shape[0] > 1) hbg_submit(g, ADD, hbg_inout(captured), hbg_i32(1));
}

static void build_captures_if_wide(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    static const int end[] = { 1, 3, 6, 1, 6 };
    (void)params;
    captured = AT(hbg_args_region(args, 0), 6);
    for (int i = 0; i < 5; i++) hbg_subgraph(g, KEY("wide"), captures_if_wide, HBG_ARGS(hbg_inout(hbg_slice(hbg_args_region(args, 0), 0, end[i] / 2, end[i]))));
}

/* One of a key is found although others of it cannot be kept, and these are not told of as missed. */
static void a_key_of_both_kinds(struct hbg_device *device, const struct device_kind *kind)
{
    static const int32_t expected[7] = { 2, 1, 1, 2, 2, 2, 3 };
    (void)kind;
    int32_t x[7] = { 0 };
    struct hbg_program *program = PROGRAM(device, build_captures_if_wide, steps);
    struct hbg_counters before = counters_of(device);
    calls = 0;
    steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 7))));
    assert_memory_equal(x, expected, sizeof x);
    assert_int_equal(calls, 4);
    assert_int_equal(counters_of(device).subgraph_misses_shape - before.subgraph_misses_shape, 1);
    assert_int_equal(counters_of(device).subgraphs_in_place - before.subgraphs_in_place, 2);
    hbg_program_destroy(program);
}

/* ---- nothing is known of how arguments and captured regions overlap ---- */

static const struct hbg_args *outer;

/* The first capture comes behind two tasks, or before all; scalars and regions of the build around in turn, each more than once. */
static void captures_all(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    for (int i = 0; i < *(const int *)params; i++) hbg_submit(g, ADD, hbg_inout(AT(x, i)), hbg_i32(1));
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i < (int)outer->count; i++) {
            struct hbg_region y = hbg_args_region(outer, i);
            hbg_submit(g, ADD, hbg_inout(AT(y, 0)), hbg_args_scalar(outer, 0));
            hbg_submit(g, ADD, hbg_inout(AT(y, y.shape[0] - 1)), hbg_i32(1));
        }
        hbg_submit(g, ADD, hbg_inout(AT(x, 2)), hbg_i32(1));
    }
}

static void build_captures_all(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    outer = args;
    hbg_subgraph(g, hbg_key_of("all", params, sizeof(int)), captures_all, HBG_ARGS(hbg_inout(hbg_args_region(args, 1))));
}

static void tasks_behind_a_capture_follow_one_another(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    for (int before = 0; before <= 2; before += 2) {
        int32_t x[6] = { 0 }, line[9] = { 0 };
        struct hbg_program *program = PROGRAM_WITH(device, build_captures_all, steps, before);
        struct hbg_run run;
        assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_i32(10), hbg_inout(HOST_I32(x, 6)), hbg_inout(HOST_I32(line, 6)), hbg_inout(HOST_I32(line + 3, 6))), NULL, &run), HBG_OK);
        const struct hbg__recording *r = &device->run[0].kept->recording;
        const struct hbg__definition *d = NULL;
        for (uint32_t i = 0; i < r->named_count; i++)
            if (r->named[i].definition) d = r->named[i].definition;
        assert_non_null(d);
        assert_int_equal(d->named_count, 4);                        /* a scalar and three regions */
        assert_int_equal(d->head->noop_count, before / 2);          /* behind two that do not know of each other */
        assert_int_equal(d->head->task_count, before + before / 2 + 14);
        assert_int_equal(d->head->edge_count, before ? 2 + 14 : 13);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
        int32_t expected_x[6] = { 20, 0, 2, 0, 0, 2 }, expected_line[9] = { 20, 0, 0, 20, 0, 2, 0, 0, 2 };
        for (int i = 0; i < before; i++) expected_x[i]++;
        assert_memory_equal(x, expected_x, sizeof x);
        assert_memory_equal(line, expected_line, sizeof line);
        hbg_program_destroy(program);
    }
}

/* A scalar that is a constant where it was submitted, and one that came in through two bodies. */
static void adds_two_of_around(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(outer, 1));
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(outer, 2));
}

static void submits_one_that_captures(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    outer = args;
    hbg_subgraph(g, KEY("adds two"), adds_two_of_around, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void build_two_levels(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int32_t i = 0; i < 3; i++)
        hbg_subgraph(g, KEY("two levels"), submits_one_that_captures, HBG_ARGS(hbg_inout(AT(hbg_args_region(args, 0), i)), hbg_i32(100 * i), hbg_args_scalar(args, 1)));
}

static void scalars_of_a_body_around(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, build_two_levels, steps);
    for (int32_t round = 1; round < 4; round++) {
        int32_t x[3] = { 0 };
        steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 3)), hbg_i32(round)));
        for (int i = 0; i < 3; i++) assert_int_equal(x[i], 100 * i + round);
    }
    hbg_program_destroy(program);
}

/* A value of the build around that the body looks at is nothing that a later submission could be asked. */
static void looks_around(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(hbg_args_get_i32(outer, 1)));
}

static void build_looks_around(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    outer = args;
    for (int i = 0; i < 2; i++) hbg_subgraph(g, KEY("looks around"), looks_around, HBG_ARGS(hbg_inout(AT(hbg_args_region(args, 0), i))));
}

static void what_a_body_sees_around_is_not_kept(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, build_looks_around, steps);
    calls = 0;
    for (int32_t round = 1; round < 4; round++) {
        int32_t x[2] = { 0 };
        steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 2)), hbg_i32(round)));
        for (int i = 0; i < 2; i++) assert_int_equal(x[i], round);
        assert_int_equal(calls, 2 * round);
    }
    hbg_program_destroy(program);
}

/* ---- recorded again, beside the definition ---- */

static struct hbg_buffer *named;

static void adds_to_the_captured(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_submit(g, ADD, hbg_inout(captured), hbg_i32(1));
}

/* (x, fails): a body inside uses an intermediate of this one, which names a buffer. */
static void around_one_that_captures(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    calls++;
    captured = hbg_alloc(g, HBG_I32, HBG_SHAPE(1));
    captured = AT(captured, 0);
    hbg_submit(g, COPY, hbg_in(AT(hbg_buffer_region(named, 0, HBG_I32, HBG_SHAPE(1)), 0)), hbg_out(captured));
    hbg_subgraph(g, KEY("captures"), adds_to_the_captured, HBG_NO_ARGS);
    hbg_submit(g, COPY, hbg_in(captured), hbg_out(hbg_args_region(args, 0)));
    if (*(const int *)params) hbg_graph_fail(g, 1, "at the end");
}

static struct hbg_graph *around;

static void names_a_buffer(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    calls++;
    if (*(const int *)params == 2) hbg_barrier(around);             /* which is not to be touched now */
    hbg_submit(g, COPY, hbg_in(AT(hbg_buffer_region(named, 0, HBG_I32, HBG_SHAPE(1)), 0)), hbg_out(hbg_args_region(args, 0)));
    if (*(const int *)params == 1) hbg_graph_fail(g, 1, "at the end");
}

static void build_around(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    for (int i = 0; i < 2; i++) hbg_subgraph(g, hbg_key_of("around", params, sizeof(int)), around_one_that_captures, HBG_ARGS(hbg_out(AT(hbg_args_region(args, 0), i))));
    for (int i = 2; i < 4; i++) hbg_subgraph(g, hbg_key_of("names", params, sizeof(int)), names_a_buffer, HBG_ARGS(hbg_out(AT(hbg_args_region(args, 0), i))));
}

static void build_names(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    around = g;
    hbg_subgraph(g, hbg_key_of("names", params, sizeof(int)), names_a_buffer, HBG_ARGS(hbg_out(AT(hbg_args_region(args, 0), 3))));
}

/* One whose body inside could not be found again is taken as it is; the others are compared, and let go of the buffers that they name. */
static void a_second_recording_is_the_same(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    int32_t x[4] = { 0 }, seven = 7, nothing = 0;
    struct hbg_device *device = device_open_verifying(kind->spec, NULL);
    assert_int_equal(hbg_buffer_create(device, sizeof seven, &named), HBG_OK);
    assert_int_equal(hbg_buffer_write(named, 0, &seven, sizeof seven), HBG_OK);
    struct hbg_program *program = PROGRAM_WITH(device, build_around, steps, nothing);
    calls = 0;
    for (int round = 0; round < 2; round++) {
        static const int32_t expected[] = { 8, 8, 7, 7 };
        steps_run(program, HBG_ARGS(hbg_out(HOST_I32(x, 4))));
        assert_memory_equal(x, expected, sizeof x);
        assert_int_equal(calls, 3 + 2 * round);
    }
    hbg_program_destroy(program);
    hbg_buffer_destroy(named);
    device_close(device);
}

static void fails_the_second_time(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
    if (calls++) hbg_graph_fail(g, 1, "the second time");
}

static void build_fails_the_second_time(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 2; i++) hbg_subgraph(g, KEY("second"), fails_the_second_time, HBG_ARGS(hbg_inout(AT(hbg_args_region(args, 0), 0))));
}

static void inside_of_a_toggle(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void toggles(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, KEY("inside"), inside_of_a_toggle, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(calls++));
}

static void build_toggles(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 2; i++) hbg_subgraph(g, KEY("toggles"), toggles, HBG_ARGS(hbg_inout(AT(hbg_args_region(args, 0), 0))));
}

/* One with a body inside that can be found again is compared as others are. */
static void a_second_recording_that_differs(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    int32_t x[1] = { 0 };
    struct hbg_device *device = device_open_verifying(kind->spec, NULL);
    struct hbg_program *program = PROGRAM(device, build_toggles, steps);
    calls = 0;
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_IMAGE);
    assert_non_null(strstr(error.text, "\"toggles\": recording its body again gives another image"));
    hbg_program_destroy(program);
    device_close(device);
}

static void a_second_recording_that_fails(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    int32_t x[1] = { 0 };
    struct hbg_device *device = device_open_verifying(kind->spec, NULL);
    struct hbg_program *program = PROGRAM(device, build_fails_the_second_time, steps);
    calls = 0;
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_BUILD);
    assert_non_null(strstr(error.text, "the second time (in subgraph \"second\")"));
    hbg_program_destroy(program);
    device_close(device);
}

static void a_body_that_fails_lets_go_of_buffers(struct hbg_device *unused, const struct device_kind *kind)
{
    static const struct { int how; enum hbg_status status; const char *text; } cases[] = {
        { 1, HBG_E_BUILD, "at the end (in subgraph \"names\")" }, { 2, HBG_E_ORDER, "a graph of its own" },
    };
    (void)unused;
    for (int i = 0; i < 2; i++) {
        int32_t x[4];
        struct hbg_device *device = device_open(kind->spec, NULL);
        assert_int_equal(hbg_buffer_create(device, sizeof(int32_t), &named), HBG_OK);
        struct hbg_program *program = PROGRAM_WITH(device, build_names, steps, cases[i].how);
        struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_out(HOST_I32(x, 4))), cases[i].status);
        if (!strstr(error.text, cases[i].text)) fail_msg("%s", error.text);
        hbg_program_destroy(program);
        hbg_buffer_destroy(named);
        device_close(device);
    }
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(what_cannot_be_kept_runs_all_the_same), DEVICE_TEST(captured_scalars_are_those_of_the_submission),
        DEVICE_TEST(a_key_of_both_kinds), DEVICE_TEST(tasks_behind_a_capture_follow_one_another), DEVICE_TEST(scalars_of_a_body_around),
        DEVICE_TEST(what_a_body_sees_around_is_not_kept), DEVICE_TEST(a_second_recording_is_the_same),
        DEVICE_TEST(a_second_recording_that_differs), DEVICE_TEST(a_second_recording_that_fails),
        DEVICE_TEST(a_body_that_fails_lets_go_of_buffers),
    };
    return DEVICE_TESTS_RUN(tests);
}
