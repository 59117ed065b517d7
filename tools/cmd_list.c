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
    const char *rest[16];
    size_t count = 0;

    if (argc > 16)
        argc = 16;
    switch (hbg__cli_parse(&command, argc, argv, rest, &count)) {
    case CLI_HELP_SHOWN: return CLI_OK;
    case CLI_REFUSED: return CLI_MISUSED;
    case CLI_PARSED: break;
    }
    if (count) {
        hbg__cli_error("list", "`%s` is one argument too many", rest[0]);
        return CLI_MISUSED;
    }
    for (size_t i = 0; hbg__workloads[i]; i++) {
        printf("%s%s\n    %s\n", i ? "\n" : "", hbg__workloads[i]->name, hbg__workloads[i]->doc);
        print_params(hbg__workloads[i]->params);
    }
    return CLI_OK;
}
