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
    enum cli_outcome outcome = hbg__cli_parse(&command, argc, argv, NULL, NULL);

    if (outcome != CLI_PARSED)
        return cli_outcome_status(outcome);
    printf("hbg %s\n", hbg_version());
    return CLI_OK;
}
