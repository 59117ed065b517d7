/* SPDX-License-Identifier: Apache-2.0 */
/* others.h - other runtimes beside hbg: the programs of bench/rivals, as children that stand still while it is not their turn.
 *
 * A child is stopped by a signal whenever it has answered: several runtimes spin or poll when they have no work. Those that were not
 * built, for want of their package, are left out and named.
 */
#ifndef HBG_BENCH_OTHERS_H
#define HBG_BENCH_OTHERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "bench/dag/dag.h"
#include "bench/run_mode.h"

enum { OTHERS_MAX = 4 };

struct bench_other {
    const char *name;                   /* "tbb" */
    char label[64];                     /* "oneTBB flow graph" */
    unsigned modes;                     /* 1 << enum bench_mode of those that it can */
    pid_t pid;
    FILE *to, *from;
};

struct bench_others {
    struct bench_other other[OTHERS_MAX];
    uint32_t count, workers;
    char without[96];                   /* names of those that are not there: "libomp, starpu" */
};

/* Starts those that are there. */
void hbg__others_open(struct bench_others *all, uint32_t workers);
void hbg__others_close(struct bench_others *all);

/* Gives the child a graph; its index, or -1 where it has none such. */
int hbg__other_open(struct bench_other *other, const char *name, struct dag_size size);

/* The graph's cells become tiles, those at `path`: hbg__tiles_join(). False: said why. */
bool hbg__other_tiles(struct bench_other *other, int index, uint32_t edge, const char *path);
bool hbg__other_residual(struct bench_other *other, int index, double *residual);
bool hbg__other_close(struct bench_other *other, int index);

/* What is run, and how. */
struct bench_order { int index; enum bench_mode mode; const char *body; uint64_t length; };

/* One run that is not timed, then as many as take min_ns together. False: said why. */
bool hbg__other_batch(struct bench_other *other, const struct bench_order *order, uint64_t min_ns, uint64_t *sum_ns, uint64_t *runs);

/* One run in which each task looks for its producers: how many were wrong. False: said why. */
bool hbg__other_check(struct bench_other *other, const struct bench_order *order, uint64_t *wrong);

#endif /* HBG_BENCH_OTHERS_H */
