/* SPDX-License-Identifier: Apache-2.0 */
#include "support/mutate.h"

#include <string.h>

static size_t below(struct hbg__rng *rng, size_t bound) { return bound ? (size_t)hbg__rng_below(rng, bound) : 0; }

/* Replace bytes[at .. at + old) by `size` others. */
static size_t splice(unsigned char *bytes, size_t size, size_t capacity, size_t at, size_t old, const unsigned char *with, size_t with_size)
{
    unsigned char kept[256];
    if (with_size > sizeof kept || size - old + with_size > capacity) return size;
    if (with_size) memcpy(kept, with, with_size);           /* it may stand in bytes itself */
    memmove(bytes + at + with_size, bytes + at + old, size - at - old);
    if (with_size) memcpy(bytes + at, kept, with_size);
    return size - old + with_size;
}

static size_t change(unsigned char *bytes, size_t size, size_t capacity, const char *const *words, struct hbg__rng *rng)
{
    size_t at = below(rng, size), length = 1 + below(rng, 12), count = 0;
    if (length > size - at) length = size - at;
    while (words && words[count]) count++;
    switch (below(rng, count ? 7 : 5)) {
    case 0:
        if (size) bytes[at] ^= (unsigned char)(1u << below(rng, 8));
        return size;
    case 1:
        if (size) bytes[at] = (unsigned char)below(rng, 256);
        return size;
    case 2: return splice(bytes, size, capacity, at, length, NULL, 0);
    case 3: return splice(bytes, size, capacity, below(rng, size + 1), 0, bytes + at, length);
    case 4: return below(rng, 8) ? size : at;               /* cut off there, seldom */
    default: {
        const char *word = words[below(rng, count)];
        return splice(bytes, size, capacity, at, below(rng, 2) ? length : 0, (const unsigned char *)word, strlen(word));
    }
    }
}

size_t mutate(unsigned char *bytes, size_t size, size_t capacity, const char *const *words, struct hbg__rng *rng)
{
    for (size_t left = 1 + below(rng, 4); left > 0; left--) size = change(bytes, size, capacity, words, rng);
    return size;
}
