/* SPDX-License-Identifier: Apache-2.0 */
/* span.c - see span.h. */
#include "trace/span.h"

#include <string.h>

#define STEP { "first", "alloc_bytes", "copies", "bytes" }

static const struct { uint32_t depth; const char *name; const char *value[HBG__SPAN_VALUES]; } kinds[HBG__SPAN_COUNT] = {
    [HBG__SPAN_RUN] = { 0, "chip.run", { "slot", "tasks", "edges", "replayed" } },
    [HBG__SPAN_BIND] = { 1, "chip.run.bind", { 0 } },
    [HBG__SPAN_ARGS] = { 2, "chip.run.bind.args", { "args" } },
    [HBG__SPAN_WAIT] = { 2, "chip.run.bind.wait", { 0 } },
    [HBG__SPAN_BUILD] = { 2, "chip.run.bind.build", { "replayed", "tasks", "edges", "image_bytes" } },
    [HBG__SPAN_UPLOAD] = { 2, "chip.run.bind.upload", { "copies", "bytes" } },
    [HBG__SPAN_PREPARE] = { 1, "chip.run.prepare_execution", { "copies", "bytes" } },
    [HBG__SPAN_RESULT_REGION] = { 2, "chip.run.prepare_execution.result_region", STEP },
    [HBG__SPAN_COUNTER_TABLE] = { 2, "chip.run.prepare_execution.counter_table", STEP },
    [HBG__SPAN_DESCRIPTOR] = { 2, "chip.run.prepare_execution.descriptor", STEP },
    [HBG__SPAN_RUNNER] = { 1, "chip.run.runner_run", { 0 } },
    [HBG__SPAN_WALL] = { 2, "chip.run.runner_run.device_wall", { "slot", "accepted", "executed", "skipped" } },
    [HBG__SPAN_VALIDATE] = { 1, "chip.run.validate", { "copies", "bytes" } },
    [HBG__SPAN_COLLECT] = { 1, "chip.run.collect_tasks", { "copies", "bytes", "records", "lost" } },
    [HBG__SPAN_RELEASE] = { 1, "chip.run.claim_release", { 0 } },
};

static void keep(char text[HBG__SPAN_TEXT], const char *from)
{
    size_t size = strnlen(from, HBG__SPAN_TEXT - 1);
    memcpy(text, from, size);
    text[size] = '\0';
}

void hbg__spans_start(struct hbg__run_spans *spans, uint64_t hash, const char *program, const char *run)
{
    memset(spans->span, 0, sizeof spans->span);
    spans->invocation = hbg__fetch_add_relaxed64(&spans->trace->invocations, 1) + 1;        /* relaxed: it only numbers */
    spans->hash = hash;
    keep(spans->program, program);
    keep(spans->run, run);
    hbg__store_relaxed64(&spans->waited_ns, 0);         /* relaxed: the run is nobody else's yet */
    hbg__spans_here(spans);
    spans->tick = hbg__trace_ticks(spans->trace);
    spans->tick_ns = hbg__trace_now_ns(spans->trace);
    hbg__spans_open(spans, HBG__SPAN_RUN, spans->tick_ns);
}

void hbg__spans_here(struct hbg__run_spans *spans) { spans->tid = hbg__trace_tid(); }

void hbg__spans_open(struct hbg__run_spans *spans, enum hbg__span_id id, uint64_t now_ns)
{
    spans->span[id].started_ns = now_ns;
    spans->span[id].tid = spans->tid;
}

void hbg__spans_close(struct hbg__run_spans *spans, enum hbg__span_id id, uint64_t now_ns)
{
    if (spans->span[id].started_ns) spans->span[id].ended_ns = now_ns;
}

void hbg__spans_drop(struct hbg__run_spans *spans, enum hbg__span_id id) { spans->span[id].started_ns = 0; }

void hbg__step_open(struct hbg__run_spans *spans, enum hbg__span_id id, uint64_t alloc_bytes, uint64_t copies, uint64_t bytes)
{
    hbg__span_values(spans, id, !(spans->seen & UINT32_C(1) << id), alloc_bytes, copies, bytes);
    spans->seen |= UINT32_C(1) << id;
    hbg__spans_open(spans, id, hbg__trace_now_ns(spans->trace));
}

void hbg__step_close(struct hbg__run_spans *spans, enum hbg__span_id id, uint64_t alloc_bytes, uint64_t copies, uint64_t bytes)
{
    const uint64_t *before = spans->span[id].value;
    hbg__spans_close(spans, id, hbg__trace_now_ns(spans->trace));
    hbg__span_values(spans, id, before[0], alloc_bytes - before[1], copies - before[2], bytes - before[3]);
}

void hbg__spans_launched(struct hbg__run_spans *spans, uint64_t started_ns, uint64_t ended_ns)
{
    uint64_t waited_ns = hbg__load_relaxed64(&spans->waited_ns);        /* relaxed: see span.h */
    hbg__spans_here(spans);
    hbg__spans_close(spans, HBG__SPAN_RUNNER, waited_ns ? waited_ns : hbg__trace_now_ns(spans->trace));
    if (!started_ns) return;
    hbg__spans_open(spans, HBG__SPAN_WALL, started_ns);
    hbg__spans_close(spans, HBG__SPAN_WALL, ended_ns);
}

static void write_span(struct hbg__run_spans *spans, enum hbg__span_id id, enum hbg_status status)
{
    const struct hbg__run_span *span = &spans->span[id];
    struct hbg__trace_line line;
    struct hbg__trace_head head = {
        .invocation = spans->invocation, .program = spans->hash, .tid = span->tid, .depth = kinds[id].depth,
        .ts = span->started_ns, .dur = span->ended_ns > span->started_ns ? span->ended_ns - span->started_ns : 0 };
    hbg__trace_begin(spans->trace, &line, &head, kinds[id].name, NULL, NULL);
    for (int i = 0; i < HBG__SPAN_VALUES && kinds[id].value[i]; i++) hbg__line_u64(&line, kinds[id].value[i], span->value[i]);
    if (id == HBG__SPAN_RUN) {
        hbg__line_text(&line, "status", hbg_status_name(status));
        hbg__line_text(&line, "program", spans->program);
        if (*spans->run) hbg__line_text(&line, "run", spans->run);
    }
    hbg__trace_write(spans->trace, &line);
}

void hbg__spans_write(struct hbg__run_spans *spans, enum hbg_status status)
{
    uint64_t now_ns = hbg__trace_now_ns(spans->trace);
    for (int id = 0; id < HBG__SPAN_COUNT; id++) {
        if (spans->span[id].started_ns && !spans->span[id].ended_ns) spans->span[id].ended_ns = now_ns;
    }
    write_span(spans, HBG__SPAN_RUN, status);
    for (int id = HBG__SPAN_RUN + 1; id < HBG__SPAN_COUNT && spans->trace->level >= HBG_TRACE_PHASE; id++) {
        if (spans->span[id].started_ns) write_span(spans, (enum hbg__span_id)id, status);
    }
}
