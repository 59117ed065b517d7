/* SPDX-License-Identifier: Apache-2.0 */
/* deque.h - a worker's own queue: the owner works at the bottom, thieves take from the top (Chase and Lev).
 *
 *        top                         bottom
 *         v                            v
 *     | . | oldest | ... | youngest |  .  |          positions only grow; entry i lies at item[i mod capacity]
 *
 * Invariant: an entry in [top, bottom) is taken exactly once, by the owner lowering `bottom` or by whoever moves `top` past it.
 * The owner and a thief meet only at the last entry; there the compare-exchange of `top` decides.
 *
 *   field        written by             read by          order, label
 *   bottom       owner                  owner, thieves   release D1 (push), seq_cst D3 (take)
 *   top          owner, thieves (cas)   all              seq_cst D4, D6; acquire in push
 *   item[]       owner                  owner, thieves   relaxed: D1 publishes it; a thief's cas proves that it was not reused
 *   top_seen     owner                  owner            none: private
 *
 * | call            | thread |            A full deque refuses: the caller takes the entry elsewhere.
 * | push, take,     | owner  |
 * | bottom          |        |
 * | steal, size     | any    |
 */
#ifndef HBG_SCHED_DEQUE_H
#define HBG_SCHED_DEQUE_H

#include "atomic/atomic.h"
#include "base/check.h"

#ifndef HBG__DEQUE_CAPACITY
#define HBG__DEQUE_CAPACITY 1024u       /* entries; a power of two */
#endif

struct hbg__deque {
    HBG__OWN_LINE struct hbg__atomic_u64 top;
    HBG__OWN_LINE struct hbg__atomic_u64 bottom;
    uint64_t top_seen;                  /* some earlier value of top */
    HBG__OWN_LINE struct hbg__atomic_u64 item[HBG__DEQUE_CAPACITY];
};

static inline void hbg__deque_open(struct hbg__deque *deque, uint64_t first)
{
    /* relaxed: no other thread knows the deque yet, or none is inside a run. */
    hbg__store_relaxed64(&deque->top, first);
    hbg__store_relaxed64(&deque->bottom, first);
    deque->top_seen = first;
}

/* Where the next entry goes. */
static inline uint64_t hbg__deque_bottom(const struct hbg__deque *deque)
{
    return hbg__load_relaxed64(&deque->bottom);                 /* relaxed: only the owner writes it */
}

/* False: full. */
static inline HBG_MUST_CHECK bool hbg__deque_push(struct hbg__deque *deque, uint64_t entry)
{
    uint64_t bottom = hbg__load_relaxed64(&deque->bottom);      /* relaxed: only the owner writes it */
    if (HBG_UNLIKELY(bottom - deque->top_seen >= HBG__DEQUE_CAPACITY)) {
        /* D7 acquire, pairs with D4 in hbg__deque_steal(): a thief has read its entry before the owner reuses the place. */
        deque->top_seen = hbg__load_acquire64(&deque->top);
        if (bottom - deque->top_seen >= HBG__DEQUE_CAPACITY) return false;
    }
    hbg__store_relaxed64(&deque->item[bottom % HBG__DEQUE_CAPACITY], entry);        /* relaxed: D1 publishes it */
    /* D1 release, pairs with D2 in hbg__deque_steal(): publishes the entry and all that made its task ready. */
    hbg__store_release64(&deque->bottom, bottom + 1);
    return true;
}

/* The youngest entry. False: empty. */
static inline bool hbg__deque_take(struct hbg__deque *deque, uint64_t *entry)
{
    uint64_t bottom = hbg__load_relaxed64(&deque->bottom);      /* relaxed: only the owner writes it */
    /* relaxed: top never passes bottom, so an old value that equals it is the true one. */
    if (hbg__load_relaxed64(&deque->top) == bottom) return false;
    --bottom;
    /* D3 seq_cst, pairs with D2 in hbg__deque_steal(): this store comes before the load of top below for every thread, as the
       thief's load of top comes before its load of bottom; so one of the two sees the other. A release store would not. */
    hbg__store_seq_cst64(&deque->bottom, bottom);
    /* D5 seq_cst, pairs with D4 in hbg__deque_steal(): the other half of D3. */
    uint64_t top = hbg__load_seq_cst64(&deque->top);
    bool mine = true;
    if (HBG_UNLIKELY((int64_t)(bottom - top) <= 0)) {
        /* D6 seq_cst, pairs with D4 in hbg__deque_steal(): the last entry goes to whoever moves top. */
        mine = bottom == top && hbg__cas_seq_cst64(&deque->top, &top, top + 1);
        /* D8 release, pairs with D2 in hbg__deque_steal(): the deque is empty; nothing is published. */
        hbg__store_release64(&deque->bottom, bottom + 1);
        if (!mine) return false;
    }
    *entry = hbg__load_relaxed64(&deque->item[bottom % HBG__DEQUE_CAPACITY]);       /* relaxed: the owner wrote it */
    return true;
}

/* What hbg__deque_take() would give, unless a thief is quicker. There is an entry, as far as the owner has seen. */
static inline uint64_t hbg__deque_youngest(const struct hbg__deque *deque)
{
    return hbg__load_relaxed64(&deque->item[(hbg__deque_bottom(deque) - 1) % HBG__DEQUE_CAPACITY]);     /* relaxed: the owner wrote it */
}

/* The oldest entry. False: empty, or somebody else was quicker. */
static inline bool hbg__deque_steal(struct hbg__deque *deque, uint64_t *entry)
{
    /* seq_cst with the load below: see D3. */
    uint64_t top = hbg__load_seq_cst64(&deque->top);
    /* D2 seq_cst, pairs with D1 in hbg__deque_push() and D3, D8 in hbg__deque_take(): the entry, and all that made it ready. */
    uint64_t bottom = hbg__load_seq_cst64(&deque->bottom);
    if ((int64_t)(bottom - top) <= 0) return false;
    uint64_t found = hbg__load_relaxed64(&deque->item[top % HBG__DEQUE_CAPACITY]);  /* relaxed: used only if the cas succeeds */
    /* D4 seq_cst, pairs with D5, D6 in hbg__deque_take() and D7 in hbg__deque_push(): takes the entry. */
    if (!hbg__cas_seq_cst64(&deque->top, &top, top + 1)) return false;
    *entry = found;
    return true;
}

/* How many entries a passer-by sees, and where the top stands. */
static inline uint64_t hbg__deque_size(const struct hbg__deque *deque, uint64_t *top)
{
    /* relaxed: a guess that steal checks. */
    uint64_t t = hbg__load_relaxed64(&deque->top), b = hbg__load_relaxed64(&deque->bottom);
    *top = t;
    return (int64_t)(b - t) > 0 ? b - t : 0;
}

#endif /* HBG_SCHED_DEQUE_H */
