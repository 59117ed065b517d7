/* SPDX-License-Identifier: Apache-2.0 */
/* graph_oracle.h - what a random graph means: one task after the other, byte for byte.
 *
 * graph_resolve() turns a list of operations into a plan that every device must be able to run: scopes that close, intermediates
 * that live and are written before they are read, and inside a manual scope the explicit edges that inference would have made.
 * It walks a map of single bytes and shares no code with the library's hazard map:
 *
 *     byte -> last writer, readers since
 *
 * An access needs the last writer of each byte that it reads, and last writer and readers of each that it writes. Whatever else
 * conflicts is ordered through these, so their transitive closure is exactly "all conflicting pairs".
 */
#ifndef HBG_TEST_GRAPH_ORACLE_H
#define HBG_TEST_GRAPH_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "support/edges.h"
#include "support/random_graph.h"

struct step {
    enum graph_op_kind kind;
    int label, window;
    int access_count, after_count;
    struct graph_access access[GRAPH_ACCESS_MAX];   /* with the modes that hold */
    int *after;                                     /* explicit edges: indices of steps */
    int need_count;
    int *need;                                      /* indices of steps that must come before */
    struct hbg_task task;                           /* once it was submitted; else its id is UINT32_MAX */
};

struct plan {
    const struct random_graph *graph;
    int count;
    struct step *step;
    enum hbg_arg_kind mode[GRAPH_WINDOW_MAX];       /* of each argument of the boundary */
    int position[GRAPH_WINDOW_MAX];                 /* in the boundary; -1: not there */
    int argument_count;
};

void graph_resolve(struct plan *plan, const struct random_graph *graph);
void plan_free(struct plan *plan);

/* The memories after all tasks, from the contents given: memory[m] has graph->memory_bytes[m] bytes. */
void plan_execute(const struct plan *plan, uint8_t *const *memory);

/* What a task does to its views: a hash of all that it reads goes into each byte that it writes. Kernels and oracle share it. */
struct mix_view { uint8_t *data; enum hbg_arg_kind mode; int rank; int64_t element; const int64_t *shape, *stride; };
void mix(uint64_t salt, const struct mix_view *view, int count);

/* Compare the edges of the image with what is needed. Returns how many orders are missing and prints the first when loud;
   *needed and *extra receive the ordered pairs of steps that must be, and that need not be. */
uint64_t plan_missing(const struct plan *plan, const struct edges *edges, bool loud, uint64_t *needed, uint64_t *extra);

#endif /* HBG_TEST_GRAPH_ORACLE_H */
