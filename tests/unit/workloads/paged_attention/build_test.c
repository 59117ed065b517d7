/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The build function of paged_attention by itself: lengths and table are guards of a replay, and what lies outside the
 * cache ends the build with the request's number.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>

#include <hbg/hbg.h>
#include "workloads/paged_attention/paged_attention.h"

enum { BATCH = 2, DIM = 4, BLOCK = 2, COLUMNS = 3, BLOCKS = 5 };

static int32_t lengths[BATCH], table[BATCH][COLUMNS];
static float query[BATCH][DIM], keys[BLOCKS][BLOCK][DIM], values[BLOCKS][BLOCK][DIM], out[BATCH][DIM];

static void reset(void)
{
    static const int32_t order[BATCH][COLUMNS] = { { 3, 0, 4 }, { 1, 2, -1 } };

    lengths[0] = 6;
    lengths[1] = 3;
    for (int i = 0; i < BATCH * COLUMNS; i++)
        table[i / COLUMNS][i % COLUMNS] = order[i / COLUMNS][i % COLUMNS];
    for (int i = 0; i < BLOCKS * BLOCK; i++)
        values[i / BLOCK][i % BLOCK][0] = (float)i;
}

static enum hbg_status run(struct hbg_program *program, struct hbg_result *result)
{
    struct hbg_shape cache = HBG_SHAPE(BLOCKS, BLOCK, 1, DIM), rows = HBG_SHAPE(BATCH, 1, DIM);

    *result = HBG_OPTIONS(result);
    return hbg_run_sync(program, HBG_ARGS(hbg_in(hbg_host_const(lengths, HBG_I32, HBG_SHAPE(BATCH))),
        hbg_in(hbg_host_const(table, HBG_I32, HBG_SHAPE(BATCH, COLUMNS))), hbg_in(hbg_host_const(query, HBG_F32, rows)),
        hbg_in(hbg_host_const(keys, HBG_F32, cache)), hbg_in(hbg_host_const(values, HBG_F32, cache)),
        hbg_out(hbg_host(out, HBG_F32, rows))), result);
}

/* with a query of zeros all tokens weigh the same: the mean of the values that the table leads to */
static void expect_means(void)
{
    for (int b = 0; b < BATCH; b++) {
        double sum = 0.0;
        for (int i = 0; i < lengths[b]; i++)
            sum += values[table[b][i / BLOCK]][i % BLOCK][0];
        assert_true(fabs(out[b][0] - (lengths[b] ? sum / lengths[b] : 0.0)) < 1e-5);
    }
}

static void expect_refused(struct hbg_program *program, int request)
{
    struct hbg_result result;

    assert_int_equal(run(program, &result), HBG_E_BUILD);
    assert_int_equal(result.error.code, request);
    reset();
    assert_int_equal(run(program, &result), HBG_OK);
    expect_means();
}

static void with_program(void (*test)(struct hbg_program *program))
{
    struct paged_attention_params params = { BATCH, 1, 1, DIM, BLOCK, COLUMNS, HBG_F32 };
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_device *device;
    struct hbg_program *program;

    o.build = hbg__paged_attention_build;
    o.params = &params;
    o.params_size = sizeof params;
    o.kernels = hbg__paged_attention_kernels;
    o.kernel_count = PAGED_KERNEL_COUNT;
    o.pure_build = true;
    assert_int_equal(hbg_device_open("cpu:workers=2,memory=discrete", NULL, &device), HBG_OK);
    assert_int_equal(hbg_program_create(device, &o, &program), HBG_OK);
    reset();
    test(program);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

static void replay(struct hbg_program *program)
{
    struct hbg_result result;

    for (int i = 0; i < 8; i++) {               /* built, replayed, then the same after each change */
        int32_t *const changed[] = { &lengths[1], &table[0][1], &lengths[0] };
        static const int32_t to[] = { 4, 2, 0 };
        if (i % 2 == 0 && i > 0)
            *changed[i / 2 - 1] = to[i / 2 - 1];
        assert_int_equal(run(program, &result), HBG_OK);
        assert_int_equal(result.replayed, i % 2);
        assert_int_equal(result.tasks, i < 6 ? 5 * 4 + 2 : 2 * 4 + 2);
        expect_means();
    }
}

static void outside_the_cache(struct hbg_program *program)
{
    table[0][2] = BLOCKS;
    expect_refused(program, 0);
    table[1][1] = -1;
    expect_refused(program, 1);
    lengths[0] = COLUMNS * BLOCK + 1;
    expect_refused(program, 0);
    lengths[1] = -1;
    expect_refused(program, 1);
}

static void lengths_and_table_are_guards(void **state)
{
    (void)state;
    with_program(replay);
}

static void what_lies_outside_the_cache_is_refused(void **state)
{
    (void)state;
    with_program(outside_the_cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_and_table_are_guards), cmocka_unit_test(what_lies_outside_the_cache_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
