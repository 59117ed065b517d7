/* SPDX-License-Identifier: Apache-2.0 */
/* hazard_span.c - which cells of a grid a view touches, and which it covers: see hazard_grid.h.
 *
 * A run [lo, hi) of bytes over nested axes is a few boxes: what is left of its first step along the outermost axis, whole
 * steps, and the begin of its last one, where the first and the last are runs over the inner axes.
 *
 *      axis 1 ->
 *      . . . . h h h h      lo in the first row: head
 *      m m m m m m m m      middle: all of the inner axes
 *      t t . . . . . .      hi in the last row: tail
 */
#include "graph/hazard_grid.h"

static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* ---- boxes ---------------------------------------------------------------------------------------------------- */

static inline void span_of_box(const struct hbg__grid *grid, const struct hbg__box *box, struct hbg__span *span)
{
    span->box = true;
    span->cells = 1;
    for (int a = 0; a < grid->axes; a++) {
        int64_t lo = box->lo[a] + grid->shift[a], hi = lo + box->count[a], cell = grid->cell[a];
        span->lo[a] = (uint32_t)(lo / cell);
        span->hi[a] = (uint32_t)divide_up(hi, cell);
        span->full_lo[a] = box->lo[a] == 0 ? span->lo[a] : (uint32_t)divide_up(lo, cell);
        span->full_hi[a] = box->lo[a] + box->count[a] == grid->extent[a] ? span->hi[a] : (uint32_t)(hi / cell);
        if (span->full_hi[a] < span->full_lo[a]) span->full_hi[a] = span->full_lo[a];
        span->cells *= span->hi[a] - span->lo[a];
    }
}

/* Row by row the cells of a span that is no view's runs. */
static bool visit_rows(const struct hbg__grid *grid, const struct hbg__span *span, hbg__row_fn *visit, void *context)
{
    int last = grid->axes - 1;
    uint32_t at[5];
    for (int a = 0; a < grid->axes; a++) at[a] = span->lo[a];
    for (;;) {
        uint32_t index = 0;
        bool covered = true;
        for (int a = 0; a < last; a++) {
            index = (index + at[a]) * grid->count[a + 1];
            covered = covered && at[a] >= span->full_lo[a] && at[a] < span->full_hi[a];
        }
        uint32_t lo = covered ? span->full_lo[last] - span->lo[last] : 0, hi = covered ? span->full_hi[last] - span->lo[last] : 0;
        if (!visit(context, index + span->lo[last], span->hi[last] - span->lo[last], lo, hi)) return false;
        int a = last - 1;
        for (; a >= 0; a--) {
            if (++at[a] < span->hi[a]) break;
            at[a] = span->lo[a];
        }
        if (a < 0) return true;
    }
}

/* ---- hulls ---------------------------------------------------------------------------------------------------- */

/* All cells whose hull along the axes meets the view's: exact from the outermost axis on until the hull first leaves one step. */
static void span_of_hull(const struct hbg__grid *grid, const struct hbg__view *view, struct hbg__span *span)
{
    int64_t lo = view->lo - grid->origin, hi = hbg__view_end(view) - 1 - grid->origin;
    bool one = true;
    span->box = false;
    span->cells = 1;
    span->outside = lo < 0 || hi >= grid->stride[0] * grid->extent[0] || grid->gaps;
    for (int a = 0; a < grid->axes; a++) {
        int64_t from = 0, to = grid->extent[a] - 1;
        if (one) {
            from = lo < 0 ? 0 : lo / grid->stride[a];
            to = hi < 0 ? 0 : hi / grid->stride[a];
            lo -= from * grid->stride[a];
            hi -= to * grid->stride[a];
            one = from == to;
            if (from >= grid->extent[a]) from = grid->extent[a] - 1;
            if (to >= grid->extent[a]) to = grid->extent[a] - 1;
        }
        span->lo[a] = (uint32_t)((from + grid->shift[a]) / grid->cell[a]);
        span->hi[a] = (uint32_t)((to + grid->shift[a]) / grid->cell[a]) + 1;
        span->full_lo[a] = span->full_hi[a] = span->lo[a];
        span->cells *= span->hi[a] - span->lo[a];
    }
}

/* ---- runs ----------------------------------------------------------------------------------------------------- */

struct walk {
    const struct hbg__grid *grid;
    hbg__row_fn *visit;                 /* NULL: count the cells */
    void *context;
    uint64_t cells;
    uint32_t latest;                    /* the one cell that was visited last, as touched in part; HBG__NIL: others */
    bool outside;
};

/* Where a run has come to: the steps that it lies in along the axes so far. */
struct place {
    uint32_t row;                       /* index of their cell among those along these axes */
    bool whole;                         /* each step is all of its cell */
    struct hbg__box box;
};

static void place_step(const struct hbg__grid *grid, struct place *p, int a, int64_t at)
{
    p->row = p->row * grid->count[a] + (uint32_t)((at + grid->shift[a]) / grid->cell[a]);
    p->whole = p->whole && grid->cell[a] == 1;
    p->box.lo[a] = at;
    p->box.count[a] = 1;
}

/* Cells in a row, of which those in [covered_lo, covered_hi) are covered. One that was just visited is not visited again. */
static bool walk_cells(struct walk *w, uint32_t first, uint32_t count, uint32_t covered_lo, uint32_t covered_hi)
{
    bool one = count == 1 && covered_lo == covered_hi;
    w->cells += count;
    if (!w->visit || (one && first == w->latest)) return true;
    w->latest = one ? first : HBG__NIL;
    return w->visit(w->context, first, count, covered_lo, covered_hi);
}

/* Bytes [lo, hi) along the innermost axis, which begin and end in units first and last of it. */
static bool walk_units(struct walk *w, const struct place *p, int64_t lo, int64_t hi, int64_t first, int64_t last)
{
    const struct hbg__grid *grid = w->grid;
    int a = grid->axes - 1;
    int64_t stride = grid->stride[a], cell = grid->cell[a], shift = grid->shift[a], end = last * stride + grid->unit;
    if (stride > grid->unit && (first < last || hi > end || lo - first * stride >= grid->unit)) w->outside = true;
    int64_t from = (first + shift) / cell, to = (last + shift) / cell;
    uint32_t covered_lo = 0, covered_hi = 0;
    if (p->whole && lo == first * stride && hi >= end) {
        covered_lo = first > 0 && from * cell != first + shift;
        covered_hi = (uint32_t)(to - from) + (last + 1 == grid->extent[a] || (to + 1) * cell == last + 1 + shift);
        if (covered_hi < covered_lo) covered_hi = covered_lo;
    }
    return walk_cells(w, p->row * grid->count[a] + (uint32_t)from, (uint32_t)(to - from) + 1, covered_lo, covered_hi);
}

/* Steps [first, last] of axis a with all that is inside of them. */
static bool walk_steps(struct walk *w, struct place *p, int a, int64_t first, int64_t last)
{
    const struct hbg__grid *grid = w->grid;
    struct hbg__span span;
    if (grid->gaps && hbg__grid_has_gaps(grid, a)) w->outside = true;
    p->box.lo[a] = first;
    p->box.count[a] = last - first + 1;
    for (int inner = a + 1; inner < grid->axes; inner++) {
        p->box.lo[inner] = 0;
        p->box.count[inner] = grid->extent[inner];
    }
    span_of_box(grid, &p->box, &span);
    w->cells += span.cells;
    w->latest = HBG__NIL;
    return !w->visit || visit_rows(grid, &span, w->visit, w->context);
}

/* Bytes [lo, hi) of one step of the axes before axis a. */
static bool walk_run(struct walk *w, const struct place *before, int a, int64_t lo, int64_t hi)
{
    const struct hbg__grid *grid = w->grid;
    int64_t stride = grid->stride[a], end = grid->extent[a] * stride;
    if (hi > end) w->outside = true;
    if (lo >= end) return true;
    if (hi > end) hi = end;
    int64_t first = lo / stride, last = hi - first * stride <= stride ? first : (hi - 1) / stride;
    if (a == grid->axes - 1) return walk_units(w, before, lo, hi, first, last);
    struct place p = *before;
    place_step(grid, &p, a, first);
    if (first == last) return walk_run(w, &p, a + 1, lo - first * stride, hi - first * stride);
    if (lo > first * stride) {
        if (!walk_run(w, &p, a + 1, lo - first * stride, stride)) return false;
        first++;
    }
    if (hi < (last + 1) * stride) {
        p = *before;
        place_step(grid, &p, a, last);
        if (!walk_run(w, &p, a + 1, 0, hi - last * stride)) return false;
        last--;
    }
    return first > last || walk_steps(w, &p, a, first, last);
}

/* One run, from the grid's origin. */
static bool walk_bytes(struct walk *w, int64_t lo, int64_t hi)
{
    const struct place all = { .whole = true };
    if (lo < 0) w->outside = true;
    if (hi <= 0) return true;
    return walk_run(w, &all, 0, lo < 0 ? 0 : lo, hi);
}

/* How many units along each axis a stride is; false: it leads between units. */
static bool steps_of(const struct hbg__grid *grid, int64_t stride, int64_t *step)
{
    for (int a = 0; a < grid->axes; a++) {
        step[a] = stride / grid->stride[a];
        stride -= step[a] * grid->stride[a];
    }
    return stride == 0;
}

/* Of the runs from `lo` on that are `step` apart, how many lie in one unit each and in the same cell? 0: not the first. *index:
   that cell. */
static int64_t runs_in_cell(const struct hbg__grid *grid, const int64_t *step, int64_t lo, int64_t run, uint32_t *index)
{
    int64_t runs = INT64_MAX;
    uint32_t row = 0;
    if (lo < 0) return 0;
    for (int a = 0; a < grid->axes; a++) {
        int64_t at = lo / grid->stride[a], cell = grid->cell[a], number = (at + grid->shift[a]) / cell;
        if (at >= grid->extent[a]) return 0;
        lo -= at * grid->stride[a];
        row = row * grid->count[a] + (uint32_t)number;
        if (step[a] == 0) continue;
        int64_t left = (number + 1) * cell - grid->shift[a] - at, inside = grid->extent[a] - at;
        if (inside < left) left = inside;
        int64_t here = step[a] == 1 ? left : (left - 1) / step[a] + 1;
        if (here < runs) runs = here;
    }
    *index = row;
    return lo + run <= grid->unit ? runs : 0;
}

/* Runs within a single axis without gaps that are whole cells apart, none of which touches an end of it: all lie in their cells as
   the first one does. */
static bool walk_alike(struct walk *w, int64_t lo, int64_t run, int64_t count, int64_t stride)
{
    const struct hbg__grid *grid = w->grid;
    int64_t cell = grid->cell[0] * grid->unit, from = lo + grid->shift[0] * grid->unit, first = from / cell, last = (from + run - 1) / cell;
    uint32_t cells = (uint32_t)(last - first) + 1, covered_lo = first * cell != from, covered_hi = cells - ((last + 1) * cell != from + run);
    if (covered_hi < covered_lo) covered_hi = covered_lo;
    for (int64_t i = 0; i < count; i++, first += stride / cell)
        if (!walk_cells(w, (uint32_t)first, cells, covered_lo, covered_hi)) return false;
    return true;
}

static bool are_alike(const struct hbg__grid *grid, int64_t lo, int64_t run, int64_t count, int64_t stride)
{
    return grid->axes == 1 && grid->stride[0] == grid->unit && lo > 0 && stride % (grid->cell[0] * grid->unit) == 0 &&
           lo + (count - 1) * stride + run < grid->extent[0] * grid->unit;
}

/* Is a cell one unit? */
static bool cells_are_units(const struct hbg__grid *grid)
{
    bool one = true;
    for (int a = 0; a < grid->axes; a++) one = one && grid->cell[a] == 1;
    return one;
}

/* The runs along the innermost dimension of a view. One unit after the other along all axes, such as a diagonal: each cell once. */
static bool walk_dimension(struct walk *w, int64_t lo, int64_t run, int64_t count, int64_t stride)
{
    int64_t step[5];
    if (are_alike(w->grid, lo, run, count, stride)) return walk_alike(w, lo, run, count, stride);
    bool regular = run <= w->grid->unit && steps_of(w->grid, stride, step), covered = run == w->grid->unit && cells_are_units(w->grid);
    for (int64_t i = 0, runs; i < count; i += runs, lo += runs * stride) {
        uint32_t index;
        runs = regular ? runs_in_cell(w->grid, step, lo, run, &index) : 0;
        if (!(runs ? walk_cells(w, index, 1, 0, covered) : walk_bytes(w, lo, lo + run))) return false;
        if (!runs) runs = 1;
    }
    return true;
}

static bool walk_view(struct walk *w, const struct hbg__view *view)
{
    int64_t at[HBG__VIEW_RANK_MAX] = { 0 }, lo = view->lo - w->grid->origin;
    int inner = view->rank - 1;
    if (inner < 0) return walk_bytes(w, lo, lo + view->run);
    for (;;) {
        int d = inner - 1;
        if (!walk_dimension(w, lo, view->run, view->count[inner], view->stride[inner])) return false;
        for (; d >= 0; d--) {
            lo += view->stride[d];
            if (++at[d] < view->count[d]) break;
            lo -= at[d] * view->stride[d];
            at[d] = 0;
        }
        if (d < 0) return true;
    }
}

/* Worth it when the hull has more than a few cells, and the runs do not touch many times as many. */
static bool runs_are_better(const struct hbg__grid *grid, const struct hbg__view *view, struct hbg__span *span)
{
    struct walk first = { .grid = grid };
    uint64_t runs = 1, most = span->cells > HBG__SPAN_RUNS_MAX / 2 ? HBG__SPAN_RUNS_MAX : 2 * span->cells;
    if (span->outside && most < 64) most = 64;
    for (int d = 0; d < view->rank; d++) {
        if (view->count[d] > HBG__SPAN_RUNS_MAX) return false;
        runs *= (uint64_t)view->count[d];
        if (runs > most) return false;
    }
    if (!walk_bytes(&first, view->lo - grid->origin, view->lo - grid->origin + view->run)) return false;
    if (runs * (first.cells + 1) > most) return false;
    span->cells = runs * (first.cells + 1);
    return true;
}

/* ---- views ---------------------------------------------------------------------------------------------------- */

void hbg__grid_span(const struct hbg__grid *grid, const struct hbg__view *view, struct hbg__span *span)
{
    struct hbg__box box;
    span->outside = false;
    span->runs = NULL;
    if (hbg__grid_box(grid, view, &box)) {
        span_of_box(grid, &box, span);
        return;
    }
    span_of_hull(grid, view, span);
    if ((span->cells >= 4 || span->outside) && runs_are_better(grid, view, span)) span->runs = view;
}

bool hbg__grid_rows(const struct hbg__grid *grid, const struct hbg__span *span, hbg__row_fn *visit, void *context)
{
    struct walk w = { grid, visit, context, 0, HBG__NIL, span->outside };
    if (span->runs) {
        w.outside = false;
        if (!walk_view(&w, span->runs)) return false;
    } else if (!visit_rows(grid, span, visit, context)) {
        return false;
    }
    return !w.outside || visit(context, grid->total, 1, 0, 0);
}
