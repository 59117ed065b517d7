/* SPDX-License-Identifier: Apache-2.0 */
/* result.h - what a finished launch says. */
#ifndef HBG_SCHED_RESULT_H
#define HBG_SCHED_RESULT_H

#include <stdint.h>

#include <hbg/status.h>

/* For HBG_E_KERNEL: the failed task that comes first in the program. */
struct hbg__launch_result {
    enum hbg_status status;             /* OK, E_KERNEL, E_CANCELLED, E_STALLED, E_LIMIT, E_UNSUPPORTED (HBG_PENDING returned), E_IMAGE */
    uint32_t task;                      /* of the outermost image; HBG__NIL: none */
    uint32_t activation, node;          /* the task inside of it, and to which activation it belongs; 0 and the same task: it is no submission */
    uint32_t kernel;
    int code;
    int64_t detail, limit;              /* of hbg_fail(); for E_LIMIT used and limit */
    uint64_t accepted_ns;               /* hbg clock: it came first in line, and the cores were told */
    uint64_t started_ns, ended_ns;      /* likewise: the first worker began, the last task was done */
    uint64_t executed, skipped, noops;  /* together the slot count, but for E_STALLED, E_LIMIT and E_IMAGE */
    char text[256];                     /* stall: who waits for whom, a few of them; otherwise empty */
};

/* What somebody runs, as an onlooker sees it. */
struct hbg__progress {
    uint32_t task;                      /* of the outermost image */
    uint32_t activation, node;          /* the task inside of it, and to which activation it belongs; 0 and the same task: it is no submission */
    uint32_t kernel, worker;
};

#endif /* HBG_SCHED_RESULT_H */
