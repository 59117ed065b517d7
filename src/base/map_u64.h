/* SPDX-License-Identifier: Apache-2.0 */
/* map_u64.h - a hash table from 64-bit keys to 64-bit values, open addressing with linear probing.
 *
 * Each entry carries the generation it was written in; an entry of another generation is empty. So clearing is one increment
 * whatever the size; when the 32-bit generation would wrap, the entries are zeroed once and it starts at 1 again. At most
 * three entries in four are taken. Any key is allowed. Not for concurrent use.
 */
#ifndef HBG_BASE_MAP_U64_H
#define HBG_BASE_MAP_U64_H

#include "base/alloc.h"

struct hbg__map_u64_entry { uint64_t key, value; uint32_t generation, unused; };

struct hbg__map_u64 {
    struct hbg__memory *memory;         /* borrowed until free */
    struct hbg__map_u64_entry *entry;   /* capacity of them, a power of two; NULL at first */
    size_t capacity, count;
    uint32_t generation;                /* never 0 */
};

void hbg__map_u64_init(struct hbg__map_u64 *map, struct hbg__memory *memory);
void hbg__map_u64_free(struct hbg__map_u64 *map);

/* The value, borrowed until the next add, remove or free; NULL when absent. */
uint64_t *hbg__map_u64_find(const struct hbg__map_u64 *map, uint64_t key);

/* The value of key, 0 and *added = true when it is new; borrowed likewise. added may be NULL. NULL: no memory, map unchanged. */
uint64_t *hbg__map_u64_add(struct hbg__map_u64 *map, uint64_t key, bool *added) HBG_MUST_CHECK;

/* False: it was absent. */
bool hbg__map_u64_remove(struct hbg__map_u64 *map, uint64_t key);

/* Empties the map in constant time; the memory stays. */
void hbg__map_u64_clear(struct hbg__map_u64 *map);

#endif /* HBG_BASE_MAP_U64_H */
