/* SPDX-License-Identifier: Apache-2.0 */
/* stale_regions_stay_stale_test.c - a region of a destroyed buffer was taken for one of a new buffer when 4,095 more had been made in
 * between, and a region kept from a build for one of the 4,096th build after it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { CYCLES = 110000, FEW = 5000, INTERMEDIATES = 40 };

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, "inout i32") };

static void use_argument(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, 0, hbg_inout(hbg_args_region(args, 0)));
}

static void regions_of_destroyed_buffers(void **state)
{
    struct hbg_device *device = device_open("null:workers=1", NULL);
    struct hbg_program *program = PROGRAM(device, use_argument, kernels);
    struct hbg_region kept = { 0 };
    (void)state;
    for (int i = 0; i < CYCLES; i++) {
        struct hbg_buffer *buffer;
        assert_int_equal(hbg_buffer_create(device, 64, &buffer), HBG_OK);
        struct hbg_region x = hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(16));
        if (i == 0) kept = x;
        else if (x.storage == kept.storage) fail_msg("buffer %d has the handle of the first one, which is destroyed", i);
        if (i == FEW || i == CYCLES - 1) {
            program_run_fails(program, HBG_ARGS(hbg_inout(kept)), HBG_E_REGION);
            program_run(program, HBG_ARGS(hbg_inout(x)), NULL, NULL);
        }
        hbg_buffer_destroy(buffer);
    }
    hbg_program_destroy(program);
    device_close(device);
}

/* ---- regions of builds ---- */

struct kept { struct hbg_region argument, last; int builds, try; };

static void keep_or_compare(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct kept *k = *(struct kept *const *)params;
    struct hbg_region x = hbg_args_region(args, 0), y = x;
    for (int i = 0; i < (k->builds % 1000 ? 1 : INTERMEDIATES); i++) y = hbg_alloc(g, HBG_I32, HBG_SHAPE(4));
    if (k->builds++ == 0) {
        k->argument = x;
        k->last = y;
    }
    if (x.storage == k->argument.storage && k->builds > 1) hbg_graph_fail(g, k->builds, "the number of the first build's argument");
    if (k->try) hbg_submit(g, 0, hbg_inout(k->try == 1 ? k->argument : k->last));
}

static void regions_of_other_builds(void **state)
{
    struct hbg_device *device = device_open("null:workers=1", NULL);
    struct kept kept = { .builds = 0 }, *handed = &kept;
    struct hbg_program *program = PROGRAM_WITH(device, keep_or_compare, kernels, handed);
    int32_t x[4] = { 0 };
    (void)state;
    while (kept.builds < CYCLES) {
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 4))), NULL, NULL);
        if (kept.builds != FEW && kept.builds != CYCLES - 2) continue;
        for (kept.try = 1; kept.try <= 2; kept.try++) program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 4))), HBG_E_SCOPE);
        kept.try = 0;
    }
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(regions_of_destroyed_buffers), cmocka_unit_test(regions_of_other_builds) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
