/* SPDX-License-Identifier: Apache-2.0 */
/* handle.c - see handle.h. The table is a row of chunks, each twice as large as the one before, so that entries never move. */
#include "run/handle.h"

#include <stdlib.h>

#include "run/process.h"

enum { FIRST_CHUNK = 64, CHUNKS = 20, NO_ENTRY = -1 };

static _Atomic(struct hbg__run_entry *) chunk[CHUNKS];  /* H5 release under the process lock, H6 acquire by readers: publishes the entries */
static uint32_t used;                                   /* process lock */
static uint32_t first_free = (uint32_t)NO_ENTRY;        /* process lock */

/* Entry i stands in chunk log2(i / 64 + 1). */
static struct hbg__run_entry *entry_at(uint32_t index)
{
    uint32_t above = index / FIRST_CHUNK + 1;
    uint32_t number = 31u - (uint32_t)__builtin_clz(above);
    if (number >= CHUNKS) return NULL;
    struct hbg__run_entry *entries = atomic_load_explicit(&chunk[number], memory_order_acquire);    /* H6 acquire, pairs with H5 */
    return entries ? entries + (index - FIRST_CHUNK * ((1u << number) - 1)) : NULL;
}

struct hbg__run_entry *hbg__run_entry_find(uint32_t index) { return entry_at(index); }

/* A new entry at the end; the process lock is held. The chunk belongs to the process and is not the user's allocator's. */
static struct hbg__run_entry *append(uint32_t *index)
{
    uint32_t number = 31u - (uint32_t)__builtin_clz(used / FIRST_CHUNK + 1);
    if (number >= CHUNKS) return NULL;
    if (!atomic_load_explicit(&chunk[number], memory_order_relaxed)) {          /* relaxed: written under this lock only */
        struct hbg__run_entry *entries = calloc((size_t)FIRST_CHUNK << number, sizeof *entries);
        if (!entries) return NULL;
        atomic_store_explicit(&chunk[number], entries, memory_order_release);   /* H5 release, pairs with H6 */
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
        atomic_store_explicit(&entry->run, run, memory_order_release);          /* H3 release, pairs with H4 */
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
    atomic_store_explicit(&entry->run, NULL, memory_order_release);             /* H3 release, pairs with H4 */
    entry->next_free = first_free;
    first_free = index;
    hbg__process_unlock();
}
