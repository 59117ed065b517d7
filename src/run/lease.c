/* SPDX-License-Identifier: Apache-2.0 */
/* lease.c - pipeline slots: what belongs to one, who gets it, who waits for one, and how it becomes free.
 *
 * The lowest free slot is taken, so that runs one after the other all find the same one warm. A program whose builds are compared
 * with the last one of their slot gets the slot of its own last build; where another program has built there since, one of no such
 * program, so that programs can take turns. The device lock is taken to lease a slot and to free it.
 */
#include "run/run.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/error.h"
#include "run/node.h"

/* Its address names the thread. */
static _Thread_local char this_thread;

/* ---- a slot's resources ---- */

enum hbg_status hbg__run_open(struct hbg__run *run, struct hbg_device *device)
{
    run->device = device;
    pthread_mutex_init(&run->home_lock, NULL);
    pthread_mutex_init(&run->levels_lock, NULL);
    run->entry = hbg__run_entry_take(run, &run->slot);
    if (!run->entry) return HBG_E_NO_MEMORY;
    if (!device->trace) return HBG_OK;
    run->spans = HBG__NEW(&device->memory, struct hbg__run_spans);
    if (run->spans) run->spans->trace = device->trace;
    return run->spans ? HBG_OK : HBG_E_NO_MEMORY;
}

/* The stream set of the run: its slot's, its own, or that of all. device->lock is held. */
static enum hbg_status make_streams(struct hbg__run *run)
{
    struct hbg_device *device = run->device;
    bool shared = device->properties.stream_sets == HBG__STREAMS_OF_DEVICE;
    if (run->streams.made) return HBG_OK;
    enum hbg_status status = hbg__stream_set_make(device, shared ? &device->pair : &run->streams);
    if (status) return status;
    if (shared) {
        run->streams = device->pair;
        return HBG_OK;
    }
    hbg__count(&device->counters.stream_sets_made, 1);
    hbg__count(&device->counters.stream_sets_live, 1);
    return HBG_OK;
}

static void drop_streams(struct hbg__run *run)
{
    struct hbg_device *device = run->device;
    if (!run->streams.made || device->properties.stream_sets == HBG__STREAMS_OF_DEVICE) return;
    hbg__count(&device->counters.stream_sets_live, (uint64_t)-1);
    hbg__stream_set_destroy(device, &run->streams);
}

void hbg__run_close(struct hbg__run *run)
{
    struct hbg_device *device = run->device;
    struct hbg__bank *bank = &run->bank;
    struct hbg__buffer_ops buffers = hbg__device_buffer_ops(device);
    if (run->entry) hbg__run_entry_give(run->slot);
    drop_streams(run);
    device->ops->zone_close(device->platform, &bank->slots);
    device->ops->zone_close(device->platform, &bank->heap);
    device->ops->zone_close(device->platform, &bank->staging);
    device->ops->zone_close(device->platform, &bank->descriptor);
    device->ops->zone_close(device->platform, &bank->activations);
    device->ops->zone_close(device->platform, &bank->bases);
    device->ops->zone_close(device->platform, &bank->events);
    device->ops->zone_close(device->platform, &run->scratch.device_zone);
    hbg__recording_release(&run->scratch.recording, &device->memory, &buffers);
    hbg__graph_destroy(run->graph);
    hbg__run_free_arguments(run);
    hbg__run_free_descriptor(run);
    hbg__watch_free(run);
    HBG__DELETE(&device->memory, run->spans);
    hbg__free(&device->memory, run->collected, run->collected_bytes, HBG__LINE);
    hbg__free(&device->memory, run->levels, run->level_capacity * sizeof *run->levels, 16);
    pthread_mutex_destroy(&run->home_lock);
    pthread_mutex_destroy(&run->levels_lock);
}

/* ---- leases ---- */

struct hbg__run *hbg__run_find_lost(struct hbg_device *device)
{
    for (uint32_t i = 0; i < device->depth; i++) {
        struct hbg__run *run = &device->run[i];
        if (run->leased && hbg__run_word_phase(hbg__run_entry_look(run->entry)) == HBG__RUN_LAUNCHED && hbg__run_is_lost(run)) return run;
    }
    return NULL;
}

/* Whose build a build of the program would be compared with: its own, nobody's, another's; to one that has no build yet they are all the same. */
enum last_build { LAST_OWN, LAST_NONE, LAST_OTHER };

static enum last_build last_build(const struct hbg__run *run, const struct hbg_program *program)
{
    uint64_t owner = run->scratch.recording.last.owner;
    if (!program->has_run || program->pure || program->no_compare) return LAST_OWN;
    return owner == program->number ? LAST_OWN : owner ? LAST_OTHER : LAST_NONE;
}

/* The free slot that suits best, of these the lowest; NULL, and whether all of them wait for this very thread. device->lock is held. */
static struct hbg__run *find_free(const struct hbg_program *program, bool *all_mine)
{
    struct hbg_device *device = program->device;
    struct hbg__run *best = NULL;
    *all_mine = true;
    for (uint32_t i = 0; i < device->depth; i++) {
        struct hbg__run *run = &device->run[i];
        if (run->leased) *all_mine = *all_mine && run->owner == &this_thread && !run->handed_over;
        else if (last_build(run, program) == LAST_OWN) return run;
        else if (!best || last_build(run, program) < last_build(best, program)) best = run;
    }
    return best;
}

void hbg__device_wait_for_slot(struct hbg_device *device, uint64_t most_ns)
{
    uint64_t stop_ns = hbg__clock_after_ns(most_ns);
    struct timespec stop = { .tv_sec = (time_t)(stop_ns / 1000000000u), .tv_nsec = (long)(stop_ns % 1000000000u) };
    device->waiting++;
    (void)!pthread_cond_timedwait(&device->slot_free, &device->lock, &stop);
    device->waiting--;
}

static enum hbg_status find_or_wait(struct hbg_program *program, const struct hbg_run_options *options, uint64_t until_ns, struct hbg__run **run)
{
    struct hbg_device *device = program->device;
    struct hbg_error *error = options->error;
    bool all_mine;
    for (;;) {
        if (device->closed) return hbg__error_set(error, HBG_E_DEVICE, "device", "the device of program \"%.60s\" was closed", program->name);
        struct hbg__run *lost = hbg__run_find_lost(device);
        if (HBG_UNLIKELY(lost != NULL)) {
            hbg__run_say_lost(lost, error);
            return HBG_E_DEVICE;
        }
        *run = find_free(program, &all_mine);
        if (*run) return HBG_OK;
        if (options->poll) return hbg__error_set(error, HBG_E_BUSY, "slot", "all pipeline slots of the device are in use: depth=%u", device->depth);
        if (all_mine)
            return hbg__error_set(error, HBG_E_WOULD_DEADLOCK, "slot", "every pipeline slot (depth=%u) is held by a run that this thread prepared and has to finish first; set handed_over where another thread finishes it", device->depth);
        uint64_t now_ns = hbg__clock_ns();
        if (now_ns >= until_ns) return hbg__error_set(error, HBG_TIMEOUT, "slot", "no pipeline slot became free within %" PRIu64 " ns", options->slot_timeout_ns);
        hbg__device_wait_for_slot(device, until_ns - now_ns < HBG__RUN_GRACE_NS ? until_ns - now_ns : HBG__RUN_GRACE_NS);
    }
}

enum hbg_status hbg__run_lease(struct hbg_program *program, const struct hbg_run_options *options, struct hbg__run **leased)
{
    struct hbg_device *device = program->device;
    struct hbg__run *run = NULL;
    uint64_t until_ns = options->slot_timeout_ns ? hbg__clock_after_ns(options->slot_timeout_ns) : UINT64_MAX;
    pthread_mutex_lock(&device->lock);
    enum hbg_status status = find_or_wait(program, options, until_ns, &run);
    if (!status) {
        status = make_streams(run);
        if (status) hbg__error_set(options->error, status, "streams", "the stream set of slot %u cannot be made: %s", run->slot, hbg_status_text(status));
    }
    if (!status) {
        run->leased = true;
        run->handed_over = options->handed_over;
        run->owner = &this_thread;
        run->until_ns = until_ns;
        run->program = program;
        program->has_run = true;
        program->references++;
        run->generation = hbg__run_word_generation(hbg__run_entry_look(run->entry));
        hbg__run_entry_set(run->entry, run->generation, HBG__RUN_BINDING);
    }
    pthread_mutex_unlock(&device->lock);
    *leased = run;
    return status;
}

/* Nobody compares its arguments any more. */
static void unclaim(struct hbg__run *run)
{
    if (!run->claimed) return;
    pthread_mutex_lock(&run->device->lock);
    run->claimed = false;
    pthread_mutex_unlock(&run->device->lock);
}

/* The slot is free for the next generation, and the program may go. */
static void release(struct hbg__run *run)
{
    struct hbg_device *device = run->device;
    struct hbg_program *program = run->program;
    if (run->streams.made) (void)!device->ops->stream_sync(device->platform, run->streams.stream[HBG__STREAM_COPY]);   /* of a run that was not launched */
    unclaim(run);
    hbg__run_unrecord(run);
    hbg__run_unbind(run);
    if (device->properties.stream_sets == HBG__STREAMS_OF_RUN) drop_streams(run);
    pthread_mutex_lock(&device->lock);
    uint32_t next = run->generation + 1;
    hbg__run_entry_set(run->entry, next ? next : 1, HBG__RUN_FREE);
    run->leased = false;
    run->program = NULL;
    if (device->waiting) pthread_cond_broadcast(&device->slot_free);
    hbg__program_unlock_drop(program);
}

/* The slot is given back before what the run did is written: nobody waits for the writes. */
static HBG_COLD void release_traced(struct hbg__run *run, enum hbg_status status)
{
    struct hbg__run_spans spans = *run->spans;
    hbg__trace_hold(spans.trace);
    hbg__span_begin(&spans, HBG__SPAN_RELEASE);
    release(run);
    hbg__spans_write(&spans, status);
    hbg__trace_drop(spans.trace);
}

void hbg__run_end(struct hbg__run *run, enum hbg_status status)
{
    if (HBG_LIKELY(run->spans == NULL)) release(run);
    else release_traced(run, status);
}
