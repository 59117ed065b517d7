/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg trace: what a trace says, and whether all of it is there.
 */
#include "command.h"

#include "base/plural.h"
#include "cli.h"
#include "same_file.h"
#include "trace_graph.h"
#include "trace_page.h"
#include "trace_perfetto.h"
#include "trace_rounds.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The command line as it was typed. */
struct typed {
    const char *skip, *json, *perfetto, *flows, *run, *page;
    bool rounds, tree, critical_path, overlap;
};

/* False, with a sentence: something of the trace is missing. */
static bool check_whole(const char *path, const struct trace_log *log)
{
    uint64_t lost = hbg__trace_log_lost(log), dropped = 0;
    size_t unfinished = hbg__trace_log_unfinished(log);

    for (size_t i = 0; i < log->session_count; i++)
        dropped += log->session[i].dropped;
    if (lost)
        hbg__cli_error("trace", "`%s`: %s%" PRIu64 " %s lost: %" PRIu64 " torn, %" PRIu64 " that could not be written", path,
                       unfinished ? "at least " : "", lost, lost == 1 ? "record is" : "records are", log->torn, dropped);
    if (unfinished)
        hbg__cli_error("trace", "`%s`: %zu of %zu session%s %s no %s", path, unfinished, log->session_count, hbg__s(log->session_count), hbg__has(unfinished),
                       log->session[log->session_count - 1].begun ? "end: the log was cut, or its process did not close the device" : "begin or no end: the log was cut");
    return !lost && !unfinished;
}

/* The round whose path is asked for: that run, else the warm one next to the median. NULL: there is none. */
static const struct trace_round *choose_round(const struct trace_rounds *t, uint64_t run)
{
    const struct trace_round *best = NULL;
    uint64_t nearest = UINT64_MAX;

    for (size_t i = 0; i < t->round_count; i++) {
        const struct trace_round *round = &t->round[i];
        const struct trace_program *p = &t->program[round->program];
        uint64_t median = p->phase_count ? p->phase[0].median : 0, length = round->end - round->begin, off = length > median ? length - median : median - length;

        if (run ? round->invocation == run : !round->cold && off < nearest) {
            best = round;
            nearest = off;
            if (run)
                break;
        }
    }
    return best || run || !t->round_count ? best : &t->round[t->round_count - 1];
}

static bool print_path(const struct trace_rounds *rounds, const struct typed *typed, uint64_t run)
{
    const struct trace_round *round = choose_round(rounds, run);
    const char *wrong = round ? NULL : "it is not in the trace";
    struct trace_graph graph;
    struct trace_path path;
    struct cli_output output;
    bool good;

    if (!wrong)
        wrong = hbg__trace_graph_make(&graph, rounds, round);
    if (wrong) {
        hbg__cli_error("trace", "run %" PRIu64 " has no critical path: %s", round ? round->invocation : run, wrong);
        return false;
    }
    good = hbg__trace_path_make(&path, &graph);
    if (good && (!typed->json || strcmp(typed->json, "-") != 0))
        hbg__trace_path_print(stdout, &graph, &path, round->invocation);
    if (good && typed->json) {
        good = hbg__cli_output_open(&output, "trace", typed->json);
        if (good) {
            good = hbg__trace_path_json(output.stream, &graph, &path, round->invocation);
            good = hbg__cli_output_close(&output) && good;
        }
    }
    free(path.step);
    hbg__trace_graph_free(&graph);
    return good;
}

static bool write_perfetto(const struct trace_rounds *rounds, const char *path, uint64_t flows)
{
    struct cli_output output;
    uint64_t drawn = 0, edges = 0;
    bool good;

    if (!hbg__cli_output_open(&output, "trace", path))
        return false;
    good = hbg__trace_perfetto(output.stream, rounds, flows, &drawn, &edges);
    good = hbg__cli_output_close(&output) && good;
    if (good && flows && drawn < edges)
        hbg__cli_error("trace", "%" PRIu64 " of %" PRIu64 " edges are drawn", drawn, edges);
    return good;
}

static bool write_page(const struct trace_rounds *rounds, const char *path)
{
    struct cli_output output;
    bool good;

    if (!hbg__cli_output_open(&output, "trace", path))
        return false;
    good = hbg__trace_page(output.stream, rounds);
    return hbg__cli_output_close(&output) && good;
}

static bool print_all(const struct trace_rounds *rounds, const struct typed *typed, uint64_t cold)
{
    struct cli_output output;
    bool good;

    if (!typed->json || strcmp(typed->json, "-") != 0)
        hbg__trace_print(stdout, rounds, &(struct trace_wish){ .rounds = typed->rounds, .tree = typed->tree });
    if (!typed->json)
        return true;
    if (!hbg__cli_output_open(&output, "trace", typed->json))
        return false;
    good = hbg__trace_print_json(output.stream, rounds, cold);
    return hbg__cli_output_close(&output) && good;
}

/* False: two of the files are one, with the sentence printed. */
static bool files_apart(const char *path, const struct typed *typed)
{
    struct named_files files = { 0 };

    hbg__named_output(&files, "--json", NULL, typed->json);
    hbg__named_output(&files, "--perfetto", NULL, typed->perfetto);
    hbg__named_output(&files, "--page", NULL, typed->page);
    if (strcmp(path, "-") != 0)
        hbg__named_input(&files, "trace", path);
    hbg__named_standard_output(&files);
    return hbg__named_files_apart(&files, "trace");
}

/* The tables of the phases: what is printed unless something else is asked for. */
static bool prints_phases(const struct typed *typed)
{
    return !typed->critical_path && (!(typed->perfetto || typed->page) || typed->json || typed->rounds || typed->tree);
}

/* True, with the sentence: an option stands there that would change nothing. */
static bool has_idle_option(const struct typed *typed)
{
    const char *text = typed->rounds ? "--rounds" : typed->tree ? "--tree" : NULL;

    if (typed->run && !typed->critical_path)
        hbg__cli_error("trace", "--run says of which run the critical path is, and --critical-path is missing");
    else if (typed->flows && !typed->perfetto)
        hbg__cli_error("trace", "--flows draws arrows into trace events, and --perfetto FILE is missing");
    else if (text && typed->critical_path)
        hbg__cli_error("trace", "%s adds to the phases, and --critical-path stands instead of them", text);
    else if (text && typed->json && strcmp(typed->json, "-") == 0)
        hbg__cli_error("trace", "%s adds to the text, and --json - leaves the text out; the JSON has every run with all spans", text);
    else if (typed->skip && !typed->overlap && !prints_phases(typed) && (typed->run || !typed->critical_path))
        hbg__cli_error("trace", "--skip says which runs are cold, and nothing of what is asked for looks at that");
    else
        return false;
    return true;
}

static int trace(const char *path, const struct typed *typed)
{
    uint64_t cold = 2, flows = 0, run = 0;
    const char *wrong = NULL;
    struct trace_log log;
    struct trace_rounds rounds;
    bool good;

    if (!hbg__cli_take("trace", "--skip", typed->skip, 0, UINT64_MAX, &cold) || !hbg__cli_take("trace", "--flows", typed->flows, 0, UINT64_MAX, &flows) ||
        !hbg__cli_take("trace", "--run", typed->run, 1, UINT64_MAX, &run))
        return CLI_MISUSED;
    if (has_idle_option(typed) || !files_apart(path, typed))
        return CLI_MISUSED;
    wrong = hbg__trace_log_read(&log, path);
    if (wrong) {
        hbg__cli_error("trace", "`%s` cannot be read: %s", path, wrong);
        return hbg__cli_missing(path) ? CLI_MISUSED : CLI_FAILED;
    }
    if (!log.record_count) {
        hbg__cli_error("trace", "`%s` holds no record of a trace%s", path, log.torn ? " that is whole" : "");
        hbg__trace_log_free(&log);
        return CLI_FAILED;
    }
    good = hbg__trace_rounds_make(&rounds, &log, cold);
    if (!good)
        hbg__cli_error("trace", "no memory for the records of `%s`", path);
    else {
        good = typed->critical_path ? print_path(&rounds, typed, run) : !prints_phases(typed) || print_all(&rounds, typed, cold);
        if (typed->overlap && !hbg__trace_overlap(typed->json && strcmp(typed->json, "-") == 0 ? stderr : stdout, &rounds)) {
            hbg__cli_error("trace", "the runs of `%s` do not overlap as they should", path);
            good = false;
        }
        if (typed->perfetto)
            good = write_perfetto(&rounds, typed->perfetto, flows) && good;
        if (typed->page)
            good = write_page(&rounds, typed->page) && good;
        good = check_whole(path, &log) && good;
        hbg__trace_rounds_free(&rounds);
    }
    hbg__trace_log_free(&log);
    return good ? CLI_OK : CLI_FAILED;
}

static int trace_line(const void *typed, const char *const *rest, size_t count)
{
    if (count == 1)
        return trace(rest[0], typed);
    hbg__cli_error("trace", "%s", count ? "one trace at a time" : "a trace is needed: a file that HBG_TRACE_TO named, or - for standard input");
    return CLI_MISUSED;
}

int hbg__cmd_trace(int argc, char **argv)
{
    struct typed typed = { .skip = NULL };
    const struct cli_option option[] = {
        { "--skip", &typed.skip, NULL, "N  cold runs: the first N of a program in a session (2)" },
        { "--rounds", NULL, &typed.rounds, "one line a run" },
        { "--tree", NULL, &typed.tree, "every span of the first run of a program, and of a warm one" },
        { "--critical-path", NULL, &typed.critical_path, "why a run's device time was as long as it was, instead of the phases" },
        { "--run", &typed.run, NULL, "N  with --critical-path: of this run; otherwise of the warm one next to the median" },
        { "--perfetto", &typed.perfetto, NULL, "FILE|-  write trace events for ui.perfetto.dev, instead of the phases" },
        { "--page", &typed.page, NULL, "FILE|-  write a page for a browser: a timeline that zooms and says why each task began, instead of the phases" },
        { "--flows", &typed.flows, NULL, "N  with --perfetto: arrows for the first N edges (0)" },
        { "--assert-overlap", NULL, &typed.overlap, "fail unless most warm runs were prepared while the device worked for one before, and none was on the device with another" },
        { "--json", &typed.json, NULL, "FILE|-  write all of it as JSON; - is standard output, then without the text" },
    };
    const struct cli_command command = {
        "trace", "FILE|- [options]", "Reads a trace: how long each phase of the runs took. Exits with 1 where records are missing.",
        option, sizeof option / sizeof *option,
    };
    return hbg__cli_run(&command, argc, argv, trace_line, &typed);
}
