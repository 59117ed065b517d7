/* SPDX-License-Identifier: Apache-2.0 */
/* beside.h - other runtimes as cases among those of hbg: the same graph, empty tasks, batches in turn with all the others. */
#ifndef HBG_BENCH_BESIDE_H
#define HBG_BENCH_BESIDE_H

#include "bench/bench.h"
#include "bench/others.h"

/* A case of another runtime. */
struct bench_beside { struct bench_other *other; struct bench_order order; uint32_t tasks; };

struct bench_besides {
    struct bench_others others;
    struct bench_beside made[BENCH_CASES_MAX];
    size_t count;
};

/* Starts them; none without --rivals. */
void hbg__bench_besides_open(struct bench *b, struct bench_besides *all, uint32_t workers);
void hbg__bench_besides_close(struct bench_besides *all);

/* Adds the case `name` for each runtime and each of its ways among `modes` (1 << enum bench_mode), on the graph `dag`, once each task of
   it has looked for its producers. False: said why. */
bool hbg__bench_besides_add(struct bench *b, struct bench_besides *all, const char *name, const struct dag *dag, unsigned modes);

/* Is the graph that hbg made of a shape the one described? Checked by one run of the description on hbg as well. False: said why. */
bool hbg__bench_same_graph(struct bench *b, struct hbg_device *device, struct hbg_program *program, struct hbg_arg_list list, const struct dag *dag);

#endif /* HBG_BENCH_BESIDE_H */
