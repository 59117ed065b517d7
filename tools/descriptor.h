/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of workloads: whether one can be used, what it says of its parameters, and those that shared objects export.
 */
#ifndef HBG_TOOLS_DESCRIPTOR_H
#define HBG_TOOLS_DESCRIPTOR_H

#include <hbg/hbg.h>

#include <stddef.h>

/* A path is a name with a slash, or one that ends in ".so". */
bool hbg__descriptor_is_path(const char *name);

/* The workload that a shared object exports; it stays until the command ends. NULL, and the sentence is printed. */
const struct hbg_workload *hbg__descriptor_load(const char *command, const char *path);

/* What a descriptor says of a parameter: "name=default", and behind the first blank what it means. Borrowed from the text. */
struct param_text {
    const char *name, *usual, *help;    /* help: empty where there is none */
    size_t name_length, usual_length;
};

/* False: it is not written like that. */
bool hbg__param_read(const char *text, struct param_text *param);

/* NULL, or why the descriptor cannot be used: text, filled. */
const char *hbg__descriptor_refusal(const struct hbg_workload *workload, char *text, size_t text_size);

#endif
