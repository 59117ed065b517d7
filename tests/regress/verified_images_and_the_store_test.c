/* SPDX-License-Identifier: Apache-2.0 */
/* Which bodies are submitted in place depends on what the store remembers of their key, which it may forget. HBG_VERIFY_REPLAY compared an image that has
 * a body's tasks in place with one that has a definition of the same body, and refused a program that had done nothing wrong. So it did where a body inside had
 * reused heap bytes, and another definition of it, with less room left, had been recorded since. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

enum { OTHERS = 50, SMALL_BUDGET = 8000 };

static struct hbg_region outside;

static void adds_somewhere(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_get_i32(args, 0) ? outside : hbg_args_region(args, 1)), hbg_i32(1));
}

static void adds(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void around(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, KEY("somewhere"), adds_somewhere, HBG_ARGS(hbg_i32(0), hbg_inout(hbg_args_region(args, 0))));
}

static void build_capture(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    outside = hbg_args_region(args, 0);
    hbg_subgraph(g, KEY("somewhere"), adds_somewhere, HBG_ARGS(hbg_i32(1), hbg_inout(outside)));
}

static void build_plain(struct hbg_graph *g, const struct hbg_args *args, const void *params) { around(g, args, params); }

static void build_nested(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 2; i++) hbg_subgraph(g, KEY("around"), around, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void build_others(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < OTHERS; i++) hbg_subgraph(g, HBG_KEY("other", i), adds, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

/* What the store knew of the key makes way for other definitions between the runs. */
static void run_before_and_after(const struct device_kind *kind, hbg_build_fn *build, int32_t added)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.definition_budget_bytes = SMALL_BUDGET;
    struct hbg_device *device = device_open_verifying(kind->spec, &options);
    struct program_spec spec = { .build = build, KERNEL_TABLE(steps), .pure = true };
    struct hbg_program *capture = PROGRAM(device, build_capture, steps), *others = PROGRAM(device, build_others, steps), *tested = program_create(device, &spec);
    struct hbg_program *order[] = { capture, tested, others, tested };
    int32_t expected[] = { 1, added, OTHERS, added };
    for (int i = 0; i < 4; i++) {
        int32_t x[1] = { 0 };
        program_run(order[i], HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
        assert_int_equal(x[0], expected[i]);
        if (order[i] == capture) assert_int_equal(counters_of(device).subgraphs_in_place, 0);
    }
    assert_true(counters_of(device).subgraphs_in_place > 0);
    hbg_program_destroy(capture);
    hbg_program_destroy(others);
    hbg_program_destroy(tested);
    device_close(device);
}

static void of_a_pure_program(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    run_before_and_after(kind, build_plain, 1);
}

static void of_a_body_around(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    run_before_and_after(kind, build_nested, 2);
}

enum { PIECE = 64 };

static bool inner_alone;

static void take(struct hbg_graph *g, int64_t bytes) { hbg_submit(g, ADD_ALL, hbg_inout(hbg_alloc(g, HBG_I32, HBG_SHAPE(bytes / 4))), hbg_i32(1)); }

/* Three pieces where there is room for two: it uses bytes again; for one: it does so earlier. */
static void three_pieces(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 3; i++) {
        hbg_scope_begin(g, HBG_SCOPE_AUTO);
        take(g, PIECE);
        hbg_scope_end(g);
    }
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void around_three_pieces(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    take(g, 2 * PIECE);
    hbg_subgraph(g, KEY("pieces"), three_pieces, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void build_pieces(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_args_region(args, 0)));
    if (inner_alone) take(g, 3 * PIECE);
    if (inner_alone) hbg_subgraph(g, KEY("pieces"), three_pieces, list);
    else hbg_subgraph(g, KEY("around pieces"), around_three_pieces, list);
}

static void with_little_heap(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.limit_heap_bytes = 4 * PIECE;
    struct hbg_device *device = device_open_verifying(kind->spec, &options);
    struct hbg_program *program = PROGRAM(device, build_pieces, steps);
    for (int run = 0; run < 4; run++) {
        int32_t x[1] = { 0 };
        inner_alone = run == 1;
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
        assert_int_equal(x[0], 1);
    }
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(of_a_pure_program), DEVICE_TEST(of_a_body_around), DEVICE_TEST(with_little_heap) };
    return DEVICE_TESTS_RUN(tests);
}
