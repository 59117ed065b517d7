/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - records of tasks, as the cores of a device write them.
 *
 *     launch.events --> | head of core 0 | head of core 1 | .. | ring of core 0 | ring of core 1 | ..
 *                         64 bytes each                          event_capacity records of 32 bytes each
 *
 * A core that enters a run stamps its head with the run's epoch, so a head of another epoch says that the core slept through the
 * run, and nothing has to be cleared. A full ring goes on at its beginning: the last records stay, and the count tells how many went.
 * Times are ticks of the core's clock; whoever collects the records makes nanoseconds of them.
 *
 *   field         written by    read by            order
 *   all           the core      host, at finish    none of its own: the end of the run (N1, N2 in src/sched) publishes it
 */
#ifndef HBG_TRACE_EVENT_H
#define HBG_TRACE_EVENT_H

#include <stdint.h>

#include "atomic/atomic.h"
#include "base/check.h"

struct hbg__event {
    uint32_t task, core;                /* task: its slot in the run, so nodes of submissions have numbers of their own */
    uint64_t dispatched;                /* the core turned to it: the end of its task before, or when it found this one after a search */
    uint64_t started, ended;            /* of the kernel */
};

struct hbg__event_core {
    uint32_t epoch;
    uint32_t reserved;
    uint64_t count;                     /* tasks recorded, those that were overwritten as well */
    uint64_t unused[6];
};
HBG__STATIC_ASSERT(sizeof(struct hbg__event) == 32, "two records a cache line");
HBG__STATIC_ASSERT(sizeof(struct hbg__event_core) == 64, "cores share no cache line");

/* What a core keeps of it while it is in a run. */
struct hbg__event_writer {
    struct hbg__event_core *head;
    struct hbg__event *ring;
    uint64_t capacity, at;
    uint32_t core;
    uint64_t free;                      /* the core's last task ended, or it entered the run */
};

static inline uint64_t hbg__event_ring_offset(uint64_t cores, uint64_t capacity, uint64_t core)
{
    return cores * sizeof(struct hbg__event_core) + core * capacity * sizeof(struct hbg__event);
}

static inline uint64_t hbg__event_bytes(uint64_t cores, uint64_t capacity) { return hbg__event_ring_offset(cores, capacity, cores); }

static inline void hbg__event_begin(struct hbg__event_writer *writer, uint64_t events, uint64_t cores, uint64_t capacity, uint64_t core,
                                    uint32_t epoch)
{
    writer->head = (struct hbg__event_core *)(uintptr_t)events + core;
    writer->ring = (struct hbg__event *)(uintptr_t)(events + hbg__event_ring_offset(cores, capacity, core));
    writer->core = (uint32_t)core;
    writer->capacity = capacity;
    writer->at = 0;
    writer->free = hbg__ticks();
    writer->head->epoch = epoch;
    writer->head->count = 0;
}

static inline void hbg__event_put(struct hbg__event_writer *writer, uint32_t task, uint64_t dispatched, uint64_t started, uint64_t ended)
{
    struct hbg__event *event = &writer->ring[writer->at];
    event->task = task;
    event->core = writer->core;
    event->dispatched = dispatched;
    event->started = started;
    event->ended = ended;
    writer->free = ended;
    writer->at = writer->at + 1 < writer->capacity ? writer->at + 1 : 0;
    writer->head->count++;
}

#endif /* HBG_TRACE_EVENT_H */
