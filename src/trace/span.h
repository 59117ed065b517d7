/* SPDX-License-Identifier: Apache-2.0 */
/* span.h - the spans of one run: begun and ended where the phases are, written when the run is over.
 *
 *     chip.run                                     prepare to the end of finish
 *         bind                                     what depends on the build function
 *             args  wait  build  upload           wait: for runs in flight that use the same host data; where there were some
 *         prepare_execution                        what depends on slot and platform: its steps
 *             result_region  counter_table  descriptor
 *         runner_run                               launch to the end of the wait, or of the launch if nobody waited
 *             device_wall                          the first worker began, the last task was done
 *         validate                                 outputs home, the status explained
 *         collect_tasks                            task records copied home and written, at the level `task`
 *         claim_release                            everything given back
 *
 * Each occurs at most once a run, so a place in an array is all it needs. A span that is open when the run ends is closed then.
 *
 *   field            written by                              read by       order
 *   waited_ns        the first wait that sees the end        the finish    relaxed: leaving the call (H4) orders it before
 *   the rest         the thread in the run's current phase   the same      that of the run: src/run/handle.h
 */
#ifndef HBG_TRACE_SPAN_H
#define HBG_TRACE_SPAN_H

#include "base/clock.h"
#include "trace/trace.h"

enum hbg__span_id {
    HBG__SPAN_RUN,
    HBG__SPAN_BIND, HBG__SPAN_ARGS, HBG__SPAN_WAIT, HBG__SPAN_BUILD, HBG__SPAN_UPLOAD,
    HBG__SPAN_PREPARE, HBG__SPAN_RESULT_REGION, HBG__SPAN_COUNTER_TABLE, HBG__SPAN_DESCRIPTOR,
    HBG__SPAN_RUNNER, HBG__SPAN_WALL,
    HBG__SPAN_VALIDATE,
    HBG__SPAN_COLLECT,
    HBG__SPAN_RELEASE,
    HBG__SPAN_COUNT
};

enum { HBG__SPAN_VALUES = 4, HBG__SPAN_TEXT = 64 };

struct hbg__run_span {
    uint64_t started_ns, ended_ns;      /* started 0: it was not begun; ended 0: it is open */
    uint64_t value[HBG__SPAN_VALUES];   /* names of them: span.c */
    uint32_t tid;                       /* of whoever began it */
};

struct hbg__run_spans {
    struct hbg__trace *trace;
    uint64_t invocation, hash;          /* of the program */
    uint32_t tid;                       /* of the thread in the run's current phase */
    char program[HBG__SPAN_TEXT], run[HBG__SPAN_TEXT];     /* names, cut */
    uint32_t seen;                      /* 1 << id: steps that an earlier run on this slot made */
    uint64_t tick, tick_ns;             /* both clocks when the run began */
    struct hbg__atomic_u64 waited_ns;
    struct hbg__run_span span[HBG__SPAN_COUNT];
};

/* A run begins: it gets its number, and chip.run is open. */
void hbg__spans_start(struct hbg__run_spans *spans, uint64_t hash, const char *program, const char *run);
/* It is over: what is open is closed, and all is written as far as the level wants it. */
void hbg__spans_write(struct hbg__run_spans *spans, enum hbg_status status);

/* The calling thread begins a phase. */
void hbg__spans_here(struct hbg__run_spans *spans);

void hbg__spans_open(struct hbg__run_spans *spans, enum hbg__span_id id, uint64_t now_ns);
void hbg__spans_close(struct hbg__run_spans *spans, enum hbg__span_id id, uint64_t now_ns);
void hbg__spans_drop(struct hbg__run_spans *spans, enum hbg__span_id id);      /* it was not begun after all */

/* ---- what the phases call; spans is NULL where nothing is traced ---- */

static inline void hbg__span_begin(struct hbg__run_spans *spans, enum hbg__span_id id)
{
    if (HBG_UNLIKELY(spans != NULL)) hbg__spans_open(spans, id, hbg__trace_now_ns(spans->trace));
}
static inline void hbg__span_end(struct hbg__run_spans *spans, enum hbg__span_id id)
{
    if (HBG_UNLIKELY(spans != NULL)) hbg__spans_close(spans, id, hbg__trace_now_ns(spans->trace));
}
/* One ends and the next begins at the same moment. */
static inline void hbg__span_next(struct hbg__run_spans *spans, enum hbg__span_id ended, enum hbg__span_id begun)
{
    if (HBG_LIKELY(spans == NULL)) return;
    uint64_t now_ns = hbg__trace_now_ns(spans->trace);
    hbg__spans_close(spans, ended, now_ns);
    hbg__spans_open(spans, begun, now_ns);
}
static inline void hbg__span_values(struct hbg__run_spans *spans, enum hbg__span_id id, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    if (HBG_LIKELY(spans == NULL)) return;
    uint64_t *value = spans->span[id].value;
    value[0] = a;
    value[1] = b;
    value[2] = c;
    value[3] = d;
}
/* Steps of prepare_execution: what has been allocated, how many copies were made and of how many bytes, before and after. */
void hbg__step_open(struct hbg__run_spans *spans, enum hbg__span_id id, uint64_t alloc_bytes, uint64_t copies, uint64_t bytes);
void hbg__step_close(struct hbg__run_spans *spans, enum hbg__span_id id, uint64_t alloc_bytes, uint64_t copies, uint64_t bytes);

/* One copy more inside of a span whose values are copies and bytes. */
static inline void hbg__span_count(struct hbg__run_spans *spans, enum hbg__span_id id, uint64_t bytes)
{
    if (HBG_LIKELY(spans == NULL)) return;
    spans->span[id].value[0]++;
    spans->span[id].value[1] += bytes;
}

/* The launch is over, if there was one: when the device began and ended, and the end of runner_run. */
void hbg__spans_launched(struct hbg__run_spans *spans, uint64_t started_ns, uint64_t ended_ns);

/* A wait saw the end; the first one counts. */
static inline void hbg__spans_waited(struct hbg__run_spans *spans)
{
    uint64_t never = 0;
    if (HBG_UNLIKELY(spans != NULL)) (void)hbg__cas_relaxed64(&spans->waited_ns, &never, hbg__trace_now_ns(spans->trace));     /* relaxed: see above */
}

#endif /* HBG_TRACE_SPAN_H */
