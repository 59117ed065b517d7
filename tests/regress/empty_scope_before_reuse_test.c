/* SPDX-License-Identifier: Apache-2.0 */
/* A scope without intermediates has ended when the heap asks for bytes of ended scopes: there is nothing to sort (UBSan: qsort of NULL). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, NULL) };

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    hbg_submit(g, 0);
    hbg_scope_end(g);
    hbg_submit(g, 0, hbg_out(hbg_alloc(g, HBG_F32, HBG_SHAPE(1000))));
}

static void an_empty_scope_frees_nothing(void **state)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    (void)state;
    options.heap_reuse_after_bytes = 64;
    struct hbg_device *device = device_open("cpu:workers=1", &options);
    struct hbg_program *program = PROGRAM(device, build, kernels);
    program_run(program, HBG_NO_ARGS, NULL, NULL);
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(an_empty_scope_frees_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
