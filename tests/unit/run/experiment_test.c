/* SPDX-License-Identifier: Apache-2.0 */
/* experiment_test.c - options of `cpu` that are there for experiments: they do what they say, as counters tell, and results stay right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

static int add(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 0) += hbg_view_i32(t, 1);
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, add, "inout i32, i32") };

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 10; i++) hbg_submit(g, 0, hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(args, 1));
}

static struct hbg_counters run_four(const char *spec, int *threads)
{
    struct hbg_device *device = device_open(spec, NULL);
    struct hbg_program *program = PROGRAM(device, build, kernels);
    for (int32_t i = 0; i < 4; i++) {
        int32_t x[1] = { 5 };
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1)), hbg_i32(i)), NULL, NULL);
        assert_int_equal(x[0], 5 + 10 * i);
    }
    if (threads) *threads = thread_count();
    hbg_program_destroy(program);
    struct hbg_counters counters = counters_of(device);
    device_close(device);
    return counters;
}

static void padded_launches(void **state)
{
    (void)state;
    static const int sizes[] = { 256, 17536, 22144, 51584, 56192 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int copies = 1; copies <= 3; copies++) {
            char spec[120];
            snprintf(spec, sizeof spec, "cpu:workers=1,memory=discrete,pad_bytes=%d,pad_copies=%d", sizes[i], copies);
            struct hbg_counters counters = run_four(spec, NULL);
            assert_int_equal(counters.descriptor_bytes, 4 * sizes[i]);
            assert_int_equal(counters.descriptor_copies, 4 * copies);
        }
    }
    assert_int_equal(run_four("cpu:workers=1,pad_bytes=51584", NULL).descriptor_bytes, 0);         /* nothing travels on a unified device */
}

static void stream_sets(void **state)
{
    (void)state;
    int base, threads;
    assert_int_equal(run_four("cpu:workers=1,memory=discrete,depth=1", &base).stream_sets_made, 1);
    assert_int_equal(run_four("cpu:workers=1,memory=discrete,depth=1,streams=pair", NULL).stream_sets_made, 0);
    assert_int_equal(run_four("cpu:workers=1,memory=discrete,depth=1,streams=run", NULL).stream_sets_made, 4);
    assert_int_equal(run_four("cpu:workers=1,memory=discrete,depth=1,streams=run", NULL).stream_sets_live, 0);
    assert_int_equal(run_four("cpu:workers=1,memory=discrete,depth=1,stream_threads=1", &threads).stream_sets_made, 1);
    assert_int_equal(threads, base + 4);        /* two for the bootstrap pair, two for the slot's */
    struct hbg_device *device = NULL;
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.error = &error;
    assert_int_equal(hbg_device_open("cpu:streams=pair", &options, &device), HBG_E_OPTION);
    assert_string_equal(error.name, "depth");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(padded_launches), cmocka_unit_test(stream_sets) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
