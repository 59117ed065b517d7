/* SPDX-License-Identifier: Apache-2.0 */
/* scope_test.c - intermediates and their scopes: parallelism is kept, bytes are used again only under a limit, a region does not
 * outlive its scope; and manual scopes, which infer nothing inside and are one task to everything outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "image/layout.h"
#include "support/devices.h"
#include "support/program.h"

enum { PRODUCT, ADD_TO, NOTHING, SET, KERNEL_COUNT };
enum { GROUPS = 24, DEPTH = 3, SIDE = 8 };

/* c = a * b, tiles of SIDE x SIDE */
static int product(const struct hbg_task_view *t)
{
    const int32_t *a = HBG_VIEW(const int32_t, t, 0), *b = HBG_VIEW(const int32_t, t, 1);
    int32_t *c = HBG_VIEW(int32_t, t, 2);
    for (int i = 0; i < SIDE * SIDE; i++) {
        c[i] = 0;
        for (int k = 0; k < SIDE; k++) c[i] += a[i / SIDE * SIDE + k] * b[k * SIDE + i % SIDE];
    }
    return 0;
}

static int add_to(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 1)[i] += HBG_VIEW(const int32_t, t, 0)[i];
    return 0;
}

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }

static int set(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 0)[i] = hbg_view_i32(t, 1);
    return 0;
}

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(PRODUCT, product, "in i32, in i32, out i32"), HBG_KERNEL(ADD_TO, add_to, "in i32, inout i32"),
    HBG_KERNEL(NOTHING, nothing, NULL), HBG_KERNEL(SET, set, "out i32, i32"),
};

/* ---- groups of products, each into an intermediate that is added to the group's result ---- */

struct tiles { int32_t a[GROUPS][DEPTH][SIDE * SIDE], b[GROUPS][DEPTH][SIDE * SIDE], c[GROUPS][SIDE * SIDE]; };

static void groups_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    bool scopes = *(const bool *)params;
    struct hbg_region a = hbg_args_region(args, 0), b = hbg_args_region(args, 1), c = hbg_args_region(args, 2);
    for (int i = 0; i < GROUPS; i++) {
        if (scopes) hbg_scope_begin(g, HBG_SCOPE_AUTO);
        for (int k = 0; k < DEPTH; k++) {
            struct hbg_region p = hbg_alloc(g, HBG_I32, HBG_SHAPE(SIDE * SIDE));
            hbg_submit(g, PRODUCT, hbg_in(hbg_index(hbg_index(a, 0, i), 0, k)), hbg_in(hbg_index(hbg_index(b, 0, i), 0, k)), hbg_out(p));
            hbg_submit(g, ADD_TO, hbg_in(p), hbg_inout(hbg_index(c, 0, i)));
        }
        if (scopes) hbg_scope_end(g);
    }
}

static void check_tiles(struct hbg_program *program, struct hbg_result *result, struct edges *edges)
{
    static struct tiles t;
    for (int i = 0; i < GROUPS * DEPTH * SIDE * SIDE; i++) {
        (&t.a[0][0][0])[i] = i % 7 - 3;
        (&t.b[0][0][0])[i] = i % 5 - 2;
    }
    for (int i = 0; i < GROUPS * SIDE * SIDE; i++) (&t.c[0][0])[i] = i;
    program_run(program, HBG_ARGS(hbg_in(hbg_host(t.a, HBG_I32, HBG_SHAPE(GROUPS, DEPTH, SIDE * SIDE))), hbg_in(hbg_host(t.b, HBG_I32, HBG_SHAPE(GROUPS, DEPTH, SIDE * SIDE))),
                                  hbg_inout(hbg_host(t.c, HBG_I32, HBG_SHAPE(GROUPS, SIDE * SIDE)))), result, edges);
    for (int g = 0; g < GROUPS; g++) {
        for (int i = 0; i < SIDE * SIDE; i++) {
            int32_t expected = g * SIDE * SIDE + i;
            for (int k = 0; k < DEPTH * SIDE; k++) expected += t.a[g][k / SIDE][i / SIDE * SIDE + k % SIDE] * t.b[g][k / SIDE][k % SIDE * SIDE + i % SIDE];
            assert_int_equal(t.c[g][i], expected);
        }
    }
}

/* Tasks on the longest path. */
static uint32_t critical_path(const struct edges *edges)
{
    uint32_t *length = calloc((size_t)edges->task_count + 1, sizeof *length), longest = 0;
    uint64_t at = 0;
    assert_non_null(length);
    for (uint32_t task = 0; task < edges->task_count; task++) {
        for (; at < edges->count && edges->edge[at].consumer == task; at++) {
            if (length[edges->edge[at].producer] > length[task]) length[task] = length[edges->edge[at].producer];
        }
        length[task]++;
        if (length[task] > longest) longest = length[task];
    }
    free(length);
    return longest;
}

static void scopes_keep_parallelism(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    uint32_t length[2];
    uint64_t count[2];
    for (int s = 0; s < 2; s++) {
        bool scopes = s == 1;
        struct edges edges;
        struct hbg_result result = HBG_OPTIONS(result);
        struct hbg_program *program = PROGRAM_WITH(device, groups_build, kernels, scopes);
        check_tiles(program, &result, &edges);
        length[s] = critical_path(&edges);
        count[s] = edges.count;
        assert_int_equal(result.tasks, 2 * GROUPS * DEPTH);
        edges_free(&edges);
        hbg_program_destroy(program);
    }
    assert_int_equal(length[0], DEPTH + 1);
    assert_int_equal(length[1], length[0]);
    assert_int_equal(count[1], count[0]);
    assert_int_equal(counters_of(device).reuse_edges, 0);
}

static void a_small_heap_costs_order_not_results(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    enum { ONE = SIDE * SIDE * 4 };
    const struct hbg_device_options small[] = {
        { .size = sizeof small[0], .heap_reuse_after_bytes = 2 * DEPTH * ONE }, { .size = sizeof small[0], .limit_heap_bytes = DEPTH * ONE },
    };
    for (int i = 0; i < 2; i++) {
        struct hbg_device *device = device_open(kind->spec, &small[i]);
        bool scopes = true;
        struct edges edges;
        struct hbg_program *program = PROGRAM_WITH(device, groups_build, kernels, scopes);
        for (int round = 0; round < 3; round++) {
            uint64_t before = counters_of(device).reuse_edges;
            check_tiles(program, NULL, &edges);
            assert_true(critical_path(&edges) > DEPTH + 1);
            assert_true(counters_of(device).reuse_edges > before);
            edges_free(&edges);
        }
        hbg_program_destroy(program);
        device_close(device);
    }
}

/* ---- a region after its scope ---- */

static void outlived_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    bool outer = *(const bool *)params;
    struct hbg_region kept;
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    struct hbg_region first = hbg_alloc(g, HBG_I32, HBG_SHAPE(4));
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    struct hbg_region second = hbg_alloc(g, HBG_I32, HBG_SHAPE(4));
    hbg_submit(g, SET, hbg_out(first), hbg_i32(1));
    hbg_submit(g, SET, hbg_out(second), hbg_i32(2));
    hbg_scope_end(g);
    kept = outer ? first : hbg_slice(second, 0, 1, 2);
    hbg_submit(g, NOTHING, hbg_i32(0), hbg_in(kept));
    hbg_scope_end(g);
}

static void a_region_ends_with_its_scope(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    for (int o = 0; o < 2; o++) {
        bool outer = o == 1;
        struct hbg_program *program = PROGRAM_WITH(device, outlived_build, kernels, outer);
        if (outer) {
            program_run(program, HBG_NO_ARGS, NULL, NULL);
        } else {
            struct hbg_error error = program_run_fails(program, HBG_NO_ARGS, HBG_E_SCOPE);
            assert_int_equal(error.task, 2);
            assert_int_equal(error.argument, 1);
        }
        hbg_program_destroy(program);
    }
}

/* A region of one build, kept and used in the next. */
static struct hbg_region smuggled;
static bool smuggle_in;

static void smuggling_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    struct hbg_region own = hbg_alloc(g, HBG_I32, HBG_SHAPE(4));
    hbg_submit(g, SET, hbg_out(own), hbg_i32(1));
    if (smuggle_in) hbg_submit(g, NOTHING, hbg_in(smuggled));
    else smuggled = own;
}

static void a_region_ends_with_its_build(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, smuggling_build, kernels);
    smuggle_in = false;
    program_run(program, HBG_NO_ARGS, NULL, NULL);
    smuggle_in = true;
    struct hbg_error error = program_run_fails(program, HBG_NO_ARGS, HBG_E_SCOPE);
    assert_int_equal(error.task, 1);
    assert_int_equal(error.argument, 0);
    hbg_program_destroy(program);
}

/* ---- scopes that do not pair ---- */

static void unpaired_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    int which = *(const int *)params;
    if (which == 0) hbg_scope_end(g);
    if (which == 1) hbg_scope_begin(g, HBG_SCOPE_AUTO);
    hbg_submit(g, NOTHING);
    if (which == 2) hbg_scope_begin(g, 7);
}

static void scopes_pair(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static const enum hbg_status expected[] = { HBG_E_ORDER, HBG_E_ORDER, HBG_E_OPTION };
    for (int which = 0; which < 3; which++) {
        struct hbg_program *program = PROGRAM_WITH(device, unpaired_build, kernels, which);
        program_run_fails(program, HBG_NO_ARGS, expected[which]);
        hbg_program_destroy(program);
    }
}

/* ---- manual scopes ---- */

static struct hbg_task manual_tasks[6];

static void manual_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    struct hbg_task *t = manual_tasks;
    t[0] = hbg_submit(g, SET, hbg_out(x), hbg_i32(1));
    hbg_scope_begin(g, HBG_SCOPE_MANUAL);
    t[1] = hbg_submit(g, ADD_TO, hbg_in(hbg_slice(x, 0, 0, 4)), hbg_inout(hbg_slice(x, 0, 4, 8)));
    t[2] = hbg_submit(g, NOTHING, hbg_inout(x));                                     /* overlaps 1: no edge, since none is given */
    t[3] = hbg_submit(g, ADD_TO, hbg_in(hbg_slice(x, 0, 4, 8)), hbg_inout(hbg_slice(x, 0, 8, 12)), hbg_after(t[1]));
    hbg_scope_end(g);
    t[4] = hbg_submit(g, ADD_TO, hbg_in(hbg_slice(x, 0, 8, 12)), hbg_inout(y));
    t[5] = hbg_submit(g, SET, hbg_out(hbg_slice(x, 0, 15, 16)), hbg_i32(9));         /* used by 2 alone, and still after all of the scope */
}

static void a_manual_scope_is_one_task_outside(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[16], y[4] = { 5, 5, 5, 5 };
    struct edges edges;
    struct closure before;
    graph_run(device, manual_build, KERNELS(kernels), HBG_ARGS(hbg_out(HOST_I32(x, 16)), hbg_inout(HOST_I32(y, 4))), NULL, &edges);
    closure_of_edges(&before, &edges, false);
#define BEFORE(a, b) closure_before(&before, manual_tasks[a].id, manual_tasks[b].id)
    for (int i = 1; i <= 3; i++) assert_true(BEFORE(0, i) && BEFORE(i, 4) && BEFORE(i, 5));
    assert_true(BEFORE(1, 3));
    assert_false(BEFORE(1, 2) || BEFORE(2, 3) || BEFORE(4, 5));
#undef BEFORE
    closure_free(&before);
    edges_free(&edges);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(x[4 + i], 2);
        assert_int_equal(x[8 + i], 3);
        assert_int_equal(y[i], 8);
    }
    assert_int_equal(x[15], 9);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(scopes_keep_parallelism), DEVICE_TEST(a_small_heap_costs_order_not_results), DEVICE_TEST(a_region_ends_with_its_scope),
        DEVICE_TEST(a_region_ends_with_its_build), DEVICE_TEST(scopes_pair), DEVICE_TEST(a_manual_scope_is_one_task_outside),
    };
    return DEVICE_TESTS_RUN(tests);
}
