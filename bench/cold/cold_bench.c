/* SPDX-License-Identifier: Apache-2.0 */
/* cold_bench.c - the first run of a program with one cause of its slowness removed: for scripts/experiment.py cold.
 *
 *     cold_bench TRACE CAUSE
 *
 *     nothing      the first run of the process
 *     device       an empty graph has run on the device, and its workers have gone to sleep again
 *     threads      an empty graph has run, and its workers spin
 *     program      this program has run with one task
 *     buffers      another program has run, with as many tasks: the memory of the slot and of the build is there, and has its pages
 *     pages        memory has its pages when it is allocated or committed (mlockall), which happens within the measured run all the same
 *     all          this program has run with as many tasks
 *
 * The spans of the run that is measured are the last ones of TRACE. Discrete memory, one worker, one run in flight, TASKS tasks of three
 * arguments in device buffers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "bench/stage.h"

enum { TASKS = 1000, ARGS = 3 };

static struct bench_size size = { TASKS, ARGS };

/* The size is no parameter of the program: a small run before it is one of the same program. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    if (size.tasks) hbg__bench_shape(BENCH_ARGS_OF_3)->build(g, args, &size);
}

static void build_other(struct hbg_graph *g, const struct hbg_args *args, const void *params) { build(g, args, params); }

static enum hbg_status run_of(struct bench_program *p, int64_t tasks)
{
    size.tasks = tasks;
    return hbg_run_sync(p->program, p->list, NULL);
}

static enum hbg_status before(const char *cause, struct bench_program *measured, struct bench_program *other)
{
    if (strcmp(cause, "device") == 0) {
        enum hbg_status status = run_of(other, 0);
        nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
        return status;
    }
    if (strcmp(cause, "threads") == 0) return run_of(other, 0);
    if (strcmp(cause, "program") == 0) return run_of(measured, 1);
    if (strcmp(cause, "buffers") == 0) return run_of(other, TASKS);
    if (strcmp(cause, "all") == 0) return run_of(measured, TASKS);
    return HBG_OK;
}

int main(int argc, char **argv)
{
    static struct bench b;
    static const enum bench_shape_id shapes[] = { BENCH_ARGS_OF_3 };
    const struct bench_shape *shape = hbg__bench_shape(shapes[0]);
    struct bench_stage stage;
    struct bench_program measured, other;
    char spec[96];
    if (argc != 3) {
        fputs("cold_bench: a file for the trace and one of nothing, device, threads, program, buffers, pages and all are needed\n", stderr);
        return 2;
    }
    b.name = "cold";
    b.error.size = sizeof b.error;
    setenv("HBG_TRACE", "phase", 1);
    setenv("HBG_TRACE_TO", argv[1], 1);
    snprintf(spec, sizeof spec, "cpu:workers=1,memory=discrete,depth=1,spin_us=%d", strcmp(argv[2], "threads") == 0 ? 1000000 : 12);
    if (strcmp(argv[2], "pages") == 0 && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        perror("cold_bench: mlockall");
        return 1;
    }
    bool good = hbg__bench_stage_open(&b, &stage, spec, shapes, 1);
    if (good) good = hbg__bench_program_open(&b, &stage, &measured, shape, build, NULL, 0, BENCH_MADE);
    if (good) {
        good = hbg__bench_program_open(&b, &stage, &other, shape, build_other, NULL, 0, BENCH_MADE);
        enum hbg_status status = good ? before(argv[2], &measured, &other) : HBG_E_BUILD;
        if (good && !status) status = run_of(&measured, TASKS);
        if (good && status) good = hbg__bench_fail(&b, argv[2], status);
        hbg__bench_program_close(&other);
        hbg__bench_program_close(&measured);
    }
    return hbg__bench_stage_close(&b, &stage) && good ? 0 : 1;
}
