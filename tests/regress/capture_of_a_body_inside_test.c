/* SPDX-License-Identifier: Apache-2.0 */
/* A body that another one records may capture what that one made. When the outer body became known to the build around, the captured thing
   was looked for in that build by its number in the other: beyond the end of its tables, or something else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

enum { DEPTH = 4, MANY = 20000 };

struct level { int64_t depth, many; };

static struct hbg_region made[DEPTH];

/* Makes intermediates, and submits a body that uses the last of them, and those of the bodies around. */
static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct level *level = params;
    struct level below = { level->depth + 1, level->many };
    struct hbg_region x = hbg_args_region(args, 0);
    for (int64_t i = 0; i < level->depth; i++) hbg_submit(g, ADD, hbg_inout(made[i]), hbg_i32(1));
    if (level->depth == DEPTH) return;
    for (int64_t i = 0; i < level->many; i++) made[level->depth] = hbg_alloc(g, HBG_I32, HBG_SHAPE(1));
    hbg_submit(g, COPY, hbg_in(x), hbg_out(made[level->depth]));
    hbg_subgraph(g, HBG_KEY("level", below), body, HBG_ARGS(hbg_inout(x), hbg_args_scalar(args, 1)));
    hbg_submit(g, COPY, hbg_in(made[level->depth]), hbg_out(AT(hbg_args_region(args, 0), level->depth)));
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    hbg_subgraph(g, HBG_KEY("level", *(const struct level *)params), body, HBG_ARGS(hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(args, 1)));
}

/* A scalar is captured likewise. */
static struct hbg_arg scalar;

static void adds_captured_scalar(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(AT(hbg_args_region(args, 0), 0)), scalar);
}

static void gives_scalar(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    scalar = hbg_args_scalar(args, 5);
    hbg_subgraph(g, KEY("adds"), adds_captured_scalar, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void build_scalar(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, KEY("gives"), gives_scalar, HBG_ARGS(hbg_inout(hbg_args_region(args, 0)), hbg_i32(0), hbg_i32(0), hbg_i32(0), hbg_i32(0), hbg_args_scalar(args, 1)));
}

static void captures_at_each_depth(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static const int64_t many[] = { 1, 30, MANY };
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        struct level top = { 0, many[i] };
        struct hbg_program *program = PROGRAM_WITH(device, build, steps, top);
        for (int run = 0; run < 3; run++) {
            int32_t x[DEPTH] = { 5 };
            program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, DEPTH)), hbg_i32(3)), NULL, NULL);
            for (int d = 0; d < DEPTH; d++) assert_int_equal(x[d], 5 + DEPTH - d);
        }
        hbg_program_destroy(program);
    }
}

static void a_scalar_is_captured(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, build_scalar, steps);
    for (int32_t run = 1; run < 4; run++) {
        int32_t x[1] = { 1 };
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1)), hbg_i32(run)), NULL, NULL);
        assert_int_equal(x[0], 1 + run);
    }
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(captures_at_each_depth), DEVICE_TEST(a_scalar_is_captured) };
    return DEVICE_TESTS_RUN(tests);
}
