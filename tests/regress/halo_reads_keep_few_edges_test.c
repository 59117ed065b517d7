/* SPDX-License-Identifier: Apache-2.0 */
/* halo_reads_keep_few_edges_test.c - in a stencil with two buffers whose tasks read a tile with its halo, the first read gave the
 * grid of the hazard map its cells, later writes filled none of them, and the readers of all steps piled up: edges grew with
 * the square of the steps. Later a change of grid to the halo's box did the same after some hundred steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/program.h"

enum { TILE = 8, GHOST = 1 };

struct params { int32_t dimensions, tiles, steps, first; };     /* first: where tile 0 begins; GHOST leaves a frame around the tiles */

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, "in f64, out f64") };

static struct hbg_region cut(struct hbg_region x, int dim, int64_t lo, int64_t hi)
{
    return hbg_slice(x, dim, lo < 0 ? 0 : lo, hi > x.shape[dim] ? x.shape[dim] : hi);
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct params *p = params;
    struct hbg_region x[2] = { hbg_args_region(args, 0), hbg_args_region(args, 1) };
    for (int s = 0; s < p->steps; s++)
        for (int64_t i = 0; i < p->tiles; i++)
            for (int64_t j = 0; j < (p->dimensions == 2 ? p->tiles : 1); j++) {
                int64_t row = p->first + i * TILE, column = p->first + j * TILE;
                struct hbg_region in = cut(x[s & 1], 0, row - 1, row + TILE + 1), out = cut(x[~s & 1], 0, row, row + TILE);
                if (p->dimensions == 2) {
                    in = cut(in, 1, column - 1, column + TILE + 1);
                    out = cut(out, 1, column, column + TILE);
                }
                hbg_submit(g, 0, hbg_in(in), hbg_out(out));
            }
}

static uint64_t edges_a_hundred_tasks(struct params p)
{
    static double a[160 * 160], b[160 * 160];
    int64_t n = (int64_t)p.tiles * TILE + 2 * p.first;
    struct hbg_shape shape = p.dimensions == 2 ? HBG_SHAPE(n, n) : HBG_SHAPE(n);
    struct hbg_device *device = NULL;
    struct hbg_program *program = NULL;
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_result result = HBG_OPTIONS(result);
    o.build = build;
    o.params = &p;
    o.params_size = sizeof p;
    o.kernels = kernels;
    o.kernel_count = 1;
    assert_int_equal(hbg_device_open("null:workers=1", NULL, &device), HBG_OK);
    assert_int_equal(hbg_program_create(device, &o, &program), HBG_OK);
    assert_int_equal(hbg_run_sync(program, HBG_ARGS(hbg_inout(hbg_host(a, HBG_F64, shape)), hbg_inout(hbg_host(b, HBG_F64, shape))), &result), HBG_OK);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    return result.edges * 100 / result.tasks;
}

/* The producers of a task: the last writers of the tiles it reads; the readers of its own tile stand for that tile's writer. Of
   the readers, those count that are not among the writers: none but itself a step ago. */
static void edges_stay_few(void **state)
{
    (void)state;
    for (int first = 0; first <= GHOST; first++) {
        assert_in_range(edges_a_hundred_tasks((struct params){ 1, 16, 400, first }), 200, 400);
        assert_in_range(edges_a_hundred_tasks((struct params){ 1, 3, 400, first }), 200, 400);
        assert_in_range(edges_a_hundred_tasks((struct params){ 2, 12, 100, first }), 700, 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(edges_stay_few) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
