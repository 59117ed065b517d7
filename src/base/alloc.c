/* SPDX-License-Identifier: Apache-2.0 */
/* alloc.c - see alloc.h. */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

static void *plain_alloc(void *user, size_t size_bytes, size_t align_bytes)
{
    (void)user;
    if (align_bytes <= _Alignof(max_align_t)) return malloc(size_bytes);
    void *block;
    return posix_memalign(&block, align_bytes, size_bytes) == 0 ? block : NULL;
}

static void plain_free(void *user, void *block, size_t size_bytes, size_t align_bytes)
{
    (void)user, (void)size_bytes, (void)align_bytes;
    free(block);
}

bool hbg__memory_init(struct hbg__memory *memory, const struct hbg_allocator *given)
{
    const struct hbg_allocator plain = { plain_alloc, plain_free, NULL };
    *memory = (struct hbg__memory){ .ops = plain };
    if (!given || (!given->alloc && !given->free)) return true;
    if (!given->alloc || !given->free) return false;
    memory->ops = *given;
    return true;
}

void *hbg__alloc(struct hbg__memory *memory, size_t size_bytes, size_t align_bytes)
{
    HBG_DEBUG_ASSERT(hbg__is_power_of_two(align_bytes));
    if (size_bytes == 0) size_bytes = 1;
    void *block = memory->ops.alloc(memory->ops.user, size_bytes, align_bytes);
    if (!block) return NULL;
    hbg__fetch_add_relaxed64(&memory->allocations, 1);          /* relaxed: a statistic. */
    hbg__fetch_add_relaxed64(&memory->live_bytes, size_bytes);  /* relaxed: a statistic. */
    return block;
}

void *hbg__alloc_zero(struct hbg__memory *memory, size_t size_bytes, size_t align_bytes)
{
    void *block = hbg__alloc(memory, size_bytes, align_bytes);
    if (block) memset(block, 0, size_bytes);
    return block;
}

void *hbg__realloc(struct hbg__memory *memory, void *block, size_t old_bytes, size_t new_bytes, size_t align_bytes)
{
    void *fresh = hbg__alloc(memory, new_bytes, align_bytes);
    if (!fresh || !block) return fresh;
    memcpy(fresh, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    hbg__free(memory, block, old_bytes, align_bytes);
    return fresh;
}

void hbg__free(struct hbg__memory *memory, void *block, size_t size_bytes, size_t align_bytes)
{
    if (!block) return;
    if (size_bytes == 0) size_bytes = 1;
    hbg__fetch_add_relaxed64(&memory->live_bytes, -(uint64_t)size_bytes);       /* relaxed: a statistic. */
    memory->ops.free(memory->ops.user, block, size_bytes, align_bytes);
}

uint64_t hbg__memory_allocations(const struct hbg__memory *memory)
{
    return hbg__load_relaxed64(&memory->allocations);           /* relaxed: a statistic. */
}

uint64_t hbg__memory_live_bytes(const struct hbg__memory *memory)
{
    return hbg__load_relaxed64(&memory->live_bytes);            /* relaxed: a statistic. */
}
