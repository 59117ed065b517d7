/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - the little that all devices of a process share: one lock, and the number of forks.
 *
 *   field         written by                   read by     order
 *   fork_count    the child of a fork, alone   any thread  relaxed: the child has one thread, the parent never writes it
 *
 * The lock is held across a fork, so that the child finds the tables that it guards whole and can open devices of its own. It is
 * taken last: whoever holds it takes no other lock.
 */
#ifndef HBG_RUN_PROCESS_H
#define HBG_RUN_PROCESS_H

#include "atomic/atomic.h"

extern struct hbg__atomic_u32 hbg__process_forks;

/* False: the fork handlers could not be installed. */
bool hbg__process_init(void);

void hbg__process_lock(void);
void hbg__process_unlock(void);

static inline uint32_t hbg__process_fork_count(void)
{
    return hbg__load_relaxed32(&hbg__process_forks);        /* relaxed: see the table above */
}

#endif /* HBG_RUN_PROCESS_H */
