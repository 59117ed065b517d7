/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg list: the workloads, what they do, and their parameters with defaults; of one, what its parameters mean.
 */
#include "command.h"

#include "cli.h"
#include "descriptor.h"
#include "inputs.h"
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

static int list_line(const void *typed, const char *const *rest, size_t count)
{
    const struct hbg_workload *workload;

    (void)typed;
    if (count > 1) {
        hbg__cli_error("list", "`%s` is one argument too many", rest[1]);
        return CLI_MISUSED;
    }
    if (!count) {
        print_all();
        return CLI_OK;
    }
    workload = hbg__inputs_find_workload("list", rest[0]);
    if (workload)
        print_one(workload);
    return workload ? CLI_OK : CLI_MISUSED;
}

int hbg__cmd_list(int argc, char **argv)
{
    static const struct cli_command command = {
        "list", "[WORKLOAD]", "Lists the workloads of `hbg run`; with a name or the path of a shared object, what its parameters mean.", NULL, 0,
    };

    return hbg__cli_run(&command, argc, argv, list_line, NULL);
}
