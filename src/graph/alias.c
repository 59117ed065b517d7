/* SPDX-License-Identifier: Apache-2.0 */
/* alias.c - which arguments of a body share storage: those whose bytes, from the first to the last, overlap in one storage of the
 * build around, directly or through others; or that lie in one storage in which distances may change. What touches no byte shares none.
 */
#include "graph/body.h"
#include "graph/canonical_view.h"

/* by storage and first byte */
static bool comes_before(const struct hbg__alias *a, const struct hbg__alias *b)
{
    return a->home != b->home ? a->home < b->home : a->lo < b->lo;
}

/* Shell sort: nothing is allocated. */
static void sort(struct hbg__alias *alias, uint32_t count)
{
    static const uint32_t gaps[] = { 7000, 1750, 701, 301, 132, 57, 23, 10, 4, 1 };
    for (size_t k = 0; k < sizeof gaps / sizeof gaps[0]; k++) {
        uint32_t gap = gaps[k];
        for (uint32_t i = gap; i < count; i++) {
            struct hbg__alias moved = alias[i];
            uint32_t at = i;
            for (; at >= gap && comes_before(&moved, &alias[at - gap]); at -= gap) alias[at] = alias[at - gap];
            alias[at] = moved;
        }
    }
}

/* Every region that touches bytes, as a range of its home; the others get a group of their own at once. False: latched. */
static bool collect(struct hbg_graph *g, const struct hbg_arg *arg, uint32_t count, uint32_t *ranges)
{
    struct hbg__bodies *b = g->bodies;
    *ranges = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct hbg_region *r = &arg[i].u.region;
        int64_t lo, hi;
        b->arg[i] = (struct hbg__boundary_arg){ .arg = arg[i], .group = UINT32_MAX };
        if (arg[i].kind >= HBG_ARG_SCALAR) continue;
        const struct hbg__storage *s = hbg__storage_of(g, r, (int)i);
        if (!s) return false;
        if (hbg_dtype_size(r->dtype) <= 0 || r->rank > HBG_RANK_MAX ||
            !hbg__view_bounds(r->offset_bytes + s->displacement, hbg_dtype_size(r->dtype), r->rank, r->shape, r->stride_bytes, &lo, &hi)) {
            hbg__graph_fail(g, HBG_E_REGION, (int)i, "", "argument %u is no view: its type, rank or shape is out of range", i);
            return false;
        }
        b->storage[i] = hbg__storage_index(g, s);
        if (lo < hi) b->alias[(*ranges)++] = (struct hbg__alias){ s->home, i, lo, hi };
        else b->arg[i].group = i;
    }
    return true;
}

/* Each row of ranges that overlap gets the lowest position in it as its number; displacements count from its first byte. */
static void join_rows(struct hbg_graph *g, uint32_t ranges)
{
    struct hbg__bodies *b = g->bodies;
    b->unknown = false;
    for (uint32_t i = 1; i < ranges; i++)
        b->unknown = b->unknown || (b->alias[i].home == b->alias[i - 1].home && g->storages[b->alias[i].home].flags & HBG__STORAGE_WHOLES);
    for (uint32_t first = 0, next; first < ranges; first = next) {
        int64_t hi = b->alias[first].hi;
        bool wholes = g->storages[b->alias[first].home].flags & HBG__STORAGE_WHOLES;    /* distances say nothing there */
        uint32_t number = b->alias[first].arg;
        for (next = first + 1; next < ranges && b->alias[next].home == b->alias[first].home && (b->alias[next].lo < hi || wholes); next++) {
            if (b->alias[next].hi > hi) hi = b->alias[next].hi;
            if (b->alias[next].arg < number) number = b->alias[next].arg;
        }
        for (uint32_t k = first; k < next; k++) {
            struct hbg__boundary_arg *a = &b->arg[b->alias[k].arg];
            const struct hbg__storage *s = &g->storages[b->storage[b->alias[k].arg]];
            a->group = number;
            a->displacement = a->arg.u.region.offset_bytes + s->displacement - b->alias[first].lo;
        }
        b->group[number].size_bytes = (uint64_t)(hi - b->alias[first].lo);      /* moved to its place below */
    }
}

/* Number the groups in the order of positions. */
static uint32_t number_groups(struct hbg_graph *g, uint32_t count)
{
    struct hbg__bodies *b = g->bodies;
    uint32_t groups = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct hbg__boundary_arg *a = &b->arg[i];
        if (a->group == UINT32_MAX) continue;
        if (a->group != i) {            /* of an earlier position, which has its number by now */
            a->group = b->arg[a->group].group;
            continue;
        }
        struct hbg__boundary_group group = { .size_bytes = b->group[i].size_bytes };
        group.of_buffer = hbg__storage_handle(g, &g->storages[b->storage[i]], &group.buffer_handle);
        a->group = groups;
        b->group[groups++] = group;
    }
    return groups;
}

bool hbg__alias_groups(struct hbg_graph *g, const struct hbg_arg *arg, uint32_t count, uint32_t *group_count)
{
    struct hbg__bodies *b = g->bodies;
    uint32_t ranges;
    if (!hbg__graph_reserve(g, (void **)&b->arg, &b->arg_capacity, count, sizeof *b->arg) ||
        !hbg__graph_reserve(g, (void **)&b->group, &b->group_capacity, count, sizeof *b->group) ||
        !hbg__graph_reserve(g, (void **)&b->alias, &b->alias_capacity, count, sizeof *b->alias) ||
        !hbg__graph_reserve(g, (void **)&b->storage, &b->storage_capacity, count, sizeof *b->storage)) return false;
    for (uint32_t i = 0; i < count; i++) b->group[i].size_bytes = 0;
    if (!collect(g, arg, count, &ranges)) return false;
    sort(b->alias, ranges);
    join_rows(g, ranges);
    *group_count = number_groups(g, count);
    return true;
}
