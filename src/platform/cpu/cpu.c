/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c - the `cpu` platform: worker threads are the cores, and host memory is device memory.
 *
 *     cpu:workers=N,memory=unified|discrete,pin=0|1,spin_us=N,stall_ms=N,ring=N,spill=0|1,depth=N,poison=0|1
 *         and, for experiments, streams=slot|pair|run,stream_threads=0|1,pad_bytes=N,pad_copies=N
 *
 * A discrete `cpu` exists to prove the upload contract: device memory is allocated apart, guard pages stand around it, and the
 * host moves bytes in and out through copies alone, although it could reach them.
 */
#include "platform/cpu/cpu.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/option.h"
#include "platform/cpu/cpu_count.h"

enum { WORKERS_MAX = 1024, RING_DEFAULT = 4096, RING_MIN = 2, RING_MAX = 1 << 24, DEPTH_DEFAULT = 2, DEPTH_MAX = 16 };
enum { PAD_BYTES_MAX = 64 << 20, PAD_COPIES_MAX = 64 };
enum { SPIN_DEFAULT_US = 12, SPIN_MAX_US = 1000000, STALL_DEFAULT_MS = 1000, STALL_MAX_MS = 3600000 };

struct cpu_spec {
    struct hbg__workers_options workers;
    bool discrete, poison, stream_threads;
    uint32_t depth, pad_copies;
    uint64_t pad_bytes;
    int streams;                        /* enum hbg__stream_sets */
};

/* What no user needs: docs/experiments/ has them. */
static bool read_experiments(struct hbg__option_set *set, struct cpu_spec *spec)
{
    static const char *const streams[] = { "slot", "pair", "run" };
    int64_t pad_copies = 1;
    hbg__option_choice(set, "streams", streams, 3, &spec->streams);
    hbg__option_bool(set, "stream_threads", &spec->stream_threads);
    hbg__option_u64(set, "pad_bytes", 0, PAD_BYTES_MAX, &spec->pad_bytes);
    bool read = hbg__option_i64(set, "pad_copies", 1, PAD_COPIES_MAX, &pad_copies);
    spec->pad_copies = (uint32_t)pad_copies;
    return read;
}

static enum hbg_status read_spec(struct hbg__option_set *set, struct cpu_spec *spec, struct hbg_error *error)
{
    static const char *const memories[] = { "unified", "discrete" };
    int64_t workers = hbg__cpu_count(), spin_us = SPIN_DEFAULT_US, stall_ms = STALL_DEFAULT_MS, ring = RING_DEFAULT, depth;
    bool pin = false, spill = true, poison = false;
    int memory = 0;
    if (workers > WORKERS_MAX) workers = WORKERS_MAX;
    hbg__option_i64(set, "workers", 1, WORKERS_MAX, &workers);
    hbg__option_choice(set, "memory", memories, 2, &memory);
    hbg__option_bool(set, "pin", &pin);
    hbg__option_i64(set, "spin_us", 0, SPIN_MAX_US, &spin_us);
    hbg__option_i64(set, "stall_ms", 1, STALL_MAX_MS, &stall_ms);
    hbg__option_i64(set, "ring", RING_MIN, RING_MAX, &ring);
    hbg__option_bool(set, "spill", &spill);
    hbg__option_bool(set, "poison", &poison);
    depth = poison ? 1 : DEPTH_DEFAULT;
    hbg__option_i64(set, "depth", 1, DEPTH_MAX, &depth);
    struct cpu_spec read = { .streams = HBG__STREAMS_OF_SLOT };
    (void)read_experiments(set, &read);
    if (!hbg__option_finish(set)) return hbg__error_set(error, HBG_E_OPTION, set->problem_key, "%s", set->problem);
    if (ring & (ring - 1)) return hbg__error_set(error, HBG_E_OPTION, "ring", "option \"ring\" is %lld; it must be a power of two", (long long)ring);
    if (poison && depth != 1) return hbg__error_set(error, HBG_E_OPTION, "depth", "option \"depth\" is %lld; with poison=1 one run is watched at a time, so it must be 1", (long long)depth);
    if (read.streams == HBG__STREAMS_OF_DEVICE && depth != 1) return hbg__error_set(error, HBG_E_OPTION, "depth", "option \"depth\" is %lld; with streams=pair runs come one at a time, so it must be 1", (long long)depth);
    *spec = (struct cpu_spec){
        .streams = read.streams, .stream_threads = read.stream_threads, .pad_bytes = read.pad_bytes, .pad_copies = read.pad_copies,
        .workers = { .workers = (uint32_t)workers, .pin = pin, .spill = spill, .ring_capacity = (uint32_t)ring,
                     .spin_ns = (uint64_t)spin_us * 1000u, .stall_ns = (uint64_t)stall_ms * 1000000u },
        .discrete = memory == 1, .poison = poison, .depth = (uint32_t)depth };
    return HBG_OK;
}

void hbg__cpu_copies_are_made(void *platform) { hbg__line_advance(&((struct hbg__platform *)platform)->line); }

static enum hbg_status start(struct hbg__platform *platform, const struct cpu_spec *spec, struct hbg_error *error)
{
    hbg__line_open(&platform->line);
    platform->options.concluded = hbg__line_concluded;
    platform->options.concluded_user = &platform->line;
    enum hbg_status status = hbg__workers_create(&platform->options, platform->memory, &platform->workers, error);
    platform->line.workers = platform->workers;
    if (!status && spec->discrete) status = hbg__copy_engine_create(platform->memory, hbg__cpu_copies_are_made, platform, &platform->copy_engine, error);
    return status;
}

static void stop(struct hbg__platform *platform)
{
    hbg__copy_engine_destroy(platform->copy_engine);
    hbg__workers_destroy(platform->workers);
    hbg__line_close(&platform->line);
    HBG__DELETE(platform->memory, platform);
}

enum hbg_status hbg__cpu_open(struct hbg__option_set *set, const struct hbg__platform_context *context, bool no_kernels,
                              struct hbg__platform **platform)
{
    struct cpu_spec spec = { .discrete = false };
    enum hbg_status status = read_spec(set, &spec, context->error);
    if (status) return status;
    struct hbg__platform *made = HBG__NEW(context->memory, struct hbg__platform);
    if (!made) return hbg__error_no_memory(context->error, "platform", sizeof *made);
    spec.workers.no_kernels = no_kernels;
    made->memory = context->memory;
    made->log = context->log;
    made->reserve_bytes = context->reserve_bytes;
    made->options = spec.workers;
    made->unified = !spec.discrete;
    made->poison = spec.poison;
    made->depth = spec.depth;
    made->stream_threads = spec.stream_threads && spec.discrete;
    made->stream_sets = (enum hbg__stream_sets)spec.streams;
    made->pad_bytes = spec.pad_bytes;
    made->pad_copies = spec.pad_copies;
    made->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    status = start(made, &spec, context->error);
    if (status) stop(made);
    else *platform = made;
    return status;
}

void hbg__cpu_close(struct hbg__platform *platform)
{
    /* relaxed: the device has stopped using the platform before it closes it */
    HBG_ASSERT(hbg__load_relaxed32(&platform->live_streams) == 0);
    HBG_ASSERT(hbg__load_relaxed64(&platform->live_bytes) == 0);
    stop(platform);
}

uint32_t hbg__cpu_abandon(struct hbg__platform *platform)
{
    hbg__line_abandon(&platform->line);
    hbg__copy_engine_destroy(platform->copy_engine);
    platform->copy_engine = NULL;
    return hbg__workers_abandon(platform->workers);
}

void hbg__cpu_properties(const struct hbg__platform *platform, struct hbg__platform_properties *properties)
{
    *properties = (struct hbg__platform_properties){
        .workers = hbg__workers_count(platform->workers), .depth = platform->depth, .clusters = 0,
        .core_kinds = 1u << HBG_ANY | 1u << HBG_MATRIX | 1u << HBG_VECTOR,
        .unified = platform->unified, .poison = platform->poison, .page_bytes = platform->page_bytes,
        .stream_sets = platform->stream_sets, .pad_bytes = platform->pad_bytes, .pad_copies = platform->pad_copies };
}

enum hbg_status hbg__cpu_launch(struct hbg__platform *platform, struct hbg__stream *stream, struct hbg__stream *after, uint64_t descriptor,
                                const struct hbg__launch_done *done)
{
    hbg__line_launch(&platform->line, &stream->ticket, (const struct hbg__launch *)(uintptr_t)descriptor, &after->copies, done);
    return HBG_OK;
}

enum hbg__launch_state hbg__cpu_poll(struct hbg__platform *platform, struct hbg__stream *stream)
{
    (void)platform;
    return hbg__ticket_state(&stream->ticket);
}

bool hbg__cpu_wait(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t timeout_ns)
{
    return hbg__line_wait(&platform->line, &stream->ticket, timeout_ns);
}

void hbg__cpu_result(struct hbg__platform *platform, struct hbg__stream *stream, struct hbg__launch_result *result)
{
    (void)platform;
    *result = stream->ticket.result;
}

void hbg__cpu_abort(struct hbg__platform *platform, struct hbg__stream *stream) { hbg__line_cancel(&platform->line, &stream->ticket); }

bool hbg__cpu_progress(struct hbg__platform *platform, struct hbg__stream *stream, bool patient, struct hbg__progress *progress)
{
    return hbg__line_progress(&platform->line, &stream->ticket, patient, progress);
}

const struct hbg__resource hbg__cpu_resources[] = {
    { "bank", HBG__RESOURCE_PER_RUN, 0 },               /* slots, heap, staging, descriptor, task records */
    { "stream set", HBG__RESOURCE_PER_RUN, 0 },
    { "queues", HBG__RESOURCE_SCRATCH, 1 },
    { "kernel scratch", HBG__RESOURCE_SCRATCH, 1 },     /* a piece for each worker */
    { "kernel table", HBG__RESOURCE_HANDLE, 0 },
    { "image", HBG__RESOURCE_HANDLE, 0 },
    { "buffer", HBG__RESOURCE_HANDLE, 0 },
    { NULL, HBG__RESOURCE_CLASSES, 0 },
};

static enum hbg_status open_with_kernels(struct hbg__option_set *spec, const struct hbg__platform_context *context,
                                         struct hbg__platform **platform)
{
    return hbg__cpu_open(spec, context, false, platform);
}

const struct hbg__platform_ops hbg__cpu_ops = { .name = "cpu", .open = open_with_kernels, HBG__CPU_SHARED_OPS };
