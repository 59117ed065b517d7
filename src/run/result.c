/* SPDX-License-Identifier: Apache-2.0 */
/* result.c - the end of a run: outputs go home, and what happened is said in numbers and in one sentence.
 *
 * Outputs are copied back after a failed run as well: what they hold is then unspecified, but nothing beside them is touched.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "run/node.h"
#include "run/run.h"

bool hbg__run_uses(const struct hbg__run *run, const struct hbg_buffer *buffer)
{
    uint64_t word = hbg__run_entry_look(run->entry);
    enum hbg__run_phase phase = hbg__run_word_phase(word);
    if (phase != HBG__RUN_LAUNCHING && phase != HBG__RUN_LAUNCHED) return false;
    for (uint32_t g = 0; g < run->group_count; g++) {
        if (run->group[g].buffer == buffer) return true;
    }
    const struct hbg__recording *recording = &run->kept->recording;
    for (uint32_t i = 0; i < recording->named_count; i++) {
        if (recording->named[i].buffer == buffer) return true;
    }
    return false;
}

const char *hbg__run_label(const struct hbg__run *run, char label[HBG__LABEL_BYTES])
{
    if (*run->name) snprintf(label, HBG__LABEL_BYTES, "run \"%s\" of program \"%.60s\"", run->name, run->program->name);
    else snprintf(label, HBG__LABEL_BYTES, "program \"%.60s\"", run->program->name);
    return label;
}

/* "1 task was", "2 tasks were"; where the graph has noops or bodies, these were counted as well. */
static const char *skipped_words(const struct hbg__run *run, uint64_t skipped)
{
    const struct hbg__image_head *head = run->kept->recording.head;
    if (head->flags & HBG__IMAGE_SUBGRAPHS) return "tasks, noops and bodies were";
    return head->noop_count ? "tasks and noops were" : skipped == 1 ? "task was" : "tasks were";
}

const char *hbg__run_task_words(const struct hbg__run *run, uint32_t task, uint32_t activation, uint32_t node, char words[HBG__TASK_BYTES])
{
    enum { NAMED = 2 };
    const struct hbg__definition *path[NAMED];
    uint32_t depth = activation ? hbg__levels_path(&run->kept->recording, activation, path, NAMED) : 0;
    if (depth > 1) snprintf(words, HBG__TASK_BYTES, "node %u of subgraph \"%.40s\" inside \"%.40s\" in task %u", node, path[0]->key.name, path[1]->key.name, task);
    else if (depth) snprintf(words, HBG__TASK_BYTES, "node %u of subgraph \"%.60s\" in task %u", node, path[0]->key.name, task);
    else snprintf(words, HBG__TASK_BYTES, "task %u", task);
    return words;
}

static const char *task_words(const struct hbg__run *run, const struct hbg__launch_result *launch, char words[HBG__TASK_BYTES])
{
    return hbg__run_task_words(run, launch->task, launch->activation, launch->node, words);
}

static void explain_kernel(const struct hbg__run *run, const struct hbg__launch_result *launch, struct hbg_error *error)
{
    const char *kernel = hbg__program_kernel_name(run->program, launch->kernel);
    char label[HBG__LABEL_BYTES], task[HBG__TASK_BYTES];
    hbg__error_set(error, launch->status, kernel, "%s (kernel \"%.60s\") of %s returned %d with detail %" PRId64 "; %" PRIu64 " %s skipped",
                   task_words(run, launch, task), kernel, hbg__run_label(run, label), launch->code, launch->detail, launch->skipped, skipped_words(run, launch->skipped));
}

/* The sentence for how the device says it ended. */
static enum hbg_status explain(struct hbg__run *run, const struct hbg__launch_result *launch, struct hbg_error *error)
{
    const char *name = run->program->name;
    char label[HBG__LABEL_BYTES], task[HBG__TASK_BYTES];
    struct hbg_error text = { .size = sizeof text };
    switch ((int)launch->status) {
    case HBG_OK:
        hbg__error_clear(error);
        return HBG_OK;
    case HBG_E_KERNEL:
        explain_kernel(run, launch, &text);
        break;
    case HBG_E_CANCELLED:
        hbg__error_set(&text, HBG_E_CANCELLED, name, "%s was cancelled%s; %" PRIu64 " %s ran and %" PRIu64 " %s skipped", hbg__run_label(run, label),
                       hbg__load_relaxed32(&run->deadline_hit) ? " at its deadline" : "", launch->executed, launch->executed == 1 ? "task" : "tasks", launch->skipped, skipped_words(run, launch->skipped));     /* relaxed: H4 ordered it, see run.h */
        break;
    case HBG_E_LIMIT:
        hbg__error_set(&text, HBG_E_LIMIT, "ring", "the shared ring of %s is full with %" PRId64 " of %" PRId64 " tasks; open the device with a larger ring= or with spill=1", hbg__run_label(run, label), launch->detail, launch->limit);
        text.requested = launch->limit + 1;
        break;
    case HBG_E_UNSUPPORTED:
        hbg__error_set(&text, HBG_E_UNSUPPORTED, hbg__program_kernel_name(run->program, launch->kernel), "%s (kernel \"%.60s\") returned HBG_PENDING, which this version does not support",
                       task_words(run, launch, task), hbg__program_kernel_name(run->program, launch->kernel));
        break;
    default:
        hbg__error_set(&text, launch->status, name, "%s: %s%s%s", hbg__run_label(run, label), hbg_status_text(launch->status), *launch->text ? ": " : "", launch->text);
        break;
    }
    text.task = launch->task;
    text.code = launch->code;
    text.detail = launch->detail;
    text.limit = launch->limit;
    hbg__error_copy(error, &text);
    return launch->status;
}

/* A run that never reached the device. */
static enum hbg_status explain_unlaunched(const struct hbg__run *run, enum hbg__run_phase phase, struct hbg_error *error)
{
    const char *name = run->program->name;
    char label[HBG__LABEL_BYTES];
    if (phase == HBG__RUN_DROPPED) return hbg__error_set(error, HBG_E_CANCELLED, name, "%s was cancelled before its launch", hbg__run_label(run, label));
    return hbg__error_set(error, run->launch_status, name, "%s could not be launched: %s", hbg__run_label(run, label), hbg_status_text(run->launch_status));
}

static uint64_t between(uint64_t from, uint64_t to) { return to > from ? to - from : 0; }

/* What the build did with bodies. */
static void fill_subgraphs(const struct hbg__run *run, struct hbg_result *result)
{
    const struct hbg__recording *recording = &run->kept->recording;
    bool built = !run->replayed;
    result->subgraphs_recorded = built ? recording->bodies_recorded : 0;
    result->subgraphs_replayed = built ? recording->bodies_replayed : 0;
    result->subgraphs_in_place = built ? recording->bodies_in_place : 0;
    result->repeated = built && recording->is_repeated;
    result->subgraphs_missed = 0;
    for (int i = 0; built && i < HBG__BODY_MISSES; i++) result->subgraphs_missed += recording->bodies_missed[i];
    memset(result->subgraph_why, 0, sizeof result->subgraph_why);
    if (built) memcpy(result->subgraph_why, recording->why, sizeof recording->why);
}

static void fill_result(const struct hbg__run *run, const struct hbg__launch_result *launch, struct hbg_result *result)
{
    const struct hbg__recording *recording = &run->kept->recording;
    const struct hbg__run_times *times = &run->times;
    result->tasks = recording->task_count;
    result->edges = recording->edge_count;
    result->upload_bytes = run->upload_bytes;
    result->upload_copies = run->upload_copies;
    result->build_ns = between(times->build_begin + times->build_waited_ns, times->build_end);
    result->upload_ns = times->upload_begin ? between(times->upload_begin, times->prepare_end) : 0;
    result->bind_ns = between(times->prepare_begin + times->bind_waited_ns, times->prepare_end);
    result->waited_ns = times->waited_ns;
    result->launch_to_done_ns = launch ? between(times->launch_begin, launch->ended_ns) : 0;
    result->device_ns = launch ? between(launch->started_ns, launch->ended_ns) : 0;
    result->replayed = run->replayed;
    memcpy(result->why, run->why, sizeof result->why);
    fill_subgraphs(run, result);
    result->run_ns = between(times->prepare_begin, hbg__device_now_ns(run->device));
}

/* For the choice of mode: the mean over all workers' time. Only a launch that ended well says something about its kernels. */
static void remember_task_time(struct hbg__run *run, const struct hbg__launch_result *launch)
{
    uint64_t tasks = run->kept->recording.head->slot_count;
    if (launch->status || tasks == 0) return;
    uint64_t mean = between(launch->started_ns, launch->ended_ns) * run->device->properties.workers / tasks;
    hbg__store_relaxed64(&run->program->task_ns, mean);       /* relaxed: a hint */
}

/* What the launch was, and from here on what becomes of it. launch is NULL where there was none. */
static void trace_launch(struct hbg__run *run, const struct hbg__launch_result *launch)
{
    if (HBG_UNLIKELY(run->spans != NULL)) hbg__spans_launched(run->spans, launch ? launch->started_ns : 0, launch ? launch->ended_ns : 0);
    if (launch) hbg__span_values(run->spans, HBG__SPAN_WALL, run->slot, launch->accepted_ns, launch->executed, launch->skipped);
    hbg__span_begin(run->spans, HBG__SPAN_VALIDATE);
}

enum hbg_status hbg__run_conclude(struct hbg__run *run, enum hbg__run_phase phase, struct hbg_result *result)
{
    struct hbg_device *device = run->device;
    struct hbg__launch_result launch;
    struct hbg_error *error = result ? &result->error : NULL;
    enum hbg_status status;
    hbg__count(&device->counters.runs, 1);
    if (phase != HBG__RUN_LAUNCHED) {
        trace_launch(run, NULL);
        status = explain_unlaunched(run, phase, error);
        if (result) fill_result(run, NULL, result);
        hbg__span_end(run->spans, HBG__SPAN_VALIDATE);
        return status;
    }
    device->ops->result(device->platform, run->streams.stream[HBG__STREAM_WORK], &launch);
    trace_launch(run, &launch);
    struct hbg_error changed = { .size = sizeof changed };
    if (HBG_UNLIKELY(device->properties.poison)) (void)hbg__watch_end(run, &changed);
    enum hbg_status copied = hbg__run_bring_home(run, error);
    status = copied && !launch.status ? copied : explain(run, &launch, error);
    if (HBG_UNLIKELY(!status && changed.status)) {
        hbg__error_copy(error, &changed);
        status = changed.status;
    }
    remember_task_time(run, &launch);
    if (result) fill_result(run, &launch, result);
    hbg__span_end(run->spans, HBG__SPAN_VALIDATE);
    if (HBG_UNLIKELY(run->event_capacity != 0)) hbg__run_collect_tasks(run, &launch);
    if (status && status != HBG_E_CANCELLED) hbg__log_write(&device->log, HBG_LOG_ERROR, "hbg: %s", error ? error->text : hbg_status_text(status));
    return status;
}
