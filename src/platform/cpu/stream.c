/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - streams, copies and kernel tables of the `cpu` platform.
 *
 * On a unified device a copy is made when the call returns. A discrete one has a copy engine; what reads device memory, or fills
 * it, first waits for the copies of its stream.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "core/kernel_table.h"
#include "platform/cpu/cpu.h"

enum hbg_status hbg__cpu_stream_create(struct hbg__platform *platform, struct hbg__stream **stream)
{
    struct hbg__stream *made = HBG__NEW(platform->memory, struct hbg__stream);
    if (!made) return HBG_E_NO_MEMORY;
    made->platform = platform;
    made->engine = platform->copy_engine;
    if (platform->stream_threads) {
        enum hbg_status status = hbg__copy_engine_create(platform->memory, hbg__cpu_copies_are_made, platform, &made->engine, NULL);
        if (status) {
            HBG__DELETE(platform->memory, made);
            return status;
        }
    }
    hbg__ticket_open(&made->ticket);
    hbg__fetch_add_relaxed32(&platform->live_streams, 1);               /* relaxed: a count */
    *stream = made;
    return HBG_OK;
}

void hbg__cpu_stream_destroy(struct hbg__platform *platform, struct hbg__stream *stream)
{
    if (!stream) return;
    if (platform->stream_threads) hbg__copy_engine_destroy(stream->engine);
    hbg__fetch_add_relaxed32(&platform->live_streams, (uint32_t)-1);    /* relaxed: a count */
    HBG__DELETE(platform->memory, stream);
}

static void sync(struct hbg__stream *stream) { hbg__copy_engine_sync(stream->engine, &stream->copies); }

enum hbg_status hbg__cpu_stream_sync(struct hbg__platform *platform, struct hbg__stream *stream)
{
    HBG_ASSERT(stream->platform == platform);
    (void)platform;
    sync(stream);
    return HBG_OK;
}

bool hbg__cpu_stream_query(struct hbg__platform *platform, struct hbg__stream *stream)
{
    HBG_ASSERT(stream->platform == platform);
    (void)platform;
    return !hbg__copies_pending(&stream->copies) && hbg__ticket_state(&stream->ticket) == HBG__LAUNCH_ENDED;
}

enum hbg_status hbg__cpu_copy_in(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t target, const void *source, uint64_t size_bytes)
{
    HBG_DEBUG_ASSERT(stream->platform == platform);
    (void)platform;
    hbg__copy_engine_copy(stream->engine, &stream->copies, (void *)(uintptr_t)target, source, size_bytes);
    return HBG_OK;
}

enum hbg_status hbg__cpu_copy_out(struct hbg__platform *platform, struct hbg__stream *stream, void *target, uint64_t source, uint64_t size_bytes)
{
    HBG_DEBUG_ASSERT(stream->platform == platform);
    (void)platform;
    sync(stream);
    memcpy(target, (const void *)(uintptr_t)source, size_bytes);
    return HBG_OK;
}

enum hbg_status hbg__cpu_fill(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t target, unsigned char byte, uint64_t size_bytes)
{
    HBG_DEBUG_ASSERT(stream->platform == platform);
    (void)platform;
    sync(stream);
    memset((void *)(uintptr_t)target, byte, size_bytes);
    return HBG_OK;
}

static uint64_t largest_scratch(const struct hbg_kernel *kernels, uint32_t count)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kernels[i].scratch_bytes > largest) largest = kernels[i].scratch_bytes;
    }
    return hbg__round_up(largest, HBG__LINE);
}

/* Table, entries and scratch are one allocation; where they lie is kernel_table.h's drawing. */
static uint64_t entries_bytes(uint32_t count)
{
    uint64_t bytes = sizeof(struct hbg__kernel_table) + (uint64_t)count * sizeof(struct hbg__kernel_entry);
    return hbg__round_up(bytes, HBG__LINE);
}

static uint64_t table_bytes(uint32_t count, uint64_t scratch_stride, uint32_t workers)
{
    return entries_bytes(count) + scratch_stride * workers;
}

enum hbg_status hbg__cpu_program_register(struct hbg__platform *platform, struct hbg__stream *stream, const struct hbg_kernel *kernels,
                                          uint32_t count, uint64_t *table)
{
    HBG_ASSERT(stream->platform == platform);
    uint32_t workers = platform->options.workers;
    uint64_t stride = largest_scratch(kernels, count), address;
    if (stride > ((uint64_t)1 << 40) / workers) return HBG_E_NO_MEMORY;
    enum hbg_status status = hbg__cpu_memory_alloc(platform, table_bytes(count, stride, workers), &address);
    if (status) return status;
    struct hbg__kernel_table *made = (struct hbg__kernel_table *)(uintptr_t)address;
    struct hbg__kernel_entry *entry = (struct hbg__kernel_entry *)(made + 1);
    *made = (struct hbg__kernel_table){ .kernel_count = count, .worker_count = workers,
                                        .scratch = stride ? address + entries_bytes(count) : 0, .scratch_stride = stride };
    for (uint32_t i = 0; i < count; i++) {
        entry[i] = (struct hbg__kernel_entry){ .run = kernels[i].run, .user = kernels[i].user,
                                               .scratch_bytes = kernels[i].scratch_bytes, .kind = (uint64_t)kernels[i].kind };
    }
    *table = address;
    return HBG_OK;
}

void hbg__cpu_program_release(struct hbg__platform *platform, uint64_t table)
{
    const struct hbg__kernel_table *made = (const struct hbg__kernel_table *)(uintptr_t)table;
    if (!table) return;
    hbg__cpu_memory_free(platform, table, table_bytes(made->kernel_count, made->scratch_stride, made->worker_count));
}
