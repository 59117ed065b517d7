/* SPDX-License-Identifier: Apache-2.0 */
/* hazard_note.c - see hazard_map.h: accesses are entered under the task's mark, once its producers are known; and the pool behind it. */
#include <string.h>

#include "graph/hazard_grid.h"
#include "graph/hazard_parts.h"

/* ---- the pool ------------------------------------------------------------------------------------------------- */

/* 0: no memory, latched */
static uint32_t pool_take(struct hbg_graph *g, size_t bytes)
{
    uint32_t at = g->pool_top, units = (uint32_t)((bytes + HBG__POOL_UNIT - 1) / HBG__POOL_UNIT);
    if ((uint64_t)at + units >= HBG__CHAIN || !hbg__arena_fit(&g->pool_arena, 0, ((size_t)at + units) * HBG__POOL_UNIT)) {
        hbg__graph_fail_memory(g, "hazard map");
        return 0;
    }
    g->pool_top += units;
    g->pool_limit = (uint32_t)(g->pool_arena.above / HBG__POOL_UNIT < HBG__CHAIN ? g->pool_arena.above / HBG__POOL_UNIT : HBG__CHAIN);
    return at;
}

uint32_t hbg__view_add(struct hbg_graph *g, const struct hbg__view *view)
{
    uint32_t at = pool_take(g, sizeof *view);
    if (at) memcpy(g->pool_arena.origin + (size_t)at * HBG__POOL_UNIT, view, sizeof *view);
    return at;
}

bool hbg__part_add(struct hbg_graph *g, uint32_t *list, uint32_t view, uint32_t writer, uint32_t readers)
{
    uint32_t at = pool_take(g, sizeof(struct hbg__part));
    if (!at) return false;
    *hbg__part_at(g, at) = (struct hbg__part){ view, *list, writer, readers };
    *list = at;
    return true;
}

bool hbg__reader_enter(struct hbg_graph *g, uint32_t *chain, uint32_t mark)
{
    if (hbg__reader_add(g, chain, mark)) return true;
    if (!pool_take(g, HBG__POOL_UNIT)) return false;
    g->pool_top--;                      /* there is room now */
    return hbg__reader_add(g, chain, mark);
}

bool hbg__view_same(const struct hbg__view *a, const struct hbg__view *b)
{
    if (a->lo != b->lo || a->run != b->run || a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->count[d] != b->count[d] || a->stride[d] != b->stride[d]) return false;
    return true;
}

/* ---- noting --------------------------------------------------------------------------------------------------- */

struct note {
    struct hbg_graph *g;
    uint32_t home, mark, stored;        /* stored: pool index of an equal view; 0: none yet */
    const struct hbg__view *view;
    bool writes;
    uint64_t question;                  /* of this note, for hbg__view_answer() */
    uint32_t looks, lists;              /* at parts, in so many lists */
};

static bool note_cell(struct note *n, struct hbg__cell *cell)
{
    if (!n->writes) return hbg__reader_enter(n->g, &cell->readers, n->mark);
    cell->writer = n->mark;
    cell->readers = cell->parts = 0;
    return true;
}

/* Is every byte of the inner view in the outer one? False when that is not plain to see. */
static bool contains(const struct hbg__grid *grid, const struct hbg__view *outer, const struct hbg__view *inner)
{
    struct hbg__box out, in;
    if (hbg__view_same(outer, inner)) return true;
    if (inner->lo < outer->lo || hbg__view_end(inner) > hbg__view_end(outer)) return false;
    if (outer->rank == 0) return true;
    if (!grid || !hbg__grid_box(grid, outer, &out) || !hbg__grid_box(grid, inner, &in)) return false;
    for (int a = 0; a < grid->axes; a++)
        if (in.lo[a] < out.lo[a] || in.lo[a] + in.count[a] > out.lo[a] + out.count[a]) return false;
    return true;
}

/* Likewise, asked once for each view. */
static bool covers(const struct note *n, const struct hbg__grid *grid, const struct hbg__part *part)
{
    struct hbg__view_answer *known = hbg__view_answer(n->g, part->view);
    if (known->view == part->view && known->question == n->question) return known->answer;
    bool answer = contains(grid, n->view, hbg__part_view(n->g, part));
    *known = (struct hbg__view_answer){ part->view, n->question, answer };
    return answer;
}

static bool enter_part(struct note *n, uint32_t index)
{
    uint32_t readers = hbg__part_at(n->g, index)->readers;
    if (n->writes) {
        hbg__part_at(n->g, index)->writer = n->mark;
        readers = 0;
    } else if (!hbg__reader_enter(n->g, &readers, n->mark)) {
        return false;
    }
    hbg__part_at(n->g, index)->readers = readers;
    return true;
}

/* Take the parts that a write covers out of a list, and enter the access in the part of just this view. *full: it was not
   entered, since it is a read of yet another view in a long list. */
static bool note_part(struct note *n, uint32_t *list, bool *full)
{
    struct hbg_graph *g = n->g;
    uint32_t grid_index = g->storages[n->home].grid, length = 0, own = 0;
    struct hbg__grid *grid = grid_index ? hbg__grid_at(g, grid_index) : NULL;
    for (uint32_t *link = list; *link && !(own && !n->writes); length++) {
        struct hbg__part *part = hbg__part_at(g, *link);
        if (own == 0 && (part->view == n->stored || hbg__view_same(hbg__part_view(g, part), n->view))) {
            n->stored = part->view;
            own = *link;
        } else if (n->writes && covers(n, grid, part)) {
            *link = part->next;
            continue;
        }
        link = &part->next;
    }
    n->looks += length;
    n->lists++;
    if (grid && length > HBG__USUAL_WORK) grid->excess += length;
    if (own) return enter_part(n, own);
    *full = !n->writes && length >= HBG__USUAL_WORK;
    if (*full) return true;
    if (n->stored == 0 && (n->stored = hbg__view_add(g, n->view)) == 0) return false;
    return hbg__part_add(g, list, n->stored, n->writes ? n->mark : 0, n->writes ? 0 : n->mark);
}

static bool note_row(void *context, uint32_t first, uint32_t count, uint32_t covered_lo, uint32_t covered_hi)
{
    struct note *n = context;
    struct hbg__storage *s = &n->g->storages[n->home];
    for (uint32_t i = 0; i < count; i++) {
        struct hbg__cell *cell = hbg__cell_open(n->g, s, s->cell_base + first + i);
        uint32_t parts = cell->parts;
        bool covered = i >= covered_lo && i < covered_hi, full = false;
        if (!covered) {
            if (!note_part(n, &parts, &full)) return false;
            cell->parts = parts;
        }
        if (n->writes) hbg__cell_written(s, s->cell_base + first + i, n->mark);
        if ((covered || full) && !note_cell(n, cell)) return false;     /* full: as if it had read the whole cell */
    }
    return true;
}

/* Should the grid change, for this box, or, where its cells have long lists, for one run of another view? */
static void ask_for_regrid(struct note *n, const struct hbg__span *span, bool first_write)
{
    struct hbg_graph *g = n->g;
    struct hbg__grid *grid = hbg__grid_at(g, g->storages[n->home].grid);
    bool gives_way = span->box && n->writes && first_write && grid->by_read;
    if (n->writes && span->box) grid->by_read = gives_way;      /* hazard_regrid.c takes it back */
    bool runs = span->runs && n->looks > 16 * n->lists;
    if (!(span->box || runs) || !(gives_way || grid->excess > grid->threshold) || g->regrid_home != HBG__NIL) return;
    g->regrid_home = n->home;
    g->regrid_view = *n->view;
    g->regrid_of_run = runs;
    if (runs) g->regrid_view.rank = 0;
}

/* Have the searches become long? The more cells there are to empty, the longer. */
static void ask_for_fold(struct note *n)
{
    struct hbg_graph *g = n->g;
    struct hbg__storage *s = &g->storages[n->home];
    uint64_t cells = s->touched_hi > s->touched_lo ? s->touched_hi - s->touched_lo : 0;
    if (n->looks > HBG__USUAL_SEARCH) s->search_excess += n->looks - HBG__USUAL_SEARCH;
    if (++s->part_count < HBG__FOLD_PARTS || s->search_excess < HBG__LONG_SEARCH + cells || g->regrid_home != HBG__NIL) return;
    s->flags |= HBG__STORAGE_LONG;
    g->regrid_home = n->home;
}

static bool note_view(struct note *n, bool first_write)
{
    struct hbg_graph *g = n->g;
    struct hbg__storage *s = &g->storages[n->home];
    struct hbg__span span;
    uint32_t wide = s->wide;
    bool in_cells = false, full = false;
    if (s->grid) {
        hbg__grid_span(hbg__grid_at(g, s->grid), n->view, &span);
        in_cells = span.box || span.runs || span.cells <= HBG__SPAN_OF_HULL_MAX;
    }
    if (in_cells) {
        if (!hbg__grid_rows(hbg__grid_at(g, s->grid), &span, note_row, n)) return false;
        ask_for_regrid(n, &span, first_write);
        return true;
    }
    if (!note_part(n, &wide, &full)) return false;
    if (full) return hbg__reader_enter(g, &g->storages[n->home].readers, n->mark);     /* as if it had read all */
    g->storages[n->home].wide = wide;
    hbg__storage_set_irregular(&g->storages[n->home], g->storages[n->home].irregular | HBG__IRREGULAR_WIDE);
    return true;
}

static bool note_whole(struct note *n)
{
    struct hbg_graph *g = n->g;
    struct hbg__storage *s = &g->storages[n->home];
    if (!n->writes) return hbg__reader_enter(g, &s->readers, n->mark);
    s->writer = n->mark;
    s->readers = s->wide = s->part_count = 0;
    s->search_excess = 0;
    hbg__storage_set_irregular(s, s->irregular & ~(uint32_t)HBG__IRREGULAR_WIDE);
    if (!s->grid) return true;
    return hbg__hazard_new_generation(g, n->home);
}

bool hbg__hazard_note(struct hbg_graph *g, const struct hbg__access *access, uint32_t mark)
{
    struct note n = { g, access->home, mark, 0, &access->view, access->writes, ++g->question, 0, 0 };
    struct hbg__storage *s = &g->storages[access->home];
    if (access->place == HBG__ACCESS_NONE || hbg__is_unwritten(s)) return true;
    if (access->place == HBG__ACCESS_WHOLE) return note_whole(&n);
    bool first_write = access->writes && s->part_writer == 0;
    if (access->writes) s->part_writer = mark;
    if (access->place == HBG__ACCESS_CELL) {
        if (access->writes) hbg__cell_written(s, access->cell, mark);
        return note_cell(&n, hbg__cell_open(g, s, access->cell));
    }
    if (!note_view(&n, first_write)) return false;
    ask_for_fold(&n);
    return true;
}
