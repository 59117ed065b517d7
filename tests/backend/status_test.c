/* SPDX-License-Identifier: Apache-2.0 */
/* status_test.c - every status that a call of this version can give, provoked through the public interface, with the fields of
 * its error: which task, which argument, which name. After each one the device must still work.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { NOTHING, CODE, PENDING, TYPED, KERNEL_COUNT };

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static int code(const struct hbg_task_view *t) { return hbg_view_i32(t, 0); }
static int pending(const struct hbg_task_view *t) { (void)t; return HBG_PENDING; }
static int typed(const struct hbg_task_view *t) { (void)t; return 0; }

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(NOTHING, nothing, NULL), HBG_KERNEL(CODE, code, NULL), HBG_KERNEL(PENDING, pending, NULL), HBG_KERNEL(TYPED, typed, "in f32, i32"),
};

/* ---- errors of a build: each submits one good task and then does what is wrong ---- */

static struct hbg_buffer *a_buffer;
static struct hbg_task foreign_task;
static int host_word;

static void task_options(struct hbg_graph *g, void (*set)(struct hbg_task_options *o))
{
    struct hbg_task_options o = HBG_OPTIONS(task_options);
    set(&o);
    hbg_submit_args_ex(g, NOTHING, &o, HBG_NO_ARGS);
}
static void set_width(struct hbg_task_options *o) { o->width = 2; }
static void set_gang(struct hbg_task_options *o) { o->gang = true; }
static void set_priority(struct hbg_task_options *o) { o->priority = 1; }
static void set_kind(struct hbg_task_options *o) { o->kind = HBG_MATRIX; }
static void set_lanes(struct hbg_task_options *o) { o->lane_kernel[1] = 1; }
static void set_predicate(struct hbg_task_options *o) { o->when.op = 1; }
static void set_no_size(struct hbg_task_options *o) { o->size = 0; }


#define BUILD(name) static void name(struct hbg_graph *g, const struct hbg_args *args)
BUILD(region_of_host_memory) { (void)args; hbg_submit(g, NOTHING, hbg_i32(0), hbg_in(hbg_host(&host_word, HBG_I32, HBG_SHAPE(1)))); }
BUILD(region_past_its_buffer) { (void)args; hbg_submit(g, NOTHING, hbg_in(hbg_buffer_region(a_buffer, 8, HBG_I32, HBG_SHAPE(99)))); }
BUILD(region_of_no_argument) { hbg_submit(g, NOTHING, hbg_in(hbg_args_region(args, 7))); }
BUILD(region_of_a_scalar) { hbg_submit(g, NOTHING, hbg_in(hbg_args_region(args, 1))); }
BUILD(write_to_an_input) { hbg_submit(g, NOTHING, hbg_i32(1), hbg_i32(2), hbg_out(hbg_args_region(args, 2))); }
BUILD(bind_a_region) { hbg_submit(g, NOTHING, hbg_args_scalar(args, 0)); }
BUILD(bind_no_argument) { hbg_submit(g, NOTHING, hbg_args_scalar(args, 9)); }
BUILD(get_a_region) { (void)g; (void)hbg_args_get_i32(args, 0); }
BUILD(get_another_type) { (void)g; (void)hbg_args_get_f32(args, 1); }
BUILD(wrong_signature) { hbg_submit(g, TYPED, hbg_in(hbg_args_region(args, 0)), hbg_i32(0)); }
BUILD(no_such_kernel) { (void)args; hbg_submit(g, KERNEL_COUNT); }
BUILD(negative_kernel) { (void)args; hbg_submit(g, -1); }
BUILD(null_list) { (void)args; struct hbg_arg_list list = { NULL, 3 }; hbg_submit_args(g, NOTHING, list); }
BUILD(large_struct) { (void)args; static const char data[4097]; hbg_submit(g, NOTHING, hbg_bytes(data, sizeof data)); }
BUILD(null_struct) { (void)args; hbg_submit(g, NOTHING, hbg_bytes(NULL, 16)); }
BUILD(task_of_another_graph) { (void)args; hbg_submit(g, NOTHING, hbg_after(foreign_task)); }
BUILD(task_of_the_future) { (void)args; struct hbg_task t = hbg_submit(g, NOTHING); t.id += 5; hbg_submit(g, NOTHING, hbg_after(t)); }
BUILD(read_what_is_written) { (void)hbg_read(g, hbg_args_region(args, 0)); }
BUILD(read_one_that_is_written) { (void)hbg_read_i32(g, hbg_args_region(args, 0), HBG_SHAPE(0)); }
BUILD(read_an_intermediate) { (void)args; (void)hbg_read(g, hbg_alloc(g, HBG_I32, HBG_SHAPE(4))); }
BUILD(read_outside) { (void)hbg_read_i32(g, hbg_args_region(args, 2), HBG_SHAPE(4)); }
BUILD(guard_nothing) { (void)args; hbg_guard(g, NULL, 8); }
BUILD(give_up) { (void)args; hbg_graph_fail(g, 1234, "the request is too long"); }
BUILD(scope_never_opened) { (void)args; hbg_scope_end(g); }
BUILD(scope_mode) { (void)args; hbg_scope_begin(g, 5); }
BUILD(alloc_too_much) { (void)args; (void)hbg_alloc(g, HBG_F64, HBG_SHAPE(INT64_MAX, 3)); }
BUILD(alloc_less_than_nothing) { (void)args; (void)hbg_alloc(g, HBG_F64, HBG_SHAPE(-1)); }
BUILD(alloc_of_no_type) { (void)args; (void)hbg_alloc(g, (enum hbg_dtype)99, HBG_SHAPE(1)); }
BUILD(width) { (void)args; task_options(g, set_width); }
BUILD(gang) { (void)args; task_options(g, set_gang); }
BUILD(priority) { (void)args; task_options(g, set_priority); }
BUILD(core_kind) { (void)args; task_options(g, set_kind); }
BUILD(mixed) { (void)args; task_options(g, set_lanes); }
BUILD(predicate) { (void)args; task_options(g, set_predicate); }
BUILD(options_without_size) { (void)args; task_options(g, set_no_size); }
BUILD(accumulate) { hbg_submit(g, NOTHING, hbg_accumulate(hbg_args_region(args, 0))); }
BUILD(subgraph) { (void)args; struct hbg_key key = { "body", NULL, 0 }; hbg_subgraph(g, key, NULL, HBG_NO_ARGS); }
BUILD(scalar_of_a_noop) { (void)args; hbg_noop(g, hbg_i32(1)); }
BUILD(pending_kernel) { (void)args; hbg_submit(g, PENDING); }
BUILD(failing_kernel) { (void)args; hbg_submit(g, CODE, hbg_i32(77)); }
BUILD(negative_code) { (void)args; hbg_submit(g, CODE, hbg_i32(-3)); }
#undef BUILD

struct build_case {
    const char *what;
    void (*build)(struct hbg_graph *g, const struct hbg_args *args);
    enum hbg_status status;
    int64_t task;               /* -1: any */
    int argument;
    const char *name;           /* NULL: any */
    int code;
};
#define CASE(build, status, task, argument, name) { #build, build, status, task, argument, name, 0 }
static const struct build_case build_cases[] = {
    CASE(region_of_host_memory, HBG_E_REGION, 1, 1, NULL), CASE(region_past_its_buffer, HBG_E_REGION, 1, 0, NULL),
    CASE(region_of_no_argument, HBG_E_REGION, 1, 0, NULL), CASE(region_of_a_scalar, HBG_E_REGION, 1, 0, NULL),
    CASE(write_to_an_input, HBG_E_ACCESS, 1, 2, "nothing"), CASE(bind_a_region, HBG_E_ACCESS, 1, 0, "nothing"),
    CASE(bind_no_argument, HBG_E_ACCESS, 1, 0, "nothing"), CASE(get_a_region, HBG_E_ACCESS, -1, 0, NULL),
    CASE(get_another_type, HBG_E_SIGNATURE, -1, 1, NULL), CASE(wrong_signature, HBG_E_SIGNATURE, 1, 0, "typed"),
    CASE(no_such_kernel, HBG_E_OPTION, 1, -1, "kernel"), CASE(negative_kernel, HBG_E_OPTION, 1, -1, "kernel"),
    CASE(null_list, HBG_E_NULL, 1, -1, NULL), CASE(large_struct, HBG_E_LIMIT, 1, 0, NULL), CASE(null_struct, HBG_E_NULL, 1, 0, NULL),
    CASE(task_of_another_graph, HBG_E_TASK_ID, 1, -1, "nothing"), CASE(task_of_the_future, HBG_E_TASK_ID, 2, -1, "nothing"),
    CASE(read_what_is_written, HBG_E_WRITTEN, 0, -1, NULL), CASE(read_one_that_is_written, HBG_E_WRITTEN, 0, -1, NULL),
    CASE(read_an_intermediate, HBG_E_ACCESS, -1, -1, NULL), CASE(read_outside, HBG_E_REGION, -1, -1, NULL),
    CASE(guard_nothing, HBG_E_NULL, -1, -1, NULL), { "give_up", give_up, HBG_E_BUILD, -1, -1, NULL, 1234 },
    CASE(scope_never_opened, HBG_E_ORDER, -1, -1, NULL), CASE(scope_mode, HBG_E_OPTION, -1, -1, NULL),
    CASE(alloc_too_much, HBG_E_REGION, -1, -1, NULL), CASE(alloc_less_than_nothing, HBG_E_REGION, -1, -1, NULL), CASE(alloc_of_no_type, HBG_E_REGION, -1, -1, NULL),
    CASE(width, HBG_E_UNSUPPORTED, 1, -1, "width"), CASE(gang, HBG_E_UNSUPPORTED, 1, -1, "gang"), CASE(priority, HBG_E_UNSUPPORTED, 1, -1, "priority"),
    CASE(core_kind, HBG_E_UNSUPPORTED, 1, -1, "kind"), CASE(mixed, HBG_E_UNSUPPORTED, 1, -1, "lane_kernel"), CASE(predicate, HBG_E_UNSUPPORTED, 1, -1, "when"),
    CASE(options_without_size, HBG_E_ABI, 1, -1, NULL), CASE(accumulate, HBG_E_UNSUPPORTED, 1, 0, NULL), CASE(subgraph, HBG_E_NULL, 1, -1, "body"),
    CASE(scalar_of_a_noop, HBG_E_SIGNATURE, 1, 0, "noop"), { "pending_kernel", pending_kernel, HBG_E_UNSUPPORTED, 1, -1, "pending", HBG_PENDING },
    { "failing_kernel", failing_kernel, HBG_E_KERNEL, 1, -1, "code", 77 }, { "negative_code", negative_code, HBG_E_KERNEL, 1, -1, "code", -3 },
};

static const struct build_case *current;
static enum hbg_status latched;         /* as the build itself saw it, at once */
static bool changed;                    /* a latched error did not stay */

static void case_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_error error = HBG_OPTIONS(error);
    (void)params;
    struct hbg_task first = hbg_submit(g, NOTHING, hbg_inout(hbg_args_region(args, 0)));
    if (current) current->build(g, args);
    latched = hbg_graph_error(g, &error);
    if (latched != HBG_OK) {            /* nothing changes it any more */
        hbg_submit(g, KERNEL_COUNT + 5);
        hbg_scope_end(g);
        changed |= hbg_graph_error(g, &error) != latched;
    }
    foreign_task = first;
}

static void every_error_of_a_build(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[4] = { 0 };
    struct hbg_program *program = PROGRAM(device, case_build, kernels);
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, 4)), hbg_i32(5), hbg_in(hbg_host_const(x + 1, HBG_I32, HBG_SHAPE(2))));
    assert_int_equal(hbg_buffer_create(device, 64, &a_buffer), HBG_OK);
    for (size_t i = 0; i < sizeof build_cases / sizeof build_cases[0]; i++) {
        current = &build_cases[i];
        struct hbg_result result = HBG_OPTIONS(result);
        enum hbg_status status = hbg_run_sync(program, list, &result);
        const struct hbg_error *e = &result.error;
        bool at_build = current->build != pending_kernel && current->build != failing_kernel && current->build != negative_code;
        if (status != current->status || changed || e->status != status || (at_build && latched != status) ||
            (current->task >= 0 && e->task != current->task) || e->argument != current->argument ||
            (current->name && strcmp(e->name, current->name) != 0) || e->code != current->code || strlen(e->text) < 10) {
            fail_msg("%s: %s (latched %s), task %u, argument %d, name \"%s\", code %d: %s", current->what, hbg_status_name(status),
                     hbg_status_name(latched), e->task, e->argument, e->name, e->code, e->text);
        }
        current = NULL;
        program_run(program, list, NULL, NULL);         /* the next build is clean */
    }
    hbg_buffer_destroy(a_buffer);
    hbg_program_destroy(program);
}

/* ---- errors of a run's arguments ---- */

static void every_error_of_a_boundary(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[4] = { 0 };
    struct hbg_region good = HOST_I32(x, 4), odd = good, wild = good;
    odd.dtype = 77;
    wild.flags = 0;
    char blob[16] = { 0 };
    struct hbg_task task = { 0, 0 };
    struct hbg_arg strange = hbg_i32(1);
    strange.kind = 200;
    current = NULL;
    const struct { const char *what; struct hbg_arg arg; enum hbg_status status; } cases[] = {
        { "a bad view", hbg_in(hbg_slice(good, 0, 2, 9)), HBG_E_REGION }, { "an unknown dtype", hbg_in(odd), HBG_E_REGION },
        { "neither host nor buffer", hbg_in(wild), HBG_E_REGION }, { "an output in constant memory", hbg_out(hbg_host_const(x, HBG_I32, HBG_SHAPE(4))), HBG_E_ACCESS },
        { "an inout in constant memory", hbg_inout(hbg_host_const(x, HBG_I32, HBG_SHAPE(4))), HBG_E_ACCESS },
        { "accumulate", hbg_accumulate(good), HBG_E_UNSUPPORTED }, { "bytes", hbg_bytes(blob, sizeof blob), HBG_E_UNSUPPORTED },
        { "after", hbg_after(task), HBG_E_TASK_ID }, { "a strange kind", strange, HBG_E_ACCESS },
        { "a negative size", hbg_in(hbg_host(x, HBG_I32, HBG_SHAPE(-2))), HBG_E_REGION },
        { "a size past the address space", hbg_in(hbg_host(x, HBG_I32, HBG_SHAPE(INT64_MAX / 2))), HBG_E_REGION },
    };
    struct hbg_program *program = PROGRAM(device, case_build, kernels);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hbg_result result = HBG_OPTIONS(result);
        enum hbg_status status = hbg_run_sync(program, HBG_ARGS(hbg_inout(good), cases[i].arg), &result);
        if (status != cases[i].status || result.error.status != status || result.error.argument != 1) {
            fail_msg("%s: %s, argument %d: %s", cases[i].what, hbg_status_name(status), result.error.argument, result.error.text);
        }
    }
    struct hbg_arg_list none = { NULL, 2 };
    assert_int_equal(program_run_fails(program, none, HBG_E_NULL).argument, -1);
    program_run(program, HBG_ARGS(hbg_inout(good)), NULL, NULL);
    hbg_program_destroy(program);
}

/* ---- errors of opening and creating ---- */

static void every_error_of_a_spec(void **state)
{
    (void)state;
    static const struct { const char *spec; enum hbg_status status; const char *name, *text; } cases[] = {
        { "cpu:worker=2", HBG_E_OPTION, "worker", "workers" }, { "cpu:workers=0", HBG_E_OPTION, "workers", NULL },
        { "cpu:workers=two", HBG_E_OPTION, "workers", NULL }, { "cpu:workers=99999999", HBG_E_OPTION, "workers", NULL },
        { "cpu:memory=shared", HBG_E_OPTION, "memory", "discrete" }, { "cpu:workers=2,workers=3", HBG_E_OPTION, "workers", NULL },
        { "cpu:pin=maybe", HBG_E_OPTION, "pin", NULL }, { "cpu:depth=0", HBG_E_OPTION, "depth", NULL }, { "cpu:depth=17", HBG_E_OPTION, "depth", NULL }, { "cpu:depth=2,poison=1", HBG_E_OPTION, "depth", "poison" }, { "gpu", HBG_E_OPTION, NULL, "cpu" },
        { "", HBG_E_OPTION, NULL, NULL }, { "cpu:workers=", HBG_E_OPTION, "workers", NULL }, { "cpu:memory", HBG_E_OPTION, "memory", NULL }, { NULL, HBG_E_NULL, "spec", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hbg_error error = HBG_OPTIONS(error);
        struct hbg_device_options options = HBG_OPTIONS(device_options);
        struct hbg_device *device = NULL;
        options.error = &error;
        enum hbg_status status = hbg_device_open(cases[i].spec, &options, &device);
        if (status != cases[i].status || error.status != status || device || (cases[i].name && strcmp(error.name, cases[i].name) != 0) ||
            (cases[i].text && !strstr(error.text, cases[i].text)) || strlen(error.text) < 10) {
            fail_msg("\"%s\": %s, name \"%s\": %s", cases[i].spec ? cases[i].spec : "NULL", hbg_status_name(status), error.name, error.text);
        }
        assert_int_equal(hbg_device_open(cases[i].spec, NULL, &device), cases[i].status);
    }
}

static void one_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    hbg_submit(g, NOTHING);
}

static void every_error_of_a_program(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_kernel swapped[] = { HBG_KERNEL(1, nothing, NULL) }, empty[] = { { 0, "empty", NULL, NULL, NULL, HBG_ANY, 0 } };
    struct hbg_kernel unnamed[] = { { 0, NULL, nothing, NULL, NULL, HBG_ANY, 0 } }, signed_badly[] = { HBG_KERNEL(0, nothing, "in f32, outt f32") };
    struct hbg_kernel strange[] = { { 0, "strange", nothing, NULL, NULL, (enum hbg_core_kind)9, 0 } };
    struct hbg_program_options good = HBG_OPTIONS(program_options);
    good.name = "test";
    good.build = one_build;
    good.kernels = kernels;
    good.kernel_count = KERNEL_COUNT;
    struct hbg_program_options o[10];
    for (int i = 0; i < 10; i++) o[i] = good;
    o[0].build = NULL;
    o[1].kernels = NULL;
    o[2].kernels = swapped;
    o[3].kernels = empty;
    o[4].kernels = unnamed;
    o[5].kernels = signed_badly;
    o[6].boundary = "in f33";
    o[7].size = 8;
    o[8].params_size = 8;
    o[9].kernels = strange;
    for (int i = 2; i < 6; i++) o[i].kernel_count = 1;
    o[9].kernel_count = 1;
    static const enum hbg_status expected[10] = { HBG_E_NULL, HBG_E_NULL, HBG_E_OPTION, HBG_E_NULL, HBG_E_NULL, HBG_E_SIGNATURE, HBG_E_SIGNATURE, HBG_E_ABI, HBG_E_NULL, HBG_E_OPTION };
    struct hbg_program *program = NULL;
    for (int i = 0; i < 10; i++) {
        struct hbg_error error = HBG_OPTIONS(error);
        o[i].error = &error;
        enum hbg_status status = hbg_program_create(device, &o[i], &program);
        if (status != expected[i] || program || error.status != status || strlen(error.text) < 10) fail_msg("options %d: %s: %s", i, hbg_status_name(status), error.text);
    }
    assert_int_equal(hbg_program_create(NULL, &good, &program), HBG_E_NULL);
    assert_int_equal(hbg_program_create(device, NULL, &program), HBG_E_NULL);
    assert_int_equal(hbg_program_create(device, &good, NULL), HBG_E_NULL);
    assert_int_equal(hbg_program_create(device, &good, &program), HBG_OK);
    hbg_program_destroy(program);
}

/* ---- calls without what they need ---- */

static void calls_with_nothing(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, one_build, kernels);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_result result = HBG_OPTIONS(result), small = { 0 };
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_buffer *buffer = NULL;
    struct hbg_run run;
    const void *image;
    size_t size;
    int word = 0;
    assert_int_equal(hbg_run_prepare(NULL, HBG_NO_ARGS, NULL, &run), HBG_E_NULL);
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, NULL, NULL), HBG_E_NULL);
    assert_int_equal(hbg_run_sync(NULL, HBG_NO_ARGS, &result), HBG_E_NULL);
    assert_int_equal(hbg_run_sync(program, HBG_NO_ARGS, &small), HBG_E_ABI);
    assert_int_equal(hbg_run_sync(program, HBG_NO_ARGS, NULL), HBG_OK);
    options.size = 1;
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &run), HBG_E_ABI);
    options.size = sizeof options;
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &run), HBG_OK);
    assert_int_equal(hbg_run_poll(run, NULL), HBG_E_NULL);
    assert_int_equal(hbg_run_image(run, NULL, &size), HBG_E_NULL);
    assert_int_equal(hbg_run_image(run, &image, NULL), HBG_E_NULL);
    assert_int_equal(hbg_run_wait(run, 0), HBG_E_ORDER);            /* never launched */
    assert_int_equal(hbg_run_finish(run, &result), HBG_E_ORDER);
    assert_int_equal(result.error.status, HBG_E_ORDER);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
    assert_int_equal(hbg_buffer_create(NULL, 16, &buffer), HBG_E_NULL);
    assert_int_equal(hbg_buffer_create(device, 16, NULL), HBG_E_NULL);
    assert_int_equal(hbg_buffer_read(NULL, 0, &word, 4), HBG_E_NULL);
    assert_int_equal(hbg_buffer_write(NULL, 0, &word, 4), HBG_E_NULL);
    assert_int_equal(hbg_buffer_create(device, 16, &buffer), HBG_OK);
    assert_int_equal(hbg_buffer_write(buffer, 0, NULL, 4), HBG_E_NULL);
    assert_int_equal(hbg_buffer_read(buffer, 0, NULL, 4), HBG_E_NULL);
    hbg_buffer_destroy(buffer);
    assert_int_equal(hbg_buffer_create(device, SIZE_MAX / 2, &buffer), HBG_E_NO_MEMORY);
    assert_int_equal(hbg_image_verify(NULL, 96, &error), HBG_E_NULL);
    hbg_device_counters(NULL, NULL);
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(every_error_of_a_build), DEVICE_TEST(every_error_of_a_boundary), DEVICE_TEST(every_error_of_a_program), DEVICE_TEST(calls_with_nothing),
    };
    const struct CMUnitTest others[] = { cmocka_unit_test(every_error_of_a_spec) };
    return DEVICE_TESTS_RUN(tests) + cmocka_run_group_tests(others, NULL, NULL);
}
