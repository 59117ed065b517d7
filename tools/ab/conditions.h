/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine does while a comparison runs, and when that spoils a block. Times never do: a block is dropped for what is seen here,
 * and for failed commands, alone.
 */
#ifndef HBG_TOOLS_AB_CONDITIONS_H
#define HBG_TOOLS_AB_CONDITIONS_H

#include "tools/ab/record.h"

/* Now; at_s counts from the first call. */
void hbg__ab_sample_take(struct ab_sample *sample);

/* Shares of a stretch of time; NaN is what is not told. */
struct ab_stretch {
    double seconds, foreign, steal;     /* CPUs taken by others, by the host, on average: .05 is 5 % of one CPU */
    double throttled, limited;          /* steps */
    double psi_cpu, psi_memory, psi_io; /* share of the time in which somebody waited */
};
struct ab_stretch hbg__ab_stretch_of(const struct ab_sample *begin, const struct ab_sample *end);

/* False, with the reason: the block, batches[0..3], was measured under conditions that spoil it. */
bool hbg__ab_block_good(const struct ab_batch *batches, char *why, size_t size);

#endif
