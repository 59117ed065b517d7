/* SPDX-License-Identifier: Apache-2.0 */
/* barrier_in_a_manual_scope_test.c - a barrier inside a manual scope outlived it: what came after the scope no longer waited for what
 * came before it, and the scope itself forgot an earlier barrier.
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

struct options { bool outer_before, outer_after; };

/* 0 writes x; a scope over y with a barrier in its middle; the last task reads x. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct options *o = params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    hbg_submit(g, 0, hbg_out(x));
    if (o->outer_before) hbg_barrier(g);
    hbg_scope_begin(g, HBG_SCOPE_MANUAL);
    hbg_submit(g, 0, hbg_inout(y));
    hbg_submit(g, 0, hbg_inout(y));
    hbg_barrier(g);
    hbg_submit(g, 0, hbg_inout(y));
    hbg_scope_end(g);
    if (o->outer_after) hbg_barrier(g);
    hbg_submit(g, 0, hbg_in(x));
}

static void barrier_in_a_manual_scope(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t x = 0, y = 0;
    (void)kind;
    for (int i = 0; i < 4; i++) {
        struct options o = { i & 1, i & 2 };
        struct hbg_program *program = PROGRAM_WITH(device, build, kernels, o);
        struct edges edges;
        struct closure closure;
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1)), hbg_inout(HOST_I32(&y, 1))), NULL, &edges);
        closure_of_edges(&closure, &edges, false);
        uint32_t last = edges.task_count - 1, begin = o.outer_before ? 2 : 1, first = begin + 1, second = begin + 2, after = begin + 4;
        assert_true(closure_before(&closure, 0, last));
        assert_true(closure_before(&closure, first, after) && closure_before(&closure, second, after));
        assert_false(closure_before(&closure, first, second));
        assert_int_equal(closure_before(&closure, 0, first), o.outer_before);
        assert_int_equal(closure_before(&closure, after, last), o.outer_after);
        closure_free(&closure);
        edges_free(&edges);
        hbg_program_destroy(program);
    }
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(barrier_in_a_manual_scope) };
    return DEVICE_TESTS_RUN(tests);
}
