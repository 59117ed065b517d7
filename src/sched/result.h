/* SPDX-License-Identifier: Apache-2.0 */
/* result.h - what a finished launch says. */
#ifndef HBG_SCHED_RESULT_H
#define HBG_SCHED_RESULT_H

#include <stdint.h>

#include <hbg/status.h>

/* For HBG_E_KERNEL: the failed task with the lowest id. */
struct hbg__launch_result {
    enum hbg_status status;             /* OK, E_KERNEL, E_CANCELLED, E_STALLED, E_LIMIT, E_UNSUPPORTED (HBG_PENDING returned), E_IMAGE */
    uint32_t task;                      /* HBG__NIL: none */
    uint32_t kernel;
    int code;
    int64_t detail, limit;              /* of hbg_fail(); for E_LIMIT used and limit */
    uint64_t accepted_ns;               /* hbg clock: it came first in line, and the cores were told */
    uint64_t started_ns, ended_ns;      /* likewise: the first worker began, the last task was done */
    uint64_t executed, skipped, noops;  /* together the task count, but for E_STALLED, E_LIMIT and E_IMAGE */
    char text[256];                     /* stall: who waits for whom, a few of them; otherwise empty */
};

#endif /* HBG_SCHED_RESULT_H */
