/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has a device of hbg for itself while a comparison runs, this user's other commands included; not this command.
 */
#ifndef HBG_TOOLS_AB_HOLDERS_H
#define HBG_TOOLS_AB_HOLDERS_H

#include "tools/ab/record.h"

/* A fact by the name of the lock, "cpu.0", for each holder that is none yet; with `batch` it says from when on. False: no memory. */
bool hbg__ab_holders_look(struct ab_facts *holders, const struct ab_batch *batch);

/* Is it one that came while the comparison ran? */
bool hbg__ab_holder_came(const char *value);

#endif
