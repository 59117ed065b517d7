/* SPDX-License-Identifier: Apache-2.0 */
/* failure_test.c - a kernel that fails fails the run: what follows is skipped, what is independent finishes, the lowest failed
 * task is named, and the next run is clean. The skipped set is a property of the graph, not of the schedule. */
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "base/rng.h"

enum { TASKS_MAX = 4000 };
static atomic_uchar executed[TASKS_MAX];
static int32_t failing[8];              /* labels that fail; the rest is -1 */

static void forget(void)
{
    for (int i = 0; i < TASKS_MAX; i++) atomic_store_explicit(&executed[i], 0, memory_order_relaxed);
    for (int i = 0; i < 8; i++) failing[i] = -1;
}

/* The last argument is the task's label. */
static int labelled(const struct hbg_task_view *t)
{
    int32_t label = hbg_view_i32(t, (int)t->arg_count - 1);
    if (label < TASKS_MAX) atomic_fetch_add_explicit(&executed[label], 1, memory_order_relaxed);
    for (int i = 0; i < 8; i++) {
        if (failing[i] == label) return hbg_fail(t, 42 + label, label * 1000);
    }
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, labelled, NULL) };

/* ---- A -> {B, C} -> D, E -> F ---- */

enum { A, B, C, D, E, F };

static void diamond_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
#define CELL(i) hbg_index(x, 0, i)
    hbg_submit(g, 0, hbg_out(CELL(0)), hbg_i32(A));
    hbg_submit(g, 0, hbg_in(CELL(0)), hbg_out(CELL(1)), hbg_i32(B));
    hbg_submit(g, 0, hbg_in(CELL(0)), hbg_out(CELL(2)), hbg_i32(C));
    hbg_submit(g, 0, hbg_in(CELL(1)), hbg_in(CELL(2)), hbg_i32(D));
    hbg_submit(g, 0, hbg_out(CELL(3)), hbg_i32(E));
    hbg_submit(g, 0, hbg_in(CELL(3)), hbg_i32(F));
#undef CELL
}

static void a_task_fails(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[4] = { 0 };
    struct hbg_program *program = PROGRAM(device, diamond_build, kernels);
    for (int round = 0; round < 20; round++) {
        forget();
        failing[0] = B;
        struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 4))), HBG_E_KERNEL);
        assert_int_equal(error.task, B);
        assert_int_equal(error.code, 43);
        assert_int_equal(error.detail, 1000);
        assert_string_equal(error.name, "labelled");
        for (int i = A; i <= F; i++) assert_int_equal(executed[i], i == D ? 0 : 1);
        forget();
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 4))), NULL, NULL);
        for (int i = A; i <= F; i++) assert_int_equal(executed[i], 1);
    }
    hbg_program_destroy(program);
}

/* The same image, replayed after a failure. */
static void a_failed_run_is_replayed(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[4] = { 0 };
    struct program_spec spec = { .build = diamond_build, .kernels = kernels, .kernel_count = 1, .pure = true };
    struct hbg_program *program = program_create(device, &spec);
    struct hbg_result result = HBG_OPTIONS(result);
    for (int round = 0; round < 20; round++) {
        forget();
        failing[0] = round % 3 == 0 ? C : round % 3 == 1 ? A : -1;
        enum hbg_status status = hbg_run_sync(program, HBG_ARGS(hbg_inout(HOST_I32(x, 4))), &result);
        assert_int_equal(status, failing[0] < 0 ? HBG_OK : HBG_E_KERNEL);
        if (round > 0) assert_int_equal(result.replayed, 1);
        for (int i = A; i <= F; i++) assert_int_equal(executed[i], !(failing[0] >= 0 && (i == D || (failing[0] == A && (i == B || i == C)))));
    }
    hbg_program_destroy(program);
}

/* Two independent tasks fail: the lowest id is named, whichever ends first. */
static void the_lowest_failure_is_named(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[4] = { 0 };
    struct hbg_program *program = PROGRAM(device, diamond_build, kernels);
    for (int round = 0; round < 50; round++) {
        forget();
        failing[0] = E;
        failing[1] = C;
        struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 4))), HBG_E_KERNEL);
        assert_int_equal(error.task, C);
        assert_int_equal(error.code, 42 + C);
        assert_int_equal(executed[F], 0);
        assert_int_equal(executed[D], 0);
        assert_int_equal(executed[B], 1);
    }
    hbg_program_destroy(program);
}

/* ---- a long chain of skips ---- */

struct chain { int32_t tasks; };

static void chain_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    for (int32_t i = 0; i < ((const struct chain *)params)->tasks; i++) hbg_submit(g, 0, hbg_inout(hbg_args_region(args, 0)), hbg_i32(i));
}

static void a_chain_of_skips(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct chain chain = { test_scaled(1000000) };
    struct hbg_program *program = PROGRAM_WITH(device, chain_build, kernels, chain);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_run run;
    int32_t x = 0;
    forget();
    failing[0] = 0;
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1))), NULL, &run), HBG_OK);
    uint64_t begin = wall_ns();
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    uint64_t end = wall_ns();
    assert_int_equal(hbg_run_finish(run, &result), HBG_E_KERNEL);
    assert_int_equal(result.error.task, 0);
    assert_int_equal(result.tasks, chain.tasks);
    assert_int_equal(executed[1], 0);
#ifdef HBG_SANITIZED
    assert_true(end - begin < 60000000000u);
#else
    assert_true(end - begin < 1000000000u);
#endif
    hbg_program_destroy(program);
}

/* ---- random graphs: the skipped set follows every edge ---- */

struct random_graph { uint64_t seed; int32_t tasks; };

static void random_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct random_graph *graph = params;
    struct hbg__rng rng;
    hbg__rng_seed(&rng, graph->seed);
    struct hbg_region x = hbg_args_region(args, 0);
    for (int32_t i = 0; i < graph->tasks; i++) {
        struct hbg_arg in = hbg_in(hbg_index(x, 0, hbg__rng_between(&rng, 0, 63))), other = hbg_in(hbg_index(x, 0, hbg__rng_between(&rng, 0, 63)));
        hbg_submit(g, 0, in, other, hbg_out(hbg_index(x, 0, hbg__rng_between(&rng, 0, 63))), hbg_i32(i));
    }
}

/* Labels are ids here: no element collects the 65 readers that would make the library insert a noop. */
static void skips_follow_edges(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static int32_t x[64];
    struct hbg__rng rng;
    hbg__rng_seed(&rng, test_seed(7));
    for (int round = 0; round < test_scaled(60); round++) {
        struct random_graph graph = { hbg__rng_next(&rng), (int32_t)hbg__rng_between(&rng, 10, 400) };
        struct hbg_program *program = PROGRAM_WITH(device, random_build, kernels, graph);
        struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, 64)));
        struct edges edges;
        program_edges(program, list, &edges);
        assert_int_equal(edges.noop_count, 0);
        struct closure closure;
        closure_of_edges(&closure, &edges, true);
        forget();
        int failures = (int)hbg__rng_between(&rng, 1, 3);
        for (int i = 0; i < failures; i++) failing[i] = (int32_t)hbg__rng_between(&rng, 0, graph.tasks - 1);
        struct hbg_result result = HBG_OPTIONS(result);
        assert_int_equal(hbg_run_sync(program, list, &result), HBG_E_KERNEL);
        uint32_t lowest = UINT32_MAX, wrong = UINT32_MAX;
        for (uint32_t task = 0; task < edges.task_count; task++) {
            bool skipped = false;
            for (int i = 0; i < failures; i++) skipped |= closure_before(&closure, (uint32_t)failing[i], task);
            for (int i = 0; i < failures; i++) if ((uint32_t)failing[i] == task && !skipped && lowest == UINT32_MAX) lowest = task;
            if (executed[task] != !skipped) wrong = task;
        }
        if (wrong != UINT32_MAX || result.error.task != lowest) {
            fail_msg("seed %llu, %d tasks: task %u ran %d times; reported %u, the lowest that ran and failed is %u", (unsigned long long)graph.seed,
                     graph.tasks, wrong, wrong == UINT32_MAX ? 0 : executed[wrong], result.error.task, lowest);
        }
        closure_free(&closure);
        edges_free(&edges);
        hbg_program_destroy(program);
    }
}

/* ---- write-after-read carries a skip too ---- */

static void war_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    hbg_submit(g, 0, hbg_in(x), hbg_i32(0));
    hbg_submit(g, 0, hbg_out(x), hbg_i32(1));           /* after the reader: write after read */
    hbg_submit(g, 0, hbg_in(x), hbg_i32(2));
    hbg_submit(g, 0, hbg_out(y), hbg_i32(3));
    struct hbg_task last = hbg_submit(g, 0, hbg_i32(4));
    hbg_submit(g, 0, hbg_after(last), hbg_i32(5));
    hbg_barrier(g);
    hbg_submit(g, 0, hbg_i32(6));                       /* after everything */
}

static void skips_follow_every_kind_of_edge(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x = 0, y = 0;
    struct hbg_program *program = PROGRAM(device, war_build, kernels);
    static const struct { int32_t fails; const char *ran; } cases[] = { { 0, "1001110" }, { 4, "1111100" }, { 3, "1111110" }, { 6, "1111111" } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        forget();
        failing[0] = cases[i].fails;
        struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1)), hbg_inout(HOST_I32(&y, 1))), HBG_E_KERNEL);
        assert_int_equal(error.code, 42 + cases[i].fails);
        for (int label = 0; label < 7; label++) assert_int_equal(executed[label], cases[i].ran[label] - '0');
    }
    hbg_program_destroy(program);
}

/* ---- heap reuse orders, and carries no skip ---- */

static void reuse_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    for (int32_t i = 0; i < 8; i++) {
        hbg_scope_begin(g, HBG_SCOPE_AUTO);
        struct hbg_region u = hbg_alloc(g, HBG_I32, HBG_SHAPE(16));
        hbg_submit(g, 0, hbg_out(u), hbg_i32(4 * i));
        hbg_submit(g, 0, hbg_inout(u), hbg_i32(4 * i + 1));
        hbg_submit(g, 0, hbg_in(u), hbg_i32(4 * i + 2));
        hbg_submit(g, 0, hbg_in(hbg_slice(u, 0, 0, 4)), hbg_out(hbg_index(x, 0, i)), hbg_i32(4 * i + 3));
        hbg_scope_end(g);
    }
}

static void heap_reuse_carries_no_skip(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.limit_heap_bytes = 64;                      /* for one of the eight */
    struct hbg_device *device = device_open(kind->spec, &options);
    struct hbg_program *program = PROGRAM(device, reuse_build, kernels);
    int32_t x[8] = { 0 };
    for (int32_t fails = 0; fails < 32; fails++) {
        forget();
        failing[0] = fails;
        struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 8))), HBG_E_KERNEL);
        assert_int_equal(error.code, 42 + fails);
        for (int32_t label = 0; label < 32; label++) {
            bool skipped = label / 4 == fails / 4 && label > fails && fails % 4 < 2;      /* 2 and 3 both read what 1 left */
            if (executed[label] != !skipped) fail_msg("%d fails: %d ran %d times", fails, label, executed[label]);
        }
    }
    assert_true(counters_of(device).reuse_edges > 0);
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(a_task_fails), DEVICE_TEST(a_failed_run_is_replayed), DEVICE_TEST(the_lowest_failure_is_named),
        DEVICE_TEST(a_chain_of_skips), DEVICE_TEST(skips_follow_edges), DEVICE_TEST(skips_follow_every_kind_of_edge),
        DEVICE_TEST(heap_reuse_carries_no_skip),
    };
    return DEVICE_TESTS_RUN(tests);
}
