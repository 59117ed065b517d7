/* SPDX-License-Identifier: Apache-2.0 */
/* capture.c - what a body that is being recorded uses of the build around it, although it is not in its list.
 *
 * Such a thing gets a place in the base table of its own, and is passed on by this one submission; a later one could not find it, so
 * the definition is used once. Nothing is known of how captured regions and arguments overlap: from the first capture on the tasks of
 * the body follow one another, and the submission accesses all of the captured storage.
 */
#include "graph/append.h"
#include "graph/body.h"
#include "graph/hazard_grid.h"
#include "graph/hazard_map.h"

bool hbg__graph_serialize(struct hbg_graph *g)
{
    if (g->is_serial) return true;
    g->is_serial = true;
    g->short_kernels = 0;
    if (!hbg__gather_leaves(g, 0)) return false;
    if (g->gathered_count == 0) return true;
    uint32_t noop = hbg__append_noop(g, g->gathered, g->gathered_count, 0);
    if (noop) g->barrier = noop;
    return noop != 0;
}

void hbg__graph_looked_into(struct hbg_graph *g)
{
    for (; HBG_UNLIKELY(g->inner_open); g = g->inner)
        if (!g->inner->single) g->inner->single = "it asks the graph around it, or uses that one's data";
}

bool hbg__is_captured(const struct hbg_graph *g, const struct hbg_region *region)
{
    return g->input->body && !(region->flags & (HBG_REGION_BUFFER | HBG_REGION_HOST | HBG_REGION_BAD)) &&
           hbg__storage_numbered(g, region->storage) == HBG__NIL;
}

/* Is it the number of a storage of this build, or of one around it? */
static bool has_storage(const struct hbg_graph *g, uint32_t number)
{
    for (; g; g = g->input->body ? g->input->body->outer : NULL)
        if (hbg__storage_numbered(g, number) != HBG__NIL) return true;
    return false;
}

/* Of a storage of the build around, in buffer_map. */
static uint64_t captured_key(uint32_t index) { return index | (uint64_t)2 << 32; }

/* The entry for this scalar of the build around; NULL: it has none yet. */
static struct hbg__named *find_scalar(const struct hbg_graph *g, uint32_t handle, uint32_t *base)
{
    struct hbg__recording *r = g->recording;
    for (uint32_t i = 0; i < r->named_count; i++) {
        *base = HBG__BASE_BOUNDARY + r->boundary_count + i;
        if (r->named[i].kind == HBG__NAMED_SCALAR && r->named[i].handle == handle) return &r->named[i];
    }
    return NULL;
}

/* What stands for their storage; NULL: latched. */
static struct hbg__storage *add_captured(struct hbg_graph *g, const struct hbg__storage *theirs)
{
    struct hbg_graph *outer = g->input->body->outer;
    uint32_t handle = hbg__storage_index(outer, theirs);
    if (!hbg__name_room(g) || !hbg__graph_serialize(g)) return NULL;
    uint64_t *index = hbg__map_u64_add(&g->buffer_map, captured_key(handle), NULL);
    struct hbg__storage *s = index ? hbg__storage_add(g) : NULL;
    if (!s) { hbg__graph_fail_memory(g, "storages"); return NULL; }
    *index = hbg__storage_index(g, s);
    struct hbg__reach reach = hbg__storage_reach(&outer->storages[theirs->home]);
    s->lower = reach.lower - theirs->displacement;
    s->size_bytes = (uint64_t)(reach.upper - theirs->displacement);
    s->base = hbg__name(g, (struct hbg__named){ .kind = HBG__NAMED_STORAGE, .handle = handle, .lower = s->lower, .size_bytes = (uint64_t)(reach.upper - reach.lower) });
    s->flags = HBG__STORAGE_WHOLES;
    hbg__storage_set_irregular(s, HBG__IRREGULAR_ALWAYS);
    return s;
}

struct hbg__storage *hbg__capture(struct hbg_graph *g, const struct hbg_region *region, int argument, bool *known)
{
    struct hbg_graph *outer = g->input->body->outer;
    *known = has_storage(outer, region->storage);
    if (!*known) return NULL;
    const struct hbg__storage *theirs = hbg__storage_of(outer, region, argument);
    if (!theirs) { (void)hbg__fail_as(g, outer); return NULL; }
    const uint64_t *index = hbg__map_u64_find(&g->buffer_map, captured_key(hbg__storage_index(outer, theirs)));
    if (index) return &g->storages[*index];
    if (!g->single) g->single = "it uses a region that is not in its list";
    return add_captured(g, theirs);
}

bool hbg__capture_scalar(struct hbg_graph *g, const void *boundary, uint32_t index, const struct hbg_args **args, uint32_t *position)
{
    struct hbg_graph *outer = g->input->body->outer;
    uint32_t base;
    if (!hbg__scalar_origin(outer, boundary, index, args, position)) return false;
    if (!g->single) g->single = "it uses a scalar that is not in its list";
    if (*position == HBG__NIL) return true;
    uint32_t handle = HBG__BASE_BOUNDARY + *position;
    if (!find_scalar(g, handle, &base)) {
        if (!hbg__name_room(g)) return false;
        base = hbg__name(g, (struct hbg__named){ .kind = HBG__NAMED_SCALAR, .handle = handle });
    }
    *position = base - HBG__BASE_BOUNDARY;
    return true;
}
