/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg version: the version of the library that is loaded.
 */
#include "command.h"

#include "cli.h"

#include <hbg/hbg.h>

#include <stdio.h>

int hbg__cmd_version(int argc, char **argv)
{
    static const struct cli_command command = { "version", "", "Shows the version.", NULL, 0 };
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
        hbg__cli_error("version", "`%s` is one argument too many", rest[0]);
        return CLI_MISUSED;
    }
    printf("hbg %s\n", hbg_version());
    return CLI_OK;
}
