/* SPDX-License-Identifier: Apache-2.0 */
/* spill.h - where ready tasks go when the shared ring is full: a stack through the slots' own links (Treiber's, tagged).
 *
 *      63          32 31             0
 *     |     tag      |  waiter | task |      head; 0 in the low half: empty.  The next task stands in slot[task].link.
 *
 * Tasks go by the index of their slot among all of the run's, and slot[].activation says whose it is.
 *
 * It cannot fill: a task's link is free once the task is ready, and each task is in it at most once. The tag grows with every
 * pop, so that a head which left and came back is not taken for the same one.
 *
 *   field           written by                       read by                         order, label
 *   head            pushers and poppers (cas)        all                             release P1, acquire P2
 *   slot[].activation  the pusher, before the push  who has popped it              P1 publishes it
 *   slot[].link     the pusher, while it has the     poppers, even of a task that    relaxed: P1 publishes it; a value read too
 *                   task                             another popper has by now       late fails the cas by its tag
 */
#ifndef HBG_SCHED_SPILL_H
#define HBG_SCHED_SPILL_H

#include "sched/slot.h"

struct hbg__spill {
    HBG__OWN_LINE struct hbg__atomic_u64 head;
};

static inline void hbg__spill_open(struct hbg__spill *spill)
{
    hbg__store_relaxed64(&spill->head, 0);      /* relaxed: no other thread is inside a run. */
}

/* A turn of the loop needs another thread's push or pop. */
static inline void hbg__spill_push(struct hbg__spill *spill, struct hbg__slot *slots, uint32_t task)
{
    uint64_t head = hbg__load_relaxed64(&spill->head);          /* relaxed: P1 decides */
    do {
        hbg__store_relaxed32(&slots[task].link, (uint32_t)head);        /* relaxed: P1 publishes it */
        /* P1 release, pairs with P2 and P3 in hbg__spill_pop(): publishes the link and all that made the task ready. Later
           pushes and pops are read-modify-writes, so that whoever finds the task below them acquires this one as well. */
    } while (!hbg__cas_release64(&spill->head, &head, (head & ~(uint64_t)UINT32_MAX) | hbg__waiter_make(task, false)));
}

/* False: empty. */
static inline bool hbg__spill_pop(struct hbg__spill *spill, struct hbg__slot *slots, uint32_t *task)
{
    /* P2 acquire, pairs with P1 in hbg__spill_push(): the link, and all that made the task ready. */
    uint64_t head = hbg__load_acquire64(&spill->head);
    while ((uint32_t)head != 0) {
        uint32_t top = hbg__waiter_task((uint32_t)head);
        uint64_t next = ((head >> 32) + 1) << 32 | hbg__slot_link(slots, top);
        /* P3 acquire, pairs with P1 in hbg__spill_push(): takes the task; or, failing, sees another head as P2 does. */
        if (hbg__cas_acquire64(&spill->head, &head, next)) {
            *task = top;
            return true;
        }
    }
    return false;
}

static inline bool hbg__spill_has_entries(const struct hbg__spill *spill)
{
    return (uint32_t)hbg__load_relaxed64(&spill->head) != 0;   /* relaxed: a guess that pop checks. */
}

#endif /* HBG_SCHED_SPILL_H */
