/* SPDX-License-Identifier: Apache-2.0 */
/* hazard_classify.c - what a region is to the map; a storage's grid is made here, at its first partial access. */
#include "graph/hazard_grid.h"
#include "base/plural.h"

static const uint64_t first_threshold = 4096;

/* ---- generations ---------------------------------------------------------------------------------------------- */

bool hbg__hazard_new_generation(struct hbg_graph *g, uint32_t home)
{
    if (hbg__is_unwritten(&g->storages[home])) return true;
    if (++g->generation == HBG__UNWRITTEN) {    /* no cell of any build may look current, and this build's cells cannot be cleared */
        hbg__graph_fail_limit(g, "generations of the hazard map", UINT32_MAX, UINT32_MAX, 1, "a build may make less than 2^32 whole writes; split it");
        return false;
    }
    g->storages[home].generation = g->generation;
    g->storages[home].touched_lo = UINT32_MAX;
    g->storages[home].touched_hi = 0;
    g->storages[home].recent_count = 0;
    return true;
}

/* ---- making a grid ---------------------------------------------------------------------------------------------- */

/* The axes of the storage's parent, else those of the region at hand. They end with the parent when it is all of the storage, and
   go on to the storage's ends when it is one view of several. */
static void axes_of(const struct hbg_graph *g, const struct hbg__storage *s, int64_t off, const struct hbg_region *region,
                    struct hbg__grid *grid)
{
    const struct hbg__storage *parent = &g->storages[s->parent];
    struct hbg__reach reach = hbg__storage_reach(s);
    int64_t lo, hi;
    if (!parent->whole_layout) {
        hbg__grid_axes(grid, region->rank, region->shape, region->stride_bytes, hbg_dtype_size(region->dtype), off, reach, false);
        return;
    }
    const struct hbg_layout *l = hbg__layout_at(g, parent->whole_layout);
    bool all = hbg__view_bounds(parent->displacement, l->element_bytes, l->rank, l->shape, l->stride_bytes, &lo, &hi) &&
               lo == reach.lower && hi == reach.upper;
    hbg__grid_axes(grid, l->rank, l->shape, l->stride_bytes, l->element_bytes, parent->displacement, reach, all);
}

/* The way from an offset to a whole cell, where cells lie along at most two axes. Cells at the near edges may be clipped: it
   begins at the first that is not. See hbg__hazard_fast_cell. */
static void set_fast(struct hbg__storage *s, const struct hbg__grid *grid)
{
    int axes[5], count = 0;
    bool usable = true;
    s->fast_origin = grid->origin;
    for (int a = 0; a < grid->axes; a++)
        if (grid->count[a] > 1) axes[count++] = a;
    s->fast_row = count == 2 ? grid->count[axes[1]] : 1;
    s->fast_cell = s->cell_base;
    for (int i = 0; i < 2; i++) {
        s->fast[i].reciprocal = 0;
        s->fast[i].pitch = 0;
        s->fast_count[i] = 1;
        if (i >= count) continue;
        int a = axes[i];
        uint32_t clipped = grid->shift[a] > 0;
        int64_t pitch = grid->stride[a] * grid->cell[a];
        s->fast[i].pitch = pitch;
        if (pitch > 1) s->fast[i].reciprocal = UINT64_MAX / (uint64_t)pitch + 1;
        s->fast_count[i] = (uint32_t)((grid->extent[a] + grid->shift[a]) / grid->cell[a]) - clipped;
        s->fast_origin += (clipped * grid->cell[a] - grid->shift[a]) * grid->stride[a];
        s->fast_cell += clipped * (i == 0 ? s->fast_row : 1);
        usable = usable && pitch > 1;
    }
    if (count > 2 || !usable) s->fast_count[0] = 0;
}

bool hbg__hazard_lay_cells(struct hbg_graph *g, uint32_t home, struct hbg__grid *grid)
{
    if (g->cell_top >= UINT32_MAX - grid->total ||
        !hbg__arena_fit(&g->cell_arena, 0, ((size_t)g->cell_top + grid->total + 1) * sizeof(struct hbg__cell))) {
        hbg__graph_fail_memory(g, "hazard map");
        return false;
    }
    struct hbg__storage *s = &g->storages[home];
    s->cell_base = g->cell_top;
    s->cell_layout = 0;
    s->cell_type = HBG__NO_TYPE;
    g->cell_top += grid->total + 1;     /* the last is the outside */
    grid->excess = 0;
    set_fast(s, grid);
    return hbg__hazard_new_generation(g, home);
}

static bool make_grid(struct hbg_graph *g, uint32_t home, struct hbg__grid *grid, const struct hbg__box *box, bool by_read)
{
    if (!hbg__arena_fit(&g->grid_arena, 0, ((size_t)g->grid_count + 2) * sizeof *grid)) {
        hbg__graph_fail_memory(g, "hazard map");
        return false;
    }
    grid->threshold = first_threshold;
    grid->by_read = by_read;
    hbg__grid_set_cells(grid, box->count, box);
    if (!hbg__hazard_lay_cells(g, home, grid)) return false;
    uint32_t index = ++g->grid_count;   /* 0 is none */
    *hbg__grid_at(g, index) = *grid;
    g->storages[home].grid = index;
    return true;
}

/* Remember the layout of a whole cell, so that the next one is found without any of this. */
static void learn_cell_layout(struct hbg_graph *g, uint32_t home, int64_t off, const struct hbg_region *region,
                              const struct hbg__view *view, const struct hbg__box *box)
{
    struct hbg__storage *s = &g->storages[home];
    const struct hbg__grid *grid = hbg__grid_at(g, s->grid);
    if (s->irregular || view->lo != off || s->fast_count[0] == 0) return;
    for (int a = 0; a < grid->axes; a++)
        if (box->count[a] != grid->cell[a] || (box->lo[a] + grid->shift[a]) % grid->cell[a] != 0) return;
    for (int d = 0; d < region->rank; d++)
        if (region->stride_bytes[d] < 0) return;
    s->cell_layout = hbg__layout_of_region(g, region);
    s->cell_type = hbg__region_type(region);
    for (int d = 0; d < 2; d++) {
        s->cell_shape[d] = region->shape[d];
        s->cell_stride[d] = region->stride_bytes[d];
    }
}

/* ---- classification --------------------------------------------------------------------------------------------- */

/* The cell that the box is, which may be clipped at an end of the grid; HBG__NIL: none. */
static uint32_t one_cell(const struct hbg__grid *grid, const struct hbg__box *box)
{
    uint32_t index = 0;
    for (int a = 0; a < grid->axes; a++) {
        int64_t cell = grid->cell[a], lo = box->lo[a] + grid->shift[a], number = lo / cell, left = (number + 1) * cell - lo - box->count[a];
        if ((number * cell != lo && box->lo[a] != 0) || left < 0 || (left > 0 && box->lo[a] + box->count[a] != grid->extent[a])) return HBG__NIL;
        index = index * grid->count[a] + (uint32_t)number;
    }
    return index;
}

static bool view_of(struct hbg_graph *g, const struct hbg__storage *s, int64_t off, const struct hbg_region *region, int argument,
                    struct hbg__access *access)
{
    int64_t element = hbg_dtype_size(region->dtype), count = 1, lo, hi;
    access->place = HBG__ACCESS_NONE;
    if (element <= 0 || region->rank > HBG_RANK_MAX ||
        !hbg__view_bounds(off, element, region->rank, region->shape, region->stride_bytes, &lo, &hi)) {
        hbg__graph_fail(g, HBG_E_REGION, argument, "", "argument %d is no view: its type, rank or shape is out of range", argument);
        return false;
    }
    bool empty = false;
    for (int d = 0; d < region->rank; d++) {
        empty = empty || region->shape[d] == 0;
        if (!__builtin_mul_overflow(count, region->shape[d], &count)) continue;
        hbg__graph_fail(g, HBG_E_REGION, argument, "", "argument %d has more elements than 63 bits can number", argument);
        return false;
    }
    if (empty) return true;             /* legal anywhere */
    struct hbg__reach reach = hbg__storage_reach(s);
    if (lo < reach.lower || hi > reach.upper) {
        hbg__graph_fail(g, HBG_E_REGION, argument, "", "argument %d reaches bytes [%lld, %lld) of a buffer of %lld byte%s", argument,
                        (long long)(lo - reach.lower), (long long)(hi - reach.lower), (long long)(reach.upper - reach.lower), hbg__s((uint64_t)(reach.upper - reach.lower)));
        return false;
    }
    if (hbg__view_canonical(&access->view, off, element, region->rank, region->shape, region->stride_bytes))
        access->place = HBG__ACCESS_PART;
    return true;
}

/* A view that is no box of the parent, like a column of a vector that is used as a matrix, has axes of its own. */
static bool own_axes(const struct hbg__storage *s, int64_t off, const struct hbg_region *region, struct hbg__grid *axes)
{
    hbg__grid_axes(axes, region->rank, region->shape, region->stride_bytes, hbg_dtype_size(region->dtype), off, hbg__storage_reach(s), false);
    return axes->axes > 1;
}

bool hbg__hazard_look(struct hbg_graph *g, uint32_t home, int64_t off, const struct hbg_region *region, struct hbg__access *access)
{
    const struct hbg__storage *s = &g->storages[home];
    access->home = home;
    access->writes = false;
    if (!view_of(g, s, off, region, -1, access)) return false;
    if (access->place == HBG__ACCESS_PART && (s->flags & HBG__STORAGE_WHOLES || hbg__view_covers(&access->view, s->lower, (int64_t)s->size_bytes)))
        access->place = HBG__ACCESS_WHOLE;
    return true;
}

bool hbg__hazard_classify(struct hbg_graph *g, uint32_t home, int64_t off, const struct hbg_region *region, int argument,
                          struct hbg__access *access)
{
    struct hbg__storage *s = &g->storages[home];
    struct hbg__grid axes;
    struct hbg__box box;
    access->home = home;
    if (!view_of(g, s, off, region, argument, access)) return false;
    if (access->place == HBG__ACCESS_NONE) return true;
    if (s->flags & HBG__STORAGE_WHOLES || hbg__view_covers(&access->view, s->lower, (int64_t)s->size_bytes)) { access->place = HBG__ACCESS_WHOLE; return true; }
    if (s->grid) axes = *hbg__grid_at(g, s->grid);
    else axes_of(g, s, off, region, &axes);
    bool is_box = hbg__grid_box(&axes, &access->view, &box);
    if (!is_box && !s->grid && own_axes(s, off, region, &axes)) is_box = hbg__grid_box(&axes, &access->view, &box);
    if (is_box && axes.all_is_whole && !(s->flags & HBG__STORAGE_SHARED) && hbg__grid_box_is_all(&axes, &box)) {
        access->place = HBG__ACCESS_WHOLE;
        return true;
    }
    if (!is_box) return true;
    if (!s->grid && !make_grid(g, home, &axes, &box, !access->writes)) return false;
    s = &g->storages[home];
    uint32_t cell = one_cell(hbg__grid_at(g, s->grid), &box);
    if (cell == HBG__NIL) return true;
    access->place = HBG__ACCESS_CELL;
    access->cell = s->cell_base + cell;
    if (!s->cell_layout) learn_cell_layout(g, home, off, region, &access->view, &box);
    return !g->failed;
}
