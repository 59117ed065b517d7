/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's subcommands. Each gets the arguments behind its name and returns the exit status (cli.h).
 */
#ifndef HBG_TOOLS_COMMAND_H
#define HBG_TOOLS_COMMAND_H

int hbg__cmd_list(int argc, char **argv);
int hbg__cmd_run(int argc, char **argv);
int hbg__cmd_describe(int argc, char **argv);
int hbg__cmd_trace(int argc, char **argv);
int hbg__cmd_bench(int argc, char **argv);
int hbg__cmd_ab(int argc, char **argv);
int hbg__cmd_devices(int argc, char **argv);
int hbg__cmd_info(int argc, char **argv);
int hbg__cmd_sim(int argc, char **argv);
int hbg__cmd_new(int argc, char **argv);
int hbg__cmd_version(int argc, char **argv);

#endif
