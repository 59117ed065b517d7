/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of graphs against definitions written down a second time, and the check of order, which has to notice what it is for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/dag/work.h"

enum { WIDTH = 8, STEPS = 30, RADIX = 5 };

/* Does point i in step t read point j of the step before? Both take part. */
static bool reads(const char *name, int t, int i, int j)
{
    static const int apart[] = { 1, 2, 4 };
    int near = abs(i - j);
    if (!strcmp(name, "no_comm")) return i == j;
    if (!strcmp(name, "stencil_1d")) return near <= 1;
    if (!strcmp(name, "stencil_1d_periodic")) return near <= 1 || near == WIDTH - 1;
    if (!strcmp(name, "dom")) return j == i || j == i - 1;
    if (!strcmp(name, "tree")) return j == i / 2;
    if (!strcmp(name, "fft")) return near == 0 || near == apart[(t - 1) % 3];
    if (!strcmp(name, "all_to_all")) return true;
    if (!strcmp(name, "nearest")) return near <= 2;
    for (int n = 0; n < RADIX && !strcmp(name, "spread"); n++)
        if (j == (i + n * WIDTH / RADIX + (n ? t % 3 : 0)) % WIDTH) return true;
    return false;
}

static bool takes_part(const char *name, int t, int i)
{
    if (!strcmp(name, "dom")) return t >= i && t <= STEPS - WIDTH + i;
    if (!strcmp(name, "tree")) return t >= 3 || i < 1 << t;
    return true;
}

static bool has_edge(const struct dag *dag, uint32_t task, uint32_t cell)
{
    for (uint32_t e = dag->first[task]; e < dag->first[task + 1]; e++)
        if (dag->task[dag->producer[e]].cell == cell) return true;
    return false;
}

static void patterns_are_their_definitions(void **state)
{
    (void)state;
    for (const struct dag_maker *maker = hbg__dag_patterns; maker->name; maker++) {
        struct dag dag;
        uint32_t task = 0, edges = 0;
        if (!strcmp(maker->name, "random_nearest")) continue;
        assert_true(hbg__dag_make(&dag, maker->name, (struct dag_size){ WIDTH, STEPS, RADIX }));
        for (int t = 0; t < STEPS; t++)
            for (int i = 0; i < WIDTH; i++) {
                if (!takes_part(maker->name, t, i)) continue;
                assert_int_equal(dag.task[task].cell, t * WIDTH + i);
                for (int j = 0; t && j < WIDTH; j++) {
                    bool wanted = takes_part(maker->name, t - 1, j) && reads(maker->name, t, i, j);
                    assert_int_equal(has_edge(&dag, task, (uint32_t)((t - 1) * WIDTH + j)), wanted);
                    edges += wanted;
                }
                task++;
            }
        assert_int_equal(dag.task_count, task);
        assert_int_equal(dag.first[task], edges);
        hbg__dag_free(&dag);
    }
}

static void random_nearest_draws_a_quarter_of_nearest(void **state)
{
    struct dag all, some;
    (void)state;
    assert_true(hbg__dag_make(&all, "nearest", (struct dag_size){ 32, 300, RADIX }));
    assert_true(hbg__dag_make(&some, "random_nearest", (struct dag_size){ 32, 300, RADIX }));
    assert_int_equal(all.task_count, some.task_count);
    for (uint32_t i = 0; i < some.task_count; i++)
        for (uint32_t e = some.first[i]; e < some.first[i + 1]; e++) assert_true(has_edge(&all, i, some.task[some.producer[e]].cell));
    double share = (double)some.first[some.task_count] / all.first[all.task_count];
    assert_true(share > 0.15 && share < 0.35);
    hbg__dag_free(&all);
    hbg__dag_free(&some);
}

/* ---- who waits for whom, a second time: backwards from each task to the accesses that it must come after ---- */

static bool touches(const struct dag *dag, uint32_t task, uint32_t cell)
{
    const struct dag_task *t = &dag->task[task];
    for (uint32_t n = 0; n < t->read_count; n++)
        if (dag->read[t->first_read + n] == cell) return true;
    return false;
}

static void mark(const struct dag *dag, uint32_t task, bool *wanted)
{
    const struct dag_task *t = &dag->task[task];
    for (uint32_t n = 0; n < t->read_count; n++)
        for (uint32_t p = task; p-- > 0;)
            if (dag->task[p].cell == dag->read[t->first_read + n]) {
                wanted[p] = true;
                break;
            }
    bool read_since = false;
    for (uint32_t p = task; p-- > 0;) {
        if (dag->task[p].cell == t->cell) {
            wanted[p] |= !read_since;
            break;
        }
        if (!touches(dag, p, t->cell)) continue;
        wanted[p] = read_since = true;
    }
}

static void producers_follow_from_the_cells(void **state)
{
    static const struct { const char *name; struct dag_size size; } small[] = {
        { "chain", { 1, 9, 1 } }, { "independent", { 9, 1, 1 } }, { "wavefront", { 5, 1, 2 } }, { "cholesky", { 6, 1, 2 } }, { "gemm", { 3, 1, 2 } },
        { "reduction", { 16, 1, 1 } }, { "reduction", { 13, 1, 1 } }, { "random", { 1, 60, 4 } }, { "layered", { 20, 4, 16 } }, { "decoder", { 2, 3, 2 } } };
    (void)state;
    for (size_t g = 0; g < sizeof small / sizeof small[0]; g++) {
        struct dag dag;
        assert_true(hbg__dag_make(&dag, small[g].name, small[g].size));
        for (uint32_t i = 0; i < dag.task_count; i++) {
            bool wanted[256] = { false };
            uint32_t count = 0;
            assert_true(dag.task_count <= 256);
            mark(&dag, i, wanted);
            for (uint32_t p = 0; p < i; p++) count += wanted[p];
            assert_int_equal(dag.first[i + 1] - dag.first[i], count);
            for (uint32_t e = dag.first[i]; e < dag.first[i + 1]; e++) assert_true(wanted[dag.producer[e]]);
        }
        hbg__dag_free(&dag);
    }
}

static void sizes_are_those_of_the_algorithms(void **state)
{
    struct dag dag;
    (void)state;
    assert_true(hbg__dag_make(&dag, "cholesky", (struct dag_size){ 64, 0, 0 }));
    assert_int_equal(dag.task_count, 45760);
    hbg__dag_free(&dag);
    assert_true(hbg__dag_make(&dag, "decoder", (struct dag_size){ 16, 40, 4 }));
    assert_int_equal(dag.task_count, 1 + 40 * (4 + 16 * (7 + 5)));     /* two norms, two additions; products, gates, heads */
    hbg__dag_free(&dag);
    assert_true(hbg__dag_make(&dag, "reduction", (struct dag_size){ 13, 0, 0 }));
    assert_int_equal(dag.task_count, 13 + 12);          /* each join takes one away */
    hbg__dag_free(&dag);
    assert_false(hbg__dag_make(&dag, "nothing", (struct dag_size){ 1, 1, 1 }));
}

/* ---- the check of order ---- */

static uint64_t run_in_order(struct work *work, bool backwards, uint32_t left_out, uint32_t twice)
{
    uint32_t count = work->dag->task_count;
    hbg__work_check_begin(work);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t task = backwards ? count - 1 - i : i;
        if (task != left_out) hbg__work_do(work, task);
        if (task == twice) hbg__work_do(work, task);
    }
    return hbg__work_check_end(work);
}

static void a_wrong_order_is_noticed(void **state)
{
    struct dag dag;
    struct work work;
    (void)state;
    assert_true(hbg__dag_make(&dag, "chain", (struct dag_size){ 1, 10, 1 }));
    assert_true(hbg__work_open(&work, &dag));
    for (int round = 0; round < 2; round++) {
        assert_int_equal(run_in_order(&work, false, UINT32_MAX, UINT32_MAX), 0);
        assert_int_equal(run_in_order(&work, true, UINT32_MAX, UINT32_MAX), 9);
        assert_int_equal(run_in_order(&work, false, 4, UINT32_MAX), 2);         /* it, and the one behind it */
        assert_int_equal(run_in_order(&work, false, 9, UINT32_MAX), 1);
        assert_int_equal(run_in_order(&work, false, UINT32_MAX, 4), 1);
    }
    hbg__work_close(&work);
    hbg__dag_free(&dag);
}

static void bodies_are_found_by_name(void **state)
{
    struct dag dag;
    struct work work;
    bool known;
    (void)state;
    assert_true(hbg__dag_make(&dag, "chain", (struct dag_size){ 1, 3, 1 }));
    assert_true(hbg__work_open(&work, &dag));
    for (int n = 0; n < 2; n++) {
        assert_true(hbg__work_body(n ? "memory" : "compute", &work.body, &known));
        assert_true(known && work.body);
        work.length = 1000;
        assert_int_equal(run_in_order(&work, false, UINT32_MAX, UINT32_MAX), 0);
    }
    assert_true(hbg__work_body("empty", &work.body, &known) && known && !work.body);
    assert_true(hbg__work_body("nothing", &work.body, &known) && !known);
    hbg__work_close(&work);
    hbg__dag_free(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_their_definitions),
        cmocka_unit_test(random_nearest_draws_a_quarter_of_nearest),
        cmocka_unit_test(producers_follow_from_the_cells),
        cmocka_unit_test(sizes_are_those_of_the_algorithms),
        cmocka_unit_test(a_wrong_order_is_noticed),
        cmocka_unit_test(bodies_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
