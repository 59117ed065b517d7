/* SPDX-License-Identifier: Apache-2.0 */
/* heap_pieces_merge_test.c - intermediates of mixed sizes, one alive at a time, left pieces in the heap that nobody could use, until
 * the limit refused what needed a thousandth of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/program.h"

enum { SCOPES = 3000, LARGEST = 100000 };

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, NULL) };

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    uint32_t seed = 1;
    (void)args;
    (void)params;
    for (int i = 0; i < SCOPES; i++) {
        seed = seed * 1664525u + 1013904223u;
        hbg_scope_begin(g, HBG_SCOPE_AUTO);
        struct hbg_region r = hbg_alloc(g, HBG_U8, HBG_SHAPE(1 + (int64_t)(seed >> 8) % LARGEST));
        hbg_submit(g, 0, hbg_out(r));
        hbg_submit(g, 0, hbg_in(r));
        hbg_scope_end(g);
    }
}

static void pieces_merge(void **state)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *device = NULL;
    (void)state;
    options.limit_heap_bytes = 10 * LARGEST;
    assert_int_equal(hbg_device_open("cpu:workers=2", &options, &device), HBG_OK);
    struct hbg_program *program = PROGRAM(device, build, kernels);
    program_run(program, HBG_NO_ARGS, NULL, NULL);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(pieces_merge) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
