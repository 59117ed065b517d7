/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two answers about paired differences that need no normal distribution: the sign-flip test, which asks how often a sum as large
 * comes about when each difference has its sign by chance, and the estimate of Hodges and Lehmann.
 */
#ifndef HBG_TOOLS_AB_FLIP_H
#define HBG_TOOLS_AB_FLIP_H

#include <stddef.h>
#include <stdint.h>

enum { FLIP_EXACT_MOST = 20, FLIP_DRAWS = 100000 };

/* The two-sided p of count > 0 differences: all 2^count signs up to FLIP_EXACT_MOST of them, else FLIP_DRAWS drawn by the seed. */
double hbg__flip_p(const double *d, size_t count, uint64_t seed);

/* The median of the means of all pairs, each with itself too. NaN: no memory. */
double hbg__hodges_lehmann(const double *d, size_t count);

#endif
