/* SPDX-License-Identifier: Apache-2.0 */
/* user_span.c - spans of the user beside those of the runs: include/hbg/trace.h. */
#include "base/clock.h"
#include "run/device.h"

/* How many spans of its own the thread has open. */
static _Thread_local uint32_t depth;

struct hbg_span hbg_span_begin(struct hbg_device *device, const char *producer, const char *name)
{
    struct hbg_span span = { .device = NULL };
    if (HBG_LIKELY(!device || !device->trace) || device->fork_count != hbg__process_fork_count()) return span;
    span.device = device;
    span.producer = producer ? producer : "user";
    span.name = name ? name : "span";
    span.depth = depth++;
    span.started_ns = hbg__clock_ns();
    return span;
}

void hbg_span_end(struct hbg_span *span, const struct hbg_span_note *note, size_t count)
{
    struct hbg__trace_line line;
    if (!span || !span->device || span->device->fork_count != hbg__process_fork_count()) return;
    struct hbg__trace_head head = { .tid = hbg__trace_tid(), .depth = span->depth, .ts = span->started_ns, .dur = hbg__clock_ns() - span->started_ns };
    hbg__trace_begin(span->device->trace, &line, &head, "ext", span->producer, span->name);
    for (size_t i = 0; i < count && note; i++) (void)hbg__line_note(&line, note[i].key ? note[i].key : "", note[i].value ? note[i].value : "");
    hbg__trace_write(span->device->trace, &line);
    depth--;
    span->device = NULL;
}
