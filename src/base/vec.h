/* SPDX-License-Identifier: Apache-2.0 */
/* vec.h - growing arrays of any element type.
 *
 *     struct { HBG__VEC(uint32_t); } ids = { 0 };          a zeroed one is empty; fields at, count, capacity
 *     if (!hbg__vec_push(memory, &ids, 7)) return HBG_E_NO_MEMORY;
 *     hbg__vec_free(memory, &ids);
 *
 * Capacity doubles; clearing keeps it. Elements move when it grows, so keep indices, not addresses. The macros evaluate the
 * vector's address more than once.
 */
#ifndef HBG_BASE_VEC_H
#define HBG_BASE_VEC_H

#include "base/alloc.h"

#define HBG__VEC(type) type *at; size_t count, capacity

enum { HBG__VEC_ALIGN = 16 };

/* Room for `needed` elements; false leaves all as it is. at_slot is the address of the vector's `at`. */
bool hbg__vec_grow(struct hbg__memory *memory, void *at_slot, size_t *capacity, size_t count, size_t needed, size_t item_bytes) HBG_MUST_CHECK;

/* bool: room for `needed` elements in all */
#define hbg__vec_reserve(memory, v, needed)                                                                            \
    (HBG_LIKELY((size_t)(needed) <= (v)->capacity)                                                                     \
     || hbg__vec_grow((memory), &(v)->at, &(v)->capacity, (v)->count, (needed), sizeof *(v)->at))

/* bool: appended */
#define hbg__vec_push(memory, v, value)                                                                                \
    (hbg__vec_reserve((memory), (v), (v)->count + 1) ? ((v)->at[(v)->count++] = (value), true) : false)

/* address of `n` new elements at the end, contents undefined; NULL: no memory */
#define hbg__vec_extend(memory, v, n)                                                                                  \
    (hbg__vec_reserve((memory), (v), (v)->count + (n)) ? ((v)->count += (n), &(v)->at[(v)->count - (n)]) : NULL)

/* the last element, removed; the vector is not empty */
#define hbg__vec_pop(v) ((v)->at[--(v)->count])

#define hbg__vec_clear(v) ((void)((v)->count = 0))

#define hbg__vec_free(memory, v)                                                                                       \
    (hbg__free((memory), (v)->at, (v)->capacity * sizeof *(v)->at, HBG__VEC_ALIGN),                                    \
     (v)->at = NULL, (void)((v)->count = (v)->capacity = 0))

#endif /* HBG_BASE_VEC_H */
