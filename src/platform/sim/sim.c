/* SPDX-License-Identifier: Apache-2.0 */
/* sim.c - the `sim` platform: a device whose workers are simulated, with the memory and the streams of `cpu`.
 *
 *     sim:workers=N,seed=N,mode=random|few|round|all,preemptions=N,memory=unified|discrete,poison=0|1,spin_us=N,stall_ms=N,ring=N,
 *         spill=0|1,depth=N,check=0|1,patience=N,stop_worker=N,stop_step=N,stop_us=N,
 *         fail_alloc=N,fail_copy=N,fail_stream=N,fail_thread=N
 *
 * Faults: from step `stop_step` on `stop_worker` stands still for `stop_us` of simulated time, 0 for ever; the N-th allocation or
 * growth of device memory, copy or fill, stream, or worker thread is refused.
 */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/option.h"
#include "platform/cpu/cpu.h"
#include "platform/sim/line_code.h"
#include "platform/sim/sim.h"

enum { WORKERS_DEFAULT = 4, RING_DEFAULT = 64, RING_MIN = 2, RING_MAX = 1 << 24, PREEMPTIONS_DEFAULT = 3, PREEMPTIONS_MAX = 8, DEPTH_DEFAULT = 2, DEPTH_MAX = 16 };
enum { SPIN_DEFAULT_US = 1, SPIN_MAX_US = 1000000, STALL_DEFAULT_MS = 20, STALL_MAX_MS = 3600000, PATIENCE_DEFAULT = 50000000 };
#ifdef HBG_DEBUG
enum { CHECK_DEFAULT = true };
#else
enum { CHECK_DEFAULT = false };
#endif

enum fault { FAULT_ALLOC, FAULT_COPY, FAULT_STREAM, FAULT_THREAD, FAULTS };
static const char *const fault_key[FAULTS] = { "fail_alloc", "fail_copy", "fail_stream", "fail_thread" };

/* The functions of `cpu` get `base`. */
struct sim_platform {
    struct hbg__platform base;
    struct hbg__sim *sim;
    struct hbg__sim_line *line;
    struct hbg__atomic_u64 until_fault[FAULTS];         /* the call that brings it to 0 is refused; 0: none is */
};

struct sim_spec {
    struct hbg__sim_options sim;
    uint64_t fault[FAULTS];
    bool discrete, poison;
    uint32_t depth;
};

static struct sim_platform *of(struct hbg__platform *platform) { return (struct sim_platform *)platform; }

/* ---- the spec ---- */

static void read_stop(struct hbg__option_set *set, struct sim_spec *spec)
{
    int64_t worker = -1, us = 0;
    hbg__option_i64(set, "stop_worker", 0, HBG__SIM_WORKERS_MAX - 1, &worker);
    hbg__option_u64(set, "stop_step", 0, UINT64_MAX, &spec->sim.stop.step);
    hbg__option_i64(set, "stop_us", 0, INT64_C(1) << 40, &us);
    if (worker < 0) return;
    spec->sim.stop.worker = (uint32_t)worker;
    spec->sim.stop.length_ns = us ? (uint64_t)us * 1000u : HBG__SIM_FOR_EVER;
}

static enum hbg_status check_spec(const struct sim_spec *spec, int64_t ring, int64_t depth, struct hbg_error *error)
{
    if (ring & (ring - 1)) return hbg__error_set(error, HBG_E_OPTION, "ring", "option \"ring\" is %lld; it must be a power of two", (long long)ring);
    if (spec->poison && depth != 1) return hbg__error_set(error, HBG_E_OPTION, "depth", "option \"depth\" is %lld; with poison=1 one run is watched at a time, so it must be 1", (long long)depth);
    if (spec->sim.stop.length_ns && spec->sim.stop.worker >= spec->sim.workers)
        return hbg__error_set(error, HBG_E_OPTION, "stop_worker", "option \"stop_worker\" is %u; there are %u workers", spec->sim.stop.worker, spec->sim.workers);
    return HBG_OK;
}

static enum hbg_status read_spec(struct hbg__option_set *set, struct sim_spec *spec, struct hbg_error *error)
{
    static const char *const memories[] = { "unified", "discrete" };
    int64_t workers = WORKERS_DEFAULT, ring = RING_DEFAULT, spin_us = SPIN_DEFAULT_US, stall_ms = STALL_DEFAULT_MS, depth, preemptions = PREEMPTIONS_DEFAULT;
    int memory = 0, mode = HBG__SIM_RANDOM;
    bool check = CHECK_DEFAULT;
    *spec = (struct sim_spec){ .sim = { .spill = true, .seed = 1, .patience_steps = PATIENCE_DEFAULT } };
    hbg__option_i64(set, "workers", 1, HBG__SIM_WORKERS_MAX, &workers);
    hbg__option_u64(set, "seed", 0, UINT64_MAX, &spec->sim.seed);
    hbg__option_choice(set, "mode", hbg__sim_mode_name, HBG__SIM_MODES, &mode);
    hbg__option_i64(set, "preemptions", 0, PREEMPTIONS_MAX, &preemptions);
    hbg__option_choice(set, "memory", memories, 2, &memory);
    hbg__option_bool(set, "poison", &spec->poison);
    hbg__option_i64(set, "spin_us", 0, SPIN_MAX_US, &spin_us);
    hbg__option_i64(set, "stall_ms", 1, STALL_MAX_MS, &stall_ms);
    hbg__option_i64(set, "ring", RING_MIN, RING_MAX, &ring);
    hbg__option_bool(set, "spill", &spec->sim.spill);
    depth = spec->poison ? 1 : DEPTH_DEFAULT;
    hbg__option_i64(set, "depth", 1, DEPTH_MAX, &depth);
    hbg__option_bool(set, "check", &check);
    hbg__option_u64(set, "patience", 1000, UINT64_MAX / 2, &spec->sim.patience_steps);
    read_stop(set, spec);
    for (int i = 0; i < FAULTS; i++) hbg__option_u64(set, fault_key[i], 0, UINT64_MAX, &spec->fault[i]);
    if (!hbg__option_finish(set)) return hbg__error_set(error, HBG_E_OPTION, set->problem_key, "%s", set->problem);
    spec->sim.workers = (uint32_t)workers;
    spec->sim.ring_capacity = (uint32_t)ring;
    spec->sim.spin_ns = (uint64_t)spin_us * 1000u;
    spec->sim.stall_ns = (uint64_t)stall_ms * 1000000u;
    spec->sim.mode = (enum hbg__sim_mode)mode;
    spec->sim.preemptions = (uint32_t)preemptions;
    spec->sim.check = check;
    spec->discrete = memory == 1;
    spec->depth = (uint32_t)depth;
    return check_spec(spec, ring, depth, error);
}

/* ---- faults ---- */

static bool fails(struct hbg__platform *platform, enum fault fault)
{
    struct hbg__atomic_u64 *left = &of(platform)->until_fault[fault];
    /* relaxed: a count; simulated devices with faults are called by one thread. */
    if (HBG_LIKELY(hbg__load_relaxed64(left) == 0)) return false;
    return hbg__fetch_add_relaxed64(left, (uint64_t)-1) == 1;           /* relaxed: likewise. */
}

static enum hbg_status memory_alloc(struct hbg__platform *platform, uint64_t size_bytes, uint64_t *address)
{
    return fails(platform, FAULT_ALLOC) ? HBG_E_NO_MEMORY : hbg__cpu_memory_alloc(platform, size_bytes, address);
}

static enum hbg_status zone_fit(struct hbg__platform *platform, struct hbg__zone *zone, uint64_t size_bytes)
{
    if (size_bytes <= zone->size_bytes) return HBG_OK;
    return fails(platform, FAULT_ALLOC) ? HBG_E_NO_MEMORY : hbg__cpu_zone_fit(platform, zone, size_bytes);
}

static enum hbg_status stream_create(struct hbg__platform *platform, struct hbg__stream **stream)
{
    return fails(platform, FAULT_STREAM) ? HBG_E_DEVICE : hbg__cpu_stream_create(platform, stream);
}

static enum hbg_status copy_in(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t target, const void *source, uint64_t size_bytes)
{
    return fails(platform, FAULT_COPY) ? HBG_E_DEVICE : hbg__cpu_copy_in(platform, stream, target, source, size_bytes);
}

static enum hbg_status copy_out(struct hbg__platform *platform, struct hbg__stream *stream, void *target, uint64_t source, uint64_t size_bytes)
{
    return fails(platform, FAULT_COPY) ? HBG_E_DEVICE : hbg__cpu_copy_out(platform, stream, target, source, size_bytes);
}

static enum hbg_status fill(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t target, unsigned char byte, uint64_t size_bytes)
{
    return fails(platform, FAULT_COPY) ? HBG_E_DEVICE : hbg__cpu_fill(platform, stream, target, byte, size_bytes);
}

/* ---- open and close ---- */

static void say_failed(void *user, const char *sentence)
{
    const struct sim_platform *platform = user;
    hbg__log_write(platform->base.log, HBG_LOG_ERROR, "hbg: simulated device: %s", sentence);
}

static enum hbg_status open_workers(struct sim_platform *made, struct sim_spec *spec, struct hbg_error *error)
{
    uint64_t thread = spec->fault[FAULT_THREAD];
    if (thread && thread <= spec->sim.workers)
        return hbg__error_set(error, HBG_E_DEVICE, "workers", "worker thread %u of %u cannot be made: fail_thread", (uint32_t)thread - 1, spec->sim.workers);
    spec->sim.failed = say_failed;
    spec->sim.failed_user = made;
    enum hbg_status status = hbg__sim_line_create(made->base.memory, &made->line);
    if (status) return hbg__error_set(error, status, "line", "no memory for the line of launches");
    spec->sim.concluded = hbg__sim_line_on_end;
    spec->sim.concluded_user = made->line;
    status = hbg__sim_create(&spec->sim, made->base.memory, &made->sim, error);
    if (!status) hbg__sim_line_attach(made->line, made->sim);
    else hbg__sim_line_destroy(made->line);
    return status;
}

static enum hbg_status open_simulated(struct hbg__option_set *set, const struct hbg__platform_context *context, struct hbg__platform **platform)
{
    struct sim_spec spec;
    enum hbg_status status = read_spec(set, &spec, context->error);
    if (status) return status;
    struct sim_platform *made = HBG__NEW(context->memory, struct sim_platform);
    if (!made) return hbg__error_no_memory(context->error, "platform", sizeof *made);
    made->base.memory = context->memory;
    made->base.log = context->log;
    made->base.reserve_bytes = context->reserve_bytes;
    made->base.options.workers = spec.sim.workers;
    made->base.unified = !spec.discrete;
    made->base.poison = spec.poison;
    made->base.depth = spec.depth;
    made->base.page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < FAULTS; i++) hbg__store_relaxed64(&made->until_fault[i], spec.fault[i]);   /* relaxed: it is not shared yet. */
    status = open_workers(made, &spec, context->error);
    if (status) HBG__DELETE(context->memory, made);
    else *platform = &made->base;
    return status;
}

static void close_simulated(struct hbg__platform *platform)
{
    /* relaxed: the device has stopped using the platform before it closes it */
    HBG_ASSERT(hbg__load_relaxed32(&platform->live_streams) == 0);
    HBG_ASSERT(hbg__load_relaxed64(&platform->live_bytes) == 0);
    hbg__sim_destroy(of(platform)->sim);
    hbg__sim_line_destroy(of(platform)->line);
    struct hbg__memory *memory = platform->memory;
    HBG__DELETE(memory, of(platform));
}

static uint32_t abandon(struct hbg__platform *platform)
{
    hbg__sim_line_give_up(of(platform)->line);
    return hbg__sim_abandon(of(platform)->sim);
}

static void properties(const struct hbg__platform *platform, struct hbg__platform_properties *properties)
{
    *properties = (struct hbg__platform_properties){
        .workers = platform->options.workers, .depth = platform->depth, .clusters = 0, .core_kinds = 1u << HBG_ANY | 1u << HBG_MATRIX | 1u << HBG_VECTOR,
        .unified = platform->unified, .poison = platform->poison, .page_bytes = platform->page_bytes };
}

/* ---- launches ---- */

/* Copies are made when they are asked for, so there is nothing to wait for. */
static enum hbg_status launch(struct hbg__platform *platform, struct hbg__stream *stream, struct hbg__stream *after, uint64_t descriptor,
                              const struct hbg__launch_done *done)
{
    (void)after;
    return hbg__sim_line_add(of(platform)->line, &stream->ticket, (const struct hbg__launch *)(uintptr_t)descriptor, done);
}

static enum hbg__launch_state poll(struct hbg__platform *platform, struct hbg__stream *stream)
{
    return hbg__sim_line_poll(of(platform)->line, &stream->ticket);
}

static bool wait(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t timeout_ns)
{
    return hbg__sim_line_await(of(platform)->line, &stream->ticket, timeout_ns);
}

static void result(struct hbg__platform *platform, struct hbg__stream *stream, struct hbg__launch_result *result)
{
    (void)platform;
    *result = stream->ticket.result;
}

static void abort_launch(struct hbg__platform *platform, struct hbg__stream *stream) { hbg__sim_line_drop(of(platform)->line, &stream->ticket); }

static bool progress(struct hbg__platform *platform, struct hbg__stream *stream, bool patient, struct hbg__progress *progress)
{
    return hbg__sim_line_look(of(platform)->line, &stream->ticket, patient, progress);
}

static uint64_t clock_ns(struct hbg__platform *platform) { return hbg__sim_clock(of(platform)->sim); }
static uint64_t queue_sum(struct hbg__platform *platform) { return hbg__sim_queue_sum(of(platform)->sim); }

const struct hbg__platform_ops hbg__sim_ops = {
    .name = "sim", .resources = hbg__cpu_resources, .hardware = "cpu", .open = open_simulated, .close = close_simulated, .abandon = abandon, .properties = properties,
    .memory_alloc = memory_alloc, .memory_free = hbg__cpu_memory_free, .memory_map = hbg__cpu_memory_map, .memory_intact = hbg__cpu_memory_intact,
    .queue_sum = queue_sum, .zone_fit = zone_fit, .zone_close = hbg__cpu_zone_close,
    .stream_create = stream_create, .stream_destroy = hbg__cpu_stream_destroy, .stream_sync = hbg__cpu_stream_sync, .stream_query = hbg__cpu_stream_query,
    .copy_in = copy_in, .copy_out = copy_out, .fill = fill,
    .program_register = hbg__cpu_program_register, .program_release = hbg__cpu_program_release,
    .launch = launch, .poll = poll, .wait = wait, .result = result, .abort = abort_launch, .progress = progress, .clock = clock_ns,
};
