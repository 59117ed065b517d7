/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg describe: the graph that a workload builds, in numbers and task by task.
 */
#include "command.h"

#include "cli.h"
#include "describe.h"
#include "descriptor.h"
#include "inputs.h"
#include "same_file.h"

#include <string.h>

/* The command line as it was typed. */
struct typed {
    const char *device, *format, *limit, *seed, *out;
    bool after_run, open;
};

typedef bool print_fn(FILE *file, const struct description *d, uint32_t limit);

static const struct { const char *name; print_fn *print; uint32_t limit; } formats[] = {
    { "text", hbg__describe_text, 20 },
    { "dot", hbg__describe_dot, 1000 },
    { "json", hbg__describe_json, 1000 },
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static int find_format(const char *name)
{
    const char *names[FORMAT_COUNT];
    char hint[160];

    for (int i = 0; i < FORMAT_COUNT; i++) {
        names[i] = formats[i].name;
        if (strcmp(name, formats[i].name) == 0)
            return i;
    }
    hbg__cli_error("describe", "--format: there is no format `%s`%s", name, hbg__cli_hint(name, names, FORMAT_COUNT, hint, sizeof hint));
    return -1;
}

static bool fails(enum hbg_status status, const char *step, const struct hbg_error *error)
{
    if (status == HBG_OK)
        return false;
    hbg__cli_error("describe", "%s: %s: %s", step, hbg_status_name(status), error && error->text[0] ? error->text : hbg_status_text(status));
    return true;
}

/* The run is prepared: executed if that is asked for, read, printed. */
static bool describe_run(struct description *d, const struct typed *typed, print_fn *print, uint32_t limit)
{
    struct cli_output output;
    bool good;

    if (typed->after_run && (fails(hbg_run_launch(d->run), "launch", NULL) || fails(hbg_run_wait(d->run, HBG_FOREVER), "run", NULL)))
        return false;
    if (fails(hbg__describe(d), "description", NULL))
        return false;
    if (!hbg__cli_output_open(&output, "describe", typed->out))
        return false;
    good = print(output.stream, d, limit);
    return hbg__cli_output_close(&output) && good;
}

static bool describe_program(struct description *d, struct hbg_program *program, const struct typed *typed, print_fn *print, uint32_t limit)
{
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options o = HBG_OPTIONS(run_options);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_setup *s = (struct hbg_setup *)d->setup;
    enum hbg_status status;
    bool good;

    o.error = &error;
    result.error = (struct hbg_error)HBG_OPTIONS(error);
    hbg__setup_rewind(s);
    if (fails(hbg_run_prepare(program, (struct hbg_arg_list){ s->arg, s->boundary_count }, &o, &d->run), "build", &error))
        return false;
    good = describe_run(d, typed, print, limit);
    hbg__describe_free(d);
    if (!typed->after_run)
        good = !fails(hbg_run_cancel(d->run), "cancel", NULL) && good;
    status = hbg_run_finish(d->run, &result);
    return good && (status == HBG_E_CANCELLED || !fails(status, "finish", &result.error));
}

static int describe_on_device(struct description *d, const struct typed *typed, print_fn *print, uint32_t limit)
{
    const struct hbg_workload *w = &d->setup->workload;
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_device_options device_options = HBG_OPTIONS(device_options);
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_program *program;
    struct hbg_device *device;
    enum hbg_status status;
    bool good;

    device_options.error = o.error = &error;
    status = hbg_device_open(typed->device, &device_options, &device);
    if (fails(status, "device", &error))
        return hbg__cli_device_status(status);
    o.name = w->name;
    o.build = w->build;
    o.params = d->setup->params;
    o.params_size = d->setup->params_size;
    o.kernels = w->kernels;
    o.kernel_count = w->kernel_count;
    good = !fails(hbg_program_create(device, &o, &program), "program", &error);
    if (good) {
        good = describe_program(d, program, typed, print, limit);
        hbg_program_destroy(program);
    }
    return !fails(hbg_device_close(device), "closing the device", NULL) && good ? CLI_OK : CLI_FAILED;
}

/* False: the output is one of the inputs, with the sentence printed. */
static bool files_apart(const char *name, const struct typed *typed, const char *const *assignment, size_t count)
{
    struct named_files files = { 0 };

    hbg__named_output(&files, "--out", NULL, typed->out);
    hbg__named_assignments(&files, assignment, count);
    if (hbg__descriptor_is_path(name))
        hbg__named_input(&files, "workload", name);
    return hbg__named_files_apart(&files, "describe");
}

static int describe(const char *name, const struct hbg_workload *workload, const struct typed *typed, const char *const *assignment, size_t count)
{
    int format = find_format(typed->format), status;
    uint64_t seed = 1, limit = format < 0 ? 0 : formats[format].limit;
    struct description d;
    struct hbg_setup *s;
    char text[160];

    if (format < 0 || !hbg__cli_take("describe", "--seed", typed->seed, 0, UINT64_MAX, &seed) ||
        !hbg__cli_take("describe", "--limit", typed->limit, 0, UINT32_MAX, &limit))
        return CLI_MISUSED;
    if (!files_apart(name, typed, assignment, count))
        return CLI_MISUSED;
    s = hbg__setup_create(workload, seed, text, sizeof text);
    if (!s) {
        hbg__cli_error("describe", "%s: %s", workload->name ? workload->name : "workload", text);
        return CLI_FAILED;
    }
    status = hbg__inputs_fill(s, "describe", assignment, count);
    if (status == CLI_OK) {
        memset(&d, 0, sizeof d);
        d.setup = s;
        d.device = typed->device;
        d.open = typed->open;
        status = describe_on_device(&d, typed, formats[format].print, (uint32_t)limit);
    }
    hbg__setup_destroy(s);
    return status;
}

static int describe_line(const void *typed, const char *const *rest, size_t count)
{
    const struct hbg_workload *workload;

    if (!count) {
        hbg__cli_error("describe", "a workload is needed; `hbg list` shows them");
        return CLI_MISUSED;
    }
    workload = hbg__inputs_find_workload("describe", rest[0]);
    return workload ? describe(rest[0], workload, typed, rest + 1, count - 1) : CLI_MISUSED;
}

int hbg__cmd_describe(int argc, char **argv)
{
    struct typed typed = { .device = "cpu", .format = "text", .out = "-" };
    const struct cli_option option[] = {
        { "--format", &typed.format, NULL, "F  text, dot or json (text)" },
        { "--limit", &typed.limit, NULL, "N  show so many tasks besides the numbers (text 20, dot and json 1000)" },
        { "--open", NULL, &typed.open, "show the nodes of submissions as well" },
        { "--after-run", NULL, &typed.after_run, "run the graph first; what is printed is the same" },
        { "--device", &typed.device, NULL, "SPEC  device to build for (cpu)" },
        { "--seed", &typed.seed, NULL, "S  seed of random inputs (1)" },
        { "--out", &typed.out, NULL, "FILE|-  write it there (-)" },
    };
    const struct cli_command command = {
        "describe", "WORKLOAD [key=value ...] [tensor=FILE.npy ...] [options]", "Shows the graph that a workload builds: sizes, degrees, and why each task waits for which.\n\n"
        "a task     bytes of the image by the number of tasks; shared: layouts of arguments and bytes of parameters, kept once for several\n"
        "history    what the host keeps to find edges, and sends nowhere\n"
        "storages   of it: arguments, buffers and intermediates; one that is used in equal cells has a table of them\n"
        "lists      of it: further readers of a cell, and uses that are no whole cells",
        option, sizeof option / sizeof *option,
    };
    return hbg__cli_run(&command, argc, argv, describe_line, &typed);
}
