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

/* Ask one producer: HBG__SLOT_EMPTY if the task waits there now; otherwise its state goes into *skip. */
static inline uint32_t hbg__settle_with(const struct hbg__graph_view *graph, const struct hbg__task_record *record, uint32_t task,
                                        uint32_t producer, bool *skip)
{
    uint32_t state = hbg__slot_register(graph->slots, graph->epoch, producer, task, *skip);
    if (HBG_UNLIKELY(state == HBG__SLOT_FAILED) && !(record->flags & HBG__TASK_REUSE)) *skip = true;
    return state;
}

/* Producers from the fourth on, in the edge row. */
static HBG_NO_INLINE enum hbg__settled hbg__settle_row(const struct hbg__graph_view *graph, const struct hbg__task_record *record,
                                                       uint32_t task, uint32_t from, bool skip)
{
    uint32_t count = hbg__image_producer_count(graph->payload, record);
    for (uint32_t i = from; i < count; ++i)
        if (hbg__settle_with(graph, record, task, hbg__image_producer(graph->payload, record, i), &skip) == HBG__SLOT_EMPTY)
            return HBG__SETTLED_WAITS;
    return skip ? HBG__SETTLED_SKIPPED : HBG__SETTLED_READY;
}

/* Examine `task` against its producers from position `from` on. Position 0 is asked only for a node that is added while the
   run goes on: the host linked all others there. */
static inline enum hbg__settled hbg__settle(const struct hbg__graph_view *graph, const struct hbg__task_record *record,
                                            uint32_t task, uint32_t from, bool skip)
{
    uint32_t count = record->producer_count < 3 ? record->producer_count : 3;
    for (; from < count; ++from)
        if (hbg__settle_with(graph, record, task, record->producer[from], &skip) == HBG__SLOT_EMPTY) return HBG__SETTLED_WAITS;
    if (record->producer_count > 3) return hbg__settle_row(graph, record, task, from, skip);
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
