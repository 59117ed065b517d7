/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - where a device's records go, how many they are, and the write.
 *
 *     trace.begin    level, wall clock beside the monotonic one, what the device is          seq 0
 *     records        one number each, whether it could be written or not
 *     trace.end      how many were written and how many were not                             the last one
 *
 *   field                  written by                     read by      order
 *   level, fd, log, device open                           any thread   set before it is shared
 *   sequence, invocations  any thread                     any thread   relaxed: they only number
 *   emitted, dropped       any thread                     the end      relaxed: counts; V1 orders those of the last user
 *   references             whoever holds or drops         the same     V1 acq_rel
 */
#ifndef HBG_TRACE_TRACE_H
#define HBG_TRACE_TRACE_H

#include <hbg/trace.h>

#include "atomic/atomic.h"
#include "base/alloc.h"
#include "base/log.h"
#include "trace/line.h"

struct hbg__trace {
    struct hbg__memory memory;          /* a copy: the last user may come after the device */
    enum hbg_trace_level level;
    int fd;                             /* -1: the log callback */
    bool owns_fd;
    struct hbg__log log;
    uint32_t device;                    /* which of the process, from 1 */
    uint64_t records;                   /* of tasks, that a core keeps of a run; 0: the default */
    size_t head_size;
    char head[40];                      /* "[STRACE] v=1 pid=.." */
    struct hbg__atomic_u64 sequence, invocations, emitted, dropped;
    struct hbg__atomic_u32 references;
    uint64_t (*clock)(void *user);      /* ns; NULL: the monotonic clock of the host */
    void *clock_user;
    uint64_t stopped_ns;                /* not 0: the clock went with the device, and this is what it said last */
};

static inline uint64_t hbg__trace_now_ns(const struct hbg__trace *trace)
{
    if (HBG_UNLIKELY(trace->stopped_ns != 0)) return trace->stopped_ns;
    return HBG_LIKELY(trace->clock == NULL) ? hbg__clock_ns() : trace->clock(trace->clock_user);
}

/* What the cores of the device count in their records. */
static inline uint64_t hbg__trace_ticks(const struct hbg__trace *trace)
{
    return HBG_LIKELY(trace->clock == NULL) ? hbg__ticks() : hbg__trace_now_ns(trace);
}

struct hbg__trace_options {
    enum hbg_trace_level level;         /* of the device's options */
    const char *to;                     /* likewise; may be NULL */
    bool ignore_environment;
    uint64_t records;
};

/* What a record says before its attributes. */
struct hbg__trace_head {
    uint64_t invocation, program, ts, dur;
    uint32_t tid, depth;
};

/* *trace is NULL where nothing is traced. HBG_E_OPTION: what the options name does not exist or cannot be written; what the environment
   names wrongly is a warning in the log and nothing is traced. */
enum hbg_status hbg__trace_open(struct hbg__memory *memory, const struct hbg__log *log, const struct hbg__trace_options *options,
                                struct hbg__trace **trace, struct hbg_error *error);
/* The first record: what is traced. */
void hbg__trace_announce(struct hbg__trace *trace, const char *platform, uint32_t workers, uint32_t depth);
void hbg__trace_hold(struct hbg__trace *trace);
/* The last one writes trace.end. NULL is fine. */
void hbg__trace_drop(struct hbg__trace *trace);
/* trace.end now: for a device whose holders never go. */
void hbg__trace_end(struct hbg__trace *trace);

/* A record: begin, attributes, then write. */
void hbg__trace_begin(struct hbg__trace *trace, struct hbg__trace_line *line, const struct hbg__trace_head *head, const char *name,
                      const char *first, const char *second);
void hbg__trace_write(struct hbg__trace *trace, struct hbg__trace_line *line);

/* Of the calling thread. */
uint32_t hbg__trace_tid(void);

#endif /* HBG_TRACE_TRACE_H */
