/* SPDX-License-Identifier: Apache-2.0 */
/* bind.c - ns of hbg_run_prepare, warm, on discrete memory: build and upload, or a replay.
 *
 * Three device buffers are the arguments, so no argument bytes are copied. Every run is launched, waited for and finished before
 * the next one is prepared; of that only `empty run` is timed. A build is compared with the last one, or made from the start: "hbg, made".
 */
#include "base/clock.h"
#include "bench/stage.h"

static const struct { const char *name; int64_t tasks; bool made, pure, whole; } cases[] = {      /* made: from the start as well */
    { "tasks=0", 0, false, false, false },
    { "tasks=100", 100, true, false, false },
    { "tasks=1000", 1000, true, false, false },
    { "tasks=10000", 10000, true, false, false },
    { "tasks=100000", 100000, true, false, false },
    { "replay", 1000, false, true, false },
    { "empty run", 0, false, false, true },     /* prepare, launch, wait and finish */
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
    static struct bench_program made[2 * CASES];
    const enum bench_shape_id id = BENCH_ARGS_OF_3;
    const struct bench_shape *shape = hbg__bench_shape(id);
    struct bench_stage stage;
    size_t count = 0;
    bool good = hbg__bench_stage_open(b, &stage, "cpu:workers=1,memory=discrete", &id, 1);
    for (size_t i = 0; i < 2 * CASES && good; i++) {
        bool from_start = i % 2;
        struct bench_size size = { cases[i / 2].tasks, 3 };
        if (!hbg__bench_wants(b, cases[i / 2].name) || (from_start && !cases[i / 2].made)) continue;
        enum bench_mode mode = cases[i / 2].pure ? BENCH_AGAIN : from_start ? BENCH_MADE : BENCH_ANEW;
        good = hbg__bench_program_open(b, &stage, &made[count], shape, shape->build, &size, sizeof size, mode);
        if (!good) break;
        hbg__bench_add_way(b, cases[i / 2].name, from_start, "ns", 1, cases[i / 2].whole ? run_whole : run_prepare, &made[count++]);
    }
    if (good) good = hbg__bench_measure(b);
    while (count > 0) hbg__bench_program_close(&made[--count]);
    return hbg__bench_stage_close(b, &stage) && good;
}
