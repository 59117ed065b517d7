/* SPDX-License-Identifier: Apache-2.0 */
/* describe_test.c - what hbg_run_graph and its kin say of graphs whose every task, argument and edge is known, before the launch and
 * after the run; and what they refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { FILL, SUM, PLAIN, KERNEL_COUNT };

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }

static const struct hbg_kernel kernels[] = { HBG_KERNEL(FILL, nothing, "out f32, f32"), HBG_KERNEL(SUM, nothing, "in f32, in f32, inout f32"),
                                             HBG_KERNEL(PLAIN, nothing, NULL) };

/*   0 FILL rows 0-1 of y; 1 FILL row 2; 2 SUM x, row 1, row 3; 3 PLAIN rows 2-3; 4 PLAIN after 0; 5 noop after 3; 6 FILL whole y */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    struct hbg_task first = hbg_submit(g, FILL, hbg_out(hbg_slice(y, 0, 0, 2)), hbg_f32(1.5f));
    hbg_submit(g, FILL, hbg_out(hbg_slice(y, 0, 2, 3)), hbg_args_scalar(args, 2));
    hbg_submit(g, SUM, hbg_in(x), hbg_in(hbg_slice(y, 0, 1, 2)), hbg_inout(hbg_slice(y, 0, 3, 4)));
    struct hbg_task plain = hbg_submit(g, PLAIN, hbg_inout(hbg_slice(y, 0, 2, 4)));
    hbg_submit(g, PLAIN, hbg_after(first));
    struct hbg_task noop = hbg_noop(g, hbg_after(plain));
    hbg_submit(g, PLAIN, hbg_after(noop));
}

struct expected_edge { uint32_t task, producer; enum hbg_edge_cause cause; uint32_t argument, producer_argument, pairs; };
static const struct expected_edge expected[] = {
    { 2, 0, HBG_EDGE_REGION, 1, 0, 1 },
    { 3, 2, HBG_EDGE_REGION, 0, 2, 1 },
    { 3, 1, HBG_EDGE_REGION, 0, 0, 1 },
    { 4, 0, HBG_EDGE_ORDER, 0, 0, 0 },
    { 5, 3, HBG_EDGE_NOOP, 0, 0, 0 },
    { 6, 5, HBG_EDGE_NOOP, 0, 0, 0 },
};

static void check_edges(struct hbg_run run)
{
    size_t seen = 0;
    for (uint32_t task = 0; task < 7; task++) {
        struct hbg_task_info info = HBG_OPTIONS(task_info);
        assert_int_equal(hbg_run_task(run, task, &info), HBG_OK);
        assert_int_equal(info.id, task);
        for (uint32_t i = 0; i < info.producer_count; i++, seen++) {
            struct hbg_edge_info edge = HBG_OPTIONS(edge_info);
            assert_int_equal(hbg_run_edge(run, task, i, &edge), HBG_OK);
            assert_true(seen < sizeof expected / sizeof *expected);
            assert_int_equal(expected[seen].task, task);
            assert_int_equal(expected[seen].producer, edge.producer);
            assert_int_equal(expected[seen].cause, edge.cause);
            assert_int_equal(expected[seen].argument, edge.argument);
            assert_int_equal(expected[seen].producer_argument, edge.producer_argument);
            assert_int_equal(expected[seen].pairs, edge.pair_count);
        }
    }
    assert_int_equal(seen, sizeof expected / sizeof *expected);
}

static void check_tasks(struct hbg_run run)
{
    static const char *const name[] = { "nothing", "nothing", "nothing", "nothing", "nothing", "noop", "nothing" };
    static const uint32_t kernel[] = { FILL, FILL, SUM, PLAIN, PLAIN, UINT32_MAX, PLAIN }, arguments[] = { 2, 2, 3, 1, 0, 0, 0 };
    for (uint32_t task = 0; task < 7; task++) {
        struct hbg_task_info info = HBG_OPTIONS(task_info);
        assert_int_equal(hbg_run_task(run, task, &info), HBG_OK);
        assert_string_equal(info.name, name[task]);
        assert_int_equal(info.kernel, kernel[task]);
        assert_int_equal(info.argument_count, arguments[task]);
        assert_int_equal(info.is_noop, task == 5);
        assert_int_equal(info.orders_reuse, 0);
    }
}

static void check_arguments(struct hbg_run run)
{
    struct hbg_argument_info a = HBG_OPTIONS(argument_info);
    assert_int_equal(hbg_run_argument(run, 2, 2, &a), HBG_OK);
    assert_int_equal(a.kind, HBG_ARG_INOUT);
    assert_int_equal(a.place, HBG_PLACE_BOUNDARY);
    assert_int_equal(a.index, 1);
    assert_int_equal(a.dtype, HBG_F32);
    assert_int_equal(a.rank, 2);
    assert_int_equal(a.offset_bytes, 3 * 8 * 4);
    assert_int_equal(a.shape[0], 1);
    assert_int_equal(a.shape[1], 8);
    assert_int_equal(a.stride_bytes[0], 32);
    assert_int_equal(hbg_run_argument(run, 0, 1, &a), HBG_OK);
    assert_int_equal(a.place, HBG_PLACE_VALUE);
    float constant;
    memcpy(&constant, &a.bits, sizeof constant);
    assert_true(constant == 1.5f);
    assert_int_equal(hbg_run_argument(run, 1, 1, &a), HBG_OK);
    assert_int_equal(a.place, HBG_PLACE_BOUNDARY);
    assert_int_equal(a.index, 2);
    memcpy(&constant, &a.bits, sizeof constant);
    assert_true(constant == 2.5f);
    assert_int_equal(hbg_run_argument(run, 3, 0, &a), HBG_OK);
    assert_int_equal(a.kind, 0);                /* no signature */
}

static void check_graph(struct hbg_run run, struct hbg_graph_info *info)
{
    *info = HBG_OPTIONS(graph_info);
    assert_int_equal(hbg_run_graph(run, info), HBG_OK);
    assert_int_equal(info->task_count, 7);
    assert_int_equal(info->submitted, 7);
    assert_int_equal(info->noop_count, 1);
    assert_int_equal(info->root_count, 2);
    assert_int_equal(info->edge_count, sizeof expected / sizeof *expected);
    assert_int_equal(info->record_bytes, 7 * 32);
    assert_int_equal(info->argument_bytes, 8 * 16);
    assert_int_equal(info->edge_bytes, 0);
    assert_int_equal(info->root_bytes, 8);
    assert_int_equal(info->image_bytes, 96 + info->record_bytes + info->argument_bytes + info->root_bytes + info->shared_bytes);
    assert_int_equal(info->history_known, 1);
    assert_int_equal(info->storage_count, 3);
    assert_int_equal(info->grid_count, 1);      /* y; x is used whole */
    assert_in_range(info->cells_used, 1, info->cell_count);
}

static void check_refusals(struct hbg_run run)
{
    struct hbg_task_info task = HBG_OPTIONS(task_info);
    struct hbg_edge_info edge = HBG_OPTIONS(edge_info);
    struct hbg_argument_info argument = HBG_OPTIONS(argument_info);
    assert_int_equal(hbg_run_task(run, 7, &task), HBG_E_TASK_ID);
    assert_int_equal(hbg_run_edge(run, UINT32_MAX, 0, &edge), HBG_E_TASK_ID);
    assert_int_equal(hbg_run_edge(run, 0, 0, &edge), HBG_E_OPTION);
    assert_int_equal(hbg_run_argument(run, 0, 2, &argument), HBG_E_OPTION);
    assert_int_equal(hbg_run_argument(run, 5, 0, &argument), HBG_E_OPTION);
    assert_int_equal(hbg_run_task(run, 0, NULL), HBG_E_NULL);
    assert_int_equal(hbg_run_graph(run, NULL), HBG_E_NULL);
    task.size = 4;
    assert_int_equal(hbg_run_task(run, 0, &task), HBG_E_ABI);
    /* a size that ends early gets no more */
    edge = (struct hbg_edge_info){ .size = offsetof(struct hbg_edge_info, cause), .cause = 77, .argument = 78 };
    assert_int_equal(hbg_run_edge(run, 2, 0, &edge), HBG_OK);
    assert_int_equal(edge.producer, 0);
    assert_int_equal(edge.cause, 77);
    assert_int_equal(edge.argument, 78);
}

static void a_known_graph(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    float x[8] = { 0 }, y[4][8];
    struct hbg_graph_info before, after;
    struct hbg_task_info task = HBG_OPTIONS(task_info);
    struct hbg_program *program = PROGRAM(device, build, kernels);
    struct hbg_arg_list list = HBG_ARGS(hbg_in(hbg_host(x, HBG_F32, HBG_SHAPE(8))), hbg_out(hbg_host(y, HBG_F32, HBG_SHAPE(4, 8))), hbg_f32(2.5f));
    struct hbg_run run;
    assert_int_equal(hbg_run_prepare(program, list, NULL, &run), HBG_OK);
    check_graph(run, &before);
    check_tasks(run);
    check_arguments(run);
    check_edges(run);
    check_refusals(run);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    check_graph(run, &after);
    check_tasks(run);
    check_arguments(run);
    check_edges(run);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
    assert_int_equal(hbg_run_graph(run, &after), HBG_E_STALE);
    assert_int_equal(hbg_run_task(run, 0, &task), HBG_E_STALE);
    hbg_program_destroy(program);
}

/* ---- wide rows of edges, a whole buffer, heap reuse, an empty graph ---- */

enum { READERS = 300 };

static void wide_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region y = hbg_args_region(args, 0);
    for (int i = 0; i < READERS; i++) hbg_submit(g, PLAIN, hbg_out(hbg_slice(y, 0, i, i + 1)));
    struct hbg_task many[READERS];
    struct hbg_arg after[READERS];
    for (int i = 0; i < READERS; i++) {
        many[i] = hbg_submit(g, PLAIN);
        after[i] = hbg_after(many[i]);
    }
    hbg_submit_args(g, PLAIN, (struct hbg_arg_list){ after, READERS });
}

static void wide_rows(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t y[READERS];
    struct hbg_program *program = PROGRAM(device, wide_build, kernels);
    struct hbg_graph_info info = HBG_OPTIONS(graph_info);
    struct hbg_task_info task = HBG_OPTIONS(task_info);
    struct hbg_run run;
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_out(hbg_host(y, HBG_I32, HBG_SHAPE(READERS)))), NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_graph(run, &info), HBG_OK);
    assert_int_equal(info.edge_count, READERS);
    assert_int_equal(info.edge_bytes, (READERS - 3 + 1 + 1) / 2 * 8);
    assert_int_equal(info.cells_used, READERS);
    assert_int_equal(hbg_run_task(run, 2 * READERS, &task), HBG_OK);
    assert_int_equal(task.producer_count, READERS);
    for (uint32_t i = 0; i < READERS; i++) {
        struct hbg_edge_info edge = HBG_OPTIONS(edge_info);
        assert_int_equal(hbg_run_edge(run, 2 * READERS, i, &edge), HBG_OK);
        assert_int_equal(edge.producer, 2 * READERS - 1 - i);
        assert_int_equal(edge.cause, HBG_EDGE_ORDER);
    }
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
}

static void empty_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)g;
    (void)args;
    (void)params;
}

static void an_empty_graph(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, empty_build, kernels);
    struct hbg_graph_info info = HBG_OPTIONS(graph_info);
    struct hbg_task_info task = HBG_OPTIONS(task_info);
    struct hbg_run run;
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_graph(run, &info), HBG_OK);
    assert_int_equal(info.task_count, 0);
    assert_int_equal(info.edge_count, 0);
    assert_int_equal(hbg_run_task(run, 0, &task), HBG_E_TASK_ID);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
}

/* A replay on another slot's history: the graph is known, the history is that of the last build of the slot. */
static void a_replay(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    float x[8] = { 0 }, y[4][8];
    struct hbg_graph_info info;
    struct hbg_arg_list list = HBG_ARGS(hbg_in(hbg_host(x, HBG_F32, HBG_SHAPE(8))), hbg_out(hbg_host(y, HBG_F32, HBG_SHAPE(4, 8))), hbg_f32(2.5f));
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_program *program, *other = PROGRAM(device, empty_build, kernels);
    struct hbg_run run;
    o.build = build;
    o.kernels = kernels;
    o.kernel_count = KERNEL_COUNT;
    o.pure_build = true;
    assert_int_equal(hbg_program_create(device, &o, &program), HBG_OK);
    assert_int_equal(hbg_run_sync(program, list, NULL), HBG_OK);
    assert_int_equal(hbg_run_sync(other, HBG_NO_ARGS, NULL), HBG_OK);
    assert_int_equal(hbg_run_prepare(program, list, NULL, &run), HBG_OK);
    info = (struct hbg_graph_info)HBG_OPTIONS(graph_info);
    assert_int_equal(hbg_run_graph(run, &info), HBG_OK);
    assert_int_equal(info.task_count, 7);
    assert_int_equal(info.history_known, 0);
    assert_int_equal(info.cell_count, 0);
    check_edges(run);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
    hbg_program_destroy(other);
}

enum { ROUNDS = 6, BYTES = 4096 };

static void scopes_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    for (int i = 0; i < ROUNDS; i++) {
        hbg_scope_begin(g, HBG_SCOPE_AUTO);
        struct hbg_region t = hbg_alloc(g, HBG_U8, HBG_SHAPE(BYTES));
        hbg_submit(g, PLAIN, hbg_out(hbg_slice(t, 0, 0, 10)));
        hbg_submit(g, PLAIN, hbg_out(hbg_slice(t, 0, 10, BYTES)));
        hbg_scope_end(g);
    }
}

static uint32_t edges_with_cause(struct hbg_run run, uint32_t tasks, enum hbg_edge_cause cause)
{
    uint32_t count = 0;
    for (uint32_t task = 0; task < tasks; task++) {
        struct hbg_task_info info = HBG_OPTIONS(task_info);
        assert_int_equal(hbg_run_task(run, task, &info), HBG_OK);
        for (uint32_t i = 0; i < info.producer_count; i++) {
            struct hbg_edge_info edge = HBG_OPTIONS(edge_info);
            assert_int_equal(hbg_run_edge(run, task, i, &edge), HBG_OK);
            count += edge.cause == cause;
        }
    }
    return count;
}

/* Two buffers' worth of heap: from the third scope on, each takes the bytes of one that has ended. */
static void heap_reuse(struct hbg_device *device, const struct device_kind *kind)
{
    (void)device;
    struct hbg_device_options o = HBG_OPTIONS(device_options);
    o.heap_reuse_after_bytes = 2 * BYTES;
    struct hbg_device *small = device_open(kind->spec, &o);
    struct hbg_program *program = PROGRAM(small, scopes_build, kernels);
    struct hbg_graph_info info = HBG_OPTIONS(graph_info);
    struct hbg_run run;
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_graph(run, &info), HBG_OK);
    assert_int_equal(info.heap_bytes, 2 * BYTES);
    assert_int_equal(info.submitted, 2 * ROUNDS);
    assert_int_equal(info.reuse_edge_count, 2 * (ROUNDS - 2));      /* into the noop of each scope whose bytes were taken */
    assert_int_equal(edges_with_cause(run, info.task_count, HBG_EDGE_REUSE), 4 * (ROUNDS - 2));    /* and from it to the new users */
    assert_int_equal(edges_with_cause(run, info.task_count, HBG_EDGE_REGION), 0);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
    device_close(small);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(a_known_graph), DEVICE_TEST(wide_rows), DEVICE_TEST(an_empty_graph), DEVICE_TEST(a_replay),
                                                DEVICE_TEST(heap_reuse) };
    return DEVICE_TESTS_RUN(tests);
}
