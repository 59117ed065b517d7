/* SPDX-License-Identifier: Apache-2.0 */
/* repeat_test.c - a build is compared with the last one of its slot: what is the same is not made again, what differs is, and what is wrong is
 * refused as if nothing had been compared.
 *
 * What a build submits follows `which`, which no guard sees; each test compares values, edges or images with those of a build from the start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

enum { LEN = 8, TOLD = 0, UNTOLD, FAILS, KERNELS_END };

static int which;

/* x += k */
static int add_told(const struct hbg_task_view *t)
{
    HBG_VIEW(int32_t, t, 0)[0] += hbg_view_i32(t, 1);
    return 0;
}

/* The views that it is given, all of them from the second on, are added to the first; the first argument is parameter bytes. */
static int add_untold(const struct hbg_task_view *t)
{
    const int32_t *k = HBG_VIEW(const int32_t, t, 0);
    int32_t sum = *k;
    for (uint32_t i = 2; i < t->arg_count; i++) sum += HBG_VIEW(const int32_t, t, i)[0];
    if (*k >= 0) HBG_VIEW(int32_t, t, 1)[0] += sum;
    return 0;
}

static int fails(const struct hbg_task_view *t)
{
    return hbg_view_i32(t, 0);
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(TOLD, add_told, "inout i32, i32"), HBG_KERNEL(UNTOLD, add_untold, NULL), HBG_KERNEL(FAILS, fails, "i32") };

static struct hbg_region at(const struct hbg_args *args, int64_t i) { return hbg_index(hbg_args_region(args, 0), 0, i); }

/* Runs the program once with `which`; was the build repeated? */
static bool run_with(struct hbg_device *device, struct hbg_program *program, int value, struct hbg_arg_list list)
{
    uint64_t before = counters_of(device).builds_repeated;
    which = value;
    program_run(program, list, NULL, NULL);
    return counters_of(device).builds_repeated != before;
}

/* The same build gives the same image as one from the start, by a program that is made for it. */
static void assert_image_as_new(struct hbg_device *device, struct hbg_program *program, hbg_build_fn *build, int value, struct hbg_arg_list list)
{
    struct hbg_program *fresh = PROGRAM(device, build, kernels);
    const void *image;
    unsigned char *copy;
    struct hbg_run run;
    size_t size, fresh_size;
    which = value;
    assert_int_equal(hbg_run_prepare(program, list, NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
    copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, image, size);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    assert_int_equal(hbg_run_prepare(fresh, list, NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_image(run, &image, &fresh_size), HBG_OK);
    assert_int_equal(size, fresh_size);
    assert_memory_equal(copy, image, size);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    free(copy);
    hbg_program_destroy(fresh);
}

/* ---- values ---- */

static void values_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int32_t k = which;
    (void)params;
    hbg_submit(g, TOLD, hbg_inout(at(args, 0)), hbg_i32(which));
    hbg_submit(g, UNTOLD, hbg_bytes(&k, sizeof k), hbg_inout(at(args, 1)), hbg_in(at(args, 0)));
    hbg_submit(g, TOLD, hbg_inout(at(args, 2)), hbg_args_scalar(args, 1));
}

/* Constants and parameter bytes of other values are no other graph, and the kernels see the new ones. */
static void values_take_the_place_of_others(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, values_build, kernels);
    (void)kind;
    for (int run = 0; run < 5; run++) {
        int32_t x[LEN] = { 0 };
        bool repeated = run_with(device, program, run + 10, HBG_ARGS(hbg_inout(HOST_I32(x, LEN)), hbg_i32(100 * run)));
        assert_int_equal(repeated, run > 0);
        assert_int_equal(x[0], run + 10);
        assert_int_equal(x[1], 2 * (run + 10));
        assert_int_equal(x[2], 100 * run);
    }
    hbg_program_destroy(program);
}

/* ---- regions ---- */

/* The same bytes of one argument or of another; a task more; an intermediate of another size, that nobody uses. */
static void places_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, TOLD, hbg_inout(hbg_index(hbg_args_region(args, which & 1), 0, which >> 1 & 1)), hbg_i32(1));
    (void)hbg_alloc(g, HBG_I32, HBG_SHAPE(which & 4 ? 200 : 100));
    (void)hbg_alloc(g, which & 8 ? HBG_F32 : HBG_I32, HBG_SHAPE(10));
    hbg_submit(g, TOLD, hbg_inout(hbg_index(hbg_args_region(args, 0), 0, 0)), hbg_i32(1));
}

static void places_and_sizes_are_compared(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t x[LEN] = { 0 }, y[LEN] = { 0 };
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, LEN)), hbg_inout(HOST_I32(y, LEN)));
    (void)kind;
    for (int changed = 1; changed < 16; changed++) {
        struct hbg_program *program = PROGRAM(device, places_build, kernels);
        (void)run_with(device, program, 0, list);
        assert_true(run_with(device, program, 0, list));
        assert_image_as_new(device, program, places_build, changed, list);
        hbg_program_destroy(program);
    }
}

/* ---- what the records do not tell ---- */

/* Task 1 reads what task 0 writes, or writes it, by the same bytes; task 2 comes after task 0 or task 1 by an explicit edge. */
static void kinds_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int32_t nothing = -1;
    struct hbg_task t[2];
    (void)params;
    t[0] = hbg_submit(g, UNTOLD, hbg_bytes(&nothing, sizeof nothing), hbg_in(at(args, 0)));
    t[1] = hbg_submit(g, UNTOLD, hbg_bytes(&nothing, sizeof nothing), which & 1 ? hbg_in(at(args, 0)) : hbg_inout(at(args, 0)));
    hbg_submit(g, UNTOLD, hbg_bytes(&nothing, sizeof nothing), hbg_in(at(args, 3)), hbg_after(t[which >> 1 & 1]));
    if (which & 4) hbg_barrier(g);
    hbg_submit(g, UNTOLD, hbg_bytes(&nothing, sizeof nothing), hbg_in(at(args, 4)));
    if (which & 8) (void)hbg_alloc(g, HBG_I32, HBG_SHAPE(100));
}

static void access_modes_and_edges_are_compared(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t x[LEN] = { 0 };
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, LEN)));
    (void)kind;
    for (int changed = 1; changed < 16; changed *= 2) {
        for (int from = 0; from < 2; from++) {
            struct hbg_program *fresh = PROGRAM(device, kinds_build, kernels);
            (void)run_with(device, fresh, from ? changed : 0, list);
            assert_true(run_with(device, fresh, from ? changed : 0, list));
            assert_image_as_new(device, fresh, kinds_build, from ? 0 : changed, list);
            hbg_program_destroy(fresh);
        }
    }
}

/* ---- what is refused ---- */

static struct hbg_region kept;

/* An intermediate whose scope has ended, at the bytes of the one that stands there now. */
static void stale_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    kept = hbg_alloc(g, HBG_I32, HBG_SHAPE(64));
    hbg_submit(g, UNTOLD, hbg_bytes(&(int32_t){ 0 }, 4), hbg_out(kept));
    hbg_scope_end(g);
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    struct hbg_region next = hbg_alloc(g, HBG_I32, HBG_SHAPE(64));
    hbg_submit(g, UNTOLD, hbg_bytes(&(int32_t){ 0 }, 4), hbg_out(which ? kept : next));
    hbg_scope_end(g);
}

static void a_region_of_an_ended_scope_is_refused(struct hbg_device *unused, const struct device_kind *kind)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    (void)unused;
    options.heap_reuse_after_bytes = 256;
    struct hbg_device *device = device_open(kind->spec, &options);
    struct hbg_program *program = PROGRAM(device, stale_build, kernels);
    assert_false(run_with(device, program, 0, HBG_NO_ARGS));
    assert_true(run_with(device, program, 0, HBG_NO_ARGS));
    which = 1;
    struct hbg_error error = program_run_fails(program, HBG_NO_ARGS, HBG_E_SCOPE);
    assert_string_equal(error.text, "argument 1 of kernel add_untold is an intermediate whose scope has ended");
    assert_int_equal(error.argument, 1);
    assert_false(run_with(device, program, 0, HBG_NO_ARGS));        /* and then it is made */
    assert_true(run_with(device, program, 0, HBG_NO_ARGS));
    hbg_program_destroy(program);
    device_close(device);
}

/* A region of one intermediate that was moved by hand into its neighbour, which the task before named at the same place. */
static void beyond_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    struct hbg_region a = hbg_alloc(g, HBG_I32, HBG_SHAPE(16)), b = hbg_alloc(g, HBG_I32, HBG_SHAPE(16)), beyond = a;
    beyond.offset_bytes += 64;
    hbg_submit(g, UNTOLD, hbg_bytes(&(int32_t){ 0 }, 4), hbg_out(which ? beyond : b));
}

static void a_region_beyond_its_intermediate_is_refused(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, beyond_build, kernels);
    (void)kind;
    assert_false(run_with(device, program, 0, HBG_NO_ARGS));
    assert_true(run_with(device, program, 0, HBG_NO_ARGS));
    which = 1;
    (void)program_run_fails(program, HBG_NO_ARGS, HBG_E_REGION);
    hbg_program_destroy(program);
}

/* After some tasks that are the same: a read-only region that would be written, a kernel that is not there, a region of another build, an end of no scope. */
static void wrong_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 3; i++) hbg_submit(g, TOLD, hbg_inout(at(args, i)), hbg_i32(1));
    hbg_barrier(g);                                                 /* a noop, which counts as a task where an error says after how many it came */
    if (which == 0) kept = at(args, 3);
    if (which < 2) hbg_submit(g, TOLD, hbg_inout(which ? hbg_index(hbg_args_region(args, 1), 0, 0) : at(args, 3)), hbg_i32(1));
    if (which == 2) hbg_submit(g, KERNELS_END);
    if (which == 3) hbg_submit(g, TOLD, hbg_inout(kept), hbg_i32(1));
    if (which == 4) hbg_scope_end(g);
    if (which == 5) hbg_submit(g, TOLD, hbg_inout(at(args, 3)));
    if (which == 6) hbg_submit_args(g, TOLD, (struct hbg_arg_list){ NULL, 2 });
    if (which == 8) hbg_scope_begin(g, 77);
    if (which == 9) (void)hbg_args_get_i32(args, 0);
    if (which == 10) (void)hbg_alloc(g, (enum hbg_dtype)0, HBG_SHAPE(1));
    if (which == 11) hbg_guard(g, NULL, 4);
    if (which == 7) hbg_graph_fail(g, 7, "nothing will do");
}

static void what_is_wrong_is_refused_as_ever(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, wrong_build, kernels);
    int32_t x[LEN] = { 0 };
    const int32_t y = 0;
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, LEN)), hbg_in(hbg_host_const(&y, HBG_I32, HBG_SHAPE(1))));
    static const enum hbg_status expected[] = { 0, HBG_E_ACCESS, HBG_E_OPTION, HBG_E_SCOPE, HBG_E_ORDER, HBG_E_SIGNATURE, HBG_E_NULL, HBG_E_BUILD, HBG_E_OPTION, HBG_E_ACCESS, HBG_E_REGION, HBG_E_NULL };
    (void)kind;
    for (int wrong = 1; wrong < 12; wrong++) {
        struct hbg_program *fresh = PROGRAM(device, wrong_build, kernels);
        (void)run_with(device, program, 0, list);
        (void)run_with(device, program, 0, list);
        which = wrong;
        struct hbg_error compared = program_run_fails(program, list, expected[wrong]), made = program_run_fails(fresh, list, expected[wrong]);
        assert_string_equal(compared.text, made.text);
        assert_string_equal(compared.name, made.name);
        assert_int_equal(compared.argument, made.argument);
        assert_int_equal(compared.task, made.task);
        hbg_program_destroy(fresh);
    }
    hbg_program_destroy(program);
}

/* ---- buffers that the build names ---- */

static struct hbg_buffer *buffer[2];
static struct hbg_region named[2];          /* the first element of each: a region may outlive its buffer, a pointer to it may not be used */

static void make_buffer(struct hbg_device *device, int i)
{
    static const int32_t zero[LEN];
    assert_int_equal(hbg_buffer_create(device, sizeof zero, &buffer[i]), HBG_OK);
    assert_int_equal(hbg_buffer_write(buffer[i], 0, zero, sizeof zero), HBG_OK);
    named[i] = hbg_buffer_region(buffer[i], 0, HBG_I32, HBG_SHAPE(1));
}

static void buffers_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    for (int i = 0; i < 2; i++) hbg_submit(g, TOLD, hbg_inout(named[which ? 1 - i : i]), hbg_i32(1 + i));
}

static void named_buffers_are_the_same_ones(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, buffers_build, kernels);
    int32_t x[2];
    (void)kind;
    for (int i = 0; i < 2; i++) make_buffer(device, i);
    assert_false(run_with(device, program, 0, HBG_NO_ARGS));
    assert_true(run_with(device, program, 0, HBG_NO_ARGS));
    assert_false(run_with(device, program, 1, HBG_NO_ARGS));
    for (int i = 0; i < 2; i++) assert_int_equal(hbg_buffer_read(buffer[i], 0, &x[i], sizeof x[i]), HBG_OK);
    assert_int_equal(x[0], 1 + 1 + 2);
    assert_int_equal(x[1], 2 + 2 + 1);
    assert_true(run_with(device, program, 1, HBG_NO_ARGS));
    hbg_buffer_destroy(buffer[1]);
    struct hbg_error error = program_run_fails(program, HBG_NO_ARGS, HBG_E_REGION);
    assert_non_null(strstr(error.text, "has been destroyed"));
    hbg_buffer_destroy(buffer[0]);
    hbg_program_destroy(program);
}

/* The buffer that the build names is an argument too, or is not: two tasks that follow each other, or do not. */
static void argument_and_name_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, TOLD, hbg_inout(at(args, 0)), hbg_i32(1));
    hbg_submit(g, TOLD, hbg_inout(named[1]), hbg_i32(1));
    if (which) hbg_submit(g, TOLD, hbg_inout(at(args, 1)), hbg_i32(1));
}

static void a_named_buffer_may_become_an_argument(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, argument_and_name_build, kernels);
    int32_t x[LEN] = { 0 };
    (void)kind;
    for (int i = 0; i < 2; i++) make_buffer(device, i);
    struct hbg_arg_list lists[] = { HBG_ARGS(hbg_inout(hbg_buffer_region(buffer[0], 0, HBG_I32, HBG_SHAPE(LEN)))),
                                    HBG_ARGS(hbg_inout(hbg_buffer_region(buffer[1], 0, HBG_I32, HBG_SHAPE(LEN)))), HBG_ARGS(hbg_inout(HOST_I32(x, LEN))) };
    for (int run = 0; run < 60; run++) {
        struct hbg_result result = HBG_OPTIONS(result);
        int list = run % 7 % 3;
        which = run / 20 % 2;
        program_run(program, lists[list], &result, NULL);
        assert_int_equal(result.edges, list == 1 ? 1 : 0);
    }
    for (int i = 0; i < 2; i++) hbg_buffer_destroy(buffer[i]);
    hbg_program_destroy(program);
}

static void late_name_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, TOLD, hbg_inout(at(args, 0)), hbg_i32(1));
    if (which) hbg_submit(g, TOLD, hbg_inout(named[0]), hbg_i32(1));
}

/* The argument is of the host; then, in a build that is repeated, in a buffer; then the build names that, and the argument is of the host again. */
static void an_argument_may_have_been_a_named_buffer(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, late_name_build, kernels);
    int32_t x[LEN] = { 0 };
    (void)kind;
    make_buffer(device, 0);
    struct hbg_arg_list host = HBG_ARGS(hbg_inout(HOST_I32(x, LEN))), own = HBG_ARGS(hbg_inout(hbg_buffer_region(buffer[0], 0, HBG_I32, HBG_SHAPE(LEN))));
    static const struct { int which; bool own, repeated; uint64_t edges; } runs[] = {
        { 0, false, false, 0 }, { 0, true, true, 0 }, { 1, true, false, 1 }, { 1, false, false, 0 }, { 1, false, true, 0 }
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct hbg_result result = HBG_OPTIONS(result);
        uint64_t before = counters_of(device).builds_repeated;
        which = runs[i].which;
        program_run(program, runs[i].own ? own : host, &result, NULL);
        assert_int_equal(result.edges, runs[i].edges);
        assert_int_equal(counters_of(device).builds_repeated - before, runs[i].repeated);
    }
    hbg_buffer_destroy(buffer[0]);
    hbg_program_destroy(program);
}

/* Another thread may destroy a buffer that the build has named; what was submitted goes on with it. */
static void gone_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, TOLD, hbg_inout(named[0]), hbg_i32(1));
    if (which == 1) hbg_buffer_destroy(buffer[0]);
    hbg_submit(g, TOLD, hbg_inout(at(args, which)), hbg_i32(1));
}

static void a_buffer_may_go_while_it_is_named(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, gone_build, kernels);
    int32_t x[LEN] = { 0 };
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, LEN)));
    (void)kind;
    make_buffer(device, 0);
    assert_false(run_with(device, program, 0, list));
    assert_true(run_with(device, program, 0, list));
    assert_false(run_with(device, program, 1, list));
    assert_int_equal(x[0], 2);
    assert_int_equal(x[1], 1);
    which = 0;
    (void)program_run_fails(program, list, HBG_E_REGION);
    hbg_program_destroy(program);
}

/* Two buffers in turn: the second time that one comes it has a name already. */
static void turns_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    for (int i = 0; i < 8; i++) hbg_submit(g, TOLD, hbg_inout(named[i % 2]), hbg_i32(1 + i % 2));
}

static void buffers_in_turns_are_known(struct hbg_device *device, const struct device_kind *kind)
{
    enum { APART = 64 };                /* their places in a table of the latest collide */
    struct hbg_program *program = PROGRAM(device, turns_build, kernels);
    struct hbg_buffer *between[APART] = { NULL };
    int32_t x;
    (void)kind;
    make_buffer(device, 0);
    for (int i = 1; i < APART; i++) assert_int_equal(hbg_buffer_create(device, sizeof x, &between[i]), HBG_OK);
    make_buffer(device, 1);
    assert_false(run_with(device, program, 0, HBG_NO_ARGS));
    for (int run = 0; run < 3; run++) assert_true(run_with(device, program, 0, HBG_NO_ARGS));
    assert_int_equal(hbg_buffer_read(buffer[1], 0, &x, sizeof x), HBG_OK);
    assert_int_equal(x, 4 * 4 * 2);
    for (int i = 1; i < APART; i++) hbg_buffer_destroy(between[i]);
    for (int i = 0; i < 2; i++) hbg_buffer_destroy(buffer[i]);
    hbg_program_destroy(program);
}

/* ---- what is told of it ---- */

static void history_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, TOLD, hbg_inout(at(args, 0)), hbg_i32(1));
}

static void no_history_is_told_of_a_comparison(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, history_build, kernels);
    int32_t x[LEN] = { 0 };
    (void)kind;
    for (int run = 0; run < 3; run++) {
        struct hbg_graph_info info = HBG_OPTIONS(graph_info);
        struct hbg_run prepared;
        assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(x, LEN))), NULL, &prepared), HBG_OK);
        assert_int_equal(hbg_run_graph(prepared, &info), HBG_OK);
        assert_int_equal(info.history_known, run == 0);
        assert_int_equal(info.grid_count, run == 0);
        assert_int_equal(hbg_run_cancel(prepared), HBG_OK);
        assert_int_equal(hbg_run_finish(prepared, NULL), HBG_E_CANCELLED);
    }
    hbg_program_destroy(program);
}

/* ---- what comes in between ---- */

static void one_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region y = hbg_alloc(g, HBG_I32, HBG_SHAPE(16));
    hbg_submit(g, UNTOLD, hbg_bytes(&(int32_t){ 0 }, 4), hbg_out(y));
    for (int i = 0; i <= which; i++) hbg_submit(g, TOLD, hbg_inout(at(args, i)), hbg_i32(1 + i));
}

/* Another program, a replay's recording, a run that fails, a boundary of another shape: then the build is made. */
static void what_comes_between_is_no_last_build(struct hbg_device *unused, const struct device_kind *kind)
{
    char spec[128];
    (void)unused;
    snprintf(spec, sizeof spec, "%s,depth=1", kind->spec);
    struct hbg_device *device = device_open(spec, NULL);
    struct program_spec pure = { .build = one_build, KERNEL_TABLE(kernels), .pure = true };
    struct hbg_program *program = PROGRAM(device, one_build, kernels), *other = PROGRAM(device, one_build, kernels), *replayed = program_create(device, &pure);
    int32_t x[LEN] = { 0 };
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, LEN))), shorter = HBG_ARGS(hbg_inout(HOST_I32(x, LEN - 1)));
    assert_false(run_with(device, program, 2, list));
    assert_true(run_with(device, program, 2, list));
    assert_false(run_with(device, other, 3, list));                 /* into the same arena */
    assert_false(run_with(device, program, 2, list));
    assert_false(run_with(device, replayed, 4, list));              /* on the same tables */
    assert_false(run_with(device, program, 2, list));
    assert_true(run_with(device, program, 2, list));
    assert_false(run_with(device, replayed, 4, list));              /* replayed: nothing was built */
    assert_true(run_with(device, program, 2, list));
    assert_false(run_with(device, program, 2, shorter));
    assert_false(run_with(device, program, 2, list));
    assert_true(run_with(device, program, 2, list));
    assert_int_equal(x[0], 12);
    assert_int_equal(x[2], 3 * 12);
    assert_int_equal(x[3], 4 * 3);
    assert_int_equal(x[4], 5 * 2);
    hbg_program_destroy(program);
    hbg_program_destroy(other);
    hbg_program_destroy(replayed);
    device_close(device);
}

/* Two programs in turns have a slot each, as many as there are; so many one after the other are content with one. */
static void programs_in_turns_are_compared(struct hbg_device *unused, const struct device_kind *kind)
{
    enum { PROGRAMS = 3 };
    char spec[128];
    (void)unused;
    snprintf(spec, sizeof spec, "%s,depth=%d", kind->spec, PROGRAMS);
    struct hbg_device *device = device_open(spec, NULL);
    struct hbg_program *program[PROGRAMS];
    int32_t x[LEN] = { 0 };
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, LEN)));
    for (int i = 0; i < PROGRAMS; i++) {
        program[i] = PROGRAM(device, one_build, kernels);
        assert_false(run_with(device, program[i], i, list));
    }
    assert_int_equal(counters_of(device).stream_sets_made, 1);
    for (int run = 0; run < 5; run++)
        for (int i = 0; i < PROGRAMS; i++)
            assert_int_equal(run_with(device, program[i], i, list), run > 0 || i == PROGRAMS - 1);
    for (int i = 0; i < PROGRAMS; i++) hbg_program_destroy(program[i]);
    device_close(device);
    assert_int_equal(x[0], 18);
    assert_int_equal(x[1], 2 * 12);
}

static void failing_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_submit(g, FAILS, hbg_i32(which));
}

static void a_run_that_failed_is_made_anew(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, failing_build, kernels);
    (void)kind;
    assert_false(run_with(device, program, 0, HBG_NO_ARGS));
    assert_true(run_with(device, program, 0, HBG_NO_ARGS));
    which = 5;
    program_run_fails(program, HBG_NO_ARGS, HBG_E_KERNEL);
    assert_false(run_with(device, program, 0, HBG_NO_ARGS));
    assert_true(run_with(device, program, 0, HBG_NO_ARGS));
    hbg_program_destroy(program);
}

/* A program that wants none is compared with none. */
static void no_compare_are_made(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_program *program;
    int32_t x[LEN] = { 0 };
    (void)kind;
    options.build = one_build;
    options.kernels = kernels;
    options.kernel_count = KERNELS_END;
    options.no_compare = true;
    assert_int_equal(hbg_program_create(device, &options, &program), HBG_OK);
    for (int run = 0; run < 4; run++) assert_false(run_with(device, program, 2, HBG_ARGS(hbg_inout(HOST_I32(x, LEN)))));
    assert_int_equal(x[2], 3 * 4);
    hbg_program_destroy(program);
}

/* A build that is another one each time soon is not compared any more, and once it stays the same it is again. */
static void trying_grows_rare(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, one_build, kernels);
    int32_t x[LEN] = { 0 };
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, LEN)));
    int until = 0;
    (void)kind;
    for (int run = 0; run < 200; run++) assert_false(run_with(device, program, run % 5, list));
    while (!run_with(device, program, 1, list)) until++;
    assert_in_range(until, 1, 65);
    for (int run = 0; run < 3; run++) assert_true(run_with(device, program, 1, list));
    hbg_program_destroy(program);
}

/* ---- reading ---- */

static void reading_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    int32_t first = hbg_read_i32(g, hbg_args_region(args, 1), HBG_SHAPE(0));
    hbg_submit(g, TOLD, hbg_inout(at(args, first)), hbg_i32(1));
    if (which) (void)hbg_read_i32(g, which == 1 ? hbg_args_region(args, 1) : hbg_args_region(args, 0), HBG_SHAPE(0));
}

/* Data that the build reads before its first task may differ; reads behind tasks are of a build that is made. */
static void reads_are_compared_by_what_follows(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, reading_build, kernels);
    int32_t x[LEN] = { 0 }, y[1] = { 2 };
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, LEN)), hbg_in(HOST_I32(y, 1)));
    (void)kind;
    assert_false(run_with(device, program, 0, list));
    assert_true(run_with(device, program, 0, list));
    y[0] = 3;
    assert_false(run_with(device, program, 0, list));
    assert_true(run_with(device, program, 0, list));
    assert_false(run_with(device, program, 1, list));
    which = 2;
    y[0] = 0;
    struct hbg_error error = program_run_fails(program, list, HBG_E_WRITTEN);
    assert_int_equal(error.task, 0);
    assert_int_equal(x[2], 2);
    assert_int_equal(x[3], 3);
    hbg_program_destroy(program);
}

/* ---- bodies ---- */

static int body_calls;

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    body_calls++;
    if (hbg_args_get_i32(args, 1) > 100) hbg_submit(g, TOLD, hbg_inout(at(args, 1)), hbg_i32(1));
    hbg_submit(g, TOLD, hbg_inout(at(args, 0)), hbg_args_scalar(args, 1));
}

static void bodies_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    for (int64_t i = 0; i < 4; i++)
        hbg_subgraph(g, KEY("body"), body, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 2 * i, 2 * i + 2)), i == 2 ? hbg_i32(which) : hbg_args_scalar(args, 1)));
}

/* A value that the body has looked at gives another definition; one that fits is found again, with the new value in it. */
static void bodies_are_compared_by_what_they_looked_at(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, bodies_build, kernels);
    int32_t x[LEN] = { 0 }, expected = 0;
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, LEN)), hbg_i32(7));
    static const struct { int which; bool repeated; } runs[] = { { 7, false }, { 7, false }, { 7, true }, { 7, true }, { 200, false }, { 200, false } };
    (void)kind;
    body_calls = 0;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        assert_int_equal(run_with(device, program, runs[i].which, list), runs[i].repeated);
        expected += runs[i].which;
        assert_int_equal(x[4], expected);
        assert_int_equal(x[0], 7 * (int)(i + 1));
        assert_int_equal(x[5], i < 4 ? 0 : (int)i - 3);
    }
    assert_int_equal(body_calls, 2);
    hbg_program_destroy(program);
}

static void step_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, TOLD, hbg_inout(at(args, 0)), hbg_i32(1));
}

/* Bodies on storage of their own, the third after the first or the second; each has a read-only region that nobody is ordered by. */
static void after_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    struct hbg_task t[2];
    (void)params;
    for (int64_t i = 0; i < 2; i++)
        t[i] = hbg_subgraph(g, KEY("step"), step_body, HBG_ARGS(hbg_inout(hbg_slice(x, 0, i, i + 1)), hbg_untracked(hbg_args_region(args, 1))));
    hbg_subgraph(g, KEY("step"), step_body, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 2, 3)), hbg_untracked(hbg_args_region(args, 1)), hbg_after(t[which & 1])));
    if (which & 2) hbg_submit(g, TOLD, hbg_inout(at(args, 5)), hbg_i32(1));
}

static void edges_and_untracked_regions_of_bodies_are_compared(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t x[LEN] = { 0 };
    const int32_t y[LEN] = { 0 };
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, LEN)), hbg_in(hbg_host_const(y, HBG_I32, HBG_SHAPE(LEN))));
    (void)kind;
    for (int changed = 1; changed < 4; changed++) {
        struct hbg_program *program = PROGRAM(device, after_build, kernels);
        (void)run_with(device, program, 0, list);               /* may record the body */
        (void)run_with(device, program, 0, list);
        assert_true(run_with(device, program, 0, list));
        assert_image_as_new(device, program, after_build, changed, list);
        hbg_program_destroy(program);
    }
}

/* Submits an argument of the build around where its own is the longer one. */
static struct hbg_region around;

static void long_captures_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, TOLD, hbg_inout(hbg_args_region(args, 0).shape[0] > LEN / 2 ? around : at(args, 0)), hbg_i32(1));
}

static void long_captures_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    around = at(args, LEN - 1);
    hbg_subgraph(g, KEY("some capture"), long_captures_body, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 0, LEN / 2))));
    if (which) hbg_subgraph(g, KEY("some capture"), long_captures_body, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 0, LEN - 1))));
}

/* Of a key with a body that can be kept and one that cannot: a build that finds the one has nothing to say of the other, compared or not. */
static void what_is_found_has_no_reason(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    for (int no_compare = 0; no_compare < 2; no_compare++) {
        struct hbg_program_options options = HBG_OPTIONS(program_options);
        struct hbg_program *program = NULL;
        int32_t x[LEN] = { 0 };
        options.build = long_captures_build;
        options.kernels = kernels;
        options.kernel_count = KERNELS_END;
        options.no_compare = no_compare;
        assert_int_equal(hbg_program_create(device, &options, &program), HBG_OK);
        for (int run = 0; run < 12; run++) {
            struct hbg_result result = HBG_OPTIONS(result);
            which = run == 1;
            assert_int_equal(hbg_run_sync(program, HBG_ARGS(hbg_inout(HOST_I32(x, LEN))), &result), HBG_OK);
            if (which) assert_string_not_equal(result.subgraph_why, "");
            else assert_string_equal(result.subgraph_why, "");
        }
        hbg_program_destroy(program);
    }
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(values_take_the_place_of_others), DEVICE_TEST(places_and_sizes_are_compared), DEVICE_TEST(access_modes_and_edges_are_compared),
        DEVICE_TEST(a_region_of_an_ended_scope_is_refused), DEVICE_TEST(a_region_beyond_its_intermediate_is_refused), DEVICE_TEST(what_is_wrong_is_refused_as_ever),
        DEVICE_TEST(named_buffers_are_the_same_ones), DEVICE_TEST(a_named_buffer_may_become_an_argument), DEVICE_TEST(an_argument_may_have_been_a_named_buffer),
        DEVICE_TEST(a_buffer_may_go_while_it_is_named), DEVICE_TEST(buffers_in_turns_are_known), DEVICE_TEST(no_history_is_told_of_a_comparison), DEVICE_TEST(what_comes_between_is_no_last_build), DEVICE_TEST(programs_in_turns_are_compared),
        DEVICE_TEST(a_run_that_failed_is_made_anew), DEVICE_TEST(no_compare_are_made), DEVICE_TEST(trying_grows_rare), DEVICE_TEST(what_is_found_has_no_reason),
        DEVICE_TEST(reads_are_compared_by_what_follows), DEVICE_TEST(bodies_are_compared_by_what_they_looked_at),
        DEVICE_TEST(edges_and_untracked_regions_of_bodies_are_compared),
    };
    return DEVICE_TESTS_RUN(tests);
}
