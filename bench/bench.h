/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - `hbg bench submit|bind|dispatch|metg|replay|real|all`: cases, how one is measured, what is reported.
 *
 *     bench.c      the command line; suite.c: one bench or all of them
 *     shapes.c     the graphs, as build functions
 *     stage.c      a device with buffers; a program and its arguments on it
 *     submit.c     ns a task inside the build function
 *     bind.c       ns of hbg_run_prepare
 *     dispatch.c   ns a task on the device
 *     metg.c       the smallest task that is half efficient
 *     real.c       tiled Cholesky and GEMM, with the matrices of tiles.c
 *     others.c     other runtimes, as children; beside.c: as cases
 *     replay.c     what subgraphs cost, with the graphs of workloads/shapes
 *     measure.c    interleaved batches
 *     machine.c    what it ran on
 *     report.c     the table and the JSON
 */
#ifndef HBG_BENCH_BENCH_H
#define HBG_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <hbg/hbg.h>

#include "bench/dag/dag.h"
#include "bench/machine.h"

enum { BENCH_CASES_MAX = 160, BENCH_REPS_MAX = 101, BENCH_RUNTIME_MAX = 48, BENCH_BATCH_NS = 1000000 };

struct bench_case;
struct metg_curve;

/* One run of a case: the nanoseconds that are measured of it, and how many units (tasks, or prepares) they were spent on. */
typedef enum hbg_status bench_run_fn(struct bench_case *c, uint64_t *ns, uint64_t *units);

struct bench_case {
    char name[32];                      /* "args=2" */
    char runtime[BENCH_RUNTIME_MAX];    /* "hbg" */
    const char *unit;                   /* "ns/task"; borrowed */
    uint32_t workers;
    double target;                      /* 0: none is published */
    bench_run_fn *run;
    bool batches_itself;                /* one call of run is a batch, with a run before it that is not in the figures */
    void *of;                           /* what run needs; borrowed */
    const uint64_t *minus_ns;           /* NULL, or what run leaves to be taken off its nanoseconds: the value may be below 0; borrowed */
    bool has_cold;
    double cold;                        /* of the first run of all */
    uint64_t spent_ns;                  /* in batches so far */
    uint32_t reps;
    double sample[BENCH_REPS_MAX];      /* one a batch; ascending once all is measured */
    double median, p10, p90;
    bool more_is_better;                /* GFLOP/s: a ratio to the target of 1 or more has reached it */
    double of_peak;                     /* the median as a share of what the workers' dgemm reaches at most; 0: unknown */
    const struct metg_curve *curve;     /* NULL but for metg; borrowed */
};

struct bench {
    const char *name;                   /* "submit" */
    const char *only;                   /* the one case that is asked for; NULL: all */
    const char *kernel;                 /* of metg: "compute" or "memory"; NULL: the first */
    struct dag_size size;               /* of metg's patterns; 0: as usual */
    bool rivals;                        /* other runtimes beside hbg, those that are built */
    bool quick;                         /* a few batches, and not the largest graphs: for a look, not for figures */
    struct bench_case cases[BENCH_CASES_MAX];
    size_t case_count;
    char others[2048];                  /* the names of the cases that are not `only`, once each, with "; " behind each */
    struct hbg_error error;             /* where the library says why */
};

/* False: what failed was said on standard error. */
typedef bool bench_measure_fn(struct bench *b);
bool hbg__bench_submit(struct bench *b);
bool hbg__bench_bind(struct bench *b);
bool hbg__bench_dispatch(struct bench *b);
bool hbg__bench_metg(struct bench *b);
bool hbg__bench_real(struct bench *b);
bool hbg__bench_replay(struct bench *b);
bool hbg__bench_model(struct bench *b);

int hbg__bench_main(int argc, char **argv);

/* Is the case asked for? One that is not is among `others`. */
bool hbg__bench_wants(struct bench *b, const char *name);

/* Adds a case, with its target where one is published. `of` is borrowed until the cases are measured. */
struct bench_case *hbg__bench_add(struct bench *b, const char *name, const char *unit, uint32_t workers, bench_run_fn *run, void *of);

/* The same, of builds that are made from the start ("hbg, made") or, as usual, compared with the last one ("hbg"). */
struct bench_case *hbg__bench_add_way(struct bench *b, const char *name, bool made, const char *unit, uint32_t workers, bench_run_fn *run, void *of);

/* The same for a runtime by its name, of a case that is not measured in batches. */
struct bench_case *hbg__bench_add_beside(struct bench *b, const char *name, const char *runtime, const char *unit, uint32_t workers);

/* measure.c: two first runs of every case, then batches of all cases in turn. */
bool hbg__bench_measure(struct bench *b);

/* Sorts the samples of a case and takes its median and percentiles. */
void hbg__bench_summarise(struct bench_case *c);

/* Says on standard error what failed; returns false. */
bool hbg__bench_fail(struct bench *b, const char *what, enum hbg_status status);

/* report.c */
void hbg__bench_print_text(const struct bench *b);
void hbg__bench_print_machine(const struct bench_machine *machine);

#endif /* HBG_BENCH_BENCH_H */
