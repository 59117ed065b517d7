/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit that is checked out in a source tree, read from its git files: no git is started, so that every command can look.
 *
 * What is followed: `.git` as a folder or as a file (worktrees, submodules), a HEAD that names a commit or a branch, references of
 * their own, packed ones, and one that names another; commits of 40 or 64 digits. GIT_DIR and its kin are not looked at: the
 * question is about this tree. References that are kept as a reftable are not read.
 */
#ifndef HBG_TOOLS_GIT_HEAD_H
#define HBG_TOOLS_GIT_HEAD_H

#include <stdbool.h>

enum { GIT_COMMIT_SIZE = 65, GIT_REFERENCE_SIZE = 512 };

struct git_head {
    char commit[GIT_COMMIT_SIZE];       /* "" where it is not known */
    char reference[GIT_REFERENCE_SIZE]; /* "refs/heads/main"; "" where a commit is checked out by itself */
    const char *why;                    /* it is not known: "it is no git repository"; NULL where it is */
};

/* False: head->why says why the commit is not known. */
bool hbg__git_head_get(struct git_head *head, const char *tree);

/* Is it the name of a commit: 40 or 64 hexadecimal digits? */
bool hbg__git_is_commit(const char *text);

#endif
