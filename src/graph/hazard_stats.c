/* SPDX-License-Identifier: Apache-2.0 */
/* hazard_stats.c - how much the hazard map holds: entries of the current generations alone. */
#include "graph/hazard_parts.h"
#include "graph/hazard_stats.h"

static uint64_t used_cells(const struct hbg_graph *g, const struct hbg__storage *s)
{
    uint64_t used = 0;
    for (uint32_t i = s->touched_lo; i < s->touched_hi; i++) used += hbg__cell_at(g, i)->generation == s->generation;
    return used;
}

bool hbg__hazard_stats(const struct hbg_graph *g, uint32_t serial, struct hbg__hazard_stats *stats)
{
    *stats = (struct hbg__hazard_stats){ 0 };
    if (!g || serial == 0 || g->build_serial != serial) return false;
    stats->storages = g->storage_count;
    stats->cells = g->cell_top;
    stats->looks = g->looks;
    stats->list_bytes = (uint64_t)(g->pool_top - 1) * HBG__POOL_UNIT;
    for (uint32_t i = 0; i < g->storage_count; i++) {
        if (!g->storages[i].grid) continue;
        stats->grids++;
        stats->cells_used += used_cells(g, &g->storages[i]);
    }
    return true;
}
