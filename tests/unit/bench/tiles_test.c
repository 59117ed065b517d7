/* SPDX-License-Identifier: Apache-2.0 */
/* Tiled matrices: tasks in order give the result, and the residual notices one that is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/tiles.h"

enum { SIDE = 5, EDGE = 12 };

static double run(struct work *work, struct tiles *tiles, uint32_t left_out)
{
    hbg__tiles_restore(tiles);
    for (uint32_t i = 0; i < work->dag->task_count; i++)
        if (i != left_out) hbg__work_do(work, i);
    return hbg__tiles_residual(tiles);
}

static void results_are_right_and_wrong_ones_noticed(void **state)
{
    static const char *const names[] = { "cholesky", "gemm" };
    (void)state;
    for (int n = 0; n < 2; n++) {
        struct dag dag;
        struct work work;
        struct tiles tiles;
        assert_true(hbg__dag_make(&dag, names[n], (struct dag_size){ SIDE, 0, 0 }));
        assert_true(hbg__work_open(&work, &dag) && hbg__tiles_open(&tiles, &dag, EDGE));
        work.body = hbg__tiles_body;
        work.tile = tiles.element;
        work.edge = EDGE;
        for (int round = 0; round < 2; round++) assert_true(run(&work, &tiles, UINT32_MAX) < 1e-13);
        for (uint32_t task = 0; task < dag.task_count; task++) assert_true(run(&work, &tiles, task) > 1e-6);
        hbg__tiles_close(&tiles);
        hbg__work_close(&work);
        hbg__dag_free(&dag);
    }
}

static void graphs_without_operations_have_no_tiles(void **state)
{
    struct dag dag;
    struct tiles tiles;
    (void)state;
    assert_true(hbg__dag_make(&dag, "wavefront", (struct dag_size){ 3, 0, 0 }));
    assert_false(hbg__tiles_open(&tiles, &dag, EDGE));
    hbg__dag_free(&dag);
}

static void operations_are_counted(void **state)
{
    (void)state;
    assert_true(hbg__tiles_flops("gemm", 10) == 2000 && hbg__tiles_flops("cholesky", 30) == 9000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_right_and_wrong_ones_noticed),
        cmocka_unit_test(graphs_without_operations_have_no_tiles),
        cmocka_unit_test(operations_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
