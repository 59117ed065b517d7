/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `hbg run`: what was asked, what came of it, and the steps between.
 *
 *     cmd_run.c     the command line, the order of the steps
 *     rounds.c      device, program, warm-up and timed rounds
 *     run_report.c  the text and the JSON
 *     explain.h     why runs were built, and bodies recorded
 */
#ifndef HBG_TOOLS_RUN_H
#define HBG_TOOLS_RUN_H

#include "explain.h"
#include "setup.h"
#include "verify.h"

#include <hbg/trace.h>

#include <stdio.h>

struct run_request {
    const char *device;
    uint64_t rounds, warmup;
    bool verify, explain;
    bool replay;                        /* rounds of a pure build are replayed */
    bool compares;                      /* a build may be compared with the last one */
    const char *trace_to;               /* NULL: as the environment says */
    enum hbg_trace_level trace;
};

/* nanoseconds of each phase, one sample a round; queued_ns: launched, and the device not yet at it: large copies, the run before */
#define RESULT_TIMES(X) X(build_ns) X(upload_ns) X(bind_ns) X(launch_to_done_ns) X(device_ns) X(run_ns)
#define RUN_TIMES(X) RESULT_TIMES(X) X(queued_ns)
enum run_time {
#define TIME_NAME(name) TIME_##name,
    RUN_TIMES(TIME_NAME)
#undef TIME_NAME
    TIME_COUNT
};
struct time_statistics {
    uint64_t first;                     /* of the first run of all */
    bool has_warm;                      /* the others are of timed rounds after it */
    uint64_t min, median, p90;
};

struct run_outcome {
    enum hbg_status status;
    struct hbg_error error;             /* where status is none of HBG_OK */
    const char *step;                   /* what failed: "device", "program", "run", .. */
    uint64_t rounds_done, replayed;     /* timed rounds */
    uint64_t rounds_ns;                 /* from the first of them to the end of the last, verification included */
    uint32_t depth;                     /* rounds in flight */
    uint64_t built_runs;                /* behind them, never replayed: what a build ships */
    uint64_t tasks, edges;
    bool has_upload;                    /* a warm round was built */
    uint64_t upload_bytes, upload_copies;
    struct time_statistics time[TIME_COUNT];
    struct hbg_counters counters;       /* of all runs up to the last timed round */
    struct explanation explanation;     /* of these runs */
    struct verdict verdict;
};

/* Runs all rounds. False: outcome->status and ->error say what failed, or s->text where the setup did. */
bool hbg__rounds_run(struct hbg_setup *s, const struct run_request *request, struct run_outcome *outcome);

void hbg__run_print_text(const struct hbg_setup *s, const struct run_request *request, const struct run_outcome *outcome);

/* false: not all of it was written */
bool hbg__run_print_json(FILE *file, const struct hbg_setup *s, const struct run_request *request, const struct run_outcome *outcome);

/* the report's table as CSV, digits enough to read the same numbers back */
void hbg__run_print_csv(FILE *file, const struct hbg_setup *s);

#endif
