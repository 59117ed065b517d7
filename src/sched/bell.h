/* SPDX-License-Identifier: Apache-2.0 */
/* bell.h - how a thread sleeps until something happens without missing it: announce, re-check, sleep.
 *
 *     sleeper                                    ringer
 *     seen = hbg__bell_announce()                make the thing true (release)
 *     if the thing is true: hbg__bell_retract()  hbg__bell_ring()
 *     else hbg__bell_sleep(seen)
 *
 * Either the ringer sees the sleeper's announcement and wakes it (the kernel compares `rings` under its lock, so a ring before
 * the sleep makes the sleep return at once), or the sleeper's announcement came after the ring and its re-check sees the thing.
 *
 *   field      written by    read by     order, label
 *   rings      ringers       sleepers    seq_cst B1, B3
 *   sleepers   sleepers      ringers     seq_cst B2, B4
 */
#ifndef HBG_SCHED_BELL_H
#define HBG_SCHED_BELL_H

#include "atomic/atomic.h"

struct hbg__bell {
    HBG__OWN_LINE struct hbg__atomic_u32 rings;
    struct hbg__atomic_u32 sleepers;
};

static inline void hbg__bell_open(struct hbg__bell *bell)
{
    /* relaxed: no other thread knows the bell yet. */
    hbg__store_relaxed32(&bell->rings, 0);
    hbg__store_relaxed32(&bell->sleepers, 0);
}

static inline uint32_t hbg__bell_announce(struct hbg__bell *bell)
{
    /* B2 seq_cst, pairs with B4 in hbg__bell_ring(): before the load below for every thread, as B1 is before B4. */
    hbg__fetch_add_seq_cst32(&bell->sleepers, 1);
    /* B3 seq_cst, pairs with B1 in hbg__bell_ring(): a ring that is seen here was preceded by the thing, which the re-check
       then sees. */
    return hbg__load_seq_cst32(&bell->rings);
}

static inline void hbg__bell_retract(struct hbg__bell *bell)
{
    hbg__fetch_add_relaxed32(&bell->sleepers, (uint32_t)-1);    /* relaxed: a count that is too high costs a needless wake. */
}

/* Ends when somebody rings, when the time is up, or early; takes the announcement back. */
static inline void hbg__bell_sleep(struct hbg__bell *bell, uint32_t seen, uint64_t timeout_ns)
{
    hbg__word_wait(&bell->rings, seen, timeout_ns);
    hbg__bell_retract(bell);
}

/* Wake up to `count` sleepers. */
static inline void hbg__bell_ring(struct hbg__bell *bell, uint32_t count)
{
    /* B1 seq_cst, pairs with B3 in hbg__bell_announce(): publishes the thing; before the load below for every thread. */
    hbg__fetch_add_seq_cst32(&bell->rings, 1);
    /* B4 seq_cst, pairs with B2 in hbg__bell_announce(): nobody announced means that whoever does so later sees the ring. */
    if (hbg__load_seq_cst32(&bell->sleepers)) hbg__word_wake(&bell->rings, count);
}

/* Until `is_true(thing)`, which a ring follows, or until the time is up: spins first, then sleeps. False: time is up. */
static inline bool hbg__bell_wait(struct hbg__bell *bell, bool (*is_true)(void *thing), void *thing, uint64_t spin_ns, uint64_t timeout_ns)
{
    uint64_t started_ns = hbg__clock_ns(), waited_ns = 0;
    for (;;) {
        if (is_true(thing)) return true;
        if (waited_ns >= timeout_ns) return false;
        if (waited_ns < spin_ns) {
            hbg__pause();
        } else {
            uint32_t seen = hbg__bell_announce(bell);
            if (is_true(thing)) hbg__bell_retract(bell);
            else hbg__bell_sleep(bell, seen, timeout_ns == UINT64_MAX ? timeout_ns : timeout_ns - waited_ns);
        }
        waited_ns = hbg__clock_ns() - started_ns;
    }
}

/* Does anybody sleep, as far as a passer-by sees? */
static inline bool hbg__bell_has_sleepers(const struct hbg__bell *bell)
{
    return hbg__load_relaxed32(&bell->sleepers) != 0;   /* relaxed: a hint; see idle.c for what a miss costs. */
}

#endif /* HBG_SCHED_BELL_H */
