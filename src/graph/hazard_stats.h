/* SPDX-License-Identifier: Apache-2.0 */
/* hazard_stats.h - how much the hazard map of a finished build holds. */
#ifndef HBG_GRAPH_HAZARD_STATS_H
#define HBG_GRAPH_HAZARD_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct hbg_graph;

struct hbg__hazard_stats {
    uint32_t storages, grids;           /* grids: storages that have cells */
    uint64_t cells, cells_used;         /* laid out, those of grids that were replaced included; in use now */
    uint64_t list_bytes;                /* readers beyond the first, views, parts */
    uint64_t looks;                     /* at parts while producers were collected: hazard_map.h */
};

/* Of the build with this number; false, and nothing is known: the object has begun another one since, or there is none.
   Cost: O(cells). */
bool hbg__hazard_stats(const struct hbg_graph *g, uint32_t serial, struct hbg__hazard_stats *stats);

#endif /* HBG_GRAPH_HAZARD_STATS_H */
