/* SPDX-License-Identifier: Apache-2.0 */
/* flat_bench.c - does a task cost the same whatever the graph's size, its fan-in and the number of workers?
 *
 *     tasks     10^3 to 10^7 tasks of two arguments: ns a submitted task, the first time and the least of others, and of the rest of the run
 *     fan-in    tasks that read 1 to 1,000 cells, whose writers are tasks: ns an argument
 *     workers   1 to 64 on 4,000 tasks of 10 us: the least of the runs, ms
 *
 * Not part of the command: cmake --build build --target flat_bench.
 */
#include <stdio.h>

#include <hbg/hbg.h>
#include "base/clock.h"

enum { CELLS = 4096, CELL = 16, FAN_MAX = 1000, SPIN_NS = 10000, SPINNING_TASKS = 4000 };

static int spin(const struct hbg_task_view *t)
{
    uint64_t ns = *(const uint64_t *)t->user, end_ns = ns ? hbg__clock_ns() + ns : 0;
    while (ns && hbg__clock_ns() < end_ns) continue;
    return 0;
}

static uint64_t spin_ns;
static const struct hbg_kernel kernels[] = { { .id = 0, .name = "spin", .run = spin, .user = &spin_ns } };

static struct { int64_t tasks, fan_in; uint64_t build_ns; } now;

static struct hbg_region cell(struct hbg_region x, int64_t i) { return hbg_cell(x, HBG_SHAPE(CELL), HBG_SHAPE(i % CELLS)); }

static void build_tasks(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    uint64_t begin = hbg__clock_ns();
    for (int64_t i = 0; i < now.tasks; i++) hbg_submit(g, 0, hbg_inout(cell(x, i)), hbg_in(cell(x, 7 * i + 1)));
    now.build_ns = hbg__clock_ns() - begin;
}

/* As many writers as a task reads, then that task, and again. */
static void build_fans(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    static struct hbg_arg list[FAN_MAX + 1];
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    uint64_t begin = hbg__clock_ns();
    for (int64_t i = 0; i < now.tasks; i++) {
        for (int64_t k = 0; k < now.fan_in; k++) hbg_submit(g, 0, hbg_inout(cell(x, k)));
        for (int64_t k = 0; k < now.fan_in; k++) list[k] = hbg_in(cell(x, k));
        list[now.fan_in] = hbg_inout(cell(x, CELLS - 1));
        hbg_submit_args(g, 0, (struct hbg_arg_list){ list, (size_t)now.fan_in + 1 });
    }
    now.build_ns = hbg__clock_ns() - begin;
}

struct stage { struct hbg_device *device; struct hbg_buffer *buffer; struct hbg_program *program; };

static enum hbg_status open_stage(struct stage *s, const char *spec, hbg_build_fn *build)
{
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    options.build = build;
    options.kernels = kernels;
    options.kernel_count = 1;
    options.no_compare = true;             /* what is measured is what a submit costs, not what its comparison with an earlier one does */
    *s = (struct stage){ .device = NULL };
    enum hbg_status status = hbg_device_open(spec, NULL, &s->device);
    if (!status) status = hbg_buffer_create(s->device, CELLS * CELL * sizeof(float), &s->buffer);
    return status ? status : hbg_program_create(s->device, &options, &s->program);
}

static enum hbg_status close_stage(struct stage *s, enum hbg_status status)
{
    hbg_program_destroy(s->program);
    hbg_buffer_destroy(s->buffer);
    enum hbg_status end = s->device ? hbg_device_close(s->device) : HBG_OK;
    return status ? status : end;
}

/* The first run, then the least of `runs` others: in the build function, and in the rest of the run. */
struct taken { uint64_t first_build_ns, build_ns, rest_ns; };

static enum hbg_status measure(struct stage *s, int runs, struct taken *taken)
{
    enum hbg_status status = HBG_OK;
    *taken = (struct taken){ 0, UINT64_MAX, UINT64_MAX };
    for (int i = 0; i <= runs && !status; i++) {
        uint64_t begin = hbg__clock_ns();
        status = hbg_run_sync(s->program, HBG_ARGS(hbg_inout(hbg_buffer_region(s->buffer, 0, HBG_F32, HBG_SHAPE(CELLS * CELL)))), NULL);
        uint64_t rest_ns = hbg__clock_ns() - begin - now.build_ns;
        if (i == 0) taken->first_build_ns = now.build_ns;
        if (i && now.build_ns < taken->build_ns) taken->build_ns = now.build_ns;
        if (i && rest_ns < taken->rest_ns) taken->rest_ns = rest_ns;
    }
    return status;
}

static enum hbg_status sizes_and_fans(void)
{
    struct stage s;
    struct taken t;
    enum hbg_status status = open_stage(&s, "cpu:workers=1", build_tasks);
    for (now.tasks = 1000; now.tasks <= 10000000 && !status; now.tasks *= 10) {
        double n = (double)now.tasks;
        status = measure(&s, now.tasks >= 1000000 ? 3 : 20, &t);
        printf("tasks %8.0f   submit %6.1f ns a task the first time, then %5.1f; the rest of the run %5.1f\n", n, (double)t.first_build_ns / n, (double)t.build_ns / n, (double)t.rest_ns / n);
    }
    status = close_stage(&s, status);
    static const int64_t fans[] = { 1, 3, 10, 30, 100, 300, FAN_MAX };
    if (!status) status = open_stage(&s, "cpu:workers=1", build_fans);
    else return status;
    for (size_t i = 0; i < sizeof fans / sizeof *fans && !status; i++) {
        now.fan_in = fans[i];
        now.tasks = 30000 / fans[i];
        double arguments = (double)(now.tasks * (2 * now.fan_in + 1));
        status = measure(&s, 20, &t);
        printf("fan-in %7lld   submit %5.1f ns an argument\n", (long long)now.fan_in, (double)t.build_ns / arguments);
    }
    return close_stage(&s, status);
}

static enum hbg_status worker_counts(void)
{
    enum hbg_status status = HBG_OK;
    spin_ns = SPIN_NS;
    now.tasks = SPINNING_TASKS;
    for (int workers = 1; workers <= 64 && !status; workers *= 2) {
        struct stage s;
        struct taken t;
        char spec[32];
        snprintf(spec, sizeof spec, "cpu:workers=%d", workers);
        status = open_stage(&s, spec, build_tasks);
        if (!status) status = measure(&s, 10, &t);
        if (!status) printf("workers %6d   %.2f ms\n", workers, (double)t.rest_ns / 1e6);
        status = close_stage(&s, status);
    }
    return status;
}

int main(void)
{
    enum hbg_status status = sizes_and_fans();
    if (!status) status = worker_counts();
    if (status) fprintf(stderr, "flat_bench: %s\n", hbg_status_text(status));
    return status != HBG_OK;
}
