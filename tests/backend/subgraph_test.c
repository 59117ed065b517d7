/* SPDX-License-Identifier: Apache-2.0 */
/* subgraph_test.c - bodies that are submitted as one task: order, names, scopes, scalars that come in through them, and what is refused.
 * Random bodies are in random_graph_test.c. */
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { SCALE, ADD, COPY, TICK, FAIL };

/* out = in * k */
static int scale(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 1) = *HBG_VIEW(int32_t, t, 0) * hbg_view_i32(t, 2);
    return 0;
}

/* x += k */
static int add(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 0) += hbg_view_i32(t, 1);
    return 0;
}

static int copy(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 1) = *HBG_VIEW(int32_t, t, 0);
    return 0;
}

static atomic_int ticks;
static int tick(const struct hbg_task_view *t)          /* *seen = how many came before */
{
    *HBG_VIEW(int32_t, t, 0) = atomic_fetch_add(&ticks, 1);
    return 0;
}

static int always_fails(const struct hbg_task_view *t) { return hbg_fail(t, 9, 0); }

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(SCALE, scale, "in i32, out i32, i32"), HBG_KERNEL(ADD, add, "inout i32, i32"), HBG_KERNEL(COPY, copy, "in i32, out i32"),
    HBG_KERNEL(TICK, tick, NULL), HBG_KERNEL(FAIL, always_fails, NULL),
};

#define I32(x) HOST_I32(x, 1)
#define KEY(text) hbg_key_of(text, NULL, 0)

/* ---- CASES 10 and 11 ---- */

/* (in, out, k): u = in * k, v = u + 1, out = v; the intermediates end with the body */
static void times_plus_one(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region u = hbg_alloc(g, HBG_I32, HBG_SHAPE(1));
    hbg_submit(g, SCALE, hbg_in(hbg_args_region(args, 0)), hbg_out(u), hbg_args_scalar(args, 2));
    hbg_submit(g, ADD, hbg_inout(u), hbg_i32(1));
    hbg_submit(g, COPY, hbg_in(u), hbg_out(hbg_args_region(args, 1)));
}

/* (in, out, k): the same with k + 1 computed by the host */
static void times_next(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, SCALE, hbg_in(hbg_args_region(args, 0)), hbg_out(hbg_args_region(args, 1)), hbg_i32(hbg_args_get_i32(args, 2) + 1));
}

/* A body in a body: the scalar is bound through both. */
static void outer_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    hbg_build_fn *const *inner = params;
    hbg_subgraph(g, KEY("inner"), *inner, HBG_ARGS(hbg_in(hbg_args_region(args, 1)), hbg_out(hbg_args_region(args, 2)), hbg_args_scalar(args, 0)));
}

static void build_with_bound(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    hbg_subgraph(g, hbg_key_of("outer", params, sizeof(hbg_build_fn *)), outer_body,
                 HBG_ARGS(hbg_args_scalar(args, 2), hbg_in(hbg_args_region(args, 0)), hbg_out(hbg_args_region(args, 1))));
}

static void build_with_constants(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    hbg_build_fn *const *inner = params;
    for (int32_t i = 0; i < 40; i++)
        hbg_subgraph(g, KEY("step"), *inner, HBG_ARGS(hbg_in(hbg_index(hbg_args_region(args, 0), 0, i)), hbg_out(hbg_index(hbg_args_region(args, 1), 0, i)), hbg_i32(i)));
}

static void scalars_reach_the_kernels(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    hbg_build_fn *const bodies[] = { times_plus_one, times_next };
    for (int b = 0; b < 2; b++) {
        int32_t in[40], out[40];
        for (int i = 0; i < 40; i++) in[i] = i;
        struct hbg_program *constants = PROGRAM_WITH(device, build_with_constants, kernels, bodies[b]);
        program_run(constants, HBG_ARGS(hbg_in(HOST_I32(in, 40)), hbg_out(HOST_I32(out, 40))), NULL, NULL);
        for (int i = 0; i < 40; i++) assert_int_equal(out[i], b ? i * (i + 1) : i * i + 1);
        hbg_program_destroy(constants);
        struct hbg_program *bound = program_create(device, &(struct program_spec){ .build = build_with_bound, KERNEL_TABLE(kernels), .params = &bodies[b],
                                                                                    .params_size = sizeof bodies[b], .pure = true });
        for (int32_t k = 0; k < 5; k++) {
            struct hbg_result result = HBG_OPTIONS(result);
            program_run(bound, HBG_ARGS(hbg_in(I32(&in[k])), hbg_out(I32(&out[k])), hbg_i32(k)), &result, NULL);
            assert_int_equal(out[k], b ? k * (k + 1) : k * k + 1);
            assert_int_equal(result.replayed, b == 0 && k > 0);         /* a value that the body looked at is a guard of the program */
        }
        hbg_program_destroy(bound);
    }
}

/* ---- order ---- */

static void three_ticks(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    hbg_submit(g, TICK, hbg_untracked(hbg_index(x, 0, 0)));
    hbg_submit(g, TICK, hbg_untracked(hbg_index(x, 0, 1)));
    hbg_submit(g, TICK, hbg_untracked(hbg_index(x, 0, 2)));
}

static void nothing_body(struct hbg_graph *g, const struct hbg_args *args, const void *params) { (void)g, (void)args, (void)params; }

static void nested_ticks(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, KEY("ticks"), three_ticks, HBG_ARGS(hbg_untracked(hbg_args_region(args, 0))));
}

/* Only explicit edges order these: a task, a body, an empty body, a body in a body, a task. */
static void build_in_a_row(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    struct hbg_task first = hbg_submit(g, TICK, hbg_untracked(hbg_index(x, 0, 0)));
    struct hbg_task second = hbg_subgraph(g, KEY("ticks"), three_ticks, HBG_ARGS(hbg_untracked(hbg_slice(x, 0, 1, 4)), hbg_after(first)));
    struct hbg_task third = hbg_subgraph(g, KEY("nothing"), nothing_body, HBG_ARGS(hbg_after(second)));
    struct hbg_task fourth = hbg_subgraph(g, KEY("nested"), nested_ticks, HBG_ARGS(hbg_after(third), hbg_untracked(hbg_slice(x, 0, 4, 7))));
    hbg_submit(g, TICK, hbg_untracked(hbg_index(x, 0, 7)), hbg_after(fourth));
}

static void explicit_edges_go_round_bodies(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, build_in_a_row, kernels);
    for (int round = 0; round < 200; round++) {
        int32_t seen[8];
        atomic_store(&ticks, 0);
        program_run(program, HBG_ARGS(hbg_out(HOST_I32(seen, 8))), NULL, NULL);
        assert_int_equal(seen[0], 0);
        for (int i = 1; i < 4; i++) assert_in_range(seen[i], 1, 3);
        for (int i = 4; i < 7; i++) assert_in_range(seen[i], 4, 6);
        assert_int_equal(seen[7], 7);
    }
    hbg_program_destroy(program);
}

static void failing_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, FAIL, hbg_inout(hbg_args_region(args, 0)));
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void build_that_fails(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    struct hbg_task end = hbg_subgraph(g, KEY("failing"), failing_body, HBG_ARGS(hbg_inout(hbg_index(x, 0, 0))));
    hbg_submit(g, TICK, hbg_out(hbg_index(x, 0, 1)), hbg_after(end));
    hbg_submit(g, TICK, hbg_out(hbg_index(x, 0, 2)));
}

static void what_comes_after_a_failed_body_is_skipped(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[3] = { 0 };
    struct hbg_program *program = PROGRAM(device, build_that_fails, kernels);
    atomic_store(&ticks, 0);
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 3))), HBG_E_KERNEL);
    assert_int_equal(error.code, 9);
    assert_int_equal(atomic_load(&ticks), 1);
    hbg_program_destroy(program);
}

/* ---- what is refused ---- */

static struct hbg_task kept_task;
static struct hbg_region kept_region;

static void body_keeps_its_task(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    kept_region = hbg_alloc(g, HBG_I32, HBG_SHAPE(1));
    kept_task = hbg_submit(g, COPY, hbg_in(hbg_args_region(args, 0)), hbg_out(kept_region));
}

static void body_uses_a_kept_task(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1), hbg_after(kept_task));
}

static void body_writes(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void body_leaves_a_scope_open(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
}

static void body_ends_a_scope_of_others(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_scope_end(g);
}

static void body_binds_a_region(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(args, 0));
}

static void body_uses_a_kept_region(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, COPY, hbg_in(kept_region), hbg_out(hbg_args_region(args, 0)));
}

static const struct hbg_args *around_args;
static void body_binds_a_region_around(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(around_args, 0));
}

static void body_reads_too_far(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_read(g, hbg_slice(hbg_args_region(args, 0), 0, 0, 2));
}

static void keep_an_ended_region(struct hbg_graph *g)
{
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    kept_region = hbg_alloc(g, HBG_I32, HBG_SHAPE(1));
    hbg_scope_end(g);
}

#define BUILD(name, ...)                                                                                               \
    static void build_##name(struct hbg_graph *g, const struct hbg_args *args, const void *params)                     \
    {                                                                                                                  \
        struct hbg_region x = hbg_args_region(args, 0);                                                                \
        (void)params, (void)x;                                                                                         \
        __VA_ARGS__;                                                                                                   \
    }
BUILD(inner_task_outside, hbg_subgraph(g, KEY("b"), body_keeps_its_task, HBG_ARGS(hbg_in(x))); hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1), hbg_after(kept_task)))
BUILD(outer_task_inside, kept_task = hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1)); hbg_subgraph(g, KEY("b"), body_uses_a_kept_task, HBG_ARGS(hbg_inout(x))))
BUILD(inner_task_in_a_list, hbg_subgraph(g, KEY("b"), body_keeps_its_task, HBG_ARGS(hbg_in(x))); hbg_subgraph(g, KEY("b"), body_writes, HBG_ARGS(hbg_inout(x), hbg_after(kept_task))))
BUILD(inner_region_outside, hbg_subgraph(g, KEY("b"), body_keeps_its_task, HBG_ARGS(hbg_in(x))); hbg_submit(g, COPY, hbg_in(kept_region), hbg_out(x)))
BUILD(inner_region_read_outside, hbg_subgraph(g, KEY("b"), body_keeps_its_task, HBG_ARGS(hbg_in(x))); hbg_read(g, kept_region))
BUILD(ended_region_inside, keep_an_ended_region(g); hbg_subgraph(g, KEY("b"), body_uses_a_kept_region, HBG_ARGS(hbg_inout(x))))
BUILD(region_around_as_scalar, around_args = args; hbg_subgraph(g, KEY("b"), body_binds_a_region_around, HBG_ARGS(hbg_inout(x))))
BUILD(bad_read, hbg_subgraph(g, KEY("b"), body_reads_too_far, HBG_ARGS(hbg_in(x))))
BUILD(write_of_an_input, hbg_subgraph(g, KEY("b"), body_writes, HBG_ARGS(hbg_in(x))))
BUILD(out_of_read_only, x.flags |= HBG_REGION_READ_ONLY; hbg_subgraph(g, KEY("b"), body_writes, HBG_ARGS(hbg_inout(x))))
BUILD(open_scope, hbg_subgraph(g, KEY("b"), body_leaves_a_scope_open, HBG_NO_ARGS))
BUILD(scope_of_others, hbg_scope_begin(g, HBG_SCOPE_AUTO); hbg_subgraph(g, KEY("b"), body_ends_a_scope_of_others, HBG_NO_ARGS))
BUILD(bound_region, hbg_subgraph(g, KEY("b"), body_binds_a_region, HBG_ARGS(hbg_inout(x))))
BUILD(bound_region_in_a_list, hbg_subgraph(g, KEY("b"), nothing_body, HBG_ARGS(hbg_inout(x), hbg_args_scalar(args, 0))))
BUILD(bytes, hbg_subgraph(g, KEY("b"), nothing_body, HBG_ARGS(hbg_bytes(&kept_task, 8))))
BUILD(manual_scope, hbg_scope_begin(g, HBG_SCOPE_MANUAL); hbg_subgraph(g, KEY("b"), body_writes, HBG_ARGS(hbg_inout(x))))
BUILD(host_memory, static int32_t y[1]; hbg_subgraph(g, KEY("b"), body_writes, HBG_ARGS(hbg_inout(x), hbg_inout(I32(y)))))
BUILD(bad_view, hbg_subgraph(g, KEY("b"), body_writes, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 0, 2)))))
BUILD(no_list, hbg_subgraph(g, KEY("b"), body_writes, (struct hbg_arg_list){ NULL, 1 }))
BUILD(accumulate, struct hbg_arg sum = hbg_inout(x); sum.kind = HBG_ARG_ACCUMULATE; hbg_subgraph(g, KEY("b"), body_writes, HBG_ARGS(sum)))
BUILD(no_name, hbg_subgraph(g, hbg_key_of(NULL, NULL, 0), body_writes, HBG_ARGS(hbg_inout(x))))
BUILD(no_body, hbg_subgraph(g, KEY("b"), NULL, HBG_ARGS(hbg_inout(x))))
BUILD(no_params, hbg_subgraph(g, hbg_key_of("b", NULL, 8), body_writes, HBG_ARGS(hbg_inout(x))))

static void misuse_has_a_name(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static const struct { hbg_build_fn *build; enum hbg_status status; const char *text; } cases[] = {
        { build_inner_task_outside, HBG_E_TASK_ID, "another graph" }, { build_outer_task_inside, HBG_E_TASK_ID, "subgraph \"b\"" },
        { build_inner_task_in_a_list, HBG_E_TASK_ID, "another graph or body" }, { build_inner_region_outside, HBG_E_SCOPE, "or of a body that has returned" }, { build_inner_region_read_outside, HBG_E_SCOPE, "another build" },
        { build_ended_region_inside, HBG_E_SCOPE, "scope has ended" }, { build_region_around_as_scalar, HBG_E_ACCESS, "no scalar" },
        { build_bad_read, HBG_E_REGION, "the region of hbg_read" },
        { build_write_of_an_input, HBG_E_ACCESS, "read-only" }, { build_out_of_read_only, HBG_E_ACCESS, "argument 0 of subgraph \"b\"" },
        { build_open_scope, HBG_E_ORDER, "the body has returned and 1 scope is still open" }, { build_scope_of_others, HBG_E_ORDER, "in this body" },
        { build_bound_region, HBG_E_ACCESS, "no scalar" }, { build_bound_region_in_a_list, HBG_E_ACCESS, "argument 1 of subgraph \"b\"" },
        { build_bytes, HBG_E_UNSUPPORTED, "hbg_bytes" }, { build_manual_scope, HBG_E_UNSUPPORTED, "manual scope" },
        { build_host_memory, HBG_E_REGION, "argument 1 of subgraph \"b\"" }, { build_bad_view, HBG_E_REGION, "argument 0 of subgraph \"b\"" },
        { build_no_list, HBG_E_NULL, "list" }, { build_accumulate, HBG_E_UNSUPPORTED, "hbg_accumulate" },
        { build_no_name, HBG_E_NULL, "name" }, { build_no_body, HBG_E_NULL, "body" }, { build_no_params, HBG_E_NULL, "subgraph \"b\" has params NULL and a params_size of 8" },
    };
    int32_t x[1] = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hbg_program *program = PROGRAM(device, cases[i].build, kernels);
        struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(I32(x))), cases[i].status);
        if (!strstr(error.text, cases[i].text)) fail_msg("case %zu: %s", i, error.text);
        hbg_program_destroy(program);
    }
    assert_int_equal(x[0], 0);
}

/* ---- the graph around a body ---- */

static struct hbg_graph *around;
enum use { SUBMIT, NOOP, SUBGRAPH, ALLOC, SCOPE_BEGIN, SCOPE_END, BARRIER, USES };

static void body_uses_the_graph_around(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    switch (*(const enum use *)params) {
    case SUBMIT: hbg_submit(around, ADD, hbg_inout(x), hbg_i32(1)); break;
    case NOOP: hbg_noop(around, hbg_inout(x)); break;
    case SUBGRAPH: hbg_subgraph(around, KEY("other"), nothing_body, HBG_NO_ARGS); break;
    case ALLOC: hbg_alloc(around, HBG_I32, HBG_SHAPE(1)); break;
    case SCOPE_BEGIN: hbg_scope_begin(around, HBG_SCOPE_AUTO); break;
    case SCOPE_END: hbg_scope_end(around); break;
    default: hbg_barrier(around);
    }
    hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1));
}

static void build_around(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    around = g;
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1));
    hbg_subgraph(g, hbg_key_of("b", params, sizeof(enum use)), body_uses_the_graph_around, HBG_ARGS(hbg_inout(x)));
    hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1));
    hbg_scope_end(g);
}

static void a_body_has_a_graph_of_its_own(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[1] = { 0 };
    for (enum use use = SUBMIT; use < USES; use++) {
        struct hbg_program *program = PROGRAM_WITH(device, build_around, kernels, use);
        struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(I32(x))), HBG_E_ORDER);
        if (!strstr(error.text, "a graph of its own") || !strstr(error.text, "(in subgraph \"b\")")) fail_msg("use %d: %s", (int)use, error.text);
        hbg_program_destroy(program);
    }
    assert_int_equal(x[0], 0);
}

/* ---- what works besides ---- */

static struct hbg_region captured;

static void body_captures(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, SCALE, hbg_in(captured), hbg_out(hbg_args_region(args, 0)), hbg_i32(2));
}

/* A list of 300 values, a region from outside, a body that is submitted before and after it. */
static void wide_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 150; i++) hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 2 * i)), hbg_args_scalar(args, 2 * i + 1));
}

static void build_wide(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    struct hbg_arg list[300];
    for (int i = 0; i < 150; i++) {
        list[2 * i] = hbg_inout(hbg_index(x, 0, i));
        list[2 * i + 1] = i % 2 ? hbg_i32(i) : hbg_args_scalar(args, 1);
    }
    hbg_subgraph(g, KEY("wide"), wide_body, (struct hbg_arg_list){ list, 300 });
    captured = hbg_index(x, 0, 149);
    hbg_subgraph(g, KEY("captures"), body_captures, HBG_ARGS(hbg_out(hbg_index(x, 0, 0))));
}

static void wide_lists_and_captured_regions(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[150] = { 0 };
    struct hbg_program *program = PROGRAM(device, build_wide, kernels);
    program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 150)), hbg_i32(1000)), NULL, NULL);
    for (int i = 1; i < 150; i++) assert_int_equal(x[i], i % 2 ? i : 1000);
    assert_int_equal(x[0], 298);
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(scalars_reach_the_kernels), DEVICE_TEST(explicit_edges_go_round_bodies), DEVICE_TEST(what_comes_after_a_failed_body_is_skipped),
        DEVICE_TEST(misuse_has_a_name), DEVICE_TEST(a_body_has_a_graph_of_its_own), DEVICE_TEST(wide_lists_and_captured_regions),
    };
    return DEVICE_TESTS_RUN(tests);
}
