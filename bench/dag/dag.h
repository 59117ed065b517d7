/* SPDX-License-Identifier: Apache-2.0 */
/* dag.h - one description of a task graph, from which hbg and the other runtimes are fed alike.
 *
 * A task writes one cell, and what it held before is read where the task `updates`; besides, it reads other cells. Runtimes that
 * infer order are given the cells. Those that want edges are given the producers that follow from the cells: a read waits for the
 * last writer, a write for the readers since, or for the last writer where there are none: readers come after it anyway.
 *
 *     dag.c        growing one; who waits for whom
 *     graphs.c     chain, wavefront, Cholesky and their like
 *     patterns.c   the patterns of Task Bench
 */
#ifndef HBG_BENCH_DAG_H
#define HBG_BENCH_DAG_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DAG_READS_MAX = 64, DAG_NAME_MAX = 32 };

/* What a graph is asked for: what width, steps and radix mean, graphs.c and patterns.c say. */
struct dag_size { uint32_t width, steps, radix; };

struct dag_task {
    uint32_t cell;
    uint32_t first_read;                /* its reads: read[first_read] up to read[first_read + read_count] */
    uint16_t read_count;
    uint8_t updates;
    uint8_t op;                         /* enum dag_op */
};

/* Which tile operation a task of a dense graph does; other graphs have DAG_NONE. */
enum dag_op { DAG_NONE, DAG_POTRF, DAG_TRSM, DAG_SYRK, DAG_GEMM_NT, DAG_GEMM_NN };

struct dag {
    char name[DAG_NAME_MAX];
    struct dag_size size;
    uint32_t task_count, cell_count, read_total, read_most;     /* read_most: of one task */
    uint32_t task_capacity, read_capacity;
    struct dag_task *task;
    uint32_t *read;
    uint32_t *first;                    /* producers of task t: producer[first[t]] up to producer[first[t + 1]], unique */
    uint32_t *producer;
    bool failed;                        /* no memory, or more than the format holds */
};

/* Makes a graph by its name; a size of 0 is the graph's own. False: there is no such graph, or no memory; nothing is to be freed. */
bool hbg__dag_make(struct dag *dag, const char *name, struct dag_size size);
void hbg__dag_free(struct dag *dag);

/* The names, one after the other; NULL behind the last. */
const char *hbg__dag_name(uint32_t index);

/* ---- for those who write graphs ---- */

typedef void dag_fill_fn(struct dag *dag, struct dag_size size);
struct dag_maker { const char *name; dag_fill_fn *fill; struct dag_size usual; };
extern const struct dag_maker hbg__dag_graphs[], hbg__dag_patterns[];       /* each ends with a NULL name */

void hbg__dag_add(struct dag *dag, uint32_t cell, bool updates, enum dag_op op);
void hbg__dag_read(struct dag *dag, uint32_t cell);     /* by the task added last */

#ifdef __cplusplus
}
#endif

#endif /* HBG_BENCH_DAG_H */
