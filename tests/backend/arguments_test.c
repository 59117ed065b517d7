/* SPDX-License-Identifier: Apache-2.0 */
/* arguments_test.c - what reaches a kernel: scalars of every type, parameter structs, bound scalars, long lists, kernel data,
 * scratch; and what a signature lets through. */
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { SCALARS, BYTES, LONG_LIST, USER, SCRATCH, NUMBERS, KERNEL_COUNT };

struct point { double x, y; int32_t weight; char tag[12]; };

static int scalars(const struct hbg_task_view *t)
{
    int64_t *y = HBG_VIEW(int64_t, t, 0);
    y[0] = hbg_view_bool(t, 1);
    y[1] = hbg_view_i32(t, 2);
    y[2] = hbg_view_u32(t, 3);
    y[3] = hbg_view_i64(t, 4);
    y[4] = (int64_t)hbg_view_u64(t, 5);
    y[5] = (int64_t)(hbg_view_f32(t, 6) * 1000);
    y[6] = (int64_t)(hbg_view_f64(t, 7) * 1000);
    y[7] = t->arg_count;
    return 0;
}

static int bytes(const struct hbg_task_view *t)
{
    const struct point *p = HBG_VIEW(const struct point, t, 1);
    const unsigned char *large = HBG_VIEW(const unsigned char, t, 2);
    int64_t *y = HBG_VIEW(int64_t, t, 0);
    y[0] = (int64_t)(p->x + p->y) * p->weight;
    y[1] = strcmp(p->tag, "eleven char") == 0;
    y[2] = ((uintptr_t)p | (uintptr_t)large) % 16 == 0;
    y[3] = 1;
    for (int i = 0; i < 4096; i++) y[3] &= large[i] == (unsigned char)(i * 7);
    return 0;
}

static int long_list(const struct hbg_task_view *t)
{
    int64_t *y = HBG_VIEW(int64_t, t, 0);
    y[0] = 0;
    for (int i = 1; i < (int)t->arg_count; i++) y[0] += hbg_view_i64(t, i) * i;
    y[1] = t->arg_count;
    return 0;
}

static int user(const struct hbg_task_view *t)
{
    HBG_VIEW(int64_t, t, 0)[0] = *(const int32_t *)t->user;
    HBG_VIEW(int64_t, t, 0)[1] = t->block == 0 && t->block_count == 1 && t->lane == 0;
    return 0;
}

enum { SCRATCH_BYTES = 5000 };
static atomic_int scratch_wrong;

static int scratch(const struct hbg_task_view *t)
{
    size_t size = 0;
    unsigned char *memory = hbg_view_scratch(t, &size);
    unsigned char mark = (unsigned char)(t->task * 31 + 1);
    if (!memory || size != SCRATCH_BYTES || (uintptr_t)memory % 64 != 0) {
        atomic_fetch_add(&scratch_wrong, 1);
        return 0;
    }
    memset(memory, mark, size);
    for (volatile int spin = 0; spin < 2000; spin++) { }
    for (size_t i = 0; i < size; i++) if (memory[i] != mark) atomic_fetch_add(&scratch_wrong, 1);   /* nobody else was here */
    return 0;
}

static int numbers(const struct hbg_task_view *t)
{
    HBG_VIEW(int64_t, t, 0)[hbg_view_i64(t, 1)] = (int64_t)t->task + (t->worker < 1024 ? 0 : 1 << 20);
    return 0;
}

static const int32_t user_value = 4711;
static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(SCALARS, scalars, "out i64, bool, i32, u32, i64, u64, f32, f64"),
    HBG_KERNEL(BYTES, bytes, NULL), HBG_KERNEL(LONG_LIST, long_list, NULL),
    { USER, "user", user, NULL, &user_value, HBG_ANY, 0 },
    { SCRATCH, "scratch", scratch, NULL, NULL, HBG_ANY, SCRATCH_BYTES },
    HBG_KERNEL(NUMBERS, numbers, "inout i64, i64"),
};

/* ---- scalars ---- */

static void scalars_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, SCALARS, hbg_out(hbg_args_region(args, 0)), hbg_bool(true), hbg_i32(-5), hbg_u32(4000000000u), hbg_i64(-6000000000),
               hbg_u64(UINT64_MAX - 1), hbg_f32(-2.5f), hbg_f64(1.125));
    hbg_submit(g, SCALARS, hbg_out(hbg_args_region(args, 1)), hbg_args_scalar(args, 2), hbg_args_scalar(args, 3), hbg_args_scalar(args, 4),
               hbg_args_scalar(args, 5), hbg_args_scalar(args, 6), hbg_args_scalar(args, 7), hbg_args_scalar(args, 8));
}

static void scalars_of_every_type(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int64_t y[8], z[8];
    struct hbg_region yr = hbg_host(y, HBG_I64, HBG_SHAPE(8)), zr = hbg_host(z, HBG_I64, HBG_SHAPE(8));
    struct program_spec spec = { .build = scalars_build, KERNEL_TABLE(kernels), .pure = true };
    struct hbg_program *program = program_create(device, &spec);
    for (int i = 0; i < 3; i++) {           /* the second and third are replayed, with other values */
        program_run(program, HBG_ARGS(hbg_out(yr), hbg_out(zr), hbg_bool(i == 1), hbg_i32(-7 - i), hbg_u32(3000000000u + (uint32_t)i), hbg_i64(INT64_MIN + i),
                                      hbg_u64(UINT64_MAX - (uint64_t)i), hbg_f32(0.25f * (float)i), hbg_f64(-1e6 - i)), NULL, NULL);
        static const int64_t expected[8] = { 1, -5, 4000000000, -6000000000, -2, -2500, 1125, 8 };
        assert_memory_equal(y, expected, sizeof y);
        const int64_t bound[8] = { i == 1, -7 - i, 3000000000 + i, INT64_MIN + i, -1 - i, 250 * i, -1000000000 - 1000 * i, 8 };
        assert_memory_equal(z, bound, sizeof z);
    }
    hbg_program_destroy(program);
}

/* ---- parameter structs ---- */

static void bytes_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region y = hbg_args_region(args, 0);
    unsigned char large[4096];
    struct point p = { 1, 2, 10, "eleven char" };
    for (int i = 0; i < 4096; i++) large[i] = (unsigned char)(i * 7);
    hbg_submit(g, BYTES, hbg_out(hbg_index(y, 0, 0)), hbg_bytes(&p, sizeof p), hbg_bytes(large, sizeof large));
    p.x = 100;                              /* copied at the call, so the first task does not see this */
    hbg_submit(g, BYTES, hbg_out(hbg_index(y, 0, 1)), hbg_bytes(&p, sizeof p), hbg_bytes(large, sizeof large));
    memset(large, 0, sizeof large);
}

static void parameter_structs(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int64_t y[2][4];
    graph_run(device, bytes_build, KERNELS(kernels), HBG_ARGS(hbg_out(hbg_host(y, HBG_I64, HBG_SHAPE(2, 4)))), NULL, NULL);
    static const int64_t expected[2][4] = { { 30, 1, 1, 1 }, { 1020, 1, 1, 1 } };
    assert_memory_equal(y, expected, sizeof y);
}

/* ---- long lists ---- */

static void long_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_arg list[300];
    list[0] = hbg_out(hbg_args_region(args, 0));
    for (int i = 1; i < 300; i++) list[i] = hbg_i64(i);
    struct hbg_arg_list all = { list, 300 };
    hbg_submit_args(g, LONG_LIST, all);
}

static void three_hundred_arguments(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int64_t y[2];
    graph_run(device, long_build, KERNELS(kernels), HBG_ARGS(hbg_out(hbg_host(y, HBG_I64, HBG_SHAPE(2)))), NULL, NULL);
    assert_int_equal(y[0], 299 * 300 * 599 / 6);
    assert_int_equal(y[1], 300);
}

/* ---- kernel data, scratch, ids ---- */

static void kernel_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, USER, hbg_out(hbg_args_region(args, 0)));
    for (int i = 0; i < 200; i++) hbg_submit(g, SCRATCH);
    for (int i = 0; i < 10; i++) hbg_submit(g, NUMBERS, hbg_inout(hbg_args_region(args, 1)), hbg_i64(i));
}

static void kernel_data_and_scratch(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int64_t y[2], ids[10] = { 0 };
    atomic_store(&scratch_wrong, 0);
    graph_run(device, kernel_build, KERNELS(kernels), HBG_ARGS(hbg_out(hbg_host(y, HBG_I64, HBG_SHAPE(2))), hbg_inout(hbg_host(ids, HBG_I64, HBG_SHAPE(10)))), NULL, NULL);
    assert_int_equal(y[0], 4711);
    assert_int_equal(y[1], 1);
    assert_int_equal(atomic_load(&scratch_wrong), 0);
    for (int i = 0; i < 10; i++) assert_int_equal(ids[i], 201 + i);
}

/* ---- signatures ---- */

static struct hbg_arg_list signature_list;      /* what the build submits to SCALARS' and NUMBERS' kernels */
static int signature_kernel;

static void signature_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_arg list[10];
    for (size_t i = 0; i < signature_list.count; i++) {
        list[i] = signature_list.arg[i];
        if (list[i].kind < HBG_ARG_SCALAR) list[i].u.region = list[i].dtype == HBG_F32 ? hbg_args_region(args, 1) : hbg_args_region(args, 0);
    }
    struct hbg_arg_list all = { list, signature_list.count };
    hbg_submit_args(g, signature_kernel, all);
}

static void signatures_are_checked(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int64_t x[8] = { 0 };
    float f[8] = { 0 };
    struct hbg_region any = { 0 };
    struct hbg_arg in = hbg_in(any), inout = hbg_inout(any), out = hbg_out(any), floats = hbg_inout(any);
    floats.dtype = HBG_F32;
    const struct { struct hbg_arg list[3]; size_t count; int argument; } wrong[] = {
        { { in, hbg_i64(0) }, 2, 0 }, { { out, hbg_i64(0) }, 2, 0 }, { { floats, hbg_i64(0) }, 2, 0 }, { { inout, hbg_i32(0) }, 2, 1 },
        { { inout, inout }, 2, 1 }, { { hbg_i64(0), inout }, 2, 0 }, { { inout }, 1, 1 }, { { inout, hbg_i64(0), hbg_i64(0) }, 3, 2 },
    };
    struct hbg_program *program = PROGRAM(device, signature_build, kernels);
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_host(x, HBG_I64, HBG_SHAPE(8))), hbg_inout(hbg_host(f, HBG_F32, HBG_SHAPE(8))));
    signature_kernel = NUMBERS;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        signature_list = (struct hbg_arg_list){ wrong[i].list, wrong[i].count };
        struct hbg_error error = program_run_fails(program, list, HBG_E_SIGNATURE);
        assert_int_equal(error.task, 0);
        assert_int_equal(error.argument, wrong[i].argument);
        assert_string_equal(error.name, "numbers");
    }
    struct hbg_arg right[] = { inout, hbg_i64(3) };
    signature_list = (struct hbg_arg_list){ right, 2 };
    program_run(program, list, NULL, NULL);
    hbg_program_destroy(program);
}

/* The boundary of a program has a signature too; it is checked at prepare. */
static void boundary_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, NUMBERS, hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(args, 1));
}

static void the_boundary_is_checked(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int64_t x[8] = { 0 };
    struct hbg_region r = hbg_host(x, HBG_I64, HBG_SHAPE(8)), f = hbg_host(x, HBG_F64, HBG_SHAPE(8));
    struct program_spec spec = { .build = boundary_build, KERNEL_TABLE(kernels), .boundary = "inout i64, i64" };
    struct hbg_program *program = program_create(device, &spec);
    program_run(program, HBG_ARGS(hbg_inout(r), hbg_i64(2)), NULL, NULL);
    assert_int_equal(program_run_fails(program, HBG_ARGS(hbg_in(r), hbg_i64(2)), HBG_E_SIGNATURE).argument, 0);
    assert_int_equal(program_run_fails(program, HBG_ARGS(hbg_inout(f), hbg_i64(2)), HBG_E_SIGNATURE).argument, 0);
    assert_int_equal(program_run_fails(program, HBG_ARGS(hbg_inout(r), hbg_i32(2)), HBG_E_SIGNATURE).argument, 1);
    assert_int_equal(program_run_fails(program, HBG_ARGS(hbg_inout(r)), HBG_E_SIGNATURE).argument, 1);
    assert_int_equal(program_run_fails(program, HBG_ARGS(hbg_inout(r), hbg_i64(2), hbg_i64(2)), HBG_E_SIGNATURE).argument, 2);
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(scalars_of_every_type), DEVICE_TEST(parameter_structs), DEVICE_TEST(three_hundred_arguments),
        DEVICE_TEST(kernel_data_and_scratch), DEVICE_TEST(signatures_are_checked), DEVICE_TEST(the_boundary_is_checked),
    };
    return DEVICE_TESTS_RUN(tests);
}
