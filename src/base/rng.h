/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h - repeatable random numbers: one seed gives one sequence on every machine. xoshiro256**, its state filled by splitmix64.
 * For inputs, tests and schedules; not for secrets.
 */
#ifndef HBG_BASE_RNG_H
#define HBG_BASE_RNG_H

#include <stdint.h>

struct hbg__rng { uint64_t word[4]; };

static inline uint64_t hbg__rng_split(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline void hbg__rng_seed(struct hbg__rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++) rng->word[i] = hbg__rng_split(&seed);
}

static inline uint64_t hbg__rng_next(struct hbg__rng *rng)
{
    uint64_t *w = rng->word, times = w[1] * 5, result = ((times << 7) | (times >> 57)) * 9, shifted = w[1] << 17;
    w[2] ^= w[0];
    w[3] ^= w[1];
    w[1] ^= w[2];
    w[0] ^= w[3];
    w[2] ^= shifted;
    w[3] = (w[3] << 45) | (w[3] >> 19);
    return result;
}

/* Uniform in [0, bound); bound is not 0. Values of the uneven last stretch are drawn again, so none is favoured. */
static inline uint64_t hbg__rng_below(struct hbg__rng *rng, uint64_t bound)
{
    uint64_t uneven = -bound % bound, x;
    do x = hbg__rng_next(rng);
    while (x < uneven);
    return x % bound;
}

/* Uniform in [low, high], both included; low <= high, and the two are less than 2^63 apart. */
static inline int64_t hbg__rng_between(struct hbg__rng *rng, int64_t low, int64_t high)
{
    return low + (int64_t)hbg__rng_below(rng, (uint64_t)high - (uint64_t)low + 1);
}

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double hbg__rng_f64(struct hbg__rng *rng) { return (double)(hbg__rng_next(rng) >> 11) * 0x1p-53; }

#endif /* HBG_BASE_RNG_H */
