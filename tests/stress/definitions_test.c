/* SPDX-License-Identifier: Apache-2.0 */
/* definitions_test.c - definitions in numbers: bodies of 1, 10,000 and 200,000 tasks; 10,000 submissions in one graph; a budget that holds
 * few of many keys while runs use others; a steady state that allocates nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { ADD, SUM, CLEAR };

/* x += k */
static int add(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 0) += hbg_view_i32(t, 1);
    return 0;
}

/* out = sum of x */
static int sum(const struct hbg_task_view *t)
{
    const int32_t *x = HBG_VIEW(const int32_t, t, 0);
    int32_t total = 0;
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) total += x[i];
    *HBG_VIEW(int32_t, t, 1) = total;
    return 0;
}

static int clear(const struct hbg_task_view *t)
{
    memset(HBG_VIEW(int32_t, t, 0), 0, (size_t)hbg_view_count(t, 0) * sizeof(int32_t));
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(ADD, add, "inout i32, i32"), HBG_KERNEL(SUM, sum, "in i32, out i32"), HBG_KERNEL(CLEAR, clear, "out i32") };

#define AT(region, i) hbg_index((region), 0, (i))

/* ---- sizes of bodies ---- */

struct size { int32_t adds, chain; };

/* (out, k): an intermediate is cleared, k is added to each of its elements, or to the first again and again; then their sum. A task that ran
   early, twice or not at all changes it. */
static void sized(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct size *size = params;
    struct hbg_region x = hbg_alloc(g, HBG_I32, HBG_SHAPE(size->chain ? 1 : size->adds + 1));
    hbg_submit(g, CLEAR, hbg_out(x));
    for (int32_t i = 0; i < size->adds; i++) hbg_submit(g, ADD, hbg_inout(AT(x, size->chain ? 0 : i)), hbg_args_scalar(args, 1));
    hbg_submit(g, SUM, hbg_in(x), hbg_out(hbg_args_region(args, 0)));
}

static void one(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void build_sized(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct size *size = params;
    struct hbg_region x = hbg_args_region(args, 0);
    for (int i = 0; i < 3; i++) {
        hbg_subgraph(g, hbg_key_of("sized", size, sizeof *size), sized, HBG_ARGS(hbg_out(AT(x, i)), hbg_i32(i + 1)));
        hbg_subgraph(g, hbg_key_of("one", NULL, 0), one, HBG_ARGS(hbg_inout(AT(x, i))));
    }
}

static void bodies_of_any_size(struct hbg_device *device, const struct device_kind *kind)
{
    static const struct size sizes[] = { { 0, 0 }, { 10000, 0 }, { 10000, 1 }, { 200000, 0 }, { 200000, 1 } };
    (void)kind;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct size size = { sizes[s].adds ? test_scaled(sizes[s].adds) : 0, sizes[s].chain };
        struct hbg_program *program = PROGRAM_WITH(device, build_sized, kernels, size);
        for (int round = 0; round < 2; round++) {
            int32_t out[3];
            struct hbg_result result = HBG_OPTIONS(result);
            program_run(program, HBG_ARGS(hbg_out(HOST_I32(out, 3))), &result, NULL);
            assert_int_equal(result.tasks, 3 * (size.adds + 3));
            for (int i = 0; i < 3; i++) assert_int_equal(out[i], size.adds * (i + 1) + 1);
        }
        hbg_program_destroy(program);
    }
}

/* ---- submissions ---- */

static void build_many(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    for (int32_t i = 0; i < *(const int32_t *)params; i++) hbg_subgraph(g, hbg_key_of("one", NULL, 0), one, HBG_ARGS(hbg_inout(AT(x, i % 100))));
}

static void many_submissions_in_one_graph(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[100] = { 0 }, count = test_scaled(10000) / 100 * 100 + 100;
    struct hbg_program *program = PROGRAM_WITH(device, build_many, kernels, count);
    for (int round = 1; round <= 3; round++) {
        struct hbg_result result = HBG_OPTIONS(result);
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 100))), &result, NULL);
        for (int i = 0; i < 100; i++) assert_int_equal(x[i], round * count / 100);
        assert_int_equal(result.subgraphs_replayed, round == 1 ? count - 1 : count);
    }
    hbg_program_destroy(program);
}

/* ---- a budget ---- */

enum { KEYS = 24 };

static void keyed(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const int32_t *key = params;
    for (int32_t i = 0; i < 50; i++) hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(*key));
}

/* Three keys from the run's number on. */
static void build_keyed(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    int32_t number = hbg_args_get_i32(args, 1);
    for (int32_t i = 0; i < 3; i++) {
        int32_t key = (number + i) % KEYS;
        hbg_subgraph(g, HBG_KEY("keyed", key), keyed, HBG_ARGS(hbg_inout(AT(x, key))));
    }
}

/* Two runs in flight, so that definitions leave the budget while a run uses others, or the same. */
static void evicted_definitions_are_made_again(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.definition_budget_bytes = 5 * 12000;
    struct hbg_device *device = device_open(kind->spec, &options);
    struct hbg_program *program = PROGRAM(device, build_keyed, kernels);
    int32_t x[2][KEYS], runs = test_scaled(2000);
    struct hbg_run run[2];
    uint64_t recorded = 0;
    memset(x, 0, sizeof x);
    for (int32_t i = 0; i <= runs; i++) {
        if (i < runs) {
            assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(x[i % 2], KEYS)), hbg_i32(i * 7)), NULL, &run[i % 2]), HBG_OK);
            assert_int_equal(hbg_run_launch(run[i % 2]), HBG_OK);
        }
        if (i == 0) continue;
        struct hbg_result result = HBG_OPTIONS(result);
        assert_int_equal(hbg_run_wait(run[(i - 1) % 2], HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(run[(i - 1) % 2], &result), HBG_OK);
        recorded += result.subgraphs_recorded;
        for (int32_t k = 0; k < 3; k++) {
            int32_t key = ((i - 1) * 7 + k) % KEYS, *at = &x[(i - 1) % 2][key];
            assert_int_equal(*at, 50 * key);
            *at = 0;
        }
    }
    assert_true(recorded > KEYS);       /* more than if all had stayed */
    hbg_program_destroy(program);
    device_close(device);
}

/* ---- steady state ---- */

static void build_steady(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    static const struct size size = { 30, 1 };
    struct hbg_region x = hbg_args_region(args, 0);
    for (int i = 0; i < 10; i++) hbg_subgraph(g, hbg_key_of("sized", &size, sizeof size), sized, HBG_ARGS(hbg_out(AT(x, i)), hbg_args_scalar(args, 1)));
}

static void a_steady_state_takes_nothing(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t x[10], runs = test_scaled(10000);
    for (int pure = 0; pure < 2; pure++) {
        struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build_steady, KERNEL_TABLE(kernels), .pure = pure });
        struct hbg_counters before = HBG_OPTIONS(counters);
        long pages = 0;
        for (int32_t i = 0; i < runs; i++) {
            program_run(program, HBG_ARGS(hbg_out(HOST_I32(x, 10)), hbg_i32(i)), NULL, NULL);
            assert_int_equal(x[i % 10], 30 * i);
            if (i != runs / 10) continue;
            before = counters_of(device);
            pages = resident_pages();
        }
        struct hbg_counters after = counters_of(device);
        assert_int_equal(after.allocations, before.allocations);
        assert_int_equal(after.growths, before.growths);
        assert_int_equal(after.definitions_uploaded, before.definitions_uploaded);
        assert_int_equal(after.image_copies - before.image_copies, pure || !kind->discrete ? 0 : runs - runs / 10 - 1);
        assert_true(resident_pages() < pages + 64);
        hbg_program_destroy(program);
    }
    assert_int_equal(counters_of(device).definitions_uploaded, 1);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(bodies_of_any_size), DEVICE_TEST(many_submissions_in_one_graph), DEVICE_TEST(evicted_definitions_are_made_again),
        DEVICE_TEST(a_steady_state_takes_nothing),
    };
    return DEVICE_TESTS_RUN(tests);
}
