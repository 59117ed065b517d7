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
 *   field       written by                               read by      order
 *   word        device lock (lease, free), callers, and  any thread   H1, H3, H4, H5 release on every change, H2 acquire on every
 *               whoever wins the move of a phase                      look: the run object as the phase before left it is visible
 *   run         take, give, under the process lock       any thread   H6 release, H7 acquire: publishes the object
 *   next_free   take, give                               the same     process lock
 */
#ifndef HBG_RUN_HANDLE_H
#define HBG_RUN_HANDLE_H

#include <hbg/run.h>

#include "atomic/atomic.h"

struct hbg__run;

enum hbg__run_phase {
    HBG__RUN_FREE, HBG__RUN_BINDING, HBG__RUN_PREPARED, HBG__RUN_LAUNCHING, HBG__RUN_LAUNCHED, HBG__RUN_DROPPED,
    HBG__RUN_UNLAUNCHED, HBG__RUN_FINISHING
};

struct hbg__run_entry {
    struct hbg__atomic_u64 word;
    struct hbg__atomic_u64 run;                 /* the address of a struct hbg__run; 0: no device has this slot */
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

static inline struct hbg__run *hbg__run_of_word(uint64_t word) { return (struct hbg__run *)(uintptr_t)word; }

static inline uint64_t hbg__run_entry_look(struct hbg__run_entry *entry)
{
    /* H2 acquire, pairs with H1 in hbg__run_entry_set(), H3 in hbg__run_entry_enter(), H4 in hbg__run_entry_leave() and H5 in
       hbg__run_entry_move(): what whoever changed the word did to the run before. */
    return hbg__load_acquire64(&entry->word);
}

/* For phases without callers: BINDING, FINISHING when they have left, and FREE under the device lock. */
static inline void hbg__run_entry_set(struct hbg__run_entry *entry, uint32_t generation, enum hbg__run_phase phase)
{
    /* H1 release, pairs with H2 in hbg__run_entry_look(): the run object, as this phase has it. */
    hbg__store_release64(&entry->word, hbg__run_word(generation, phase));
}

/* Count this call in. False: the generation is another one, or the phase lets nobody in. */
static inline bool hbg__run_entry_enter(struct hbg__run_entry *entry, uint32_t generation, enum hbg__run_phase *phase)
{
    uint64_t seen = hbg__run_entry_look(entry);
    do {            /* each further turn needs another call on the same run */
        *phase = hbg__run_word_phase(seen);
        if (hbg__run_word_generation(seen) != generation || *phase == HBG__RUN_FREE || *phase == HBG__RUN_BINDING || *phase == HBG__RUN_FINISHING) return false;
        /* H3 acq_rel, pairs with H2 in hbg__run_entry_look(): as H2 where it fails; hands on what the word published. */
    } while (!hbg__cas_acq_rel64(&entry->word, &seen, seen + HBG__RUN_CALLER));
    return true;
}

static inline void hbg__run_entry_leave(struct hbg__run_entry *entry)
{
    /* H4 acq_rel, pairs with H2 in hbg__run_entry_look(): what this call read and wrote; finish waits for it. */
    hbg__fetch_add_acq_rel64(&entry->word, -(uint64_t)HBG__RUN_CALLER);
}

/* By a caller. False: the phase is another one by now. */
static inline bool hbg__run_entry_move(struct hbg__run_entry *entry, enum hbg__run_phase from, enum hbg__run_phase to)
{
    uint64_t seen = hbg__run_entry_look(entry);
    do {            /* each further turn needs another call on the same run */
        if (hbg__run_word_phase(seen) != from) return false;
        /* H5 acq_rel, pairs with H2 in hbg__run_entry_look(): what this call did in the phase that ends; as H2 where it fails. */
    } while (!hbg__cas_acq_rel64(&entry->word, &seen, seen - (uint64_t)from + (uint64_t)to));
    return true;
}

#endif /* HBG_RUN_HANDLE_H */
