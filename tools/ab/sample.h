/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a row of numbers says of itself: mean, median, deviation, how much a value resembles the one before it, and how the variance
 * of values in groups divides into that of the groups and that inside of them. What cannot be told is NaN.
 */
#ifndef HBG_TOOLS_AB_SAMPLE_H
#define HBG_TOOLS_AB_SAMPLE_H

#include <stddef.h>

double hbg__sample_mean(const double *x, size_t count);

/* With count - 1 in the denominator; NaN below two values. */
double hbg__sample_variance(const double *x, size_t count);

/* The median of count > 0 values; it sorts them. */
double hbg__sample_median(double *x, size_t count);

/* Lag-1 autocorrelation of values in time order, sum (x_i - m)(x_i+1 - m) / sum (x_i - m)^2; NaN where all are equal. */
double hbg__sample_lag1(const double *x, size_t count);

/* How many independent values know the mean as well: count (1 - r1) / (1 + r1) for r1 > 0. A diagnostic, no basis of an interval. */
double hbg__sample_effective(double lag1, double count);

/* The one-way analysis of variance, groups of any sizes, collected group by group. Groups of one arm scatter around that arm's mean. */
struct variance_sums {
    double inside, inside_df;           /* squares inside of the groups */
    double group_sum[2], group_square[2], group_count[2];       /* of the groups' means, by arm */
    double size_sum, groups;
};
struct variance_parts {
    double inside, between;             /* variance of values in a group; of groups beyond what the values explain, at least 0 */
    double correlation;                 /* of two values of one group */
    double design_effect;               /* 1 + (size - 1) * correlation: so many values count as one */
};

void hbg__variance_add(struct variance_sums *sums, int arm, const double *x, size_t count);
struct variance_parts hbg__variance_divide(const struct variance_sums *sums);

#endif
