/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a command line to a workload with its inputs: what the commands have in common that take a workload and parameters.
 */
#ifndef HBG_TOOLS_INPUTS_H
#define HBG_TOOLS_INPUTS_H

#include "setup.h"

struct hbg__json;

/* The workload of that name, built in or of a file; NULL, and the sentence is printed. */
const struct hbg_workload *hbg__inputs_find_workload(const char *command, const char *name);

/* Takes parameters ("key=value") and makes the inputs; a crash is told of as the workload's from now on. CLI_OK, or the exit status with the sentence printed. */
int hbg__inputs_fill(struct hbg_setup *s, const char *command, const char *const *assignment, size_t count);

/* Key and value of a parameter: a number where its text is one, else a string. */
void hbg__inputs_json_parameter(struct hbg__json *j, const struct setup_param *param);

#endif
