/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg list: the workloads, what they do, and their parameters with defaults.
 */
#include "command.h"

#include "cli.h"
#include "workloads/workloads.h"

#include <stdio.h>
#include <string.h>

enum { INDENT = 4, LINE_WIDTH = 110 };

/* "a=1 b=2 ..", broken where a line would be too long */
static void print_params(const char *const *params)
{
    int used = 0;

    for (size_t i = 0; params && params[i]; i++) {
        int length = (int)strlen(params[i]);
        if (used && used + 1 + length > LINE_WIDTH) {
            putchar('\n');
            used = 0;
        }
        used += printf("%*s%s", used ? 1 : INDENT, "", params[i]);
    }
    if (used)
        putchar('\n');
}

int hbg__cmd_list(int argc, char **argv)
{
    static const struct cli_command command = { "list", "", "Lists the workloads of `hbg run`.", NULL, 0 };
    enum cli_outcome outcome = hbg__cli_parse(&command, argc, argv, NULL, NULL);

    if (outcome != CLI_PARSED)
        return cli_outcome_status(outcome);
    for (size_t i = 0; hbg__workloads[i]; i++) {
        printf("%s%s\n    %s\n", i ? "\n" : "", hbg__workloads[i]->name, hbg__workloads[i]->doc);
        print_params(hbg__workloads[i]->params);
    }
    return CLI_OK;
}
