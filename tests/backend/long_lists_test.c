/* SPDX-License-Identifier: Apache-2.0 */
/* long_lists_test.c - tasks with one to a thousand arguments, of which each is settled the short way or the general one: cells, pieces across
 * cells, whole storages, scalars, bytes, explicit order. A sequential oracle says what is right; equal lists make equal edges whatever else is in them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { CELL = 4, CELLS = 1200, WHOLES = 6, TASKS = 60, LONGEST = 1000, ELEMENTS = CELL * CELLS };

/* One argument as the oracle knows it: elements [first, first + count) of what stands in a row. */
struct item { enum { READ, CHANGE, SCALAR, BYTES, AFTER } kind; uint32_t first, count, value; };

struct task { struct item *item; uint32_t count; };
static struct task tasks[TASKS];

/* ---- what is submitted ---- */

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % limit);
}

/* Elements of the wholes follow those of the cells. What a task changes is not changed by another argument of it. */
static struct item draw_item(uint32_t task, bool *changed, bool tidy)
{
    uint32_t kind = tidy ? below(8) : below(16), cell = below(CELLS);
    struct item item = { below(4) == 0 ? CHANGE : READ, cell * CELL, CELL, below(1000) };
    if (kind == 14) item.kind = SCALAR;
    if (kind == 15) item.kind = below(2) ? BYTES : AFTER;
    if (item.kind == AFTER && task == 0) item.kind = SCALAR;
    if (kind == 12 || kind == 13) {
        item.first = ELEMENTS + below(WHOLES) * CELL;
    } else if (kind >= 10) {
        item.first = below(ELEMENTS - 2 * CELL);
        item.count = 1 + below(2 * CELL);
    }
    for (uint32_t i = 0; item.kind == CHANGE && i < item.count; i++)
        if (changed[item.first + i]) item.kind = READ;
    for (uint32_t i = 0; item.kind == CHANGE && i < item.count; i++) changed[item.first + i] = true;
    return item;
}

static void draw(uint64_t seed, uint32_t length, bool tidy)
{
    static bool changed[ELEMENTS + WHOLES * CELL];
    state = seed;
    for (uint32_t t = 0; t < TASKS; t++) {
        tasks[t].count = length > 1 && below(4) == 0 ? 1 + below(length) : length;
        tasks[t].item = realloc(tasks[t].item, tasks[t].count * sizeof *tasks[t].item);
        assert_non_null(tasks[t].item);
        memset(changed, 0, sizeof changed);
        for (uint32_t i = 0; i < tasks[t].count; i++) tasks[t].item[i] = draw_item(t, changed, tidy);
    }
}

/* ---- what it does ---- */

static int mix(const struct hbg_task_view *t)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < t->arg_count; i++) {
        const struct hbg_layout *layout = hbg_view_layout(t, (int)i);
        if (layout->dtype == HBG_U32 && layout->rank == 0) sum = sum * 7 + hbg_view_u32(t, (int)i);
        else if (layout->dtype == HBG_U8) sum = sum * 7 + *HBG_VIEW(const uint8_t, t, (int)i);
        else for (int64_t k = 0; k < layout->count; k++) sum = sum * 7 + HBG_VIEW(const uint32_t, t, (int)i)[k];
    }
    const uint8_t *changes = *(const uint8_t *const *)t->user + (size_t)hbg_view_u32(t, 0) * LONGEST;
    for (uint32_t i = 1; i < t->arg_count; i++)
        for (int64_t k = 0; changes[i - 1] && k < hbg_view_count(t, (int)i); k++) HBG_VIEW(uint32_t, t, (int)i)[k] += sum + i;
    return 0;
}

static uint8_t *changes;                /* of each task, by position: is it one that the task changes? */
static const struct hbg_kernel kernels[] = { { .id = 0, .name = "mix", .run = mix, .user = &changes } };

/* One task, on the oracle's memory. Argument 0 is the task's number. */
static void expect(uint32_t number, uint32_t *x)
{
    const struct task *task = &tasks[number];
    uint32_t sum = number, at = 0;
    for (uint32_t i = 0; i < task->count; i++) {
        const struct item *item = &task->item[i];
        if (item->kind == SCALAR) sum = sum * 7 + item->value;
        else if (item->kind == BYTES) sum = sum * 7 + (uint8_t)item->value;
        else for (uint32_t k = 0; item->kind != AFTER && k < item->count; k++) sum = sum * 7 + x[item->first + k];
    }
    for (uint32_t i = 0; i < task->count; i++) {
        const struct item *item = &task->item[i];
        if (item->kind == AFTER) continue;
        changes[(size_t)number * LONGEST + at++] = item->kind == CHANGE;
        for (uint32_t k = 0; item->kind == CHANGE && k < item->count; k++) x[item->first + k] += sum + at;
    }
}

static struct hbg_arg argument(const struct hbg_args *args, const struct item *item, const struct hbg_task *before, uint32_t count)
{
    struct hbg_region x = hbg_args_region(args, 0);
    if (item->kind == SCALAR) return hbg_u32(item->value);
    if (item->kind == BYTES) return hbg_bytes(&item->value, 1);
    if (item->kind == AFTER) return hbg_after(before[item->value % count]);
    if (item->first >= ELEMENTS) x = hbg_args_region(args, 1 + (int)(item->first - ELEMENTS) / CELL);
    else x = item->count == CELL && item->first % CELL == 0 ? hbg_cell(x, HBG_SHAPE(CELL), HBG_SHAPE(item->first / CELL)) : hbg_slice(x, 0, item->first, item->first + item->count);
    return item->kind == CHANGE ? hbg_inout(x) : hbg_in(x);
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    static struct hbg_arg list[LONGEST + 1];
    struct hbg_task made[TASKS];
    (void)params;
    for (uint32_t t = 0; t < TASKS; t++) {
        list[0] = hbg_u32(t);
        for (uint32_t i = 0; i < tasks[t].count; i++) list[i + 1] = argument(args, &tasks[t].item[i], made, t);
        made[t] = hbg_submit_args(g, 0, (struct hbg_arg_list){ list, tasks[t].count + 1 });
    }
}

/* ---- the tests ---- */

static void check(struct hbg_device *device, uint64_t seed, uint32_t length, bool tidy)
{
    static uint32_t x[ELEMENTS], whole[WHOLES][CELL], right[ELEMENTS + WHOLES * CELL];
    draw(seed, length, tidy);
    for (uint32_t i = 0; i < ELEMENTS + WHOLES * CELL; i++) right[i] = i;
    for (uint32_t i = 0; i < ELEMENTS; i++) x[i] = i;
    for (uint32_t i = 0; i < WHOLES * CELL; i++) whole[i / CELL][i % CELL] = ELEMENTS + i;
    for (uint32_t t = 0; t < TASKS; t++) expect(t, right);
    struct hbg_arg list[1 + WHOLES] = { hbg_inout(hbg_host(x, HBG_U32, HBG_SHAPE(ELEMENTS))) };
    for (int i = 0; i < WHOLES; i++) list[1 + i] = hbg_inout(hbg_host(whole[i], HBG_U32, HBG_SHAPE(CELL)));
    struct hbg_program *program = PROGRAM(device, build, kernels);
    program_run(program, (struct hbg_arg_list){ list, 1 + WHOLES }, NULL, NULL);
    hbg_program_destroy(program);
    assert_memory_equal(x, right, sizeof x);
    assert_memory_equal(whole, right + ELEMENTS, sizeof whole);
}

static void lists_of_all_lengths(struct hbg_device *device, const struct device_kind *kind)
{
    static const uint32_t lengths[] = { 1, 7, 8, 30, 31, 32, 33, 63, 200, 999 };
    (void)kind;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int n = 0; n < test_scaled(lengths[i] < 100 ? 12 : 3); n++) check(device, test_seed(77000000) + (uint64_t)n, lengths[i], n % 3 == 0);
}

/* The same accesses of cells, in lists that are settled in different ways for their length or for one argument more. */
struct way { uint32_t more; bool piece; };

static void equal_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct way *way = params;
    struct hbg_arg list[64];
    state = 5;
    for (int t = 0; t < 200; t++) {
        uint32_t count = 0;
        list[count++] = hbg_u32(0);
        for (uint32_t i = 0; i < 12; i++) {
            struct hbg_region cell = hbg_cell(hbg_args_region(args, 0), HBG_SHAPE(CELL), HBG_SHAPE(below(16)));
            list[count++] = below(3) ? hbg_in(cell) : hbg_inout(cell);
        }
        for (uint32_t i = 0; i < way->more; i++) list[count++] = hbg_u32(i);
        if (way->piece) list[count++] = hbg_untracked(hbg_slice(hbg_args_region(args, 0), 0, 1, 3));
        hbg_submit_args(g, 1, (struct hbg_arg_list){ list, count });
    }
}

static int nothing(const struct hbg_task_view *t)
{
    (void)t;
    return 0;
}

static const struct hbg_kernel quiet[] = { { .id = 0, .name = "unused", .run = nothing }, { .id = 1, .name = "quiet", .run = nothing } };

static void equal_lists_make_equal_edges(struct hbg_device *device, const struct device_kind *kind)
{
    static const struct way ways[] = { { 0, false }, { 25, false }, { 0, true }, { 25, true } };
    static uint32_t x[ELEMENTS];
    uint64_t edges[4];
    (void)kind;
    for (int i = 0; i < 4; i++) {
        struct hbg_result result = HBG_OPTIONS(result);
        struct hbg_program *program = PROGRAM_WITH(device, equal_build, quiet, ways[i]);
        program_run(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_U32, HBG_SHAPE(ELEMENTS)))), &result, NULL);
        edges[i] = result.edges;
        hbg_program_destroy(program);
    }
    for (int i = 1; i < 4; i++) assert_int_equal(edges[i], edges[0]);
}

/* Each cell has a writer of its own; the last task names them all, out of order and some twice. */
static void fan_in_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    static struct hbg_arg list[LONGEST];
    (void)params;
    for (int i = 0; i < CELLS; i++) hbg_submit(g, 1, hbg_out(hbg_cell(hbg_args_region(args, 0), HBG_SHAPE(CELL), HBG_SHAPE(i))));
    for (int i = 0; i < LONGEST; i++) list[i] = hbg_in(hbg_cell(hbg_args_region(args, 0), HBG_SHAPE(CELL), HBG_SHAPE(i * 7 % 900)));
    hbg_submit_args(g, 1, (struct hbg_arg_list){ list, LONGEST });
}

static void all_producers_are_kept(struct hbg_device *device, const struct device_kind *kind)
{
    static uint32_t x[ELEMENTS];
    struct hbg_result result = HBG_OPTIONS(result);
    (void)kind;
    struct hbg_program *program = PROGRAM(device, fan_in_build, quiet);
    program_run(program, HBG_ARGS(hbg_out(hbg_host(x, HBG_U32, HBG_SHAPE(ELEMENTS)))), &result, NULL);
    assert_int_equal(result.edges, 900);
    hbg_program_destroy(program);
}

static int make_room(void **unused)
{
    (void)unused;
    changes = calloc((size_t)TASKS * LONGEST, 1);
    return changes ? 0 : -1;
}

static int drop_room(void **unused)
{
    (void)unused;
    free(changes);
    for (int t = 0; t < TASKS; t++) free(tasks[t].item);
    return 0;
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(lists_of_all_lengths), DEVICE_TEST(equal_lists_make_equal_edges), DEVICE_TEST(all_producers_are_kept) };
    if (make_room(NULL)) return 1;
    int failed = DEVICE_TESTS_RUN(tests);
    drop_room(NULL);
    return failed;
}
