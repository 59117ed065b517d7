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
    const char *json, *only;
    bool quick;
    struct exclusive_typed exclusive;
};

static const struct { const char *name; bench_measure_fn *measure; } benches[] = {
    { "submit", hbg__bench_submit }, { "bind", hbg__bench_bind }, { "dispatch", hbg__bench_dispatch }
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

static int measure_one(const char *name, const char *only, bool quick, const char *json, const struct exclusive_typed *exclusive)
{
    bench_measure_fn *measure = find_bench(name);
    struct named_files files = { 0 };
    if (!measure) return CLI_MISUSED;
    hbg__named_output(&files, "--json", NULL, json);
    hbg__named_standard_output(&files);
    if (!hbg__named_files_apart(&files, "bench")) return CLI_MISUSED;
    struct bench *b = calloc(1, sizeof *b);
    if (!b) {
        hbg__cli_error("bench", "no memory for the cases");
        return CLI_FAILED;
    }
    b->name = name;
    b->only = only;
    b->quick = quick;
    b->error.size = sizeof b->error;
    int status = hbg__exclusive_take(exclusive, "bench", "cpu");
    if (status == CLI_OK) status = run_bench(b, measure, json);
    hbg__exclusive_end();
    free(b);
    return status;
}

static int bench_line(const void *given, const char *const *rest, size_t count)
{
    const struct typed *typed = given;
    if (count == 1) return measure_one(rest[0], typed->only, typed->quick, typed->json, &typed->exclusive);
    hbg__cli_error("bench", count ? "`%s` is one argument too many" : "one of submit, bind and dispatch is needed%s", count ? rest[1] : "");
    return CLI_MISUSED;
}

int hbg__bench_main(int argc, char **argv)
{
    struct typed typed = { .quick = false };
    const struct cli_option option[] = {
        { "--json", &typed.json, NULL, "FILE|-  write the results as JSON; - is standard output, then without the table" },
        { "--case", &typed.only, NULL, "NAME  this case alone, as the table names it" },
        { "--quick", NULL, &typed.quick, "three batches, without the largest graphs: for a look, not for figures" },
        EXCLUSIVE_OPTIONS(typed.exclusive),
    };
    const struct cli_command command = {
        "bench", "submit|bind|dispatch [options]",
        "Measures what a submitted task (submit), a prepared run (bind) or a task on the device (dispatch) costs.\n\n"
        "case       the graph, or what of the call is varied\n"
        "workers    worker threads of the device\n"
        "median     of all batches, each the mean over 1 ms or more; the unit stands above the table\n"
        "p10, p90   a tenth of the batches is below the one, a tenth above the other: how far figures spread\n"
        "target     the figure to reach on a machine of two cores; - where there is none\n"
        "ratio      median / target: 1 or less has reached it\n"
        "cold       the first run of all, not part of the others", option, sizeof option / sizeof option[0]
    };
    return hbg__cli_run(&command, argc, argv, bench_line, &typed);
}
