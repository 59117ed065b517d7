/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rounds of `hbg run`: device, program, warm-up rounds, timed rounds, and two runs that are built rather than
 * replayed, so that there is a figure for what a warm build ships.
 *
 * As many rounds are in flight as the device has pipeline slots. Each of them has a lane: results of its own, since rounds that share
 * host data would wait for each other. Lane 0 is the memory that the workload declared.
 */
#include "run.h"

#include "cli.h"
#include "progress.h"
#include "trace_log.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* The results of one round in flight. */
struct lane {
    struct hbg_arg *arg;                /* the boundary, with this lane's memory; owned */
    void **data;                        /* of each boundary position, NULL where nothing is written; owned but for lane 0 */
    struct hbg_run run;
    struct hbg_error error;             /* of the run, until it is finished */
    bool in_flight;
};

/* Everything a series of rounds works with. */
struct series {
    struct hbg_setup *setup;
    const struct run_request *request;
    struct run_outcome *outcome;
    struct hbg_device *device;
    uint64_t *sample[TIME_COUNT];       /* warmup + rounds each */
    uint64_t sample_count;
    struct lane *lane;
    uint32_t lane_count;
};

/* Warnings, and what no status will follow: a simulated device that finds a fault stops the process. Other errors come back as a status
   with their sentence, and are printed once. */
static void log_warning(void *user, enum hbg_log_level level, const char *text)
{
    (void)user;
    if (level == HBG_LOG_WARN)
        hbg__cli_error("run", "warning: %s", text);
    else if (level == HBG_LOG_ERROR && strncmp(text, "hbg: simulated device: ", 23) == 0)
        hbg__cli_error("run", "%s", text);
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
    RESULT_TIMES(TIME_SAMPLE)
#undef TIME_SAMPLE
    if (result->launch_to_done_ns > result->device_ns)
        r->sample[TIME_queued_ns][r->sample_count] = result->launch_to_done_ns - result->device_ns;
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

/* ---- lanes ---- */

/* The workload's tensors are those of this lane from now on. */
static void enter_lane(struct hbg_setup *s, const struct lane *lane)
{
    for (size_t i = 0; i < s->boundary_count; i++)
        if (lane->data[i])
            s->tensor[i].data = lane->data[i];
}

static bool open_lane(struct hbg_setup *s, struct lane *lane, bool own)
{
    lane->arg = calloc(s->boundary_count + 1, sizeof *lane->arg);
    lane->data = calloc(s->boundary_count + 1, sizeof *lane->data);
    if (!lane->arg || !lane->data)
        return false;
    for (size_t i = 0; i < s->boundary_count; i++) {
        const struct setup_tensor *t = &s->tensor[i];
        lane->arg[i] = s->arg[i];
        if (!setup_is_result(t))
            continue;
        lane->data[i] = own ? hbg__setup_alloc(t->size_bytes) : t->data;
        if (!lane->data[i])
            return false;
        lane->arg[i].u.region = hbg_host(lane->data[i], t->dtype, t->shape);
    }
    return true;
}

/* The tensors stay those of the lane that was entered last: what the last round left. */
static void close_lanes(struct series *r)
{
    const struct hbg_setup *s = r->setup;

    for (uint32_t k = 0; k < r->lane_count; k++) {
        struct lane *lane = &r->lane[k];
        for (size_t i = 0; lane->data && i < s->boundary_count; i++)
            if (lane->data[i] && lane->data[i] != s->tensor[i].data)
                free(lane->data[i]);
        free(lane->data);
        free(lane->arg);
    }
    free(r->lane);
    r->lane = NULL;
    r->lane_count = 0;
}

static bool open_lanes(struct series *r, uint32_t count)
{
    r->lane = calloc(count, sizeof *r->lane);
    for (; r->lane && r->lane_count < count; r->lane_count++) {
        if (open_lane(r->setup, &r->lane[r->lane_count], r->lane_count > 0))
            continue;
        r->lane_count++;
        break;
    }
    if (r->lane && r->lane_count == count && (count == 0 || (r->lane[count - 1].arg && r->lane[count - 1].data)))
        return true;
    hbg_setup_fail(r->setup, "no memory for the results of the rounds in flight; open the device with depth=1");
    return false;
}

/* ---- rounds in their lanes ---- */

/* prepared and launched, from the first inputs on; the name, if any, is for a trace */
static bool start(struct series *r, struct hbg_program *program, struct lane *lane, const char *name)
{
    struct hbg_setup *s = r->setup;
    struct hbg_run_options o = HBG_OPTIONS(run_options);
    enum hbg_status status;

    lane->error = no_error();
    o.error = &lane->error;
    o.name = name;
    enter_lane(s, lane);
    hbg__setup_rewind(s);
    status = hbg_run_prepare(program, (struct hbg_arg_list){ lane->arg, s->boundary_count }, &o, &lane->run);
    if (status != HBG_OK)
        return failed(r->outcome, "run", status, &lane->error);
    lane->in_flight = true;
    status = hbg_run_launch(lane->run);
    return status == HBG_OK || failed(r->outcome, "launch", status, &lane->error);
}

/* waited for, and verified if asked; what it shipped counts if it is warm and was built */
static bool finish(struct series *r, struct lane *lane, bool warm, struct hbg_result *result)
{
    enum hbg_status status, waited;

    memset(result, 0, sizeof *result);
    result->size = sizeof *result;
    result->error = no_error();
    waited = hbg_run_wait(lane->run, HBG_FOREVER);
    if (waited != HBG_OK)
        return failed(r->outcome, "run", waited, &lane->error);
    status = hbg_run_finish(lane->run, result);
    lane->in_flight = false;
    if (status != HBG_OK)
        return failed(r->outcome, "run", status, &result->error);
    r->outcome->tasks = result->tasks;
    r->outcome->edges = result->edges;
    if (warm && !result->replayed) {
        r->outcome->has_upload = true;
        r->outcome->upload_bytes = result->upload_bytes;
        r->outcome->upload_copies = result->upload_copies;
    }
    enter_lane(r->setup, lane);
    return !r->request->verify || hbg__verify_run(r->setup, &r->outcome->verdict);
}

/* after a failure: what is still in flight ends, and nobody looks at it */
static void give_up(struct series *r)
{
    for (uint32_t k = 0; k < r->lane_count; k++) {
        struct lane *lane = &r->lane[k];
        if (!lane->in_flight)
            continue;
        (void)!hbg_run_cancel(lane->run);
        (void)!hbg_run_wait(lane->run, HBG_FOREVER);
        (void)hbg_run_finish(lane->run, NULL);
        lane->in_flight = false;
    }
}

static bool create_program(struct series *r, bool replay, bool compares, struct hbg_program **program)
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
    o.no_compare = !compares;
    o.error = &error;
    status = hbg_program_create(r->device, &o, program);
    return status == HBG_OK || failed(r->outcome, "program", status, &error);
}

static void count_round(struct series *r, const struct hbg_result *result, uint64_t round)
{
    record(r, result);
    hbg__explain_add(&r->outcome->explanation, result);
    if (round < r->request->warmup)
        return;
    r->outcome->rounds_done++;
    r->outcome->replayed += result->replayed != 0;
}

static bool run_rounds(struct series *r)
{
    const struct run_request *q = r->request;
    struct progress progress;
    struct hbg_program *program;
    struct hbg_result result;
    uint64_t total = q->warmup + q->rounds, n = r->lane_count, began_ns = 0;
    bool good;

    r->outcome->explanation.pure = q->replay && r->setup->workload.pure_build;
    if (!create_program(r, r->outcome->explanation.pure, q->compares, &program))
        return false;
    hbg__progress_begin(&progress, "round", total);
    good = true;
    for (uint64_t i = 0; good && i < total + n; i++) {
        struct lane *lane = &r->lane[i % n];
        if (i >= n && lane->in_flight) {
            good = finish(r, lane, i > n, &result);
            if (good)
                count_round(r, &result, i - n);
            hbg__progress_step(&progress, i - n + 1);
        }
        if (i == q->warmup)
            began_ns = hbg__clock_ns();
        if (good && i < total)
            good = start(r, program, lane, NULL);
    }
    r->outcome->rounds_ns = hbg__clock_ns() - began_ns;
    give_up(r);
    hbg__progress_end(&progress);
    r->outcome->counters = HBG_OPTIONS(counters);
    hbg_device_counters(r->device, &r->outcome->counters);
    hbg_program_destroy(program);
    return good;
}

/* Two runs of a program that is never replayed: the second is warm. Verified like any other. */
static bool run_built(struct series *r)
{
    struct hbg_program *program;
    struct hbg_result result;
    bool good = true;

    if (!create_program(r, false, false, &program))
        return false;
    for (int i = 0; good && i < 2; i++)
        good = start(r, program, &r->lane[0], TRACE_RUN_BUILT) && finish(r, &r->lane[0], i > 0, &result);
    give_up(r);
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
    r->outcome->depth = hbg_device_depth(r->device);
    good = open_lanes(r, r->outcome->depth) && run_rounds(r) && (r->outcome->has_upload || run_built(r));
    close_lanes(r);
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
