/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - the command line of `hbg bench`. */
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cli.h"
#include "tools/exclusive.h"
#include "tools/same_file.h"

/* The command line as it was typed. */
struct typed {
    const char *json, *only, *kernel, *width, *steps, *radix;
    bool rivals;
    bool quick;
    struct exclusive_typed exclusive;
};

static const struct { const char *name; bench_measure_fn *measure; } benches[] = {
    { "submit", hbg__bench_submit }, { "bind", hbg__bench_bind }, { "dispatch", hbg__bench_dispatch },
    { "metg", hbg__bench_metg }, { "replay", hbg__bench_replay }
};
enum { BENCHES = sizeof benches / sizeof benches[0] };

static bench_measure_fn *find_bench(const char *name)
{
    const char *names[BENCHES];
    char hint[160];
    for (size_t i = 0; i < BENCHES; i++) {
        names[i] = benches[i].name;
        if (strcmp(name, benches[i].name) == 0) return benches[i].measure;
    }
    hbg__cli_error("bench", "there is no bench `%s`%s", name, hbg__cli_hint(name, names, BENCHES, hint, sizeof hint));
    return NULL;
}

/* Measures and prints. The file is opened before the time is spent. */
static int run_bench(struct bench *b, bench_measure_fn *measure, const char *json)
{
    struct cli_output output;
    bool to_stdout = json && strcmp(json, "-") == 0;
    if (json && !hbg__cli_output_open(&output, "bench", json)) return CLI_FAILED;
    hbg__bench_machine_get(&b->machine);
    bool good = measure(b);
    if (good && !b->case_count) {
        hbg__cli_error("bench", "%s has no case `%s`", b->name, b->only);
        if (json) (void)hbg__cli_output_close(&output);
        return CLI_MISUSED;
    }
    b->machine.round_trip_after_ns = hbg__bench_round_trip_ns();
    if (good && !to_stdout) hbg__bench_print_text(b);
    if (good && json) good = hbg__bench_print_json(output.stream, b);
    if (json) good = hbg__cli_output_close(&output) && good;
    return good ? CLI_OK : CLI_FAILED;
}

/* What of the command line says how to measure. False: said what is wrong. */
static bool take_options(struct bench *b, const struct typed *typed)
{
    uint64_t width = 0, steps = 0, radix = 0;
    bool good = hbg__cli_take("bench", "--width", typed->width, 1, DAG_READS_MAX, &width) &&
                hbg__cli_take("bench", "--steps", typed->steps, 2, 100000, &steps) && hbg__cli_take("bench", "--radix", typed->radix, 1, DAG_READS_MAX, &radix);
    b->only = typed->only;
    b->quick = typed->quick;
    b->rivals = typed->rivals;
    b->kernel = typed->kernel;
    b->size = (struct dag_size){ (uint32_t)width, (uint32_t)steps, (uint32_t)radix };
    b->error.size = sizeof b->error;
    if (!good || !b->kernel || strcmp(b->kernel, "compute") == 0 || strcmp(b->kernel, "memory") == 0) return good;
    hbg__cli_error("bench", "--kernel is `%s`; it can be compute or memory", b->kernel);
    return false;
}

static int measure_one(const char *name, const struct typed *typed)
{
    bench_measure_fn *measure = find_bench(name);
    struct named_files files = { 0 };
    if (!measure) return CLI_MISUSED;
    hbg__named_output(&files, "--json", NULL, typed->json);
    hbg__named_standard_output(&files);
    if (!hbg__named_files_apart(&files, "bench")) return CLI_MISUSED;
    struct bench *b = calloc(1, sizeof *b);
    if (!b) {
        hbg__cli_error("bench", "no memory for the cases");
        return CLI_FAILED;
    }
    b->name = name;
    int status = take_options(b, typed) ? hbg__exclusive_take(&typed->exclusive, "bench", "cpu") : CLI_MISUSED;
    if (status == CLI_OK) status = run_bench(b, measure, typed->json);
    hbg__exclusive_end();
    free(b);
    return status;
}

static int bench_line(const void *given, const char *const *rest, size_t count)
{
    if (count == 1) return measure_one(rest[0], given);
    hbg__cli_error("bench", count ? "`%s` is one argument too many" : "one of submit, bind, dispatch, metg and replay is needed%s", count ? rest[1] : "");
    return CLI_MISUSED;
}

int hbg__bench_main(int argc, char **argv)
{
    struct typed typed = { .quick = false };
    const struct cli_option option[] = {
        { "--json", &typed.json, NULL, "FILE|-  write the results as JSON; - is standard output, then without the table" },
        { "--case", &typed.only, NULL, "NAME  this case alone, as the table names it" },
        { "--quick", NULL, &typed.quick, "three batches, without the largest graphs: for a look, not for figures" },
        { "--rivals", NULL, &typed.rivals, "other runtimes beside hbg, those that are built (metg)" },
        { "--kernel", &typed.kernel, NULL, "compute|memory  what the tasks of metg do (compute)" },
        { "--width", &typed.width, NULL, "N  points of a step of metg's graphs (8)" },
        { "--steps", &typed.steps, NULL, "N  their steps (1000)" },
        { "--radix", &typed.radix, NULL, "N  points that nearest, spread and random_nearest read (5)" },
        EXCLUSIVE_OPTIONS(typed.exclusive),
    };
    const struct cli_command command = {
        "bench", "submit|bind|dispatch|metg|replay [options]",
        "Measures what a submitted task (submit), a prepared run (bind), a task on the device (dispatch) or a subgraph (replay)\n"
        "costs, and how long tasks must be for half of the time to be theirs (metg: METG(50 %), the measure of Task Bench).\n\n"
        "case       the graph, or what of the call is varied\n"
        "workers    worker threads of the device\n"
        "median     of all batches, each the mean over 1 ms or more, or of all searches of metg; the unit stands above the table\n"
        "p10, p90   a tenth of the batches is below the one, a tenth above the other: how far figures spread\n"
        "target     the figure to reach on a machine of two cores; - where there is none\n"
        "ratio      median / target: 1 or less has reached it\n"
        "cold       the first run of all, not part of the others", option, sizeof option / sizeof option[0]
    };
    return hbg__cli_run(&command, argc, argv, bench_line, &typed);
}
