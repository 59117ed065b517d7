/* SPDX-License-Identifier: Apache-2.0 */
/* settle.h - is a task ready, and if not, where does it wait?
 *
 * A task waits for one producer at a time. The host linked it to its latest one; whoever completes a producer examines the
 * waiter against its remaining producers, latest first, and either finds it ready or registers it with the next incomplete
 * one. Producers that were passed are never looked at again, which is why the skip bit travels with the waiter.
 *
 *     producers, latest first:   [0]        [1]        [2]   ...
 *     how it waits there:        linked     slot word  slot word
 *                                by host    (settle)   (settle)
 */
#ifndef HBG_SCHED_SETTLE_H
#define HBG_SCHED_SETTLE_H

#include "base/check.h"
#include "sched/slot.h"

/* What examining a task needs to know of the run; written at launch, constant until the run is done. */
struct hbg__graph_view {
    const unsigned char *payload;
    struct hbg__slot *slots;
    uint32_t epoch;
    uint32_t task_count;
};

enum hbg__settled {
    HBG__SETTLED_WAITS,                 /* it belongs to somebody else now */
    HBG__SETTLED_READY,                 /* every producer is complete */
    HBG__SETTLED_SKIPPED                /* likewise, and one of them failed or was skipped */
};

/* Examine `task` against its producers from position `from` on. Position 0 is not asked here: the host linked the task there. */
static inline enum hbg__settled hbg__settle(const struct hbg__graph_view *graph, const struct hbg__task_record *record,
                                            uint32_t task, uint32_t from, bool skip)
{
    uint32_t count = hbg__image_producer_count(graph->payload, record);
    for (uint32_t i = from; i < count; ++i) {
        uint32_t producer = hbg__image_producer(graph->payload, record, i);
        uint32_t state = hbg__slot_register(graph->slots, graph->epoch, producer, task, skip);
        if (state == HBG__SLOT_EMPTY) return HBG__SETTLED_WAITS;
        skip = skip || (state == HBG__SLOT_FAILED && !(record->flags & HBG__TASK_REUSE));
    }
    return skip ? HBG__SETTLED_SKIPPED : HBG__SETTLED_READY;
}

/* The position of `producer` among the task's producers: they are sorted from the latest down. */
static inline uint32_t hbg__producer_position(const struct hbg__graph_view *graph, const struct hbg__task_record *record,
                                              uint32_t producer)
{
    for (uint32_t i = 0; i < 3; ++i)
        if (record->producer[i] == producer) return i;
    uint32_t low = 3, high = hbg__image_producer_count(graph->payload, record);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (hbg__image_producer(graph->payload, record, middle) > producer) low = middle + 1;
        else high = middle;
    }
    return low;
}

#endif /* HBG_SCHED_SETTLE_H */
