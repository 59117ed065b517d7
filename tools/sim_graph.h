/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random graphs for `hbg sim`: tasks over a few cells, each of which mixes what it reads into the cell that it writes; and what
 * comes of them, one task after the other.
 */
#ifndef HBG_TOOLS_SIM_GRAPH_H
#define HBG_TOOLS_SIM_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include <hbg/hbg.h>

#include "base/rng.h"

enum { SIM_TASKS_MAX = 64, SIM_CELLS_MAX = 16, SIM_FAIL_CODE = 42 };

struct sim_task { int write, read[2]; };
struct sim_graph {
    struct sim_task task[SIM_TASKS_MAX];
    int tasks, cells;
    int failing;                        /* the task whose kernel fails; -1: none */
    bool skipped[SIM_TASKS_MAX];        /* by sim_graph_expect() */
};

extern const struct hbg_kernel hbg__sim_kernels[1];

/* `wide`: many tasks do not depend on each other. */
void hbg__sim_graph_draw(struct sim_graph *graph, struct hbg__rng *rng, bool wide);

/* The cells after all tasks, from what they hold. */
void hbg__sim_graph_expect(struct sim_graph *graph, int64_t *cell);
int hbg__sim_graph_skipped(const struct sim_graph *graph);

/* The build function; params is the graph, the one argument its cells. */
void hbg__sim_graph_build(struct hbg_graph *g, const struct hbg_args *args, const void *params);

#endif
