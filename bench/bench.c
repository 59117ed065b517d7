/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - the command line of `hbg bench`. */
#include "bench/suite.h"

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

/* NULL and *all for "all"; NULL with a sentence for what there is not. */
static const struct bench_entry *find_bench(const char *name, bool *all)
{
    const char *names[SUITE_MAX] = { "all" };
    size_t count = 1;
    char hint[160];
    *all = strcmp(name, "all") == 0;
    for (const struct bench_entry *entry = hbg__bench_entries; entry->name && !*all; entry++) {
        names[count++] = entry->name;
        if (strcmp(name, entry->name) == 0) return entry;
    }
    if (!*all) hbg__cli_error("bench", "there is no bench `%s`%s", name, hbg__cli_hint(name, names, count, hint, sizeof hint));
    return NULL;
}

/* There is no case of that name in what was asked for; says which there are. */
static void refuse_case(const struct bench *how, const struct bench_suite *suite)
{
    hbg__cli_error("bench", "there is no case `%s`", how->only);
    for (size_t i = 0; i < suite->count; i++) {
        const struct bench *b = suite->bench[i];
        int length = (int)strlen(b->others);
        if (length > 2) fprintf(stderr, "  %s has %.*s\n", b->name, length - 2, b->others);
    }
}

/* Measures and prints. The file is opened before the time is spent. */
static int run_bench(const struct bench *how, const struct bench_entry *entry, const char *json)
{
    struct cli_output output;
    struct bench_machine machine;
    struct bench_suite suite = { .count = 0 };
    bool to_stdout = json && strcmp(json, "-") == 0;
    if (json && !hbg__cli_output_open(&output, "bench", json)) return CLI_FAILED;
    hbg__bench_machine_get(&machine);
    bool good = hbg__bench_suite_run(&suite, how, entry, !to_stdout), none = good && !suite.has_cases;
    hbg__bench_machine_get_after(&machine);
    if (none) refuse_case(how, &suite);
    else if (good && !to_stdout) hbg__bench_print_machine(&machine);
    if (good && !none && json) good = hbg__bench_suite_print_json(output.stream, &suite, &machine);
    if (json) good = hbg__cli_output_close(&output) && good;
    hbg__bench_suite_free(&suite);
    return none ? CLI_MISUSED : good ? CLI_OK : CLI_FAILED;
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

/* Options of metg alone: given to another bench they would do nothing. False: said so. */
static bool fits(const char *name, const struct typed *typed)
{
    const char *option = typed->kernel ? "--kernel" : typed->width ? "--width" : typed->steps ? "--steps" : typed->radix ? "--radix" : NULL;
    if (!option || strcmp(name, "metg") == 0 || strcmp(name, "all") == 0) return true;
    hbg__cli_error("bench", "%s is for metg, and %s is measured", option, name);
    return false;
}

static int measure(const char *name, const struct typed *typed)
{
    static struct bench how;
    bool all;
    const struct bench_entry *entry = find_bench(name, &all);
    struct named_files files = { 0 };
    if ((!entry && !all) || !fits(name, typed)) return CLI_MISUSED;
    hbg__named_output(&files, "--json", NULL, typed->json);
    hbg__named_standard_output(&files);
    if (!hbg__named_files_apart(&files, "bench") || !take_options(&how, typed)) return CLI_MISUSED;
    int status = hbg__exclusive_take(&typed->exclusive, "bench", "cpu");
    if (status == CLI_OK) status = run_bench(&how, entry, typed->json);
    hbg__exclusive_end();
    return status;
}

static int bench_line(const void *given, const char *const *rest, size_t count)
{
    if (count == 1) return measure(rest[0], given);
    hbg__cli_error("bench", count ? "`%s` is one argument too many" : "one of submit, bind, dispatch, metg, replay, real, model and all is needed%s", count ? rest[1] : "");
    return CLI_MISUSED;
}

int hbg__bench_main(int argc, char **argv)
{
    struct typed typed = { .quick = false };
    const struct cli_option option[] = {
        { "--json", &typed.json, NULL, "FILE|-  write the results as JSON; - is standard output, then without the table" },
        { "--case", &typed.only, NULL, "NAME  this case alone, as the table names it" },
        { "--quick", NULL, &typed.quick, "three batches, without the largest graphs: for a look, not for figures" },
        { "--rivals", NULL, &typed.rivals, "other runtimes beside hbg, those that are built" },
        { "--kernel", &typed.kernel, NULL, "compute|memory  what the tasks of metg do (compute)" },
        { "--width", &typed.width, NULL, "N  points of a step of metg's graphs (8)" },
        { "--steps", &typed.steps, NULL, "N  their steps (500)" },
        { "--radix", &typed.radix, NULL, "N  points that nearest, spread and random_nearest read (5)" },
        EXCLUSIVE_OPTIONS(typed.exclusive),
    };
    const struct cli_command command = {
        "bench", "submit|bind|dispatch|metg|replay|real|model|all [options]",
        "Measures what a submitted task (submit), a prepared run (bind), a task on the device (dispatch) or a subgraph (replay)\n"
        "costs, and how long tasks must be for half of the time to be theirs (metg: METG(50 %), the measure of Task Bench),\n"
        "and how fast tiled factorisations and products are (real: GFLOP/s). model is an experiment: what shipping capacity costs\n"
        "beside shipping what is used (docs/experiments).\n\n"
        "case       the graph, or what of the call is varied; docs/benchmarks.md explains those of replay\n"
        "workers    worker threads of the device\n"
        "median     of all batches, each the mean over 1 ms or more, or of all searches of metg; the unit stands above the table\n"
        "p10, p90   a tenth of the batches is below the one, a tenth above the other: how far figures spread\n"
        "target     the figure to reach on a quiet machine of two cores; - where there is none\n"
        "ratio      median / target: 1 or less has reached it\n"
        "cold       the first run of all, not part of the others", option, sizeof option / sizeof option[0]
    };
    return hbg__cli_run(&command, argc, argv, bench_line, &typed);
}
