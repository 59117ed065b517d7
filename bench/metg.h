/* SPDX-License-Identifier: Apache-2.0 */
/* metg.h - METG(50 %), the measure of Task Bench: the smallest mean granularity of a task at which the runtime is at least 50 % efficient.
 *
 *     granularity   wall time of the run x workers / tasks
 *     efficiency    work done in a unit of time, as a share of the best that as many threads did together without any runtime
 *                   lately, in the last sixteen looks at it: one before each search
 *
 * The length of tasks is what is searched: from long to short the first time, later in a narrow bracket around the last answer.
 */
#ifndef HBG_BENCH_METG_H
#define HBG_BENCH_METG_H

#include "bench/dag_program.h"
#include "bench/others.h"

enum { METG_POINTS_MAX = 24 };

/* A runtime with a graph: hbg, or a child. */
struct metg_subject {
    struct bench_case *row;
    const struct dag *dag;
    struct bench_dag *hbg;              /* NULL: `other` is run */
    struct bench_other *other;
    struct bench_order order;
    uint32_t workers;
    double length;                      /* where efficiency was half, the last time; 0: not searched yet */
};

/* A task length that was tried. */
struct metg_point { double length, granularity_ns, efficiency; };

/* What the first search of a case went through, from long to short. */
struct metg_curve { struct metg_point point[METG_POINTS_MAX]; uint32_t count; };

/* METG in nanoseconds; the peak is the best of hbg__metg_peak() so far. Where tasks of 128 us do not reach half, as on a machine that is
   busy with other things, it is their granularity: at least that. False: said why. */
bool hbg__metg_search(struct bench *b, struct metg_subject *s, double peak, struct metg_curve *curve, double *granularity_ns);

/* Rounds of a body that one thread does in a nanosecond while `workers` threads do the same, long enough that nothing else counts;
   0: no thread could be started. */
double hbg__metg_peak(work_body_fn *body, uint32_t workers);

#endif /* HBG_BENCH_METG_H */
