/* SPDX-License-Identifier: Apache-2.0 */
/* hazard_map.h - who wrote and who read which bytes last.
 *
 * Three levels per storage, each a little history {last writer, readers since}:
 *
 *     whole    in struct hbg__storage: accesses of all its bytes. A whole write starts a new generation: every cell is empty.
 *     cells    a directly indexed table of 16-byte cells over a grid. The first partial access suggests the grid: its own box
 *              is a cell. A box that covers cells whole is kept in the cells themselves.
 *     parts    what covers a cell in part, or is no box of the grid, is kept with its full view in a list of each cell that it
 *              touches, and compared by hbg__view_overlap. Equal views share one part. A storage without a grid
 *              keeps parts in its `wide` list.
 *
 *         storage.writer ---------- whole
 *           | cell | cell | cell |  each: generation, writer, readers, parts
 *                     |
 *                     +-> part {view, writer, readers} -> part ...
 *
 * The rule for an access: it comes after the last writer of what it touches and, if it writes, after the readers since. The
 * last writer is left out when a collected reader is newer, since that reader came after it. Marks only grow, so the
 * newer of two whole-covering writers stands for both.
 *
 * Readers: one mark inline, or a chain of blocks of three.
 *
 * Only read. Where all arguments that share bytes are `in`, nobody can write, and no history is kept: a read is checked, and that is all. A build that
 * names the buffer of such an argument could write it: from there on there is a history, and all tasks before are its readers.
 *
 * Joins. An access that would collect more than HBG__JOIN_ABOVE producers in one storage gets one noop instead, and the noop
 * takes the place of what it has joined in the cells that the access touched, so that later accesses share it. It may come
 * after tasks that a later access of such a cell need not wait for: beyond so many producers, order is cheaper than edges.
 *
 * Change of grid. Work beyond some cells per access is counted (a halo touches 27 in three dimensions); when it exceeds a
 * threshold, the grid takes the box of the access at hand, after the submit (hazard_regrid.c), and the threshold grows
 * fourfold. A grid that a read suggested also gives way to the first write, since writes tile a storage and reads overlap.
 * The history is carried over as parts.
 *
 * Folds. Where carrying would be long, and where searches for what shares bytes with an access stay long (parts looked at, pair
 * tests counted many times), all writers so far are joined by one noop and all readers by another, and these two are the new
 * whole level: orders are added there, never lost. So what a submit costs does not grow with the length of the history.
 *
 * Cost: a whole cell is a few loads; a box is one visit a cell; a part is one pair test for each part in its cells.
 */
#ifndef HBG_GRAPH_HAZARD_MAP_H
#define HBG_GRAPH_HAZARD_MAP_H

#include "graph/graph.h"

struct hbg__cell {
    uint32_t generation;                /* of the storage, when this cell was last used */
    uint32_t writer;                    /* mark; 0: none in this generation */
    uint32_t readers;                   /* 0; a mark; or HBG__CHAIN | pool index of a block */
    uint32_t parts;                     /* pool index of a node; 0: none */
};
_Static_assert(sizeof(struct hbg__cell) == 16, "four cells a cache line");

#define HBG__CHAIN 0x80000000u

enum {
    HBG__USUAL_WORK = 32,               /* cells of an access, or parts in a cell, that are no reason for another grid */
    HBG__TEST_COST = 16,                /* a pair test, in looks at a part */
    HBG__USUAL_SEARCH = 1024,           /* of one access, in looks: no reason for a fold */
    HBG__LONG_SEARCH = 1 << 14,         /* looks beyond the usual, of all accesses since the last fold, that are one */
    HBG__FOLD_PARTS = 64                /* parts between two folds at least */
};

struct hbg__grid {
    int32_t axes;                       /* of the parent: sorted by stride, descending, nested */
    uint32_t total;                     /* cells */
    int64_t origin, unit;               /* first byte of the parent; bytes of the innermost unit */
    int64_t stride[5], extent[5], cell[5];
    int64_t shift[5];                   /* the first cell is clipped by so much: tiles need not begin at 0 */
    uint32_t count[5];                  /* cells along an axis: (extent + shift) / cell, rounded up */
    bool gaps;                          /* there are bytes between units */
    bool all_is_whole;                  /* a box of all units is the whole storage, or the whole view that it was given as */
    bool by_read;                       /* suggested by a read, and nothing is written yet */
    uint64_t excess, threshold;         /* work beyond one cell per access */
};

/* Find what the region is to the map (check its bounds, make a grid if there is none). `off` counts from the home's first
   byte. HBG__ACCESS_NONE for an empty region. False: latched. */
bool hbg__hazard_classify(struct hbg_graph *g, uint32_t home, int64_t off, const struct hbg_region *region, int argument,
                          struct hbg__access *access);
/* The same for a read by the build itself, which leaves no trace: no grid, no layout. */
bool hbg__hazard_look(struct hbg_graph *g, uint32_t home, int64_t off, const struct hbg_region *region, struct hbg__access *access);

/* Add the producers of the access to g->producers; may insert noops. False: latched. */
bool hbg__hazard_collect(struct hbg_graph *g, const struct hbg__access *access);

/* Enter the access as made by `mark`. False: latched. */
bool hbg__hazard_note(struct hbg_graph *g, const struct hbg__access *access, uint32_t mark);

/* Everybody who touched any byte of the storage, into g->gathered. False: latched. */
bool hbg__hazard_gather_all(struct hbg_graph *g, uint32_t home);

/* Give the storage the grid that an access has asked for, or fold its history, if one has. Between submits. False: latched. */
bool hbg__hazard_regrid(struct hbg_graph *g);

/* Lay the cells of `grid` over the storage, all empty; the short way is set up. False: latched. */
bool hbg__hazard_lay_cells(struct hbg_graph *g, uint32_t home, struct hbg__grid *grid);

/* Empty all cells of the storage. False: latched. */
bool hbg__hazard_new_generation(struct hbg_graph *g, uint32_t home);

/* Put one noop for the writers and one for the readers in place of the storage's history. False: latched. */
bool hbg__hazard_fold(struct hbg_graph *g, uint32_t home);

/* Begin collecting into g->gathered; then add marks, each kept once. */
void hbg__gather_begin(struct hbg_graph *g);
bool hbg__gather(struct hbg_graph *g, uint32_t mark);

static inline struct hbg__cell *hbg__cell_at(const struct hbg_graph *g, uint32_t index)
{
    return (struct hbg__cell *)(void *)g->cell_arena.origin + index;
}

/* The cell, emptied if it is of another generation. */
static inline struct hbg__cell *hbg__cell_open(struct hbg_graph *g, struct hbg__storage *s, uint32_t index)
{
    struct hbg__cell *cell = hbg__cell_at(g, index);
    if (cell->generation != s->generation) {
        cell->generation = s->generation;
        cell->writer = cell->readers = cell->parts = 0;
        if (index < s->touched_lo) s->touched_lo = index;
        if (index >= s->touched_hi) s->touched_hi = index + 1;
    }
    return cell;
}

/* A cell is written, all of it or a part. The first few are remembered for the next whole read. */
static inline void hbg__cell_written(struct hbg__storage *s, uint32_t index, uint32_t mark)
{
    s->part_writer = mark;
    if (s->recent_count > HBG__RECENT_MAX || (s->recent_count > 0 && s->recent[s->recent_count - 1] == index)) return;
    if (s->recent_count < HBG__RECENT_MAX) s->recent[s->recent_count] = index;
    s->recent_count++;
}

/* ---- readers: the part that submit has inline ------------------------------------------------------------------ */

struct hbg__reader_block { uint32_t mark[3], next; };           /* ascending, filled from mark[0]; next: an older block, or 0 */

static inline struct hbg__reader_block *hbg__reader_block_at(const struct hbg_graph *g, uint32_t chain)
{
    return (struct hbg__reader_block *)(void *)g->pool_arena.origin + (chain & ~HBG__CHAIN);
}

/* Add the newest task to a chain, once. False: the general path has to make room. */
static inline bool hbg__reader_add(struct hbg_graph *g, uint32_t *chain, uint32_t mark)
{
    if (*chain == 0 || *chain == mark) { *chain = mark; return true; }
    if (*chain & HBG__CHAIN) {
        struct hbg__reader_block *block = hbg__reader_block_at(g, *chain);
        uint32_t at = block->mark[1] == 0 ? 1 : 2;
        if (block->mark[at - 1] == mark || block->mark[2] == mark) return true;
        if (block->mark[at] == 0) { block->mark[at] = mark; return true; }
    }
    if (g->pool_top >= g->pool_limit) return false;
    *hbg__reader_block_at(g, g->pool_top) = *chain & HBG__CHAIN ? (struct hbg__reader_block){ { mark, 0, 0 }, *chain }
                                                                : (struct hbg__reader_block){ { *chain, mark, 0 }, 0 };
    *chain = HBG__CHAIN | g->pool_top++;
    return true;
}

/* The whole cell that begins `off` bytes after the first one; false: none does. Two quotients, by multiplication: a reciprocal
   may be one too large for huge offsets, but then something remains and the general way decides. The cells of a single axis
   have a second one of one cell, whose reciprocal is 0. */
static inline bool hbg__hazard_fast_cell(const struct hbg__storage *s, int64_t off, uint32_t *cell)
{
    uint64_t rest = (uint64_t)off;
    uint64_t q0 = (uint64_t)(((unsigned __int128)rest * s->fast[0].reciprocal) >> 64);
    rest -= q0 * (uint64_t)s->fast[0].pitch;
    uint64_t q1 = (uint64_t)(((unsigned __int128)rest * s->fast[1].reciprocal) >> 64);
    *cell = s->fast_cell + (uint32_t)q0 * s->fast_row + (uint32_t)q1;
    return q0 < s->fast_count[0] && q1 < s->fast_count[1] && rest == q1 * (uint64_t)s->fast[1].pitch;
}

#endif /* HBG_GRAPH_HAZARD_MAP_H */
