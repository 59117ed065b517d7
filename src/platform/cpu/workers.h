/* SPDX-License-Identifier: Apache-2.0 */
/* workers.h - the threads that are the cores of the `cpu` and `null` devices.
 *
 * Between launches every worker sleeps on a doorbell, after spinning for `spin_ns`; during one it runs tasks: hbg__sched_serve().
 * One launch at a time: a launch while another is unfinished is a fault of the caller (asserted).
 *
 * | call                                   | thread           |
 * | create, destroy                        | one, no launch in flight |
 * | launch                                 | one at a time    |
 * | cancel, poll, wait, progress           | any, during a launch |
 * | result                                 | any, after wait or poll said done |
 */
#ifndef HBG_PLATFORM_CPU_WORKERS_H
#define HBG_PLATFORM_CPU_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#include <hbg/status.h>

#include "sched/result.h"          /* struct hbg__launch_result, struct hbg__progress */

struct hbg__launch;
struct hbg__sched;
struct hbg__workers;
struct hbg__memory;

struct hbg__workers_options {
    uint32_t workers;                   /* 1 .. 1024 */
    bool pin;                           /* one CPU of the process's affinity mask each, round robin; cores by hwloc where present */
    bool no_kernels;                    /* `null`: cores finish at once */
    bool spill;                         /* a full shared ring spills; false: HBG_E_LIMIT names it (tests) */
    uint32_t ring_capacity;             /* power of two; of the shared ring */
    uint64_t spin_ns;                   /* how long an idle worker spins before it yields, then sleeps */
    uint64_t stall_ns;                  /* nothing runs, nothing is ready, for this long: HBG_E_STALLED */
    void (*concluded)(void *user);      /* as in struct hbg__sched_options; may be NULL */
    void *concluded_user;
};

/* HBG_E_DEVICE (a thread cannot be made; nothing is left), HBG_E_NO_MEMORY. `error` gets the sentence. */
enum hbg_status hbg__workers_create(const struct hbg__workers_options *options, struct hbg__memory *memory,
                                    struct hbg__workers **workers, struct hbg_error *error);
void hbg__workers_destroy(struct hbg__workers *workers);

/* Instead of destroy, where a launch does not end: threads that are in a kernel are detached and end after it, if ever. They go on
   using the workers' memory and that of the launch, so none of it is given back. Returns how many there are. Within 0.1 s. */
uint32_t hbg__workers_abandon(struct hbg__workers *workers);

/* `launch` with its base table behind it stays until the launch is done. Costs one wake for each sleeping worker, no allocation. */
void hbg__workers_launch(struct hbg__workers *workers, const struct hbg__launch *launch);
bool hbg__workers_poll(struct hbg__workers *workers);                        /* done? */
bool hbg__workers_wait(struct hbg__workers *workers, uint64_t timeout_ns);   /* done, or time is up; UINT64_MAX: forever */
void hbg__workers_cancel(struct hbg__workers *workers);                      /* every task not yet started is skipped */
void hbg__workers_result(struct hbg__workers *workers, struct hbg__launch_result *result);

/* Somebody's task, that of progress->worker if it has one. False: nothing runs. The launch is in flight and stays so during the call. */
bool hbg__workers_progress(struct hbg__workers *workers, struct hbg__progress *progress);

/* What the calling thread runs, as a worker of any device: the task of the outermost image. False: it is no worker, or has no task in hand. For signal handlers. */
bool hbg__workers_here(uint32_t *worker, uint32_t *task, uint32_t *kernel);

uint32_t hbg__workers_count(const struct hbg__workers *workers);

/* How long a thread that waits for a launch spins before it sleeps. */
uint64_t hbg__workers_wait_spin_ns(const struct hbg__workers *workers);

/* Borrowed; to be looked at while no launch is in flight. */
const struct hbg__sched *hbg__workers_sched(const struct hbg__workers *workers);

#endif /* HBG_PLATFORM_CPU_WORKERS_H */
