/* SPDX-License-Identifier: Apache-2.0 */
/* claim_test.c - wide, irregular graphs of short tasks, which several workers run by claiming ids in order once an earlier run has
 * shown how short the tasks are: values, skips and cancelling are those of the wake lists. What the earlier run has shown is
 * written by the test, since a slow machine would show something else.
 */
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "base/rng.h"
#include "atomic/atomic.h"
#include "run/device.h"
#include "run/program.h"
#include "run/run.h"
#include "support/devices.h"
#include "support/program.h"

enum { TASKS = 3000, CELLS = 2000, READS = 4 };

static atomic_uchar executed[TASKS];
static int32_t failing;                 /* label; -1: none */

/* Every cell is read by tasks drawn from all the others, so that few tasks have a late producer. */
struct drawn { int32_t cell, from[READS]; };
static struct drawn drawn[TASKS];

static int mix_cells(const struct hbg_task_view *t)
{
    int last = (int)t->arg_count - 1;
    int32_t label = hbg_view_i32(t, last);
    uint32_t sum = (uint32_t)label, *to = HBG_VIEW(uint32_t, t, last - 1);
    for (int i = 0; i < last - 1; i++) sum = sum * 31 + *HBG_VIEW(const uint32_t, t, i);
    *to = *to * 7 + sum;
    atomic_fetch_add_explicit(&executed[label], 1, memory_order_relaxed);
    return label == failing ? hbg_fail(t, 5, label) : 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, mix_cells, NULL) };

static void draw(uint64_t seed)
{
    struct hbg__rng rng;
    hbg__rng_seed(&rng, seed);
    for (int i = 0; i < TASKS; i++) {
        drawn[i].cell = i < CELLS ? i : (int32_t)hbg__rng_between(&rng, 0, CELLS - 1);
        int32_t lo = i > 400 ? 0 : CELLS - 400, hi = i > 400 && i < CELLS ? i - 200 : CELLS - 1;
        for (int k = 0; k < READS; k++) drawn[i].from[k] = (int32_t)hbg__rng_between(&rng, lo, hi);
    }
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
#define CELL(i) hbg_cell(x, HBG_SHAPE(1), HBG_SHAPE(i))
    for (int32_t i = 0; i < TASKS; i++) {
        const struct drawn *d = &drawn[i];
        hbg_submit(g, 0, hbg_in(CELL(d->from[0])), hbg_in(CELL(d->from[1])), hbg_in(CELL(d->from[2])), hbg_in(CELL(d->from[3])), hbg_inout(CELL(d->cell)), hbg_i32(i));
    }
#undef CELL
}

static void golden(uint32_t *x)
{
    for (int i = 0; i < TASKS; i++) {
        uint32_t sum = (uint32_t)i;
        for (int k = 0; k < READS; k++) sum = sum * 31 + x[drawn[i].from[k]];
        x[drawn[i].cell] = x[drawn[i].cell] * 7 + sum;
    }
}

static void forget(void)
{
    for (int i = 0; i < TASKS; i++) atomic_store_explicit(&executed[i], 0, memory_order_relaxed);
}

/* As if the last run had had short tasks, or long ones. */
static void expect_claim(struct hbg_program *program, bool claim) { hbg__store_relaxed64(&program->task_ns, claim ? 100 : 1000000); }     /* relaxed: a hint */

static bool claims(const struct hbg_device *device) { return device->run[0].descriptor->launch.mode == HBG__MODE_CLAIM; }

static void values_in_every_mode(struct hbg_device *device, const struct device_kind *kind)
{
    static uint32_t x[CELLS], expected[CELLS];
    int graphs = test_scaled(20);
    failing = -1;
    for (int n = 0; n < graphs; n++) {
        draw(test_seed(100) + (uint64_t)n);
        struct program_spec spec = { .build = build, KERNEL_TABLE(kernels), .pure = n % 2 };
        struct hbg_program *program = program_create(device, &spec);
        for (int i = 0; i < CELLS; i++) x[i] = expected[i] = (uint32_t)i;
        for (int round = 0; round < 4; round++) {
            forget();
            expect_claim(program, round != 1);
            program_run(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_U32, HBG_SHAPE(CELLS)))), NULL, NULL);
            assert_int_equal(claims(device), round != 1 && kind->workers > 1);
            golden(expected);
            if (memcmp(x, expected, sizeof x) != 0) fail_msg("graph %d, round %d, %s", n, round, claims(device) ? "claimed" : "not claimed");
            for (int i = 0; i < TASKS; i++) assert_int_equal(executed[i], 1);
        }
        hbg_program_destroy(program);
    }
}

static void skips_in_every_mode(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static uint32_t x[CELLS];
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_host(x, HBG_U32, HBG_SHAPE(CELLS))));
    struct edges edges;
    struct closure closure;
    draw(test_seed(7));
    struct hbg_program *program = PROGRAM(device, build, kernels);
    program_edges(program, list, &edges);
    assert_int_equal(edges.noop_count, 0);
    closure_of_edges(&closure, &edges, true);
    for (int round = 0; round < 12; round++) {
        struct hbg_result result = HBG_OPTIONS(result);
        failing = round % 3 == 0 ? -1 : (int32_t)((uint32_t)round * 977u % TASKS);
        forget();
        expect_claim(program, round % 2);
        assert_int_equal(hbg_run_sync(program, list, &result), failing < 0 ? HBG_OK : HBG_E_KERNEL);
        if (failing >= 0) assert_int_equal(result.error.task, failing);
        for (uint32_t i = 0; i < TASKS; i++) {
            bool skipped = failing >= 0 && closure_before(&closure, (uint32_t)failing, i);
            if (executed[i] != !skipped) fail_msg("%d fails, %s: %u ran %d times", failing, claims(device) ? "claimed" : "not claimed", i, executed[i]);
        }
    }
    closure_free(&closure);
    edges_free(&edges);
    hbg_program_destroy(program);
}

static void cancelled_in_every_mode(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static uint32_t x[CELLS], expected[CELLS];
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_host(x, HBG_U32, HBG_SHAPE(CELLS))));
    failing = -1;
    draw(test_seed(9));
    struct hbg_program *program = PROGRAM(device, build, kernels);
    for (int round = 0; round < test_scaled(60); round++) {
        struct hbg_result result = HBG_OPTIONS(result);
        struct hbg_run run;
        uint64_t wait_until;
        expect_claim(program, round % 4 != 0);
        assert_int_equal(hbg_run_prepare(program, list, NULL, &run), HBG_OK);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        wait_until = wall_ns() + (uint64_t)round * 2000u;
        while (wall_ns() < wait_until) { }                      /* time passes */
        assert_int_equal(hbg_run_cancel(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        enum hbg_status status = hbg_run_finish(run, &result);
        assert_true(status == HBG_OK || status == HBG_E_CANCELLED);
        for (int i = 0; i < CELLS; i++) x[i] = expected[i] = (uint32_t)i;
        program_run(program, list, NULL, NULL);
        golden(expected);
        assert_memory_equal(x, expected, sizeof x);
    }
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(values_in_every_mode), DEVICE_TEST(skips_in_every_mode), DEVICE_TEST(cancelled_in_every_mode) };
    return DEVICE_TESTS_RUN(tests) + device_tests_run_with(",poison=1", tests, 1);
}
