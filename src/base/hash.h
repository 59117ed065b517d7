/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - 64-bit hashes for tables, keys and contents. The same on every machine of one byte order; no defence against
 * chosen collisions: whoever relies on equality compares the bytes as well.
 */
#ifndef HBG_BASE_HASH_H
#define HBG_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A bijection whose every output bit depends on every input bit. */
static inline uint64_t hbg__hash_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    return x;
}

/* The hash of a sequence: the next value joined to the hash of those before; the order matters. */
static inline uint64_t hbg__hash_join(uint64_t hash, uint64_t next)
{
    return hbg__hash_u64(hash * UINT64_C(0x9e3779b97f4a7c15) + hbg__hash_u64(next + 1));
}

uint64_t hbg__hash_bytes(const void *data, size_t size_bytes, uint64_t seed);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_BASE_HASH_H */
