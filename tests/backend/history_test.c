/* SPDX-License-Identifier: Apache-2.0 */
/* history_test.c - thousands of random histories of accesses: is every conflicting pair ordered?
 *
 * A history is built and its image is read; nothing is executed, so a missed edge cannot hide behind a lucky schedule. Orders that
 * no conflict asks for are counted and printed: they cost parallelism, not correctness.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "graph/build.h"
#include "run/device.h"
#include "run/run.h"
#include "support/devices.h"
#include "support/graph_runner.h"
#include "support/program.h"

struct tally { struct hbg_device *device; bool loud; uint64_t histories, accesses, needed, extra, missing; };

static uint64_t missing_orders(struct tally *tally, const struct random_graph *graph)
{
    struct plan plan;
    struct edges edges;
    uint64_t needed = 0, extra = 0;
    graph_resolve(&plan, graph);
    graph_edges(tally->device, &plan, &edges);
    uint64_t missing = plan_missing(&plan, &edges, tally->loud, &needed, &extra);
    for (int s = 0; s < plan.count; s++) tally->accesses += (uint64_t)plan.step[s].access_count;
    tally->histories++;
    tally->needed += needed;
    tally->extra += extra;
    tally->missing += missing;
    edges_free(&edges);
    plan_free(&plan);
    return missing;
}

static bool misses_an_order(void *user, const struct random_graph *graph) { return missing_orders(user, graph) > 0; }

static void check_history(struct tally *tally, uint64_t seed, const struct graph_taste *taste)
{
    struct random_graph graph;
    random_graph_draw(&graph, seed, taste);
    if (missing_orders(tally, &graph) > 0) {
        random_graph_shrink(&graph, misses_an_order, tally);
        tally->loud = true;
        missing_orders(tally, &graph);
        random_graph_print(&graph);
        fail_msg("seed %" PRIu64 " misses an order; above is the smallest program that does", seed);
    }
    random_graph_free(&graph);
}

static void check_histories(const char *what, int count, uint64_t seed, const struct graph_taste *taste)
{
    struct tally tally = { .device = device_open("cpu:workers=1", NULL) };
    for (int i = 0; i < test_scaled(count); i++) check_history(&tally, test_seed(seed) + (uint64_t)i, taste);
    print_message("%s: %" PRIu64 " histories, %" PRIu64 " accesses, %" PRIu64 " ordered pairs needed, %" PRIu64 " more inferred (%.2f %%)\n", what, tally.histories,
                  tally.accesses, tally.needed, tally.extra, 100.0 * (double)tally.extra / (double)(tally.needed ? tally.needed : 1));
    assert_int_equal(tally.missing, 0);
    device_close(tally.device);
}

/* ---- the histories ---- */

static void long_histories(void **state)
{
    (void)state;
    const struct graph_taste taste = { .op_min = 200, .op_max = 1000, .window_bytes = 4096, .buffers = 2, .intermediates = 2 };
    check_histories("long", 150, 1000000, &taste);
}

static void short_histories(void **state)
{
    (void)state;
    const struct graph_taste taste = { .op_min = 2, .op_max = 60, .window_bytes = 600, .buffers = 2, .intermediates = 3 };
    check_histories("short", 3000, 2000000, &taste);
}

static void histories_with_scopes(void **state)
{
    (void)state;
    const struct graph_taste taste = { .op_min = 20, .op_max = 300, .window_bytes = 1024, .buffers = 1, .intermediates = 6, .scopes = true, .orders = true };
    check_histories("scopes", 400, 3000000, &taste);
}

/* Storages of thousands of cells: grids that coarsen, boxes of many rows. */
static void wide_histories(void **state)
{
    (void)state;
    const struct graph_taste taste = { .op_min = 50, .op_max = 200, .window_bytes = 60000, .buffers = 1, .intermediates = 1 };
    check_histories("wide", 25, 4000000, &taste);
}

/* The tables' generations and stamps come round: cells of old builds must not look current. */
static void histories_where_generations_wrap(void **state)
{
    (void)state;
    const struct graph_taste taste = { .op_min = 2, .op_max = 60, .window_bytes = 600, .buffers = 2, .intermediates = 3 };
    for (uint64_t i = 0; i < 60; i++) {
        struct tally tally = { .device = device_open("cpu:workers=1", NULL) };
        uint32_t before = (uint32_t)i % 20 * 40;
        for (uint64_t k = 0; k < 2; k++) check_history(&tally, test_seed(5000000) + 10 * i + k, &taste);      /* the first of a device makes its tables */
        hbg__graph_set_generation(tally.device->run[0].graph, UINT32_MAX - (UINT32_C(1) << 28) - before, UINT32_MAX - before);
        for (uint64_t k = 0; k < 6; k++) check_history(&tally, test_seed(6000000) + 10 * i + k, &taste);
        device_close(tally.device);
        /* the same history with the very stamps that it left behind */
        tally.device = device_open("cpu:workers=1", NULL);
        check_history(&tally, test_seed(7000000) + i, &taste);
        hbg__graph_set_generation(tally.device->run[0].graph, UINT32_MAX - (UINT32_C(1) << 28), UINT32_MAX);
        check_history(&tally, test_seed(7000000) + i, &taste);
        device_close(tally.device);
    }
}

/* ---- more than 64 producers of one region, and tiles that change their size ---- */

enum { SIDE = 48 };
static struct hbg_region grid_of(struct hbg_region bytes) { return hbg_reshape(bytes, HBG_SHAPE(SIDE, SIDE)); }

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, NULL) };

struct phase { int64_t tile_rows, tile_columns; bool writes; };
struct phases { int count; struct phase phase[8]; bool transposed; };

enum { TASKS_MAX = 8 * SIDE * SIDE, WORDS = SIDE * SIDE / 64 };
struct tiled_task { struct hbg_task task; bool writes; uint64_t bytes[WORDS]; };       /* one bit for each byte that it touches */
struct tiled { const struct phases *phases; int task_count; struct tiled_task *task; };

static void mark_bytes(struct tiled_task *task, const struct hbg_region *x, int64_t origin)
{
    uint8_t bytes[SIDE * SIDE] = { 0 };
    struct raw_view view = { .offset = x->offset_bytes - origin, .element = 1, .rank = x->rank };
    memcpy(view.shape, x->shape, sizeof view.shape);
    memcpy(view.stride, x->stride_bytes, sizeof view.stride);
    if (!raw_view_mark(&view, bytes, SIDE * SIDE)) abort();
    for (int i = 0; i < SIDE * SIDE; i++) task->bytes[i / 64] |= (uint64_t)bytes[i] << i % 64;
}

static void tiled_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct tiled *tiled = *(struct tiled *const *)params;
    struct hbg_region root = hbg_args_region(args, 0), grid = grid_of(root);
    tiled->task_count = 0;
    for (int p = 0; p < tiled->phases->count; p++) {
        const struct phase *phase = &tiled->phases->phase[p];
        struct hbg_region x = tiled->phases->transposed && p % 2 ? hbg_permute(grid, HBG_SHAPE(1, 0)) : grid;
        for (int64_t i = 0; i * phase->tile_rows < SIDE; i++) {
            for (int64_t j = 0; j * phase->tile_columns < SIDE; j++) {
                struct hbg_region tile = hbg_cell(x, HBG_SHAPE(phase->tile_rows, phase->tile_columns), HBG_SHAPE(i, j));
                struct tiled_task *task = &tiled->task[tiled->task_count++];
                task->task = hbg_submit(g, 0, phase->writes ? hbg_inout(tile) : hbg_in(tile));
                task->writes = phase->writes;
                mark_bytes(task, &tile, root.offset_bytes);
            }
        }
    }
}

static bool conflict(const struct tiled_task *a, const struct tiled_task *b)
{
    if (!a->writes && !b->writes) return false;
    for (int w = 0; w < WORDS; w++) if (a->bytes[w] & b->bytes[w]) return true;
    return false;
}

static void check_tiled(struct hbg_device *device, const struct phases *phases)
{
    struct tiled tiled = { .phases = phases, .task = calloc(TASKS_MAX, sizeof *tiled.task) }, *handed = &tiled;
    static uint8_t bytes[SIDE * SIDE];
    struct edges edges;
    struct closure closure;
    uint64_t needed = 0;
    assert_non_null(tiled.task);
    struct hbg_program *program = PROGRAM_WITH(device, tiled_build, kernels, handed);
    program_edges(program, HBG_ARGS(hbg_inout(hbg_host(bytes, HBG_U8, HBG_SHAPE(SIDE * SIDE)))), &edges);
    closure_of_edges(&closure, &edges, false);
    for (int b = 0; b < tiled.task_count; b++) {
        for (int a = 0; a < b; a++) {
            if (!conflict(&tiled.task[a], &tiled.task[b])) continue;
            needed++;
            if (!closure_before(&closure, tiled.task[a].task.id, tiled.task[b].task.id)) fail_msg("task %d must come before task %d", a, b);
        }
    }
    print_message("tiles: %d tasks, %u noops, %" PRIu64 " edges, %" PRIu64 " conflicting pairs, %" PRIu64 " pairs in the closure\n", tiled.task_count,
                  edges.noop_count, edges.count, needed, closure_pairs(&closure));
    closure_free(&closure);
    edges_free(&edges);
    hbg_program_destroy(program);
    free(tiled.task);
}

static void tiles_change_their_size(void **state)
{
    (void)state;
    struct hbg_device *device = device_open("cpu:workers=1", NULL);
    static const struct phases all[] = {
        { 4, { { SIDE, SIDE, true }, { 4, 4, true }, { 4, 4, false }, { SIDE, SIDE, true } }, false },          /* init whole, tiles, read and write whole */
        { 5, { { 16, 16, true }, { 4, 4, true }, { 2, 8, false }, { 3, 5, true }, { 24, 24, true } }, false },   /* coarse, then fine, then odd */
        { 5, { { 3, 3, true }, { 12, 12, true }, { 24, 24, false }, { 48, 1, true }, { 4, 4, true } }, false },  /* fine, then coarse, then columns */
        { 4, { { 6, 12, true }, { 6, 12, true }, { 8, 8, false }, { 12, 6, true } }, true },                     /* every other phase transposed */
        { 4, { { 1, SIDE, true }, { SIDE, 1, false }, { SIDE, 1, true }, { 1, SIDE, true } }, false },           /* rows and columns */
        { 6, { { SIDE, SIDE, true }, { 8, 8, true }, { SIDE, SIDE, false }, { SIDE, SIDE, true }, { 8, 8, true }, { SIDE, SIDE, false } }, false },     /* the same again */
        { 3, { { 2, 2, true }, { SIDE, SIDE, false }, { 5, 7, true } }, true },                                  /* 576 producers of one reader */
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) check_tiled(device, &all[i]);
    device_close(device);
}

/* ---- does the oracle itself see a missing edge? ---- */

static void a_dropped_edge_is_seen(void **state)
{
    (void)state;
    struct hbg_device *device = device_open("cpu:workers=1", NULL);
    const struct graph_taste taste = { .op_min = 30, .op_max = 60, .window_bytes = 300, .buffers = 1, .intermediates = 1 };
    struct random_graph graph;
    struct plan plan;
    struct edges edges;
    uint64_t needed, extra, seen = 0;
    random_graph_draw(&graph, 5, &taste);
    graph_resolve(&plan, &graph);
    graph_edges(device, &plan, &edges);
    assert_int_equal(plan_missing(&plan, &edges, false, &needed, &extra), 0);
    for (uint64_t i = 0; i < edges.count; i++) {            /* each edge replaced by its neighbour in turn */
        struct edge kept = edges.edge[i];
        edges.edge[i] = edges.edge[i ? i - 1 : 1];
        if (edges.edge[i].consumer <= kept.consumer) seen += plan_missing(&plan, &edges, false, &needed, &extra) > 0;
        edges.edge[i] = kept;
    }
    assert_true(seen > edges.count / 4);
    edges_free(&edges);
    plan_free(&plan);
    random_graph_free(&graph);
    device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_histories), cmocka_unit_test(long_histories), cmocka_unit_test(histories_with_scopes), cmocka_unit_test(wide_histories), cmocka_unit_test(histories_where_generations_wrap),
        cmocka_unit_test(tiles_change_their_size), cmocka_unit_test(a_dropped_edge_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
