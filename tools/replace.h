/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A result file that takes the place of an older one all at once. It is written without a name in the folder (O_TMPFILE), so that a
 * command that is killed leaves nothing; when it is whole it gets its place, over an older file by another name and a rename, with
 * the signals that end a command held back for these two calls. Where the file system has no files without names it is written
 * under a name ending in ".new".
 *
 * What is no regular file (a device, a pipe), and what lies in a folder that takes no new file, is written in place. A link stays a
 * link: the file that it leads to is replaced, or made where it leads to none.
 */
#ifndef HBG_TOOLS_REPLACE_H
#define HBG_TOOLS_REPLACE_H

#include <stdio.h>

struct replacement {
    FILE *stream;
    int unnamed;                        /* a second descriptor of a file without a name; 0: it has one */
    int why;                            /* the first thing that kept a write from being whole, or 0 */
    char *path, *temporary;             /* owned; temporary is NULL where the file has no name, or is written in place */
};

/* The path with the links at its end followed, as far as they lead: where writing to a path that does not exist makes the file.
   The caller frees it; NULL with errno. */
char *hbg__replace_target(const char *path);

/* Could a file be written there? 0, or an error number. */
int hbg__replace_check(const char *path);

/* Opens a file to write into; 0, or an error number and nothing to undo. */
int hbg__replace_open(struct replacement *r, const char *path);

/* Writes; what goes wrong is told by the end. */
void hbg__replace_write(struct replacement *r, const void *data, size_t size);

/* Ends the writing: 0, or an error number where not all was written, after which hbg__replace_drop() is what is left to do. */
int hbg__replace_end(struct replacement *r);

/* After the end: puts the new file in place. 0, or an error number. Either way, and after a drop, nothing is left of it. */
int hbg__replace_commit(struct replacement *r);
void hbg__replace_drop(struct replacement *r);

#endif
