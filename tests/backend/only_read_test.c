/* SPDX-License-Identifier: Apache-2.0 */
/* only_read_test.c - of arguments that are all `in` nothing is kept of who reads, in whatever way: no cell is used, no list grows, and nobody waits
 * for anybody. Where one that shares bytes with them may be written there is a history; submission_edges_test.c looks at its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/describe.h>
#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

enum { TILES = 16, TILE = 4, SIDE = TILES * TILE, READERS = 40 };

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, NULL) };

static void read_one(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, 0, hbg_in(hbg_args_region(args, 0)));
}

/* Cells, wholes, halos that are no cells, and a turned view; tasks, noops, and bodies. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0), v = hbg_args_region(args, 1);
    (void)params;
    for (int i = 0; i < READERS; i++) {
        struct hbg_region cell = hbg_cell(x, HBG_SHAPE(TILE, TILE), HBG_SHAPE(i % TILES, i / TILES));
        hbg_submit(g, 0, hbg_in(cell));
        hbg_submit(g, 0, hbg_in(hbg_slice(x, 0, i % TILES, SIDE - i % TILES)));
        hbg_submit(g, 0, hbg_in(hbg_permute(cell, HBG_SHAPE(1, 0))), hbg_in(x), hbg_in(v));
        hbg_noop(g, hbg_in(cell), hbg_in(x));
        hbg_subgraph(g, KEY("cell"), read_one, HBG_ARGS(hbg_in(cell)));
        hbg_subgraph(g, KEY("whole"), read_one, HBG_ARGS(hbg_in(v)));
    }
}

/* Of the graph that was built for these arguments. */
static struct hbg_graph_info info_of(struct hbg_device *device, struct hbg_arg_list list)
{
    struct hbg_program *program = PROGRAM(device, build, kernels);
    struct hbg_graph_info info = HBG_OPTIONS(graph_info);
    struct hbg_run run;
    assert_int_equal(hbg_run_prepare(program, list, NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_graph(run, &info), HBG_OK);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
    return info;
}

static int32_t matrix[SIDE * SIDE], vector[SIDE];

static void no_history(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_region x = hbg_host(matrix, HBG_I32, HBG_SHAPE(SIDE, SIDE)), v = HOST_I32(vector, SIDE);
    (void)kind;
    struct hbg_graph_info info = info_of(device, HBG_ARGS(hbg_in(x), hbg_in(v)));
    assert_int_equal(info.edge_count, 0);
    assert_int_equal(info.history_known, 1);
    assert_int_equal(info.cells_used, 0);
    assert_int_equal(info.list_bytes, 0);
}

static void history_of_what_may_be_written(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_region x = hbg_host(matrix, HBG_I32, HBG_SHAPE(SIDE, SIDE)), part = HOST_I32(matrix, SIDE);
    (void)kind;
    assert_true(info_of(device, HBG_ARGS(hbg_inout(x), hbg_in(HOST_I32(vector, SIDE)))).cells_used > 0);
    assert_true(info_of(device, HBG_ARGS(hbg_in(x), hbg_inout(part))).cells_used > 0);     /* they overlap */
    assert_true(info_of(device, HBG_ARGS(hbg_in(x), hbg_untracked(part))).cells_used > 0);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(no_history), DEVICE_TEST(history_of_what_may_be_written) };
    return DEVICE_TESTS_RUN(tests);
}
