/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as `HBG_TRACE` writes it, read back: docs/tracing.md has the form of a record.
 *
 * The reader trusts nothing. Text beside the records is passed over; a record that does not read from its head to its last mark is
 * torn; numbers that are missing between those that were read are lost records. So a log that was cut, torn or joined is noticed.
 */
#ifndef HBG_TOOLS_TRACE_LOG_H
#define HBG_TOOLS_TRACE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of the runs that `hbg run` makes behind its rounds, to see what a build ships: no rounds, and not warm. */
#define TRACE_RUN_BUILT "built"

struct trace_note { const char *key, *value; };

struct trace_record {
    uint32_t session;                   /* place in trace_log.session */
    uint32_t pid, tid, device, depth, note_count;
    uint64_t invocation, program, ts, dur, sequence;
    const char *name;
    size_t first_note;                  /* place in trace_log.note */
};

/* One opening of a device in one process. */
struct trace_session {
    uint32_t pid, device;
    bool begun, ended;                  /* trace.begin, trace.end were read */
    uint64_t records, expected;         /* read, and to be read: the highest number and one */
    uint64_t emitted, dropped;          /* what trace.end says */
};

struct trace_log {
    char *text;                         /* owned; names and notes point into it */
    struct trace_record *record;
    struct trace_note *note;
    struct trace_session *session;
    size_t record_count, note_count, session_count;
    size_t record_room, note_room, session_room;
    uint64_t torn;                      /* records that do not read */
    bool torn_at_end;                   /* the last of them ends the text */
    bool out_of_memory;
};

/* Takes the text, size bytes that malloc() gave. False: no memory. */
bool hbg__trace_log_parse(struct trace_log *log, char *text, size_t size);

/* NULL, or why the file could not be read. "-" is standard input. */
const char *hbg__trace_log_read(struct trace_log *log, const char *path);
void hbg__trace_log_free(struct trace_log *log);

/* Records that are known to be missing; at least so many where a session has no end. */
uint64_t hbg__trace_log_lost(const struct trace_log *log);
/* Sessions whose trace.begin or trace.end is missing. */
size_t hbg__trace_log_unfinished(const struct trace_log *log);

/* The first note of that key; NULL: none. */
const char *hbg__trace_note(const struct trace_log *log, const struct trace_record *record, const char *key);
/* The same as a number; false: none, or none that reads. */
bool hbg__trace_number(const struct trace_log *log, const struct trace_record *record, const char *key, uint64_t *value);

/* Percent-decoding in place, size bytes; false: it is not what the encoder would have written. */
bool hbg__trace_decode(char *text, size_t size);

#endif
