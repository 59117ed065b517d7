/* SPDX-License-Identifier: Apache-2.0 */
/* hazard_parts.h - the pool behind the hazard map: parts, the nodes that list them, blocks of readers. */
#ifndef HBG_GRAPH_HAZARD_PARTS_H
#define HBG_GRAPH_HAZARD_PARTS_H

#include "graph/hazard_map.h"

/* What covers a cell in part: a node in the cell's list, with a history of its own in each cell. So a tile's whole write ends
   the history there, and what lies beside it in a frame that nobody writes goes on alone. The view is shared. */
struct hbg__part { uint32_t view, next, writer, readers; };

enum { HBG__POOL_UNIT = 16 };
_Static_assert(sizeof(struct hbg__reader_block) == HBG__POOL_UNIT && sizeof(struct hbg__part) == HBG__POOL_UNIT, "one pool unit each");

static inline struct hbg__part *hbg__part_at(const struct hbg_graph *g, uint32_t index)
{
    return (struct hbg__part *)(void *)(g->pool_arena.origin + (size_t)index * HBG__POOL_UNIT);
}

static inline const struct hbg__view *hbg__part_view(const struct hbg_graph *g, const struct hbg__part *part)
{
    return (const struct hbg__view *)(const void *)(g->pool_arena.origin + (size_t)part->view * HBG__POOL_UNIT);
}

/* Where the last answer about a view stands, if it is still there: about the view of that pool index, to that question. */
static inline struct hbg__view_answer *hbg__view_answer(struct hbg_graph *g, uint32_t view)
{
    return &g->answers[view * 2654435761u >> 24];
}

/* A view in the pool: its index; 0: no memory, latched. */
uint32_t hbg__view_add(struct hbg_graph *g, const struct hbg__view *view);

/* Are these the same bytes in the same form? */
bool hbg__view_same(const struct hbg__view *a, const struct hbg__view *b);

/* Add the newest task to a chain of readers, once. False: latched. */
bool hbg__reader_enter(struct hbg_graph *g, uint32_t *chain, uint32_t mark);

/* Put a part at the head of a list. The list must not lie in the pool. False: latched. */
bool hbg__part_add(struct hbg_graph *g, uint32_t *list, uint32_t view, uint32_t writer, uint32_t readers);

#endif /* HBG_GRAPH_HAZARD_PARTS_H */
