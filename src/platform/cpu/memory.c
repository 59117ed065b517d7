/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - device memory of the `cpu` platform.
 *
 *     | guard page | unused | block, 256-byte aligned | 0-255 unused | guard page |        discrete
 *                  | block | unused |                                                      unified: no guards
 *
 * Guards are pages that nobody may touch, for the first few thousand allocations of a device: each costs two mappings, of which a process
 * has some ten thousand. On a discrete device the block stands as near to the upper guard as its alignment permits, and what is not the block is
 * poison, as is a fresh block itself; on a unified one what is not the block is poison where the device was opened with poison=1.
 * The bytes that nobody owns must still be poison when they are asked for. Zones are arenas: reserved address space without access follows their last byte.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "platform/cpu/cpu.h"

enum { BLOCK_ALIGN = 256, GUARDED_MAX = 8192 };
static const uint64_t touched_whole = (uint64_t)64 << 20;      /* larger blocks are poisoned and populated at their ends only */

struct mapping { uint64_t usable, guard, slack; };

static bool measure(const struct hbg__platform *platform, uint64_t size_bytes, struct mapping *mapping)
{
    uint64_t page = platform->page_bytes, size = size_bytes ? size_bytes : 1;
    if (size > (uint64_t)1 << 46) return false;
    mapping->usable = hbg__round_up(size, page);
    mapping->guard = platform->unified ? 0 : page;
    mapping->slack = platform->unified ? 0 : (mapping->usable - size) & ~(uint64_t)(BLOCK_ALIGN - 1);
    return true;
}

static void poison_fresh(unsigned char *block, uint64_t size_bytes)
{
    if (size_bytes <= 2 * touched_whole) {
        memset(block, HBG__POISON, size_bytes);
        return;
    }
    memset(block, HBG__POISON, touched_whole);
    memset(block + size_bytes - touched_whole, HBG__POISON, touched_whole);
}

enum hbg_status hbg__cpu_memory_alloc(struct hbg__platform *platform, uint64_t size_bytes, uint64_t *address)
{
    struct mapping mapping;
    if (!measure(platform, size_bytes, &mapping)) return HBG_E_NO_MEMORY;
    size_t whole = mapping.usable + 2 * mapping.guard;
    /* relaxed: a count, it publishes nothing */
    bool guarded = mapping.guard && hbg__load_relaxed32(&platform->live_blocks) < GUARDED_MAX;
    unsigned char *at = mmap(NULL, whole, guarded ? PROT_NONE : PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return HBG_E_NO_MEMORY;
    unsigned char *usable = at + mapping.guard;
    if (guarded && mprotect(usable, mapping.usable, PROT_READ | PROT_WRITE)) {
        munmap(at, whole);
        return HBG_E_NO_MEMORY;
    }
#ifdef MADV_POPULATE_WRITE
    if (mapping.usable <= touched_whole) (void)madvise(usable, mapping.usable, MADV_POPULATE_WRITE);
#endif
    if (!platform->unified) poison_fresh(usable, mapping.usable);
    else if (platform->poison) memset(usable + size_bytes, HBG__POISON, mapping.usable - size_bytes);
    /* relaxed: a count, it publishes nothing */
    hbg__fetch_add_relaxed64(&platform->live_bytes, mapping.usable);
    hbg__fetch_add_relaxed32(&platform->live_blocks, 1);        /* relaxed: likewise */
    *address = (uint64_t)(uintptr_t)(usable + mapping.slack);
    return HBG_OK;
}

void hbg__cpu_memory_free(struct hbg__platform *platform, uint64_t address, uint64_t size_bytes)
{
    struct mapping mapping;
    if (address == 0 || !measure(platform, size_bytes, &mapping)) return;
    munmap((void *)(uintptr_t)(address - mapping.slack - mapping.guard), mapping.usable + 2 * mapping.guard);
    hbg__fetch_add_relaxed64(&platform->live_bytes, -mapping.usable);       /* relaxed: as above */
    hbg__fetch_add_relaxed32(&platform->live_blocks, (uint32_t)-1);         /* relaxed: likewise */
}

/* The first byte of [from, to) that is not poison; `to`: all of them are. */
static const unsigned char *first_changed(const unsigned char *from, const unsigned char *to)
{
    while (from < to && *from == HBG__POISON) from++;
    return from;
}

bool hbg__cpu_memory_intact(struct hbg__platform *platform, uint64_t address, uint64_t size_bytes, int64_t *offset)
{
    struct mapping mapping;
    if (address == 0 || (platform->unified && !platform->poison) || !measure(platform, size_bytes, &mapping)) return true;
    const unsigned char *block = (const unsigned char *)(uintptr_t)address, *usable = block - mapping.slack;
    const unsigned char *changed = first_changed(usable, block);
    if (changed == block) changed = first_changed(block + size_bytes, usable + mapping.usable);
    *offset = changed - block;
    return changed == usable + mapping.usable;
}

void *hbg__cpu_memory_map(struct hbg__platform *platform, uint64_t address, uint64_t size_bytes)
{
    (void)size_bytes;
    return platform->unified ? (void *)(uintptr_t)address : NULL;
}

enum hbg_status hbg__cpu_zone_fit(struct hbg__platform *platform, struct hbg__zone *zone, uint64_t size_bytes)
{
    if (size_bytes <= zone->size_bytes) return HBG_OK;
    if (!zone->arena.origin && !hbg__arena_open(&zone->arena, platform->reserve_bytes, false)) return HBG_E_NO_MEMORY;
    bool grown = hbg__arena_grow(&zone->arena, 0, size_bytes);
    zone->address = (uint64_t)(uintptr_t)zone->arena.origin;        /* moved with all that is in it, even if it was refused pages then */
    if (!grown) return HBG_E_NO_MEMORY;
    zone->size_bytes = zone->arena.above;
    zone->growths = zone->arena.growths;
    return HBG_OK;
}

void hbg__cpu_zone_close(struct hbg__platform *platform, struct hbg__zone *zone)
{
    (void)platform;
    hbg__arena_close(&zone->arena);
    *zone = (struct hbg__zone){ 0 };
}
