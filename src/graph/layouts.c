/* SPDX-License-Identifier: Apache-2.0 */
/* layouts.c - layouts stand in the image once each; arguments name them by payload offset. */
#include "graph/graph.h"
#include "base/hash.h"

enum { LAYOUT_UNITS = sizeof(struct hbg_layout) / 8 };

static uint64_t hash_layout(const struct hbg_layout *l) { return hbg__hash_bytes(l, sizeof *l, 0); }

static bool is_contiguous(const struct hbg_layout *l)
{
    int64_t expected = l->element_bytes;
    for (int d = l->rank - 1; d >= 0; d--) {
        if (l->shape[d] != 1 && l->stride_bytes[d] != expected) return false;
        expected *= l->shape[d];
    }
    return true;
}

/* The offset of an equal layout, or a new one; 0: latched. Different layouts of one hash probe on by one. */
static uint32_t intern(struct hbg_graph *g, const struct hbg_layout *layout)
{
    bool added;
    for (uint64_t key = hash_layout(layout);; key++) {
        uint64_t *offset = hbg__map_u64_add(&g->layout_map, key, &added);
        uint32_t at;
        if (!offset) { hbg__graph_fail_memory(g, "layouts"); return 0; }
        if (added) {
            if (!hbg__payload_insert(g, LAYOUT_UNITS, &at)) { hbg__map_u64_remove(&g->layout_map, key); return 0; }
            memcpy(g->payload + (size_t)at * 8, layout, sizeof *layout);
            *offset = at;
            return at;
        }
        if (memcmp(hbg__layout_at(g, (uint32_t)*offset), layout, sizeof *layout) == 0) return (uint32_t)*offset;
    }
}

/* Where a layout of these looks was kept, if it was used lately. */
static uint32_t *recent(struct hbg_graph *g, const struct hbg_region *region)
{
    uint64_t looks = hbg__region_type(region);
    for (int d = 0; d < region->rank; d++) looks = looks * 31 + (uint64_t)region->shape[d] * 5 + (uint64_t)region->stride_bytes[d];
    return &g->recent_layouts[hbg__hash_u64(looks) % HBG__RECENT_LAYOUTS];
}

uint32_t hbg__layout_of_region(struct hbg_graph *g, const struct hbg_region *region)
{
    uint32_t *kept = recent(g, region);
    if (*kept && hbg__layout_is(hbg__layout_at(g, *kept), region)) return *kept;
    struct hbg_layout l = { .dtype = (int16_t)region->dtype, .rank = region->rank, .element_bytes = (uint32_t)hbg_dtype_size(region->dtype), .count = 1 };
    for (int d = 0; d < region->rank; d++) {
        l.shape[d] = region->shape[d];
        l.stride_bytes[d] = region->stride_bytes[d];
        l.count *= region->shape[d];
    }
    l.contiguous = is_contiguous(&l);
    return *kept = intern(g, &l);
}

uint32_t hbg__layout_of_scalar(struct hbg_graph *g, int dtype)
{
    struct hbg_layout l = { .dtype = (int16_t)dtype, .contiguous = 1, .element_bytes = (uint32_t)hbg_dtype_size(dtype), .count = 1 };
    uint32_t layout = intern(g, &l);
    if (dtype >= 0 && dtype <= HBG_F64) g->scalar_layouts[dtype] = layout;
    return layout;
}
