/* SPDX-License-Identifier: Apache-2.0 */
/* describe_bodies_test.c - what hbg_run_task and its kin say of submissions of bodies, of their nodes, and of what lies between these;
 * every task, argument and edge is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include <hbg/hbg.h>
#include "support/allocator.h"
#include "support/devices.h"
#include "support/program.h"

enum { FILL, SUM, PLAIN };

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }

static const struct hbg_kernel kernels[] = { HBG_KERNEL(FILL, nothing, "out f32, f32"), HBG_KERNEL(SUM, nothing, "in f32, in f32, inout f32"),
                                             HBG_KERNEL(PLAIN, nothing, NULL) };

struct expected_edge { uint32_t task, producer; enum hbg_edge_cause cause; uint32_t argument, producer_argument, pairs; };

/* ---- submissions and nodes ---- */

#define KEY(text) hbg_key_of(text, NULL, 0)

/* (x): 0 PLAIN x */
static void inner_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, PLAIN, hbg_inout(hbg_args_region(args, 0)));
}

/* (x, y, k): 0 FILL t, k; 1 SUM y, t, x; 2 inner x[2:4]; 3 noop after 1; 4 PLAIN after 3 */
static void pair_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), t = hbg_alloc(g, HBG_F32, HBG_SHAPE(8));
    hbg_submit(g, FILL, hbg_out(t), hbg_args_scalar(args, 2));
    struct hbg_task sum = hbg_submit(g, SUM, hbg_in(hbg_args_region(args, 1)), hbg_in(t), hbg_inout(x));
    hbg_subgraph(g, KEY("inner"), inner_body, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 2, 4))));
    hbg_submit(g, PLAIN, hbg_after(hbg_noop(g, hbg_after(sum))));
}

static void empty_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)g;
    (void)args;
    (void)params;
}

/*   0 FILL y; 1 pair x[0:8], y, 2.5; 2 empty; 3 pair x[8:16], y, 1.5; 4 FILL x[8:12] */
static void build_bodies(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    hbg_submit(g, FILL, hbg_out(y), hbg_f32(0));
    hbg_subgraph(g, KEY("pair"), pair_body, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 0, 8)), hbg_in(y), hbg_args_scalar(args, 2)));
    hbg_subgraph(g, KEY("empty"), empty_body, HBG_NO_ARGS);
    hbg_subgraph(g, KEY("pair"), pair_body, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 8, 16)), hbg_in(y), hbg_f32(1.5f)));
    hbg_submit(g, FILL, hbg_out(hbg_slice(x, 0, 8, 12)), hbg_f32(1));
}

enum { PAIR = 5, INNER = 10, AGAIN = 11, AGAIN_INNER = 16, SLOTS = 17, NOBODY = -1 };

static const struct { const char *name; uint32_t kernel, arguments, producers, node; int parent; } node_of[SLOTS] = {
    { "nothing", FILL, 2, 0, 0, NOBODY }, { "pair", UINT32_MAX, 4, 1, 1, NOBODY }, { "empty", UINT32_MAX, 0, 0, 2, NOBODY },
    { "pair", UINT32_MAX, 4, 1, 3, NOBODY }, { "nothing", FILL, 2, 1, 4, NOBODY },
    { "nothing", FILL, 2, 0, 0, 1 }, { "nothing", SUM, 3, 1, 1, 1 }, { "inner", UINT32_MAX, 1, 1, 2, 1 }, { "noop", UINT32_MAX, 0, 1, 3, 1 }, { "nothing", PLAIN, 0, 1, 4, 1 },
    { "nothing", PLAIN, 1, 0, 0, 7 },
    { "nothing", FILL, 2, 0, 0, 3 }, { "nothing", SUM, 3, 1, 1, 3 }, { "inner", UINT32_MAX, 1, 1, 2, 3 }, { "noop", UINT32_MAX, 0, 1, 3, 3 }, { "nothing", PLAIN, 0, 1, 4, 3 },
    { "nothing", PLAIN, 1, 0, 0, 13 },
};

static void check_nodes(struct hbg_run run)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct hbg_task_info t = HBG_OPTIONS(task_info);
        bool submits = node_of[i].kernel == UINT32_MAX && strcmp(node_of[i].name, "noop") != 0;
        assert_int_equal(hbg_run_task(run, i, &t), HBG_OK);
        assert_int_equal(t.id, i);
        assert_string_equal(t.name, node_of[i].name);
        assert_int_equal(t.kernel, node_of[i].kernel);
        assert_int_equal(t.argument_count, node_of[i].arguments);
        assert_int_equal(t.producer_count, node_of[i].producers);
        assert_int_equal(t.node, node_of[i].node);
        assert_int_equal((int)t.parent, node_of[i].parent);
        assert_int_equal(t.is_subgraph, submits);
        if (submits) assert_string_equal(t.subgraph, t.name);
        else assert_null(t.subgraph);
        assert_int_equal(t.first_node, i == 1 ? PAIR : i == 2 || i == 3 ? AGAIN : i == 7 ? INNER : i == 13 ? AGAIN_INNER : 0);
        assert_int_equal(t.body_count, i == 1 || i == 3 ? 5 : i == 7 || i == 13);
        assert_int_equal(t.node_count, i == 1 || i == 3 ? 6 : i == 7 || i == 13);
    }
}

static struct hbg_argument_info argument_of(struct hbg_run run, uint32_t task, uint32_t i)
{
    struct hbg_argument_info a = HBG_OPTIONS(argument_info);
    assert_int_equal(hbg_run_argument(run, task, i, &a), HBG_OK);
    return a;
}

static float value_of(const struct hbg_argument_info *a)
{
    float value;
    memcpy(&value, &a->bits, sizeof value);
    return value;
}

static void check_node_arguments(struct hbg_run run)
{
    struct hbg_argument_info a = argument_of(run, 3, 0);       /* of a submission: its boundary */
    assert_int_equal(a.kind, HBG_ARG_INOUT);
    assert_int_equal(a.place, HBG_PLACE_BOUNDARY);
    assert_int_equal(a.index, 0);
    assert_int_equal(a.offset_bytes, 32);
    assert_int_equal(a.shape[0], 8);
    assert_int_equal(argument_of(run, 3, 1).kind, HBG_ARG_IN);
    a = argument_of(run, 3, 2);
    assert_int_equal(a.kind, HBG_ARG_SCALAR);
    assert_int_equal(a.place, HBG_PLACE_VALUE);
    assert_true(value_of(&a) == 1.5f);
    assert_int_equal(argument_of(run, 3, 3).place, HBG_PLACE_DEFINITION);
    a = argument_of(run, PAIR, 0);
    assert_int_equal(a.place, HBG_PLACE_INTERMEDIATE);
    assert_int_equal(a.offset_bytes, 0);
    a = argument_of(run, PAIR, 1);              /* a scalar that came in */
    assert_int_equal(a.place, HBG_PLACE_BOUNDARY);
    assert_int_equal(a.index, 2);
    assert_true(value_of(&a) == 2.5f);
    a = argument_of(run, AGAIN, 1);
    assert_int_equal(a.place, HBG_PLACE_BOUNDARY);
    assert_true(value_of(&a) == 1.5f);
    a = argument_of(run, AGAIN + 1, 2);         /* of the body, not of the run */
    assert_int_equal(a.place, HBG_PLACE_BOUNDARY);
    assert_int_equal(a.index, 0);
    assert_int_equal(a.offset_bytes, 0);
    assert_int_equal(argument_of(run, AGAIN + 2, 0).offset_bytes, 8);
    assert_int_equal(argument_of(run, AGAIN_INNER, 0).offset_bytes, 0);
}

static const struct expected_edge node_edges[] = {
    { 1, 0, HBG_EDGE_REGION, 1, 0, 1 }, { 3, 0, HBG_EDGE_REGION, 1, 0, 1 }, { 4, 3, HBG_EDGE_REGION, 0, 0, 1 },
    { PAIR + 1, PAIR, HBG_EDGE_REGION, 1, 0, 1 }, { PAIR + 2, PAIR + 1, HBG_EDGE_REGION, 0, 2, 1 },
    { PAIR + 3, PAIR + 1, HBG_EDGE_NOOP, 0, 0, 0 }, { PAIR + 4, PAIR + 3, HBG_EDGE_NOOP, 0, 0, 0 },
    { AGAIN + 1, AGAIN, HBG_EDGE_REGION, 1, 0, 1 }, { AGAIN + 2, AGAIN + 1, HBG_EDGE_REGION, 0, 2, 1 },
    { AGAIN + 3, AGAIN + 1, HBG_EDGE_NOOP, 0, 0, 0 }, { AGAIN + 4, AGAIN + 3, HBG_EDGE_NOOP, 0, 0, 0 },
};

static void check_these_edges(struct hbg_run run, uint32_t tasks, const struct expected_edge *e, size_t count)
{
    size_t seen = 0;
    for (uint32_t task = 0; task < tasks; task++) {
        struct hbg_task_info info = HBG_OPTIONS(task_info);
        assert_int_equal(hbg_run_task(run, task, &info), HBG_OK);
        for (uint32_t i = 0; i < info.producer_count; i++, seen++) {
            struct hbg_edge_info edge = HBG_OPTIONS(edge_info);
            assert_int_equal(hbg_run_edge(run, task, i, &edge), HBG_OK);
            assert_true(seen < count);
            assert_int_equal(e[seen].task, task);
            assert_int_equal(e[seen].producer, edge.producer);
            assert_int_equal(e[seen].cause, edge.cause);
            assert_int_equal(e[seen].argument, edge.argument);
            assert_int_equal(e[seen].producer_argument, edge.producer_argument);
            assert_int_equal(e[seen].pairs, edge.pair_count);
        }
    }
    assert_int_equal(seen, count);
}

static void check_bodies(struct hbg_run run)
{
    struct hbg_graph_info info = HBG_OPTIONS(graph_info);
    struct hbg_task_info task = HBG_OPTIONS(task_info);
    assert_int_equal(hbg_run_graph(run, &info), HBG_OK);
    assert_int_equal(info.task_count, 5);
    assert_int_equal(info.slot_count, SLOTS);
    assert_int_equal(info.slot_bytes, SLOTS * 16);
    assert_int_equal(info.submission_count, 5);
    assert_int_equal(info.definition_count, 3);
    assert_int_equal(info.submitted, 2 + 2 * (4 + 1));
    assert_int_equal(info.edge_count, 3);
    assert_int_equal(info.image_bytes, 96 + info.record_bytes + info.argument_bytes + info.edge_bytes + info.root_bytes + info.shared_bytes);
    check_nodes(run);
    check_node_arguments(run);
    check_these_edges(run, SLOTS, node_edges, sizeof node_edges / sizeof *node_edges);
    assert_int_equal(hbg_run_task(run, SLOTS, &task), HBG_E_TASK_ID);
}

/* Twice: what was recorded by the first run is replayed by the second, another run lies between. */
static void submissions_and_their_nodes(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    float x[16] = { 0 }, y[8];
    struct hbg_program *program = PROGRAM(device, build_bodies, kernels), *other = PROGRAM(device, empty_body, kernels);
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_host(x, HBG_F32, HBG_SHAPE(16))), hbg_out(hbg_host(y, HBG_F32, HBG_SHAPE(8))), hbg_f32(2.5f));
    for (int round = 0; round < 2; round++) {
        struct hbg_run run;
        assert_int_equal(hbg_run_prepare(program, list, NULL, &run), HBG_OK);
        check_bodies(run);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        check_bodies(run);
        assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
        assert_int_equal(hbg_run_sync(other, HBG_NO_ARGS, NULL), HBG_OK);
    }
    hbg_program_destroy(other);
    hbg_program_destroy(program);
}

/* ---- what a body uses beside its list ---- */

static struct hbg_buffer *weights;
static struct hbg_region aside;          /* of the build around the body */

/* (y) with weights and aside */
static void capturing_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, SUM, hbg_in(hbg_buffer_region(weights, 32, HBG_F32, HBG_SHAPE(8))), hbg_in(hbg_args_region(args, 0)), hbg_inout(aside));
}

/* 0 FILL t[0:4]; 1 FILL other; 2 body y; 3 SUM weights, y, t[2:6] */
static void build_captures(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region y = hbg_args_region(args, 0), other = hbg_alloc(g, HBG_F32, HBG_SHAPE(8)), t = hbg_alloc(g, HBG_F32, HBG_SHAPE(8));
    aside = hbg_slice(t, 0, 2, 6);
    hbg_submit(g, FILL, hbg_out(hbg_slice(t, 0, 0, 4)), hbg_f32(0));
    hbg_submit(g, FILL, hbg_out(other), hbg_f32(0));
    hbg_subgraph(g, KEY("uses"), capturing_body, HBG_ARGS(hbg_in(y)));
    hbg_submit(g, SUM, hbg_in(hbg_buffer_region(weights, 0, HBG_F32, HBG_SHAPE(16))), hbg_in(y), hbg_inout(aside));
}

static void what_a_body_uses_beside_its_list(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static const struct expected_edge edges[] = { { 2, 0, HBG_EDGE_REGION, 0, 0, 1 }, { 3, 2, HBG_EDGE_REGION, 2, 0, 1 } };
    float y[8] = { 0 }, zero[16] = { 0 };
    struct hbg_run run;
    assert_int_equal(hbg_buffer_create(device, sizeof zero, &weights), HBG_OK);
    assert_int_equal(hbg_buffer_write(weights, 0, zero, sizeof zero), HBG_OK);
    struct hbg_program *program = PROGRAM(device, build_captures, kernels);
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_in(hbg_host(y, HBG_F32, HBG_SHAPE(8)))), NULL, &run), HBG_OK);
    struct hbg_task_info task = HBG_OPTIONS(task_info);
    assert_int_equal(hbg_run_task(run, 2, &task), HBG_OK);
    assert_int_equal(task.argument_count, 3);
    assert_int_equal(task.first_node, 4);
    bool buffer_first = argument_of(run, 2, 1).place == HBG_PLACE_BUFFER;
    struct hbg_argument_info buffer = argument_of(run, 2, buffer_first ? 1 : 2), captured = argument_of(run, 2, buffer_first ? 2 : 1);
    assert_int_equal(buffer.place, HBG_PLACE_BUFFER);
    assert_int_equal(buffer.index, 0);
    assert_int_equal(buffer.kind, HBG_ARG_IN);
    assert_int_equal(buffer.shape[0], sizeof zero);
    assert_int_equal(captured.place, HBG_PLACE_INTERMEDIATE);
    assert_int_equal(captured.kind, HBG_ARG_INOUT);
    assert_int_equal(captured.shape[0], 32);
    buffer = argument_of(run, 4, 0);
    captured = argument_of(run, 4, 2);
    assert_int_equal(buffer.place, HBG_PLACE_BUFFER);
    assert_int_equal(buffer.offset_bytes, 32);
    assert_int_equal(captured.place, HBG_PLACE_CAPTURED);
    assert_int_equal(captured.index, buffer_first ? 2 : 1);
    assert_int_equal(captured.offset_bytes, 8);
    assert_int_equal(argument_of(run, 3, 0).index, 0);
    struct expected_edge expected_now[2];
    memcpy(expected_now, edges, sizeof edges);
    expected_now[0].argument = expected_now[1].producer_argument = buffer_first ? 2 : 1;
    check_these_edges(run, 5, expected_now, 2);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
    hbg_buffer_destroy(weights);
}

static struct hbg_region of_outer;

static void uses_of_outer(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_submit(g, PLAIN, hbg_inout(hbg_slice(of_outer, 0, 1, 2)));
}

static void outer_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    of_outer = hbg_args_region(args, 0);
    hbg_subgraph(g, KEY("uses of outer"), uses_of_outer, HBG_NO_ARGS);
}

/* 0 outer (x[4:8], x[0:8]); 1 uses of outer, with x[4:8] captured; 2 PLAIN x[5:6] */
static void build_outer(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    hbg_subgraph(g, KEY("outer"), outer_body, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 4, 8)), hbg_inout(hbg_slice(x, 0, 0, 8))));
}

/* Both arguments of the outer body are one storage, which begins before its first argument does. */
static void offsets_of_a_capture_add_up(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    float x[8] = { 0 };
    struct hbg_run run;
    struct hbg_program *program = PROGRAM(device, build_outer, kernels);
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_F32, HBG_SHAPE(8)))), NULL, &run), HBG_OK);
    struct hbg_argument_info outer = argument_of(run, 0, 0), inner = argument_of(run, 1, 0), used = argument_of(run, 2, 0);
    assert_int_equal(inner.place, HBG_PLACE_BOUNDARY);
    assert_int_equal(inner.index, 0);
    assert_int_equal(used.place, HBG_PLACE_CAPTURED);
    assert_true(used.offset_bytes >= 0);
    assert_int_equal(outer.offset_bytes + inner.offset_bytes + used.offset_bytes, 5 * sizeof(float));
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
}

/* ---- very many submissions ---- */

enum { MANY = 10000 };

static void build_many(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < MANY; i++) hbg_subgraph(g, KEY("inner"), inner_body, HBG_ARGS(hbg_inout(hbg_slice(hbg_args_region(args, 0), 0, i % 8, i % 8 + 1))));
}

static void ten_thousand_submissions(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    float x[8] = { 0 };
    struct hbg_run run;
    struct hbg_program *program = PROGRAM(device, build_many, kernels);
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_F32, HBG_SHAPE(8)))), NULL, &run), HBG_OK);
    for (uint32_t i = 0; i < MANY; i++) {
        struct hbg_task_info task = HBG_OPTIONS(task_info);
        assert_int_equal(hbg_run_task(run, MANY + i, &task), HBG_OK);
        assert_int_equal(task.parent, i);
        assert_int_equal(argument_of(run, MANY + i, 0).offset_bytes, 0);
    }
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
}

/* ---- the list of submissions, which the first question makes ---- */

enum { ASKING = 4 };

struct asking { struct hbg_run run; pthread_t thread; uint32_t wrong; };

static void *ask(void *argument)
{
    struct asking *a = argument;
    for (uint32_t i = 0; i < MANY; i++) {
        struct hbg_task_info task = HBG_OPTIONS(task_info);
        a->wrong += hbg_run_task(a->run, MANY + i, &task) != HBG_OK || task.parent != i;
    }
    return NULL;
}

static void several_threads_ask(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    float x[8] = { 0 };
    struct asking asking[ASKING];
    struct hbg_run run;
    struct hbg_program *program = PROGRAM(device, build_many, kernels);
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_F32, HBG_SHAPE(8)))), NULL, &run), HBG_OK);
    for (int i = 0; i < ASKING; i++) {
        asking[i] = (struct asking){ .run = run };
        assert_int_equal(pthread_create(&asking[i].thread, NULL, ask, &asking[i]), 0);
    }
    for (int i = 0; i < ASKING; i++) {
        pthread_join(asking[i].thread, NULL);
        assert_int_equal(asking[i].wrong, 0);
    }
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
}

static void a_list_that_cannot_be_made(struct hbg_device *device, const struct device_kind *kind)
{
    (void)device;
    struct test_allocator memory = TEST_ALLOCATOR;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_task_info task = HBG_OPTIONS(task_info);
    float x[8] = { 0 };
    options.allocator = test_allocator_ops(&memory);
    struct hbg_device *own = device_open(kind->spec, &options);
    struct hbg_program *program = PROGRAM(own, build_many, kernels);
    for (int round = 0; round < 4; round++) {
        struct hbg_run run;
        assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_F32, HBG_SHAPE(8)))), NULL, &run), HBG_OK);
        if (round == 0) {
            test_allocator_fail(&memory, 0, 1);
            assert_int_equal(hbg_run_task(run, MANY, &task), HBG_E_NO_MEMORY);
            assert_int_equal(hbg_run_task(run, 0, &task), HBG_OK);
        }
        assert_int_equal(hbg_run_task(run, MANY, &task), HBG_OK);
        assert_int_equal(hbg_run_cancel(run), HBG_OK);
        assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    }
    hbg_program_destroy(program);
    device_close(own);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(submissions_and_their_nodes), DEVICE_TEST(what_a_body_uses_beside_its_list),
                                                DEVICE_TEST(offsets_of_a_capture_add_up),
                                                DEVICE_TEST(ten_thousand_submissions), DEVICE_TEST(several_threads_ask),
                                                DEVICE_TEST(a_list_that_cannot_be_made) };
    return DEVICE_TESTS_RUN(tests);
}
