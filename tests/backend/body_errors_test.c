/* SPDX-License-Identifier: Apache-2.0 */
/* body_errors_test.c - what is said of nodes: of one that fails, of one that returns what is not supported, of one that runs while a wait
 * times out, of those that a cancel left; in a body, and in a body inside of another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { ADD, FAIL, PENDING, HOLD };

static int add(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 0) += 1;
    return 0;
}

static int fails(const struct hbg_task_view *t) { return hbg_fail(t, 42, 7); }
static int pending(const struct hbg_task_view *t) { (void)t; return HBG_PENDING; }

static atomic_int holding;

static int hold(const struct hbg_task_view *t)
{
    atomic_store(&holding, 1);
    while (!hbg_view_cancelled(t)) nanosleep(&(struct timespec){ 0, 200000 }, NULL);
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(ADD, add, "inout i32"), HBG_KERNEL(FAIL, fails, "inout i32"), HBG_KERNEL(PENDING, pending, "inout i32"),
                                             HBG_KERNEL(HOLD, hold, "inout i32") };

struct scene { uint32_t kernel; int depth; };       /* bodies in one another */

static const char *const names[] = { "one", "two", "three" };

/* (x): 0 add; 1 the kernel, or another body; 2 add */
static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct scene inner = *(const struct scene *)params;
    struct hbg_region x = hbg_args_region(args, 0);
    hbg_submit(g, ADD, hbg_inout(x));
    if (--inner.depth == 0) hbg_submit(g, inner.kernel, hbg_inout(x));
    else hbg_subgraph(g, HBG_KEY(names[inner.depth - 1], inner), body, HBG_ARGS(hbg_inout(x)));
    hbg_submit(g, ADD, hbg_inout(x));
}

/* 0 add y; 1 body y, whose other kernel adds; 2 body x; 3 add x */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct scene scene = *(const struct scene *)params, harmless = { ADD, scene.depth };
    struct hbg_region x = hbg_index(hbg_args_region(args, 0), 0, 0), y = hbg_index(hbg_args_region(args, 0), 0, 1);
    hbg_submit(g, ADD, hbg_inout(y));
    hbg_subgraph(g, HBG_KEY("harmless", harmless), body, HBG_ARGS(hbg_inout(y)));
    hbg_subgraph(g, HBG_KEY(names[scene.depth - 1], scene), body, HBG_ARGS(hbg_inout(x)));
    hbg_submit(g, ADD, hbg_inout(x));
}

static const char *const where[] = { "node 1 of subgraph \"one\" in task 2 (kernel ", "node 1 of subgraph \"one\" inside \"two\" in task 2 (kernel ",
                                     "node 1 of subgraph \"one\" inside \"two\" in task 2 (kernel " };

static void check_text(const struct hbg_error *error, int depth)
{
    assert_int_equal(error->task, 2);
    if (!strstr(error->text, where[depth - 1])) fail_msg("depth %d: %s", depth, error->text);
}

static void a_node_that_fails(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    for (int depth = 1; depth <= 3; depth++) {
        struct scene scene = { FAIL, depth };
        int32_t x[2] = { 0 };
        struct hbg_program *program = PROGRAM_WITH(device, build, kernels, scene);
        struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 2))), HBG_E_KERNEL);
        check_text(&error, depth);
        assert_int_equal(error.code, 42);
        char skipped[64];
        snprintf(skipped, sizeof skipped, "; %d tasks, noops and bodies were skipped", depth + 1);       /* the last of each body around it, and the last task */
        if (!strstr(error.text, skipped)) fail_msg("%s", error.text);
        hbg_program_destroy(program);
    }
}

static void a_node_that_is_not_supported(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct scene scene = { PENDING, 2 };
    int32_t x[2] = { 0 };
    struct hbg_program *program = PROGRAM_WITH(device, build, kernels, scene);
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 2))), HBG_E_UNSUPPORTED);
    check_text(&error, 2);
    hbg_program_destroy(program);
}

/* A wait that times out says which node runs; the cancel counts nodes. */
static void a_node_that_runs_long(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    for (int depth = 1; depth <= 3; depth++) {
        struct scene scene = { HOLD, depth };
        int32_t x[2] = { 0 };
        struct hbg_error error = HBG_OPTIONS(error);
        struct hbg_run_options options = HBG_OPTIONS(run_options);
        struct hbg_result result = HBG_OPTIONS(result);
        struct hbg_run run;
        struct hbg_program *program = PROGRAM_WITH(device, build, kernels, scene);
        options.error = &error;
        atomic_store(&holding, 0);
        assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(x, 2))), &options, &run), HBG_OK);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        while (!atomic_load(&holding)) nanosleep(&(struct timespec){ 0, 200000 }, NULL);
        do assert_int_equal(hbg_run_wait(run, 20000000), HBG_TIMEOUT);
        while (!strstr(error.text, "kernel \"hold\""));         /* another one may have run at that moment */
        check_text(&error, depth);
        assert_non_null(strstr(error.text, "runs longest, on worker "));
        assert_int_equal(hbg_run_cancel(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(run, &result), HBG_E_CANCELLED);
        char skipped[64];
        snprintf(skipped, sizeof skipped, " and %d tasks, noops and bodies were skipped", depth + 1);
        if (!strstr(result.error.text, skipped)) fail_msg("%s", result.error.text);
        hbg_program_destroy(program);
    }
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(a_node_that_fails), DEVICE_TEST(a_node_that_is_not_supported), DEVICE_TEST(a_node_that_runs_long) };
    return DEVICE_TESTS_RUN(tests);
}
