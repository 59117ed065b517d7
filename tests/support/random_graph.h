/* SPDX-License-Identifier: Apache-2.0 */
/* random_graph.h - programs drawn from a seed: what is submitted, in which order, with which views.
 *
 * A graph is data: memories, windows onto them, and a list of operations. A window is what an operation can name (an argument of
 * the boundary, a buffer that the build names, an intermediate); windows of one memory may overlap. Any subsequence of the
 * operations is a valid program again (graph_oracle.h leaves out what makes no sense without its neighbours), so a failing
 * program can be made smaller by leaving operations out.
 */
#ifndef HBG_TEST_RANDOM_GRAPH_H
#define HBG_TEST_RANDOM_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include <hbg/hbg.h>
#include "support/raw_view.h"

enum { GRAPH_MEMORY_MAX = 6, GRAPH_WINDOW_MAX = 16, GRAPH_ACCESS_MAX = 4, GRAPH_AFTER_MAX = 2 };

enum window_kind {
    WINDOW_HOST,            /* an argument of the boundary in host memory */
    WINDOW_BUFFER,          /* one in a device buffer */
    WINDOW_NAMED,           /* a device buffer that the build names itself */
    WINDOW_ALLOC            /* an intermediate, from its GRAPH_ALLOC to the end of the scope around it */
};
struct graph_window { enum window_kind kind; int memory; int64_t offset, size_bytes; };

/* The view lies in a window: its offset counts from the window's first byte, its storage means nothing. */
struct graph_access { int window; enum hbg_arg_kind mode; struct hbg_region view; };

enum graph_op_kind { GRAPH_TASK, GRAPH_NOOP, GRAPH_BARRIER, GRAPH_ALLOC, GRAPH_SCOPE_AUTO, GRAPH_SCOPE_MANUAL, GRAPH_SCOPE_END };
struct graph_op {
    enum graph_op_kind kind;
    int label;                                  /* its place in the list that was drawn */
    int window;                                 /* GRAPH_ALLOC */
    int access_count, after_count;
    struct graph_access access[GRAPH_ACCESS_MAX];
    int after[GRAPH_AFTER_MAX];                 /* labels */
};

struct random_graph {
    uint64_t seed;
    int memory_count, window_count, op_count;
    int64_t memory_bytes[GRAPH_MEMORY_MAX];     /* of host memories and buffers; an intermediate has its window's size */
    struct graph_window window[GRAPH_WINDOW_MAX];
    struct graph_op *op;
};

struct graph_taste {
    int op_min, op_max;
    int64_t window_bytes;                       /* the largest */
    int intermediates, buffers;                 /* at most */
    bool scopes, orders;                        /* scopes; noops, barriers and explicit edges */
    bool repeatable;                            /* no noops and no manual scopes */
};

void random_graph_draw(struct random_graph *graph, uint64_t seed, const struct graph_taste *taste);
void random_graph_free(struct random_graph *graph);
void random_graph_print(const struct random_graph *graph);

/* The graph with a small change: an operation less, an end sooner, another view, another constant, two operations the other way round. The operations
   are a copy, to be freed. */
void random_graph_vary(struct random_graph *varied, const struct random_graph *graph, uint64_t seed);

/* Leave out operations, then accesses, as long as `fails` stays true; it must be true of the graph given. */
typedef bool graph_fails_fn(void *user, const struct random_graph *graph);
void random_graph_shrink(struct random_graph *graph, graph_fails_fn *fails, void *user);

#endif /* HBG_TEST_RANDOM_GRAPH_H */
