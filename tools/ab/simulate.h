/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons of made-up batches, to see how often the whole analysis raises a false alarm when the machine misbehaves, and how often it
 * finds an effect that is there.
 */
#ifndef HBG_TOOLS_AB_SIMULATE_H
#define HBG_TOOLS_AB_SIMULATE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* In logarithms, .01 is about 1 %. Batches scatter by 2 % and rounds by 5 % in every scenario. */
struct ab_scenario {
    const char *name;
    double drift;                       /* from the first batch to the last */
    double walk;                        /* deviation of each batch's step from the one before */
    double regime;                      /* the height of a second level, taken and left by chance */
    double slot_bias;                   /* of the 2nd and 4th batch of a block */
    double ar;                          /* how much a batch resembles the one before, and a round the one before */
};

struct ab_rates {
    double interval;                    /* share of trials whose 95 % interval excludes 0 */
    double verdict;                     /* that are called FASTER or SLOWER */
    double sd;                          /* of a block's difference, over all trials */
};

extern const struct ab_scenario hbg__ab_scenarios[];
extern const size_t hbg__ab_scenario_count;

/* `effect` is that of B, in logarithms. All interval rates are NaN if there is no memory. */
struct ab_rates hbg__ab_simulate(const struct ab_scenario *scenario, double effect, uint32_t blocks, uint32_t trials, uint64_t seed);

/* All scenarios, and how often effects of some sizes are found. */
void hbg__ab_simulate_print(FILE *file, uint32_t blocks, uint32_t trials, uint64_t seed);

#endif
