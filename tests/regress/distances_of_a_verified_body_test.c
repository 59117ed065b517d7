/* SPDX-License-Identifier: Apache-2.0 */
/* A body that is good for every distance between its arguments, verified at another distance than it was recorded at, handed on to bodies inside what shared
 * storage at one distance and not at the other: another definition was taken there, and HBG_VERIFY_REPLAY refused a pure body. */
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

static void inner(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 2; i++) hbg_submit(g, 0, hbg_inout(hbg_args_region(args, i)));
}

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    hbg_subgraph(g, hbg_key_of("inner", NULL, 0), inner, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 4, 5)), hbg_inout(hbg_slice(y, 0, 0, 1))));
    hbg_subgraph(g, hbg_key_of("inner", NULL, 0), inner, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 0, 1)), hbg_inout(hbg_slice(y, 0, 5, 6))));
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    static const int distance[] = { 0, 1, 4 };
    (void)params;
    for (int i = 0; i < 3; i++) {
        struct hbg_region x = hbg_index(hbg_args_region(args, 0), 0, i);
        hbg_subgraph(g, hbg_key_of("body", NULL, 0), body, HBG_ARGS(hbg_inout(hbg_slice(x, 0, 0, 8)), hbg_inout(hbg_slice(x, 0, distance[i], distance[i] + 8))));
    }
}

static void verified(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device *device = device_open_verifying(kind->spec, NULL);
    struct hbg_program *program = PROGRAM(device, build, kernels);
    for (int run = 0; run < 2; run++) {
        int32_t x[3][16] = { { 0 } };
        program_run(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(3, 16)))), NULL, NULL);
        assert_int_equal(x[2][4], 2);
        assert_int_equal(x[2][9], 1);
    }
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(verified) };
    return DEVICE_TESTS_RUN(tests);
}
