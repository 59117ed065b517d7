/* SPDX-License-Identifier: Apache-2.0 */
/* patterns.c - the patterns of dependence of Task Bench (Slaughter et al., SC20): `steps` rows of `width` points.
 *
 * The task of point i in step t reads what points of step t - 1 have written:
 *
 *     trivial               nothing
 *     no_comm               i
 *     stencil_1d            i - 1, i, i + 1, those that exist
 *     stencil_1d_periodic   the same around a ring
 *     dom                   i - 1 and i; a sweep: point i takes part from step i on, and stops width - 1 - i steps before the end
 *     tree                  i / 2; step t has 2^t points, up to width
 *     fft                   i - 2^k, i, i + 2^k, those that exist; k goes round from 0 up to the last power below width
 *     all_to_all            all
 *     nearest               the `radix` points nearest to i, those that exist
 *     spread                `radix` points spread evenly from i around the ring; all but i move on by one with each step, three times round
 *     random_nearest        each of the points of nearest with probability 1/4, drawn anew with each step, three times round
 *
 * Each task writes a cell of its own, t * width + i, so that every edge of the graph is one of the pattern. Where the definitions leave
 * a period open, it is 3.
 */
#include <stddef.h>

#include "bench/dag/dag.h"

enum { PERIOD = 3 };

/* The points of a step. */
struct row { uint32_t begin, end; };

/* the points of step t that point i reads, which come from `row` of step t - 1 */
typedef void read_fn(struct dag *dag, struct row row, uint32_t t, uint32_t i);

/* reads point j of the step before, where it exists */
static void read_point(struct dag *dag, struct row row, uint32_t t, int64_t j)
{
    if (j >= row.begin && j < row.end) hbg__dag_read(dag, (t - 1) * dag->size.width + (uint32_t)j);
}

/* around the ring; a point that is there twice is read once, since the tasks beside it would otherwise differ in arguments */
static void read_ring(struct dag *dag, struct row row, uint32_t t, int64_t j)
{
    uint32_t width = dag->size.width, cell = (t - 1) * width + (uint32_t)((j % width + width) % width);
    const struct dag_task *task = &dag->task[dag->task_count - 1];
    (void)row;
    for (uint32_t n = 0; n < task->read_count; n++)
        if (dag->read[task->first_read + n] == cell) return;
    hbg__dag_read(dag, cell);
}

static void trivial(struct dag *dag, struct row row, uint32_t t, uint32_t i) { (void)dag, (void)row, (void)t, (void)i; }

static void no_comm(struct dag *dag, struct row row, uint32_t t, uint32_t i) { read_point(dag, row, t, i); }

static void stencil(struct dag *dag, struct row row, uint32_t t, uint32_t i)
{
    for (int64_t j = (int64_t)i - 1; j <= (int64_t)i + 1; j++) read_point(dag, row, t, j);
}

static void stencil_periodic(struct dag *dag, struct row row, uint32_t t, uint32_t i)
{
    for (int64_t j = (int64_t)i - 1; j <= (int64_t)i + 1; j++) read_ring(dag, row, t, j);
}

static void dom(struct dag *dag, struct row row, uint32_t t, uint32_t i)
{
    read_point(dag, row, t, (int64_t)i - 1);
    read_point(dag, row, t, i);
}

static void tree(struct dag *dag, struct row row, uint32_t t, uint32_t i) { read_point(dag, row, t, i / 2); }

/* how many powers of two lie below the width, at least one */
static uint32_t powers_below(uint32_t width)
{
    uint32_t count = 1;
    while (count < 31 && (UINT32_C(1) << count) < width) count++;
    return count;
}

static void fft(struct dag *dag, struct row row, uint32_t t, uint32_t i)
{
    int64_t apart = INT64_C(1) << ((t - 1) % powers_below(dag->size.width));
    for (int64_t j = i - apart; j <= i + apart; j += apart) read_point(dag, row, t, j);
}

static void all_to_all(struct dag *dag, struct row row, uint32_t t, uint32_t i)
{
    (void)i;
    for (uint32_t j = row.begin; j < row.end; j++) read_point(dag, row, t, j);
}

static void nearest(struct dag *dag, struct row row, uint32_t t, uint32_t i)
{
    int64_t begin = (int64_t)i - (dag->size.radix - 1) / 2;
    for (uint32_t n = 0; n < dag->size.radix; n++) read_point(dag, row, t, begin + n);
}

static void spread(struct dag *dag, struct row row, uint32_t t, uint32_t i)
{
    for (uint32_t n = 0; n < dag->size.radix; n++)
        read_ring(dag, row, t, (int64_t)i + (int64_t)n * dag->size.width / dag->size.radix + (n ? t % PERIOD : 0));
}

/* a number that looks drawn, the same for the same three */
static uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = (a * UINT64_C(0x9E3779B97F4A7C15)) ^ (b * UINT64_C(0xC2B2AE3D27D4EB4F)) ^ (c + UINT64_C(0x165667B19E3779F9));
    for (int n = 0; n < 2; n++) x = (x ^ (x >> 31)) * UINT64_C(0xD6E8FEB86659FD93);
    return x ^ (x >> 32);
}

static void random_nearest(struct dag *dag, struct row row, uint32_t t, uint32_t i)
{
    int64_t begin = (int64_t)i - (dag->size.radix - 1) / 2;
    for (uint32_t n = 0; n < dag->size.radix; n++)
        if (mix(i, n, t % PERIOD) % 4 == 0) read_point(dag, row, t, begin + n);
}

/* ---- rows ---- */

typedef struct row row_fn(struct dag_size size, uint32_t t);

static struct row full_row(struct dag_size size, uint32_t t)
{
    (void)t;
    return (struct row){ 0, size.width };
}

static struct row dom_row(struct dag_size size, uint32_t t)
{
    uint32_t last = size.steps > size.width ? size.steps - size.width : 0;     /* the last step in which all take part */
    return (struct row){ t > last ? t - last : 0, t + 1 < size.width ? t + 1 : size.width };
}

static struct row tree_row(struct dag_size size, uint32_t t)
{
    return (struct row){ 0, t < 31 && (UINT32_C(1) << t) < size.width ? UINT32_C(1) << t : size.width };
}

static void fill(struct dag *dag, struct dag_size size, row_fn *points, read_fn *read)
{
    struct row before = { 0, 0 };
    if (size.radix > size.width) size.radix = dag->size.radix = size.width;
    for (uint32_t t = 0; t < size.steps; t++) {
        struct row row = points(size, t);
        for (uint32_t i = row.begin; i < row.end; i++) {
            hbg__dag_add(dag, t * size.width + i, false, DAG_NONE);
            if (t) read(dag, before, t, i);
        }
        before = row;
    }
}

#define PATTERN(name, points, read) static void fill_##name(struct dag *dag, struct dag_size size) { fill(dag, size, points, read); }
PATTERN(trivial, full_row, trivial)
PATTERN(no_comm, full_row, no_comm)
PATTERN(stencil, full_row, stencil)
PATTERN(stencil_periodic, full_row, stencil_periodic)
PATTERN(dom, dom_row, dom)
PATTERN(tree, tree_row, tree)
PATTERN(fft, full_row, fft)
PATTERN(all_to_all, full_row, all_to_all)
PATTERN(nearest, full_row, nearest)
PATTERN(spread, full_row, spread)
PATTERN(random_nearest, full_row, random_nearest)
#undef PATTERN

#define USUAL { 8, 500, 5 }
const struct dag_maker hbg__dag_patterns[] = {
    { "trivial", fill_trivial, USUAL }, { "no_comm", fill_no_comm, USUAL }, { "stencil_1d", fill_stencil, USUAL },
    { "stencil_1d_periodic", fill_stencil_periodic, USUAL }, { "dom", fill_dom, USUAL }, { "tree", fill_tree, USUAL },
    { "fft", fill_fft, USUAL }, { "all_to_all", fill_all_to_all, USUAL }, { "nearest", fill_nearest, USUAL },
    { "spread", fill_spread, USUAL }, { "random_nearest", fill_random_nearest, USUAL }, { NULL, NULL, { 0, 0, 0 } },
};
