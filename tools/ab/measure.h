/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measuring: both arms once for themselves, before anything counts; then blocks, ABBA or BAAB by a seeded coin, until there are enough.
 *
 * What ends a comparison before its time: a command that fails in the first runs, or reports too few rounds; a signal. A command that
 * fails later spoils its block, as conditions do.
 */
#ifndef HBG_TOOLS_AB_MEASURE_H
#define HBG_TOOLS_AB_MEASURE_H

#include "tools/ab/gpu.h"
#include "tools/ab/metric.h"
#include "tools/ab/result.h"

struct ab_measuring {
    struct ab_record *record;           /* what is declared is filled in; rounds 0: to be calibrated */
    struct ab_metric metric, counter;   /* opened; the counter only if the record has one */
    bool cold_given;
    bool live;                          /* a line on standard error */
    bool quiet;                         /* no sentences beside it */
    struct ab_gpus gpus;                /* looked for before the first run */
    char *running[AB_ARMS];             /* owned: the commands with {rounds} replaced */
    char folder[200], trace[208];       /* of its own, and the file of a process's trace in it, or "" */
    double process_s;                   /* of a process, from the first runs */
    double begin_s, blocks_ahead;       /* for the projected end */
    struct ab_values values;
    struct ab_parts parts;
    char why[256];                      /* what ended it */
};

enum ab_ending { AB_MEASURED, AB_REFUSED, AB_FAILED, AB_SIGNALLED };

/* The first runs: do both arms work, what do they report, how long is a batch? */
enum ab_ending hbg__ab_rehearse(struct ab_measuring *m);

/* One series; with a resolve of the rules the pilot decides how many blocks there are. A control runs A in both arms. */
enum ab_ending hbg__ab_measure(struct ab_measuring *m, bool control, uint64_t seed);

void hbg__ab_measuring_end(struct ab_measuring *m);

#endif
