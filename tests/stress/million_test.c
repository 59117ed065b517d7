/* SPDX-License-Identifier: Apache-2.0 */
/* million_test.c - graphs of a million tasks with default settings: independent ones, and a wavefront whose last value counts all
 * paths to it, so that a task which ran early, twice or not at all changes it. */
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { MARK, PATHS, KERNEL_COUNT };

static atomic_uchar *marks;

static int mark(const struct hbg_task_view *t)
{
    atomic_fetch_add_explicit(&marks[t->task], 1, memory_order_relaxed);
    return 0;
}

/* Cell = upper + left, modulo 2^32. */
static int paths(const struct hbg_task_view *t)
{
    uint32_t sum = 0;
    int last = (int)t->arg_count - 1;
    for (int i = 0; i < last; i++) sum += *HBG_VIEW(const uint32_t, t, i);
    *HBG_VIEW(uint32_t, t, last) = sum;
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(MARK, mark, NULL), HBG_KERNEL(PATHS, paths, NULL) };

static void independent_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    for (int i = 0; i < *(const int *)params; i++) hbg_submit(g, MARK);
}

static void independent(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int tasks = test_scaled(1000000);
    marks = calloc((size_t)tasks, sizeof *marks);
    assert_non_null(marks);
    struct hbg_program *program = PROGRAM_WITH(device, independent_build, kernels, tasks);
    struct hbg_result result = HBG_OPTIONS(result);
    for (int round = 1; round <= 2; round++) {
        program_run(program, HBG_NO_ARGS, &result, NULL);
        assert_int_equal(result.tasks, tasks);
        int wrong = 0;
        for (int i = 0; i < tasks; i++) wrong += marks[i] != round;
        assert_int_equal(wrong, 0);
    }
    hbg_program_destroy(program);
    free(marks);
}

static void wavefront_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int side = *(const int *)params;
    struct hbg_region x = hbg_args_region(args, 0);
#define CELL(i, j) hbg_cell(x, HBG_SHAPE(1, 1), HBG_SHAPE(i, j))
    for (int i = 1; i < side; i++) {
        for (int j = 1; j < side; j++) hbg_submit(g, PATHS, hbg_in(CELL(i - 1, j)), hbg_in(CELL(i, j - 1)), hbg_out(CELL(i, j)));
    }
#undef CELL
}

static void wavefront(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int side = test_scaled(1000) + 1;
    size_t cells = (size_t)side * (size_t)side;
    uint32_t *x = calloc(cells, sizeof *x), *golden = calloc(cells, sizeof *golden);
    assert_true(x && golden);
    for (int i = 0; i < side; i++) golden[i] = golden[i * side] = x[i] = x[i * side] = 1;
    for (int i = 1; i < side; i++) {
        for (int j = 1; j < side; j++) golden[i * side + j] = golden[(i - 1) * side + j] + golden[i * side + j - 1];
    }
    struct program_spec spec = { .build = wavefront_build, KERNEL_TABLE(kernels), .params = &side, .params_size = sizeof side, .pure = true };
    struct hbg_program *program = program_create(device, &spec);
    struct hbg_result result = HBG_OPTIONS(result);
    for (int round = 0; round < 3; round++) {
        for (int i = 1; i < side; i++) {
            for (int j = 1; j < side; j++) x[i * side + j] = 0xdead;
        }
        program_run(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_U32, HBG_SHAPE(side, side)))), &result, NULL);
        assert_int_equal(result.tasks, (side - 1) * (side - 1));
        assert_memory_equal(x, golden, cells * sizeof *x);
    }
    hbg_program_destroy(program);
    free(x);
    free(golden);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(independent), DEVICE_TEST(wavefront) };
    return DEVICE_TESTS_RUN(tests);
}
