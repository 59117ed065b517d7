/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - opening, closing and counting; what happens between is in buffer.c, program.c and run.c.
 *
 * Teardown is in the order of DESIGN 9: the last run has ended (else HBG_E_BUSY), stream sets, device memory, bootstrap pair,
 * back end. Where a cancelled run does not end, the close takes nothing away: threads that are inside a kernel are left alone with all
 * that they may use, and the reference that the run holds on its program keeps the structs. After a fork the child keeps the struct and gets HBG_E_DEVICE from every call: nothing is joined, nothing freed.
 */
#include "run/device.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/inside.h"
#include "base/option.h"
#include "base/plural.h"
#include "run/abi.h"
#include "run/buffer.h"
#include "run/run.h"

enum hbg_status hbg__device_check(const struct hbg_device *device, const char *call, struct hbg_error *error)
{
    static const char *const inside[] = { [HBG__INSIDE_BUILD] = "build function", [HBG__INSIDE_KERNEL] = "kernel", [HBG__INSIDE_DONE] = "done callback" };
    if (HBG_UNLIKELY(hbg__inside != HBG__INSIDE_NOTHING))
        return hbg__error_set(error, HBG_E_REENTRANT, call, "%s was called from a %s", call, inside[hbg__inside]);
    if (HBG_UNLIKELY(device && device->fork_count != hbg__process_fork_count()))
        return hbg__error_set(error, HBG_E_DEVICE, call, "%s was called in a child of fork on a device of its parent; open one in the child", call);
    return HBG_OK;
}

void hbg__device_hold(struct hbg_device *device) { device->references++; }

void hbg__device_unlock_drop(struct hbg_device *device)
{
    bool last = --device->references == 0;
    pthread_mutex_unlock(&device->lock);
    if (!last) return;
    hbg__definitions_close(&device->definitions);
    pthread_cond_destroy(&device->slot_free);
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->bootstrap_lock);
    struct hbg__memory memory = device->memory;
    HBG__DELETE(&memory, device);
}

enum hbg_status hbg__stream_set_make(struct hbg_device *device, struct hbg__stream_set *set)
{
    if (set->made) return HBG_OK;
    for (int i = 0; i < HBG__STREAM_COUNT; i++) {
        enum hbg_status status = device->ops->stream_create(device->platform, &set->stream[i]);
        if (!status) continue;
        while (i-- > 0) device->ops->stream_destroy(device->platform, set->stream[i]);
        *set = (struct hbg__stream_set){ 0 };
        return status;
    }
    set->made = true;
    return HBG_OK;
}

void hbg__stream_set_destroy(struct hbg_device *device, struct hbg__stream_set *set)
{
    if (!set->made) return;
    for (int i = 0; i < HBG__STREAM_COUNT; i++) device->ops->stream_destroy(device->platform, set->stream[i]);
    *set = (struct hbg__stream_set){ 0 };
}

static void init_locks(struct hbg_device *device)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&device->slot_free, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->bootstrap_lock, NULL);
}

/* HBG_VERIFY_REPLAY=n; a text that is no positive number means no verification. */
static uint32_t verify_replay_of_environment(const struct hbg__log *log)
{
    const char *text = getenv("HBG_VERIFY_REPLAY");
    char *end;
    if (!text || !*text) return 0;
    unsigned long every = strtoul(text, &end, 10);
    if (*end == '\0' && every <= UINT32_MAX) return (uint32_t)every;
    hbg__log_write(log, HBG_LOG_WARN, "HBG_VERIFY_REPLAY is \"%.40s\", which is no number of replays: nothing is verified", text);
    return 0;
}

static enum hbg_status make_device(const struct hbg_device_options *options, struct hbg_device **device)
{
    struct hbg__memory memory;
    if (!hbg__memory_init(&memory, &options->allocator))
        return hbg__error_set(options->error, HBG_E_OPTION, "allocator", "the allocator has only one of its two functions");
    struct hbg_device *made = HBG__NEW(&memory, struct hbg_device);
    if (!made) return hbg__error_no_memory(options->error, "device", sizeof *made);
    made->memory = memory;
    hbg__log_init(&made->log, options->log, options->log_user, options->log_level);
    made->reserve_bytes = options->reserve_bytes;
    made->limit_heap_bytes = options->limit_heap_bytes;
    made->heap_reuse_after_bytes = options->heap_reuse_after_bytes;
    made->final_counters = options->final_counters;
    made->fork_count = hbg__process_fork_count();
    made->verify_replay = options->ignore_environment ? 0 : verify_replay_of_environment(&made->log);
    made->references = 1;
    init_locks(made);
    struct hbg__buffer_ops buffers = hbg__device_buffer_ops(made);
    hbg__definitions_open(&made->definitions, &made->memory, &buffers, options->definition_budget_bytes);
    made->definitions.forget = hbg__definition_forget;
    made->definitions.user = made;
    *device = made;
    return HBG_OK;
}

static uint64_t clock_of(void *device) { return hbg__device_now_ns(device); }

/* The clock of the platform goes, if it had one of its own. */
static void stop_trace_clock(struct hbg_device *device)
{
    struct hbg__trace *trace = device->trace;
    if (!trace || !trace->clock) return;
    trace->stopped_ns = hbg__trace_now_ns(trace);
    trace->clock = NULL;
}

static enum hbg_status open_trace(struct hbg_device *device, const struct hbg_device_options *options)
{
    const struct hbg__trace_options wanted = { .level = options->trace, .to = options->trace_to, .ignore_environment = options->ignore_environment,
                                              .records = options->trace_records };
    enum hbg_status status = hbg__trace_open(&device->memory, &device->log, &wanted, &device->trace, options->error);
    if (device->trace && device->ops->clock) {
        device->trace->clock = clock_of;
        device->trace->clock_user = device;
    }
    if (device->trace) hbg__trace_announce(device->trace, device->ops->name, device->properties.workers, device->properties.depth);
    return status;
}

/* The back end of the spec, its bootstrap pair, and the pipeline slots. On an error all that was made is undone. */
static enum hbg_status open_platform(struct hbg_device *device, struct hbg__option_set *spec, const struct hbg_device_options *options)
{
    struct hbg_error *error = options->error;
    struct hbg__platform_context context = { .memory = &device->memory, .log = &device->log, .error = error, .reserve_bytes = device->reserve_bytes };
    device->ops = hbg__platform_find(spec->name, error);
    if (!device->ops) return HBG_E_OPTION;
    if (device->ops->probe && !device->ops->probe())
        return hbg__error_set(error, HBG_E_UNSUPPORTED, spec->name, "this machine has no device for the platform \"%s\"", device->ops->name);
    enum hbg_status status = hbg__platform_check(device->ops, 1, error);
    if (!status) status = device->ops->open(spec, &context, &device->platform);
    if (status) return status;
    device->ops->properties(device->platform, &device->properties);
    status = hbg__platform_check(device->ops, device->properties.depth, error);
    if (!status) status = open_trace(device, options);
    if (status) return status;
    status = hbg__stream_set_make(device, &device->bootstrap);
    if (status) hbg__error_set(error, status, "streams", "the bootstrap streams cannot be made");
    if (!status) {
        device->run = hbg__alloc_zero(&device->memory, device->properties.depth * sizeof *device->run, HBG__LINE);
        if (!device->run) status = hbg__error_no_memory(error, "pipeline slots", device->properties.depth * sizeof *device->run);
    }
    for (; !status && device->depth < device->properties.depth; device->depth++) {
        status = hbg__run_open(&device->run[device->depth], device);
        if (status) {
            hbg__error_no_memory(error, "pipeline slots", sizeof *device->run);
            break;
        }
    }
    return status;
}

/* device->lock is held, or the device is not shared. */
static void close_platform(struct hbg_device *device)
{
    for (uint32_t i = 0; i < device->depth; i++) hbg__run_close(&device->run[i]);
    for (struct hbg_program *p = device->programs; p; p = p->next) hbg__program_forget_memory(p);
    for (struct hbg_buffer *b = device->buffers; b; b = b->next) hbg__buffer_forget_memory(b);
    hbg__definitions_forget_memory(device);
    if (device->run) hbg__free(&device->memory, device->run, device->properties.depth * sizeof *device->run, HBG__LINE);
    device->run = NULL;
    device->depth = 0;
    hbg__stream_set_destroy(device, &device->pair);
    hbg__stream_set_destroy(device, &device->bootstrap);
    stop_trace_clock(device);
    if (device->platform) device->ops->close(device->platform);
    device->platform = NULL;
    device->closed = true;
}

/* One line for those who listen: what was opened, and the address space that an arena gets here, which is less than asked for
   where the system refuses it. */
static void log_opened(const struct hbg_device *device, const char *spec)
{
    struct hbg__arena arena;
    if (!hbg__log_wants(&device->log, HBG_LOG_INFO) || !hbg__arena_open(&arena, device->reserve_bytes, true)) return;
    hbg__log_write(&device->log, HBG_LOG_INFO, "hbg: opened \"%.100s\": %u worker%s, %s memory, %zu MiB of address space reserved an arena", spec,
                   device->properties.workers, hbg__s(device->properties.workers), device->properties.unified ? "unified" : "discrete",
                   (arena.below_reserved + arena.above_reserved) >> 20);
    hbg__arena_close(&arena);
}

enum hbg_status hbg_device_open(const char *spec, const struct hbg_device_options *options, struct hbg_device **device)
{
    struct hbg_device_options given = { .size = sizeof given };
    struct hbg__option_set set;
    struct hbg_device *made = NULL;
    enum hbg_status status = options ? hbg__abi_device_options(options) : HBG_OK;
    if (status) return status;
    if (options) given = *options;
    hbg__error_clear(given.error);
    status = hbg__device_check(NULL, "hbg_device_open", given.error);
    if (status) return status;
    if (!device) return hbg__error_set(given.error, HBG_E_NULL, "device", "hbg_device_open got no place for the device");
    if (!spec) return hbg__error_set(given.error, HBG_E_NULL, "spec", "hbg_device_open got no spec; \"cpu\" is one");
    if (!hbg__process_init()) return hbg__error_set(given.error, HBG_E_DEVICE, "fork", "the fork handlers cannot be installed");
    if (!hbg__option_parse(&set, spec)) return hbg__error_set(given.error, HBG_E_OPTION, set.problem_key, "%s", set.problem);
    status = make_device(&given, &made);
    if (status) return status;
    status = open_platform(made, &set, &given);
    if (!status) {
        log_opened(made, spec);
        *device = made;
        return HBG_OK;
    }
    hbg__log_write(&made->log, HBG_LOG_ERROR, "hbg: cannot open \"%.100s\": %s", spec, given.error ? given.error->text : hbg_status_text(status));
    pthread_mutex_lock(&made->lock);
    close_platform(made);
    hbg__trace_drop(made->trace);
    hbg__device_unlock_drop(made);
    return status;
}

static void read_counters(const struct hbg_device *device, struct hbg_counters *counters)
{
    struct hbg_counters now = { .size = counters->size };
#define READ(name) now.name = hbg__load_relaxed64(&device->counters.name);      /* relaxed: statistics */
    HBG_COUNTER_MAP(READ)
#undef READ
    now.allocations = hbg__memory_allocations(&device->memory);
    memcpy(counters, &now, counters->size < sizeof now ? counters->size : sizeof now);
}

void hbg_device_counters(const struct hbg_device *device, struct hbg_counters *counters)
{
    if (!device || !counters) return;
    read_counters(device, counters);
}

uint32_t hbg_device_workers(const struct hbg_device *device) { return device ? device->properties.workers : 0; }
uint32_t hbg_device_depth(const struct hbg_device *device) { return device ? device->properties.depth : 0; }

/* A run that has to be finished first; else the longest time that a cancelled one may still take. device->lock is held. */
static const struct hbg__run *find_unfinished(struct hbg_device *device, uint64_t *left_ns, struct hbg__run **overdue)
{
    *left_ns = 0;
    *overdue = NULL;
    for (uint32_t i = 0; i < device->depth; i++) {
        struct hbg__run *run = &device->run[i];
        uint64_t left = 0;
        if (!run->leased) continue;
        if (!hbg__run_may_be_left(run, &left)) return run;
        if (!*overdue || left > *left_ns) *overdue = run;
        if (left > *left_ns) *left_ns = left;
    }
    return NULL;
}

/* HBG_OK: every run is finished. HBG_E_BUSY, and nothing has changed. HBG_E_DEVICE: *lost does not end. device->lock is held, and
   let go while a cancelled run has time left. */
static enum hbg_status wait_for_runs(struct hbg_device *device, struct hbg__run **lost)
{
    uint64_t left_ns;
    for (;;) {
        const struct hbg__run *unfinished = find_unfinished(device, &left_ns, lost);
        if (unfinished) {
            hbg__log_write(&device->log, HBG_LOG_WARN, "hbg: the device is not closed: a run of program \"%s\" is not finished", unfinished->program->name);
            return HBG_E_BUSY;
        }
        if (device->waiting) return HBG_E_BUSY;
        if (!*lost) return HBG_OK;
        if (left_ns == 0) return HBG_E_DEVICE;
        pthread_mutex_unlock(&device->lock);
        (void)device->ops->wait(device->platform, (*lost)->streams.stream[HBG__STREAM_WORK], left_ns);
        pthread_mutex_lock(&device->lock);
    }
}

/* Close over runs that do not end. device->lock is held. */
static enum hbg_status leave_behind(struct hbg_device *device, const struct hbg__run *lost)
{
    struct hbg_error error = { .size = sizeof error };
    hbg__run_say_lost(lost, &error);
    for (uint32_t i = 0; i < device->depth; i++) {
        struct hbg__run *run = &device->run[i];
        if (run->leased && !hbg__run_leave_behind(run)) return HBG_E_BUSY;
        if (run->leased && run->spans) hbg__spans_write(run->spans, HBG_E_DEVICE);
    }
    uint32_t left = device->ops->abandon(device->platform);
    device->closed = true;
    hbg__log_write(&device->log, HBG_LOG_ERROR, "hbg: closed with %u worker thread%s left in a kernel and no memory given back: %s", left, hbg__s(left), error.text);
    return HBG_E_DEVICE;
}

enum hbg_status hbg_device_close(struct hbg_device *device)
{
    struct hbg__run *lost = NULL;
    if (!device) return HBG_OK;
    enum hbg_status status = hbg__device_check(device, "hbg_device_close", NULL);
    if (status) return status;
    pthread_mutex_lock(&device->lock);
    status = wait_for_runs(device, &lost);
    if (status == HBG_E_DEVICE) status = leave_behind(device, lost);
    else if (!status) close_platform(device);
    if (status == HBG_E_BUSY) {
        pthread_mutex_unlock(&device->lock);
        return status;
    }
    hbg__trace_drop(device->trace);
    device->trace = NULL;
    if (device->final_counters) read_counters(device, device->final_counters);
    pthread_mutex_unlock(&device->lock);        /* the last holder of a buffer takes it */
    hbg__definitions_purge(&device->definitions);
    pthread_mutex_lock(&device->lock);
    hbg__device_unlock_drop(device);
    return status;
}

void hbg__device_start_epoch(struct hbg_device *device, uint32_t epoch)
{
    for (uint32_t i = 0; i < device->depth; i++) device->run[i].bank.epoch = epoch - 1;
}
