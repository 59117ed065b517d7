/* SPDX-License-Identifier: Apache-2.0 */
/* equal_images_test.c - the word before parameter bytes that only aligns them kept what an earlier build had left there: equal builds
 * gave unequal images, and a verified replay called the program impure. So did tables that grew in the middle of the first build: a
 * submit then goes the general way, which took a noop that reads for less than the short way did. So did a task that writes a whole storage and
 * reads one cell of it, where the cell was entered before the whole or after it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, NULL) };

/* Where params say so, words of sevens; else parameter bytes behind rows of edges that leave them unaligned. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const bool *sevens = params;
    (void)args;
    for (int i = 0; i < 100; i++) {
        struct hbg_task t[4];
        int64_t bytes = i;
        for (int k = 0; k < 4; k++) t[k] = *sevens ? hbg_submit(g, 0, hbg_u64(0x7777777777777777), hbg_u64(0x7777777777777777)) : hbg_submit(g, 0);
        hbg_submit(g, 0, hbg_bytes(&bytes, sizeof bytes), hbg_after(t[0]), hbg_after(t[1]), hbg_after(t[2]), hbg_after(t[3]));
    }
}

static size_t image_with(struct hbg_program *program, struct hbg_arg_list list, unsigned char **copy)
{
    struct hbg_run run;
    const void *image;
    size_t size;
    assert_int_equal(hbg_run_prepare(program, list, NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
    *copy = malloc(size);
    assert_non_null(*copy);
    memcpy(*copy, image, size);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    return size;
}

static void equal_builds_give_equal_images(struct hbg_device *device, const struct device_kind *kind)
{
    bool no = false, yes = true;
    struct hbg_program *plain = PROGRAM_WITH(device, build, kernels, no), *sevens = PROGRAM_WITH(device, build, kernels, yes);
    unsigned char *first, *second;
    (void)kind;
    size_t size = image_with(plain, HBG_NO_ARGS, &first);
    free(first);
    size = image_with(plain, HBG_NO_ARGS, &first);
    program_run(sevens, HBG_NO_ARGS, NULL, NULL);
    assert_int_equal(image_with(plain, HBG_NO_ARGS, &second), size);
    assert_memory_equal(first, second, size);
    free(first);
    free(second);
    hbg_program_destroy(plain);
    hbg_program_destroy(sevens);
}

/* Writers, readers, and noops that read: long enough for tables to grow in the first build of a device. */
static void noops_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    for (int i = 0; i < 60000; i++) {
        struct hbg_region cell = hbg_cell(x, HBG_SHAPE(4), HBG_SHAPE(i % 7));
        if (i % 5 == 3) hbg_noop(g, hbg_in(cell));
        else if (i % 3 == 1) hbg_submit(g, 0, hbg_in(cell));
        else hbg_submit(g, 0, hbg_inout(cell));
    }
}

/* One of each pair of tasks writes all of x and reads a cell of it, which stands behind it or before it. */
static void whole_and_cell_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    for (int i = 0; i < 4; i++) {
        struct hbg_region y = hbg_slice(x, 0, 6, 8);
        hbg_submit(g, 0, hbg_inout(y), hbg_in(y));
        if (i % 2) hbg_submit(g, 0, hbg_in(y), hbg_out(x));
        else hbg_submit(g, 0, hbg_out(x), hbg_in(y));
        hbg_submit(g, 0, hbg_inout(hbg_slice(x, 0, 5, 6)), hbg_in(x));
        hbg_submit(g, 0, hbg_inout(hbg_slice(x, 0, 6, 7)));
    }
}

static void cold_and_warm_builds_are_equal(struct hbg_device *unused, const struct device_kind *kind)
{
    static const struct { hbg_build_fn *build; int64_t count; } of[] = { { noops_build, 28 }, { whole_and_cell_build, 8 } };
    (void)unused;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct hbg_device *device = device_open(kind->spec, NULL);
        struct hbg_program *program = PROGRAM(device, of[i].build, kernels);
        int32_t x[28];
        struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, of[i].count)));
        unsigned char *cold, *warm;
        size_t size = image_with(program, list, &cold);
        assert_int_equal(image_with(program, list, &warm), size);
        assert_memory_equal(cold, warm, size);
        free(cold);
        free(warm);
        hbg_program_destroy(program);
        device_close(device);
    }
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(equal_builds_give_equal_images), DEVICE_TEST(cold_and_warm_builds_are_equal) };
    return DEVICE_TESTS_RUN(tests);
}
