/* SPDX-License-Identifier: Apache-2.0 */
/* too_many_elements_test.c - a broadcast view has as many elements as it says, on few bytes: counts beyond 63 bits wrapped, a read
 * of such a view wrote behind a block of the wrapped size, and a kernel saw a count of 0.
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
static bool reads;

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region one = hbg_slice(hbg_args_region(args, 0), 0, 0, 1);
    (void)params;
    if (reads) assert_null(hbg_read(g, hbg_broadcast(one, HBG_SHAPE((int64_t)1 << 62))));
    else hbg_submit(g, 0, hbg_in(hbg_broadcast(one, HBG_SHAPE((int64_t)1 << 32, (int64_t)1 << 32, 8))));
}

static void too_many_elements(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t x[4] = { 1, 2, 3, 4 };
    (void)kind;
    struct hbg_program *program = PROGRAM(device, build, kernels);
    for (int i = 0; i < 2; i++) {
        reads = i == 1;
        program_run_fails(program, HBG_ARGS(hbg_in(hbg_host(x, HBG_I32, HBG_SHAPE(4)))), HBG_E_REGION);
    }
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(too_many_elements) };
    return DEVICE_TESTS_RUN(tests);
}
