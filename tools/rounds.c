/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rounds of `hbg run`: device, program, warm-up rounds, timed rounds, and one round that is built rather than
 * replayed, so that there is a figure for what a build ships.
 */
#include "run.h"

#include "cli.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

/* Everything a series of rounds works with. */
struct series {
    struct hbg_setup *setup;
    const struct run_request *request;
    struct run_outcome *outcome;
    struct hbg_device *device;
    uint64_t *sample[TIME_COUNT];       /* warmup + rounds each */
    uint64_t sample_count;
};

/* Warnings only: an error comes back as a status with its sentence, and is printed once. */
static void log_warning(void *user, enum hbg_log_level level, const char *text)
{
    (void)user;
    if (level == HBG_LOG_WARN)
        hbg__cli_error("run", "warning: %s", text);
}

/* ---- statistics ---- */

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* the first run, and the order statistics of the timed rounds behind it; sorts the samples */
static struct time_statistics statistics(uint64_t *sample, uint64_t count, uint64_t warmup)
{
    uint64_t skip = warmup ? warmup : 1;
    struct time_statistics r = { .first = sample[0], .has_warm = count > skip };
    uint64_t n = r.has_warm ? count - skip : 0;

    if (n) {
        sample += skip;
        qsort(sample, n, sizeof *sample, compare_u64);
        r.min = sample[0];
        r.median = n % 2 ? sample[n / 2] : (sample[n / 2 - 1] + sample[n / 2]) / 2;
        r.p90 = sample[(9 * n + 9) / 10 - 1];
    }
    return r;
}

static void record(struct series *r, const struct hbg_result *result)
{
#define TIME_SAMPLE(name) r->sample[TIME_##name][r->sample_count] = result->name;
    RUN_TIMES(TIME_SAMPLE)
#undef TIME_SAMPLE
    r->sample_count++;
}

/* ---- rounds ---- */

static bool failed(struct run_outcome *outcome, const char *step, enum hbg_status status, const struct hbg_error *error)
{
    outcome->step = step;
    outcome->status = status;
    outcome->error = *error;
    outcome->error.status = status;
    if (!outcome->error.text[0])
        strncpy(outcome->error.text, hbg_status_text(status), sizeof outcome->error.text - 1);
    return false;
}

static struct hbg_error no_error(void)
{
    struct hbg_error error = HBG_OPTIONS(error);

    error.task = UINT32_MAX;
    error.argument = -1;
    return error;
}

/* one run from the first inputs on; what it shipped counts if it is warm and was built */
static bool run_once(struct series *r, struct hbg_program *program, bool warm, struct hbg_result *result)
{
    struct hbg_setup *s = r->setup;
    struct hbg_arg_list list = { s->arg, s->boundary_count };
    enum hbg_status status;

    memset(result, 0, sizeof *result);
    result->size = sizeof *result;
    result->error = no_error();
    hbg__setup_rewind(s);
    status = hbg_run_sync(program, list, result);
    if (status != HBG_OK)
        return failed(r->outcome, "run", status, &result->error);
    r->outcome->tasks = result->tasks;
    r->outcome->edges = result->edges;
    if (warm && !result->replayed) {
        r->outcome->has_upload = true;
        r->outcome->upload_bytes = result->upload_bytes;
        r->outcome->upload_copies = result->upload_copies;
    }
    return !r->request->verify || hbg__verify_run(s, &r->outcome->verdict);
}

static bool create_program(struct series *r, bool replay, struct hbg_program **program)
{
    const struct hbg_workload *w = &r->setup->workload;
    struct hbg_error error = no_error();
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    enum hbg_status status;

    o.name = w->name;
    o.build = w->build;
    o.params = r->setup->params;
    o.params_size = r->setup->params_size;
    o.kernels = w->kernels;
    o.kernel_count = w->kernel_count;
    o.pure_build = replay;
    o.error = &error;
    status = hbg_program_create(r->device, &o, program);
    return status == HBG_OK || failed(r->outcome, "program", status, &error);
}

static bool run_rounds(struct series *r)
{
    const struct run_request *q = r->request;
    struct progress progress;
    struct hbg_program *program;
    struct hbg_result result;
    uint64_t total = q->warmup + q->rounds, i;

    if (!create_program(r, q->replay && r->setup->workload.pure_build, &program))
        return false;
    hbg__progress_begin(&progress, "round", total);
    for (i = 0; i < total && run_once(r, program, i > 0, &result); i++) {
        record(r, &result);
        if (i >= q->warmup) {
            r->outcome->rounds_done++;
            r->outcome->replayed += result.replayed != 0;
        }
        hbg__progress_step(&progress, i + 1);
    }
    hbg__progress_end(&progress);
    r->outcome->counters = HBG_OPTIONS(counters);
    hbg_device_counters(r->device, &r->outcome->counters);
    hbg_program_destroy(program);
    return i == total;
}

/* Two runs of a program that is never replayed: the second is warm. Verified like any other. */
static bool run_built(struct series *r)
{
    struct hbg_program *program;
    struct hbg_result result;
    bool good;

    if (!create_program(r, false, &program))
        return false;
    good = run_once(r, program, false, &result) && run_once(r, program, true, &result);
    if (good)
        r->outcome->built_runs = 2;
    hbg_program_destroy(program);
    return good;
}

static bool run_on_device(struct series *r)
{
    struct hbg_error error = no_error();
    struct hbg_device_options o = HBG_OPTIONS(device_options);
    enum hbg_status status;
    bool good;

    o.log = log_warning;
    o.log_level = HBG_LOG_WARN;
    o.error = &error;
    o.trace_to = r->request->trace_to;
    o.trace = r->request->trace;
    status = hbg_device_open(r->request->device, &o, &r->device);
    if (status != HBG_OK)
        return failed(r->outcome, "device", status, &error);
    good = run_rounds(r) && (r->outcome->has_upload || run_built(r));
    status = hbg_device_close(r->device);
    if (status != HBG_OK && good)
        return failed(r->outcome, "closing the device", status, &error);
    return good;
}

bool hbg__rounds_run(struct hbg_setup *s, const struct run_request *request, struct run_outcome *outcome)
{
    struct series r = { .setup = s, .request = request, .outcome = outcome };
    uint64_t total = request->warmup + request->rounds;
    uint64_t *samples = calloc(TIME_COUNT * total, sizeof *samples);
    bool good;

    if (!samples) {
        hbg_setup_fail(s, "no memory for the times of the rounds");
        return false;
    }
    for (int i = 0; i < TIME_COUNT; i++)
        r.sample[i] = samples + (uint64_t)i * total;
    good = run_on_device(&r);
    if (r.sample_count)
        for (int i = 0; i < TIME_COUNT; i++)
            outcome->time[i] = statistics(r.sample[i], r.sample_count, request->warmup);
    free(samples);
    return good;
}
