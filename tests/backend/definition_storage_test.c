/* SPDX-License-Identifier: Apache-2.0 */
/* definition_storage_test.c - which arguments of a body share storage with one another, or with buffers that it names: a definition is found
 * where that is as it was, and tasks are ordered as if there were none. */
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

/* ---- arguments that share storage ---- */

/* a += 1; b's second = a's first * 10; b += 100 */
static void two_on(struct hbg_graph *g, struct hbg_region a, struct hbg_region b)
{
    hbg_submit(g, ADD_ALL, hbg_inout(a), hbg_i32(1));
    hbg_submit(g, SCALE, hbg_in(AT(a, 0)), hbg_out(AT(b, 1)), hbg_i32(10));
    hbg_submit(g, ADD_ALL, hbg_inout(b), hbg_i32(100));
}

/* (a, b) */
static void two_regions(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    two_on(g, hbg_args_region(args, 0), hbg_args_region(args, 1));
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
    struct hbg_program *program = PROGRAM(device, build_aliases, steps);
    struct hbg_counters before = counters_of(device);
    calls = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 40; i++) x[i] = expected[i] = i;
        for (int i = 0; i < ALIASES; i++) two_regions_plainly(expected, alias[i][0], alias[i][1]);
        steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 40))));
        assert_memory_equal(x, expected, sizeof x);
        assert_in_range(calls, 3, 4);   /* apart; one distance; as wholes, at any distance; later rounds none */
        assert_int_equal(counters_of(device).subgraph_misses_alias - before.subgraph_misses_alias, calls - 1);
    }
    hbg_program_destroy(program);
}

/* (k, a, b, c): neither the first nor the last of its arguments share anything. */
static void two_of_more(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    two_on(g, hbg_args_region(args, 1), hbg_args_region(args, 2));
}

/* A list of places of a and b, ended by a negative one; from FAR on they are in another storage, which does not touch the first. */
enum { HALF = 40, FAR = 2 * HALF };
static int32_t third[2];

static struct hbg_region place(const struct hbg_args *args, int at)
{
    return hbg_slice(hbg_args_region(args, at / FAR), 0, at % FAR, at % FAR + 3);
}

static void build_places(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const int (*at)[2] = *(const int (*const *)[2])params;
    for (; (*at)[0] >= 0; at++)
        hbg_subgraph(g, KEY("places"), two_of_more, HBG_ARGS(hbg_i32(1), hbg_inout(place(args, (*at)[0])), hbg_inout(place(args, (*at)[1])), hbg_in(hbg_args_region(args, 2))));
}

static struct hbg_program *program_of_places(struct hbg_device *device, const int (*at)[2])
{
    return PROGRAM_WITH(device, build_places, steps, at);
}

/* How often is a body called that nobody has called before? */
static void check_places(const struct device_kind *kind, const int (*at)[2], int expected_calls)
{
    struct hbg_device *device = device_open(kind->spec, NULL);
    struct hbg_program *program = program_of_places(device, at);
    int32_t x[FAR + HALF], expected[FAR + HALF];
    for (int i = 0; i < FAR + HALF; i++) x[i] = expected[i] = i;
    for (int i = 0; at[i][0] >= 0; i++) two_regions_plainly(expected, at[i][0], at[i][1]);
    calls = 0;
    steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, HALF)), hbg_inout(HOST_I32(x + FAR, HALF)), hbg_in(HOST_I32(third, 2))));
    assert_memory_equal(x, expected, sizeof x);
    assert_int_equal(calls, expected_calls);
    hbg_program_destroy(program);
    device_close(device);
}

static void definitions_are_for_what_is_shared(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    static const int shared_first[][2] = { { 6, 6 }, { 0, FAR }, { 5, 5 }, { FAR + 1, 1 }, { -1, 0 } }, beside[][2] = { { 6, 6 }, { 10, 0 }, { 0, FAR }, { FAR, FAR + 20 }, { -1, 0 } };
    static const int apart_between[][2] = { { 8, 9 }, { 0, 10 }, { 12, 14 }, { 21, 20 }, { 30, 32 }, { 4, 5 }, { -1, 0 } };
    check_places(kind, shared_first, 2);
    check_places(kind, beside, 2);
    check_places(kind, apart_between, 3);           /* at a distance, apart, and as wholes from then on */
}

/* (a, b): each element by a task */
static void elements(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 3; i++) hbg_submit(g, ADD, hbg_inout(AT(hbg_args_region(args, 0), i)), hbg_i32(1));
    for (int i = 0; i < 3; i++) hbg_submit(g, ADD, hbg_inout(AT(hbg_args_region(args, 1), i)), hbg_i32(1));
}

static void build_elements(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const int *b = params;
    hbg_subgraph(g, KEY("elements"), elements, HBG_ARGS(hbg_inout(place(args, 10)), hbg_inout(place(args, *b))));
}

/* (a, b, c): in a body whose arguments share storage at whatever distance, those inside are recorded once for what is known of theirs. */
static void add_to_all(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    for (int i = 0; i < (int)args->count; i++) hbg_submit(g, ADD_ALL, hbg_inout(hbg_args_region(args, i)), hbg_i32(1));
}

static void around_some(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region a = hbg_args_region(args, 0), b = hbg_args_region(args, 1), c = hbg_args_region(args, 2);
    for (int i = 0; i < 2; i++) {
        hbg_subgraph(g, KEY("all three"), add_to_all, HBG_ARGS(hbg_inout(a), hbg_inout(b), hbg_inout(c)));
        hbg_subgraph(g, KEY("two apart"), add_to_all, HBG_ARGS(hbg_inout(c), hbg_inout(a)));
        hbg_subgraph(g, KEY("one"), add_to_all, HBG_ARGS(hbg_inout(a)));
        hbg_subgraph(g, KEY("one"), add_to_all, HBG_ARGS(hbg_inout(b)));
    }
}

static void build_around_some(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    for (int i = 0; i < 3; i++)
        hbg_subgraph(g, KEY("around"), around_some, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 3, 6)), hbg_inout(hbg_slice(x, 0, 3 + i, 6 + i)), hbg_inout(hbg_args_region(args, 1))));
}

static void bodies_inside_of_whatever_distance(struct hbg_device *device, const struct device_kind *kind)
{
    static const int32_t expected[8] = { 0, 0, 0, 22, 26, 30, 8, 4 };
    (void)kind;
    struct hbg_program *program = PROGRAM(device, build_around_some, steps);
    int32_t x[8] = { 0 }, c[2] = { 0 };
    calls = 0;
    struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 8)), hbg_inout(HOST_I32(c, 2))));
    assert_memory_equal(x, expected, sizeof x);
    for (int i = 0; i < 2; i++) assert_int_equal(c[i], 3 * 2 * 2);
    assert_int_equal(calls, 4);         /* "all three" for the distance 0, and where nothing is known of it */
    assert_int_equal(result.subgraphs_recorded, 6);
    hbg_program_destroy(program);
}

/* The definition that a program of one submission takes. */
static const struct hbg__definition *taken(struct hbg_device *device, struct hbg_program *program)
{
    int32_t x[FAR + HALF] = { 0 };
    struct hbg_run run;
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(x, HALF)), hbg_inout(HOST_I32(x + FAR, HALF)), hbg_in(HOST_I32(third, 2))), NULL, &run), HBG_OK);
    const struct hbg__recording *r = &device->run[0].kept->recording;
    assert_int_equal(r->named_count, 1);
    const struct hbg__definition *definition = r->named[0].definition;
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    return definition;
}

static void for_any_distance_all_come_one_after_the_other(struct hbg_device *device, const struct device_kind *kind)
{
    static const int places[] = { 10, 12, 9, FAR, 11 };
    static const uint32_t edges[] = { 3, 5, 5, 0, 5 };
    (void)kind;
    for (int i = 0; i < 5; i++) {
        struct hbg_program *program = PROGRAM_WITH(device, build_elements, steps, places[i]);
        assert_int_equal(taken(device, program)->head->edge_count, edges[i]);
        hbg_program_destroy(program);
    }
}

static void of_two_that_fit_the_one_with_less_order_is_taken(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static const int near[][2] = { { 8, 9 }, { -1, 0 } }, far[][2] = { { 8, 10 }, { -1, 0 } };
    struct hbg_program *one = program_of_places(device, near), *two = program_of_places(device, far);
    const struct hbg__definition *exact = taken(device, one), *wholes = taken(device, two);
    assert_false(exact->wholes);
    assert_true(wholes->wholes);
    assert_ptr_equal(taken(device, one), exact);    /* although the other fits as well, and is newer */
    assert_ptr_equal(taken(device, two), wholes);
    hbg_program_destroy(two);
    hbg_program_destroy(one);
}

/* ---- buffers that a body names ---- */

static struct hbg_buffer *weights;

static void nothing(struct hbg_graph *g, const struct hbg_args *args, const void *params) { (void)g, (void)args, (void)params; }

static void scale_by_weight(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    struct hbg_region x = hbg_args_region(args, 0), w = hbg_buffer_region(weights, 0, HBG_I32, HBG_SHAPE(4));
    hbg_submit(g, ADD, hbg_inout(AT(w, 3)), hbg_i32(1));
    hbg_submit(g, COPY, hbg_in(AT(w, 3)), hbg_out(x));
    hbg_subgraph(g, KEY("nothing"), nothing, HBG_NO_ARGS);             /* named behind the buffer */
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
    struct hbg_program *program = PROGRAM(device, build_with_weights, steps);
    calls = 0;
    for (int32_t round = 0; round < 20; round++) {
        struct hbg_result result = steps_run(program, HBG_ARGS(hbg_out(HOST_I32(x, 8))));
        assert_int_equal(result.subgraphs_missed, round ? 0 : 2);      /* with the one inside */
        assert_string_equal(result.subgraph_why, round ? "" : "\"weights\": arguments in buffers that it names");
        for (int i = 0; i < 6; i++) assert_int_equal(x[i], round * 7 + i + 1);
        assert_int_equal(x[6], round * 7 + 6);
        assert_int_equal(x[7], round * 7 + 7);
    }
    assert_int_equal(calls, 2);         /* the argument apart from the buffer, and in it */
    hbg_program_destroy(program);
    hbg_buffer_destroy(weights);
}

/* Where nothing is known of overlaps a body is found again as well. */
static struct hbg_region captured;

static void captures_and_submits(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    struct hbg_region w = hbg_buffer_region(weights, 0, HBG_I32, HBG_SHAPE(4));
    hbg_submit(g, ADD, hbg_inout(captured), hbg_i32(1));
    for (int i = 0; i < 3; i++) hbg_subgraph(g, KEY("inside"), scale_by_weight, HBG_ARGS(hbg_inout(AT(w, 3))));
    hbg_submit(g, COPY, hbg_in(AT(w, 3)), hbg_out(captured));
}

static void build_captures(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    captured = AT(hbg_args_region(args, 0), 0);
    hbg_subgraph(g, KEY("around"), captures_and_submits, HBG_NO_ARGS);
}

static void a_body_inside_of_one_that_captures(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[1], zero[4] = { 0 };
    assert_int_equal(hbg_buffer_create(device, sizeof zero, &weights), HBG_OK);
    assert_int_equal(hbg_buffer_write(weights, 0, zero, sizeof zero), HBG_OK);
    struct hbg_program *program = PROGRAM(device, build_captures, steps);
    calls = 0;
    steps_run(program, HBG_ARGS(hbg_out(HOST_I32(x, 1))));
    assert_int_equal(x[0], 3);
    assert_int_equal(calls, 1);
    hbg_program_destroy(program);
    hbg_buffer_destroy(weights);
}

/* Arguments in other buffers than the one that the body names, the first thing that the build asks of them. */
static struct hbg_buffer *others[2];

static void build_in_others(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    for (int i = 0; i < 6; i++) hbg_subgraph(g, KEY("others"), scale_by_weight, HBG_ARGS(hbg_inout(AT(hbg_buffer_region(others[i % 2], 0, HBG_I32, HBG_SHAPE(3)), i / 2))));
}

static void buffers_are_arguments(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    enum { BUFFERS = 200, PLACES = 64 };                    /* of a build's cache of buffers: src/graph/graph.h */
    struct hbg_buffer *buffer[BUFFERS];
    int32_t zero[4] = { 0 }, x[2][3];
    for (int i = 0; i < BUFFERS; i++) assert_int_equal(hbg_buffer_create(device, sizeof zero, &buffer[i]), HBG_OK);
    others[0] = buffer[0];
    others[1] = NULL;
    uint32_t handle = hbg_buffer_region(buffer[0], 0, HBG_I32, HBG_SHAPE(3)).storage;
    for (int i = 1; i < BUFFERS && !others[1]; i++)
        if ((hbg_buffer_region(buffer[i], 0, HBG_I32, HBG_SHAPE(3)).storage - handle) % PLACES == 0) others[1] = buffer[i];
    assert_non_null(others[1]);         /* both have one place there */
    weights = buffer[BUFFERS - 1];
    assert_int_equal(hbg_buffer_write(weights, 0, zero, sizeof zero), HBG_OK);
    struct hbg_program *program = PROGRAM(device, build_in_others, steps);
    calls = 0;
    for (int32_t round = 0; round < 3; round++) {
        struct hbg_result result = steps_run(program, HBG_NO_ARGS);
        for (int b = 0; b < 2; b++) assert_int_equal(hbg_buffer_read(others[b], 0, x[b], sizeof x[b]), HBG_OK);
        for (int i = 0; i < 6; i++) assert_int_equal(x[i % 2][i / 2], round * 6 + i + 1);
        assert_int_equal(calls, 1);
        assert_int_equal(result.subgraphs_replayed, round ? 6 : 5);
    }
    hbg_program_destroy(program);
    for (int i = 0; i < BUFFERS; i++) hbg_buffer_destroy(buffer[i]);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(aliases_are_guards), DEVICE_TEST(definitions_are_for_what_is_shared), DEVICE_TEST(bodies_inside_of_whatever_distance),
        DEVICE_TEST(for_any_distance_all_come_one_after_the_other), DEVICE_TEST(of_two_that_fit_the_one_with_less_order_is_taken),
        DEVICE_TEST(buffers_that_a_body_names_make_edges), DEVICE_TEST(a_body_inside_of_one_that_captures),
        DEVICE_TEST(buffers_are_arguments),
    };
    return device_tests_run_with(",depth=1", tests, sizeof tests / sizeof tests[0]);      /* taken() looks into the one slot */
}
