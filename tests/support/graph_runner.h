/* SPDX-License-Identifier: Apache-2.0 */
/* graph_runner.h - a random graph through the public interface: built, run, compared byte for byte with its oracle. */
#ifndef HBG_TEST_GRAPH_RUNNER_H
#define HBG_TEST_GRAPH_RUNNER_H

#include "support/graph_oracle.h"

struct graph_way {
    bool pure;              /* as a pure program: from the second round on it must be replayed */
    int rounds;             /* each from the memories that the one before left */
    bool told;              /* by kernels with signatures, which tell what their arguments are */
    uint64_t changes;       /* 0: none; else a seed: some rounds submit other things than the one before */
    struct hbg_device *twin;        /* not NULL: each image must be the one that a new program gives there; no buffers then */
    uint64_t bodies;        /* 0: none; else a seed: some steps are submitted as bodies of hbg_subgraph(), also one in the other */
    bool loud;              /* say on stderr what is wrong */
};

/* Does it run, and leave in every memory what the tasks would have left one after the other, and nothing beside it? */
bool graph_runs_right(struct hbg_device *device, const struct random_graph *graph, const struct graph_way *way);

/* Build it, read its edges, execute nothing. The ids of the plan's tasks are filled in. */
void graph_edges(struct hbg_device *device, struct plan *plan, struct edges *edges);

#endif /* HBG_TEST_GRAPH_RUNNER_H */
