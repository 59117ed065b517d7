/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sign-flip test and the Hodges-Lehmann estimate.
 */
#include "tools/ab/flip.h"

#include "base/rng.h"
#include "tools/ab/sample.h"

#include <math.h>
#include <stdlib.h>

/* Sums that differ by rounding alone are equal. */
static double bar_of(const double *d, size_t count)
{
    double sum = 0.0, size = 0.0;

    for (size_t i = 0; i < count; i++) {
        sum += d[i];
        size += fabs(d[i]);
    }
    return fabs(sum) - 1e-12 * size;
}

/* Each set of signs and its opposite are counted together, so the last sign stays. Signs change one at a time (Gray code). */
static double exact_p(const double *d, size_t count)
{
    uint32_t all = UINT32_C(1) << (count - 1), reached = 0;
    double bar = bar_of(d, count), sum = 0.0, now[FLIP_EXACT_MOST];

    for (size_t i = 0; i < count; i++)
        sum += now[i] = d[i];
    for (uint32_t i = 1;; i++) {
        int which;

        reached += fabs(sum) >= bar;
        if (i == all)
            break;
        which = __builtin_ctz(i);
        sum -= 2.0 * now[which];
        now[which] = -now[which];
    }
    return (double)reached / (double)all;
}

static double drawn_p(const double *d, size_t count, uint64_t seed)
{
    double bar = bar_of(d, count);
    struct hbg__rng rng;
    int reached = 0;

    hbg__rng_seed(&rng, seed);
    for (int draw = 0; draw < FLIP_DRAWS; draw++) {
        uint64_t bits = 0;
        double sum = 0.0;

        for (size_t i = 0; i < count; i++) {
            if (i % 64 == 0)
                bits = hbg__rng_next(&rng);
            sum += bits >> i % 64 & 1 ? d[i] : -d[i];
        }
        reached += fabs(sum) >= bar;
    }
    return (reached + 1.0) / (FLIP_DRAWS + 1.0);        /* what was observed is one of the draws */
}

double hbg__flip_p(const double *d, size_t count, uint64_t seed)
{
    return count <= FLIP_EXACT_MOST ? exact_p(d, count) : drawn_p(d, count, seed);
}

double hbg__hodges_lehmann(const double *d, size_t count)
{
    double *mean = malloc(count * (count + 1) / 2 * sizeof *mean), median;
    size_t used = 0;

    if (!mean)
        return NAN;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i; j < count; j++)
            mean[used++] = 0.5 * (d[i] + d[j]);
    median = hbg__sample_median(mean, used);
    free(mean);
    return median;
}
