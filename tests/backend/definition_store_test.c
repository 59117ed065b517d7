/* SPDX-License-Identifier: Apache-2.0 */
/* definition_store_test.c - definitions of many keys: which bodies are the same, how many are kept, and which go first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "run/device.h"
#include "run/run.h"
#include "support/allocator.h"
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

static int calls;                       /* of bodies */

/* ---- which bodies are the same ---- */

/* Adds the sum of its parameters' bytes, which is part of its key. */
static void adds_params(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const unsigned char *byte = params;
    int32_t sum = 0;
    calls++;
    for (; byte && *byte; byte++) sum += *byte;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(sum));
}

static void adds_thousand(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1000));
}

enum { KEYS = 12 };

/* Names and parameters, the zero at the end counted. Those that follow one another are alike but for one of the two, or for a part. */
static const struct { const char *name; unsigned char params[4]; size_t size; } keys[KEYS] = {
    { "key", "\1", 2 }, { "key", "\2", 2 }, { "key", "\2", 3 }, { "key", "\2\1", 3 }, { "key", "\2\2", 3 }, { "keys", "\2\2", 3 }, { "kez", "\2\2", 3 },
    { "ke", "\2\2", 3 }, { "key", "", 0 }, { "keys", "", 0 }, { "key", "", 1 }, { "key", "\1\1\1", 4 },
};

static void build_keys(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    char name[8];                       /* gone when the body is found again */
    unsigned char bytes[4];
    hbg_build_fn *const *fn = params;
    for (int i = 0; i < 2 * KEYS; i++) {
        strcpy(name, keys[i % KEYS].name);
        memcpy(bytes, keys[i % KEYS].params, sizeof bytes);
        hbg_subgraph(g, hbg_key_of(i < KEYS ? name : keys[i % KEYS].name, keys[i % KEYS].size ? bytes : NULL, keys[i % KEYS].size), *fn,
                     HBG_ARGS(hbg_inout(AT(hbg_args_region(args, 0), i % KEYS))));
        memset(name, 'x', sizeof name);
        memset(bytes, 1, sizeof bytes);
    }
}

static void check_keys(struct hbg_device *device, hbg_build_fn *fn, const struct hbg_kernel *kernel, size_t kernel_count, int expected_calls)
{
    struct program_spec spec = { .build = build_keys, .kernels = kernel, .kernel_count = kernel_count, .params = &fn, .params_size = sizeof fn };
    struct hbg_program *program = program_create(device, &spec);
    calls = 0;
    for (int round = 0; round < 2; round++) {
        int32_t x[KEYS] = { 0 };
        struct hbg_result result = steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, KEYS))));
        for (int i = 0; i < KEYS; i++) {
            int32_t sum = 0;
            for (size_t k = 0; k < keys[i].size; k++) sum += keys[i].params[k];
            assert_int_equal(x[i], 2 * (fn == adds_thousand ? 1000 : sum));
        }
        assert_int_equal(calls, expected_calls);
        assert_int_equal(result.subgraphs_recorded + result.subgraphs_replayed, 2 * KEYS);
        assert_int_equal(result.subgraphs_missed, 0);
    }
    hbg_program_destroy(program);
}

static void names_and_parameters_are_keys(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    check_keys(device, adds_params, KERNELS(steps), KEYS);
    check_keys(device, adds_params, KERNELS(steps), 0);                 /* another program with these kernels */
    check_keys(device, adds_thousand, KERNELS(steps), KEYS);            /* one that knows other bodies by these names */
    check_keys(device, adds_params, steps, ADD + 1, KEYS);              /* one with other kernels */
    check_keys(device, adds_params, KERNELS(steps), 0);
}

/* ---- how many are kept ---- */

enum { MANY = 300 };

static void build_many(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int32_t first = hbg_args_get_i32(args, 1);
    (void)params;
    for (int32_t i = 0; i < MANY; i++) {
        struct { unsigned char byte[4]; } key = { { (unsigned char)(1 + (first + i) % 100), (unsigned char)(1 + (first + i) / 100), 0, 0 } };
        hbg_subgraph(g, HBG_KEY("many", key), adds_params, HBG_ARGS(hbg_inout(AT(hbg_args_region(args, 0), i))));
    }
}

static void all_keys_are_found_again(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct test_allocator memory = TEST_ALLOCATOR;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.allocator = test_allocator_ops(&memory);
    struct hbg_device *device = device_open(kind->spec, &options);
    struct hbg_program *program = PROGRAM(device, build_many, steps);
    int32_t x[MANY];
    calls = 0;
    for (int round = 0; round < 6; round++) {
        int32_t first = round % 3 * 100;                    /* of 500 keys */
        memset(x, 0, sizeof x);
        steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, MANY)), hbg_i32(first)));
        for (int i = 0; i < MANY; i++) assert_int_equal(x[i], 2 + (first + i) % 100 + (first + i) / 100);
        assert_int_equal(calls, MANY + (round < 3 ? round : 2) * 100);
    }
    hbg_program_destroy(program);
    device_close(device);
    assert_int_equal(atomic_load(&memory.live), 0);         /* the table has grown, and the one before it has gone */
}

/* Looks at a value, and adds it. */
static void adds_what_it_sees(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(hbg_args_get_i32(args, 1)));
}

static void build_seen(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, KEY("seen"), adds_what_it_sees, HBG_ARGS(hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(args, 1)));
}

/* A value that differs in each run, as a step counter does: definitions of the key do not become more and more, and every other run finds its own.
   Those of recordings that the program keeps are pinned. */
static void a_value_of_each_run_keeps_few(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, build_seen, steps);
    calls = 0;
    for (int32_t i = 1; i <= 200; i++) {
        int32_t x[1] = { 0 }, value = i % 2 ? 1 : i;
        steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1)), hbg_i32(value)));
        assert_int_equal(x[0], value);
        assert_int_equal(calls, 1 + i / 2);
        assert_in_range(device->definitions.count, 1, HBG__DEFINITIONS_OF_KEY);
    }
    hbg_program_destroy(program);
}

/* ---- large ones ---- */

static void large(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 20000; i++) hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void build_large(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int32_t key = hbg_args_get_i32(args, 1);
    (void)params;
    for (int i = 0; i < 2; i++) hbg_subgraph(g, HBG_KEY("large", key), large, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

/* Such a one keeps the arena in which it was built: more than a megabyte. What arenas have grown by is not counted twice, nor taken back. */
static void large_images_keep_their_arenas(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, build_large, steps);
    uint64_t growths = counters_of(device).growths;
    for (int32_t key = 0; key < 3; key++) {
        int32_t x[1] = { 0 };
        steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1)), hbg_i32(key)));
        assert_int_equal(x[0], 40000);
        assert_in_range(counters_of(device).growths - growths, 1, 200);
        growths = counters_of(device).growths;
    }
    hbg_program_destroy(program);
}

/* With a budget for two they go, pages and all. */
static void large_images_go(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.definition_budget_bytes = 2 << 22;
    struct hbg_device *device = device_open(kind->spec, &options);
    struct hbg_program *program = PROGRAM(device, build_large, steps);
    long pages = 0;
    for (int32_t key = 0; key < 16; key++) {
        int32_t x[1] = { 0 };
        steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1)), hbg_i32(key)));
        assert_int_equal(x[0], 40000);
        if (key == 5) pages = resident_pages();
    }
    assert_true(resident_pages() < pages + 1200);           /* ten of them are 4000 pages */
    hbg_program_destroy(program);
    device_close(device);
}

/* ---- what is let go ---- */

static int count_of(const struct hbg_device *device, bool kept)
{
    int count = 0;
    for (const struct hbg__definition *d = device->definitions.newest; d; d = d->older) count += d->kept == kept;
    return count;
}

static struct hbg_buffer *named;
static struct hbg_region captured;

/* Even keys name a buffer; odd ones cannot be kept. */
static void names_or_captures(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
    if (*(const int *)params % 2) hbg_submit(g, ADD, hbg_inout(captured), hbg_i32(1));
    else hbg_submit(g, ADD, hbg_inout(AT(hbg_buffer_region(named, 0, HBG_I32, HBG_SHAPE(1)), 0)), hbg_i32(1));
}

static void build_names_or_captures(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    captured = AT(x, 1);
    for (int key = 0; key < 10; key++) hbg_subgraph(g, HBG_KEY("either", key), names_or_captures, HBG_ARGS(hbg_inout(AT(x, 0))));
}

static void definitions_go_with_what_holds_them(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct test_allocator memory = TEST_ALLOCATOR;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.allocator = test_allocator_ops(&memory);
    for (int early = 0; early < 2; early++) {               /* the buffer goes before the device, or after it */
        int32_t x[2] = { 0 };
        struct hbg_device *device = device_open(kind->spec, &options);
        assert_int_equal(hbg_buffer_create(device, sizeof(int32_t), &named), HBG_OK);
        struct hbg_program *program = PROGRAM(device, build_names_or_captures, steps);
        steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 2))));
        assert_int_equal(x[0], 10);
        assert_int_equal(x[1], 5);
        assert_int_equal(count_of(device, false), 0);       /* five went with the run, and left marks of their keys */
        assert_int_equal(count_of(device, true), 10);
        hbg_program_destroy(program);
        if (early) hbg_buffer_destroy(named);
        if (early) assert_int_equal(count_of(device, true), 5);
        device_close(device);
        if (!early) hbg_buffer_destroy(named);
        assert_int_equal(atomic_load(&memory.live), 0);
    }
}

static void of_fifty(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    for (int i = 0; i < 50; i++) hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void build_one(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int32_t key = hbg_args_get_i32(args, 1);
    (void)params;
    hbg_subgraph(g, HBG_KEY("one", key), of_fifty, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

/* ---- one that somebody has written over ---- */

static void what_has_changed_is_not_uploaded(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    int32_t x[2] = { 0 };
    struct hbg_device *device = device_open(kind->spec, NULL);
    struct hbg_program *program = PROGRAM(device, build_one, steps);
    steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1)), hbg_i32(1)));
    struct hbg__definition *d = device->definitions.newest;
    hbg__definition_forget(device, d);                      /* as if the device had not been given it yet */
    ((unsigned char *)(uintptr_t)d->head)[d->head->image_bytes - 1] ^= 1;
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1)), hbg_i32(1)), HBG_E_IMAGE);
    assert_non_null(strstr(error.text, "\"one\" has changed since it was recorded"));
    assert_int_equal(x[0], 50);
    hbg_program_destroy(program);
    device_close(device);
}

/* ---- one that had little heap ---- */

static void four_scopes(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    for (int i = 0; i < 4; i++) {
        hbg_scope_begin(g, HBG_SCOPE_AUTO);
        struct hbg_region t = AT(hbg_alloc(g, HBG_I32, HBG_SHAPE(256)), 0);
        hbg_submit(g, COPY, hbg_in(hbg_args_region(args, 0)), hbg_out(t));
        hbg_submit(g, COPY, hbg_in(t), hbg_out(hbg_args_region(args, 0)));
        hbg_scope_end(g);
    }
}

/* Beside an intermediate of three kilobytes there is one left. */
static void build_scopes(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = AT(hbg_args_region(args, 0), 0);
    if (*(const bool *)params) hbg_submit(g, COPY, hbg_in(x), hbg_out(AT(hbg_alloc(g, HBG_I32, HBG_SHAPE(768)), 0)));
    hbg_subgraph(g, KEY("scopes"), four_scopes, HBG_ARGS(hbg_inout(x)));
}

/* The definition that the program takes. */
static const struct hbg__definition *taken(struct hbg_device *device, bool beside)
{
    int32_t x[1] = { 3 };
    struct hbg_run run;
    struct hbg_program *program = PROGRAM_WITH(device, build_scopes, steps, beside);
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, &run), HBG_OK);
    const struct hbg__recording *r = &device->run[0].kept->recording;
    assert_int_equal(r->named_count, 1);
    const struct hbg__definition *definition = r->named[0].definition;
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
    assert_int_equal(x[0], 3);
    hbg_program_destroy(program);
    return definition;
}

static void the_one_that_reuses_less_heap_is_taken(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.limit_heap_bytes = 4096;
    struct hbg_device *device = device_open(kind->spec, &options);
    calls = 0;
    const struct hbg__definition *large = taken(device, false), *small = taken(device, true);
    assert_int_equal(large->head->heap_bytes, 4096);
    assert_int_equal(small->head->heap_bytes, 1024);
    for (int round = 0; round < 2; round++) {
        assert_ptr_equal(taken(device, false), large);      /* although the other would do, and is newer */
        assert_ptr_equal(taken(device, true), small);
    }
    assert_int_equal(calls, 2);
    device_close(device);
}

/* ---- which go first ---- */

/* There is room for three or four. The one that is used again and again stays, whenever it was made. */
static void what_was_not_used_for_long_goes(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.definition_budget_bytes = 4 * 6000;
    struct hbg_device *device = device_open(kind->spec, &options);
    struct hbg_program *program = PROGRAM(device, build_one, steps);
    static const struct { int32_t key; bool found; } uses[] = {
        { 0, false }, { 1, false }, { 0, true }, { 1, true }, { 2, false }, { 0, true }, { 3, false }, { 0, true }, { 4, false }, { 0, true }, { 5, false }, { 0, true },
        { 5, true }, { 1, false }, { 0, true },
    };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        int32_t x[1] = { 0 };
        calls = 0;
        steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1)), hbg_i32(uses[i].key)));
        assert_int_equal(x[0], 50);
        if (calls != !uses[i].found) fail_msg("use %zu, of key %d: %d calls", i, (int)uses[i].key, calls);
    }
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(names_and_parameters_are_keys), DEVICE_TEST(all_keys_are_found_again), DEVICE_TEST(a_value_of_each_run_keeps_few),
        DEVICE_TEST(large_images_keep_their_arenas),
        DEVICE_TEST(large_images_go), DEVICE_TEST(definitions_go_with_what_holds_them), DEVICE_TEST(what_has_changed_is_not_uploaded),
        DEVICE_TEST(the_one_that_reuses_less_heap_is_taken), DEVICE_TEST(what_was_not_used_for_long_goes),
    };
    return device_tests_run_with(",depth=1", tests, sizeof tests / sizeof tests[0]);      /* taken() looks into the one slot */
}
