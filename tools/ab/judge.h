/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a series to a verdict: a function of the series and the rules alone, so that a stored result gives the same digits again.
 *
 * A batch is y = ln(median of its rounds); a block is d = (y of its two B batches - y of its two A batches) / 2. The interval is that of
 * t on the d. FASTER and SLOWER: it excludes 0, the sign-flip p is at most .05, and Hodges-Lehmann has the same sign. EQUIVALENT, where
 * the 90 % interval lies inside of the margin, wins over both.
 */
#ifndef HBG_TOOLS_AB_JUDGE_H
#define HBG_TOOLS_AB_JUDGE_H

#include "tools/ab/record.h"

enum ab_verdict { AB_FASTER, AB_SLOWER, AB_EQUIVALENT, AB_INCONCLUSIVE, AB_DETERMINISTIC, AB_INVALID, AB_VERDICTS };

/* The numbers of an outcome: field, what it is. Effects are relative, B against A: .05 is 5 % more. NaN is what cannot be told. */
#define AB_NUMBER_MAP(X)                                                                                                     \
    X(blocks, "blocks that count") X(dropped, "blocks that do not")                                                          \
    X(level_a, "A: geometric mean of its batches") X(level_b, "of B")                                                        \
    X(mean_d, "mean of the block differences") X(sd_d, "their standard deviation") X(df, "degrees of freedom") X(error, "standard error of the mean") \
    X(effect, "exp(mean_d) - 1") X(low, "95 % interval") X(high, "95 % interval") X(low90, "90 % interval") X(high90, "90 % interval") \
    X(slowdown_bound, "upper 95 % one-sided bound of the slowdown") X(half, "half width, in logarithms")                     \
    X(flip_p, "sign-flip p") X(hodges_lehmann, "Hodges-Lehmann estimate of the effect")                                      \
    X(needed, "blocks for a half width of the margin") X(batch_sd, "deviation of batches inside of an arm")                  \
    X(slot, "2nd and 4th batch against 1st and 3rd") X(slot_low, "95 % interval") X(slot_high, "95 % interval")              \
    X(block_lag1, "of block differences, from 20 blocks on") X(inflation, "of the variance of d, for it")                   \
    X(round_lag1, "median over batches") X(lag1_notable, "batches in which it is notable") X(effective, "effective rounds of the median batch") \
    X(rounds, "rounds of a batch, median") X(variance_rounds, "of ln(round) in a batch") X(variance_batches, "beyond it, of batches") \
    X(correlation, "intraclass") X(design_effect, "1 + (rounds - 1) correlation")                                           \
    X(kept_effect, "with dropped blocks kept") X(kept_low, "95 % interval") X(kept_high, "95 % interval")                    \
    X(cold_a, "median of A's cold rounds") X(cold_b, "of B's") X(counter_a, "median counter of A") X(counter_b, "of B")      \
    X(exact, "DETERMINISTIC: B less A")

struct ab_outcome {
    enum ab_verdict verdict;
    bool significant;                   /* rule of FASTER and SLOWER, whether or not EQUIVALENT wins over it */
    bool t_excludes;                    /* the 95 % interval alone excludes 0 */
    char why[AB_TEXT];                  /* a sentence without its end */
#define AB_FIELD(name, words) double name;
    AB_NUMBER_MAP(AB_FIELD)
#undef AB_FIELD
};

const char *hbg__ab_verdict_name(enum ab_verdict verdict);

/* In percent, for two digits behind the point: what they show as 0 has no sign. */
double hbg__ab_percent(double part);

/* False: no memory. With `d` room for a number for each block: the differences of those that count. */
bool hbg__ab_judge(struct ab_outcome *outcome, const struct ab_series *series, const struct ab_rules *rules, double *d);

/* An effect on a part of what is compared. `holm` is its p among all parts of the series, adjusted by Holm. It has no verdict. */
struct ab_part_effect { const char *name; double level_a, effect, low, high, p, holm; };

/* All parts that every batch which counts has, those with the smallest p first; at most `room`. Returns how many. */
size_t hbg__ab_judge_parts(struct ab_part_effect *effect, size_t room, const struct ab_series *series);

/* The fewest blocks, at least 6, whose 95 % interval has at most this half width, where blocks deviate by sd. */
double hbg__ab_blocks_needed(double sd, double half);

/* After a pilot: max(pilot, (t * sd / half)^2), t with pilot - 1 degrees of freedom. */
double hbg__ab_blocks_after(uint32_t pilot, double sd, double half);

#endif
