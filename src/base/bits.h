/* SPDX-License-Identifier: Apache-2.0 */
/* bits.h - powers of two, rounding, and sums and products that notice overflow. */
#ifndef HBG_BASE_BITS_H
#define HBG_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool hbg__is_power_of_two(uint64_t x) { return x != 0 && (x & (x - 1)) == 0; }

/* Position of the highest set bit; x is not 0. */
static inline unsigned hbg__log2_floor(uint64_t x) { return 63u - (unsigned)__builtin_clzll(x); }

/* Position of the lowest set bit; x is not 0. */
static inline unsigned hbg__lowest_bit(uint64_t x) { return (unsigned)__builtin_ctzll(x); }

/* The smallest power of two that is at least x; 1 for 0; x is at most 2^63. */
static inline uint64_t hbg__ceil_power_of_two(uint64_t x) { return x <= 1 ? 1 : (uint64_t)2 << hbg__log2_floor(x - 1); }

/* x rounded to a multiple of `to`, a power of two; x is at most 2^64 - to. */
static inline uint64_t hbg__round_up(uint64_t x, uint64_t to) { return (x + to - 1) & ~(to - 1); }
static inline uint64_t hbg__round_down(uint64_t x, uint64_t to) { return x & ~(to - 1); }

/* Ceiling of x / by; by is not 0. */
static inline uint64_t hbg__div_up(uint64_t x, uint64_t by) { return x / by + (x % by != 0); }

static inline uint64_t hbg__min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t hbg__max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline int64_t hbg__min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t hbg__max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

/* False when the exact result does not fit; *result is then the wrapped value. */
static inline bool hbg__add_i64(int64_t a, int64_t b, int64_t *result) { return !__builtin_add_overflow(a, b, result); }
static inline bool hbg__mul_i64(int64_t a, int64_t b, int64_t *result) { return !__builtin_mul_overflow(a, b, result); }
static inline bool hbg__add_u64(uint64_t a, uint64_t b, uint64_t *result) { return !__builtin_add_overflow(a, b, result); }
static inline bool hbg__mul_u64(uint64_t a, uint64_t b, uint64_t *result) { return !__builtin_mul_overflow(a, b, result); }

#endif /* HBG_BASE_BITS_H */
