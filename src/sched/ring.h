/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h - a bounded queue that every worker may push to and pop from (Vyukov's).
 *
 *            tail (pop)              head (push)
 *             v                        v
 *     | free | full | full | ... | full | free | free |      position p lies in cell p mod capacity
 *
 * A cell's sequence number says what may happen to it next, relative to the lap of the position that asks:
 *     sequence == p       free for the push at p           sequence == p + 1    full for the pop at p
 *     sequence behind p   still full from the last lap     sequence behind p+1  not pushed yet
 * A pop leaves p + capacity: free for the push one lap later. Positions are 32 bits and wrap; only differences are compared.
 *
 * Opening writes the whole ramp, cell i gets first + i: without it stale numbers of an earlier use read as full or as ahead,
 * and a ring whose ramp covers N cells only breaks when a pop looks at the cell behind the N-th entry: the read set of a
 * queue is one larger than its write set. After that nothing is reset: a ring that was drained is empty at any position.
 *
 *   field           written by            read by        order, label
 *   head            pushers (cas)         pushers        relaxed: it only allots cells
 *   tail            poppers (cas)         poppers        relaxed: likewise
 *   cell.sequence   whoever has the cell  all            release R1, R3; acquire R2, R4
 *   cell.entry      pusher of the cell    its popper     relaxed: R1 publishes it
 */
#ifndef HBG_SCHED_RING_H
#define HBG_SCHED_RING_H

#include "atomic/atomic.h"
#include "base/check.h"

struct hbg__ring_cell {
    struct hbg__atomic_u64 entry;
    struct hbg__atomic_u32 sequence;
    uint32_t reserved;
};

struct hbg__ring {
    HBG__OWN_LINE struct hbg__atomic_u32 head;
    HBG__OWN_LINE struct hbg__atomic_u32 tail;
    HBG__OWN_LINE struct hbg__ring_cell *cell;
    uint32_t capacity;                  /* a power of two */
};

/* `cell` holds `capacity` cells; `first` is the position of the first push. */
static inline void hbg__ring_open(struct hbg__ring *ring, struct hbg__ring_cell *cell, uint32_t capacity, uint32_t first)
{
    ring->cell = cell;
    ring->capacity = capacity;
    /* relaxed: no other thread knows the ring yet. */
    hbg__store_relaxed32(&ring->head, first);
    hbg__store_relaxed32(&ring->tail, first);
    for (uint32_t i = 0; i < capacity; ++i)
        hbg__store_relaxed32(&cell[(first + i) & (capacity - 1)].sequence, first + i);
}

/* False: full. A turn of the loop needs another thread's push. */
static inline HBG_MUST_CHECK bool hbg__ring_push(struct hbg__ring *ring, uint64_t entry)
{
    uint32_t at = hbg__load_relaxed32(&ring->head);             /* relaxed: R2 decides */
    for (;;) {
        struct hbg__ring_cell *cell = &ring->cell[at & (ring->capacity - 1)];
        /* R2 acquire, pairs with R3 in hbg__ring_pop_many(): the cell's last entry has been read. */
        int32_t ahead = (int32_t)(hbg__load_acquire32(&cell->sequence) - at);
        if (ahead < 0) return false;
        if (ahead > 0) {
            at = hbg__load_relaxed32(&ring->head);              /* relaxed: R2 decides */
            continue;
        }
        /* relaxed: allots the cell; its contents go by R1. */
        if (hbg__cas_relaxed32(&ring->head, &at, at + 1)) {
            hbg__store_relaxed64(&cell->entry, entry);          /* relaxed: R1 publishes it */
            /* R1 release, pairs with R4 in hbg__ring_pop_many(): publishes the entry and all that made its task ready. */
            hbg__store_release32(&cell->sequence, at + 1);
            return true;
        }
    }
}

/* Up to `most` entries in the order of their pushes; returns how many. A turn of the loop needs another thread's pop. */
static inline uint32_t hbg__ring_pop_many(struct hbg__ring *ring, uint64_t *entry, uint32_t most)
{
    uint32_t at = hbg__load_relaxed32(&ring->tail);             /* relaxed: R4 decides */
    for (;;) {
        uint32_t count = 0;
        int32_t ahead = 0;
        while (count < most) {
            /* R4 acquire, pairs with R1 in hbg__ring_push(): the entry, and all that made its task ready. */
            ahead = (int32_t)(hbg__load_acquire32(&ring->cell[(at + count) & (ring->capacity - 1)].sequence) - (at + count + 1));
            if (ahead != 0) break;
            ++count;
        }
        if (count == 0 && ahead < 0) return 0;
        if (count == 0) {
            at = hbg__load_relaxed32(&ring->tail);              /* relaxed: R4 decides */
            continue;
        }
        /* relaxed: a cell that was full at R4 stays so until tail passes it, which this cas does. */
        if (hbg__cas_relaxed32(&ring->tail, &at, at + count)) {
            for (uint32_t i = 0; i < count; ++i) {
                struct hbg__ring_cell *cell = &ring->cell[(at + i) & (ring->capacity - 1)];
                entry[i] = hbg__load_relaxed64(&cell->entry);   /* relaxed: R4 acquired it */
                /* R3 release, pairs with R2 in hbg__ring_push(): the entry has been read, the cell is free for the next lap. */
                hbg__store_release32(&cell->sequence, at + i + ring->capacity);
            }
            return count;
        }
    }
}

static inline bool hbg__ring_pop(struct hbg__ring *ring, uint64_t *entry) { return hbg__ring_pop_many(ring, entry, 1) == 1; }

/* Is there something, as far as a passer-by sees? */
static inline bool hbg__ring_has_entries(const struct hbg__ring *ring)
{
    /* relaxed: a guess that pop checks. */
    return hbg__load_relaxed32(&ring->head) != hbg__load_relaxed32(&ring->tail);
}

#endif /* HBG_SCHED_RING_H */
