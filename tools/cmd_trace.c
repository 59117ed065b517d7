/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg trace: what a trace says, and whether all of it is there.
 */
#include "command.h"

#include "cli.h"
#include "trace_rounds.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The command line as it was typed. */
struct typed {
    const char *skip, *json;
    bool rounds, tree;
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
        hbg__cli_error("trace", "`%s`: %zu of %zu sessions have no %s", path, unfinished, log->session_count,
                       log->session[log->session_count - 1].begun ? "end: the log was cut, or its process did not close the device" : "begin or no end: the log was cut");
    return !lost && !unfinished;
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

static int trace(const char *path, const struct typed *typed)
{
    uint64_t cold = 2;
    const char *wrong = typed->skip ? hbg__cli_u64(typed->skip, &cold) : NULL;
    struct trace_log log;
    struct trace_rounds rounds;
    bool good;

    if (wrong) {
        hbg__cli_error("trace", "--skip: `%s` %s", typed->skip, wrong);
        return CLI_MISUSED;
    }
    wrong = hbg__trace_log_read(&log, path);
    if (wrong) {
        hbg__cli_error("trace", "`%s` cannot be read: %s", path, wrong);
        return CLI_FAILED;
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
        good = print_all(&rounds, typed, cold);
        good = check_whole(path, &log) && good;
        hbg__trace_rounds_free(&rounds);
    }
    hbg__trace_log_free(&log);
    return good ? CLI_OK : CLI_FAILED;
}

int hbg__cmd_trace(int argc, char **argv)
{
    struct typed typed = { .skip = NULL };
    const struct cli_option option[] = {
        { "--skip", &typed.skip, NULL, "N      cold runs: the first N of a program in a session (2)" },
        { "--rounds", NULL, &typed.rounds, "     one line a run" },
        { "--tree", NULL, &typed.tree, "       every span of the first run of a program, and of a warm one" },
        { "--json", &typed.json, NULL, "FILE|- write all of it as JSON; - is standard output, then without the text" },
    };
    const struct cli_command command = {
        "trace", "FILE|- [options]", "Reads a trace: how long each phase of the runs took. Exits with 1 where records are missing.",
        option, sizeof option / sizeof *option,
    };
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    size_t count = 0;
    int status = CLI_MISUSED;

    if (!rest) {
        hbg__cli_error("trace", "no memory for the command line");
        return CLI_FAILED;
    }
    switch (hbg__cli_parse(&command, argc, argv, rest, &count)) {
    case CLI_HELP_SHOWN:
        status = CLI_OK;
        break;
    case CLI_PARSED:
        if (count == 1)
            status = trace(rest[0], &typed);
        else
            hbg__cli_error("trace", "%s", count ? "one trace at a time" : "a trace is needed: a file that HBG_TRACE_TO named, or - for standard input");
        break;
    case CLI_REFUSED:
        break;
    }
    free(rest);
    return status;
}
