/* SPDX-License-Identifier: Apache-2.0 */
/* rival.h - the graphs of `hbg bench dispatch` for other runtimes, measured and printed in the same way.
 *
 * A runtime gives three functions; graphs, batches and the table are shared. Ratios between it and hbg hold only for tables that were
 * made one after the other in one state of the machine: the core-to-core round trip stands above each.
 */
#ifndef HBG_BENCH_RIVAL_H
#define HBG_BENCH_RIVAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RIVAL_READS_MAX = 4 };

/* A task writes one cell, reading what it held where `updates`, and reads `read_count` others. */
struct rival_task { uint32_t cell, read[RIVAL_READS_MAX]; uint8_t read_count, updates; };

struct rival_graph {
    const char *name;
    uint32_t task_count, cell_count;
    struct rival_task *task;
    uint32_t *first;                    /* producers of task t: producer[first[t]] up to producer[first[t + 1]], unique */
    uint32_t *producer;
};

struct rival {
    const char *name;                   /* with what a run includes: "oneTBB flow graph, run again" */
    void *(*open)(const struct rival_graph *graph, int workers);    /* NULL: it cannot */
    uint64_t (*run)(void *state);       /* nanoseconds of all tasks */
    void (*close)(void *state);
    int (*begin)(int workers);          /* may be NULL: once before the first open for that many workers; not 0: it cannot */
    void (*end)(void);
};

/* Options: --reps N, --case NAME, --workers N. The exit status. */
int rival_main(const struct rival *rival, int argc, char **argv);

uint64_t rival_clock_ns(void);

#ifdef __cplusplus
}
#endif

#endif /* HBG_BENCH_RIVAL_H */
