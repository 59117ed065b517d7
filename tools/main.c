/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg, the command: finds the subcommand and makes sure that what it printed arrived.
 */
#include "command.h"

#include "cli.h"
#include "provenance.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct { const char *name; int (*run)(int argc, char **argv); const char *help; } commands[] = {
    { "list", hbg__cmd_list, "the workloads and their parameters" },
    { "run", hbg__cmd_run, "run a workload, verify it, report" },
    { "describe", hbg__cmd_describe, "show the graph that a workload builds" },
    { "trace", hbg__cmd_trace, "read a trace: how long each phase took" },
    { "bench", hbg__cmd_bench, "measure what hbg costs, beside other runtimes if asked" },
    { "ab", hbg__cmd_ab, "compare two commands: which is faster, and how sure that is" },
    { "sim", hbg__cmd_sim, "many schedules of simulated devices" },
    { "new", hbg__cmd_new, "write a workload to start from" },
    { "devices", hbg__cmd_devices, "what can be opened here, and who holds it" },
    { "info", hbg__cmd_info, "the machine, the library, a device" },
    { "version", hbg__cmd_version, "the version, and whether command, library and source tree fit together" },
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void show_help(FILE *file)
{
    fputs("hbg runs task graphs.\n\nusage: hbg COMMAND [arguments]\n\n", file);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].help);
    fputs("\n`hbg COMMAND --help` shows a command's arguments.\n"
          "\nexit status: 0 all went well; 1 something failed; 2 the command line is wrong, or asks for what there is not;\n"
          "3 a comparison of hbg ab is INVALID\n", file);
}

static int unknown_command(const char *name)
{
    const char *names[COMMAND_COUNT];
    char hint[160];

    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    hbg__cli_error("", "there is no command `%s`%s", name, hbg__cli_hint(name, names, COMMAND_COUNT, hint, sizeof hint));
    return CLI_MISUSED;
}

/* `hbg version` says what fits and what does not, and judges itself. */
static int run_command(size_t index, int argc, char **argv)
{
    if (commands[index].run != hbg__cmd_version && !hbg__provenance_check())
        return CLI_FAILED;
    return commands[index].run(argc, argv);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        show_help(stderr);
        return CLI_MISUSED;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        show_help(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0)
        return hbg__cmd_version(0, NULL);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, argv[1]) == 0)
            return run_command(i, argc - 2, argv + 2);
    return unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
    int status, why;

    signal(SIGXFSZ, SIG_IGN);                           /* a file that may not grow further is a sentence */
    status = dispatch(argc, argv);
    why = hbg__cli_flush();
    if (why && status == CLI_OK) {
        hbg__cli_error("", "standard output was not written whole: %s", strerror(why));
        status = CLI_FAILED;
    }
    return status;
}
