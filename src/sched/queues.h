/* SPDX-License-Identifier: Apache-2.0 */
/* queues.h - a checksum over the places where tasks wait: every worker's deque, the shared ring, the head of the spill list.
 *
 * They are written once, at open, and then by workers inside a launch alone; lap-relative positions make a reset between runs
 * needless. So between the end of a launch and the next one the sum stands still, unless somebody wrote where he must not.
 * Here and not in a file of its own, because `sim` has deques of another capacity.
 */
#ifndef HBG_SCHED_QUEUES_H
#define HBG_SCHED_QUEUES_H

#include "base/hash.h"
#include "sched/sched.h"

/* No launch is in flight, and the caller has seen the last one end. */
static inline uint64_t hbg__queues_sum(const struct hbg__sched *sched)
{
    const struct hbg__ring *ring = &sched->ring;
    uint64_t sum = hbg__hash_bytes(ring->cell, ring->capacity * sizeof *ring->cell, 0);
    sum = hbg__hash_bytes(&ring->head, sizeof ring->head, sum);
    sum = hbg__hash_bytes(&ring->tail, sizeof ring->tail, sum);
    sum = hbg__hash_bytes(&sched->spill.head, sizeof sched->spill.head, sum);
    for (uint32_t i = 0; i < sched->options.worker_count; i++) {
        const struct hbg__deque *deque = &sched->worker[i].deque;
        sum = hbg__hash_bytes(&deque->top, sizeof deque->top, sum);
        sum = hbg__hash_bytes(&deque->bottom, sizeof deque->bottom, sum);
        sum = hbg__hash_bytes(deque->item, sizeof deque->item, sum);
    }
    return sum;
}

#endif /* HBG_SCHED_QUEUES_H */
