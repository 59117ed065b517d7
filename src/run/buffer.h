/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.h - device buffers, and the table that turns a region's storage into one.
 *
 * A region of a buffer carries a handle {generation: 12 bits, place: 20 bits} of a table per process, so a handle of a destroyed
 * buffer or of another device is found out. A place that has had all of its generations is not taken again while there are others:
 * no handle is given out twice before all 2^32 have been.
 *
 *   field     written by                          guarded by
 *   holders   create, hold, drop                  process lock; the owner is one of them
 *   bound_*   bind.c                              process lock
 *   address   create, close of the device         device lock; constant while the device is open
 *   writes    hbg_buffer_write                    bootstrap lock
 *   watched*  launch, finish                      device lock
 *   sum       launch, finish                      device lock
 *   list      create, the last drop               device lock
 */
#ifndef HBG_RUN_BUFFER_H
#define HBG_RUN_BUFFER_H

#include "run/device.h"

struct hbg_buffer {
    struct hbg_device *device;
    uint64_t address, size_bytes;
    uint32_t handle, holders;
    uint32_t bound_group;           /* of the bind that has the number bound_in */
    uint64_t bound_in;
    uint64_t writes;                /* by the host */
    bool watched;                   /* watch.c: a run that does not use it is between launch and finish, and */
    uint64_t watched_writes, sum;   /* these were its writes and its checksum at the launch */
    struct hbg_buffer *next, **link;
};

/* The buffer behind a handle, borrowed; NULL: stale, or *foreign. The process lock is held. */
struct hbg_buffer *hbg__buffer_find_locked(const struct hbg_device *device, uint32_t handle, bool *foreign);

void hbg__buffer_drop(struct hbg_buffer *buffer);           /* takes the device lock when it is the last */

/* The device closes: its memory goes, the struct stays. device->lock is held. */
void hbg__buffer_forget_memory(struct hbg_buffer *buffer);

#endif /* HBG_RUN_BUFFER_H */
