/* SPDX-License-Identifier: Apache-2.0 */
/* scalars_test.c - values of the boundary that build code looks at: in each type, at its ends, as guards, and in types that do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, NULL) };

/* What one build saw. */
static struct { bool b; uint32_t u32; uint64_t u64; float f32; double f64; int32_t i32; int64_t i64; int builds; } seen;

static void look(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    seen.b = hbg_args_get_bool(args, 0);
    seen.u32 = hbg_args_get_u32(args, 1);
    seen.u64 = hbg_args_get_u64(args, 2);
    seen.f32 = hbg_args_get_f32(args, 3);
    seen.f64 = hbg_args_get_f64(args, 4);
    seen.i32 = hbg_args_get_i32(args, 5);
    seen.i64 = hbg_args_get_i64(args, 6);
    seen.builds++;
    hbg_submit(g, 0);
}

struct values { bool b; uint32_t u32; uint64_t u64; float f32; double f64; int32_t i32; int64_t i64; };

static void run(struct hbg_program *program, const struct values *v)
{
    program_run(program, HBG_ARGS(hbg_bool(v->b), hbg_u32(v->u32), hbg_u64(v->u64), hbg_f32(v->f32), hbg_f64(v->f64), hbg_i32(v->i32), hbg_i64(v->i64)), NULL, NULL);
}

static void every_type_at_its_ends(struct hbg_device *device, const struct device_kind *kind)
{
    static const struct values cases[] = {
        { false, 0, 0, 0, 0, 0, 0 },
        { true, UINT32_MAX, UINT64_MAX, -3.5f, 0.1, INT32_MIN, INT64_MIN },
        { true, 0x80000000u, (uint64_t)1 << 63, 1e-45f, -1.7976931348623157e308, INT32_MAX, INT64_MAX },
    };
    (void)kind;
    struct hbg_program *program = PROGRAM(device, look, kernels);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct values *v = &cases[i];
        run(program, v);
        assert_true(seen.b == v->b && seen.u32 == v->u32 && seen.u64 == v->u64 && seen.i32 == v->i32 && seen.i64 == v->i64);
        assert_memory_equal(&seen.f32, &v->f32, sizeof v->f32);
        assert_memory_equal(&seen.f64, &v->f64, sizeof v->f64);
    }
    hbg_program_destroy(program);
}

static void each_is_a_guard(struct hbg_device *device, const struct device_kind *kind)
{
    struct values v = { true, 1, 2, 3, 4, 5, 6 };
    const struct program_spec spec = { .build = look, KERNEL_TABLE(kernels), .pure = true };
    (void)kind;
    struct hbg_program *program = program_create(device, &spec);
    seen.builds = 0;
    run(program, &v);
    run(program, &v);
    assert_int_equal(seen.builds, 1);
    v.b = false, run(program, &v), assert_int_equal(seen.builds, 2);
    v.u32 ^= 0x80000000u, run(program, &v), assert_int_equal(seen.builds, 3);
    v.u64 ^= (uint64_t)1 << 63, run(program, &v), assert_int_equal(seen.builds, 4);
    v.f64 += 1e-15, run(program, &v), assert_int_equal(seen.builds, 5);
    run(program, &v);
    assert_int_equal(seen.builds, 5);
    hbg_program_destroy(program);
}

/* ---- types that do not fit ---- */

enum reader { AS_BOOL, AS_U32, AS_U64, AS_F32, AS_F64, AS_I32, AS_I64, READERS };
static enum reader reader;
static double value;

static void read_one(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)g, (void)params;
    switch (reader) {
    case AS_BOOL: value = hbg_args_get_bool(args, 0); break;
    case AS_U32: value = hbg_args_get_u32(args, 0); break;
    case AS_U64: value = (double)hbg_args_get_u64(args, 0); break;
    case AS_F32: value = hbg_args_get_f32(args, 0); break;
    case AS_F64: value = hbg_args_get_f64(args, 0); break;
    case AS_I32: value = hbg_args_get_i32(args, 0); break;
    case AS_I64: value = (double)hbg_args_get_i64(args, 0); break;
    default: fail();
    }
}

static void only_types_that_fit_are_read(struct hbg_device *device, const struct device_kind *kind)
{
    static const char *const name[READERS] = { "bool", "u32", "u64", "f32", "f64", "i32", "i64" };
    static const char fits[READERS][READERS + 1] = {        /* [argument][reader] */
        [AS_BOOL] = "yy---y-", [AS_U32] = "-yy----", [AS_U64] = "--y----", [AS_F32] = "---y---", [AS_F64] = "----y--",
        [AS_I32] = "-----yy", [AS_I64] = "------y",
    };
    const struct hbg_arg arg[READERS] = { hbg_bool(true), hbg_u32(1), hbg_u64(1), hbg_f32(1), hbg_f64(1), hbg_i32(1), hbg_i64(1) };
    char text[80];
    (void)kind;
    struct hbg_program *program = PROGRAM(device, read_one, kernels);
    for (int a = 0; a < READERS; a++) {
        for (int r = 0; r < READERS; r++) {
            reader = (enum reader)r;
            struct hbg_arg_list list = { &arg[a], 1 };
            if (fits[a][r] == 'y') {
                program_run(program, list, NULL, NULL);
                assert_true(value == 1);
                continue;
            }
            struct hbg_error e = program_run_fails(program, list, HBG_E_SIGNATURE);
            snprintf(text, sizeof text, "boundary scalar 0 is %s and is read as %s", name[a], name[r]);
            if (strcmp(e.text, text) != 0 || e.argument != 0 || value != 0) fail_msg("%s, value %g: %s", text, value, e.text);
        }
    }
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(every_type_at_its_ends), DEVICE_TEST(each_is_a_guard), DEVICE_TEST(only_types_that_fit_are_read),
    };
    return DEVICE_TESTS_RUN(tests);
}
