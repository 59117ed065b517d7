/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - an open device as src/run sees it.
 *
 *     hbg_device --- run[depth]      pipeline slots: run.h
 *        |    '----- bootstrap       one pair of streams for control work, so that it never queues behind a run
 *        |'--------- buffers, programs (lists)
 *        '---------- platform
 *
 * The handle holds one reference to the struct, each buffer and each program another: children may outlive the close, which
 * takes the platform away (`closed`) and leaves the struct to the last of them.
 *
 *   field                                     written by                                 read by            guarded by
 *   ops, properties, limits, memory, log      open                                       any thread         set before it is shared
 *   trace                                     open, close                                any thread         likewise; nobody calls after the close
 *   run[i] lease, closed, references, lists   any thread                                 any thread         lock
 *   queue_sum                                 finish                                     prepare            the lease of the only slot
 *   counters                                  any thread                                 any thread         relaxed: statistics
 *   replays_seen, bodies_seen                 any preparing thread                       the same           relaxed: a statistic
 *   definitions                               preparing threads                          the same           definition.h
 *   bootstrap                                 whoever copies for a buffer or a program   the same           bootstrap_lock
 *
 * Locks are taken in the order: a program's lock, lock, that of the definitions, bootstrap_lock, the process lock.
 */
#ifndef HBG_RUN_DEVICE_H
#define HBG_RUN_DEVICE_H

#include <pthread.h>

#include <hbg/run.h>

#include "atomic/atomic.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "graph/definition.h"
#include "platform/platform.h"
#include "run/process.h"
#include "trace/trace.h"

struct hbg__counter_set {
#define HBG__FIELD(name) struct hbg__atomic_u64 name;
    HBG_COUNTER_MAP(HBG__FIELD)
#undef HBG__FIELD
};
static_assert(sizeof(struct hbg__counter_set) + offsetof(struct hbg_counters, runs) == sizeof(struct hbg_counters), "HBG_COUNTER_MAP names every counter");

enum { HBG__STREAM_COPY, HBG__STREAM_WORK, HBG__STREAM_COUNT };
struct hbg__stream_set { struct hbg__stream *stream[HBG__STREAM_COUNT]; bool made; };

struct hbg_device {
    const struct hbg__platform_ops *ops;
    struct hbg__platform *platform;
    struct hbg__platform_properties properties;
    struct hbg__memory memory;
    struct hbg__log log;
    uint64_t reserve_bytes, limit_heap_bytes, heap_reuse_after_bytes;
    struct hbg_counters *final_counters;
    uint32_t fork_count;                    /* of the process that opened it */
    struct hbg__trace *trace;               /* NULL: nothing is traced */
    bool queues_summed;                     /* watch.c: queue_sum is that of the last run's end */
    uint64_t queue_sum;
    uint32_t verify_replay;                 /* of n replays one builds again and compares, and so does one of n bodies that are found: graph/turn.h; 0: none */
    struct hbg__atomic_u64 replays_seen, bodies_seen;

    pthread_mutex_t lock;
    pthread_cond_t slot_free;
    uint32_t waiting;                       /* threads that wait for slot_free */
    struct hbg__run *run;
    uint32_t depth;
    bool closed;
    uint32_t references;
    struct hbg_buffer *buffers;
    struct hbg_program *programs;

    struct hbg__definitions definitions;    /* recorded bodies of hbg_subgraph() */
    struct hbg__definition_chunk *definition_chunks;    /* where they lie on a discrete device; newest first; under their lock */

    pthread_mutex_t bootstrap_lock;
    struct hbg__stream_set bootstrap;
    struct hbg__stream_set pair;            /* of all runs, where the platform says so; under lock */
    struct hbg__counter_set counters;
};

/* The clock that launches of the device are timed with. */
static inline uint64_t hbg__device_now_ns(const struct hbg_device *device)
{
    return HBG_LIKELY(device->ops->clock == NULL) ? hbg__clock_ns() : device->ops->clock(device->platform);
}

/* A sum that does not fit is UINT64_MAX, which no clock reaches. */
static inline uint64_t hbg__device_after_ns(const struct hbg_device *device, uint64_t timeout_ns)
{
    uint64_t now_ns = hbg__device_now_ns(device);
    return timeout_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + timeout_ns;
}

/* Down as well: by (uint64_t)-1. */
static inline void hbg__count(struct hbg__atomic_u64 *counter, uint64_t by)
{
    hbg__fetch_add_relaxed64(counter, by);          /* relaxed: a statistic, it publishes nothing */
}

/* May this thread call the device at all? HBG_OK, HBG_E_REENTRANT, HBG_E_DEVICE (forked). One relaxed load beside the thread's own. */
enum hbg_status hbg__device_check(const struct hbg_device *device, const char *call, struct hbg_error *error);

/* One more user of the struct; device->lock is held. */
void hbg__device_hold(struct hbg_device *device);
/* Unlocks, and frees the struct where it was the last user. */
void hbg__device_unlock_drop(struct hbg_device *device);

enum hbg_status hbg__stream_set_make(struct hbg_device *device, struct hbg__stream_set *set);
void hbg__stream_set_destroy(struct hbg_device *device, struct hbg__stream_set *set);

/* What the graph may ask about buffers of this device. */
struct hbg__buffer_ops hbg__device_buffer_ops(struct hbg_device *device);

/* Tests: the epoch that the next run of every bank begins at. No run may be in flight. */
void hbg__device_start_epoch(struct hbg_device *device, uint32_t epoch);

#endif /* HBG_RUN_DEVICE_H */
