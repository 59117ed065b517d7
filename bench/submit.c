/* SPDX-License-Identifier: Apache-2.0 */
/* submit.c - ns a task that a build function takes to submit its graph: regions, cells, checks and inferred edges included.
 *
 * Beside it: oneTBB's nodes and edges, made by hand, and StarPU's tasks, inferred. OpenMP runs tasks while it takes them.
 *
 * "hbg": the build is compared with the last one, which submitted the same. "hbg, made": it is made from the start, as where each is another one.
 *
 * The clock is read around the shape's own build function, inside the program's. A run is built and not launched.
 */
#include <string.h>

#include "base/clock.h"
#include "bench/beside.h"
#include "bench/stage.h"

struct clocked { hbg_build_fn *build; struct bench_size size; uint64_t *elapsed_ns; };

struct submit_case {
    struct bench_program program;
    uint64_t elapsed_ns;
};

static const struct { const char *name; enum bench_shape_id shape; struct bench_size size; bool is_large; } cases[] = {
    { "args=0", BENCH_ARGS, { 50000, 0 }, false },
    { "args=1", BENCH_ARGS, { 50000, 1 }, false },
    { "args=2", BENCH_ARGS, { 50000, 2 }, false },
    { "args=3", BENCH_ARGS, { 50000, 3 }, false },
    { "args=4", BENCH_ARGS, { 50000, 4 }, false },
    { "cholesky", BENCH_CHOLESKY, { 0, 0 }, false },
    { "gemm", BENCH_GEMM, { 0, 0 }, false },
    { "wavefront", BENCH_WAVEFRONT, { 0, 0 }, false },
    { "layered", BENCH_LAYERED, { 0, 0 }, false },             /* 17 arguments */
    { "tasks=1000", BENCH_ARGS, { 1000, 3 }, false },           /* three arguments each: the cost of a task stays the same */
    { "tasks=10000", BENCH_ARGS, { 10000, 3 }, false },
    { "tasks=100000", BENCH_ARGS, { 100000, 3 }, false },
    { "tasks=1000000", BENCH_ARGS, { 1000000, 3 }, true },
    { "whole, tiles, whole", BENCH_WHOLE, { 0, 0 }, false },
    { "transposed", BENCH_TRANSPOSED, { 0, 0 }, false },
    { "reshaped", BENCH_RESHAPED, { 0, 0 }, false },
    { "reshaped, askew", BENCH_ASKEW, { 0, 0 }, false },
    { "1000 x 1000", BENCH_MANY_TO_MANY, { 0, 0 }, false },
};
enum { CASES = sizeof cases / sizeof cases[0], PROGRAMS = 2 * CASES };

static void build_clocked(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct clocked *p = params;
    uint64_t begin = hbg__clock_ns();
    p->build(g, args, &p->size);
    *p->elapsed_ns = hbg__clock_ns() - begin;
}

/* Built, and dropped before its launch. */
static enum hbg_status run_case(struct bench_case *c, uint64_t *ns, uint64_t *units)
{
    struct submit_case *s = c->of;
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_run run;
    enum hbg_status status = hbg_run_prepare(s->program.program, s->program.list, NULL, &run);
    if (status) return status;
    status = hbg_run_cancel(run);
    enum hbg_status end = hbg_run_finish(run, &result);
    *ns = s->elapsed_ns;
    *units = result.tasks;
    return status ? status : end == HBG_E_CANCELLED ? HBG_OK : end;
}

static bool open_case(struct bench *b, struct bench_stage *stage, struct submit_case *s, size_t i, bool made)
{
    const struct bench_shape *shape = hbg__bench_shape(cases[i].shape);
    struct clocked params;
    memset(&params, 0, sizeof params);
    params.build = shape->build;
    params.size = cases[i].size;
    params.elapsed_ns = &s->elapsed_ns;
    if (!hbg__bench_program_open(b, stage, &s->program, shape, build_clocked, &params, sizeof params, made ? BENCH_MADE : BENCH_ANEW)) return false;
    hbg__bench_add_way(b, cases[i].name, made, "ns/task", 1, run_case, s);
    return true;
}

/* The runtimes beside hbg, for the graphs that bench/dag has as well. */
static bool open_beside(struct bench *b, struct bench_besides *besides, const struct bench_shape *shape)
{
    struct dag dag;
    if (!b->rivals || !shape->dag) return true;
    if (!hbg__dag_make(&dag, shape->dag, (struct dag_size){ 0, 0, 0 })) return hbg__bench_fail(b, shape->name, HBG_E_NO_MEMORY);
    bool good = hbg__bench_besides_add(b, besides, shape->name, &dag, 1 << BENCH_SUBMIT);
    hbg__dag_free(&dag);
    return good;
}

bool hbg__bench_submit(struct bench *b)
{
    static struct submit_case programs[PROGRAMS];
    static struct bench_besides besides;
    struct bench_stage stage;
    enum bench_shape_id shapes[CASES];
    size_t wanted[CASES], wanted_count = 0, count = 0;
    for (size_t i = 0; i < CASES; i++) {
        if (!hbg__bench_wants(b, cases[i].name) || (cases[i].is_large && b->quick && !b->only)) continue;
        shapes[wanted_count] = cases[i].shape;
        wanted[wanted_count++] = i;
    }
    hbg__bench_besides_open(b, &besides, 1);
    bool good = hbg__bench_stage_open(b, &stage, "cpu:workers=1,memory=unified", shapes, wanted_count);
    for (size_t i = 0; i < wanted_count && good; i++) {
        for (int made = 0; made < 2 && good; made++) good = open_case(b, &stage, &programs[count++], wanted[i], made);
        good = good && open_beside(b, &besides, hbg__bench_shape(shapes[i]));
    }
    if (good) good = hbg__bench_measure(b);
    while (count > 0) hbg__bench_program_close(&programs[--count].program);
    hbg__bench_besides_close(&besides);
    return hbg__bench_stage_close(b, &stage) && good;
}
