/* SPDX-License-Identifier: Apache-2.0 */
/* limit_test.c - declared limits: what fits runs, what does not fails at the submit that asks, with all numbers, and nothing runs. */
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

static atomic_uint ran;

static int step(const struct hbg_task_view *t)
{
    (void)t;
    atomic_fetch_add(&ran, 1);
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, step, NULL) };

/* ---- tasks ---- */

static int submitted_after;         /* submits that were tried after the error */

static void tasks_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    int32_t n = hbg_args_get_i32(args, 0);
    struct hbg_error error = HBG_OPTIONS(error);
    submitted_after = 0;
    for (int32_t i = 0; i < n; i++) {
        if (hbg_graph_error(g, &error) != HBG_OK) submitted_after++;
        hbg_submit(g, 0);
    }
}

static void limit_of_tasks(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct program_spec spec = { .build = tasks_build, .kernels = kernels, .kernel_count = 1, .limit_tasks = 64 };
    struct hbg_program *program = program_create(device, &spec);
    static const int32_t counts[] = { 64, 65, 64, 200, 1, 65, 64 };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct hbg_arg_list list = HBG_ARGS(hbg_i32(counts[i]));
        atomic_store(&ran, 0);
        if (counts[i] <= 64) {
            program_run(program, list, NULL, NULL);
            assert_int_equal(atomic_load(&ran), counts[i]);
            continue;
        }
        struct hbg_error error = program_run_fails(program, list, HBG_E_LIMIT);
        assert_int_equal(error.task, 64);                   /* the 65th submit */
        assert_int_equal(error.limit, 64);
        assert_int_equal(error.detail, 64);                 /* used */
        assert_int_equal(error.requested, 1);
        assert_string_equal(error.name, "limit_tasks");
        assert_int_equal(submitted_after, counts[i] - 65);
        assert_int_equal(atomic_load(&ran), 0);
    }
    hbg_program_destroy(program);
}

/* Noops that the library inserts take an id, but nothing of the limit. */
static void inserted_noops_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    for (int i = 0; i < 100; i++) hbg_submit(g, 0, hbg_out(hbg_index(x, 0, i)));
    for (int i = 0; i < 10; i++) hbg_submit(g, 0, hbg_in(x));
}

static void inserted_noops_are_free(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[100];
    struct program_spec spec = { .build = inserted_noops_build, .kernels = kernels, .kernel_count = 1, .limit_tasks = 110 };
    struct hbg_program *program = program_create(device, &spec);
    struct hbg_result result = HBG_OPTIONS(result);
    struct edges edges;
    program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 100))), &result, &edges);
    assert_int_equal(result.tasks, 110);
    assert_true(edges.noop_count >= 1);
    assert_int_equal(edges.task_count, 110 + edges.noop_count);
    edges_free(&edges);
    hbg_program_destroy(program);
}

/* ---- heap ---- */

static void heap_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    int32_t n = hbg_args_get_i32(args, 0);
    for (int32_t i = 0; i < n; i++) hbg_submit(g, 0, hbg_out(hbg_alloc(g, HBG_U8, HBG_SHAPE(65536))));
}

static void limit_of_heap(const struct device_kind *kind)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.limit_heap_bytes = 10 * 65536;
    struct hbg_device *device = device_open(kind->spec, &options);
    struct hbg_program *program = PROGRAM(device, heap_build, kernels);
    for (int round = 0; round < 2; round++) {
        atomic_store(&ran, 0);
        program_run(program, HBG_ARGS(hbg_i32(10)), NULL, NULL);
        assert_int_equal(atomic_load(&ran), 10);
        atomic_store(&ran, 0);
        struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_i32(12)), HBG_E_LIMIT);
        assert_int_equal(error.limit, 10 * 65536);
        assert_int_equal(error.detail, 10 * 65536);
        assert_int_equal(error.requested, 65536);
        assert_string_equal(error.name, "limit_heap_bytes");
        assert_int_equal(atomic_load(&ran), 0);
    }
    hbg_program_destroy(program);
    device_close(device);
}

static void heap_limit(void **state)
{
    (void)state;
    for (int i = 0; i < DEVICE_KIND_COUNT; i++) limit_of_heap(&DEVICE_KINDS[i]);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(limit_of_tasks), DEVICE_TEST(inserted_noops_are_free) };
    const struct CMUnitTest heap[] = { cmocka_unit_test(heap_limit) };
    return DEVICE_TESTS_RUN(tests) + cmocka_run_group_tests(heap, NULL, NULL);
}
