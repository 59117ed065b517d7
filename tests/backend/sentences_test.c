/* SPDX-License-Identifier: Apache-2.0 */
/* sentences_test.c - what errors say: which kernel, which argument, and which number was wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { COPY, FREE, FAIL, ONE, KERNEL_COUNT };

static int copy(const struct hbg_task_view *t) { (void)t; return 0; }
static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static int one(const struct hbg_task_view *t) { (void)t; return 0; }
static int fail_with_7(const struct hbg_task_view *t) { (void)t; return 7; }
static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(COPY, copy, "in f32, out f32"), HBG_KERNEL(FREE, nothing, NULL), HBG_KERNEL(FAIL, fail_with_7, NULL),
    HBG_KERNEL(ONE, one, "f32"),
};

/* Each function makes one mistake. The boundary: f32 u[64][48], f32 v[64], f64 1.5, in f32 w[64]. */
#define BUILD(name) static void name(struct hbg_graph *g, struct hbg_region u, struct hbg_region v, const struct hbg_args *args)
#define UNUSED (void)g, (void)u, (void)v, (void)args
BUILD(slice_before_row_0) { UNUSED; hbg_submit(g, COPY, hbg_in(hbg_slice(u, 0, -1, 9)), hbg_out(v)); }
BUILD(slice_after_the_last_column) { UNUSED; hbg_submit(g, COPY, hbg_in(v), hbg_out(hbg_slice(u, 1, 40, 49))); }
BUILD(slice_that_runs_backwards) { UNUSED; hbg_submit(g, COPY, hbg_in(hbg_slice(v, 0, 9, 4)), hbg_out(v)); }
BUILD(slice_of_a_slice) { UNUSED; hbg_submit(g, COPY, hbg_in(hbg_slice(hbg_slice(u, 1, 8, 16), 0, 60, 66)), hbg_out(v)); }
BUILD(cell_outside) { UNUSED; hbg_submit(g, COPY, hbg_in(hbg_cell(u, HBG_SHAPE(8, 8), HBG_SHAPE(9, 1))), hbg_out(v)); }
BUILD(cell_behind_the_columns) { UNUSED; hbg_submit(g, COPY, hbg_in(hbg_cell(u, HBG_SHAPE(8, 8), HBG_SHAPE(0, 9))), hbg_out(v)); }
BUILD(cell_behind_the_end) { UNUSED; hbg_submit(g, COPY, hbg_in(hbg_cell(v, HBG_SHAPE(10), HBG_SHAPE(11))), hbg_out(v)); }
BUILD(cell_of_another_rank) { UNUSED; hbg_submit(g, COPY, hbg_in(hbg_cell(u, HBG_SHAPE(8), HBG_SHAPE(1))), hbg_out(v)); }
BUILD(slice_of_no_dimension) { UNUSED; hbg_submit(g, COPY, hbg_in(hbg_slice(u, 2, 0, 1)), hbg_out(v)); }
BUILD(never_set) { UNUSED; struct hbg_region none = { 0 }; hbg_submit(g, FREE, hbg_in(none)); }
BUILD(slice_of_a_transpose) { UNUSED; hbg_submit(g, COPY, hbg_in(hbg_slice(hbg_permute(u, HBG_SHAPE(1, 0)), 0, 0, 49)), hbg_out(v)); }
BUILD(slice_of_an_intermediate) { UNUSED; hbg_noop(g, hbg_in(hbg_slice(hbg_alloc(g, HBG_I32, HBG_SHAPE(10)), 0, 5, 11))); }
BUILD(no_region_there) { UNUSED; hbg_submit(g, FREE, hbg_in(hbg_args_region(args, 2))); }
BUILD(after_its_scope)
{
    UNUSED;
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    struct hbg_region x = hbg_alloc(g, HBG_F32, HBG_SHAPE(4));
    hbg_scope_end(g);
    hbg_submit(g, COPY, hbg_in(v), hbg_out(x));
}
BUILD(writes_an_input) { UNUSED; hbg_submit(g, COPY, hbg_in(v), hbg_out(hbg_args_region(args, 3))); }
BUILD(host_memory) { UNUSED; static float x[4]; hbg_submit(g, FREE, hbg_in(hbg_host(x, HBG_F32, HBG_SHAPE(4)))); }
BUILD(wrong_kind) { UNUSED; hbg_submit(g, COPY, hbg_in(v), hbg_in(v)); }
BUILD(one_too_many) { UNUSED; hbg_submit(g, COPY, hbg_in(v), hbg_out(v), hbg_i32(1)); }
BUILD(one_too_few) { UNUSED; hbg_submit(g, COPY, hbg_in(v)); }
BUILD(two_for_one) { UNUSED; hbg_submit(g, ONE, hbg_f32(1), hbg_f32(2)); }
BUILD(none_for_one) { UNUSED; hbg_submit(g, ONE); }
BUILD(guard_of_nothing) { UNUSED; hbg_guard(g, NULL, 1); }
BUILD(one_index) { UNUSED; (void)hbg_read_i32(g, hbg_cast_view(u, HBG_I32), HBG_SHAPE(1)); }
BUILD(no_list) { UNUSED; struct hbg_arg_list list = { NULL, 2 }; hbg_submit_args(g, COPY, list); }
BUILD(no_noop_list) { UNUSED; struct hbg_arg_list list = { NULL, 2 }; hbg_noop_args(g, list); }
BUILD(unknown_task) { UNUSED; struct hbg_task t = { 5, 0 }; hbg_submit(g, FREE, hbg_after(t)); }
BUILD(read_as_i32) { UNUSED; (void)hbg_args_get_i32(args, 2); }
BUILD(alloc_negative) { UNUSED; (void)hbg_alloc(g, HBG_F32, HBG_SHAPE(4, -3)); }
BUILD(alloc_too_large) { UNUSED; (void)hbg_alloc(g, HBG_F32, HBG_SHAPE(INT64_MAX, 3)); }
BUILD(alloc_of_no_dtype) { UNUSED; (void)hbg_alloc(g, (enum hbg_dtype)99, HBG_SHAPE(3)); }
BUILD(alloc_of_rank_6) { UNUSED; struct hbg_shape shape = HBG_SHAPE(1, 1); shape.rank = 6; (void)hbg_alloc(g, HBG_F32, shape); }
BUILD(read_past_the_end) { UNUSED; (void)hbg_read_i32(g, hbg_cast_view(v, HBG_I32), HBG_SHAPE(64)); }
BUILD(read_f32) { UNUSED; (void)hbg_read_i32(g, v, HBG_SHAPE(0)); }
BUILD(read_a_bad_view) { UNUSED; (void)hbg_read(g, hbg_slice(v, 0, 60, 70)); }
BUILD(scope_left_open) { UNUSED; hbg_scope_begin(g, HBG_SCOPE_AUTO); }
BUILD(scopes_left_open) { UNUSED; hbg_scope_begin(g, HBG_SCOPE_AUTO); hbg_scope_begin(g, HBG_SCOPE_AUTO); }
#undef BUILD

struct sentence { void (*build)(struct hbg_graph *g, struct hbg_region u, struct hbg_region v, const struct hbg_args *args); enum hbg_status status; const char *name, *text; };
static const struct sentence sentences[] = {
    { slice_before_row_0, HBG_E_REGION, "copy", "argument 0 of kernel copy is a bad view: a slice or a cell with indices [-1, 9) of dimension 0, which has 64" },
    { slice_after_the_last_column, HBG_E_REGION, "copy", "argument 1 of kernel copy is a bad view: a slice or a cell with indices [40, 49) of dimension 1, which has 48" },
    { slice_that_runs_backwards, HBG_E_REGION, "copy", "argument 0 of kernel copy is a bad view: a slice or a cell with indices [9, 4) of dimension 0, which has 64" },
    { slice_of_a_slice, HBG_E_REGION, "copy", "argument 0 of kernel copy is a bad view: a slice or a cell of 6 x 8, at element 60 x 8 of 64 x 48, leaves the region that it is taken from" },
    { cell_outside, HBG_E_REGION, "copy", "argument 0 of kernel copy is a bad view: a cell that begins at element 72 of dimension 0, which has 64" },
    { cell_behind_the_columns, HBG_E_REGION, "copy", "argument 0 of kernel copy is a bad view: a cell that begins at element 72 of dimension 1, which has 48" },
    { cell_behind_the_end, HBG_E_REGION, "copy", "argument 0 of kernel copy is a bad view: a cell that begins at element 110 of dimension 0, which has 64" },
    { cell_of_another_rank, HBG_E_REGION, "copy", "of 64 x 48, has a wrong rank or dimension, or leaves a slice" },
    { slice_of_no_dimension, HBG_E_REGION, "copy", "of 64 x 48, has a wrong rank or dimension, or leaves a slice" },
    { never_set, HBG_E_REGION, "nothing", "argument 0 of kernel nothing is no region: its dtype is 0, as of one that was never set" },
    { slice_of_a_transpose, HBG_E_REGION, "copy", "argument 0 of kernel copy is a bad view: a slice or a cell of 49 x 64 leaves the region that it is taken from" },
    { slice_of_an_intermediate, HBG_E_REGION, "noop", "argument 0 of a noop is a bad view: a slice or a cell with indices [5, 11) of dimension 0, which has 10" },
    { no_region_there, HBG_E_REGION, "nothing", "argument 0 of kernel nothing is a bad view: hbg_args_region of position 2, where the boundary of 4 has no region" },
    { after_its_scope, HBG_E_SCOPE, "copy", "argument 1 of kernel copy is an intermediate whose scope has ended" },
    { writes_an_input, HBG_E_ACCESS, "copy", "argument 1 of kernel copy would write a read-only region" },
    { host_memory, HBG_E_REGION, "nothing", "argument 0 of kernel nothing is host memory" },
    { wrong_kind, HBG_E_SIGNATURE, "copy", "argument 1 of kernel copy is 'in f32', its signature says 'out f32'" },
    { one_too_many, HBG_E_SIGNATURE, "copy", "kernel copy takes 2 arguments" }, { one_too_few, HBG_E_SIGNATURE, "copy", "kernel copy takes 2 arguments, 1 is given" },
    { two_for_one, HBG_E_SIGNATURE, "one", "kernel one takes 1 argument, argument 1 (f32) is one more" }, { none_for_one, HBG_E_SIGNATURE, "one", "kernel one takes 1 argument, 0 are given" },
    { guard_of_nothing, HBG_E_NULL, "hbg_guard", "hbg_guard: NULL for 1 byte" }, { one_index, HBG_E_REGION, "hbg_read_i32", "hbg_read_i32 with 1 index of a region of rank 2" },
    { no_list, HBG_E_NULL, "copy", "the argument list of kernel copy is NULL" }, { no_noop_list, HBG_E_NULL, "noop", "the argument list of a noop is NULL" },
    { unknown_task, HBG_E_TASK_ID, "nothing", "hbg_after of kernel nothing names task 5 of another graph or body" },
    { read_as_i32, HBG_E_SIGNATURE, "hbg_args_get", "boundary scalar 2 is f64 and is read as i32" },
    { alloc_negative, HBG_E_REGION, "hbg_alloc", "hbg_alloc: dimension 1 of size -3" },
    { alloc_too_large, HBG_E_REGION, "hbg_alloc", "hbg_alloc: with dimension 0 of size 9223372036854775807 it has more bytes" },
    { alloc_of_no_dtype, HBG_E_REGION, "hbg_alloc", "hbg_alloc: the dtype 99, which does not exist" },
    { alloc_of_rank_6, HBG_E_REGION, "hbg_alloc", "hbg_alloc: a rank of 6 where 0 to 5 are possible" },
    { read_past_the_end, HBG_E_REGION, "hbg_read_i32", "hbg_read_i32: index 64 of dimension 0, which has 64" },
    { read_f32, HBG_E_REGION, "hbg_read_i32", "hbg_read_i32 of a region of f32; it reads i32" },
    { read_a_bad_view, HBG_E_REGION, "hbg_read", "the region of hbg_read is a bad view: a slice or a cell with indices [60, 70) of dimension 0, which has 64" },
    { scope_left_open, HBG_E_ORDER, "hbg_scope_end", "the build function has returned and 1 scope is still open" }, { scopes_left_open, HBG_E_ORDER, "hbg_scope_end", "2 scopes are still open" },
};

static const struct sentence *current;

static void sentence_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    current->build(g, hbg_args_region(args, 0), hbg_args_region(args, 1), args);
}

static void errors_of_a_build(struct hbg_device *device, const struct device_kind *kind)
{
    static float u[64][48], v[64], w[64];
    struct hbg_program *program = PROGRAM(device, sentence_build, kernels);
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_host(u, HBG_F32, HBG_SHAPE(64, 48))), hbg_inout(hbg_host(v, HBG_F32, HBG_SHAPE(64))), hbg_f64(1.5),
                                        hbg_in(hbg_host(w, HBG_F32, HBG_SHAPE(64))));
    (void)kind;
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
        current = &sentences[i];
        struct hbg_error e = program_run_fails(program, list, current->status);
        if (!strstr(e.text, current->text) || strcmp(e.name, current->name) != 0) fail_msg("sentence %zu: \"%s\" of \"%s\"", i, e.text, e.name);
    }
    hbg_program_destroy(program);
}

/* ---- runs ---- */

static void failing_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_task t = hbg_submit(g, FAIL);
    (void)args;
    for (int i = 0; i < *(const int *)params; i++) t = hbg_submit(g, FREE, hbg_after(t));
}

static void skipped_tasks_are_counted(struct hbg_device *device, const struct device_kind *kind)
{
    static const char *const text[] = { "; 0 tasks were skipped", "; 1 task was skipped", "; 2 tasks were skipped" };
    (void)kind;
    for (int count = 0; count < 3; count++) {
        struct hbg_program *program = PROGRAM_WITH(device, failing_build, kernels, count);
        struct hbg_error e = program_run_fails(program, HBG_NO_ARGS, HBG_E_KERNEL);
        if (!strstr(e.text, text[count])) fail_msg("%s", e.text);
        hbg_program_destroy(program);
    }
}

/* The address comes first: a bad view has no dtype that a signature could be compared with. */
static void null_data_is_named(struct hbg_device *device, const struct device_kind *kind)
{
    const struct program_spec spec = { .build = failing_build, KERNEL_TABLE(kernels), .boundary = "in f32, out f32" };
    float x[4] = { 0 };
    (void)kind;
    struct hbg_program *program = program_create(device, &spec);
    struct hbg_error e = program_run_fails(program, HBG_ARGS(hbg_in(hbg_host(x, HBG_F32, HBG_SHAPE(4))), hbg_out(hbg_host(NULL, HBG_F32, HBG_SHAPE(4)))), HBG_E_REGION);
    if (e.argument != 1 || !strstr(e.text, "argument 1 is a bad view: 4 elements at a NULL address")) fail_msg("argument %d: %s", e.argument, e.text);
    e = program_run_fails(program, HBG_ARGS(hbg_in(hbg_host(x, HBG_F32, HBG_SHAPE(4))), hbg_out(hbg_host(x, HBG_F64, HBG_SHAPE(1)))), HBG_E_SIGNATURE);
    assert_int_equal(e.argument, 1);
    hbg_program_destroy(program);
}

/* What a run is given, and what is said of it. */
static void arguments_of_a_run(struct hbg_device *device, const struct device_kind *kind)
{
    float x[4] = { 0 };
    int none = 0;
    struct hbg_buffer *buffer = NULL;
    struct hbg_arg scalar = hbg_i32(1), half = scalar, wild = hbg_in(hbg_host(x, HBG_F32, HBG_SHAPE(4)));
    (void)kind;
    scalar.dtype = 0;
    half.dtype = HBG_F16;
    wild.u.region.flags = HBG_REGION_BAD | HBG_REGION_HOST;
    wild.u.region.dtype = 0x7f03;
    wild.u.region.rank = 201;
    assert_int_equal(hbg_buffer_create(device, 64, &buffer), HBG_OK);
    void *last = (void *)(uintptr_t)-8;
    const struct { struct hbg_arg arg; enum hbg_status status; const char *text; } cases[] = {
        { scalar, HBG_E_SIGNATURE, "argument 1 is a scalar of type 0, which no scalar has" },
        { half, HBG_E_SIGNATURE, "argument 1 is a scalar of type 10, which no scalar has" },
        { hbg_in(hbg_host(last, HBG_U8, HBG_SHAPE(64))), HBG_E_REGION, "argument 1 begins at address 0xfffffffffffffff8 and has 64 bytes, which leave the address space" },
        { hbg_in(hbg_host(last, HBG_U8, HBG_SHAPE(8))), HBG_E_REGION, "argument 1 begins at address 0xfffffffffffffff8 and has 8 bytes, which leave the address space" },
        { hbg_in(hbg_host_strided(x, HBG_F32, HBG_SHAPE(4), HBG_SHAPE(INT64_MIN / 4))), HBG_E_REGION, "leave the address space" },
        { wild, HBG_E_REGION, "argument 1 is a bad view: no region that a function of hbg has made (rank 201, dtype 32515)" },
        { hbg_in(hbg_buffer_region(buffer, SIZE_MAX, HBG_U8, HBG_SHAPE(4))), HBG_E_REGION, "argument 1 is a bad view: hbg_buffer_region at byte 18446744073709551615, more than 63 bits can number" },
        { hbg_in(hbg_buffer_region(buffer, 60, HBG_U8, HBG_SHAPE(5))), HBG_E_REGION, "argument 1 touches bytes [60, 65) of a buffer of 64" },
        { hbg_in(hbg_buffer_region(NULL, 0, HBG_U8, HBG_SHAPE(4))), HBG_E_REGION, "argument 1 is a bad view: hbg_buffer_region of NULL, which is no buffer" },
        { hbg_in(hbg_buffer_region(NULL, 0, HBG_U8, HBG_SHAPE(0))), HBG_E_REGION, "argument 1 is a bad view: hbg_buffer_region of NULL, which is no buffer" },
    };
    struct hbg_program *program = PROGRAM_WITH(device, failing_build, kernels, none);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hbg_error e = program_run_fails(program, HBG_ARGS(hbg_i32(0), cases[i].arg), cases[i].status);
        if (e.argument != 1 || !strstr(e.text, cases[i].text)) fail_msg("case %zu, argument %d: %s", i, e.argument, e.text);
    }
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(program);
}

static void a_result_without_a_size(struct hbg_device *device, const struct device_kind *kind)
{
    int none = 0;
    struct hbg_result result = { 0 };
    (void)kind;
    struct hbg_program *program = PROGRAM_WITH(device, failing_build, kernels, none);
    assert_int_equal(hbg_run_sync(program, HBG_NO_ARGS, &result), HBG_E_ABI);
    assert_int_equal(result.error.status, HBG_E_ABI);
    if (!strstr(result.error.text, "HBG_OPTIONS(result)")) fail_msg("%s", result.error.text);
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(errors_of_a_build), DEVICE_TEST(skipped_tasks_are_counted), DEVICE_TEST(null_data_is_named), DEVICE_TEST(arguments_of_a_run), DEVICE_TEST(a_result_without_a_size),
    };
    return DEVICE_TESTS_RUN(tests);
}
