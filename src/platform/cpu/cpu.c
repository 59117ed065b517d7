/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c - the `cpu` platform: worker threads are the cores, and host memory is device memory.
 *
 *     cpu:workers=N,memory=unified|discrete,pin=0|1,spin_us=N,stall_ms=N,ring=N,spill=0|1,depth=1,poison=0|1
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

enum { WORKERS_MAX = 1024, RING_DEFAULT = 4096, RING_MIN = 2, RING_MAX = 1 << 24, DEPTH_MAX = 16 };
enum { SPIN_DEFAULT_US = 12, SPIN_MAX_US = 1000000, STALL_DEFAULT_MS = 1000, STALL_MAX_MS = 3600000 };

struct cpu_spec {
    struct hbg__workers_options workers;
    bool discrete, poison;
};

static enum hbg_status read_spec(struct hbg__option_set *set, struct cpu_spec *spec, struct hbg_error *error)
{
    static const char *const memories[] = { "unified", "discrete" };
    int64_t workers = hbg__cpu_count(), spin_us = SPIN_DEFAULT_US, stall_ms = STALL_DEFAULT_MS, ring = RING_DEFAULT, depth = 1;
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
    hbg__option_i64(set, "depth", 1, DEPTH_MAX, &depth);
    hbg__option_bool(set, "poison", &poison);
    if (!hbg__option_finish(set)) return hbg__error_set(error, HBG_E_OPTION, set->problem_key, "%s", set->problem);
    if (ring & (ring - 1)) return hbg__error_set(error, HBG_E_OPTION, "ring", "option \"ring\" is %lld; it must be a power of two", (long long)ring);
    if (depth != 1) return hbg__error_set(error, HBG_E_UNSUPPORTED, "depth", "option \"depth\" is %lld; this version has one run in flight", (long long)depth);
    *spec = (struct cpu_spec){
        .workers = { .workers = (uint32_t)workers, .pin = pin, .spill = spill, .ring_capacity = (uint32_t)ring,
                     .spin_ns = (uint64_t)spin_us * 1000u, .stall_ns = (uint64_t)stall_ms * 1000000u },
        .discrete = memory == 1, .poison = poison };
    return HBG_OK;
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
    made->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    status = hbg__workers_create(&made->options, context->memory, &made->workers, context->error);
    if (status) {
        HBG__DELETE(context->memory, made);
        return status;
    }
    *platform = made;
    return HBG_OK;
}

void hbg__cpu_close(struct hbg__platform *platform)
{
    /* relaxed: the device has stopped using the platform before it closes it */
    HBG_ASSERT(hbg__load_relaxed32(&platform->live_streams) == 0);
    HBG_ASSERT(hbg__load_relaxed64(&platform->live_bytes) == 0);
    hbg__workers_destroy(platform->workers);
    HBG__DELETE(platform->memory, platform);
}

uint32_t hbg__cpu_abandon(struct hbg__platform *platform) { return hbg__workers_abandon(platform->workers); }

void hbg__cpu_properties(const struct hbg__platform *platform, struct hbg__platform_properties *properties)
{
    *properties = (struct hbg__platform_properties){
        .workers = hbg__workers_count(platform->workers), .depth = 1, .clusters = 0,
        .core_kinds = 1u << HBG_ANY | 1u << HBG_MATRIX | 1u << HBG_VECTOR,
        .unified = platform->unified, .poison = platform->poison, .page_bytes = platform->page_bytes };
}

enum hbg_status hbg__cpu_launch(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t descriptor)
{
    (void)stream;
    hbg__workers_launch(platform->workers, (const struct hbg__launch *)(uintptr_t)descriptor);
    return HBG_OK;
}

bool hbg__cpu_poll(struct hbg__platform *platform, struct hbg__stream *stream)
{
    (void)stream;
    return hbg__workers_poll(platform->workers);
}

bool hbg__cpu_wait(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t timeout_ns)
{
    (void)stream;
    return hbg__workers_wait(platform->workers, timeout_ns);
}

void hbg__cpu_result(struct hbg__platform *platform, struct hbg__stream *stream, struct hbg__launch_result *result)
{
    (void)stream;
    hbg__workers_result(platform->workers, result);
}

void hbg__cpu_abort(struct hbg__platform *platform, struct hbg__stream *stream)
{
    (void)stream;
    hbg__workers_cancel(platform->workers);
}

bool hbg__cpu_progress(struct hbg__platform *platform, struct hbg__stream *stream, struct hbg__platform_progress *progress)
{
    (void)stream;
    return hbg__workers_progress(platform->workers, &progress->task, &progress->kernel, &progress->worker);
}

static enum hbg_status open_with_kernels(struct hbg__option_set *spec, const struct hbg__platform_context *context,
                                         struct hbg__platform **platform)
{
    return hbg__cpu_open(spec, context, false, platform);
}

const struct hbg__platform_ops hbg__cpu_ops = { .name = "cpu", .open = open_with_kernels, HBG__CPU_SHARED_OPS };
