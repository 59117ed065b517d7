/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a trace put in order: rounds (one invocation each), the programs that they are of, and the phases of these.
 *
 * The first rounds of a program in a session are cold: they make what later ones find. Statistics of a phase are of warm rounds.
 */
#ifndef HBG_TOOLS_TRACE_ROUNDS_H
#define HBG_TOOLS_TRACE_ROUNDS_H

#include "trace_log.h"

#include <stdio.h>

/* The spans of the runs begin so; those of tasks lie one level deeper than every phase. */
#define TRACE_RUN "chip.run"
#define TRACE_WALL "chip.run.runner_run.device_wall"
#define TRACE_TASK TRACE_WALL ".task"
#define TRACE_NOOP TRACE_WALL ".noop"
#define TRACE_SUBMISSION TRACE_WALL ".submission"
#define TRACE_EDGES TRACE_WALL ".edges"
#define TRACE_USER "ext."

struct trace_phase {
    const char *name;
    uint32_t depth;
    size_t count, warm;                 /* rounds that have it */
    uint64_t first;                     /* of the first round that has it */
    uint64_t min, median, p90, sum;     /* of the warm ones; 0 without them */
    uint64_t *sample;                   /* owned: the warm ones, in ascending order */
    size_t sample_room;
};

struct trace_round {
    const struct trace_record *root;    /* chip.run; NULL: it was lost */
    size_t first, count;                /* its records: places in trace_rounds.record */
    uint64_t begin, end;
    size_t program;
    uint32_t session;
    uint64_t invocation;
    bool cold;
};

struct trace_program {
    uint64_t hash;
    const char *name;                   /* "?" where no chip.run says it */
    const char *run_name;               /* of all its runs; NULL: they have none, or not the same */
    size_t rounds, cold;
    uint32_t session;                   /* of its last round, and how many it has had there */
    uint64_t session_rounds;
    struct trace_phase *phase;          /* owned, as a tree is read */
    size_t phase_count, phase_room;
};

struct trace_rounds {
    const struct trace_log *log;        /* borrowed */
    const struct trace_record **record; /* of runs, by round, then by time; outer ones first */
    struct trace_round *round;          /* by session and invocation */
    struct trace_program *program;      /* in the order of their first rounds */
    size_t record_count, round_count, program_count;
    struct trace_program user;          /* spans of users: each name is a phase, all of it warm */
};

/* `cold`: how many first rounds of a program are cold. False: no memory, nothing to free. */
bool hbg__trace_rounds_make(struct trace_rounds *rounds, const struct trace_log *log, uint64_t cold);
void hbg__trace_rounds_free(struct trace_rounds *rounds);

/* The record of that name in a round; NULL: none. */
const struct trace_record *hbg__trace_round_find(const struct trace_rounds *rounds, const struct trace_round *round, const char *name);

/* The name that the program gave this run; NULL: none. */
const char *hbg__trace_run_name(const struct trace_rounds *rounds, const struct trace_round *round);

/* ---- what is printed of them: trace_print.c ---- */

struct trace_wish { bool rounds, tree; };

void hbg__trace_print(FILE *file, const struct trace_rounds *rounds, const struct trace_wish *wish);
/* False: not all of it was written. */
bool hbg__trace_print_json(FILE *file, const struct trace_rounds *rounds, uint64_t cold);

/* ---- trace_overlap.c ---- */

/* Says how many runs overlap as those of a pipeline should. False: not most of them, or one was on the device while another was, or
   something is missing by which it could be told. */
bool hbg__trace_overlap(FILE *file, const struct trace_rounds *rounds);

#endif
