/* SPDX-License-Identifier: Apache-2.0 */
/* bind.c - ns of hbg_run_prepare, warm, on discrete memory: build and upload, or a replay.
 *
 * Three device buffers are the arguments, so no argument bytes are copied. Every run is launched, waited for and finished before
 * the next one is prepared; of that only `empty run` is timed.
 */
#include "base/clock.h"
#include "bench/stage.h"

static const struct { const char *name; int64_t tasks; bool pure, whole; } cases[] = {
    { "tasks=0", 0, false, false },
    { "tasks=100", 100, false, false },
    { "tasks=1000", 1000, false, false },
    { "tasks=10000", 10000, false, false },
    { "tasks=100000", 100000, false, false },
    { "replay", 1000, true, false },
    { "empty run", 0, false, true },        /* prepare, launch, wait and finish */
};
enum { CASES = sizeof cases / sizeof cases[0] };

static enum hbg_status run_prepare(struct bench_case *c, uint64_t *ns, uint64_t *units)
{
    struct bench_program *p = c->of;
    struct hbg_run run;
    uint64_t begin = hbg__clock_ns();
    enum hbg_status status = hbg_run_prepare(p->program, p->list, NULL, &run);
    *ns = hbg__clock_ns() - begin;
    *units = 1;
    if (status) return status;
    status = hbg_run_launch(run);
    if (!status) status = hbg_run_wait(run, HBG_FOREVER);
    enum hbg_status end = hbg_run_finish(run, NULL);
    return status ? status : end;
}

static enum hbg_status run_whole(struct bench_case *c, uint64_t *ns, uint64_t *units)
{
    struct bench_program *p = c->of;
    uint64_t begin = hbg__clock_ns();
    enum hbg_status status = hbg_run_sync(p->program, p->list, NULL);
    *ns = hbg__clock_ns() - begin;
    *units = 1;
    return status;
}

bool hbg__bench_bind(struct bench *b)
{
    static struct bench_program made[CASES];
    const enum bench_shape_id id = BENCH_ARGS_OF_3;
    const struct bench_shape *shape = hbg__bench_shape(id);
    struct bench_stage stage;
    size_t count = 0;
    bool good = hbg__bench_stage_open(b, &stage, "cpu:workers=1,memory=discrete", &id, 1);
    for (size_t i = 0; i < CASES && good; i++) {
        struct bench_size size = { cases[i].tasks, 3 };
        if (!hbg__bench_wants(b, cases[i].name)) continue;
        good = hbg__bench_program_open(b, &stage, &made[count], shape, shape->build, &size, sizeof size, cases[i].pure);
        if (!good) break;
        hbg__bench_add(b, cases[i].name, "ns", 1, cases[i].whole ? run_whole : run_prepare, &made[count++]);
    }
    if (good) good = hbg__bench_measure(b);
    while (count > 0) hbg__bench_program_close(&made[--count]);
    return hbg__bench_stage_close(b, &stage) && good;
}
