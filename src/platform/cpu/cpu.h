/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h - what the `cpu` and `null` platforms share: all of it but whether kernels are called.
 *
 *     cpu.c         spec, open and close, properties, launches
 *     memory.c      allocations and zones
 *     stream.c      streams, copies, kernel tables
 *     line.c        launches of several streams, one at a time
 *     copy_engine.c   the thread that copies for a discrete device
 *     cpu_count.c   how many workers by default
 *     queues.c      a checksum of the queues
 *     workers.c     the threads
 *
 *   field            written by    read by        order
 *   all of hbg__platform but live_*: open, before the platform is shared
 *   live_*           any thread    close (test)   relaxed: counts, they publish nothing
 */
#ifndef HBG_PLATFORM_CPU_CPU_H
#define HBG_PLATFORM_CPU_CPU_H

#include "atomic/atomic.h"
#include "platform/cpu/copy_engine.h"
#include "platform/cpu/line.h"
#include "platform/cpu/workers.h"
#include "platform/platform.h"

struct hbg__platform {
    struct hbg__memory *memory;
    const struct hbg__log *log;
    struct hbg__workers *workers;
    struct hbg__line line;
    struct hbg__copy_engine *copy_engine;       /* NULL: unified, copies are made by the caller */
    struct hbg__workers_options options;
    bool unified, poison;
    bool stream_threads;                /* for experiments, as is what follows: each stream has a copy engine of its own */
    enum hbg__stream_sets stream_sets;
    uint64_t pad_bytes;
    uint32_t pad_copies;
    uint32_t depth;
    uint32_t page_bytes;
    uint64_t reserve_bytes;             /* address space of a zone */
    struct hbg__atomic_u32 live_streams;
    struct hbg__atomic_u32 live_blocks;
    struct hbg__atomic_u64 live_bytes;        /* of device allocations, guard pages apart */
};

struct hbg__stream {
    struct hbg__platform *platform;
    struct hbg__copy_engine *engine;    /* its own, or the platform's */
    struct hbg__copies copies;
    struct hbg__ticket ticket;
};

enum hbg_status hbg__cpu_open(struct hbg__option_set *spec, const struct hbg__platform_context *context, bool no_kernels,
                              struct hbg__platform **platform);
void hbg__cpu_copies_are_made(void *platform);
void hbg__cpu_close(struct hbg__platform *platform);
uint32_t hbg__cpu_abandon(struct hbg__platform *platform);
void hbg__cpu_properties(const struct hbg__platform *platform, struct hbg__platform_properties *properties);
enum hbg_status hbg__cpu_memory_alloc(struct hbg__platform *platform, uint64_t size_bytes, uint64_t *address);
void hbg__cpu_memory_free(struct hbg__platform *platform, uint64_t address, uint64_t size_bytes);
bool hbg__cpu_memory_intact(struct hbg__platform *platform, uint64_t address, uint64_t size_bytes, int64_t *offset);
uint64_t hbg__cpu_queue_sum(struct hbg__platform *platform);
void *hbg__cpu_memory_map(struct hbg__platform *platform, uint64_t address, uint64_t size_bytes);
enum hbg_status hbg__cpu_zone_fit(struct hbg__platform *platform, struct hbg__zone *zone, uint64_t size_bytes);
void hbg__cpu_zone_close(struct hbg__platform *platform, struct hbg__zone *zone);
enum hbg_status hbg__cpu_stream_create(struct hbg__platform *platform, struct hbg__stream **stream);
void hbg__cpu_stream_destroy(struct hbg__platform *platform, struct hbg__stream *stream);
enum hbg_status hbg__cpu_stream_sync(struct hbg__platform *platform, struct hbg__stream *stream);
bool hbg__cpu_stream_query(struct hbg__platform *platform, struct hbg__stream *stream);
enum hbg_status hbg__cpu_copy_in(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t target, const void *source, uint64_t size_bytes);
enum hbg_status hbg__cpu_copy_out(struct hbg__platform *platform, struct hbg__stream *stream, void *target, uint64_t source, uint64_t size_bytes);
enum hbg_status hbg__cpu_fill(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t target, unsigned char byte, uint64_t size_bytes);
enum hbg_status hbg__cpu_program_register(struct hbg__platform *platform, struct hbg__stream *stream, const struct hbg_kernel *kernels,
                                          uint32_t count, uint64_t *table);
void hbg__cpu_program_release(struct hbg__platform *platform, uint64_t table);
enum hbg_status hbg__cpu_launch(struct hbg__platform *platform, struct hbg__stream *stream, struct hbg__stream *after, uint64_t descriptor,
                                const struct hbg__launch_done *done);
enum hbg__launch_state hbg__cpu_poll(struct hbg__platform *platform, struct hbg__stream *stream);
bool hbg__cpu_wait(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t timeout_ns);
void hbg__cpu_result(struct hbg__platform *platform, struct hbg__stream *stream, struct hbg__launch_result *result);
void hbg__cpu_abort(struct hbg__platform *platform, struct hbg__stream *stream);
bool hbg__cpu_progress(struct hbg__platform *platform, struct hbg__stream *stream, bool patient, struct hbg__progress *progress);

/* Every entry of the table but name and open. */
#define HBG__CPU_SHARED_OPS                                                                                            \
    .resources = hbg__cpu_resources,                                                                                  \
    .close = hbg__cpu_close, .abandon = hbg__cpu_abandon, .properties = hbg__cpu_properties, .memory_alloc = hbg__cpu_memory_alloc,                \
    .memory_free = hbg__cpu_memory_free, .memory_map = hbg__cpu_memory_map,                                            \
    .memory_intact = hbg__cpu_memory_intact, .queue_sum = hbg__cpu_queue_sum, .zone_fit = hbg__cpu_zone_fit,           \
    .zone_close = hbg__cpu_zone_close, .stream_create = hbg__cpu_stream_create,                                        \
    .stream_destroy = hbg__cpu_stream_destroy, .stream_sync = hbg__cpu_stream_sync,                                    \
    .stream_query = hbg__cpu_stream_query, .copy_in = hbg__cpu_copy_in, .copy_out = hbg__cpu_copy_out,                 \
    .fill = hbg__cpu_fill, .program_register = hbg__cpu_program_register,                                              \
    .program_release = hbg__cpu_program_release, .launch = hbg__cpu_launch, .poll = hbg__cpu_poll,                     \
    .wait = hbg__cpu_wait, .result = hbg__cpu_result, .abort = hbg__cpu_abort, .progress = hbg__cpu_progress

#endif /* HBG_PLATFORM_CPU_CPU_H */
