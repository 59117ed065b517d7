/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two commands are, and in what they differ. Two arms that share one stale binary agree about anything: where nothing
 * differs, there is nothing to compare; where more than one thing does, an effect has no one cause.
 */
#ifndef HBG_TOOLS_AB_ARM_H
#define HBG_TOOLS_AB_ARM_H

#include "tools/ab/record.h"

/* "environment", "words", "program", "hash", "build id", "libraries" (of a program that is not the system's), "version" (of hbg),
   "file" (each other word that is a path of one, with its hash). False: no memory. */
bool hbg__ab_arm_look(struct ab_facts *facts, const char *command);

/* What differs, by name and as "A | B"; returns how many causes that may be: all of the program is one, each variable and each option is
   one. Negative: no memory. */
int hbg__ab_arms_compare(struct ab_facts *differences, const struct ab_facts *a, const struct ab_facts *b);

/* What a shell would take for words, without its substitutions; quotes are taken away. Words are separated by zero bytes, the
   last of which is doubled. NULL: no memory. The caller frees it. */
char *hbg__ab_words(const char *command);

/* The file that a shell would run for that word, through PATH; `path` has room for PATH_MAX bytes. False: there is none. */
bool hbg__ab_program_find(const char *word, char *path);

/* The machine, as far as it stays the same. "machine" is a hash of its number, not the number. False: no memory. */
bool hbg__ab_host_look(struct ab_facts *facts);

/* What both arms find around them: "folder", and "variable" for each variable of the environment that is known to change how fast programs
   are, in the order of the alphabet. False: no memory. */
bool hbg__ab_surroundings_look(struct ab_facts *facts);

#endif
