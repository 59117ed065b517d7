/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - memory that grows in place: address space reserved without access, committed on growth, kept warm.
 *
 *      |<-- below_reserved ->|<---- above_reserved ---->|
 *      |      . [  below     |     above    ] .         |        [ ] committed: readable and writable
 *      ^             ...   origin   ...                 ^
 *
 * An arena grows at both ends of one contiguous live range around its origin; most use the upper side alone. When the
 * reservation is full the arena moves to one of twice the size: nobody keeps absolute addresses across a grow.
 *
 * Pages are touched in bulk, in steps that double, with huge pages advised: a first touch by the program itself costs more
 * than a hundred tasks. Committed pages stay until close, but for those of an arena that is done with growing.
 *
 * Deliberately not here: sub-allocation, freeing of other parts, locks. One thread grows an arena at a time.
 */
#ifndef HBG_BASE_ARENA_H
#define HBG_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hbg__arena {
    unsigned char *origin;              /* NULL: closed */
    size_t below, above;                /* committed bytes on each side of the origin */
    size_t below_reserved, above_reserved;
    uint64_t growths;                   /* how often pages were committed */
};

/* Reserve `reserve_bytes` (0: hbg__arena_default_reserve()) of address space; a refusal is halved down to 1 MiB.
   `two_sided` puts the origin in the middle. The origin is page aligned. False: no address space. */
bool hbg__arena_open(struct hbg__arena *arena, size_t reserve_bytes, bool two_sided);

/* Commit at least [origin - below, origin + above); contents are kept, the origin may move. False: no memory, nothing changed. */
bool hbg__arena_grow(struct hbg__arena *arena, size_t below, size_t above);

/* Give back what lies outside of [origin - below, origin + above), of pages and of address space: the arena is not to grow any more. */
void hbg__arena_trim(struct hbg__arena *arena, size_t below, size_t above);

void hbg__arena_close(struct hbg__arena *arena);

/* The address space one arena asks for: 16 GiB, or a 512th of a finite RLIMIT_AS: a device has more than a dozen
   arenas, and those that need more move. */
size_t hbg__arena_default_reserve(void);

static inline bool hbg__arena_fit(struct hbg__arena *arena, size_t below, size_t above)
{
    return (below <= arena->below && above <= arena->above) || hbg__arena_grow(arena, below, above);
}

#endif /* HBG_BASE_ARENA_H */
