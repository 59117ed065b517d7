/* SPDX-License-Identifier: Apache-2.0 */
/* handle.c - see handle.h. The table is a row of chunks, each twice as large as the one before, so that entries never move. */
#include "run/handle.h"

#include <stdlib.h>

#include "run/process.h"

enum { FIRST_CHUNK = 64, CHUNKS = 20, NO_ENTRY = -1 };

/*   chunk[]            written under the process lock, read by any thread: H8 release, H9 acquire; addresses, 0: not made yet
 *   used, first_free   process lock */
static struct hbg__atomic_u64 chunk[CHUNKS];
static uint32_t used;
static uint32_t first_free = (uint32_t)NO_ENTRY;

/* Entry i stands in chunk log2(i / 64 + 1). */
static struct hbg__run_entry *entry_at(uint32_t index)
{
    uint32_t above = index / FIRST_CHUNK + 1;
    uint32_t number = 31u - (uint32_t)__builtin_clz(above);
    if (number >= CHUNKS) return NULL;
    /* H9 acquire, pairs with H8 in append(): the entries of the chunk. */
    struct hbg__run_entry *entries = (struct hbg__run_entry *)(uintptr_t)hbg__load_acquire64(&chunk[number]);
    return entries ? entries + (index - FIRST_CHUNK * ((1u << number) - 1)) : NULL;
}

struct hbg__run_entry *hbg__run_entry_find(uint32_t index) { return entry_at(index); }

/* A new entry at the end; the process lock is held. The chunk belongs to the process and is not the user's allocator's. */
static struct hbg__run_entry *append(uint32_t *index)
{
    uint32_t number = 31u - (uint32_t)__builtin_clz(used / FIRST_CHUNK + 1);
    if (number >= CHUNKS) return NULL;
    if (!hbg__load_relaxed64(&chunk[number])) {     /* relaxed: written under this lock only */
        struct hbg__run_entry *entries = calloc((size_t)FIRST_CHUNK << number, sizeof *entries);
        if (!entries) return NULL;
        /* H8 release, pairs with H9 in entry_at(): the zeroed entries. */
        hbg__store_release64(&chunk[number], (uint64_t)(uintptr_t)entries);
    }
    *index = used++;
    return entry_at(*index);
}

struct hbg__run_entry *hbg__run_entry_take(struct hbg__run *run, uint32_t *index)
{
    struct hbg__run_entry *entry;
    hbg__process_lock();
    if (first_free != (uint32_t)NO_ENTRY) {
        *index = first_free;
        entry = entry_at(first_free);
        first_free = entry->next_free;
    } else {
        entry = append(index);
    }
    if (entry) {
        uint32_t generation = hbg__run_word_generation(hbg__run_entry_look(entry)) + 1;
        hbg__run_entry_set(entry, generation ? generation : 1, HBG__RUN_FREE);
        /* H6 release, pairs with H7 in hbg__run_enter(): the slot, made by the open. */
        hbg__store_release64(&entry->run, (uint64_t)(uintptr_t)run);
    }
    hbg__process_unlock();
    return entry;
}

void hbg__run_entry_give(uint32_t index)
{
    hbg__process_lock();
    struct hbg__run_entry *entry = entry_at(index);
    uint32_t generation = hbg__run_word_generation(hbg__run_entry_look(entry)) + 1;
    hbg__run_entry_set(entry, generation, HBG__RUN_FREE);
    hbg__store_relaxed64(&entry->run, 0);           /* relaxed: nobody enters while the word says FREE, so nobody reads it. */
    entry->next_free = first_free;
    first_free = index;
    hbg__process_unlock();
}
