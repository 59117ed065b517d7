/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg sim: random graphs on simulated devices, one schedule a seed, compared with one task after the other.
 *
 * All that a case is - graph, device, schedule, what happens to it - is drawn from its seed. A failure is one sentence and the
 * command that repeats it; where the library finds a fault in itself and stops the process, the command stands before that.
 */
#include "command.h"

#include "base/plural.h"
#include "base/rng.h"
#include "cli.h"
#include "sim_graph.h"

#include <hbg/hbg.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 3, SPEC_SIZE = 256, WHY_SIZE = 512 };

static const char *const modes[] = { "random", "few", "round", "all" };
enum { MODES = sizeof modes / sizeof *modes };

struct chosen { const char *mode, *workers; };           /* NULL: each seed draws its own */

/* One seed. */
struct sim_case {
    const char *scenario;
    uint64_t seed;
    const struct chosen *chosen;
    struct hbg__rng rng;
    char spec[SPEC_SIZE];
    struct sim_graph graph;
    const struct sim_graph *params;
    bool pure;
    struct hbg_device *device;
    struct hbg_program *program;
    int refusals;                       /* so many calls may still be refused */
    char why[WHY_SIZE];                 /* what is wrong; "": nothing */
};

static __attribute__((format(printf, 2, 3))) bool wrong(struct sim_case *c, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(c->why, sizeof c->why, format, arguments);
    va_end(arguments);
    return false;
}

static void print_again(const struct sim_case *c)
{
    fprintf(stderr, "again with: hbg sim %s --seeds %" PRIu64 "..%" PRIu64, c->scenario, c->seed, c->seed);
    if (c->chosen->mode)
        fprintf(stderr, " --mode %s", c->chosen->mode);
    if (c->chosen->workers)
        fprintf(stderr, " --workers %s", c->chosen->workers);
    fputc('\n', stderr);
}

/* the library finds a fault in itself: it says so once, and stops the process */
static void hear(void *user, enum hbg_log_level level, const char *text)
{
    if (level != HBG_LOG_ERROR || strncmp(text, "hbg: simulated device:", 22) != 0)
        return;
    fprintf(stderr, "%s\n", text);
    print_again(user);
}

/* ---- device and program ---- */

static void draw(struct sim_case *c, const char *more, bool wide)
{
    uint64_t workers = hbg__rng_below(&c->rng, 20) ? 1 + hbg__rng_below(&c->rng, 8) : 1 + hbg__rng_below(&c->rng, 64);
    const char *mode = modes[hbg__rng_below(&c->rng, MODES)], *memory = hbg__rng_below(&c->rng, 2) ? "discrete" : "unified";
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, workers);
    snprintf(c->spec, sizeof c->spec, "sim:workers=%s,mode=%s,seed=%" PRIu64 ",memory=%s,ring=%d%s", c->chosen->workers ? c->chosen->workers : text,
             c->chosen->mode ? c->chosen->mode : mode, c->seed, memory, 2 << hbg__rng_below(&c->rng, 4), more);
    c->pure = hbg__rng_below(&c->rng, 2) != 0;
    hbg__sim_graph_draw(&c->graph, &c->rng, wide);
    c->params = &c->graph;
}

static enum hbg_status open_case(struct sim_case *c, struct hbg_error *error)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_program_options program = HBG_OPTIONS(program_options);

    options.error = program.error = error;
    options.log = hear;
    options.log_user = c;
    options.log_level = HBG_LOG_ERROR;
    options.ignore_environment = true;
    program.build = hbg__sim_graph_build;
    program.params = &c->params;
    program.params_size = sizeof c->params;
    program.kernels = hbg__sim_kernels;
    program.kernel_count = 1;
    program.boundary = "inout i64";
    program.pure_build = c->pure;
    enum hbg_status status = hbg_device_open(c->spec, &options, &c->device);
    return status ? status : hbg_program_create(c->device, &program, &c->program);
}

static bool close_case(struct sim_case *c)
{
    hbg_program_destroy(c->program);
    enum hbg_status status = hbg_device_close(c->device);
    return status && !*c->why ? wrong(c, "the close: %s", hbg_status_name(status)) : !*c->why;
}

/* ---- one run ---- */

static void fill(struct sim_case *c, int64_t *cell)
{
    for (int i = 0; i < SIM_CELLS_MAX; i++)
        cell[i] = (int64_t)hbg__rng_next(&c->rng);
}

static struct hbg_arg cells_of(const struct sim_case *c, int64_t *cell)
{
    return hbg_inout(hbg_host(cell, HBG_I64, HBG_SHAPE(c->graph.cells)));
}

static bool same(struct sim_case *c, const int64_t *cell, const int64_t *expected)
{
    for (int i = 0; i < c->graph.cells; i++)
        if (cell[i] != expected[i])
            return wrong(c, "cell %d is %" PRId64 ", and should be %" PRId64, i, cell[i], expected[i]);
    return true;
}

static bool is_refused(struct sim_case *c, enum hbg_status status)
{
    return (status == HBG_E_DEVICE || status == HBG_E_NO_MEMORY) && c->refusals-- > 0;
}

/* as the graph says, task by task */
static bool run(struct sim_case *c)
{
    int64_t cell[SIM_CELLS_MAX], expected[SIM_CELLS_MAX];
    struct hbg_result result = HBG_OPTIONS(result);
    bool fails = c->graph.failing >= 0;

    fill(c, cell);
    memcpy(expected, cell, sizeof cell);
    hbg__sim_graph_expect(&c->graph, expected);
    enum hbg_status status = hbg_run_sync(c->program, HBG_ARGS(cells_of(c, cell)), &result);
    if (is_refused(c, status))
        return true;
    if (status != (fails ? HBG_E_KERNEL : HBG_OK))
        return wrong(c, "the run: %s: %s", hbg_status_name(status), result.error.text);
    if (fails && (result.error.task != (uint32_t)c->graph.failing || result.error.code != SIM_FAIL_CODE))
        return wrong(c, "task %d fails, and task %u with %d is named", c->graph.failing, result.error.task, result.error.code);
    if (fails && !strstr(result.error.text, "skipped"))
        return wrong(c, "nobody says what was skipped");
    return same(c, cell, expected);
}

static bool run_some(struct sim_case *c)
{
    for (int i = 0; i < RUNS; i++)
        if (!run(c))
            return false;
    return true;
}

/* ---- scenarios ---- */

static bool open_and_run(struct sim_case *c)
{
    struct hbg_error error = HBG_OPTIONS(error);
    enum hbg_status status = open_case(c, &error);

    if (status)
        (void)wrong(c, "the device: %s: %s", hbg_status_name(status), error.text);
    else
        (void)run_some(c);
    return close_case(c);
}

static bool graphs(struct sim_case *c)
{
    draw(c, "", false);
    return open_and_run(c);
}

static bool spill(struct sim_case *c)
{
    draw(c, ",spin_us=0", true);
    return open_and_run(c);
}

static bool failures(struct sim_case *c)
{
    draw(c, "", false);
    c->graph.failing = (int)hbg__rng_below(&c->rng, (uint64_t)c->graph.tasks);
    return open_and_run(c);
}

/* at some moment; what was not skipped is done, and another run is as if nothing had been */
static bool cancel_one(struct sim_case *c)
{
    int64_t cell[SIM_CELLS_MAX];
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_run_state state;
    struct hbg_run started;

    fill(c, cell);
    if (hbg_run_prepare(c->program, HBG_ARGS(cells_of(c, cell)), NULL, &started) || hbg_run_launch(started))
        return wrong(c, "the run is not launched");
    for (uint64_t polls = hbg__rng_below(&c->rng, 30); polls > 0; polls--)
        if (hbg_run_poll(started, &state))
            return wrong(c, "the poll fails");
    enum hbg_status cancelled = hbg_run_cancel(started), waited = hbg_run_wait(started, HBG_FOREVER), status = hbg_run_finish(started, &result);
    if (cancelled || waited || (status && status != HBG_E_CANCELLED))
        return wrong(c, "the cancelled run: %s, %s, %s: %s", hbg_status_name(cancelled), hbg_status_name(waited), hbg_status_name(status), result.error.text);
    return run(c);
}

static bool cancels(struct sim_case *c)
{
    struct hbg_error error = HBG_OPTIONS(error);

    draw(c, "", false);
    if (open_case(c, &error))
        (void)wrong(c, "the device: %s", error.text);
    else
        (void)cancel_one(c);
    return close_case(c);
}

/* ---- two runs in flight, of one recording where the program is pure ---- */

struct flight {
    int64_t cell[SIM_CELLS_MAX], expected[SIM_CELLS_MAX];
    struct hbg_run run;
    bool cancelled;
};

static bool take_off(struct sim_case *c, struct flight *flight)
{
    fill(c, flight->cell);
    memcpy(flight->expected, flight->cell, sizeof flight->cell);
    hbg__sim_graph_expect(&c->graph, flight->expected);
    flight->cancelled = false;
    if (hbg_run_prepare(c->program, HBG_ARGS(cells_of(c, flight->cell)), NULL, &flight->run) || hbg_run_launch(flight->run))
        return wrong(c, "the run is not launched");
    return true;
}

static bool land(struct sim_case *c, struct flight *flight)
{
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status waited = hbg_run_wait(flight->run, HBG_FOREVER), status = hbg_run_finish(flight->run, &result);

    if (waited || (status && !(flight->cancelled && status == HBG_E_CANCELLED)))
        return wrong(c, "a run in flight: %s, %s: %s", hbg_status_name(waited), hbg_status_name(status), result.error.text);
    return status || same(c, flight->cell, flight->expected);
}

/* some polls and now and then a cancel, then either of the two first */
static bool fly_two(struct sim_case *c)
{
    struct flight flight[2];
    enum hbg_run_state state;

    if (!take_off(c, &flight[0]) || !take_off(c, &flight[1]))
        return false;
    for (uint64_t polls = hbg__rng_below(&c->rng, 20); polls > 0; polls--)
        if (hbg_run_poll(flight[polls % 2].run, &state))
            return wrong(c, "the poll fails");
    uint64_t first = hbg__rng_below(&c->rng, 2), dropped = hbg__rng_below(&c->rng, 6);
    if (dropped < 2) {
        flight[dropped].cancelled = true;
        if (hbg_run_cancel(flight[dropped].run))
            return wrong(c, "the cancel fails");
    }
    return land(c, &flight[first]) && land(c, &flight[1 - first]);
}

static bool pairs(struct sim_case *c)
{
    struct hbg_error error = HBG_OPTIONS(error);

    draw(c, ",depth=2", false);
    if (open_case(c, &error))
        (void)wrong(c, "the device: %s", error.text);
    for (int i = 0; i < RUNS && !*c->why; i++)
        (void)fly_two(c);
    return close_case(c);
}

/* one worker stands still for a while, at some step */
static bool stops(struct sim_case *c)
{
    char more[96];

    snprintf(more, sizeof more, ",stop_worker=0,stop_step=%" PRIu64 ",stop_us=%" PRIu64, hbg__rng_below(&c->rng, 2000),
             1 + hbg__rng_below(&c->rng, UINT64_C(1) << hbg__rng_below(&c->rng, 16)));
    draw(c, more, false);
    return open_and_run(c);
}

/* something is refused once: what needed it says so, and the next run is as if nothing had been */
static bool faults(struct sim_case *c)
{
    static const char *const kinds[] = { "alloc", "copy", "stream", "thread" };
    struct hbg_error error = HBG_OPTIONS(error);
    char more[96];

    snprintf(more, sizeof more, ",fail_%s=%" PRIu64, kinds[hbg__rng_below(&c->rng, 4)], 1 + hbg__rng_below(&c->rng, 12));
    draw(c, more, false);
    enum hbg_status status = open_case(c, &error);
    c->refusals = 1;
    if (!status)
        (void)run_some(c);
    else if (!is_refused(c, status))
        (void)wrong(c, "the device: %s: %s", hbg_status_name(status), error.text);
    return close_case(c);
}

static const struct { const char *name; bool (*run)(struct sim_case *c); } scenarios[] = {
    { "graphs", graphs },
    { "spill", spill },
    { "failures", failures },
    { "cancels", cancels },
    { "pairs", pairs },
    { "stops", stops },
    { "faults", faults },
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

/* False: it failed, and that was said. */
static bool run_seed(size_t scenario, uint64_t seed, const struct chosen *chosen)
{
    struct sim_case c = { .scenario = scenarios[scenario].name, .seed = seed, .chosen = chosen };

    hbg__rng_seed(&c.rng, seed);
    if (scenarios[scenario].run(&c))
        return true;
    fprintf(stderr, "hbg sim: %s, seed %" PRIu64 " (%s): %s\n", c.scenario, seed, c.spec, c.why);
    print_again(&c);
    return false;
}

static int run_all(const char *name, uint64_t first, uint64_t last, const struct chosen *chosen)
{
    int status = CLI_OK;

    for (size_t i = 0; i < SCENARIOS; i++) {
        uint64_t failed = 0, count = 0;
        if (strcmp(name, "all") != 0 && strcmp(name, scenarios[i].name) != 0)
            continue;
        for (uint64_t seed = first; count <= last - first; seed++, count++)
            failed += !run_seed(i, seed, chosen);
        printf("%-10s %" PRIu64 " schedule%s, %" PRIu64 " failed\n", scenarios[i].name, count, hbg__s(count), failed);
        fflush(stdout);
        if (failed)
            status = CLI_FAILED;
    }
    return status;
}

/* ---- the command line ---- */

static bool is_scenario(const char *name)
{
    const char *names[SCENARIOS + 1] = { "all" };
    char hint[160];

    for (size_t i = 0; i < SCENARIOS; i++)
        names[i + 1] = scenarios[i].name;
    for (size_t i = 0; i <= SCENARIOS; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    hbg__cli_error("sim", "there is no scenario `%s`%s", name, hbg__cli_hint(name, names, SCENARIOS + 1, hint, sizeof hint));
    return false;
}

/* "A..B", or "A" for A..A */
static bool read_seeds(const char *text, uint64_t *first, uint64_t *last)
{
    char part[32];
    const char *dots = strstr(text, ".."), *why = NULL;
    size_t length = dots ? (size_t)(dots - text) : strlen(text);

    if (length >= sizeof part)
        why = "is not a number of seeds";
    if (!why) {
        memcpy(part, text, length);
        part[length] = 0;
        why = hbg__cli_u64(part, first);
    }
    if (!why)
        why = hbg__cli_u64(dots ? dots + 2 : part, last);
    if (!why && *last < *first)
        why = "ends before it begins";
    if (why)
        hbg__cli_error("sim", "--seeds `%s` %s; give it as 1..1000", text, why);
    return !why;
}

/* the device that refuses them says why */
static int check_chosen(const struct chosen *chosen)
{
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *device = NULL;
    char spec[SPEC_SIZE];

    options.error = &error;
    snprintf(spec, sizeof spec, "sim:workers=%.40s,mode=%.40s", chosen->workers ? chosen->workers : "1", chosen->mode ? chosen->mode : modes[0]);
    enum hbg_status status = hbg_device_open(spec, &options, &device);
    if (status)
        hbg__cli_error("sim", "%s", error.text);
    return status ? hbg__cli_device_status(status) : hbg_device_close(device) ? CLI_FAILED : CLI_OK;
}

int hbg__cmd_sim(int argc, char **argv)
{
    struct chosen chosen = { NULL, NULL };
    const char *seeds = "1..1000";
    const struct cli_option options[] = {
        { "--seeds", &seeds, NULL, "A..B  each seed is one schedule (1..1000)" },
        { "--mode", &chosen.mode, NULL, "random|few|round|all  who goes on where; else the seed chooses" },
        { "--workers", &chosen.workers, NULL, "N  simulated workers, at most 64; else the seed chooses" },
    };
    const struct cli_command command = {
        "sim", "SCENARIO|all", "Runs random graphs under many schedules of simulated devices.\n"
        "Scenarios: graphs, spill, failures, cancels, pairs, stops, faults.", options, sizeof options / sizeof *options,
    };
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    uint64_t first = 1, last = 1;
    size_t count = 0;
    enum cli_outcome outcome = rest ? hbg__cli_parse(&command, argc, argv, rest, &count) : CLI_REFUSED;
    int status = cli_outcome_status(outcome);

    if (!rest) {
        hbg__cli_error("sim", "no memory for the command line");
        status = CLI_FAILED;
    } else if (outcome == CLI_PARSED && count != 1) {
        hbg__cli_error("sim", "it takes one scenario, or `all`; `hbg sim --help` names them");
        status = CLI_MISUSED;
    } else if (outcome == CLI_PARSED) {
        status = is_scenario(rest[0]) && read_seeds(seeds, &first, &last) ? check_chosen(&chosen) : CLI_MISUSED;
        if (status == CLI_OK)
            status = run_all(rest[0], first, last, &chosen);
    }
    free(rest);
    return status;
}
