/* SPDX-License-Identifier: Apache-2.0 */
/* lifetime_test.c - thousands of devices, one after the other, and thousands of runs on one: descriptors, threads, mappings and
 * resident memory stay where they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { ADD_ONE, FAIL, KERNEL_COUNT };

static int add_one(const struct hbg_task_view *t)
{
    ++*HBG_VIEW(int32_t, t, 0);
    return 0;
}

static int always_fails(const struct hbg_task_view *t) { return hbg_fail(t, 3, 0); }

static const struct hbg_kernel kernels[] = { HBG_KERNEL(ADD_ONE, add_one, "inout i32"), HBG_KERNEL(FAIL, always_fails, NULL) };

struct shape { int tasks, fails; };

static void cells_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct shape *shape = params;
    struct hbg_region x = hbg_args_region(args, 0), u = hbg_alloc(g, HBG_I32, HBG_SHAPE(64));
    if (shape->fails) hbg_submit(g, FAIL, hbg_inout(x));
    for (int i = 0; i < shape->tasks; i++) hbg_submit(g, ADD_ONE, hbg_inout(hbg_index(x, 0, i % 16)), hbg_after(hbg_noop(g, hbg_in(u))));
}

static int mapping_count(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    int lines = 0, c;
    if (!file) return -1;
    while ((c = fgetc(file)) != EOF) lines += c == '\n';
    fclose(file);
    return lines;
}

struct level { int descriptors, threads, mappings; long pages; };
static struct level level_now(void) { return (struct level){ open_descriptor_count(), thread_count(), mapping_count(), resident_pages() }; }

static void expect_flat(struct level before, struct level after, long pages)
{
    if (after.descriptors != before.descriptors || after.threads != before.threads || after.mappings > before.mappings + 8 || after.pages > before.pages + pages) {
        fail_msg("descriptors %d -> %d, threads %d -> %d, mappings %d -> %d, pages %ld -> %ld", before.descriptors, after.descriptors, before.threads,
                 after.threads, before.mappings, after.mappings, before.pages, after.pages);
    }
}

static struct level level_at_rest(int threads)
{
    (void)settled_thread_count(threads);
    return level_now();
}

static void one_life(const char *spec, bool fails)
{
    int32_t x[16] = { 0 };
    struct shape shape = { 50, fails };
    struct hbg_device *device = device_open(spec, NULL);
    struct hbg_program *program = PROGRAM_WITH(device, cells_build, kernels, shape);
    struct hbg_buffer *buffer;
    assert_int_equal(hbg_buffer_create(device, 5000, &buffer), HBG_OK);
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, 16)));
    if (fails) program_run_fails(program, list, HBG_E_KERNEL);
    else program_run(program, list, NULL, NULL);
    if (!fails) assert_int_equal(x[0], 4);
    hbg_program_destroy(program);
    hbg_buffer_destroy(buffer);
    device_close(device);
}

static void open_run_close(void **state)
{
    (void)state;
    struct level before = { 0 };
    int cycles = test_scaled(2000);
    for (int i = 0; i < cycles + 20; i++) {
        if (i == 20) before = level_at_rest(1);             /* what is made once per process is made by now */
        one_life(DEVICE_KINDS[i % DEVICE_KIND_COUNT].spec, i % 10 == 9);
    }
#ifdef HBG_SANITIZED
    expect_flat(before, level_at_rest(before.threads), 1000000);        /* the sanitizer's own books grow */
#else
    expect_flat(before, level_at_rest(before.threads), 300);
#endif
}

/* Three programs in turn, one pure, one of changing size, one that fails; two runs at a time. */
static void many_runs(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct shape shapes[3] = { { 100, 0 }, { 1000, 0 }, { 20, 1 } };
    struct hbg_program *programs[3];
    struct level before = { 0 };
    int runs = test_scaled(10000);
    static int32_t x[2][16];
    struct hbg_run flying[2];
    enum hbg_status expected[2];
    for (int p = 0; p < 3; p++) {
        struct program_spec spec = { .build = cells_build, KERNEL_TABLE(kernels), .params = &shapes[p], .params_size = sizeof shapes[p], .pure = p == 0 };
        programs[p] = program_create(device, &spec);
    }
    for (int i = 0; i < runs + 2; i++) {
        int p = i % 10 == 7 ? 1 : i % 10 == 3 ? 2 : 0, at = i % 2;
        if (i >= 2) {
            assert_int_equal(hbg_run_wait(flying[at], HBG_FOREVER), HBG_OK);
            assert_int_equal(hbg_run_finish(flying[at], NULL), expected[at]);
        }
        if (i == runs / 10) before = level_now();
        if (i >= runs) continue;
        expected[at] = p == 2 ? HBG_E_KERNEL : HBG_OK;
        assert_int_equal(hbg_run_prepare(programs[p], HBG_ARGS(hbg_inout(HOST_I32(x[at], 16))), NULL, &flying[at]), HBG_OK);
        assert_int_equal(hbg_run_launch(flying[at]), HBG_OK);
    }
#ifdef HBG_SANITIZED
    expect_flat(before, level_now(), 1000000);
#else
    expect_flat(before, level_now(), 100);
#endif
    for (int p = 0; p < 3; p++) hbg_program_destroy(programs[p]);
}

int main(void)
{
    const struct CMUnitTest first[] = { cmocka_unit_test(open_run_close) };
    static const struct device_test tests[] = { DEVICE_TEST(many_runs) };
    return cmocka_run_group_tests(first, NULL, NULL) + DEVICE_TESTS_RUN(tests);
}
