/* SPDX-License-Identifier: Apache-2.0 */
/* budget_bench.c - runs whose instructions are counted, for tests/cli/budget_test.py: nothing here depends on time.
 *
 *     submit    the graph is built from the start, prepared and dropped
 *     repeat    the same, but compared with the last build
 *     execute   a replayed graph of empty kernels runs on one worker, which never spins
 *
 * Each case is run `1 + MORE` times in two calls of hbg__budget_measure(), 1 and MORE: callgrind writes its count down after each. The
 * difference is MORE - 1 runs, without what a call costs once. The first line says what was built by what, then one a case its name and the
 * tasks of those runs.
 */
#include <stdio.h>
#include <string.h>

#include "bench/stage.h"

#ifdef HBG_DEBUG
#define BUILD "checked"
#else
#define BUILD "release"
#endif
#if defined(__clang__)
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif

enum { MORE = 3 };

static const struct budget_case { const char *name; enum bench_shape_id shape; struct bench_size size; enum bench_mode mode; } cases[] = {
    { "submit args=0", BENCH_ARGS, { 20000, 0 }, BENCH_MADE }, { "submit args=1", BENCH_ARGS, { 20000, 1 }, BENCH_MADE },
    { "submit args=2", BENCH_ARGS, { 20000, 2 }, BENCH_MADE }, { "submit args=3", BENCH_ARGS, { 20000, 3 }, BENCH_MADE },
    { "submit args=4", BENCH_ARGS, { 20000, 4 }, BENCH_MADE }, { "submit cholesky", BENCH_CHOLESKY, { 0, 0 }, BENCH_MADE },
    { "submit gemm", BENCH_GEMM, { 0, 0 }, BENCH_MADE }, { "submit wavefront", BENCH_WAVEFRONT, { 0, 0 }, BENCH_MADE },
    { "submit layered", BENCH_LAYERED, { 0, 0 }, BENCH_MADE },
    { "repeat args=0", BENCH_ARGS, { 20000, 0 }, BENCH_ANEW }, { "repeat args=1", BENCH_ARGS, { 20000, 1 }, BENCH_ANEW },
    { "repeat args=2", BENCH_ARGS, { 20000, 2 }, BENCH_ANEW }, { "repeat args=3", BENCH_ARGS, { 20000, 3 }, BENCH_ANEW },
    { "repeat args=4", BENCH_ARGS, { 20000, 4 }, BENCH_ANEW }, { "repeat cholesky", BENCH_CHOLESKY, { 0, 0 }, BENCH_ANEW },
    { "repeat gemm", BENCH_GEMM, { 0, 0 }, BENCH_ANEW }, { "repeat wavefront", BENCH_WAVEFRONT, { 0, 0 }, BENCH_ANEW },
    { "repeat layered", BENCH_LAYERED, { 0, 0 }, BENCH_ANEW },
    { "execute chain", BENCH_CHAIN, { 0, 0 }, BENCH_AGAIN }, { "execute independent", BENCH_INDEPENDENT, { 0, 0 }, BENCH_AGAIN },
    { "execute wavefront", BENCH_WAVEFRONT, { 0, 0 }, BENCH_AGAIN }, { "execute cholesky", BENCH_CHOLESKY, { 0, 0 }, BENCH_AGAIN },
    { "execute tree", BENCH_TREE, { 0, 0 }, BENCH_AGAIN }, { "execute random", BENCH_RANDOM, { 0, 0 }, BENCH_AGAIN },
};
enum { CASES = sizeof cases / sizeof cases[0] };

static enum hbg_status submit(struct bench_program *p, struct hbg_result *result)
{
    struct hbg_run run;
    enum hbg_status status = hbg_run_prepare(p->program, p->list, NULL, &run);
    if (status) return status;
    status = hbg_run_cancel(run);
    enum hbg_status end = hbg_run_finish(run, result);
    return status ? status : end == HBG_E_CANCELLED ? HBG_OK : end;
}

enum hbg_status hbg__budget_measure(const struct budget_case *c, struct bench_program *p, int runs, struct hbg_result *result);

/* The function whose calls callgrind counts: it stays one. */
__attribute__((noinline, noclone)) enum hbg_status hbg__budget_measure(const struct budget_case *c, struct bench_program *p, int runs, struct hbg_result *result)
{
    enum hbg_status status = HBG_OK;
    for (int i = 0; i < runs && !status; i++) status = c->mode != BENCH_AGAIN ? submit(p, result) : hbg_run_sync(p->program, p->list, result);
    return status;
}

static bool run_case(struct bench *b, struct bench_stage *stage, const struct budget_case *c)
{
    const struct bench_shape *shape = hbg__bench_shape(c->shape);
    struct hbg_result result = HBG_OPTIONS(result);
    struct bench_program p;
    if (!hbg__bench_program_open(b, stage, &p, shape, shape->build, &c->size, sizeof c->size, c->mode)) return false;
    enum hbg_status status = c->mode != BENCH_AGAIN ? submit(&p, &result) : hbg_run_sync(p.program, p.list, &result);      /* warm */
    if (!status) status = hbg__budget_measure(c, &p, 1, &result);
    if (!status) status = hbg__budget_measure(c, &p, MORE, &result);
    hbg__bench_program_close(&p);
    printf("%s: %llu\n", c->name, (unsigned long long)result.tasks * (MORE - 1));
    return status == HBG_OK || hbg__bench_fail(b, c->name, status);
}

int main(void)
{
    static struct bench b;
    struct bench_stage stage;
    enum bench_shape_id shapes[CASES];
    b.name = "budget";
    b.error.size = sizeof b.error;
    printf("%s %s %d\n", BUILD, COMPILER, __GNUC__);
    for (size_t i = 0; i < CASES; i++) shapes[i] = cases[i].shape;
    bool good = hbg__bench_stage_open(&b, &stage, "cpu:workers=1,memory=unified,spin_us=0", shapes, CASES);
    for (size_t i = 0; i < CASES && good; i++) good = run_case(&b, &stage, &cases[i]);
    return hbg__bench_stage_close(&b, &stage) && good ? 0 : 1;
}
