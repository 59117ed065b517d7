/* SPDX-License-Identifier: Apache-2.0 */
/* hbg_read() left the layout of what it read, and a grid, in the build. A body that reads two neighbouring pieces asked for two layouts when it was
 * recorded and for one when it was found: so the image of what is around it was another one, and HBG_VERIFY_REPLAY refused it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

static int add(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 0) += 1;
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, add, "inout i32") };

static void reads(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    int32_t n = hbg_read_i32(g, hbg_args_region(args, 0), HBG_SHAPE(0));
    const int32_t *more = hbg_read(g, hbg_slice(hbg_args_region(args, 0), 0, 1, 5));
    for (int32_t i = 0; i < n + (more ? more[0] : 0); i++) hbg_submit(g, 0, hbg_inout(hbg_args_region(args, 1)));
}

#define BOTH HBG_ARGS(hbg_in(hbg_args_region(args, 0)), hbg_inout(hbg_args_region(args, 1)))

static void around(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, hbg_key_of("reads", NULL, 0), reads, BOTH);
}

static void two_deep(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 2; i++) hbg_subgraph(g, hbg_key_of("around", NULL, 0), around, BOTH);
}

static void run_verified(const struct device_kind *kind, hbg_build_fn *build, bool pure, int32_t expected)
{
    struct hbg_device *device = device_open_verifying(kind->spec, NULL);
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    options.build = build;
    options.kernels = kernels;
    options.kernel_count = 1;
    options.pure_build = pure;
    struct hbg_program *program = NULL;
    assert_int_equal(hbg_program_create(device, &options, &program), HBG_OK);
    for (int run = 0; run < 3; run++) {
        int32_t counts[8] = { 1, 2, 3 }, x[1] = { 0 };
        program_run(program, HBG_ARGS(hbg_in(HOST_I32(counts, 8)), hbg_inout(HOST_I32(x, 1))), NULL, NULL);
        assert_int_equal(x[0], expected);
    }
    hbg_program_destroy(program);
    device_close(device);
}

static void in_a_program(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    run_verified(kind, around, true, 3);
}

static void in_a_body(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    run_verified(kind, two_deep, false, 6);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(in_a_program), DEVICE_TEST(in_a_body) };
    return DEVICE_TESTS_RUN(tests);
}
