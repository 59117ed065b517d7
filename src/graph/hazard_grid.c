/* SPDX-License-Identifier: Apache-2.0 */
/* hazard_grid.c - see hazard_grid.h: arithmetic on axes, boxes and cells; no history here. */
#include "graph/hazard_grid.h"

static const uint64_t cells_max = (uint64_t)1 << 22;

static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* ---- axes ----------------------------------------------------------------------------------------------------- */

void hbg__grid_byte_axis(struct hbg__grid *grid, struct hbg__reach all)
{
    grid->axes = 1;
    grid->origin = all.lower;
    grid->unit = 1;
    grid->stride[0] = 1;
    grid->extent[0] = all.upper > all.lower ? all.upper - all.lower : 1;
    grid->all_is_whole = true;
}

static void insert_axis(struct hbg__grid *grid, int64_t stride, int64_t extent)
{
    int at = grid->axes++;
    for (; at > 0 && grid->stride[at - 1] < stride; at--) {
        grid->stride[at] = grid->stride[at - 1];
        grid->extent[at] = grid->extent[at - 1];
    }
    grid->stride[at] = stride;
    grid->extent[at] = extent;
}

static bool nested(const struct hbg__grid *grid)
{
    for (int a = 1; a < grid->axes; a++)
        if (grid->stride[a - 1] < grid->stride[a] * grid->extent[a]) return false;
    return grid->axes > 0 && grid->stride[grid->axes - 1] >= grid->unit;
}

/* Steps from the first byte to the origin. */
static int64_t steps_before(const struct hbg__grid *grid, int64_t stride, struct hbg__reach all) { return (grid->origin - all.lower) / stride; }

/* Let every axis reach to the next outer one, the outermost to both ends of the storage, and an innermost one fill the gaps: so
   the columns of a matrix have the axes of the matrix. */
static void extend_axes(struct hbg__grid *grid, struct hbg__reach all)
{
    int64_t inner = grid->stride[grid->axes - 1];
    if (inner > grid->unit && inner % grid->unit == 0 && grid->axes < 5) {
        insert_axis(grid, grid->unit, inner / grid->unit);
        grid->origin -= steps_before(grid, grid->unit, all) * grid->unit;
    }
    for (int a = grid->axes - 1; a > 0; a--) grid->extent[a] = grid->stride[a - 1] / grid->stride[a];
    grid->origin -= steps_before(grid, grid->stride[0], all) * grid->stride[0];
    grid->extent[0] = (all.upper - grid->origin) / grid->stride[0];
    if (grid->extent[0] == 0) hbg__grid_byte_axis(grid, all);
}

void hbg__grid_extend(struct hbg__grid *grid, struct hbg__reach all)
{
    struct hbg__box first = { { 0 }, { 0 } };
    int64_t steps = steps_before(grid, grid->stride[0], all), cell[5];
    for (int a = 0; a < grid->axes; a++) {
        cell[a] = grid->cell[a];
        first.lo[a] = cell[a] - grid->shift[a];
    }
    first.lo[0] += steps;
    grid->origin -= steps * grid->stride[0];
    grid->extent[0] = (all.upper - grid->origin) / grid->stride[0];
    grid->all_is_whole = false;
    hbg__grid_set_cells(grid, cell, &first);
}

void hbg__grid_axes(struct hbg__grid *grid, int rank, const int64_t *shape, const int64_t *stride, int64_t element_bytes,
                    int64_t off, struct hbg__reach all, bool extent_known)
{
    grid->axes = 0;
    grid->unit = element_bytes;
    grid->origin = off;
    for (int d = 0; d < rank; d++) {
        if (shape[d] <= 1 || stride[d] == 0) continue;
        if (stride[d] < 0) grid->origin += (shape[d] - 1) * stride[d];
        insert_axis(grid, stride[d] < 0 ? -stride[d] : stride[d], shape[d]);
    }
    if (!nested(grid)) { hbg__grid_byte_axis(grid, all); return; }
    grid->all_is_whole = extent_known;
    if (!extent_known) extend_axes(grid, all);
}

/* ---- boxes ---------------------------------------------------------------------------------------------------- */

/* `units` consecutive steps of axis a, which may run on over whole outer axes where the parent has no gap. */
static bool spread(const struct hbg__grid *grid, struct hbg__box *box, int a, int64_t units)
{
    for (;; a--) {
        if (box->count[a] != 1) return false;
        if (box->lo[a] + units <= grid->extent[a]) { box->count[a] = units; return true; }
        if (a == 0 || box->lo[a] != 0 || units % grid->extent[a] != 0) return false;
        if (grid->stride[a - 1] != grid->stride[a] * grid->extent[a]) return false;
        box->count[a] = grid->extent[a];
        units /= grid->extent[a];
    }
}

bool hbg__grid_box(const struct hbg__grid *grid, const struct hbg__view *view, struct hbg__box *box)
{
    int64_t off = view->lo - grid->origin;
    int last = grid->axes - 1;
    if (off < 0) return false;
    for (int a = 0; a < grid->axes; a++) {
        box->lo[a] = off / grid->stride[a];
        box->count[a] = 1;
        off -= box->lo[a] * grid->stride[a];
        if (box->lo[a] >= grid->extent[a]) return false;
    }
    if (off != 0 || view->run % grid->unit != 0) return false;
    if (view->run != grid->unit && (grid->stride[last] != grid->unit || !spread(grid, box, last, view->run / grid->unit))) return false;
    for (int d = view->rank - 1; d >= 0; d--) {
        int a = last;
        while (a >= 0 && grid->stride[a] != view->stride[d]) a--;
        if (a < 0 || !spread(grid, box, a, view->count[d])) return false;
    }
    return true;
}

bool hbg__grid_box_is_all(const struct hbg__grid *grid, const struct hbg__box *box)
{
    for (int a = 0; a < grid->axes; a++)
        if (box->count[a] != grid->extent[a]) return false;
    return true;
}

/* ---- gaps ----------------------------------------------------------------------------------------------------- */

bool hbg__grid_has_gaps(const struct hbg__grid *grid, int a)
{
    for (; a + 1 < grid->axes; a++)
        if (grid->stride[a] != grid->stride[a + 1] * grid->extent[a + 1]) return true;
    return grid->stride[grid->axes - 1] != grid->unit;
}

/* ---- cells ---------------------------------------------------------------------------------------------------- */

void hbg__grid_set_cells(struct hbg__grid *grid, const int64_t *cell, const struct hbg__box *box)
{
    grid->gaps = hbg__grid_has_gaps(grid, 0);
    for (int a = 0; a < grid->axes; a++) grid->cell[a] = cell[a];
    for (;;) {
        uint64_t total = 1;
        int most = 0;
        for (int a = 0; a < grid->axes; a++) {
            int64_t phase = box->lo[a] % grid->cell[a];
            grid->shift[a] = phase ? grid->cell[a] - phase : 0;
            uint64_t along = (uint64_t)divide_up(grid->extent[a] + grid->shift[a], grid->cell[a]);
            total = along > cells_max || total > cells_max ? cells_max + 1 : total * along;
            grid->count[a] = (uint32_t)(along > UINT32_MAX ? UINT32_MAX : along);
            if (grid->count[a] > grid->count[most]) most = a;
        }
        grid->total = (uint32_t)total;
        if (total <= cells_max) return;
        grid->cell[most] *= 2;
    }
}

void hbg__grid_cell_view(const struct hbg__grid *grid, struct hbg__reach all, uint32_t index, struct hbg__view *view)
{
    int64_t off = grid->origin, shape[5];
    if (index == grid->total) {
        *view = (struct hbg__view){ .lo = all.lower, .run = all.upper - all.lower };
        return;
    }
    for (int a = grid->axes - 1; a >= 0; a--) {
        int64_t lo = (int64_t)(index % grid->count[a]) * grid->cell[a] - grid->shift[a], hi = lo + grid->cell[a];
        index /= grid->count[a];
        lo = lo < 0 ? 0 : lo;
        shape[a] = (hi < grid->extent[a] ? hi : grid->extent[a]) - lo;
        off += lo * grid->stride[a];
    }
    bool touches = hbg__view_canonical(view, off, grid->unit, grid->axes, shape, grid->stride);
    HBG_ASSERT(touches);
}
