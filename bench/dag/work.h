/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - what a task of a graph does, in every runtime by the same code.
 *
 *     empty     nothing
 *     compute   `length` rounds of eight independent multiply-adds on registers
 *     memory    reads `length` cache lines in a row of a block that is larger than the caches near a core
 *
 * Tile operations are in bench/real.c. With `check` a task looks before its work whether each of its producers has run in this run
 * and it itself has not, and counts what is wrong.
 */
#ifndef HBG_BENCH_WORK_H
#define HBG_BENCH_WORK_H

#include "bench/dag/dag.h"

#ifdef __cplusplus
extern "C" {
#endif

struct work;
typedef void work_body_fn(const struct work *work, uint32_t task);

struct work {
    const struct dag *dag;
    work_body_fn *body;                 /* NULL: nothing */
    uint64_t length;
    bool check;
    uint32_t stamp;                     /* of this run; no run has 0 */
    uint32_t *done;                     /* of each task: the stamp of its last run; of all tasks, atomically */
    uint32_t *wrong;                    /* tasks that ran too early or twice; atomically */
    double *tile;                       /* of dense graphs: cell c is at tile + c * edge * edge */
    uint32_t edge;
};

/* False: no memory. The graph is borrowed. */
bool hbg__work_open(struct work *work, const struct dag *dag);
void hbg__work_close(struct work *work);

/* Bodies by name; NULL of "empty" as well as of what there is not: *known tells which. False only where memory is wanted and missing. */
bool hbg__work_body(const char *name, work_body_fn **body, bool *known);

/* Before and after a run with `check`. After: how many tasks were wrong or missing. */
void hbg__work_check_begin(struct work *work);
uint64_t hbg__work_check_end(struct work *work);

void hbg__work_checked(const struct work *work, uint32_t task);

/* What a runtime calls as task `task` of the graph. */
static inline void hbg__work_do(const struct work *work, uint32_t task)
{
    if (work->check) hbg__work_checked(work, task);
    else if (work->body) work->body(work, task);
}

#ifdef __cplusplus
}
#endif

#endif /* HBG_BENCH_WORK_H */
