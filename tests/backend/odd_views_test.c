/* SPDX-License-Identifier: Apache-2.0 */
/* odd_views_test.c - views that fit no grid, many different ones: every conflicting pair is ordered, and what a submit looks at does not
 * grow with the number of tasks before it.
 *
 * Nothing is executed. The bytes of each view are enumerated, and every pair of tasks is compared with the closure of the edges.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "base/rng.h"
#include "graph/graph.h"
#include "graph/hazard_stats.h"
#include "run/device.h"
#include "run/run.h"
#include "support/devices.h"
#include "support/program.h"
#include "support/raw_view.h"

enum { SMALL = 1 << 12, LARGE = 1 << 20, WORDS = SMALL / 64 };

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, "in u8"), HBG_KERNEL(1, nothing, "inout u8") };

/* ---- patterns: an access of a vector of `size` bytes ---- */

typedef struct hbg_region pattern_fn(struct hbg_region x, int64_t size, int64_t i, struct hbg__rng *rng);

static int64_t below(struct hbg__rng *rng, int64_t n) { return (int64_t)hbg__rng_below(rng, (uint64_t)n); }

static int64_t side_of(int64_t size)
{
    int64_t side = 1;
    while (4 * side * side <= size) side *= 2;
    return side;
}

static struct hbg_region square(struct hbg_region x, int64_t size)
{
    int64_t side = side_of(size);
    return hbg_reshape(hbg_slice(x, 0, 0, side * side), HBG_SHAPE(side, side));
}

static struct hbg_region diagonal(struct hbg_region m, int64_t k)
{
    int64_t i = k < 0 ? -k : 0, j = k < 0 ? 0 : k, length = m.shape[0] - i < m.shape[1] - j ? m.shape[0] - i : m.shape[1] - j;
    struct hbg_region d = hbg_index(hbg_slice(hbg_slice(m, 0, i, i + length), 1, j, j + length), 1, 0);
    d.stride_bytes[0] = m.stride_bytes[0] + m.stride_bytes[1];
    return d;
}

static struct hbg_region diagonals(struct hbg_region x, int64_t size, int64_t i, struct hbg__rng *rng)
{
    int64_t n = side_of(size);
    (void)i;
    return diagonal(square(x, size), below(rng, 2 * n - 2) - n + 1);
}

static struct hbg_region tiles_and_diagonals(struct hbg_region x, int64_t size, int64_t i, struct hbg__rng *rng)
{
    int64_t n = side_of(size), tile = n / 16;
    if (i % 2) return diagonals(x, size, i, rng);
    return hbg_cell(square(x, size), HBG_SHAPE(tile, tile), HBG_SHAPE(below(rng, 16), below(rng, 16)));
}

static struct hbg_region columns_and_diagonals(struct hbg_region x, int64_t size, int64_t i, struct hbg__rng *rng)
{
    int64_t k = below(rng, side_of(size));
    return i % 2 ? diagonals(x, size, i, rng) : hbg_slice(square(x, size), 1, k, k + 1);
}

static struct hbg_region rows_and_columns(struct hbg_region x, int64_t size, int64_t i, struct hbg__rng *rng)
{
    int64_t k = below(rng, side_of(size));
    return hbg_slice(square(x, size), (int)(i % 2), k, k + 1);
}

static struct hbg_region two_reshapes(struct hbg_region x, int64_t size, int64_t i, struct hbg__rng *rng)
{
    int64_t unit = side_of(size / 63), rows = (i % 2 ? 7 : 9) * unit, columns = (i % 2 ? 9 : 7) * unit, tile = unit / 2;
    struct hbg_region m = hbg_reshape(hbg_slice(x, 0, 0, rows * columns), HBG_SHAPE(rows, columns));
    return hbg_cell(m, HBG_SHAPE(tile, tile), HBG_SHAPE(below(rng, rows / tile), below(rng, columns / tile)));
}

static struct hbg_region boxes_of_rank_5(struct hbg_region x, int64_t size, int64_t i, struct hbg__rng *rng)
{
    int64_t n = size == LARGE ? 16 : 5;
    struct hbg_region m = hbg_reshape(hbg_slice(x, 0, 0, n * n * n * n * n), HBG_SHAPE(n, n, n, n, n));
    (void)i;
    for (int d = 0; d < 5; d++) {
        int64_t length = 1 + below(rng, n / 2), lo = below(rng, n + 1 - length);
        m = hbg_slice(m, d, lo, lo + length);
    }
    return m;
}

static struct hbg_region odd_strides(struct hbg_region x, int64_t size, int64_t i, struct hbg__rng *rng)
{
    int64_t most = size == LARGE ? 100 : 20, stride = 1 + below(rng, most), count = 1 + below(rng, most);
    struct hbg_region r = hbg_slice(x, 0, below(rng, size - stride * count), size);
    (void)i;
    r.shape[0] = count;
    r.stride_bytes[0] = stride;
    return r;
}

static struct hbg_region interleaved(struct hbg_region x, int64_t size, int64_t i, struct hbg__rng *rng)
{
    int64_t length = size / 32, t = i % length, k = below(rng, 2);
    struct hbg_region cache = hbg_index(hbg_slice(hbg_reshape(x, HBG_SHAPE(length, 2, 2, 8)), 1, k, k + 1), 1, 0);
    return i % 3 ? hbg_slice(hbg_slice(cache, 0, 0, t + 1), 1, i % 3 - 1, i % 3) : hbg_slice(cache, 0, t, t + 1);
}

struct pattern { const char *name; pattern_fn *access; int writes_in_100; };
static const struct pattern patterns[] = {
    { "diagonals", diagonals, 50 }, { "tiles and diagonals", tiles_and_diagonals, 50 }, { "columns and diagonals", columns_and_diagonals, 50 },
    { "rows and columns", rows_and_columns, 100 }, { "tiles of two reshapes", two_reshapes, 60 }, { "boxes of rank 5", boxes_of_rank_5, 50 },
    { "odd strides", odd_strides, 50 }, { "an interleaved cache", interleaved, 33 },
};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

/* ---- graphs of one pattern ---- */

struct task { uint32_t id; bool writes; uint64_t bytes[WORDS]; };
struct params { const struct pattern *pattern; int64_t size, tasks; uint64_t seed; struct task *task; };     /* task: NULL without an oracle */

static void mark_bytes(struct task *task, const struct hbg_region *x, int64_t origin)
{
    uint8_t bytes[SMALL] = { 0 };
    struct raw_view view = { .offset = x->offset_bytes - origin, .element = 1, .rank = x->rank };
    memcpy(view.shape, x->shape, sizeof view.shape);
    memcpy(view.stride, x->stride_bytes, sizeof view.stride);
    if (!raw_view_mark(&view, bytes, SMALL)) abort();
    memset(task->bytes, 0, sizeof task->bytes);
    for (int i = 0; i < SMALL; i++) task->bytes[i / 64] |= (uint64_t)bytes[i] << i % 64;
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct params *p = params;
    struct hbg_region x = hbg_args_region(args, 0);
    struct hbg__rng rng;
    hbg__rng_seed(&rng, p->seed);
    for (int64_t i = 0; i < p->tasks; i++) {
        bool writes = below(&rng, 100) < p->pattern->writes_in_100;
        struct hbg_region view = p->pattern->access(x, p->size, i, &rng);
        struct hbg_task task = hbg_submit(g, writes, writes ? hbg_inout(view) : hbg_in(view));
        if (!p->task) continue;
        p->task[i].id = task.id;
        p->task[i].writes = writes;
        mark_bytes(&p->task[i], &view, x.offset_bytes);
    }
}

static void edges_of(struct hbg_device *device, struct params p, struct edges *edges)
{
    static uint8_t bytes[LARGE];
    struct hbg_program *program = PROGRAM_WITH(device, build, kernels, p);
    program_edges(program, HBG_ARGS(hbg_inout(hbg_host(bytes, HBG_U8, HBG_SHAPE(p.size)))), edges);
    hbg_program_destroy(program);
}

static bool conflict(const struct task *a, const struct task *b)
{
    if (!a->writes && !b->writes) return false;
    for (int w = 0; w < WORDS; w++) if (a->bytes[w] & b->bytes[w]) return true;
    return false;
}

static void check_order(struct hbg_device *device, const struct pattern *pattern, uint64_t seed)
{
    struct params p = { pattern, SMALL, 800, seed, NULL };
    struct edges edges;
    struct closure closure;
    uint64_t needed = 0, ordered = 0;
    p.task = calloc((size_t)p.tasks, sizeof *p.task);
    assert_non_null(p.task);
    edges_of(device, p, &edges);
    closure_of_edges(&closure, &edges, false);
    for (int64_t b = 0; b < p.tasks; b++)
        for (int64_t a = 0; a < b; a++) {
            bool before = closure_before(&closure, p.task[a].id, p.task[b].id), needs = conflict(&p.task[a], &p.task[b]);
            ordered += before;
            if (!needs) continue;
            needed++;
            if (!before) fail_msg("%s, seed %" PRIu64 ": task %d must come before task %d", pattern->name, seed, (int)a, (int)b);
        }
    print_message("%s: %" PRIu64 " edges, %u noops, %" PRIu64 " conflicting pairs, %" PRIu64 " ordered ones\n", pattern->name, edges.count, edges.noop_count,
                  needed, ordered);
    closure_free(&closure);
    edges_free(&edges);
    free(p.task);
}

static void conflicts_are_ordered(void **state)
{
    struct hbg_device *device = device_open("null:workers=1", NULL);
    (void)state;
    for (int i = 0; i < PATTERNS; i++)
        for (int round = 0; round < test_scaled(2); round++) check_order(device, &patterns[i], test_seed(100) + (uint64_t)round);
    device_close(device);
}

static uint64_t looks_a_task(struct hbg_device *device, struct params p)
{
    struct hbg__hazard_stats stats;
    struct edges edges;
    edges_of(device, p, &edges);
    edges_free(&edges);
    const struct hbg_graph *g = device->run[0].graph;
    assert_true(hbg__hazard_stats(g, g->serial, &stats));
    return stats.looks / (uint64_t)p.tasks;
}

static void searches_stay_short(void **state)
{
    struct hbg_device *device = device_open("null:workers=1", NULL);
    (void)state;
    for (int i = 0; i < PATTERNS; i++) {
        uint64_t few = looks_a_task(device, (struct params){ &patterns[i], LARGE, 1000, 7, NULL });
        uint64_t many = looks_a_task(device, (struct params){ &patterns[i], LARGE, 10000, 7, NULL });
        print_message("%s: %" PRIu64 " looks a task of 1,000 and %" PRIu64 " of 10,000\n", patterns[i].name, few, many);
        assert_in_range(many, 0, 8000);
    }
    device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(conflicts_are_ordered), cmocka_unit_test(searches_stay_short) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
