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
#include <stdlib.h>
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

int hbg__cmd_list(int argc, char **argv)
{
    static const struct cli_command command = {
        "list", "[WORKLOAD]", "Lists the workloads of `hbg run`; with a name or the path of a shared object, what its parameters mean.", NULL, 0,
    };
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    const struct hbg_workload *workload;
    size_t count = 0;
    enum cli_outcome outcome = rest ? hbg__cli_parse(&command, argc, argv, rest, &count) : CLI_REFUSED;
    int status = cli_outcome_status(outcome);

    if (!rest) {
        hbg__cli_error("list", "no memory for the command line");
        status = CLI_FAILED;
    } else if (outcome == CLI_PARSED && count > 1) {
        hbg__cli_error("list", "`%s` is one argument too many", rest[1]);
        status = CLI_MISUSED;
    } else if (outcome == CLI_PARSED && !count) {
        print_all();
    } else if (outcome == CLI_PARSED) {
        workload = hbg__inputs_find_workload("list", rest[0]);
        status = workload ? CLI_OK : CLI_MISUSED;
        if (workload)
            print_one(workload);
    }
    free(rest);
    return status;
}
