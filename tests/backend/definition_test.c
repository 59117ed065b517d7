/* SPDX-License-Identifier: Apache-2.0 */
/* definition_test.c - bodies that are recorded once and replayed: what is patched, what runs besides, and what is refused. The counters of a
 * result say whether a body was called; CASES 10 and 12. What a later submission has to meet is in definition_guards_test.c and
 * definition_storage_test.c, which are kept in definition_store_test.c, and what cannot be kept in definition_captures_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "image/layout.h"
#include "run/device.h"
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

static int calls;                       /* of the body at hand */

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
    int32_t in[40], out[40];
    uint64_t uploaded[3];
    struct hbg_program *program = PROGRAM(device, build_forty, steps);
    struct hbg_counters before = counters_of(device);
    calls = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 40; i++) in[i] = i;
        memset(out, 0, sizeof out);
        struct hbg_result result = steps_run(program, HBG_ARGS(hbg_in(HOST_I32(in, 40)), hbg_out(HOST_I32(out, 40))));
        for (int i = 0; i < 40; i++) assert_int_equal(out[i], i * i + 1);
        assert_int_equal(result.subgraphs_recorded, round == 0);
        assert_int_equal(result.subgraphs_replayed, round == 0 ? 39 : 40);
        assert_int_equal(result.tasks, 120);
        uploaded[round] = result.upload_bytes;
    }
    assert_int_equal(calls, 1);
    assert_int_equal(counters_of(device).definitions_uploaded - before.definitions_uploaded, 1);
    assert_int_equal(counters_of(device).definition_bytes - before.definition_bytes, kind->discrete ? device->definitions.newest->head->image_bytes : 0);
    if (kind->discrete) assert_int_equal(uploaded[0] - uploaded[1], device->definitions.newest->head->image_bytes);
    hbg_program_destroy(program);
    /* another program with these kernels finds the definition */
    program = PROGRAM(device, build_forty, steps);
    steps_run(program, HBG_ARGS(hbg_in(HOST_I32(in, 40)), hbg_out(HOST_I32(out, 40))));
    assert_int_equal(calls, 1);
    hbg_program_destroy(program);
}

static void one_outer_task_a_submission(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t in[40] = { 0 }, out[40];
    struct hbg_program *program = PROGRAM(device, build_forty, steps);
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
        struct hbg_program *program = PROGRAM_WITH(device, build_diamonds, steps, slow);      /* another key, so it is recorded again */
        pause_ms = slow ? 1 : 0;
        struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x[slow], 5))));
        edges[slow] = result.edges;
        assert_int_equal(result.subgraphs_recorded, 1);
        hbg_program_destroy(program);
    }
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_int_equal(edges[0], edges[1]);
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
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build_nested, KERNEL_TABLE(steps), .pure = true });
    calls = 0;
    for (int32_t k = 1; k < 5; k++) {
        for (int i = 0; i < 9; i++) x[i] = i + 1;
        struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 9)), hbg_i32(k)));
        for (int i = 0; i < 8; i++) assert_int_equal(x[i], ((i + 1) * k * 2 * k * 3 + 1) * 6 + 1);
        assert_int_equal(x[8], 9 * 5 * 2 * 6 + 1);
        assert_int_equal(result.replayed, k > 1);
    }
    assert_int_equal(calls, 3);         /* outer, inner of 2, inner of 3 */
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
    struct hbg_program *program = PROGRAM(device, build_failing, steps);
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 8))), HBG_E_KERNEL);
    assert_int_equal(error.code, 42);   /* the first in the program, whichever ran first */
    assert_int_equal(error.detail, 7);
    assert_int_equal(error.task, 1);
    assert_non_null(strstr(error.text, "node 1 of subgraph \"maybe\" in task 1"));
    memset(x, 0, sizeof x);
    steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 8))));
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
    struct hbg_program *program = PROGRAM_WITH(device, build_misuse, steps, other);
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_IMAGE);
    assert_non_null(strstr(error.text, "\"mind\": recording its body again gives another image: this is another function"));
    hbg_program_destroy(program);
    other = false;
    struct hbg_device *verifying = device_open_verifying(kind->spec, NULL);
    program = PROGRAM_WITH(verifying, build_misuse, steps, other);
    toggle = 0;
    error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_IMAGE);
    assert_non_null(strstr(error.text, "another image: it depends on"));
    hbg_program_destroy(program);
    program = PROGRAM(verifying, build_forty, steps);     /* a body that is none */
    int32_t in[40] = { 0 }, out[40];
    calls = 0;
    steps_run(program, HBG_ARGS(hbg_in(HOST_I32(in, 40)), hbg_out(HOST_I32(out, 40))));
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
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build_by_value, KERNEL_TABLE(steps), .pure = true });
    uint64_t missed = counters_of(device).replay_misses;
    for (int32_t run = 0; run < 14; run++) {                /* the first has nothing to miss, then 8 do, then nobody looks */
        int32_t k = run < 12 ? run : 11;
        in[0] = 0;
        struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(in, 4)), hbg_out(HOST_I32(out, 4)), hbg_i32(k)));
        assert_int_equal(out[0], k * k + 1);
        assert_false(result.replayed);
        if (run > 8) assert_non_null(strstr(result.why, "8 misses"));
    }
    assert_int_equal(counters_of(device).replay_misses - missed, 8);
    for (int again = 0; again < 2; again++) {               /* other shapes */
        struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(in, 3)), hbg_out(HOST_I32(out, 4)), hbg_i32(3)));
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
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build_forty, KERNEL_TABLE(steps), .limit_tasks = 119 });
    struct hbg_error error = program_run_fails(program, list, HBG_E_LIMIT);
    assert_int_equal(error.limit, 119);
    hbg_program_destroy(program);
    program = program_create(device, &(struct program_spec){ .build = build_forty, KERNEL_TABLE(steps), .limit_tasks = 120 });
    steps_run(program, list);
    hbg_program_destroy(program);
}

/* Each level submits the one below twice: so many tasks that no graph has them, out of a few records. */
static void twice_below(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int32_t level = *(const int32_t *)params, below = level - 1;
    if (level == 0) hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
    for (int i = 0; level && i < 2; i++) hbg_subgraph(g, HBG_KEY("twice", below), twice_below, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void build_twice_below(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    hbg_subgraph(g, hbg_key_of("twice", params, sizeof(int32_t)), twice_below, HBG_ARGS(hbg_inout(AT(hbg_args_region(args, 0), 0))));
}

static void more_tasks_than_a_graph_has(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[1] = { 0 }, few = 8, many = 31;
    struct hbg_program *program = PROGRAM_WITH(device, build_twice_below, steps, few);
    struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))));
    assert_int_equal(x[0], 256);
    assert_int_equal(result.tasks, 256);
    hbg_program_destroy(program);
    program = PROGRAM_WITH(device, build_twice_below, steps, many);
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_LIMIT);
    assert_non_null(strstr(error.text, "tasks of one graph, with those of bodies"));
    assert_int_equal(x[0], 256);
    hbg_program_destroy(program);
}

/* Each level adds one and submits the one below: more of them than definitions may lie in one another, so the last ones are in place. */
static void one_below(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int32_t level = *(const int32_t *)params, below = level - 1;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(args, 1));
    if (level) hbg_subgraph(g, HBG_KEY("below", below), one_below, HBG_ARGS(hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(args, 1)));
}

static void build_below(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    for (int i = 0; i < 2; i++) hbg_subgraph(g, hbg_key_of("below", params, sizeof(int32_t)), one_below, HBG_ARGS(hbg_inout(AT(hbg_args_region(args, 0), i)), hbg_args_scalar(args, 1)));
}

static void deeper_than_definitions_go(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    int32_t levels = 40;
    struct hbg_device *device = device_open(kind->spec, NULL);
    struct hbg_program *program = PROGRAM_WITH(device, build_below, steps, levels);
    for (int32_t k = 1; k < 4; k++) {
        int32_t x[2] = { 0 };
        struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 2)), hbg_i32(k)));
        for (int i = 0; i < 2; i++) assert_int_equal(x[i], 41 * k);
        assert_int_equal(result.tasks, 82);
    }
    assert_int_equal(device->definitions.made, 32);
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(addresses_and_scalars_are_patched), DEVICE_TEST(one_outer_task_a_submission),
        DEVICE_TEST(recording_does_not_depend_on_time), DEVICE_TEST(bodies_nest), DEVICE_TEST(a_failure_names_node_and_subgraph),
        DEVICE_TEST(misuse_of_a_key_is_found), DEVICE_TEST(eight_misses_end_the_recording), DEVICE_TEST(tasks_of_bodies_count),
        DEVICE_TEST(more_tasks_than_a_graph_has), DEVICE_TEST(deeper_than_definitions_go),
    };
    return DEVICE_TESTS_RUN(tests);
}
