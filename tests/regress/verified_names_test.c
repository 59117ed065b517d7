/* SPDX-License-Identifier: Apache-2.0 */
/* HBG_VERIFY_REPLAY compared images, in which buffers and bodies are places in a base table: a body, or a program declared pure, that names another
 * buffer each time, or submits a body of another key, was found to be the same. So was another function under a key that differs in its buffer alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

static int add(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 1) += *HBG_VIEW(const int32_t, t, 0);
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, add, "in i32, inout i32") };

enum { NAMES, FUNCTIONS, NESTED, PLAIN, PLAIN_KEY, CASES };
static int way, at;                     /* a case; which buffer */
static struct hbg_buffer *weights[2];

static void layer(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, 0, hbg_in(hbg_buffer_region(weights[at], 0, HBG_I32, HBG_SHAPE(1))), hbg_inout(hbg_args_region(args, 0)));
}

static void other_layer(struct hbg_graph *g, const struct hbg_args *args, const void *params) { layer(g, args, params); }

static void keyed(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, HBG_KEY("keyed", at), layer, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

/* In each case something depends on `at`, which nobody was told of. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_args_region(args, 0)));
    if (way == PLAIN) { layer(g, args, params); return; }
    if (way == PLAIN_KEY) { keyed(g, args, params); return; }
    for (at = 0; at < 2; at++)
        hbg_subgraph(g, hbg_key_of("layer", NULL, 0), way == NESTED ? keyed : way == FUNCTIONS && at ? other_layer : layer, list);
}

static struct hbg_program *program_of(struct hbg_device *device)
{
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_program *program = NULL;
    options.build = build;
    options.kernels = kernels;
    options.kernel_count = 1;
    options.pure_build = way == PLAIN || way == PLAIN_KEY;
    assert_int_equal(hbg_program_create(device, &options, &program), HBG_OK);
    return program;
}

static void check(const struct device_kind *kind)
{
    int32_t x[1] = { 0 }, values[2] = { 10, 1000 };
    struct hbg_result result = HBG_OPTIONS(result);
    if (way != FUNCTIONS) setenv("HBG_VERIFY_REPLAY", "1", 1);     /* that is looked at anyway */
    struct hbg_device *device = device_open(kind->spec, NULL);
    unsetenv("HBG_VERIFY_REPLAY");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(hbg_buffer_create(device, sizeof values[i], &weights[i]), HBG_OK);
        assert_int_equal(hbg_buffer_write(weights[i], 0, &values[i], sizeof values[i]), HBG_OK);
    }
    struct hbg_program *program = program_of(device);
    at = 0;
    if (way == PLAIN || way == PLAIN_KEY) program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
    at = 1;
    assert_int_equal(hbg_run_sync(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), &result), HBG_E_IMAGE);
    hbg_program_destroy(program);
    for (int i = 0; i < 2; i++) hbg_buffer_destroy(weights[i]);
    device_close(device);
}

static void other_names_are_noticed(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    for (way = 0; way < CASES; way++) check(kind);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(other_names_are_noticed) };
    return DEVICE_TESTS_RUN(tests);
}
