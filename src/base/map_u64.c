/* SPDX-License-Identifier: Apache-2.0 */
/* map_u64.c - see map_u64.h. */
#include "base/map_u64.h"

#include <string.h>

#include "base/bits.h"
#include "base/hash.h"

enum { FIRST_CAPACITY = 16 };

void hbg__map_u64_init(struct hbg__map_u64 *map, struct hbg__memory *memory)
{
    *map = (struct hbg__map_u64){ .memory = memory, .generation = 1 };
}

void hbg__map_u64_free(struct hbg__map_u64 *map)
{
    hbg__free(map->memory, map->entry, map->capacity * sizeof *map->entry, _Alignof(struct hbg__map_u64_entry));
    hbg__map_u64_init(map, map->memory);
}

static bool taken(const struct hbg__map_u64 *map, size_t i) { return map->entry[i].generation == map->generation; }

/* The entry of key, or the empty one where it would go. Ends because a quarter of the entries is empty. */
static size_t place_of(const struct hbg__map_u64 *map, uint64_t key)
{
    size_t mask = map->capacity - 1, i = (size_t)hbg__hash_u64(key) & mask;
    while (taken(map, i) && map->entry[i].key != key) i = (i + 1) & mask;
    return i;
}

uint64_t *hbg__map_u64_find(const struct hbg__map_u64 *map, uint64_t key)
{
    if (map->count == 0) return NULL;
    size_t i = place_of(map, key);
    return taken(map, i) ? &map->entry[i].value : NULL;
}

static bool grow(struct hbg__map_u64 *map)
{
    struct hbg__map_u64 larger = *map;
    larger.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY;
    larger.generation = 1;
    uint64_t bytes;
    if (!hbg__mul_u64(larger.capacity, sizeof *map->entry, &bytes)) return false;
    larger.entry = hbg__alloc_zero(map->memory, (size_t)bytes, _Alignof(struct hbg__map_u64_entry));
    if (!larger.entry) return false;

    for (size_t i = 0; i < map->capacity; i++) {
        if (!taken(map, i)) continue;
        struct hbg__map_u64_entry *entry = &larger.entry[place_of(&larger, map->entry[i].key)];
        *entry = map->entry[i];
        entry->generation = larger.generation;
    }
    hbg__free(map->memory, map->entry, map->capacity * sizeof *map->entry, _Alignof(struct hbg__map_u64_entry));
    *map = larger;
    return true;
}

uint64_t *hbg__map_u64_add(struct hbg__map_u64 *map, uint64_t key, bool *added)
{
    if (map->count >= map->capacity / 4 * 3) {
        uint64_t *present = hbg__map_u64_find(map, key);
        if (present) {
            if (added) *added = false;
            return present;
        }
        if (!grow(map)) return NULL;
    }
    struct hbg__map_u64_entry *entry = &map->entry[place_of(map, key)];
    bool is_new = entry->generation != map->generation;
    if (is_new) {
        *entry = (struct hbg__map_u64_entry){ .key = key, .generation = map->generation };
        map->count++;
    }
    if (added) *added = is_new;
    return &entry->value;
}

bool hbg__map_u64_remove(struct hbg__map_u64 *map, uint64_t key)
{
    if (map->count == 0) return false;
    size_t mask = map->capacity - 1, hole = place_of(map, key);
    if (!taken(map, hole)) return false;

    /* close the gap: an entry moves back unless its own place lies behind the hole */
    for (size_t i = (hole + 1) & mask; taken(map, i); i = (i + 1) & mask) {
        size_t home = (size_t)hbg__hash_u64(map->entry[i].key) & mask;
        if (((i - home) & mask) < ((i - hole) & mask)) continue;
        map->entry[hole] = map->entry[i];
        hole = i;
    }
    map->entry[hole].generation = 0;
    map->count--;
    return true;
}

void hbg__map_u64_clear(struct hbg__map_u64 *map)
{
    map->count = 0;
    if (map->generation < UINT32_MAX) {
        map->generation++;
        return;
    }
    if (map->entry) memset(map->entry, 0, map->capacity * sizeof *map->entry);
    map->generation = 1;
}
