/* SPDX-License-Identifier: Apache-2.0 */
/* replay_test.c - a pure program is built once and replayed while everything its build looked at is unchanged.
 *
 * Each test counts the calls of its build function, so that "replayed" is a fact and not a flag, and compares values, so that a
 * replay which should have been a build is seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { SCALE, ADD, COPY, KERNEL_COUNT };

static int built;           /* calls of the build function */

static int scale(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 1)[i] = HBG_VIEW(const int32_t, t, 0)[i] * hbg_view_i32(t, 2);
    return 0;
}

static int add(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 0)[i] += hbg_view_i32(t, 1);
    return 0;
}

static int copy(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 1)[i] = HBG_VIEW(const int32_t, t, 0)[i];
    return 0;
}

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(SCALE, scale, "in i32, out i32, i32"), HBG_KERNEL(ADD, add, "inout i32, i32"), HBG_KERNEL(COPY, copy, "in i32, out i32"),
};

static struct hbg_program *pure_program(struct hbg_device *device, hbg_build_fn *build)
{
    struct program_spec spec = { .build = build, .kernels = kernels, .kernel_count = KERNEL_COUNT, .pure = true };
    built = 0;
    return program_create(device, &spec);
}

/* One run; was it built or replayed, and do flag, counters and the build function agree? Returns the reason of a miss. */
static struct hbg_result run_as(struct hbg_device *device, struct hbg_program *program, struct hbg_arg_list list, bool replayed)
{
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_counters before = counters_of(device);
    int built_before = built;
    program_run(program, list, &result, NULL);
    struct hbg_counters after = counters_of(device);
    assert_int_equal(result.replayed, replayed);
    assert_int_equal(built - built_before, !replayed);
    assert_int_equal(after.builds - before.builds, !replayed);
    assert_int_equal(after.replays - before.replays, replayed);
    if (replayed) assert_int_equal(after.image_bytes - before.image_bytes, 0);
    return result;
}

/* A build where a replay was possible; `why` is what the result says of it. */
static void missed(struct hbg_device *device, struct hbg_program *program, struct hbg_arg_list list, const char *why)
{
    struct hbg_counters before = counters_of(device);
    struct hbg_result result = run_as(device, program, list, false);
    assert_string_equal(result.why, why);
    assert_int_equal(counters_of(device).replay_misses - before.replay_misses, 1);
}

/* ---- new buffers and a new scalar ---- */

static void formula_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    built++;
    struct hbg_region u = hbg_alloc(g, HBG_I32, HBG_SHAPE(8));
    hbg_submit(g, SCALE, hbg_in(hbg_args_region(args, 0)), hbg_out(u), hbg_args_scalar(args, 2));
    hbg_submit(g, ADD, hbg_inout(u), hbg_i32(1));
    hbg_submit(g, COPY, hbg_in(u), hbg_out(hbg_args_region(args, 1)));
}

static void new_buffers_and_a_new_scalar(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = pure_program(device, formula_build);
    struct hbg_counters before = counters_of(device);
    for (int32_t i = 0; i < 40; i++) {
        int32_t *in = malloc(8 * sizeof *in), *out = malloc(8 * sizeof *out);
        for (int k = 0; k < 8; k++) { in[k] = i; out[k] = -1; }
        run_as(device, program, HBG_ARGS(hbg_in(HOST_I32(in, 8)), hbg_out(HOST_I32(out, 8)), hbg_i32(i)), i > 0);
        for (int k = 0; k < 8; k++) assert_int_equal(out[k], i * i + 1);
        free(in);
        free(out);
    }
    struct hbg_counters after = counters_of(device);
    assert_int_equal(after.image_copies - before.image_copies, kind->discrete ? 1 : 0);
    assert_int_equal(after.builds - before.builds, 1);
    hbg_program_destroy(program);
}

static void device_buffers_are_patched(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = pure_program(device, formula_build);
    struct hbg_buffer *buffers[4];
    for (int i = 0; i < 4; i++) assert_int_equal(hbg_buffer_create(device, 64, &buffers[i]), HBG_OK);
    for (int32_t i = 0; i < 24; i++) {
        struct hbg_buffer *in = buffers[i % 2], *out = buffers[2 + i / 2 % 2];
        int32_t values[8], read[8];
        for (int k = 0; k < 8; k++) values[k] = i + k;
        assert_int_equal(hbg_buffer_write(in, 32, values, sizeof values), HBG_OK);
        run_as(device, program, HBG_ARGS(hbg_in(hbg_buffer_region(in, 32, HBG_I32, HBG_SHAPE(8))), hbg_out(hbg_buffer_region(out, 16, HBG_I32, HBG_SHAPE(8))), hbg_i32(i)), i > 0);
        assert_int_equal(hbg_buffer_read(out, 16, read, sizeof read), HBG_OK);
        for (int k = 0; k < 8; k++) assert_int_equal(read[k], (i + k) * i + 1);
    }
    for (int i = 0; i < 4; i++) hbg_buffer_destroy(buffers[i]);
    hbg_program_destroy(program);
}

static void an_impure_program_is_always_built(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, formula_build, kernels);
    int32_t in[8] = { 0 }, out[8];
    for (int i = 0; i < 3; i++) run_as(device, program, HBG_ARGS(hbg_in(HOST_I32(in, 8)), hbg_out(HOST_I32(out, 8)), hbg_i32(i)), false);
    hbg_program_destroy(program);
}

/* ---- a value that the build computed with ---- */

static void derived_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    built++;
    int32_t k = hbg_args_get_i32(args, 2);
    hbg_submit(g, SCALE, hbg_in(hbg_args_region(args, 0)), hbg_out(hbg_args_region(args, 1)), hbg_i32(k + 1));
}

static void a_derived_scalar(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = pure_program(device, derived_build);
    int32_t in[4] = { 1, 2, 3, 4 }, out[4];
    static const int32_t ks[] = { 1, 1, 5, 5, 1 };
    for (int i = 0; i < 5; i++) {
        struct hbg_arg_list list = HBG_ARGS(hbg_in(HOST_I32(in, 4)), hbg_out(HOST_I32(out, 4)), hbg_i32(ks[i]));
        if (i == 0) run_as(device, program, list, false);
        else if (i == 2) missed(device, program, list, "argument 2: its value, which the build looked at");
        else program_run(program, list, NULL, NULL);
        for (int k = 0; k < 4; k++) assert_int_equal(out[k], in[k] * (ks[i] + 1));
    }
    hbg_program_destroy(program);
}

/* Scalars read by the build in every type, and one that is bound and not read. */
static void typed_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    built++;
    int32_t sum = (int32_t)hbg_args_get_f32(args, 1) + hbg_args_get_i32(args, 2) + (int32_t)hbg_args_get_i64(args, 3);
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(sum));
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(args, 4));
}

static void guarded_scalars(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = pure_program(device, typed_build);
    int32_t x = 0, expected = 0;
    static const struct { float a; int32_t b; int64_t c; int32_t d; const char *why; } calls[] = {       /* the first recording is compared */
        { 1, 10, 100, 1000, NULL }, { 1, 10, 100, 1000, NULL }, { 1, 10, 100, -5, NULL }, { 2, 10, 100, 7, "argument 1: its value, which the build looked at" },
        { 2, 10, 100, 8, NULL }, { 1, 20, 100, 8, "argument 2: its value, which the build looked at" },
        { 1, 10, -100, 8, "argument 3: its value, which the build looked at" }, { 1, 10, -100, 9, NULL },
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(&x, 1)), hbg_f32(calls[i].a), hbg_i32(calls[i].b), hbg_i64(calls[i].c), hbg_i32(calls[i].d));
        if (calls[i].why) missed(device, program, list, calls[i].why);
        else run_as(device, program, list, i > 0);
        expected += (int32_t)calls[i].a + calls[i].b + (int32_t)calls[i].c + calls[i].d;
        assert_int_equal(x, expected);
    }
    hbg_program_destroy(program);
}

/* ---- shapes, strides, element types ---- */

static void cells_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    built++;
    struct hbg_region x = hbg_args_region(args, 0);
    if (x.dtype != HBG_I32) return;
    for (int64_t i = 0; i < x.shape[0]; i++) hbg_submit(g, ADD, hbg_inout(hbg_index(x, 0, i)), hbg_i32((int32_t)i));
}

static void changed_shapes(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = pure_program(device, cells_build);
    int32_t x[64] = { 0 };
#define STRIDED(n, step) hbg_inout(hbg_host_strided(x, HBG_I32, HBG_SHAPE(n), HBG_SHAPE((step) * 4)))
    run_as(device, program, HBG_ARGS(STRIDED(4, 1)), false);
    run_as(device, program, HBG_ARGS(STRIDED(4, 1)), true);
    missed(device, program, HBG_ARGS(STRIDED(5, 1)), "argument 0: its shape, strides or type");
    missed(device, program, HBG_ARGS(STRIDED(5, 2)), "argument 0: its shape, strides or type");
    missed(device, program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_F32, HBG_SHAPE(5)))), "argument 0: its shape, strides or type");
    missed(device, program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(6)))), "argument 0: its shape, strides or type");
    missed(device, program, HBG_ARGS(hbg_in(hbg_host(x, HBG_I32, HBG_SHAPE(0)))), "argument 0: its access mode");
    missed(device, program, HBG_ARGS(STRIDED(4, 1), hbg_i32(1)), "the number of arguments");
#undef STRIDED
    for (int i = 0; i < 64; i++) {
        int32_t runs = (i < 4 ? 3 * i : 0) + (i < 5 ? i : 0) + (i % 2 == 0 && i / 2 < 5 ? i / 2 : 0) + (i < 6 ? i : 0);
        assert_int_equal(x[i], runs);
    }
    hbg_program_destroy(program);
}

/* ---- which arguments share bytes ---- */

/* Cells of x and y in turn, then z: the order matters where they share bytes, and which cells do depends on where they lie. */
enum { N = 256, CELL = 16 };

static void alias_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    built++;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1), z = hbg_args_region(args, 2);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N / CELL; i++) {
            struct hbg_region yi = hbg_cell(y, HBG_SHAPE(CELL), HBG_SHAPE(i));
            hbg_submit(g, ADD, hbg_inout(hbg_cell(x, HBG_SHAPE(CELL), HBG_SHAPE(i))), hbg_i32(3));
            hbg_submit(g, SCALE, hbg_in(yi), hbg_out(yi), hbg_i32(3));
        }
        hbg_submit(g, ADD, hbg_inout(z), hbg_i32(1));
    }
}

static void plain_alias(int32_t *data, const int *at)
{
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i += CELL) {
            for (int k = i; k < i + CELL; k++) data[at[0] + k] += 3;
            for (int k = i; k < i + CELL; k++) data[at[1] + k] *= 3;
        }
        for (int k = 0; k < N; k++) data[at[2] + k]++;
    }
}

static void misses_of_storages(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = pure_program(device, alias_build);
    static int32_t data[4 * N];
    memset(data, 0, sizeof data);                           /* each device multiplies it some more */
#define AT(a, b, c) HBG_ARGS(hbg_inout(HOST_I32(data + (a), N)), hbg_inout(HOST_I32(data + (b), N)), hbg_inout(HOST_I32(data + (c), N)))
    run_as(device, program, AT(0, N / 2, 2 * N), false);
    missed(device, program, AT(0, N / 4, 2 * N), "argument 1: its distance from others in its storage");
    missed(device, program, AT(0, N, 2 * N), "argument 1: which others share its storage");
#undef AT
    hbg_program_destroy(program);
}

/* Where x, y and z begin. */
static const int places[][3] = {
    { 0, 512, 1024 }, { 0, 512, 1024 }, { 0, 0, 1024 }, { 0, 128, 1024 }, { 0, 128, 1024 }, { 0, 136, 1024 }, { 64, 0, 1024 }, { 0, 512, 640 },
    { 0, 1024, 128 }, { 0, 1024, 130 }, { 700, 100, 200 }, { 0, 512, 1024 }, { 0, 255, 1024 }, { 0, 256, 1024 }, { 0, 0, 0 }, { 5, 5, 5 }, { 900, 0, 512 },
};
enum { PLACE_COUNT = sizeof places / sizeof places[0], ROOM = 1536 };

/* Whether built or replayed, the image has the order that a build of these very arguments makes. */
static void check_alias(struct hbg_device *device, struct hbg_program *program, struct hbg_arg_list list, int place)
{
    struct edges edges, fresh;
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_program *impure = PROGRAM(device, alias_build, kernels);
    program_edges(impure, list, &fresh);
    hbg_program_destroy(impure);
    program_run(program, list, &result, &edges);
    if (place > 0 && memcmp(places[place], places[place - 1], sizeof places[0]) == 0) assert_int_equal(result.replayed, 1);
    if (!edges_order_same(&edges, &fresh)) fail_msg("place %d was %s with the order of others", place, result.replayed ? "replayed" : "built");
    edges_free(&edges);
    edges_free(&fresh);
}

static void changed_aliases(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = pure_program(device, alias_build);
    static int32_t data[ROOM], expected[ROOM];
    for (int p = 0; p < PLACE_COUNT; p++) {
        for (int k = 0; k < ROOM; k++) data[k] = k % 17;
        const int *at = places[p];
        struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(data + at[0], N)), hbg_inout(HOST_I32(data + at[1], N)), hbg_inout(HOST_I32(data + at[2], N)));
        memcpy(expected, data, sizeof data);
        plain_alias(expected, at);
        check_alias(device, program, list, p);
        assert_memory_equal(data, expected, sizeof data);
    }
    hbg_program_destroy(program);
}

/* The same with ranges of one device buffer. */
static void changed_buffer_aliases(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = pure_program(device, alias_build);
    struct hbg_buffer *buffer;
    static int32_t data[ROOM], expected[ROOM];
    assert_int_equal(hbg_buffer_create(device, sizeof data, &buffer), HBG_OK);
    for (int p = 0; p < PLACE_COUNT; p++) {
        struct hbg_region r[3];
        for (int k = 0; k < ROOM; k++) data[k] = expected[k] = k % 17;
        plain_alias(expected, places[p]);
        for (int i = 0; i < 3; i++) r[i] = hbg_buffer_region(buffer, (size_t)places[p][i] * 4, HBG_I32, HBG_SHAPE(N));
        assert_int_equal(hbg_buffer_write(buffer, 0, data, sizeof data), HBG_OK);
        check_alias(device, program, HBG_ARGS(hbg_inout(r[0]), hbg_inout(r[1]), hbg_inout(r[2])), p);
        assert_int_equal(hbg_buffer_read(buffer, 0, data, sizeof data), HBG_OK);
        assert_memory_equal(data, expected, sizeof data);
    }
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(program);
}

/* ---- data that the build reads ---- */

static void reading_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    built++;
    struct hbg_region x = hbg_args_region(args, 0), table = hbg_args_region(args, 1);
    const int32_t *steps = hbg_read(g, hbg_slice(table, 0, 0, 4));
    if (!steps) return;
    for (int i = 0; i < 4; i++) hbg_submit(g, ADD, hbg_inout(hbg_index(x, 0, i)), hbg_i32(steps[i]));
    hbg_submit(g, ADD, hbg_inout(x), hbg_i32(hbg_read_i32(g, table, HBG_SHAPE(6))));
}

static void values_read_by_the_build(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = pure_program(device, reading_build);
    int32_t x[4] = { 0 }, table[8] = { 1, 2, 3, 4, 50, 60, 100, 80 }, sum = 0;
    static const struct { int at; bool hit; } changes[] = { { -1, false }, { -1, true }, { 4, true }, { 2, false }, { 6, false }, { 7, true }, { 0, false }, { -1, true } };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        if (changes[i].at >= 0) table[changes[i].at] += 1000;
        struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, 4)), hbg_in(hbg_host_const(table, HBG_I32, HBG_SHAPE(8))));
        if (i > 0 && !changes[i].hit) missed(device, program, list, "argument 1: data in its storage that the build read");
        else run_as(device, program, list, changes[i].hit);
        sum += table[2] + table[6];
        assert_int_equal(x[2], sum);
    }
    hbg_program_destroy(program);
}

/* The same from a device buffer. */
static void values_read_from_a_buffer(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = pure_program(device, reading_build);
    struct hbg_buffer *buffer;
    int32_t x[4] = { 0 }, table[8] = { 1, 2, 3, 4, 50, 60, 100, 80 }, sum = 0;
    assert_int_equal(hbg_buffer_create(device, sizeof table, &buffer), HBG_OK);
    for (int i = 0; i < 6; i++) {
        table[i % 2 ? 5 : 2] += 10;                         /* 5 is not looked at */
        assert_int_equal(hbg_buffer_write(buffer, 0, table, sizeof table), HBG_OK);
        run_as(device, program, HBG_ARGS(hbg_inout(HOST_I32(x, 4)), hbg_in(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(8)))), i % 2);
        sum += table[2] + table[6];
        assert_int_equal(x[2], sum);
    }
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(program);
}

/* ---- whatever else the build looks at ---- */

static struct { int32_t step, times; } outside;

static void guarded_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    built++;
    hbg_guard(g, &outside, sizeof outside);
    for (int32_t i = 0; i < outside.times; i++) hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(outside.step));
}

static void guarded_memory(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = pure_program(device, guarded_build);
    int32_t x = 0, expected = 0;
    for (int i = 0; i < 8; i++) {
        outside.step = 3;
        outside.times = 2 + i / 2;
        run_as(device, program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1))), i % 2);
        expected += outside.step * outside.times;
        assert_int_equal(x, expected);
    }
    hbg_program_destroy(program);
}

/* ---- a buffer that the build named itself ---- */

static struct hbg_buffer *weights;

static void weights_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    built++;
    struct hbg_region w = hbg_buffer_region(weights, 0, HBG_I32, HBG_SHAPE(4));
    hbg_submit(g, COPY, hbg_in(w), hbg_out(hbg_args_region(args, 0)));
    hbg_submit(g, ADD, hbg_inout(w), hbg_i32(1));
}

static void the_recording_keeps_a_named_buffer(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = pure_program(device, weights_build);
    int32_t x[4], start[4] = { 10, 20, 30, 40 };
    assert_int_equal(hbg_buffer_create(device, sizeof start, &weights), HBG_OK);
    assert_int_equal(hbg_buffer_write(weights, 0, start, sizeof start), HBG_OK);
    for (int32_t i = 0; i < 10; i++) {
        if (i == 5) hbg_buffer_destroy(weights);            /* the recording still holds it */
        run_as(device, program, HBG_ARGS(hbg_out(HOST_I32(x, 4))), i > 0);
        for (int k = 0; k < 4; k++) assert_int_equal(x[k], start[k] + i);
    }
    hbg_program_destroy(program);
}

/* ---- a program that never holds is still right ---- */

static void a_program_that_always_misses(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = pure_program(device, derived_build);
    int32_t in[4] = { 1, 2, 3, 4 }, out[4];
    for (int32_t i = 0; i < 30; i++) {
        program_run(program, HBG_ARGS(hbg_in(HOST_I32(in, 4)), hbg_out(HOST_I32(out, 4)), hbg_i32(i)), NULL, NULL);
        for (int k = 0; k < 4; k++) assert_int_equal(out[k], in[k] * (i + 1));
    }
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(new_buffers_and_a_new_scalar), DEVICE_TEST(device_buffers_are_patched),
        DEVICE_TEST(an_impure_program_is_always_built), DEVICE_TEST(a_derived_scalar), DEVICE_TEST(guarded_scalars),
        DEVICE_TEST(changed_shapes), DEVICE_TEST(misses_of_storages), DEVICE_TEST(changed_aliases), DEVICE_TEST(changed_buffer_aliases),
        DEVICE_TEST(values_read_by_the_build), DEVICE_TEST(values_read_from_a_buffer), DEVICE_TEST(guarded_memory),
        DEVICE_TEST(the_recording_keeps_a_named_buffer), DEVICE_TEST(a_program_that_always_misses),
    };
    return DEVICE_TESTS_RUN(tests);
}
