/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - what a recording depended on; a replay is allowed while all of it is unchanged.
 *
 *     the boundary      number, kinds, types, shapes, strides and access modes of the arguments; which of them share storage, and
 *                       how far apart in it; which of them are device buffers that the build names itself
 *     values            boundary scalars that the build has looked at
 *     bytes             what it has read of host arguments and device buffers, or named with hbg_guard
 */
#ifndef HBG_GRAPH_GUARD_H
#define HBG_GRAPH_GUARD_H

#include "base/alloc.h"
#include "graph/boundary.h"

enum hbg__guard_kind { HBG__GUARD_VALUE, HBG__GUARD_BYTES, HBG__GUARD_MEMORY };

struct hbg__guard {
    uint32_t kind;
    uint32_t group;                     /* bytes: boundary group; value: position */
    uint64_t offset;                    /* bytes: from the group's start; value: its 64 bits */
    uint64_t size_bytes;
    uint64_t copy;                      /* offset in `bytes` of what it was */
    const void *memory;                 /* memory: what hbg_guard named */
};

struct hbg__guards {
    struct hbg__memory *memory;
    struct hbg__boundary_arg *arg;      /* copies */
    struct hbg__boundary_group *group;
    uint32_t arg_count, arg_capacity, group_count, group_capacity;
    struct hbg__guard *item;
    uint32_t count, capacity;
    unsigned char *bytes;
    uint64_t bytes_used, bytes_capacity;
};

struct hbg__recording;
struct hbg__miss;

/* Is the boundary the one that was recorded, as far as the image depends on it? If not, *miss says why. */
bool hbg__boundary_holds(const struct hbg__recording *recording, const struct hbg__boundary *boundary, struct hbg__miss *miss);

/* And are its buffers the same ones, and the places of its arguments in them? For builds that name buffers themselves. */
bool hbg__boundary_is_same(const struct hbg__recording *recording, const struct hbg__boundary *boundary);

void hbg__guards_free(struct hbg__guards *guards);     /* NULL is fine */

#endif /* HBG_GRAPH_GUARD_H */
