/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - a hash of bytes: 8 bytes a step, multiplied to 128 bits and folded; four steps at a time of what is long. */
#include "base/hash.h"

#include <string.h>

#define FIRST UINT64_C(0x9e3779b97f4a7c15)      /* 2^64 over the golden ratio */
#define SECOND UINT64_C(0xc2b2ae3d27d4eb4f)     /* odd, with as many ones as zeros in each half */

enum { LONG = 128 };                            /* bytes from which on rows are worth while */

static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Four rows of words, each a hash of its own, so that no step waits for the one before; joined in the end. Takes a multiple of 32 bytes. */
static uint64_t hash_rows(const unsigned char *at, size_t size_bytes, uint64_t hash)
{
    uint64_t row[4] = { hash, hash ^ SECOND, hash + FIRST, ~hash }, word[4];
    for (const unsigned char *end = at + size_bytes; at != end; at += sizeof word) {
        memcpy(word, at, sizeof word);
        for (int i = 0; i < 4; i++) row[i] = fold(row[i] ^ word[i], FIRST) + SECOND;
    }
    for (int i = 1; i < 4; i++) row[0] = fold(row[0] ^ row[i], FIRST) + SECOND;
    return row[0];
}

uint64_t hbg__hash_bytes(const void *data, size_t size_bytes, uint64_t seed)
{
    const unsigned char *at = data;
    uint64_t hash = hbg__hash_u64(seed + FIRST), word;
    size_t left = size_bytes;
    if (left >= LONG) {
        hash = hash_rows(at, left & ~(size_t)31, hash);
        at += left & ~(size_t)31;
        left &= 31;
    }
    for (; left >= 8; at += 8, left -= 8) {
        memcpy(&word, at, 8);
        hash = fold(hash ^ word, FIRST) + SECOND;   /* the sum keeps a product of 0 from staying 0 */
    }
    if (left) {
        word = 0;
        memcpy(&word, at, left);
        hash = fold(hash ^ word, FIRST) + SECOND;
    }
    return hbg__hash_u64(hash ^ (uint64_t)size_bytes);
}
