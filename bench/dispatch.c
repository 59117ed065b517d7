/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - ns a task that the device takes, kernels empty: device wall of a replayed graph, divided by its tasks.
 *
 * The first run of a program is the cold one; batches begin with its third.
 */
#include "bench/stage.h"

enum { WORKERS_MAX = 2 };
static const enum bench_shape_id cases[] = { BENCH_CHAIN, BENCH_INDEPENDENT, BENCH_WAVEFRONT, BENCH_CHOLESKY, BENCH_TREE, BENCH_RANDOM };
enum { CASES = sizeof cases / sizeof cases[0] };

static enum hbg_status run_case(struct bench_case *c, uint64_t *ns, uint64_t *units)
{
    struct bench_program *p = c->of;
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status status = hbg_run_sync(p->program, p->list, &result);
    *ns = result.device_ns;
    *units = result.tasks;
    return status;
}

static bool open_cases(struct bench *b, struct bench_stage *stage, uint32_t workers, struct bench_program *made, size_t *count)
{
    for (size_t i = 0; i < CASES; i++) {
        const struct bench_shape *shape = hbg__bench_shape(cases[i]);
        struct bench_size size = { 0, 0 };
        if (!hbg__bench_wants(b, shape->name)) continue;
        if (!hbg__bench_program_open(b, stage, &made[*count], shape, shape->build, &size, sizeof size, true)) return false;
        hbg__bench_add(b, shape->name, "ns/task", workers, run_case, &made[(*count)++])->has_cold = true;
    }
    return true;
}

bool hbg__bench_dispatch(struct bench *b)
{
    static struct bench_program made[WORKERS_MAX * CASES];
    static const char *const device[WORKERS_MAX] = { "cpu:workers=1,memory=unified", "cpu:workers=2,memory=unified" };
    struct bench_stage stage[WORKERS_MAX];
    size_t count = 0;
    uint32_t opened = 0;
    bool good = true;
    while (opened < WORKERS_MAX && good) {
        good = hbg__bench_stage_open(b, &stage[opened], device[opened], cases, CASES) && open_cases(b, &stage[opened], opened + 1, made, &count);
        opened++;
    }
    if (good) good = hbg__bench_measure(b);
    while (count > 0) hbg__bench_program_close(&made[--count]);
    while (opened > 0) good = hbg__bench_stage_close(b, &stage[--opened]) && good;
    return good;
}
