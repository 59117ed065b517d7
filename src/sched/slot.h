/* SPDX-License-Identifier: Apache-2.0 */
/* slot.h - the slot word: a task's completion and its wake list in one 64-bit atomic.
 *
 *      63            32 31 30 29                 0
 *     |     epoch      | w| s|   waiter's index   |      w = 1: head of the list of tasks that wait for this one
 *     |     epoch      | 0   ...   0 |    state   |      state: 0 empty, 1 closed-ok, 2 closed-failed
 *
 * A word of another epoch reads as empty, so a run on the same slots resets nothing. The list goes on in slot[waiter].link,
 * in the same form as the low half; s is the skip bit of the waiter that is named: it has met a failed or skipped producer.
 *
 * Completion is one exchange to "closed"; registration is a compare-exchange. They race through this word alone: either the
 * waiter is in the list that the exchange returns, or the registration sees "closed". So no wake is lost and no task is
 * queued twice. `closed` is final within an epoch.
 *
 *   field   written by                                           read by                         order, label
 *   word    registering thread (head); completing worker (close)  both; settle, in claim mode     acq_rel W1, W2; release C1
 *   link    whoever holds the task: its registration, the drain   whoever took the list or task   relaxed: published by the word,
 *           list of a worker, a push on the spill list                                            the deque or the spill head
 *
 * Deliberately not here: who the producers are (settle.h), what a wake does (wake_list.h).
 */
#ifndef HBG_SCHED_SLOT_H
#define HBG_SCHED_SLOT_H

#include "atomic/atomic.h"
#include "image/layout.h"
#include "sched/seam.h"

enum { HBG__SLOT_EMPTY = 0, HBG__SLOT_OK = 1, HBG__SLOT_FAILED = 2 };

#define HBG__WAITER (1u << 31)
#define HBG__WAITER_SKIP (1u << 30)
#define HBG__WAITER_INDEX (HBG__WAITER_SKIP - 1)
HBG__STATIC_ASSERT(HBG__TASKS_MAX <= HBG__WAITER_SKIP, "an index fits beside its two bits");

static inline uint32_t hbg__waiter_make(uint32_t task, bool skip) { return HBG__WAITER | (skip ? HBG__WAITER_SKIP : 0u) | task; }
static inline uint32_t hbg__waiter_task(uint32_t waiter) { return waiter & HBG__WAITER_INDEX; }
static inline bool hbg__waiter_skip(uint32_t waiter) { return (waiter & HBG__WAITER_SKIP) != 0; }

static inline uint64_t hbg__slot_word(uint32_t epoch, uint32_t value) { return (uint64_t)epoch << 32 | value; }

/* What a word says in this epoch. */
static inline uint32_t hbg__slot_value(uint64_t word, uint32_t epoch) { return word >> 32 == epoch ? (uint32_t)word : 0u; }
static inline bool hbg__slot_is_closed(uint32_t value) { return value == HBG__SLOT_OK || value == HBG__SLOT_FAILED; }

/* Put `task` on the list of `producer`. Returns HBG__SLOT_EMPTY: it waits there and belongs to the completing worker from now
   on; or the state of a producer that is closed already. Each turn of the loop needs another thread's registration. */
static inline uint32_t hbg__slot_register(struct hbg__slot *slots, uint32_t epoch, uint32_t producer, uint32_t task, bool skip)
{
    struct hbg__atomic_u64 *word = &slots[producer].word;
    HBG__SEAM(LOOK, producer, task);
    /* W3 acquire, pairs with W2 in hbg__slot_close() and C1 in hbg__slot_publish(): what the producer's kernel wrote. */
    uint64_t seen = hbg__load_acquire64(word);
    HBG__SEAM(LOOKED, producer, task);
    for (;;) {
        uint32_t value = hbg__slot_value(seen, epoch);
        if (hbg__slot_is_closed(value)) return value;
        /* relaxed: W1 publishes it. */
        hbg__store_relaxed32(&slots[task].link, value);
        HBG__SEAM(LINK, producer, task);
        /* W1 acq_rel, pairs with W2 in hbg__slot_close(): publishes the link; or, failing, sees a close as W3 does. */
        if (hbg__cas_acq_rel64(word, &seen, hbg__slot_word(epoch, hbg__waiter_make(task, skip)))) break;
    }
    HBG__SEAM(LINKED, producer, task);
    return HBG__SLOT_EMPTY;
}

/* Close `task`; returns the head of its wake list, 0 if nobody waits. The caller then owns every task of the list. */
static inline uint32_t hbg__slot_close(struct hbg__slot *slots, uint32_t epoch, uint32_t task, uint32_t state)
{
    HBG__SEAM(CLOSE, task, task);
    /* W2 acq_rel, pairs with W1 and W3 in hbg__slot_register(): takes the links that were put there, publishes what the
       kernel wrote. Every registration is a read-modify-write, so this one reads from all of them. */
    uint64_t found = hbg__exchange_acq_rel64(&slots[task].word, hbg__slot_word(epoch, state));
    HBG__SEAM(CLOSED, task, task);
    return hbg__slot_value(found, epoch);
}

/* The waiter behind `task` in its list. Read it before the task is examined: the link is the task's own again then. */
static inline uint32_t hbg__slot_link(const struct hbg__slot *slots, uint32_t task)
{
    /* relaxed: whoever took the list has acquired it with W2, or wrote it itself. */
    return hbg__load_relaxed32(&slots[task].link);
}

/* Claim mode, where nobody registers: close with a store. */
static inline void hbg__slot_publish(struct hbg__slot *slots, uint32_t epoch, uint32_t task, uint32_t state)
{
    /* C1 release, pairs with C2 in hbg__slot_look() and W3 in hbg__slot_register(): publishes what the kernel wrote. */
    hbg__store_release64(&slots[task].word, hbg__slot_word(epoch, state));
}

/* Claim mode: HBG__SLOT_OK, HBG__SLOT_FAILED, or anything else for "not yet". */
static inline uint32_t hbg__slot_look(const struct hbg__slot *slots, uint32_t epoch, uint32_t task)
{
    /* C2 acquire, pairs with C1 in hbg__slot_publish(): what the producer's kernel wrote. */
    return hbg__slot_value(hbg__load_acquire64(&slots[task].word), epoch);
}

/* One worker alone: leave a mark without publishing anything, and read it back. */
static inline void hbg__slot_mark(struct hbg__slot *slots, uint32_t epoch, uint32_t task, uint32_t state)
{
    /* relaxed: only this worker reads it in this run. */
    hbg__store_relaxed64(&slots[task].word, hbg__slot_word(epoch, state));
}

static inline uint32_t hbg__slot_marked(const struct hbg__slot *slots, uint32_t epoch, uint32_t task)
{
    /* relaxed: only this worker writes it in this run. */
    return hbg__slot_value(hbg__load_relaxed64(&slots[task].word), epoch);
}

#endif /* HBG_SCHED_SLOT_H */
