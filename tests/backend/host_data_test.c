/* SPDX-License-Identifier: Apache-2.0 */
/* host_data_test.c - arguments in host memory: what overlaps is one storage, what is copied back is the bytes of the region and
 * no other, and what is only read is never written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { ADD, COPY, WHERE, FAIL, KERNEL_COUNT };

static void add_at(char *at, const struct hbg_task_view *t, int dim, int32_t v)
{
    if (dim == hbg_view_rank(t, 0)) {
        *(int32_t *)(void *)at += v;
        return;
    }
    for (int64_t i = 0; i < hbg_view_shape(t, 0)[dim]; i++) add_at(at + i * hbg_view_stride_bytes(t, 0)[dim], t, dim + 1, v);
}

static int add(const struct hbg_task_view *t)
{
    add_at(HBG_VIEW(char, t, 0), t, 0, hbg_view_i32(t, 1));
    return 0;
}

static int copy(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 1)[i] = HBG_VIEW(const int32_t, t, 0)[i];
    return 0;
}

static void *seen_at;
static int where(const struct hbg_task_view *t)
{
    seen_at = hbg_view_data(t, 0);
    return 0;
}

static int always_fails(const struct hbg_task_view *t) { return hbg_fail(t, 1, 0); }

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(ADD, add, NULL), HBG_KERNEL(COPY, copy, "in i32, out i32"), HBG_KERNEL(WHERE, where, NULL), HBG_KERNEL(FAIL, always_fails, NULL),
};

/* ---- one memory as two arguments ---- */

static void two_names_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region reader = hbg_args_region(args, 0), writer = hbg_args_region(args, 1), out = hbg_args_region(args, 2);
    hbg_submit(g, COPY, hbg_in(reader), hbg_out(hbg_index(out, 0, 0)));
    for (int i = 0; i < 5; i++) hbg_submit(g, ADD, hbg_inout(writer), hbg_i32(1));
    hbg_submit(g, COPY, hbg_in(reader), hbg_out(hbg_index(out, 0, 1)));
    hbg_submit(g, ADD, hbg_inout(writer), hbg_i32(10));
}

static void kernels_see_one_version(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t out[2][64];
    for (int shift = 0; shift < 64; shift += 21) {          /* the writer's range begins `shift` elements into the reader's */
        int32_t room[128];
        for (int i = 0; i < 128; i++) room[i] = i;
        memset(out, 0, sizeof out);
        graph_run(device, two_names_build, KERNELS(kernels), HBG_ARGS(hbg_in(hbg_host_const(room, HBG_I32, HBG_SHAPE(64))), hbg_inout(HOST_I32(room + shift, 64)),
                  hbg_out(hbg_host(out, HBG_I32, HBG_SHAPE(2, 64)))), NULL, NULL);
        for (int i = 0; i < 64; i++) {
            assert_int_equal(out[0][i], i);
            assert_int_equal(out[1][i], i >= shift ? i + 5 : i);
        }
        for (int i = 0; i < 128; i++) assert_int_equal(room[i], i >= shift && i < shift + 64 ? i + 15 : i);
    }
}

/* ---- copy-back touches the region's own bytes ---- */

static void columns_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < (int)args->count; i++) hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, i)), hbg_i32(1000));
}

static void column_slices(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t m[8][10];
    struct hbg_program *program = PROGRAM(device, columns_build, kernels);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_run run;
    for (int i = 0; i < 80; i++) m[i / 10][i % 10] = i;
    struct hbg_region whole = hbg_host(m, HBG_I32, HBG_SHAPE(8, 10));
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_slice(whole, 1, 2, 5)), hbg_inout(hbg_slice(hbg_slice(whole, 1, 7, 8), 0, 1, 7)));
    assert_int_equal(hbg_run_prepare(program, list, NULL, &run), HBG_OK);
    for (int i = 0; i < 8; i++) m[i][0] = m[i][5] = m[i][9] = -1;          /* columns of nobody: the host's to change */
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    for (int i = 0; i < 8; i++) m[i][6] = -2;
    m[0][7] = -3;
    assert_int_equal(hbg_run_finish(run, &result), HBG_OK);
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 10; k++) {
            int32_t expected = i * 10 + k + ((k >= 2 && k < 5) || (k == 7 && i >= 1 && i < 7) ? 1000 : 0);
            if (k == 0 || k == 5 || k == 9) expected = -1;
            if (k == 6) expected = -2;
            if (k == 7 && i == 0) expected = -3;
            assert_int_equal(m[i][k], expected);
        }
    }
    hbg_program_destroy(program);
}

static void gaps_of_an_output_stay(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[64];
    for (int i = 0; i < 64; i++) x[i] = -i;
    struct hbg_region every_fourth = hbg_host_strided(x + 63, HBG_I32, HBG_SHAPE(16), HBG_SHAPE(-16));
    struct hbg_program *program = PROGRAM(device, columns_build, kernels);
    program_run(program, HBG_ARGS(hbg_inout(every_fourth)), NULL, NULL);
    for (int i = 0; i < 64; i++) assert_int_equal(x[i], i % 4 == 3 ? 1000 - i : -i);
    hbg_program_destroy(program);
}

/* ---- inputs are only read ---- */

static void inputs_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, COPY, hbg_in(hbg_args_region(args, 0)), hbg_out(hbg_args_region(args, 1)));
}

static void inputs_may_be_read_only_pages(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), out[1024];
    assert_ptr_not_equal(page, MAP_FAILED);
    for (int i = 0; i < 1024; i++) page[i] = i;
    assert_int_equal(mprotect(page, 4096, PROT_READ), 0);
    graph_run(device, inputs_build, KERNELS(kernels), HBG_ARGS(hbg_in(hbg_host_const(page, HBG_I32, HBG_SHAPE(1024))), hbg_out(HOST_I32(out, 1024))), NULL, NULL);
    for (int i = 0; i < 1024; i++) assert_int_equal(out[i], i);
    munmap(page, 4096);
}

static void where_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, WHERE, hbg_inout(hbg_args_region(args, 0)));
}

static void discrete_kernels_see_device_memory(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t x[4] = { 0 };
    struct hbg_counters before = counters_of(device);
    graph_run(device, where_build, KERNELS(kernels), HBG_ARGS(hbg_inout(HOST_I32(x, 4))), NULL, NULL);
    struct hbg_counters after = counters_of(device);
    assert_int_equal(seen_at == (void *)x, !kind->discrete);
    assert_int_equal(after.argument_copies - before.argument_copies, kind->discrete ? 2 : 0);      /* in and back */
    assert_int_equal(after.argument_bytes - before.argument_bytes, kind->discrete ? 2 * sizeof x : 0);
    assert_int_equal(after.descriptor_copies - before.descriptor_copies, kind->discrete ? 1 : 0);
}

/* ---- the argument list is copied, the data is not ---- */

static void the_list_is_free_after_prepare(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, inputs_build, kernels);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_run run;
    int32_t in[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, out[8];
    struct hbg_arg *list = malloc(2 * sizeof *list);
    assert_non_null(list);
    list[0] = hbg_in(hbg_host_const(in, HBG_I32, HBG_SHAPE(8)));
    list[1] = hbg_out(HOST_I32(out, 8));
    struct hbg_arg_list given = { list, 2 };
    assert_int_equal(hbg_run_prepare(program, given, NULL, &run), HBG_OK);
    memset(list, 0xee, 2 * sizeof *list);
    free(list);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, &result), HBG_OK);
    assert_memory_equal(in, out, sizeof in);
    hbg_program_destroy(program);
}

/* ---- a failed run leaves everything beside its outputs ---- */

static void failing_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, FAIL, hbg_inout(hbg_args_region(args, 0)));
    hbg_submit(g, COPY, hbg_in(hbg_args_region(args, 1)), hbg_out(hbg_args_region(args, 0)));
}

static void a_failed_run_touches_nothing_else(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[32], y[8];
    struct hbg_program *program = PROGRAM(device, failing_build, kernels);
    for (int i = 0; i < 32; i++) x[i] = i;
    for (int i = 0; i < 8; i++) y[i] = i;
    program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x + 8, 8)), hbg_in(HOST_I32(y, 8))), HBG_E_KERNEL);
    for (int i = 0; i < 32; i++) if (i < 8 || i >= 16) assert_int_equal(x[i], i);
    for (int i = 0; i < 8; i++) assert_int_equal(y[i], i);
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(kernels_see_one_version), DEVICE_TEST(column_slices), DEVICE_TEST(gaps_of_an_output_stay),
        DEVICE_TEST(inputs_may_be_read_only_pages), DEVICE_TEST(discrete_kernels_see_device_memory),
        DEVICE_TEST(the_list_is_free_after_prepare), DEVICE_TEST(a_failed_run_touches_nothing_else),
    };
    return DEVICE_TESTS_RUN(tests);
}
