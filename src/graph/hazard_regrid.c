/* SPDX-License-Identifier: Apache-2.0 */
/* hazard_regrid.c - another grid for a storage, with the history carried over: cells of another size, or more of them when the
 * build names the buffer of which arguments are parts.
 *
 * Every used cell becomes a part with the view of the cell, and every part is listed in the new cells that its view touches;
 * they share its readers, so that later ones may appear in several: more order, never less. A new cell's first whole write
 * ends them. When that would be more work than the storage has cells, the history is folded into
 * two noops instead: see hazard_map.h.
 */
#include "graph/hazard_grid.h"
#include "graph/hazard_parts.h"

static const uint64_t nodes_max = 1 << 16;

/* Cells for accesses of `box` units where those of `cell` units were before. When the two are far apart, both are likely to
   go on, and the middle costs each the square root of what the other's cells would cost it. For views of many runs always
   the middle, since they touch more cells the smaller these are. */
static int64_t new_cell(int64_t cell, int64_t box, bool is_run)
{
    int64_t small = cell < box ? cell : box, large = cell < box ? box : cell;
    int doublings = 63 - __builtin_clzll((unsigned long long)(large / small));
    if (is_run) doublings++;
    return is_run || doublings > 4 ? small << doublings / 2 : box;
}

static bool same_cells(const struct hbg__grid *a, const struct hbg__grid *b)
{
    for (int i = 0; i < a->axes; i++)
        if (a->cell[i] != b->cell[i] || a->shift[i] != b->shift[i]) return false;
    return true;
}

/* One more part to carry, in g->gathered. False: latched. */
static bool carry(struct hbg_graph *g, uint32_t part)
{
    if (!hbg__graph_reserve(g, (void **)&g->gathered, &g->gathered_capacity, g->gathered_count + 1, sizeof *g->gathered)) return false;
    g->gathered[g->gathered_count++] = part;
    return true;
}

/* A cell's own history becomes a part; its readers go with it. */
static bool carry_cell(struct hbg_graph *g, const struct hbg__grid *grid, struct hbg__reach all, uint32_t index, const struct hbg__cell *cell)
{
    struct hbg__view bytes;
    uint32_t part = 0;
    if (!(cell->writer | cell->readers)) return true;
    hbg__grid_cell_view(grid, all, index, &bytes);
    uint32_t view = hbg__view_add(g, &bytes);
    return view && hbg__part_add(g, &part, view, cell->writer, cell->readers) && carry(g, part);
}

static bool carry_all(struct hbg_graph *g, uint32_t home)
{
    const struct hbg__storage *s = &g->storages[home];
    const struct hbg__grid *grid = hbg__grid_at(g, s->grid);
    g->gathered_count = 0;
    for (uint32_t i = s->touched_lo; i < s->touched_hi; i++) {
        struct hbg__cell cell = *hbg__cell_at(g, i);
        if (cell.generation != s->generation) continue;
        if (!carry_cell(g, grid, hbg__storage_reach(s), i - s->cell_base, &cell)) return false;
        for (uint32_t part = cell.parts; part; part = hbg__part_at(g, part)->next)
            if (!carry(g, part)) return false;
    }
    return true;
}

/* Nodes that the carried parts need in the new grid; more than nodes_max: too many. */
static uint64_t nodes_needed(const struct hbg_graph *g, const struct hbg__grid *grid)
{
    uint64_t nodes = 0;
    for (uint32_t i = 0; i < g->gathered_count && nodes <= nodes_max; i++) {
        struct hbg__span span;
        hbg__grid_span(grid, hbg__part_view(g, hbg__part_at(g, g->gathered[i])), &span);
        if (!span.box && !span.runs && span.cells > HBG__SPAN_OF_HULL_MAX) return nodes_max + 1;
        nodes += span.cells;
    }
    return nodes;
}

struct enter { struct hbg_graph *g; uint32_t home; struct hbg__part part; };

static bool enter_row(void *context, uint32_t first, uint32_t count, uint32_t covered_lo, uint32_t covered_hi)
{
    struct enter *e = context;
    struct hbg__storage *s = &e->g->storages[e->home];
    (void)covered_lo;
    (void)covered_hi;
    for (uint32_t i = 0; i < count; i++) {
        struct hbg__cell *cell = hbg__cell_open(e->g, s, s->cell_base + first + i);
        if (!hbg__part_add(e->g, &cell->parts, e->part.view, e->part.writer, e->part.readers)) return false;
        hbg__cell_written(s, s->cell_base + first + i, s->part_writer);
    }
    return true;
}

static bool enter_all(struct hbg_graph *g, uint32_t home)
{
    const struct hbg__grid *grid = hbg__grid_at(g, g->storages[home].grid);
    for (uint32_t i = 0; i < g->gathered_count; i++) {
        struct enter e = { g, home, *hbg__part_at(g, g->gathered[i]) };
        struct hbg__view view = *hbg__part_view(g, &e.part);        /* the pool may move */
        struct hbg__span span;
        hbg__grid_span(grid, &view, &span);
        if (!hbg__grid_rows(grid, &span, enter_row, &e)) return false;
    }
    return true;
}

/* Lay the cells of this grid over the storage in place of those that it has. */
static bool change_to(struct hbg_graph *g, uint32_t home, struct hbg__grid *grid)
{
    if (!carry_all(g, home)) return false;
    bool carried = nodes_needed(g, grid) <= nodes_max;
    if (!carried && !hbg__hazard_fold(g, home)) return false;
    if (!hbg__hazard_lay_cells(g, home, grid)) return false;
    *hbg__grid_at(g, g->storages[home].grid) = *grid;
    return !carried || enter_all(g, home);
}

/* The cells that the access at hand asks for. False: those that are there. */
static bool cells_for_access(struct hbg_graph *g, struct hbg__grid *old, struct hbg__grid *grid)
{
    struct hbg__box box;
    int64_t cell[5];
    bool gives_way = old->by_read;
    old->excess = 0;
    old->by_read = false;
    if (!hbg__grid_box(old, &g->regrid_view, &box)) return false;
    for (int a = 0; a < grid->axes; a++) cell[a] = gives_way ? box.count[a] : new_cell(grid->cell[a], box.count[a], g->regrid_of_run);
    hbg__grid_set_cells(grid, cell, &box);
    if (same_cells(old, grid)) return false;
    grid->by_read = false;
    grid->threshold *= gives_way ? 1 : 4;
    return true;
}

bool hbg__hazard_regrid(struct hbg_graph *g)
{
    uint32_t home = g->regrid_home;
    struct hbg__storage *s = &g->storages[home];
    struct hbg__grid *old = hbg__grid_at(g, s->grid), grid = *old;
    bool grown = s->flags & HBG__STORAGE_GROWN, is_long = s->flags & HBG__STORAGE_LONG;
    g->regrid_home = HBG__NIL;
    s->flags &= ~(uint32_t)(HBG__STORAGE_GROWN | HBG__STORAGE_LONG);
    if (is_long) return hbg__hazard_fold(g, home) && hbg__hazard_new_generation(g, home);
    if (grown) hbg__grid_extend(&grid, hbg__storage_reach(s));
    else if (!cells_for_access(g, old, &grid)) return true;
    return change_to(g, home, &grid);
}
