/* SPDX-License-Identifier: Apache-2.0 */
/* A body was recorded as if all of limit_heap_bytes were free for its intermediates, whatever the build around it had in use. So a program worked with
 * a limit, failed with twice as much, and worked with five times as much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

static int touch(const struct hbg_task_view *t)
{
    HBG_VIEW(int32_t, t, 0)[0] = 1;
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, touch, "out i32") };

static void scopes(struct hbg_graph *g, int count)
{
    for (int i = 0; i < count; i++) {
        hbg_scope_begin(g, 0);
        hbg_submit(g, 0, hbg_out(hbg_alloc(g, HBG_I32, HBG_SHAPE(256))));
        hbg_scope_end(g);
    }
}

static void four_scopes(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    scopes(g, 4);
}

static void nested(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    scopes(g, 1);
    hbg_subgraph(g, hbg_key_of("scopes", NULL, 0), four_scopes, HBG_NO_ARGS);
}

/* The body is found again with less room than it was recorded with, inside of another. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_subgraph(g, hbg_key_of("scopes", NULL, 0), four_scopes, HBG_NO_ARGS);
    scopes(g, 1);
    hbg_subgraph(g, hbg_key_of("scopes", NULL, 0), four_scopes, HBG_NO_ARGS);
    hbg_subgraph(g, hbg_key_of("nested", NULL, 0), nested, HBG_NO_ARGS);
}

static void check_every_limit(const struct device_kind *kind)
{
    for (uint64_t limit = 1024; limit <= 12 * 1024; limit += 512) {
        struct hbg_device_options options = HBG_OPTIONS(device_options);
        options.limit_heap_bytes = limit;
        struct hbg_device *device = device_open(kind->spec, &options);
        struct hbg_program *program = PROGRAM(device, build, kernels);
        for (int run = 0; run < 2; run++) {
            struct hbg_result result = HBG_OPTIONS(result);
            program_run(program, HBG_NO_ARGS, &result, NULL);
            assert_int_equal(result.tasks, 14);
        }
        hbg_program_destroy(program);
        device_close(device);
    }
}

static void every_limit_will_do(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    check_every_limit(kind);
    setenv("HBG_VERIFY_REPLAY", "1", 1);                    /* a body is recorded again as if the heap had the room that it had then */
    check_every_limit(kind);
    unsetenv("HBG_VERIFY_REPLAY");
}

static void too_little_names_the_limit(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_result result = HBG_OPTIONS(result);
    options.limit_heap_bytes = 512;
    struct hbg_device *device = device_open(kind->spec, &options);
    struct hbg_program *program = PROGRAM(device, build, kernels);
    assert_int_equal(hbg_run_sync(program, HBG_NO_ARGS, &result), HBG_E_LIMIT);
    assert_int_equal(result.error.limit, 512);
    assert_int_equal(result.error.requested, 1024);
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(every_limit_will_do), DEVICE_TEST(too_little_names_the_limit) };
    return DEVICE_TESTS_RUN(tests);
}
