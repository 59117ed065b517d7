/* SPDX-License-Identifier: Apache-2.0 */
/* known.c - the definitions that a build has submitted or met inside of others, found by key and by definition.
 *
 * Up to HBG__FEW_KNOWN are looked through, the newest first, which costs less than a hash. When one more comes all of them enter two tables, and
 * those of one hash are a chain of their own, the newest first likewise: so the order in which definitions of a key are tried is the same.
 * Tables are emptied by their generation and keep their memory.
 */
#include "graph/body.h"

void hbg__known_begin(struct hbg_graph *g)
{
    g->bodies->known_count = 0;
    hbg__map_u64_clear(&g->bodies->by_key);
    hbg__map_u64_clear(&g->bodies->by_definition);
}

void hbg__known_free(struct hbg_graph *g)
{
    struct hbg__bodies *b = g->bodies;
    hbg__free(g->memory, b->known, b->known_capacity * sizeof *b->known, 16);
    hbg__map_u64_free(&b->by_key);
    hbg__map_u64_free(&b->by_definition);
}

/* known[i] into the tables. False: latched. */
static bool enter(struct hbg_graph *g, uint32_t i)
{
    struct hbg__bodies *b = g->bodies;
    const struct hbg__definition *d = b->known[i].definition;
    uint64_t *newest = hbg__map_u64_add(&b->by_key, d->key.hash, NULL);
    uint64_t *index = newest ? hbg__map_u64_add(&b->by_definition, (uintptr_t)d, NULL) : NULL;
    if (!index) {
        hbg__graph_fail_memory(g, "subgraphs");
        return false;
    }
    b->known[i].older = (uint32_t)*newest;
    *newest = *index = i + 1;
    return true;
}

const struct hbg__known *hbg__known_add(struct hbg_graph *g, struct hbg__known known)
{
    struct hbg__bodies *b = g->bodies;
    uint32_t at = b->known_count;
    if (!hbg__graph_reserve(g, (void **)&b->known, &b->known_capacity, at + 1, sizeof *b->known)) return NULL;
    known.older = at;
    b->known[at] = known;
    b->known_count = at + 1;
    if (at < HBG__FEW_KNOWN) return &b->known[at];
    for (uint32_t i = at == HBG__FEW_KNOWN ? 0 : at; i <= at; i++)         /* those before are in the tables, unless this is the first that is not few */
        if (!enter(g, i)) return NULL;
    return &b->known[at];
}

const struct hbg__known *hbg__known_find(const struct hbg__bodies *b, const struct hbg__definition *d)
{
    if (b->known_count > HBG__FEW_KNOWN) {
        const uint64_t *index = hbg__map_u64_find(&b->by_definition, (uintptr_t)d);
        return index ? &b->known[*index - 1] : NULL;
    }
    for (uint32_t i = 0; i < b->known_count; i++)
        if (b->known[i].definition == d) return &b->known[i];
    return NULL;
}

uint32_t hbg__known_newest(const struct hbg__bodies *b, uint64_t hash)
{
    if (b->known_count <= HBG__FEW_KNOWN) return b->known_count;
    const uint64_t *newest = hbg__map_u64_find(&b->by_key, hash);
    return newest ? (uint32_t)*newest : 0;
}
