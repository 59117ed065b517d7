/* SPDX-License-Identifier: Apache-2.0 */
/* vec.c - see vec.h. */
#include "base/vec.h"

#include <string.h>

#include "base/bits.h"

enum { FIRST_CAPACITY = 8 };

bool hbg__vec_grow(struct hbg__memory *memory, void *at_slot, size_t *capacity, size_t count, size_t needed, size_t item_bytes)
{
    uint64_t wanted = hbg__max_u64(hbg__max_u64(needed, FIRST_CAPACITY), (uint64_t)*capacity * 2), bytes;
    if (!hbg__mul_u64(wanted, item_bytes, &bytes) || bytes > PTRDIFF_MAX) return false;
    void *fresh = hbg__alloc(memory, (size_t)bytes, HBG__VEC_ALIGN);
    if (!fresh) return false;

    /* the slot is a pointer of the element's type: it is read and written as bytes */
    void *old;
    memcpy(&old, at_slot, sizeof old);
    if (count) memcpy(fresh, old, count * item_bytes);
    hbg__free(memory, old, *capacity * item_bytes, HBG__VEC_ALIGN);
    memcpy(at_slot, &fresh, sizeof fresh);
    *capacity = (size_t)wanted;
    return true;
}
