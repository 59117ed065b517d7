/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mean, median, variance, autocorrelation, variance components.
 */
#include "tools/ab/sample.h"

#include <math.h>
#include <stdlib.h>

double hbg__sample_mean(const double *x, size_t count)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i++)
        sum += x[i];
    return sum / (double)count;
}

static double squares(const double *x, size_t count, double mean)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum;
}

double hbg__sample_variance(const double *x, size_t count)
{
    return count < 2 ? NAN : squares(x, count, hbg__sample_mean(x, count)) / (double)(count - 1);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double hbg__sample_median(double *x, size_t count)
{
    qsort(x, count, sizeof *x, by_size);
    return count % 2 ? x[count / 2] : 0.5 * (x[count / 2 - 1] + x[count / 2]);
}

double hbg__sample_lag1(const double *x, size_t count)
{
    double mean = hbg__sample_mean(x, count), all = squares(x, count, mean), sum = 0.0;

    for (size_t i = 0; i + 1 < count; i++)
        sum += (x[i] - mean) * (x[i + 1] - mean);
    return count > 1 && all > 0.0 ? sum / all : NAN;
}

double hbg__sample_effective(double lag1, double count)
{
    return lag1 > 0.0 ? count * (1.0 - lag1) / (1.0 + lag1) : count;
}

void hbg__variance_add(struct variance_sums *sums, int arm, const double *x, size_t count)
{
    double mean = hbg__sample_mean(x, count);

    sums->inside += squares(x, count, mean);
    sums->inside_df += (double)(count - 1);
    sums->group_sum[arm] += mean;
    sums->group_square[arm] += mean * mean;
    sums->group_count[arm]++;
    sums->size_sum += (double)count;
    sums->groups++;
}

struct variance_parts hbg__variance_divide(const struct variance_sums *s)
{
    struct variance_parts parts = { NAN, NAN, NAN, NAN };
    double size = s->size_sum / s->groups, between = 0.0, df = 0.0;

    for (int arm = 0; arm < 2; arm++) {
        if (s->group_count[arm] > 0.0) {
            between += s->group_square[arm] - s->group_sum[arm] * s->group_sum[arm] / s->group_count[arm];
            df += s->group_count[arm] - 1.0;
        }
    }
    if (s->inside_df > 0.0)
        parts.inside = s->inside / s->inside_df;
    if (df > 0.0 && s->inside_df > 0.0) {
        parts.between = fmax(0.0, between / df - parts.inside / size);
        if (parts.between + parts.inside > 0.0) {
            parts.correlation = parts.between / (parts.between + parts.inside);
            parts.design_effect = 1.0 + (size - 1.0) * parts.correlation;
        }
    }
    return parts;
}
