/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - what a device tells about the phases of its runs, and spans of your own beside them.
 *
 * Tracing is off unless the device's options or the environment say otherwise. What is written, where, and what each level costs:
 * docs/tracing.md. `hbg trace FILE` reads it.
 *
 *     HBG_TRACE=off|run|phase|task     how much
 *     HBG_TRACE_TO=stderr|log|FILE     where; in FILE, %p is the number of the process and %% a percent sign
 *
 * An option that is set goes before its variable.
 */
#ifndef HBG_TRACE_H
#define HBG_TRACE_H

#include <hbg/version.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hbg_device;

/* Each level tells what those before it tell, and more. */
enum hbg_trace_level {
    HBG_TRACE_UNSET,                    /* as HBG_TRACE in the environment says; without it: off */
    HBG_TRACE_OFF,
    HBG_TRACE_RUN,                      /* one span a run, and spans of your own */
    HBG_TRACE_PHASE,                    /* every phase and step of a run */
    HBG_TRACE_TASK                      /* every task: when it was ready, dispatched, started and ended, and on which core */
};

/* A span that was begun; a value on the caller's stack. */
struct hbg_span {
    struct hbg_device *device;          /* NULL: nothing is written */
    const char *producer, *name;        /* borrowed until the end */
    uint64_t started_ns;
    uint32_t depth;
};

/* What a span says beside its times; borrowed for the call. */
struct hbg_span_note { const char *key, *value; };

/**
 * hbg_span_begin - begin a span of your own; its name in the trace is ext.PRODUCER.NAME.
 *
 * producer    in   who says it, e.g. "tokenizer"; NULL: "user"
 * name        in   any text; it is percent-encoded. NULL: "span"
 *
 * Returns  a span to hand to hbg_span_end(); inert where nothing is traced
 * Threads  any, kernels and build functions included; spans of one thread nest
 * Cost     one comparison where nothing is traced
 */
HBG_API struct hbg_span hbg_span_begin(struct hbg_device *device, const char *producer, const char *name);

/**
 * hbg_span_end - end a span and write it.
 *
 * span        in   of hbg_span_begin() on this thread; inert afterwards
 * note        in   count notes; NULL where count is 0
 *
 * Units    a record has at most 4,096 bytes; notes that do not fit are left out, and the record says cut=1
 * Threads  the one that began it
 */
HBG_API void hbg_span_end(struct hbg_span *span, const struct hbg_span_note *note, size_t count);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_TRACE_H */
