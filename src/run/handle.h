/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - from the value that a user holds to the run object, safely.
 *
 * A struct hbg_run is {program, slot, generation}. `slot` numbers an entry of one table per process; entries are never returned
 * to the system, so that a handle of a closed device is still refused by reading the entry. One 64-bit word decides:
 *
 *      63             32 31          8 7       0
 *     |   generation    |   callers   |  phase  |
 *
 *     FREE -> BINDING -> PREPARED -> LAUNCHING -> LAUNCHED -> FINISHING -> FREE with the next generation
 *                           |            '-> UNLAUNCHED ------^
 *                           '-> DROPPED ----------------------^            (cancelled before the launch)
 *
 * A call enters by a compare-exchange against the generation it holds, which counts it as a caller, and leaves by a decrement.
 * Whoever moves the phase to FINISHING waits until the others have left: what they look at is theirs until then. So a stale
 * handle never reads or writes a run, however late it comes. Nobody enters FREE, BINDING or FINISHING.
 *
 *   field   written by                              read by     order
 *   word    device lock (lease, free), callers, and any thread  H1 release on every change, H2 acquire on every look: the run
 *           whoever wins the move of a phase                    object as the phase before left it is visible
 *   run     process lock, at open and close         any thread  H3 release, H4 acquire: publishes the object
 */
#ifndef HBG_RUN_HANDLE_H
#define HBG_RUN_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <hbg/run.h>

struct hbg__run;

enum hbg__run_phase {
    HBG__RUN_FREE, HBG__RUN_BINDING, HBG__RUN_PREPARED, HBG__RUN_LAUNCHING, HBG__RUN_LAUNCHED, HBG__RUN_DROPPED,
    HBG__RUN_UNLAUNCHED, HBG__RUN_FINISHING
};

struct hbg__run_entry {
    _Atomic uint64_t word;
    _Atomic(struct hbg__run *) run;             /* NULL: no device has this slot */
    uint32_t next_free;
};

/* An entry for a pipeline slot; its number goes to *index. NULL: no memory. */
struct hbg__run_entry *hbg__run_entry_take(struct hbg__run *run, uint32_t *index);
void hbg__run_entry_give(uint32_t index);

/* NULL: never handed out. */
struct hbg__run_entry *hbg__run_entry_find(uint32_t index);

enum { HBG__RUN_CALLER = 1 << 8 };              /* one caller, in the word */

static inline uint64_t hbg__run_word(uint32_t generation, enum hbg__run_phase phase) { return (uint64_t)generation << 32 | (uint64_t)phase; }
static inline uint32_t hbg__run_word_generation(uint64_t word) { return (uint32_t)(word >> 32); }
static inline uint32_t hbg__run_word_callers(uint64_t word) { return (uint32_t)word / HBG__RUN_CALLER; }
static inline enum hbg__run_phase hbg__run_word_phase(uint64_t word) { return (enum hbg__run_phase)(word & (HBG__RUN_CALLER - 1)); }

static inline uint64_t hbg__run_entry_look(struct hbg__run_entry *entry)
{
    return atomic_load_explicit(&entry->word, memory_order_acquire);            /* H2 acquire, pairs with H1 */
}

/* For phases without callers: BINDING, FINISHING when they have left, and FREE under the device lock. */
static inline void hbg__run_entry_set(struct hbg__run_entry *entry, uint32_t generation, enum hbg__run_phase phase)
{
    atomic_store_explicit(&entry->word, hbg__run_word(generation, phase), memory_order_release);    /* H1 release, pairs with H2 */
}

/* Count this call in. False: the generation is another one, or the phase lets nobody in. */
static inline bool hbg__run_entry_enter(struct hbg__run_entry *entry, uint32_t generation, enum hbg__run_phase *phase)
{
    uint64_t seen = hbg__run_entry_look(entry);
    do {            /* each further turn needs another call on the same run */
        *phase = hbg__run_word_phase(seen);
        if (hbg__run_word_generation(seen) != generation || *phase == HBG__RUN_FREE || *phase == HBG__RUN_BINDING || *phase == HBG__RUN_FINISHING) return false;
        /* H1 release and H2 acquire in one; H2 acquire on failure */
    } while (!atomic_compare_exchange_weak_explicit(&entry->word, &seen, seen + HBG__RUN_CALLER, memory_order_acq_rel, memory_order_acquire));
    return true;
}

static inline void hbg__run_entry_leave(struct hbg__run_entry *entry)
{
    atomic_fetch_sub_explicit(&entry->word, HBG__RUN_CALLER, memory_order_release);     /* H1 release, pairs with H2: what this call read and wrote */
}

/* By a caller. False: the phase is another one by now. */
static inline bool hbg__run_entry_move(struct hbg__run_entry *entry, enum hbg__run_phase from, enum hbg__run_phase to)
{
    uint64_t seen = hbg__run_entry_look(entry);
    do {            /* each further turn needs another call on the same run */
        if (hbg__run_word_phase(seen) != from) return false;
        /* H1 release and H2 acquire in one; H2 acquire on failure */
    } while (!atomic_compare_exchange_weak_explicit(&entry->word, &seen, seen - (uint64_t)from + (uint64_t)to, memory_order_acq_rel, memory_order_acquire));
    return true;
}

#endif /* HBG_RUN_HANDLE_H */
