/* SPDX-License-Identifier: Apache-2.0 */
/* rival.h - another runtime as a program that `hbg bench --rivals` starts, and which runs the graphs of bench/dag when it is told to.
 *
 *     argument    how many workers
 *     it writes   rival MODES LABEL                 once it is ready
 *     it reads    open NAME WIDTH STEPS RADIX       answer: graph INDEX TASKS EDGES
 *                 tiles INDEX EDGE PATH             answer: tiles; the graph's cells are tiles, those that the file holds, and its tasks do their operations where BODY
 *                                                   is tiles; the tiles are put back before each run
 *                 batch INDEX MODE BODY LENGTH NS   answer: ns SUM RUNS; one run that is not timed, then as many as take NS together;
 *                                                   a run that takes 20 NS or more is timed at once
 *                 check INDEX MODE BODY LENGTH      answer: wrong COUNT; one run, in which each task looks for its producers
 *                 residual INDEX                    answer: residual NUMBER; of the last run of a graph with tiles
 *                 close INDEX                       answer: closed
 *     else        no SENTENCE                       also the answer to what it cannot do
 *
 * It ends with its input. A runtime gives three functions; graphs, bodies, batches and all that is said are shared.
 */
#ifndef HBG_BENCH_RIVAL_H
#define HBG_BENCH_RIVAL_H

#include <stdint.h>

#include "bench/dag/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a graph is run: kept and run again; built and run each time; built alone, where the time of the run does not count. */
enum rival_mode { RIVAL_AGAIN, RIVAL_ANEW, RIVAL_SUBMIT, RIVAL_MODES };

struct rival {
    const char *label;                  /* "oneTBB flow graph" */
    unsigned modes;                     /* 1 << enum rival_mode of those that it can */
    void *(*open)(const struct work *work, int workers);        /* NULL: it cannot */
    uint64_t (*run)(void *state, enum rival_mode mode);         /* nanoseconds */
    void (*close)(void *state);
    int (*begin)(int workers);          /* may be NULL: once before the first open; not 0: it cannot */
    void (*end)(void);
};

int rival_main(const struct rival *rival, int argc, char **argv);

uint64_t rival_clock_ns(void);

#ifdef __cplusplus
}
#endif

#endif /* HBG_BENCH_RIVAL_H */
