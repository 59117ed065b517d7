/* SPDX-License-Identifier: Apache-2.0 */
/* read_beside_what_is_written_test.c - build code read an element that no task writes, and was told HBG_E_WRITTEN: the element shared
 * a cell of the hazard map, or a noop that joined writers, with what tasks write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { COUNT = 200 };
static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(0, nothing, "in any"), HBG_KERNEL(1, nothing, "inout any"), HBG_KERNEL(2, nothing, "i32, out any, in any"),
};
static void read_it(struct hbg_graph *g, struct hbg_region x) { hbg_submit(g, 0, hbg_in(x)); }
static void write_it(struct hbg_graph *g, struct hbg_region x) { hbg_submit(g, 1, hbg_inout(x)); }

struct expected { int32_t readable, written; };     /* elements of argument 0 that may be read, and may not: -1 for none */

/* ---- graphs ---- */

/* the element before the rows of a matrix */
static void head(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct expected *e = params;
    struct hbg_region x = hbg_args_region(args, 0), rows = hbg_args_region(args, 1);
    write_it(g, hbg_slice(rows, 0, 0, 1));
    if (hbg_read_i32(g, x, HBG_SHAPE(e->readable)) != e->readable && !hbg_graph_error(g, NULL)) hbg_graph_fail(g, 1, "a wrong value");
    if (e->written >= 0) hbg_read_i32(g, x, HBG_SHAPE(e->written));
}

/* 80 of 100 blocks of two elements are written and all are read, so that one noop stands for the writers */
static void joined(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct expected *e = params;
    struct hbg_region x = hbg_args_region(args, 0);
    for (int64_t i = 0; i < 80; i++) hbg_submit(g, 2, hbg_i32(1), hbg_out(hbg_slice(x, 0, 2 * i, 2 * i + 2)), hbg_in(hbg_slice(x, 0, 199, 200)));
    read_it(g, x);
    if (hbg_read_i32(g, x, HBG_SHAPE(e->readable)) != e->readable && !hbg_graph_error(g, NULL)) hbg_graph_fail(g, 1, "a wrong value");
    if (e->written >= 0) hbg_read_i32(g, x, HBG_SHAPE(e->written));
}

/* ---- */

static void check(struct hbg_device *device, hbg_build_fn *build, struct hbg_arg_list list, struct expected e, int task)
{
    struct hbg_program *program = PROGRAM_WITH(device, build, kernels, e);
    if (e.written < 0) {
        program_run(program, list, NULL, NULL);
    } else {
        struct hbg_error error = program_run_fails(program, list, HBG_E_WRITTEN);
        assert_int_equal(error.task, task);
    }
    hbg_program_destroy(program);
}

static void neighbours_can_be_read(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t x[COUNT];
    (void)kind;
    for (int i = 0; i < COUNT; i++) x[i] = i;
#define ALL hbg_inout(HOST_I32(x, COUNT))
#define HEAD_AND_ROWS(at) HBG_ARGS(ALL, hbg_inout(hbg_host(x + (at), HBG_I32, HBG_SHAPE(6, 32))))
    check(device, head, HEAD_AND_ROWS(3), (struct expected){ 0, -1 }, 0);
    check(device, head, HEAD_AND_ROWS(3), (struct expected){ 2, 3 }, 0);
    check(device, head, HEAD_AND_ROWS(3), (struct expected){ 35, 34 }, 0);
    check(device, head, HEAD_AND_ROWS(3), (struct expected){ 199, -1 }, 0);
    check(device, joined, HBG_ARGS(ALL), (struct expected){ 160, -1 }, 0);
    check(device, joined, HBG_ARGS(ALL), (struct expected){ 199, 159 }, 79);
    check(device, joined, HBG_ARGS(ALL), (struct expected){ 170, 0 }, 0);
}

static struct hbg_region in_bytes(struct hbg_region x, int64_t lo, int64_t hi, struct hbg_shape shape)
{
    return hbg_reshape(hbg_cast_view(hbg_slice(hbg_cast_view(x, HBG_U8), 0, lo, hi), HBG_I32), shape);
}

/* only the rows are an argument of the group beside the head: the head lies before all of their cells */
static void a_head_apart(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t x[COUNT];
    struct hbg_buffer *b;
    (void)kind;
    for (int i = 0; i < COUNT; i++) x[i] = i;
    assert_int_equal(hbg_buffer_create(device, sizeof x, &b), HBG_OK);
    assert_int_equal(hbg_buffer_write(b, 0, x, sizeof x), HBG_OK);
    struct hbg_region all = hbg_buffer_region(b, 0, HBG_I32, HBG_SHAPE(COUNT));
    check(device, head, HBG_ARGS(hbg_in(hbg_slice(all, 0, 0, 3)), hbg_inout(in_bytes(all, 12, 12 + 6 * 128, HBG_SHAPE(6, 32)))), (struct expected){ 0, -1 }, 0);
    check(device, head, HBG_ARGS(hbg_in(hbg_slice(all, 0, 0, 3)), hbg_inout(in_bytes(all, 12, 12 + 6 * 128, HBG_SHAPE(6, 32)))), (struct expected){ 2, -1 }, 0);
    check(device, head, HBG_ARGS(hbg_in(hbg_slice(all, 0, 0, 4)), hbg_inout(in_bytes(all, 12, 12 + 6 * 128, HBG_SHAPE(6, 32)))), (struct expected){ 2, 3 }, 0);
    hbg_buffer_destroy(b);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(neighbours_can_be_read), DEVICE_TEST(a_head_apart) };
    return DEVICE_TESTS_RUN(tests);
}
