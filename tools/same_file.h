/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that one command line names. An output that is another output, or an input, would be lost or would destroy what it is
 * made of: it is refused before anything runs, whatever way leads to it (links, `./`, another folder's name).
 *
 * Files that are there are compared by device and inode, others by their folder and their name. Terminals and other character
 * devices take any number of outputs; what the workload opens by itself is not known here, except parameters that name files.
 */
#ifndef HBG_TOOLS_SAME_FILE_H
#define HBG_TOOLS_SAME_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct named_file {
    char *label;                        /* owned: "--json", "the input a" */
    const char *path;                   /* borrowed; "-" is standard output */
    bool output, comparable;
    bool there;                         /* the file exists; if not, device and inode are its folder's */
    dev_t device;
    ino_t inode;
    char *name;                         /* owned: in that folder; NULL where the file is there */
};

struct named_files {
    struct named_file *file;
    size_t count;
    bool no_memory;
};

/* "--out-npy" and "c", or "--json" and NULL. A path that is NULL is none. */
void hbg__named_output(struct named_files *f, const char *option, const char *name, const char *path);

/* Each "NAME=FILE" of a list with commas, whose other entries are refused elsewhere. */
void hbg__named_output_list(struct named_files *f, const char *option, char *list);

/* A file that is read; one that is not there is left to whoever opens it. */
void hbg__named_input(struct named_files *f, const char *name, const char *path);

/* The values of "key=value" that name files. */
void hbg__named_assignments(struct named_files *f, const char *const *assignment, size_t count);

/* After all others, of a command that prints beside its files: standard output, where it is a file. */
void hbg__named_standard_output(struct named_files *f);

/* Releases the names. False: two of them may not be the same file and are, with the sentence printed. */
bool hbg__named_files_apart(struct named_files *f, const char *command);

#endif
