/* SPDX-License-Identifier: Apache-2.0 */
/* hazard_grid.h - the grid of a storage: which cells a view touches, and which it covers.
 *
 * The axes are those of the parent view (the boundary argument or the intermediate as it was made; for a device buffer, the
 * first region of it that was used): strides descending, each as long as the axis inside it or longer. A view is a *box*
 * when it is an interval of units along every axis. Of anything else each run is taken apart into boxes, if that is not much
 * more work than to visit the cells of its hull, all of them as touched in part.
 *
 * Bytes of the storage that lie before the grid, behind it or in gaps between its units have one more cell, the *outside*, which
 * no view covers. So who covers a cell has touched exactly its bytes.
 */
#ifndef HBG_GRAPH_HAZARD_GRID_H
#define HBG_GRAPH_HAZARD_GRID_H

#include "graph/hazard_map.h"

struct hbg__box { int64_t lo[5], count[5]; };

enum {
    HBG__SPAN_OF_HULL_MAX = 1024,       /* cells beyond which a view that is no box goes to the wide list */
    HBG__SPAN_RUNS_MAX = 4096           /* runs beyond which a view is not taken apart */
};

/* Cells [lo, hi) are touched along each axis; of these [full_lo, full_hi) are covered along that axis. */
struct hbg__span {
    uint32_t lo[5], hi[5], full_lo[5], full_hi[5];
    uint64_t cells;
    bool box;
    bool outside;                       /* of a hull: and the outside */
    const struct hbg__view *runs;       /* not NULL: what its runs touch, run by run; borrowed */
};

/* The bytes [lower, upper) of a storage. */
struct hbg__reach { int64_t lower, upper; };

static inline struct hbg__reach hbg__storage_reach(const struct hbg__storage *s) { return (struct hbg__reach){ s->lower, (int64_t)s->size_bytes }; }

/* The axes for a view of this layout with element 0 at `off`; for a parent of unknown extent they reach over all bytes. */
void hbg__grid_axes(struct hbg__grid *grid, int rank, const int64_t *shape, const int64_t *stride, int64_t element_bytes,
                    int64_t off, struct hbg__reach all, bool extent_known);
/* One axis of bytes. */
void hbg__grid_byte_axis(struct hbg__grid *grid, struct hbg__reach all);
/* Let the outermost axis of a grid reach over all bytes; its cells stay where they are, with others before and behind them. */
void hbg__grid_extend(struct hbg__grid *grid, struct hbg__reach all);

bool hbg__grid_box(const struct hbg__grid *grid, const struct hbg__view *view, struct hbg__box *box);
/* Are there bytes between the units of axis a and of those inside of it? */
bool hbg__grid_has_gaps(const struct hbg__grid *grid, int a);
bool hbg__grid_box_is_all(const struct hbg__grid *grid, const struct hbg__box *box);
/* hazard_span.c */
void hbg__grid_span(const struct hbg__grid *grid, const struct hbg__view *view, struct hbg__span *span);

/* Make cells of this size, one of which begins where the box does; they are made larger until there are no more than 2^22. */
void hbg__grid_set_cells(struct hbg__grid *grid, const int64_t *cell, const struct hbg__box *box);

/* All bytes of one cell; of the outside, whose index is grid->total, all bytes of the storage. */
void hbg__grid_cell_view(const struct hbg__grid *grid, struct hbg__reach all, uint32_t index, struct hbg__view *view);

/* Call visit(context, first cell index in the grid, cells in a row, covered) for the cells of a span, row by row; stops on false.
   Within a row, cells [covered_lo, covered_hi) are covered. A cell that several runs touch may be visited for each. */
typedef bool hbg__row_fn(void *context, uint32_t first, uint32_t count, uint32_t covered_lo, uint32_t covered_hi);
bool hbg__grid_rows(const struct hbg__grid *grid, const struct hbg__span *span, hbg__row_fn *visit, void *context);

static inline struct hbg__grid *hbg__grid_at(const struct hbg_graph *g, uint32_t index)
{
    return (struct hbg__grid *)(void *)g->grid_arena.origin + index;
}

#endif /* HBG_GRAPH_HAZARD_GRID_H */
