/* SPDX-License-Identifier: Apache-2.0 */
/* replay_of_another_part_test.c - a pure program was passed other parts of a buffer, and a replay verified by HBG_VERIFY_REPLAY said that
 * it is not pure: which edges there were beyond the needed ones depended on where in the buffer the arguments lay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { BYTES = 8192, KERNEL_COUNT = 2 };
static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, "in any"), HBG_KERNEL(1, nothing, "inout any") };
static void read_it(struct hbg_graph *g, struct hbg_region x) { hbg_submit(g, 0, hbg_in(x)); }
static void write_it(struct hbg_graph *g, struct hbg_region x) { hbg_submit(g, 1, hbg_inout(x)); }

/* ---- graphs ---- */

/* More writers than a noop stands for one by one, then all of the part through another shape. */
static void pieces_then_all(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    for (int64_t i = 0; i < 100; i++) write_it(g, hbg_slice(x, 0, i, i + 1));
    for (int round = 0; round < 3; round++) {
        read_it(g, hbg_reshape(x, HBG_SHAPE(10, 10)));
        write_it(g, hbg_slice(x, 0, 30, 70));
    }
}

/* A head that is no whole row, and rows; columns and a diagonal of the rows. */
static void head_and_rows(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region head = hbg_args_region(args, 0), rows = hbg_args_region(args, 1);
    (void)params;
    for (int64_t i = 0; i < 6; i++) {
        write_it(g, head);
        write_it(g, hbg_slice(rows, 0, i, i + 1));
        read_it(g, hbg_slice(rows, 1, i, i + 2));
        write_it(g, hbg_slice(head, 0, 1, 2));
    }
}

/* Columns of a matrix whose rows lie further apart than they are long, and what lies between. */
static void gaps(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region left = hbg_args_region(args, 0), right = hbg_args_region(args, 1);
    (void)params;
    for (int64_t i = 0; i < 4; i++) {
        write_it(g, hbg_slice(left, 0, 2 * i, 2 * i + 2));
        write_it(g, hbg_slice(right, 0, i, i + 1));
        read_it(g, hbg_slice(left, 1, i, i + 1));
        read_it(g, hbg_slice(right, 1, 0, 2));
    }
}

/* ---- where their arguments lie ---- */

static struct hbg_arg part(struct hbg_buffer *b, int64_t at, struct hbg_shape shape, int64_t row)
{
    struct hbg_region x = hbg_buffer_region(b, (size_t)at, HBG_I32, shape);
    if (row) x.stride_bytes[0] = row;
    return hbg_inout(x);
}

static void check(hbg_build_fn *build, struct hbg_device *device, int arg_count, const struct hbg_arg *shape)
{
    static const int64_t moved[] = { 0, 4, 8, 20, 32, 64, 100, 4, 1000, 0, 1236 };
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_program *program;
    uint64_t edges = 0;
    o.build = build;
    o.kernels = kernels;
    o.kernel_count = KERNEL_COUNT;
    o.pure_build = true;
    assert_int_equal(hbg_program_create(device, &o, &program), HBG_OK);
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        struct hbg_arg list[2] = { shape[0], shape[1] };
        struct hbg_result result = HBG_OPTIONS(result);
        for (int a = 0; a < arg_count; a++) list[a].u.region.offset_bytes += moved[i];
        enum hbg_status status = hbg_run_sync(program, (struct hbg_arg_list){ list, (size_t)arg_count }, &result);
        if (status) fail_msg("moved by %d: %s", (int)moved[i], result.error.text);
        assert_int_equal(result.replayed, i > 0);
        assert_true(i == 0 || result.edges == edges);
        edges = result.edges;
    }
    hbg_program_destroy(program);
}

static void any_part_of_a_buffer(void **state)
{
    struct hbg_device *device;
    struct hbg_buffer *b;
    (void)state;
    setenv("HBG_VERIFY_REPLAY", "1", 1);
    device = device_open("cpu:workers=1", NULL);
    assert_int_equal(hbg_buffer_create(device, BYTES, &b), HBG_OK);
    check(pieces_then_all, device, 1, (struct hbg_arg[2]){ part(b, 0, HBG_SHAPE(100), 0) });
    check(head_and_rows, device, 2, (struct hbg_arg[2]){ part(b, 0, HBG_SHAPE(3), 0), part(b, 12, HBG_SHAPE(8, 8), 0) });
    check(head_and_rows, device, 2, (struct hbg_arg[2]){ part(b, 256, HBG_SHAPE(3), 0), part(b, 0, HBG_SHAPE(8, 8), 0) });
    check(gaps, device, 2, (struct hbg_arg[2]){ part(b, 0, HBG_SHAPE(8, 5), 32), part(b, 20, HBG_SHAPE(8, 3), 32) });
    hbg_buffer_destroy(b);
    device_close(device);
}

/* The first run is that of a buffer which the argument fills, the second of a part of a larger one. */
static void a_part_in_place_of_a_whole_buffer(void **state)
{
    struct hbg_device *device;
    struct hbg_buffer *small, *large;
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_program *program;
    struct hbg_result result = HBG_OPTIONS(result);
    (void)state;
    setenv("HBG_VERIFY_REPLAY", "1", 1);
    device = device_open("cpu:workers=1", NULL);
    o.build = pieces_then_all;
    o.kernels = kernels;
    o.kernel_count = KERNEL_COUNT;
    o.pure_build = true;
    assert_int_equal(hbg_program_create(device, &o, &program), HBG_OK);
    assert_int_equal(hbg_buffer_create(device, 400, &small), HBG_OK);
    assert_int_equal(hbg_buffer_create(device, BYTES, &large), HBG_OK);
    assert_int_equal(hbg_run_sync(program, HBG_ARGS(part(small, 0, HBG_SHAPE(100), 0)), &result), HBG_OK);
    if (hbg_run_sync(program, HBG_ARGS(part(large, 36, HBG_SHAPE(100), 0)), &result)) fail_msg("%s", result.error.text);
    assert_true(result.replayed);
    hbg_buffer_destroy(small);
    hbg_buffer_destroy(large);
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_part_of_a_buffer), cmocka_unit_test(a_part_in_place_of_a_whole_buffer) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
