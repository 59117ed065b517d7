/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do command, library and source tree belong together? A library of another commit is driven with the wrong layouts and gives wrong
 * values, not failures; so a mismatch ends the command, and nothing warns.
 *
 *     command against library     always: version and commit, as each was built
 *     both against HEAD           where the command lies in a build tree: beside it stands hbg.source (cmake/provenance.cmake). HEAD as a
 *                                 whole: neither times, which do not survive a change of branch, nor a list of files
 *
 * A library without hbg_version_commit() is a mismatch, and so is one that has a commit where the other has none. The check is inert
 * where both were built without git, and that with HEAD where there is no build tree, no source tree or no HEAD that can be read. A
 * tree that was dirty is told of and not refused.
 */
#ifndef HBG_TOOLS_PROVENANCE_H
#define HBG_TOOLS_PROVENANCE_H

#include "git_head.h"

#include <limits.h>

enum provenance_verdict { PROVENANCE_MATCH, PROVENANCE_INERT, PROVENANCE_MISMATCH };

/* What one of the two says of its build. */
struct provenance_side {
    char version[32];
    const char *commit;                 /* NULL: it has no stamp; "": it was built without git */
    bool dirty;
};

struct provenance {
    struct provenance_side command, library;
    char command_path[PATH_MAX], library_path[PATH_MAX];            /* "" where they are not known */
    char source[PATH_MAX], build[PATH_MAX], built_library[PATH_MAX];/* as hbg.source says; "" without one */
    struct git_head head;               /* of source */
    enum provenance_verdict verdict;
    char why[3 * PATH_MAX];             /* inert: why; a mismatch: the sentence with both commits */
    char repair[2 * PATH_MAX];          /* a mismatch: the command that ends it */
};

/* Looks at command, library and source tree, and judges. */
void hbg__provenance_get(struct provenance *p);

/* "match", "inert" or "mismatch" */
const char *hbg__provenance_verdict_name(enum provenance_verdict verdict);

/* Prints the sentence of a mismatch. */
void hbg__provenance_refuse(const struct provenance *p);

/* False: a mismatch, and its sentence was printed. */
bool hbg__provenance_check(void);

#endif
