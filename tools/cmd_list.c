/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg list: the workloads, what they do, and their parameters with defaults; of one, what its parameters mean, and with --tensors
 * what its inputs declare, for which they are made.
 */
#include "command.h"

#include "cli.h"
#include "descriptor.h"
#include "inputs.h"
#include "table.h"
#include "workloads/workloads.h"

#include <stdio.h>
#include <string.h>

enum { INDENT = 4, LINE_WIDTH = 110, WIDEST = 32 };       /* WIDEST: a parameter that helps are lined up behind */

/* "a=1 b=2 ..", broken where a line would be too long */
static void print_params(const char *const *params)
{
    struct param_text param;
    int used = 0;

    for (size_t i = 0; params && params[i] && hbg__param_read(params[i], &param); i++) {
        int length = (int)(param.name_length + 1 + param.usual_length);
        if (used && used + 1 + length > LINE_WIDTH) {
            putchar('\n');
            used = 0;
        }
        used += printf("%*s%.*s", used ? 1 : INDENT, "", length, param.name);
    }
    if (used)
        putchar('\n');
}

static void print_all(void)
{
    for (size_t i = 0; hbg__workloads[i]; i++) {
        printf("%s%s\n    %s\n", i ? "\n" : "", hbg__workloads[i]->name, hbg__workloads[i]->doc);
        print_params(hbg__workloads[i]->params);
    }
}

/* one line a parameter, and whether the workload can be verified */
static void print_one(const struct hbg_workload *w)
{
    struct param_text param;
    int width = 0;

    printf("%s\n    %s\n", w->name, w->doc);
    for (size_t i = 0; w->params && w->params[i] && hbg__param_read(w->params[i], &param); i++) {
        int length = (int)(param.name_length + 1 + param.usual_length);
        if (width < length && length <= WIDEST)
            width = length;
    }
    for (size_t i = 0; w->params && w->params[i] && hbg__param_read(w->params[i], &param); i++) {
        int length = (int)(param.name_length + 1 + param.usual_length);
        printf("%*s%.*s", INDENT, "", length, param.name);
        if (*param.help)
            printf("%*s  %s", width > length ? width - length : 0, "", param.help);
        putchar('\n');
    }
    if (!w->golden)
        printf("%*sno reference: it cannot be verified\n", INDENT, "");
}

static void print_declared(const struct hbg_setup *s)
{
    static const char *const access[] = { "", "in", "out", "inout" };
    char dtype[64], descr[32], shape[160];
    int width = 0;

    for (size_t i = 0; i < s->boundary_count; i++) {
        int length = s->tensor[i].name ? (int)strlen(s->tensor[i].name) : 0;
        if (width < length && length <= WIDEST)
            width = length;
    }
    for (size_t i = 0; i < s->boundary_count; i++) {
        const struct setup_tensor *t = &s->tensor[i];
        if (t->name)
            printf("%*s%-*s  %-5s  %-4s  %s  numpy: %s\n", INDENT, "", width, t->name, access[t->access], hbg__table_dtype(t->dtype, dtype),
                   hbg__npy_shape(&t->shape, shape), hbg__npy_descr(t->dtype, descr, sizeof descr));
    }
}

/* one line a tensor, with the parameters given; CLI_OK, or the exit status with the sentence printed */
static int print_tensors(const struct hbg_workload *w, const char *const *assignment, size_t count)
{
    char text[160];
    struct hbg_setup *s = hbg__setup_create(w, 1, text, sizeof text);
    int status;

    if (!s) {
        hbg__cli_error("list", "%s: %s", w->name ? w->name : "workload", text);
        return CLI_FAILED;
    }
    status = hbg__inputs_fill(s, "list", assignment, count);
    if (status == CLI_OK)
        print_declared(s);
    hbg__setup_destroy(s);
    return status;
}

static int list_line(const void *typed, const char *const *rest, size_t count)
{
    const bool *tensors = typed;
    const struct hbg_workload *workload;

    if (*tensors && !count) {
        hbg__cli_error("list", "--tensors shows those of one workload, and its name is missing");
        return CLI_MISUSED;
    }
    if (count > 1 && !*tensors) {
        hbg__cli_error("list", "`%s` is one argument too many", rest[1]);
        return CLI_MISUSED;
    }
    if (!count) {
        print_all();
        return CLI_OK;
    }
    workload = hbg__inputs_find_workload("list", rest[0]);
    if (!workload)
        return CLI_MISUSED;
    if (*tensors)
        return print_tensors(workload, rest + 1, count - 1);
    print_one(workload);
    printf("%*stensors: hbg list %s --tensors\n", INDENT, "", rest[0]);
    return CLI_OK;
}

int hbg__cmd_list(int argc, char **argv)
{
    bool tensors = false;
    const struct cli_option option[] = { { "--tensors", NULL, &tensors, "of a WORKLOAD, which makes its inputs for it: names, in or out, types and shapes" } };
    const struct cli_command command = {
        "list", "[WORKLOAD [--tensors [key=value ...] [tensor=FILE.npy ...]]]", "Lists the workloads of `hbg run`; with a name or the path of a shared object, what its parameters mean.",
        option, 1,
    };

    return hbg__cli_run(&command, argc, argv, list_line, &tensors);
}
