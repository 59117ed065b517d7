/* SPDX-License-Identifier: Apache-2.0 */
/* hazard_map.c - see hazard_map.h: collecting producers, joins and folds. Finding the cells is hazard_classify.c, entering accesses
 * hazard_note.c.
 *
 * Everything here gathers into g->gathered first, stamped unique, and hands the result to the task's producers at the end:
 * directly, or as one noop when there are many.
 */
#include "graph/append.h"
#include "graph/hazard_grid.h"
#include "graph/hazard_parts.h"
#include "graph/region_overlap.h"

static uint32_t newer(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* ---- gathering ------------------------------------------------------------------------------------------------ */

void hbg__gather_begin(struct hbg_graph *g)
{
    g->gathered_count = 0;
    if (++g->stamp == 0) {              /* 2^32 gatherings: every stamp is stale once, then clear */
        memset(g->stamp_arena.origin, 0, g->stamp_arena.above);
        g->stamp = 1;
    }
}

bool hbg__gather(struct hbg_graph *g, uint32_t mark)
{
    uint32_t *stamps = (uint32_t *)(void *)g->stamp_arena.origin;
    if (mark == 0 || stamps[mark - 1] == g->stamp) return true;
    stamps[mark - 1] = g->stamp;
    if (!hbg__graph_reserve(g, (void **)&g->gathered, &g->gathered_capacity, g->gathered_count + 1, sizeof *g->gathered)) return false;
    g->gathered[g->gathered_count++] = mark;
    return true;
}

static bool is_noop(const struct hbg_graph *g, uint32_t mark)
{
    return hbg__image_record(g->payload, mark - 1)->flags & HBG__TASK_NOOP;
}

/* All readers of a chain newer than `after`. *newest becomes the newest that is sure to come after the last writer it saw: a
   noop stands for readers of different ages and is not. */
static bool gather_chain(struct hbg_graph *g, uint32_t chain, uint32_t after, uint32_t *newest)
{
    while (chain) {
        struct hbg__reader_block one = { { chain, 0, 0 }, 0 };
        if (chain & HBG__CHAIN) one = *hbg__reader_block_at(g, chain);
        for (int i = 0; i < 3; i++) {
            if (one.mark[i] <= after) continue;
            if (!hbg__gather(g, one.mark[i])) return false;
            if (one.mark[i] > *newest && !is_noop(g, one.mark[i])) *newest = one.mark[i];
        }
        chain = one.next;
    }
    return true;
}

/* Put one noop in place of what was gathered. 0: latched. */
static uint32_t join_gathered(struct hbg_graph *g) { return hbg__append_noop(g, g->gathered, g->gathered_count, 0); }

/* Many whole readers: one noop stands for them, so that each writer of a part does not name them all. It covers the last
   writer as well when no reader is sure to. */
static bool join_whole_readers(struct hbg_graph *g, struct hbg__storage *s)
{
    uint32_t newest = 0, home = hbg__storage_index(g, s);
    if (!(s->readers & HBG__CHAIN) || g->manual) return true;
    hbg__gather_begin(g);
    if (!gather_chain(g, s->readers, 0, &newest)) return false;
    if (g->gathered_count <= HBG__JOIN_ABOVE) return true;
    if (newest < s->writer && !hbg__gather(g, s->writer)) return false;
    uint32_t join = join_gathered(g);
    if (!join) return false;
    g->storages[home].readers = join;
    return true;
}

/* ---- collecting ----------------------------------------------------------------------------------------------- */

struct collect {
    struct hbg_graph *g;
    struct hbg__storage *s;
    const struct hbg__view *view;       /* NULL: all bytes */
    bool writes;
    uint64_t question;                  /* of this access, for hbg__view_answer() */
    uint32_t visited, written;          /* cells looked at; by gather_whole: those of the grid with a writer newer than the storage's */
    const struct hbg__cell *outside;    /* by gather_whole */
    uint32_t looks;                     /* at parts, pair tests included: HBG__TEST_COST */
};

/* Asked once for each view that the access meets, in however many cells it does. */
static bool is_disjoint(struct collect *c, uint32_t own, const struct hbg__view *view)
{
    struct hbg__view_answer *known = hbg__view_answer(c->g, own);
    if (known->view == own && known->question == c->question) return known->answer;
    const struct hbg__view *other = (const struct hbg__view *)(const void *)(c->g->pool_arena.origin + (size_t)own * HBG__POOL_UNIT);
    c->looks += HBG__TEST_COST;
    bool answer = hbg__view_overlap(other, view) == HBG__DISJOINT;
    *known = (struct hbg__view_answer){ own, c->question, answer };
    return answer;
}

/* The parts of a list that share a byte with the view (NULL: all of them). *covering: newest access of just this view. A part
   may be older than its cell's writer, when that is a noop which joined others; only the whole level covers all parts. */
static bool gather_parts(struct collect *c, uint32_t list, const struct hbg__view *view, uint32_t *covering)
{
    uint32_t base = c->s->writer;
    while (list) {
        const struct hbg__part *part = hbg__part_at(c->g, list);
        const struct hbg__view *own = hbg__part_view(c->g, part);
        list = part->next;
        c->looks++;
        if (!c->writes && part->writer <= base) continue;   /* nothing to wait for */
        if (view && is_disjoint(c, part->view, view)) continue;
        uint32_t newest = 0, writer = part->writer;
        bool same = view && hbg__view_same(own, view);
        if (c->writes && !gather_chain(c->g, part->readers, 0, &newest)) return false;
        if (writer > base && writer > newest && !hbg__gather(c->g, writer)) return false;
        if (same) *covering = newer(*covering, newer(newest, writer));
    }
    return true;
}

/* One cell, of which the access touches all (view NULL) or a part. */
static bool gather_cell(struct collect *c, const struct hbg__cell *cell, const struct hbg__view *view)
{
    struct hbg_graph *g = c->g;
    const struct hbg__storage *s = c->s;
    bool used = cell->generation == s->generation;
    uint32_t own = used ? cell->writer : 0, base = newer(own, s->writer), covering = 0;
    c->visited++;
    /* a writer of this cell came after the whole readers before it; a noop that joined writers did not */
    uint32_t seen = own && !is_noop(g, own) ? own : 0;
    if (c->writes && !gather_chain(g, s->readers, seen, &covering)) return false;
    if (c->writes && used && !gather_chain(g, cell->readers, 0, &covering)) return false;
    if (used && !gather_parts(c, cell->parts, view, &covering)) return false;
    return covering > base || hbg__gather(g, base);
}

static bool gather_row(void *context, uint32_t first, uint32_t count, uint32_t covered_lo, uint32_t covered_hi)
{
    struct collect *c = context;
    const struct hbg__cell *cell = hbg__cell_at(c->g, c->s->cell_base + first);
    for (uint32_t i = 0; i < count; i++)
        if (!gather_cell(c, cell + i, i >= covered_lo && i < covered_hi ? NULL : c->view)) return false;
    return true;
}

static bool gather_wide(struct collect *c, const struct hbg__view *view)
{
    uint32_t covering = 0;
    return gather_parts(c, c->s->wide, view, &covering);
}

/* All of one used cell, for an access of the whole storage. */
static bool gather_used_cell(struct collect *c, const struct hbg__cell *cell)
{
    const struct hbg__storage *s = c->s;
    uint32_t reader = 0;
    c->visited++;
    if (cell->generation != s->generation) return true;
    c->written += cell->writer > s->writer && cell != c->outside;
    if (c->writes && !gather_chain(c->g, cell->readers, 0, &reader)) return false;
    if (cell->writer > newer(s->writer, reader) && !hbg__gather(c->g, cell->writer)) return false;
    return gather_parts(c, cell->parts, NULL, &reader);
}

static bool is_among(const uint32_t *items, uint32_t count, uint32_t item)
{
    while (count > 0 && items[count - 1] != item) count--;
    return count > 0;
}

/* Everything since the last whole write; for a read, the writers alone, which are few when only few cells were written. */
static bool gather_whole(struct collect *c)
{
    struct hbg__storage *s = c->s;
    bool few = !c->writes && s->recent_count <= HBG__RECENT_MAX;
    uint32_t newest = 0, total = s->grid ? hbg__grid_at(c->g, s->grid)->total : 0;
    c->outside = hbg__cell_at(c->g, s->cell_base + total);
    if (c->writes && !gather_chain(c->g, s->readers, 0, &newest)) return false;
    for (uint32_t i = 0; few && i < s->recent_count; i++)
        if (!is_among(s->recent, i, s->recent[i]) && !gather_used_cell(c, hbg__cell_at(c->g, s->recent[i]))) return false;
    for (uint32_t i = s->touched_lo; !few && s->grid && i < s->touched_hi; i++)
        if (!gather_used_cell(c, hbg__cell_at(c->g, i))) return false;
    if (!gather_wide(c, NULL)) return false;
    if (s->grid && c->written == total && c->g->gathered_count > 0) return true;
    return newest > s->writer || hbg__gather(c->g, s->writer);
}

/* ---- joins: the noop takes the place of what it has joined, where the access looked --------------------------------- */

/* Parts that the noop covers go: all of what a writer met; what a reader met keeps its readers. */
static void absorb_list(struct collect *c, uint32_t *list, const struct hbg__view *view)
{
    struct hbg_graph *g = c->g;
    for (uint32_t *link = list; *link;) {
        struct hbg__part *part = hbg__part_at(g, *link);
        if (!view || hbg__view_overlap(hbg__part_view(g, part), view) != HBG__DISJOINT) {
            if (c->writes || part->readers == 0) {
                *link = part->next;
                continue;
            }
            part->writer = 0;
        }
        link = &part->next;
    }
}

static void absorb_cell(struct collect *c, struct hbg__cell *cell, const struct hbg__view *view)
{
    if (cell->generation != c->s->generation) return;
    cell->writer = c->g->task_count;    /* the noop's mark: it is the last task so far */
    if (c->writes) cell->readers = 0;
    absorb_list(c, &cell->parts, view);
}

static bool absorb_row(void *context, uint32_t first, uint32_t count, uint32_t covered_lo, uint32_t covered_hi)
{
    struct collect *c = context;
    struct hbg__cell *cell = hbg__cell_at(c->g, c->s->cell_base + first);
    for (uint32_t i = 0; i < count; i++) absorb_cell(c, cell + i, i >= covered_lo && i < covered_hi ? NULL : c->view);
    return true;
}

/* A whole read leaves cells and parts alone: the storage's writer is newer than all of theirs now. A whole write ends them. */
static void absorb(struct collect *c, const struct hbg__access *access, const struct hbg__span *span, uint32_t noop)
{
    if (access->place == HBG__ACCESS_CELL) absorb_cell(c, hbg__cell_at(c->g, access->cell), NULL);
    else if (access->place == HBG__ACCESS_PART && c->s->grid) hbg__grid_rows(hbg__grid_at(c->g, c->s->grid), span, absorb_row, c);
    else if (access->place == HBG__ACCESS_WHOLE && !c->writes) {
        c->s->writer = noop;
        c->s->recent_count = 0;
    }
}

/* Hand over what was gathered: as it is, or as one noop. The begin of a manual scope is itself such a noop, and already has
   its id. */
static bool settle(struct collect *c, const struct hbg__access *access, const struct hbg__span *span)
{
    struct hbg_graph *g = c->g;
    bool long_search = !c->writes && access->place == HBG__ACCESS_WHOLE &&
                       (c->visited > 4 * HBG__JOIN_ABOVE || (c->visited == HBG__RECENT_MAX && c->s->recent_count == HBG__RECENT_MAX));
    if (g->manual || (g->gathered_count <= HBG__JOIN_ABOVE && !(long_search && g->gathered_count > 1))) {
        for (uint32_t i = 0; i < g->gathered_count; i++)
            if (!hbg__producer_add(g, g->gathered[i])) return false;
        return true;
    }
    uint32_t noop = join_gathered(g);
    if (!noop) return false;
    absorb(c, access, span, noop);
    return hbg__producer_add(g, noop);
}

static bool collect_part(struct collect *c, const struct hbg__access *access, struct hbg__span *span)
{
    struct hbg_graph *g = c->g;
    uint32_t newest = 0;
    c->view = &access->view;
    if (c->s->grid) {
        struct hbg__grid *grid = hbg__grid_at(g, c->s->grid);
        hbg__grid_span(grid, c->view, span);
        grid->excess += span->cells > HBG__USUAL_WORK ? span->cells : 0;
        return hbg__grid_rows(grid, span, gather_row, c);
    }
    if (c->writes && !gather_chain(g, c->s->readers, 0, &newest)) return false;
    return newest > c->s->writer || hbg__gather(g, c->s->writer);
}

bool hbg__hazard_collect(struct hbg_graph *g, const struct hbg__access *access)
{
    struct collect c = { g, &g->storages[access->home], NULL, access->writes, ++g->question, 0, 0, NULL, 0 };
    struct hbg__span span = { .box = false };
    bool whole = access->place == HBG__ACCESS_WHOLE;
    if (access->place == HBG__ACCESS_NONE || hbg__is_unwritten(c.s)) return true;
    if (whole && !access->writes && c.s->part_writer <= c.s->writer) return hbg__producer_add(g, c.s->writer);
    if (!whole && access->writes && !join_whole_readers(g, c.s)) return false;
    hbg__gather_begin(g);
    if (whole) return gather_whole(&c) && settle(&c, access, &span);
    if (access->place == HBG__ACCESS_CELL ? !gather_cell(&c, hbg__cell_at(g, access->cell), NULL) : !collect_part(&c, access, &span))
        return false;
    if (c.s->wide && !gather_wide(&c, &access->view)) return false;
    g->looks += c.looks;
    if (HBG_UNLIKELY(c.looks > HBG__USUAL_SEARCH)) c.s->search_excess += c.looks - HBG__USUAL_SEARCH;
    return settle(&c, access, &span);
}

/* ---- the whole history ------------------------------------------------------------------------------------------ */

bool hbg__hazard_gather_all(struct hbg_graph *g, uint32_t home)
{
    struct collect c = { .g = g, .s = &g->storages[home], .writes = true };
    return gather_whole(&c);
}

static bool gather_writers(struct hbg_graph *g, uint32_t home)
{
    struct collect c = { .g = g, .s = &g->storages[home] };
    hbg__gather_begin(g);
    return gather_whole(&c);
}

static uint32_t one_for_gathered(struct hbg_graph *g)
{
    return g->gathered_count == 0 ? 0 : g->gathered_count == 1 ? g->gathered[0] : join_gathered(g);
}

/* The readers' noop comes first and covers the writers that they saw; the writers' noop is newer, so that it counts, too. */
bool hbg__hazard_fold(struct hbg_graph *g, uint32_t home)
{
    hbg__gather_begin(g);
    if (!hbg__hazard_gather_all(g, home)) return false;
    uint32_t readers = g->gathered_count > 0 ? join_gathered(g) : 0;
    if (g->failed || !gather_writers(g, home)) return false;
    uint32_t writer = one_for_gathered(g);
    if (g->failed) return false;
    struct hbg__storage *s = &g->storages[home];
    s->writer = writer;
    s->readers = readers;
    s->wide = s->part_count = 0;
    s->search_excess = 0;
    hbg__storage_set_irregular(s, s->irregular & ~(uint32_t)HBG__IRREGULAR_WIDE);
    return true;
}
