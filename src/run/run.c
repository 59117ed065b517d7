/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - the phases of a run: prepare, launch, poll, wait, cancel, finish. The word that guards every handle: handle.h.
 *
 * What happens between the lease of the slot and its release (lease.c) belongs to whoever moved the slot's word into the phase.
 */
#include "run/run.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <hbg/image.h>

#include "base/clock.h"
#include "base/error.h"
#include "run/abi.h"
#include "run/buffer.h"

/* ---- prepare ---- */

static const struct hbg__log *log_of(const struct hbg_program *program) { return program ? &program->device->log : NULL; }

static enum hbg_status check_options(const struct hbg_program *program, const struct hbg_run_options *given, struct hbg_run_options *options)
{
    *options = (struct hbg_run_options){ .size = sizeof *options };
    enum hbg_status status = given ? hbg__abi_run_options(given, log_of(program)) : HBG_OK;
    if (HBG_UNLIKELY(status)) return status;
    if (given) *options = *given;
    hbg__error_clear(options->error);
    return HBG_OK;
}

static void keep_name(struct hbg__run *run, const char *name)
{
    size_t size = name ? strlen(name) : 0;
    if (size >= sizeof run->name) size = sizeof run->name - 1;
    if (size) memcpy(run->name, name, size);
    run->name[size] = '\0';
}

static enum hbg_status bind_arguments(struct hbg__run *run, struct hbg_arg_list list, struct hbg_error *error)
{
    hbg__span_begin(run->spans, HBG__SPAN_ARGS);
    enum hbg_status status = hbg__run_bind(run, list, error);
    hbg__span_values(run->spans, HBG__SPAN_ARGS, list.count, 0, 0, 0);
    hbg__span_next(run->spans, HBG__SPAN_ARGS, HBG__SPAN_WAIT);
    if (HBG_LIKELY(!status)) status = hbg__run_pass_gate(run);
    hbg__span_end(run->spans, HBG__SPAN_WAIT);
    if (HBG_UNLIKELY(run->spans != NULL) && !run->times.waited_ns) hbg__spans_drop(run->spans, HBG__SPAN_WAIT);
    return status;
}

/* What depends on the build function. */
static enum hbg_status build_and_upload(struct hbg__run *run, struct hbg_error *error)
{
    hbg__span_begin(run->spans, HBG__SPAN_BUILD);
    enum hbg_status status = hbg__run_record(run, error);
    if (HBG_UNLIKELY(status)) return status;
    const struct hbg__recording *recording = &run->kept->recording;
    hbg__span_values(run->spans, HBG__SPAN_BUILD, run->replayed, recording->task_count, recording->edge_count, recording->image_bytes);
    hbg__span_values(run->spans, HBG__SPAN_RUN, run->slot, recording->task_count, recording->edge_count, run->replayed);
    hbg__span_next(run->spans, HBG__SPAN_BUILD, HBG__SPAN_UPLOAD);
    run->times.upload_begin = run->replayed && !run->device->properties.unified ? hbg__device_now_ns(run->device) : run->times.build_end;
    status = hbg__run_upload(run, error);
    hbg__span_end(run->spans, HBG__SPAN_UPLOAD);
    return status;
}

/* Nothing of the build is used any more, and nothing of it is on its way to the device. */
static void begin_anew(struct hbg__run *run)
{
    (void)!run->device->ops->stream_sync(run->device->platform, run->streams.stream[HBG__STREAM_COPY]);
    hbg__run_unrecord(run);
}

/* From the build on; prepared in the end. */
static enum hbg_status prepare_once(struct hbg__run *run, struct hbg_error *error)
{
    enum hbg_status status = build_and_upload(run, error);
    if (HBG_UNLIKELY(status)) return status;
    hbg__span_next(run->spans, HBG__SPAN_BIND, HBG__SPAN_PREPARE);
    status = hbg__run_prepare_execution(run, error);
    hbg__span_end(run->spans, HBG__SPAN_PREPARE);
    if (HBG_UNLIKELY(status)) return status;
    run->times.prepare_end = hbg__device_now_ns(run->device);
    run->times.bind_waited_ns = run->times.waited_ns;
    return hbg__run_commit(run);
}

static enum hbg_status prepare(struct hbg__run *run, struct hbg_arg_list list, const struct hbg_run_options *options)
{
    if (HBG_UNLIKELY(run->spans != NULL)) hbg__spans_start(run->spans, run->program->hash, run->program->name, run->name);
    hbg__span_begin(run->spans, HBG__SPAN_BIND);
    enum hbg_status status = bind_arguments(run, list, options->error);
    if (HBG_UNLIKELY(status)) return status;
    while (HBG_UNLIKELY((status = prepare_once(run, options->error)) != HBG_OK) && hbg__run_begins_anew(run)) {
        begin_anew(run);
        hbg__error_clear(options->error);
    }
    return status;
}

enum hbg_status hbg_run_prepare(struct hbg_program *program, struct hbg_arg_list list, const struct hbg_run_options *given, struct hbg_run *handle)
{
    struct hbg_run_options options;
    struct hbg__run *run = NULL;
    enum hbg_status status = check_options(program, given, &options);
    if (HBG_UNLIKELY(status)) return status;
    if (!program || !handle) return hbg__error_set(options.error, HBG_E_NULL, program ? "run" : "program", "hbg_run_prepare got no %s", program ? "place for the run" : "program");
    status = hbg__device_check(program->device, "hbg_run_prepare", options.error);
    if (!status) status = hbg__run_lease(program, &options, &run);
    if (HBG_UNLIKELY(status)) return status;
    run->times = (struct hbg__run_times){ .prepare_begin = hbg__device_now_ns(run->device) };
    run->error = options.error;
    run->has_said = false;
    run->done = options.done;
    run->done_user = options.done_user;
    run->polls = options.poll;
    run->is_home = false;
    keep_name(run, options.name);
    run->deadline_ns = options.deadline_ns ? hbg__device_after_ns(run->device, options.deadline_ns) : UINT64_MAX;
    hbg__store_relaxed32(&run->deadline_hit, 0);        /* relaxed: H1 publishes it, at the end of this function */
    hbg__store_relaxed64(&run->cancelled_ns, 0);        /* relaxed: likewise */
    status = prepare(run, list, &options);
    if (HBG_UNLIKELY(status)) {
        hbg__run_end(run, status);
        return status;
    }
    *handle = (struct hbg_run){ .program = program, .slot = run->slot, .generation = run->generation };
    return HBG_OK;
}

/* ---- handles ---- */

/* The run object behind a handle, this call counted in; every HBG_OK is followed by a leave. */
enum hbg_status hbg__run_enter(struct hbg_run handle, const char *call, struct hbg__run **run, enum hbg__run_phase *phase)
{
    if (HBG_UNLIKELY(!handle.program)) return HBG_E_NULL;
    struct hbg__run_entry *entry = hbg__run_entry_find(handle.slot);
    if (HBG_UNLIKELY(!entry || !hbg__run_entry_enter(entry, handle.generation, phase))) return HBG_E_STALE;
    /* H7 acquire, pairs with H6 in hbg__run_entry_take(): the slot of the device. */
    *run = hbg__run_of_word(hbg__load_acquire64(&entry->run));
    enum hbg_status status = (*run)->program == handle.program ? hbg__device_check((*run)->device, call, NULL) : HBG_E_STALE;
    if (HBG_UNLIKELY(status)) hbg__run_entry_leave(entry);
    return status;
}

void hbg__run_leave(struct hbg__run *run) { hbg__run_entry_leave(run->entry); }

enum hbg_status hbg_run_image(struct hbg_run handle, const void **image, size_t *size_bytes)
{
    struct hbg__run *run = NULL;
    enum hbg__run_phase phase;
    if (!image || !size_bytes) return HBG_E_NULL;
    enum hbg_status status = hbg__run_enter(handle, "hbg_run_image", &run, &phase);
    if (status) return status;
    *image = run->kept->recording.head;
    *size_bytes = run->kept->recording.image_bytes;
    hbg__run_leave(run);
    return HBG_OK;
}

/* ---- launch, poll, wait, cancel ---- */

static HBG_COLD void trace_launch(struct hbg__run_spans *spans, uint64_t now_ns)
{
    hbg__spans_here(spans);
    hbg__spans_open(spans, HBG__SPAN_RUNNER, now_ns);
}

static enum hbg_status launch(struct hbg__run *run)
{
    if (HBG_UNLIKELY(!hbg__run_entry_move(run->entry, HBG__RUN_PREPARED, HBG__RUN_LAUNCHING))) return HBG_E_ORDER;
    struct hbg_device *device = run->device;
    struct hbg__stream *const *stream = run->streams.stream;
    struct hbg__launch_done done = { .call = run->done, .user = run->done_user, .run = { run->program, run->slot, run->generation } };
    enum hbg_status status = HBG_UNLIKELY(device->properties.poison) ? hbg__watch_begin(run) : HBG_OK;
    run->times.launch_begin = hbg__device_now_ns(device);
    if (HBG_UNLIKELY(run->spans != NULL)) trace_launch(run->spans, run->times.launch_begin);
    if (HBG_LIKELY(!status)) status = device->ops->launch(device->platform, stream[HBG__STREAM_WORK], stream[HBG__STREAM_COPY], run->device_descriptor, &done);
    run->launch_status = status;
    hbg__run_entry_move(run->entry, HBG__RUN_LAUNCHING, status ? HBG__RUN_UNLAUNCHED : HBG__RUN_LAUNCHED);
    return status;
}

enum hbg_status hbg_run_launch(struct hbg_run handle)
{
    struct hbg__run *run = NULL;
    enum hbg__run_phase phase;
    enum hbg_status status = hbg__run_enter(handle, "hbg_run_launch", &run, &phase);
    if (HBG_UNLIKELY(status)) return status;
    status = launch(run);
    hbg__run_leave(run);
    return status;
}

/* Tasks that have not started are skipped from now on. */
static void abort_launch(struct hbg__run *run)
{
    uint64_t never = 0;
    (void)hbg__cas_relaxed64(&run->cancelled_ns, &never, hbg__device_now_ns(run->device));    /* relaxed: the first time counts, see run.h */
    run->device->ops->abort(run->device->platform, run->streams.stream[HBG__STREAM_WORK]);
}

/* A run past its deadline is cancelled by whoever looks at it. */
static void cancel_late(struct hbg__run *run)
{
    if (HBG_LIKELY(run->deadline_ns == UINT64_MAX) || hbg__device_now_ns(run->device) < run->deadline_ns) return;
    uint32_t not_yet = 0;
    /* relaxed: decides who cancels; leaving the call orders it before the finish, which reads it. */
    if (hbg__cas_relaxed32(&run->deadline_hit, &not_yet, 1)) abort_launch(run);
}

/* Of a launched run. */
static enum hbg_run_state look(struct hbg__run *run)
{
    enum hbg__launch_state state = run->device->ops->poll(run->device->platform, run->streams.stream[HBG__STREAM_WORK]);
    if (state == HBG__LAUNCH_ENDED) return HBG_RUN_DONE;
    cancel_late(run);
    return state == HBG__LAUNCH_QUEUED ? HBG_RUN_QUEUED : HBG_RUN_RUNNING;
}

enum hbg_status hbg_run_poll(struct hbg_run handle, enum hbg_run_state *state)
{
    struct hbg__run *run = NULL;
    enum hbg__run_phase phase;
    if (!state) return HBG_E_NULL;
    enum hbg_status status = hbg__run_enter(handle, "hbg_run_poll", &run, &phase);
    if (status) return status;
    if (phase == HBG__RUN_PREPARED) *state = HBG_RUN_PREPARED;
    else if (phase == HBG__RUN_LAUNCHING) *state = HBG_RUN_QUEUED;
    else *state = phase == HBG__RUN_LAUNCHED ? look(run) : HBG_RUN_DONE;
    hbg__run_leave(run);
    return HBG_OK;
}

/* For a wait that timed out: what runs, as seen without a lock. */
static void say_what_runs(struct hbg__run *run, uint64_t timeout_ns, struct hbg_error *text)
{
    struct hbg_device *device = run->device;
    struct hbg__stream *stream = run->streams.stream[HBG__STREAM_WORK];
    struct hbg__progress now;
    char label[HBG__LABEL_BYTES], task[HBG__TASK_BYTES], within[40] = "";
    hbg__run_label(run, label);
    if (timeout_ns != HBG_FOREVER) snprintf(within, sizeof within, " within %" PRIu64 " ns", timeout_ns);
    if (!device->ops->progress || !device->ops->progress(device->platform, stream, timeout_ns != 0, &now)) {
        bool queued = device->ops->poll(device->platform, stream) == HBG__LAUNCH_QUEUED;
        hbg__error_set(text, HBG_TIMEOUT, run->program->name, "%s did not end%s; %s", label, within,
                       queued ? "it waits for the runs that were launched before it" : "no task runs at this moment");
        return;
    }
    const char *kernel = hbg__program_kernel_name(run->program, now.kernel);
    hbg__error_set(text, HBG_TIMEOUT, kernel, "%s did not end%s: %s (kernel \"%.60s\") runs longest, on worker %u", label, within,
                   hbg__run_task_words(run, now.task, now.activation, now.node, task), kernel, now.worker);
    text->task = now.task;
}

bool hbg__run_wait_for_end(struct hbg__run *run, uint64_t timeout_ns)
{
    struct hbg_device *device = run->device;
    struct hbg__stream *stream = run->streams.stream[HBG__STREAM_WORK];
    if (HBG_LIKELY(run->deadline_ns == UINT64_MAX)) return device->ops->wait(device->platform, stream, timeout_ns);
    uint64_t until = timeout_ns == HBG_FOREVER ? UINT64_MAX : hbg__device_after_ns(device, timeout_ns), now = hbg__device_now_ns(device);
    if (now < run->deadline_ns) {
        uint64_t stop = until < run->deadline_ns ? until : run->deadline_ns;
        if (device->ops->wait(device->platform, stream, stop > now ? stop - now : 0)) return true;
    }
    cancel_late(run);
    now = hbg__device_now_ns(device);
    return device->ops->wait(device->platform, stream, until == UINT64_MAX ? HBG_FOREVER : until > now ? until - now : 0);
}

/* What earlier waits said is over. */
static void forget_timeouts(struct hbg__run *run)
{
    pthread_mutex_lock(&run->device->lock);
    if (run->has_said) hbg__error_clear(run->error);
    run->has_said = false;
    pthread_mutex_unlock(&run->device->lock);
}

/* The phase, when the thread that launches has come out of the platform: a callback may be faster. */
static enum hbg__run_phase settled_phase(struct hbg__run *run)
{
    enum hbg__run_phase phase;
    while ((phase = hbg__run_word_phase(hbg__run_entry_look(run->entry))) == HBG__RUN_LAUNCHING) sched_yield();
    return phase;
}

static enum hbg_status wait_in(struct hbg__run *run, enum hbg__run_phase phase, uint64_t timeout_ns)
{
    if (HBG_UNLIKELY(phase == HBG__RUN_LAUNCHING)) phase = settled_phase(run);
    if (HBG_UNLIKELY(phase == HBG__RUN_DROPPED || phase == HBG__RUN_UNLAUNCHED)) return HBG_OK;
    if (HBG_UNLIKELY(phase != HBG__RUN_LAUNCHED)) return HBG_E_ORDER;
    if (HBG_LIKELY(hbg__run_wait_for_end(run, timeout_ns))) {
        hbg__spans_waited(run->spans);
        if (HBG_UNLIKELY(run->error != NULL)) forget_timeouts(run);
        return HBG_OK;
    }
    struct hbg_error text = { .size = sizeof text };
    if (run->error) say_what_runs(run, timeout_ns, &text);
    pthread_mutex_lock(&run->device->lock);     /* several may wait for one run, and it has one error to write to */
    struct hbg__run *lost = hbg__run_is_lost(run) ? run : hbg__run_find_lost(run->device);
    if (lost) hbg__run_say_lost(lost, run->error);
    else hbg__error_copy(run->error, &text);
    run->has_said = true;
    pthread_mutex_unlock(&run->device->lock);
    return lost ? HBG_E_DEVICE : HBG_TIMEOUT;
}

enum hbg_status hbg_run_wait(struct hbg_run handle, uint64_t timeout_ns)
{
    struct hbg__run *run = NULL;
    enum hbg__run_phase phase;
    enum hbg_status status = hbg__run_enter(handle, "hbg_run_wait", &run, &phase);
    if (HBG_UNLIKELY(status)) return status;
    status = wait_in(run, phase, timeout_ns);
    hbg__run_leave(run);
    return status;
}

/* Before the launch the run is dropped; after it, what has not started is skipped. */
static void cancel(struct hbg__run *run)
{
    if (hbg__run_entry_move(run->entry, HBG__RUN_PREPARED, HBG__RUN_DROPPED)) return;
    if (settled_phase(run) == HBG__RUN_LAUNCHED && !hbg__run_has_ended(run)) abort_launch(run);
}

enum hbg_status hbg_run_cancel(struct hbg_run handle)
{
    struct hbg__run *run = NULL;
    enum hbg__run_phase phase;
    enum hbg_status status = hbg__run_enter(handle, "hbg_run_cancel", &run, &phase);
    if (status) return status;
    cancel(run);
    hbg__run_leave(run);
    return HBG_OK;
}

enum hbg_status hbg__run_wait_for_buffer(struct hbg_device *device, const struct hbg_buffer *buffer)
{
    enum hbg_status status = HBG_OK;
    pthread_mutex_lock(&device->lock);
    for (uint32_t i = 0; i < device->depth && !status; i++) {
        struct hbg__run *run = &device->run[i];
        if (!run->leased || !hbg__run_uses(run, buffer)) continue;
        pthread_mutex_unlock(&device->lock);
        bool ended = device->ops->wait(device->platform, run->streams.stream[HBG__STREAM_WORK], HBG__RUN_GRACE_NS);
        pthread_mutex_lock(&device->lock);
        if (ended) continue;
        if (run->leased && hbg__run_uses(run, buffer) && hbg__run_is_lost(run)) status = HBG_E_DEVICE;
        else i--;                       /* once more, until it ends */
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

/* ---- finish ---- */

/* The phase becomes FINISHING, and is this call's alone. The lock keeps it from changing under hbg__run_uses(). */
static enum hbg_status begin_finish(struct hbg__run *run, enum hbg__run_phase phase)
{
    if (phase == HBG__RUN_LAUNCHED && !hbg__run_has_ended(run)) return hbg__run_is_lost(run) ? HBG_E_DEVICE : HBG_E_ORDER;
    if (phase != HBG__RUN_LAUNCHED && phase != HBG__RUN_DROPPED && phase != HBG__RUN_UNLAUNCHED) return HBG_E_ORDER;
    pthread_mutex_lock(&run->device->lock);
    bool moved = hbg__run_entry_move(run->entry, phase, HBG__RUN_FINISHING);
    pthread_mutex_unlock(&run->device->lock);
    return moved ? HBG_OK : HBG_E_STALE;
}

/* Until the calls of other threads that came in before have left; all of them return once the launch has ended. */
static void wait_for_callers(struct hbg__run *run)
{
    while (HBG_UNLIKELY(hbg__run_word_callers(hbg__run_entry_look(run->entry)) != 0)) sched_yield();
}

static void say_unfinished(const struct hbg__run *run, enum hbg_status status, struct hbg_error *error)
{
    if (status == HBG_E_DEVICE) hbg__run_say_lost(run, error);
    else hbg__error_set(error, status, "hbg_run_finish", "%s", status == HBG_E_ORDER ? "the run has not ended: launch it and wait, or cancel it, before it is finished" : hbg_status_text(status));
}

enum hbg_status hbg_run_finish(struct hbg_run handle, struct hbg_result *result)
{
    struct hbg__run *run = NULL;
    enum hbg__run_phase phase = HBG__RUN_FREE;
    enum hbg_status status = result ? hbg__abi_result(result, NULL) : HBG_OK;
    if (HBG_UNLIKELY(status)) return status;
    status = hbg__run_enter(handle, "hbg_run_finish", &run, &phase);
    if (HBG_LIKELY(!status)) {
        if (HBG_UNLIKELY(phase == HBG__RUN_LAUNCHING)) phase = settled_phase(run);
        status = begin_finish(run, phase);
        if (HBG_UNLIKELY(status)) say_unfinished(run, status, result ? &result->error : NULL);
        hbg__run_leave(run);
    } else if (result) {
        hbg__error_set(&result->error, status, "hbg_run_finish", "%s", hbg_status_text(status));
    }
    if (HBG_UNLIKELY(status)) return status;
    wait_for_callers(run);
    status = hbg__run_conclude(run, phase, result);
    if (HBG_UNLIKELY(status) && status != HBG_E_CANCELLED) run->scratch.recording.last.head = NULL;      /* whatever has damaged its image: the next one is made anew */
    hbg__run_end(run, status);
    return status;
}

enum hbg_status hbg_run_sync(struct hbg_program *program, struct hbg_arg_list list, struct hbg_result *result)
{
    struct hbg_run run;
    struct hbg_run_options options = { .size = sizeof options };
    enum hbg_status status = result ? hbg__abi_result(result, log_of(program)) : HBG_OK;
    if (HBG_UNLIKELY(status)) return status;
    if (result) {
        *result = (struct hbg_result){ .size = result->size, .error.size = result->error.size };
        options.error = &result->error;
    }
    status = hbg_run_prepare(program, list, &options, &run);
    if (HBG_UNLIKELY(status)) return status;
    if (HBG_LIKELY(!hbg_run_launch(run))) (void)!hbg_run_wait(run, HBG_FOREVER);
    return hbg_run_finish(run, result);
}
