/* SPDX-License-Identifier: Apache-2.0 */
/* whole_life.h - everything that a device can be used for, in one function, for tests that let something fail on the way.
 *
 * It opens a device, makes a buffer and two programs whose builds use every kind of task, argument, scope and guard, runs both
 * until they are warm, one of them with more boundaries than it keeps recordings, and closes all. It stops at the first call that
 * fails, and gives back all that it has by then.
 */
#ifndef HBG_TEST_WHOLE_LIFE_H
#define HBG_TEST_WHOLE_LIFE_H

#include <hbg/hbg.h>

struct whole_life {
    const char *spec;
    const struct hbg_allocator *allocator;      /* NULL: the library's own */
    uint64_t reserve_bytes;                     /* of the device; 1 MiB makes arenas move */
    void (*on_failure)(void *user);             /* may be NULL: called when the first call has failed */
    void *user;

    enum hbg_status status;                     /* out: of the first call that failed; HBG_OK: none did */
    struct hbg_error error;                     /* out: as far as that call has one; size 0: it has none */
    const char *call;                           /* out: its name */
    enum hbg_status after;                      /* out: of a run of the same device after it, if there was a device to try it on */
    enum hbg_status close;                      /* out: of the close */
};

/* False: a result is wrong, although no call failed. */
bool whole_life(struct whole_life *life);

#endif /* HBG_TEST_WHOLE_LIFE_H */
