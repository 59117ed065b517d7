/* SPDX-License-Identifier: Apache-2.0 */
/* parts_test.c - an argument is a part of a buffer that the build names as well, before and behind the part: rows conflict with
 * the same rows and with no others, whichever name comes first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { ROWS = 24, COLUMNS = 16, FIRST = 7, PART = 9 };
static int add_one(const struct hbg_task_view *t)
{
    int32_t *x = HBG_VIEW(int32_t, t, 0);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) x[i] = 3 * x[i] + hbg_view_i32(t, 1);
    return 0;
}
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, add_one, "inout i32, i32") };

struct params { struct hbg_buffer *buffer; int32_t named_first, manual; };

static struct hbg_region row_of(struct hbg_region x, int64_t i) { return hbg_slice(x, 0, i, i + 1); }

static void part_rows(struct hbg_graph *g, struct hbg_region part)
{
    for (int64_t i = 0; i < PART; i++) hbg_submit(g, 0, hbg_inout(row_of(part, i)), hbg_i32(1));
}

static void all_rows(struct hbg_graph *g, struct hbg_region all)
{
    for (int64_t i = 0; i < ROWS; i++) hbg_submit(g, 0, hbg_inout(row_of(all, i)), hbg_i32(2));
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct params *p = params;
    struct hbg_region part = hbg_args_region(args, 0), all = hbg_buffer_region(p->buffer, 4, HBG_I32, HBG_SHAPE(ROWS, COLUMNS));
    if (p->named_first) all_rows(g, all);
    part_rows(g, part);
    if (!p->named_first) {
        if (p->manual) hbg_scope_begin(g, HBG_SCOPE_MANUAL);
        all_rows(g, all);
        if (p->manual) hbg_scope_end(g);
    }
    all_rows(g, all);
}

static void check(struct hbg_device *device, bool named_first, bool manual)
{
    struct params p = { NULL, named_first, manual };
    int32_t x[1 + ROWS * COLUMNS + 7] = { 0 };
    struct edges edges;
    assert_int_equal(hbg_buffer_create(device, sizeof x, &p.buffer), HBG_OK);
    assert_int_equal(hbg_buffer_write(p.buffer, 0, x, sizeof x), HBG_OK);
    struct hbg_program *program = PROGRAM_WITH(device, build, kernels, p);
    program_run(program, HBG_ARGS(hbg_inout(hbg_buffer_region(p.buffer, 4 + FIRST * COLUMNS * 4, HBG_I32, HBG_SHAPE(PART, COLUMNS)))), NULL, &edges);
    assert_int_equal(hbg_buffer_read(p.buffer, 0, x, sizeof x), HBG_OK);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        bool in_part = i / COLUMNS >= FIRST && i / COLUMNS < FIRST + PART;
        int part_then_all = (1 * 3 + 2) * 3 + 2, all_then_part = (2 * 3 + 1) * 3 + 2, all = 2 * 3 + 2;
        assert_int_equal(x[1 + i], !in_part ? all : named_first ? all_then_part : part_then_all);
    }
    if (!manual) {                      /* each row is a chain of its own */
        assert_int_equal(edges.noop_count, 0);
        assert_int_equal(edges.count, 2 * PART + (ROWS - PART));
    }
    edges_free(&edges);
    hbg_program_destroy(program);
    hbg_buffer_destroy(p.buffer);
}

static void rows_of_a_part_and_of_all(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    check(device, false, false);
    check(device, true, false);
    check(device, false, true);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(rows_of_a_part_and_of_all) };
    return DEVICE_TESTS_RUN(tests);
}
