/* SPDX-License-Identifier: Apache-2.0 */
/* bodies_found_deep_inside_test.c - a definition that was found was taken however deep it would be nested: definitions lay in each other without limit, and
 * HBG_VERIFY_REPLAY, which records where the limit is kept, found another image. Then those that were recorded at the limit, with what is inside of them in
 * place, were taken everywhere, and bodies that hold them were said to have changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <hbg/describe.h>
#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

enum { DEPTH_MAX = 32, STEP = DEPTH_MAX - 1, TIMES = 3 };

static void deep(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int32_t left = *(const int32_t *)params - 1;
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_args_region(args, 0)));
    hbg_submit(g, ADD, list.arg[0], hbg_i32(left));
    if (left > 0) hbg_subgraph(g, HBG_KEY("deep", left), deep, list);
}

/* The second and the third come to what the one before has recorded. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int32_t k = STEP; k <= TIMES * STEP; k += STEP) hbg_subgraph(g, HBG_KEY("deep", k), deep, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static int deepest(struct hbg_run run)
{
    struct hbg_graph_info graph = HBG_OPTIONS(graph_info);
    int most = 0;
    assert_int_equal(hbg_run_graph(run, &graph), HBG_OK);
    for (uint32_t id = 0; id < graph.slot_count; id++) {
        int depth = -1;
        for (uint32_t at = id; at != UINT32_MAX; depth++) {
            struct hbg_task_info task = HBG_OPTIONS(task_info);
            assert_int_equal(hbg_run_task(run, at, &task), HBG_OK);
            at = task.parent;
        }
        if (depth > most) most = depth;
    }
    return most;
}

static void no_deeper_than_the_limit(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, build, steps);
    int32_t x[1] = { 0 }, want = 0;
    struct hbg_run run;
    (void)kind;
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, &run), HBG_OK);
    assert_int_equal(deepest(run), DEPTH_MAX);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
    for (int32_t k = STEP; k <= TIMES * STEP; k += STEP) want += k * (k - 1) / 2;
    assert_int_equal(x[0], want);
    hbg_program_destroy(program);
}

static void verified(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device *device = device_open_verifying(kind->spec, NULL);
    struct hbg_program *program = PROGRAM(device, build, steps);
    for (int i = 0; i < 2; i++) {
        int32_t x[1] = { 0 };
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
    }
    hbg_program_destroy(program);
    device_close(device);
}

/* ---- what was recorded at the limit ---- */

static int other, around_the_limit;     /* another function that submits the same; what the program submits */
static bool stack_first, stack_has_tops;

static void leaf(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void around_leaf(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    leaf(g, args, params);
    hbg_subgraph(g, KEY("leaf"), leaf, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void same_around_leaf(struct hbg_graph *g, const struct hbg_args *args, const void *params) { around_leaf(g, args, params); }

static void submit_around_leaf(struct hbg_graph *g, const struct hbg_args *args)
{
    hbg_subgraph(g, KEY("around leaf"), other ? same_around_leaf : around_leaf, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void top(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    leaf(g, args, params);
    submit_around_leaf(g, args);
}

static void same_top(struct hbg_graph *g, const struct hbg_args *args, const void *params) { top(g, args, params); }

static void stack(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int32_t left = *(const int32_t *)params - 1;
    if (left > 0) hbg_subgraph(g, HBG_KEY("stack", left), stack, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
    else submit_around_leaf(g, args);
    if (left == 1 && stack_has_tops) hbg_subgraph(g, KEY("top"), top, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));     /* one less deep: two bodies inside */
}

static void submit_stack(struct hbg_graph *g, const struct hbg_args *args)
{
    int32_t levels = STEP;
    hbg_subgraph(g, HBG_KEY("stack", levels), stack, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void build_around_the_limit(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_args_region(args, 0)));
    (void)params;
    if (around_the_limit == 1) { submit_around_leaf(g, args); return; }
    if (around_the_limit == 2) { submit_stack(g, args); return; }
    if (around_the_limit == 3) { hbg_subgraph(g, KEY("top"), top, list); return; }
    int differs = other;
    other = 0;
    if (!stack_first) hbg_subgraph(g, KEY("top"), top, list);
    else submit_stack(g, args);
    if (stack_first) hbg_subgraph(g, KEY("top"), top, list);
    other = differs;
    if (stack_first) submit_around_leaf(g, args);
    else submit_stack(g, args);
    hbg_subgraph(g, KEY("top"), other ? same_top : top, list);
}

static void run_build(struct hbg_program *program, int what, int32_t want)
{
    int32_t x[1] = { 0 };
    around_the_limit = what;
    program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
    assert_int_equal(x[0], want);
}

static void what_was_recorded_at_the_limit(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    for (int i = 0; i < 8; i++) {
        stack_first = i / 4;
        if (i / 2 % 2) setenv("HBG_VERIFY_REPLAY", "1", 1);
        struct hbg_device *device = device_open(kind->spec, NULL);
        unsetenv("HBG_VERIFY_REPLAY");
        struct hbg_program *program = PROGRAM(device, build_around_the_limit, steps);
        other = i % 2;
        for (int k = 0; k < 2; k++) run_build(program, 0, stack_first ? 2 + 3 + 2 + 3 : 3 + 2 + 3);
        hbg_program_destroy(program);
        device_close(device);
    }
    other = 0;
}

/* ---- another function, which nests where nothing more can be nested ---- */

static void add_1000_around(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1000));
    hbg_subgraph(g, KEY("inside"), leaf, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void stack_to_another(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int32_t left = *(const int32_t *)params - 1;
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_args_region(args, 0)));
    if (left > 0) {
        hbg_subgraph(g, HBG_KEY("to another", left), stack_to_another, list);
        return;
    }
    hbg_subgraph(g, KEY("one of two"), leaf, list);
    hbg_subgraph(g, KEY("one of two"), add_1000_around, list);
}

static void build_two_functions(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_args_region(args, 0)));
    int32_t levels = STEP;
    (void)params;
    hbg_subgraph(g, HBG_KEY("to another", levels), stack_to_another, list);
}

static void another_function_at_the_limit(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, build_two_functions, steps);
    (void)kind;
    int32_t x[1] = { 0 };
    program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_IMAGE);
    hbg_program_destroy(program);
}

/* A pure program, verified before and after its body was recorded at the limit, or one that holds it was, a level above. */
static void check_pure(const struct device_kind *kind, int what, int32_t want)
{
    struct hbg_device *device = device_open_verifying(kind->spec, NULL);
    struct program_spec spec = { .build = build_around_the_limit, KERNEL_TABLE(steps), .pure = true };
    struct hbg_program *pure = program_create(device, &spec), *deep_one = PROGRAM(device, build_around_the_limit, steps);
    stack_has_tops = what == 3;
    for (int k = 0; k < 2; k++) run_build(pure, what, want);
    run_build(deep_one, 2, stack_has_tops ? 2 + 3 : 2);
    for (int k = 0; k < 2; k++) run_build(pure, what, want);
    stack_has_tops = false;
    hbg_program_destroy(pure);
    hbg_program_destroy(deep_one);
    device_close(device);
}

static void a_pure_program_after_the_limit(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    check_pure(kind, 1, 2);
    check_pure(kind, 3, 3);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(no_deeper_than_the_limit), DEVICE_TEST(verified), DEVICE_TEST(what_was_recorded_at_the_limit), DEVICE_TEST(a_pure_program_after_the_limit),
        DEVICE_TEST(another_function_at_the_limit),
    };
    return DEVICE_TESTS_RUN(tests);
}
