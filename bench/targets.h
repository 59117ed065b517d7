/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - the figures to reach: medians on a 2-core machine whose cores answer each other in 450 to 550 ns, there and back.
 * A figure of another machine, or of another state of the same one, is no more than a hint beside them.
 */
#ifndef HBG_BENCH_TARGETS_H
#define HBG_BENCH_TARGETS_H

#include <stdint.h>

static const struct bench_target { const char *bench, *name; uint32_t workers; double value; } bench_targets[] = {
    /* ns a task: the whole public call with its checks, regions included */
    { "submit", "args=0", 1, 15 }, { "submit", "args=1", 1, 25 }, { "submit", "args=2", 1, 38 }, { "submit", "args=3", 1, 50 },
    { "submit", "args=4", 1, 62 }, { "submit", "cholesky", 1, 55 }, { "submit", "gemm", 1, 50 }, { "submit", "wavefront", 1, 50 },
    /* ns: prepare, warm, discrete memory; a replay is 1 us and 20 ns an argument; a whole run of an empty graph */
    { "bind", "tasks=0", 1, 1500 }, { "bind", "tasks=100", 1, 6000 }, { "bind", "tasks=1000", 1, 45000 },
    { "bind", "tasks=10000", 1, 450000 }, { "bind", "tasks=100000", 1, 5000000 }, { "bind", "replay", 1, 1060 },
    { "bind", "empty run", 1, 5000 },
    /* ns a task: empty kernels, a replayed graph */
    { "dispatch", "chain", 1, 4 }, { "dispatch", "independent", 1, 4 }, { "dispatch", "wavefront", 1, 4 },
    { "dispatch", "cholesky", 1, 4.5 }, { "dispatch", "tree", 1, 4 }, { "dispatch", "random", 1, 4 },
    { "dispatch", "chain", 2, 5 }, { "dispatch", "independent", 2, 4.5 }, { "dispatch", "wavefront", 2, 14 },
    { "dispatch", "cholesky", 2, 12 }, { "dispatch", "tree", 2, 9 }, { "dispatch", "random", 2, 22 },
};

#endif /* HBG_BENCH_TARGETS_H */
