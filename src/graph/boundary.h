/* SPDX-License-Identifier: Apache-2.0 */
/* boundary.h - the arguments of a run as the graph sees them: grouped by the storage they share.
 *
 * Two arguments whose byte ranges overlap are one storage ("group"): they are staged as one allocation and conflict where
 * they share bytes. A device buffer is one group, whatever ranges of it are passed.
 *
 *     group     |<---------------------- size_bytes ----------------------->|
 *     argument          |<- displacement of element 0 ->*===*===*===*
 */
#ifndef HBG_GRAPH_BOUNDARY_H
#define HBG_GRAPH_BOUNDARY_H

#include <stdbool.h>
#include <stdint.h>

#include <hbg/arg.h>

struct hbg_buffer;

struct hbg__boundary_group {
    uint64_t size_bytes;
    struct hbg_buffer *buffer;          /* NULL: host memory */
    uint32_t buffer_handle;             /* what regions of this buffer carry as storage */
    bool of_buffer;                     /* of a body: part of the buffer with this handle; `buffer` is NULL */
    const unsigned char *host;          /* first byte where the host can read it; NULL: only through read_buffer() */
};

struct hbg__boundary_arg {
    struct hbg_arg arg;                 /* as the caller gave it, checked: kind, dtype, shape, bounds */
    uint32_t group;                     /* UINT32_MAX: a scalar */
    int64_t displacement;               /* bytes from the group's start to element 0 */
};

struct hbg__boundary {
    const struct hbg__boundary_arg *arg;
    uint32_t arg_count;
    const struct hbg__boundary_group *group;
    uint32_t group_count;
};

/* What the build and the guards need of the device, as functions, since includes only point down. */
struct hbg__buffer_ops {
    /* the buffer behind a handle, to be told from others: its size; NULL (stale handle, or another device's buffer: *foreign) */
    struct hbg_buffer *(*find)(void *user, uint32_t handle, uint64_t *size_bytes, bool *foreign);
    /* copy device bytes to the host; waits for nothing (build time); false: the device failed */
    bool (*read)(void *user, struct hbg_buffer *buffer, uint64_t offset, void *target, uint64_t size_bytes);
    /* the same, with one more holder: any thread may destroy a buffer that was only found */
    struct hbg_buffer *(*hold)(void *user, uint32_t handle, uint64_t *size_bytes, bool *foreign);
    void (*drop)(void *user, struct hbg_buffer *buffer);
    /* may the buffer be read, or, where it is NULL, these bytes of the host? A run in flight may be about to write them. wait: until they
       may be, or a status and its sentence; else HBG_E_BUSY at once. reader NULL: nobody else writes */
    enum hbg_status (*settle)(void *reader, struct hbg_buffer *buffer, const void *memory, uint64_t size_bytes, bool wait, struct hbg_error *error);
    void *user, *reader;
};

#endif /* HBG_GRAPH_BOUNDARY_H */
