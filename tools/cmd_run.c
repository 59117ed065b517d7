/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg run: one workload, its rounds, its verification, its report.
 */
#include "command.h"

#include "cli.h"
#include "crash.h"
#include "exclusive.h"
#include "descriptor.h"
#include "inputs.h"
#include "progress.h"
#include "run.h"
#include "same_file.h"
#include "tensor_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The command line as it was typed. */
struct typed {
    const char *device, *rounds, *warmup, *seed, *replay, *json, *out, *out_npy, *trace, *trace_level;
    bool verify, explain;
    struct exclusive_typed exclusive;
};

/* The output files asked for. */
struct outputs {
    struct cli_output json, out;
    struct tensor_outputs tensors;      /* written only if all went well */
    bool has_json, has_out, quiet;      /* quiet: standard output belongs to the JSON or the CSV */
};

static bool take_trace(const struct typed *typed, struct run_request *request)
{
    static const char *const name[] = { "run", "phase", "task" };
    static const enum hbg_trace_level level[] = { HBG_TRACE_RUN, HBG_TRACE_PHASE, HBG_TRACE_TASK };
    enum { LEVELS = sizeof level / sizeof *level };

    if (!typed->trace) {
        if (typed->trace_level)
            hbg__cli_error("run", "--trace-level says how much is traced, and --trace FILE is missing");
        return !typed->trace_level;
    }
    if (strcmp(typed->trace, "-") == 0) {
        hbg__cli_error("run", "--trace: `-` is no file; name one, and give it to `hbg trace`");
        return false;
    }
    request->trace_to = typed->trace;
    request->trace = HBG_TRACE_PHASE;
    for (int i = 0; typed->trace_level; i++) {
        if (i == LEVELS) {
            char hint[160];
            hbg__cli_error("run", "--trace-level: there is no level `%s`%s", typed->trace_level, hbg__cli_hint(typed->trace_level, name, LEVELS, hint, sizeof hint));
            return false;
        }
        request->trace = level[i];
        if (strcmp(name[i], typed->trace_level) == 0)
            break;
    }
    return true;
}

static bool trace_is_file(const char *to)
{
    return to && strcmp(to, "stderr") != 0 && strcmp(to, "log") != 0 && !strchr(to, '%');
}

/* A trace appends; one that is asked for by name begins anew. False: it cannot be written, with the sentence printed. */
static bool empty_trace(const struct run_request *request)
{
    FILE *file;

    if (!trace_is_file(request->trace_to))
        return true;
    file = fopen(request->trace_to, "w");
    if (file && fclose(file) == 0)
        return true;
    hbg__cli_error("run", "`%s` cannot be written: %s", request->trace_to, strerror(errno));
    return false;
}

/* False, with the sentence: the trace that was asked for ends before its last record. What is no regular file is believed. */
static bool trace_whole(const char *to)
{
    char text[4097] = "";
    struct stat there;
    FILE *file = trace_is_file(to) && stat(to, &there) == 0 && S_ISREG(there.st_mode) ? fopen(to, "re") : NULL;
    size_t size;

    if (!file)
        return true;
    if (fseek(file, -(long)(sizeof text - 1), SEEK_END) != 0)
        rewind(file);
    size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    if (strstr(text, " name=trace.end ") && strstr(text, " dropped=0 "))
        return true;
    hbg__cli_error("run", "the trace `%s` was not written whole", to);
    return false;
}

static bool take_request(const struct typed *typed, struct run_request *request, uint64_t *seed)
{
    enum { ROUNDS_MOST = 1000000000 };

    request->replay = strcmp(typed->replay, "on") == 0;
    request->compares = request->replay || strcmp(typed->replay, "compare") == 0;
    if (!request->compares && strcmp(typed->replay, "off") != 0) {
        hbg__cli_error("run", "--replay: `%s` is none of on, compare, off", typed->replay);
        return false;
    }
    request->device = typed->device;
    request->verify = typed->verify;
    request->explain = typed->explain;
    return take_trace(typed, request) && hbg__cli_take("run", "--seed", typed->seed, 0, UINT64_MAX, seed) &&
           hbg__cli_take("run", "--rounds", typed->rounds, 1, ROUNDS_MOST, &request->rounds) &&
           hbg__cli_take("run", "--warmup", typed->warmup, 0, ROUNDS_MOST, &request->warmup);
}

static bool prepare_reference(struct hbg_setup *s, struct verdict *verdict)
{
    struct progress progress;
    bool good;

    hbg__progress_begin(&progress, "reference", 0);
    hbg__progress_announce(&progress);
    hbg__crash_inside("golden");
    good = hbg__verify_prepare(s, verdict);
    hbg__crash_inside(NULL);
    hbg__progress_end(&progress);
    return good;
}

/* reference, rounds, report; the sentence of what fails is printed */
static bool run_workload(struct hbg_setup *s, const struct run_request *request, struct run_outcome *outcome)
{
    bool good = (!request->verify || prepare_reference(s, &outcome->verdict)) && hbg__rounds_run(s, request, outcome);

    hbg__crash_inside("report");
    if (good && s->workload.report && s->workload.report(s) != 0)
        hbg_setup_fail(s, "its report could not be made");
    hbg__crash_inside(NULL);
    if (s->failed)
        hbg__cli_error("run", "%s: %s", s->workload.name, s->text);
    else if (!good)
        hbg__cli_error("run", "%s: %s: %s: %s", s->workload.name, outcome->step, hbg_status_name(outcome->status), outcome->error.text);
    else if (request->verify && !outcome->verdict.verified)
        hbg__cli_error("run", "%s: not verified: %s", s->workload.name, outcome->verdict.text);
    return good && !s->failed && (!request->verify || outcome->verdict.verified);
}

/* CLI_OK, or the exit status with the sentence printed */
static int open_outputs(const struct typed *typed, struct hbg_setup *s, struct outputs *o)
{
    char text[480];
    bool misused;

    if (!hbg__tensor_outputs_take(&o->tensors, s, typed->out_npy, &misused, text, sizeof text)) {
        hbg__cli_error("run", "%s", text);
        return misused ? CLI_MISUSED : CLI_FAILED;
    }
    if (typed->json && !(o->has_json = hbg__cli_output_open(&o->json, "run", typed->json)))
        return CLI_FAILED;
    if (typed->out && !(o->has_out = hbg__cli_output_open(&o->out, "run", typed->out))) {
        if (o->has_json)
            hbg__cli_output_close(&o->json);
        return CLI_FAILED;
    }
    o->quiet = (o->has_json && o->json.stream == stdout) || (o->has_out && o->out.stream == stdout);
    return CLI_OK;
}

/* Text and CSV are of a finished run; the JSON also tells how one failed. */
static bool print_outputs(struct outputs *o, const struct hbg_setup *s, const struct run_request *request,
                          const struct run_outcome *outcome)
{
    bool finished = outcome->status == HBG_OK && !s->failed, good = true;

    if (!o->quiet && finished)
        hbg__run_print_text(s, request, outcome);
    if (o->has_out) {
        if (finished)
            hbg__run_print_csv(o->out.stream, s);
        good = hbg__cli_output_close(&o->out);
    }
    if (o->has_json) {
        good = hbg__run_print_json(o->json.stream, s, request, outcome) && good;
        good = hbg__cli_output_close(&o->json) && good;
    }
    return good;
}

/* what the workload cannot do, told before anything is computed */
static bool request_fits(const struct hbg_workload *workload, const struct typed *typed)
{
    if (typed->verify && !workload->golden)
        hbg__cli_error("run", "workload %s has no reference: --verify cannot be done", workload->name);
    else if (typed->verify && strncmp(typed->device, "null", 4) == 0 && strchr(":", typed->device[4]))
        hbg__cli_error("run", "the device null calls no kernels: there is nothing to verify");
    else if (typed->out && !workload->report)
        hbg__cli_error("run", "workload %s reports no table: --out has nothing to write", workload->name);
    else
        return true;
    return false;
}

/* False: two of the files are one, with the sentence printed. */
static bool files_apart(const char *name, const struct typed *typed, const char *const *assignment, size_t count)
{
    struct named_files files = { 0 };
    char *list = typed->out_npy ? strdup(typed->out_npy) : NULL;
    bool apart;

    hbg__named_output(&files, "--json", NULL, typed->json);
    hbg__named_output(&files, "--out", NULL, typed->out);
    if (trace_is_file(typed->trace))
        hbg__named_output(&files, "--trace", NULL, typed->trace);
    if (!typed->trace && getenv("HBG_TRACE") && trace_is_file(getenv("HBG_TRACE_TO")))
        hbg__named_output(&files, "HBG_TRACE_TO", NULL, getenv("HBG_TRACE_TO"));
    if (list)
        hbg__named_output_list(&files, "--out-npy", list);
    hbg__named_assignments(&files, assignment, count);
    if (hbg__descriptor_is_path(name))
        hbg__named_input(&files, "workload", name);
    hbg__named_standard_output(&files);
    apart = hbg__named_files_apart(&files, "run");
    free(list);
    return apart;
}

static bool write_tensors(struct outputs *o)
{
    char text[480];
    bool good = hbg__tensor_outputs_write(&o->tensors, text, sizeof text);

    if (!good)
        hbg__cli_error("run", "%s", text);
    return good;
}

/* the runs of a workload whose inputs stand, and what is told of them */
static int run_filled(struct hbg_setup *s, const struct typed *typed, const struct run_request *request)
{
    struct run_outcome outcome;
    struct outputs outputs;
    int status;
    bool good;

    memset(&outcome, 0, sizeof outcome);
    memset(&outputs, 0, sizeof outputs);
    status = empty_trace(request) ? open_outputs(typed, s, &outputs) : CLI_FAILED;
    if (status == CLI_OK) {
        good = run_workload(s, request, &outcome);
        good = print_outputs(&outputs, s, request, &outcome) && trace_whole(request->trace_to) && good && write_tensors(&outputs);
        if (!good)
            status = outcome.step && strcmp(outcome.step, "device") == 0 ? hbg__cli_device_status(outcome.status) : CLI_FAILED;
    }
    hbg__tensor_outputs_release(&outputs.tensors);
    return status;
}

static int run(const char *name, const struct hbg_workload *workload, const struct typed *typed, const char *const *assignment, size_t count)
{
    struct run_request request = { .rounds = 10, .warmup = 2 };
    struct hbg_setup *s;
    uint64_t seed = 1;
    char text[160];
    int status;

    if (!take_request(typed, &request, &seed) || !request_fits(workload, typed) || !files_apart(name, typed, assignment, count))
        return CLI_MISUSED;
    status = hbg__exclusive_take(&typed->exclusive, "run", typed->device);
    if (status != CLI_OK)
        return status;
    s = hbg__setup_create(workload, seed, text, sizeof text);
    if (!s) {
        hbg__cli_error("run", "%s: %s", workload->name ? workload->name : "workload", text);
        hbg__exclusive_end();
        return CLI_FAILED;
    }
    status = hbg__inputs_fill(s, "run", assignment, count);
    if (status == CLI_OK)
        status = run_filled(s, typed, &request);
    hbg__setup_destroy(s);
    hbg__exclusive_end();
    return status;
}

static int run_line(const void *typed, const char *const *rest, size_t count)
{
    const struct hbg_workload *workload;

    if (!count) {
        hbg__cli_error("run", "a workload is needed; `hbg list` shows them");
        return CLI_MISUSED;
    }
    workload = hbg__inputs_find_workload("run", rest[0]);
    return workload ? run(rest[0], workload, typed, rest + 1, count - 1) : CLI_MISUSED;
}

int hbg__cmd_run(int argc, char **argv)
{
    struct typed typed = { .device = "cpu", .replay = "on" };
    const struct cli_option option[] = {
        { "--device", &typed.device, NULL, "SPEC  device, e.g. cpu:workers=2,memory=discrete (cpu)" },
        { "--rounds", &typed.rounds, NULL, "N  timed rounds (10)" },
        { "--warmup", &typed.warmup, NULL, "N  rounds before them (2)" },
        { "--replay", &typed.replay, NULL, "on|compare|off  compare: every round is built, and compared with the last one; off: from the start (on)" },
        { "--verify", NULL, &typed.verify, "compare with the reference, and all rounds bit by bit" },
        { "--explain", NULL, &typed.explain, "say why runs were built rather than replayed, and bodies recorded" },
        { "--seed", &typed.seed, NULL, "S  seed of random inputs (1)" },
        { "--json", &typed.json, NULL, "FILE|-  write the outcome as JSON; - is standard output, then without the text" },
        { "--out", &typed.out, NULL, "FILE|-  write the workload's table as CSV" },
        { "--trace", &typed.trace, NULL, "FILE  write a trace of all runs; `hbg trace FILE` reads it" },
        { "--trace-level", &typed.trace_level, NULL, "run|phase|task  how much of them (phase)" },
        EXCLUSIVE_OPTIONS(typed.exclusive),
        { "--out-npy", &typed.out_npy, NULL, "NAME=FILE[,..]  write tensors as .npy files, if all went well" },
    };
    const struct cli_command command = {
        "run", "WORKLOAD [key=value ...] [tensor=FILE.npy ...] [options]",
        "Runs a workload; `hbg list` shows the workloads and their parameters. A tensor of its inputs can be given as a file of numpy.",
        option, sizeof option / sizeof *option,
    };
    return hbg__cli_run(&command, argc, argv, run_line, &typed);
}
