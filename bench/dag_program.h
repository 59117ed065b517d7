/* SPDX-License-Identifier: Apache-2.0 */
/* dag_program.h - a graph of bench/dag as programs of hbg: one that is replayed, one that is built for each run, one of whose builds is from the start.
 *
 * The build function walks the description: a cell is a block of a device buffer, or of host memory where tiles are there. A task
 * finds its work through its id, which is its place in the description, since hbg inserts no noops into these graphs; a build that
 * finds one fails.
 */
#ifndef HBG_BENCH_DAG_PROGRAM_H
#define HBG_BENCH_DAG_PROGRAM_H

#include "bench/bench.h"
#include "bench/dag/work.h"
#include "bench/run_mode.h"
#include "bench/tiles.h"

enum { DAG_CELL_DOUBLES = 8 };

struct bench_dag {
    const struct dag *dag;
    struct work work;                   /* reaches the kernels; body and length may change from run to run */
    struct hbg_buffer *buffer;          /* NULL with tiles */
    struct hbg_arg arg;
    struct hbg_program *program[BENCH_OWN_MODES];       /* by BENCH_AGAIN, BENCH_ANEW and BENCH_MADE */
    struct hbg_kernel *kernel;          /* by updates and reads */
    char *signatures;
    uint64_t edges;                     /* of the last run */
};

/* The graph is borrowed, and so are its tiles, which may be NULL. False: said why; close it all the same. */
bool hbg__bench_dag_open(struct bench *b, struct bench_dag *d, struct hbg_device *device, const struct dag *dag, const struct tiles *tiles);
void hbg__bench_dag_close(struct bench_dag *d);

/* Nanoseconds of a whole run: prepare, launch, wait, finish. */
enum hbg_status hbg__bench_dag_run(struct bench_dag *d, enum bench_mode mode, uint64_t *ns);

/* A run of each kind in which each task looks for its producers. False: said why. */
bool hbg__bench_dag_check(struct bench *b, struct bench_dag *d);

#endif /* HBG_BENCH_DAG_PROGRAM_H */
