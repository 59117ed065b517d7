/* SPDX-License-Identifier: Apache-2.0 */
/* alloc.h - host memory of the library, through the user's allocator where one is given.
 *
 * Every block is returned with the size and the alignment that it was asked with. Calls and live bytes are counted, so that a
 * test can say "no allocation in a warm run" and "nothing left after close".
 *
 *   field              written by            read by              order
 *   ops                hbg__memory_init      any thread           set before the object is shared
 *   allocations        any allocating thread any thread           relaxed: a statistic, it publishes nothing
 *   live_bytes         any allocating thread any thread           relaxed: likewise
 *
 * Deliberately not here: the arenas that records are appended to (arena.h), pools, thread caches.
 */
#ifndef HBG_BASE_ALLOC_H
#define HBG_BASE_ALLOC_H

#include <hbg/device.h>

#include "atomic/atomic.h"
#include "base/check.h"

struct hbg__memory {
    struct hbg_allocator ops;
    struct hbg__atomic_u64 allocations, live_bytes;
};

/* The user's allocator; NULL or one without functions is malloc. False: only one of the two functions is given. */
bool hbg__memory_init(struct hbg__memory *memory, const struct hbg_allocator *given) HBG_MUST_CHECK;

/* size_bytes bytes, owned by the caller; align_bytes is a power of two. NULL: no memory. A size of 0 gives a block of its own. */
void *hbg__alloc(struct hbg__memory *memory, size_t size_bytes, size_t align_bytes) HBG_MUST_CHECK;
void *hbg__alloc_zero(struct hbg__memory *memory, size_t size_bytes, size_t align_bytes) HBG_MUST_CHECK;

/* A block of new_bytes with the first min(old, new) bytes of the old one, which is taken; NULL leaves the old one as it is. */
void *hbg__realloc(struct hbg__memory *memory, void *block, size_t old_bytes, size_t new_bytes, size_t align_bytes) HBG_MUST_CHECK;

/* Taken; NULL is fine. Size and alignment are those of the allocation. */
void hbg__free(struct hbg__memory *memory, void *block, size_t size_bytes, size_t align_bytes);

uint64_t hbg__memory_allocations(const struct hbg__memory *memory);
uint64_t hbg__memory_live_bytes(const struct hbg__memory *memory);

/* One zeroed struct, and its way back: struct x *p = HBG__NEW(memory, struct x); HBG__DELETE(memory, p); */
#define HBG__NEW(memory, type) ((type *)hbg__alloc_zero((memory), sizeof(type), _Alignof(type)))
#define HBG__DELETE(memory, pointer) hbg__free((memory), (pointer), sizeof *(pointer), _Alignof(__typeof__(*(pointer))))

#endif /* HBG_BASE_ALLOC_H */
