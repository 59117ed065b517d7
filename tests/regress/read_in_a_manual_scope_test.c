/* SPDX-License-Identifier: Apache-2.0 */
/* read_in_a_manual_scope_test.c - build code read what a task of the open manual scope writes, and was given the old value: such a
 * scope enters its accesses only when it ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, NULL) };
static int64_t element;

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    hbg_scope_begin(g, HBG_SCOPE_MANUAL);
    hbg_submit(g, 0, hbg_out(hbg_slice(x, 0, 0, 2)));
    hbg_read_i32(g, x, HBG_SHAPE(element));
    hbg_scope_end(g);
}

static void read_in_a_manual_scope(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t x[4] = { 1, 2, 3, 4 };
    (void)kind;
    struct hbg_program *program = PROGRAM(device, build, kernels);
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(4))));
    element = 1;
    program_run_fails(program, list, HBG_E_WRITTEN);
    element = 2;                        /* nobody writes it */
    program_run(program, list, NULL, NULL);
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(read_in_a_manual_scope) };
    return DEVICE_TESTS_RUN(tests);
}
