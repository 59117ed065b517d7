/* SPDX-License-Identifier: Apache-2.0 */
/* A body that calls hbg_guard() depends on memory that has to stay readable while its program exists, and no longer: the definition was found by
 * another program of the same kernels, which then read memory that was gone, or took the value of somebody else's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>

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

static int32_t *steps;

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_guard(g, steps, sizeof *steps);
    for (int32_t i = 0; i < *steps; i++) hbg_submit(g, 0, hbg_inout(hbg_args_region(args, 0)));
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 2; i++) hbg_subgraph(g, hbg_key_of("steps", NULL, 0), body, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void each_program_has_its_own(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    for (int32_t i = 1; i < 4; i++) {
        int32_t x[1] = { 0 };
        struct hbg_program *program = PROGRAM(device, build, kernels);
        steps = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(steps != MAP_FAILED);
        *steps = i;
        struct hbg_result result = HBG_OPTIONS(result);
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), &result, NULL);
        assert_int_equal(x[0], 2 * i);
        assert_int_equal(result.subgraphs_recorded, 1);
        hbg_program_destroy(program);
        assert_int_equal(mprotect(steps, 4096, PROT_NONE), 0);
    }
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(each_program_has_its_own) };
    return DEVICE_TESTS_RUN(tests);
}
