/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - the figures to reach: medians on a 2-core machine whose cores answer each other in 450 to 550 ns, there and back.
 * A figure of another machine, or of another state of the same one, is no more than a hint beside them.
 */
#ifndef HBG_BENCH_TARGETS_H
#define HBG_BENCH_TARGETS_H

#include <stdint.h>

static const struct bench_target { const char *bench, *name, *runtime; uint32_t workers; double value; } bench_targets[] = {
    /* ns a task: the whole public call with its checks, regions included */
    { "submit", "args=0", "hbg", 1, 15 }, { "submit", "args=1", "hbg", 1, 25 }, { "submit", "args=2", "hbg", 1, 38 }, { "submit", "args=3", "hbg", 1, 50 },
    { "submit", "args=4", "hbg", 1, 62 }, { "submit", "cholesky", "hbg", 1, 55 }, { "submit", "gemm", "hbg", 1, 50 }, { "submit", "wavefront", "hbg", 1, 50 },
    /* ns: prepare, warm, discrete memory; a replay is 1 us and 20 ns an argument; a whole run of an empty graph */
    { "bind", "tasks=0", "hbg", 1, 1500 }, { "bind", "tasks=100", "hbg", 1, 6000 }, { "bind", "tasks=1000", "hbg", 1, 45000 },
    { "bind", "tasks=10000", "hbg", 1, 450000 }, { "bind", "tasks=100000", "hbg", 1, 5000000 }, { "bind", "replay", "hbg", 1, 1060 },
    { "bind", "empty run", "hbg", 1, 5000 },
    /* ns a task: empty kernels, a replayed graph */
    { "dispatch", "chain", "hbg", 1, 4 }, { "dispatch", "independent", "hbg", 1, 4 }, { "dispatch", "wavefront", "hbg", 1, 4 },
    { "dispatch", "cholesky", "hbg", 1, 4.5 }, { "dispatch", "tree", "hbg", 1, 4 }, { "dispatch", "random", "hbg", 1, 4 },
    { "dispatch", "chain", "hbg", 2, 5 }, { "dispatch", "independent", "hbg", 2, 4.5 }, { "dispatch", "wavefront", "hbg", 2, 14 },
    { "dispatch", "cholesky", "hbg", 2, 12 }, { "dispatch", "tree", "hbg", 2, 9 }, { "dispatch", "random", "hbg", 2, 22 },
    /* us: METG(50 %), width 8 */
    { "metg", "stencil_1d", "hbg, again", 2, 0.22 }, { "metg", "stencil_1d", "hbg, anew", 2, 0.4 },
    { "metg", "trivial", "hbg, again", 2, 0.22 }, { "metg", "trivial", "hbg, anew", 2, 0.4 },
    { "metg", "fft", "hbg, again", 2, 0.5 }, { "metg", "fft", "hbg, anew", 2, 0.6 },
    { "metg", "dom", "hbg, again", 2, 0.25 }, { "metg", "dom", "hbg, anew", 2, 0.5 },
    { "metg", "tree", "hbg, again", 2, 0.35 }, { "metg", "tree", "hbg, anew", 2, 0.6 },
    { "metg", "nearest", "hbg, again", 2, 1.2 }, { "metg", "nearest", "hbg, anew", 2, 1.8 },
    /* ns: 60 and 4 a boundary value; of a node; of a prepare; device time of a node, as a multiple of the same task submitted plainly */
    { "replay", "submission", "hbg", 1, 92 }, { "replay", "submission=64", "hbg", 1, 316 }, { "replay", "submission=256", "hbg", 1, 1084 }, { "replay", "node", "hbg", 1, 90 },
    { "replay", "shape=qwen3 first", "hbg", 1, 40000 }, { "replay", "shape=qwen3 warm", "hbg", 1, 6000 }, { "replay", "shape=qwen3 program", "hbg", 1, 2000 },
    { "replay", "shape=dsv4 first", "hbg", 1, 180000 }, { "replay", "shape=dsv4 warm", "hbg", 1, 70000 }, { "replay", "shape=dsv4 program", "hbg", 1, 2000 },
    { "replay", "device node / plain", "hbg", 1, 1.3 }, { "replay", "device node / plain", "hbg", 2, 1.3 },
};

#endif /* HBG_BENCH_TARGETS_H */
