/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - from the value that a user holds to the run object, safely.
 *
 * A struct hbg_run is {program, slot, generation}. `slot` numbers an entry of one table per process; entries are never returned
 * to the system, so that a handle of a closed device is still refused by reading the entry. One 64-bit word holds generation
 * and phase: every change of phase is one compare-exchange against both, so a stale handle never writes.
 *
 *     FREE -> BINDING -> PREPARED -> LAUNCHING -> LAUNCHED -> FINISHING -> FREE with the next generation
 *                           |            '-> UNLAUNCHED ------^
 *                           '-> DROPPED ----------------------^            (cancelled before the launch)
 *
 *   field   written by                                   read by     order
 *   word    device lock (lease, free), else whoever      any thread  H1 release on every change, H2 acquire on every look:
 *           wins the compare-exchange                                the run object's fields of the phase before are visible
 *   run     process lock, at open and close              any thread  H3 release, H4 acquire: publishes the object
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
    _Atomic uint64_t word;                      /* generation << 32 | phase */
    _Atomic(struct hbg__run *) run;             /* NULL: no device has this slot */
    uint32_t next_free;
};

/* An entry for a pipeline slot; its number goes to *index. NULL: no memory. */
struct hbg__run_entry *hbg__run_entry_take(struct hbg__run *run, uint32_t *index);
void hbg__run_entry_give(uint32_t index);

/* NULL: never handed out. */
struct hbg__run_entry *hbg__run_entry_find(uint32_t index);

static inline uint64_t hbg__run_word(uint32_t generation, enum hbg__run_phase phase)
{
    return (uint64_t)generation << 32 | (uint64_t)phase;
}

static inline uint32_t hbg__run_word_generation(uint64_t word) { return (uint32_t)(word >> 32); }
static inline enum hbg__run_phase hbg__run_word_phase(uint64_t word) { return (enum hbg__run_phase)(uint32_t)word; }

static inline uint64_t hbg__run_entry_look(struct hbg__run_entry *entry)
{
    return atomic_load_explicit(&entry->word, memory_order_acquire);            /* H2 acquire, pairs with H1 */
}

/* Only for a phase that its caller owns alone: BINDING, LAUNCHING, FINISHING, and FREE under the device lock. */
static inline void hbg__run_entry_set(struct hbg__run_entry *entry, uint32_t generation, enum hbg__run_phase phase)
{
    atomic_store_explicit(&entry->word, hbg__run_word(generation, phase), memory_order_release);    /* H1 release, pairs with H2 */
}

static inline bool hbg__run_entry_move(struct hbg__run_entry *entry, uint32_t generation, enum hbg__run_phase from, enum hbg__run_phase to)
{
    uint64_t expected = hbg__run_word(generation, from);
    /* H1 release and H2 acquire in one; relaxed on failure: the caller looks again */
    return atomic_compare_exchange_strong_explicit(&entry->word, &expected, hbg__run_word(generation, to), memory_order_acq_rel,
                                                   memory_order_relaxed);
}

#endif /* HBG_RUN_HANDLE_H */
