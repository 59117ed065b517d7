/* SPDX-License-Identifier: Apache-2.0 */
/* sim.h - a simulated device: its workers are fibers of the thread that calls, and a seed says which of them goes on when.
 *
 *     host thread: launch, poll, wait, cancel, close
 *        |  one at a time; inside of such a call it is a fiber like the workers
 *        v
 *     turn.c       at each atomic operation: does somebody else go on here?  time, sleeping, waking
 *     device_code  src/sched and src/core as they are
 *     check.c      is everything still as it must be?
 *
 * Between calls of the host nothing moves: workers stand where they were interrupted. Time is counted in operations, so that one seed
 * is one schedule, with the same moments, every time.
 *
 *   field       written by                        read by       order
 *   visitors    host threads that want in         the host in   relaxed: a hint to let them in
 *   the rest    whoever holds the lock, and the   the same      none of its own: the lock
 *               fibers that it runs
 */
#ifndef HBG_PLATFORM_SIM_SIM_H
#define HBG_PLATFORM_SIM_SIM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <hbg/status.h>

#include "atomic/atomic.h"
#include "atomic/sim_calls.h"
#include "base/check.h"
#include "base/inside.h"
#include "base/rng.h"
#include "platform/sim/fiber.h"
#include "sched/result.h"

struct hbg__launch;
struct hbg__memory;
struct hbg__sched;

enum { HBG__SIM_WORKERS_MAX = 64 };
enum { HBG__SIM_STEP_NS = 10, HBG__SIM_PAUSE_NS = 40, HBG__SIM_YIELD_NS = 200 };        /* what an operation takes */

enum hbg__sim_mode {
    HBG__SIM_RANDOM,                    /* after some steps anybody, often or seldom as the seed says; sleepers wake early now and then */
    HBG__SIM_FEW,                       /* by priority, which changes at a few steps: finds what needs few preemptions */
    HBG__SIM_ROUND,                     /* each a fixed number of steps */
    HBG__SIM_ALL,                       /* seed n is the n-th way to place two preemptions: turn.c */
    HBG__SIM_MODES
};
extern const char *const hbg__sim_mode_name[HBG__SIM_MODES];

struct hbg__sim_options {
    uint32_t workers;                   /* 1 .. HBG__SIM_WORKERS_MAX */
    uint32_t ring_capacity;             /* a power of two */
    bool spill, no_kernels;
    uint64_t spin_ns, stall_ns;         /* simulated */
    enum hbg__sim_mode mode;
    uint64_t seed;
    uint32_t preemptions;               /* HBG__SIM_FEW */
    uint64_t patience_steps;            /* a run in which no task ends for so many steps does not end: a fault of hbg */
    bool check;                         /* look at all structures after each step */
    struct { uint32_t worker; uint64_t step, length_ns; } stop;     /* that worker stands still from that step on; length_ns 0: nobody does */
    void (*failed)(void *user, const char *sentence);               /* is told before the process is stopped; NULL: nobody */
    void *failed_user;
    void (*concluded)(void *user);      /* struct hbg__sched_options */
    void *concluded_user;
    void (*body)(void *user, uint32_t worker);                      /* tests of parts: what a worker does instead of serving; NULL */
    void *body_user;
    uint32_t generation;                /* tests: of the launch before the first */
    uint64_t position;                  /* tests: of the first push to each queue */
};
#define HBG__SIM_FOR_EVER UINT64_MAX    /* stop.length_ns */
#define HBG__SIM_LONGEST_WAIT_NS UINT64_C(10000000000)

enum hbg__sim_state { HBG__SIM_READY, HBG__SIM_SLEEPS, HBG__SIM_JOINS, HBG__SIM_ENDED };

struct hbg__sim_fiber {
    struct hbg__fiber fiber;
    struct hbg__sim *sim;
    uint32_t index;                     /* of the worker; the host is the one behind the last */
    enum hbg__sim_state state;
    const uint32_t *word;               /* SLEEPS on it */
    uint64_t until_ns;                  /* SLEEPS, JOINS: at most; UINT64_MAX: for as long as it takes */
    uint64_t stopped_until_ns;
    int64_t priority;                   /* HBG__SIM_FEW: the highest goes on */
};

struct hbg__sim {
    struct hbg__sim_options options;
    struct hbg__memory *memory;
    struct hbg__sched *sched;
    size_t sched_bytes;
    uint32_t workers_made;              /* fibers and stacks there are */
    unsigned char *stacks;
    size_t stacks_bytes;
    struct hbg__sim_fiber *fiber;       /* workers, then the host */
    uint32_t running;
    bool abandoned;
    uint64_t steps, now_ns, next;       /* `next`: the step at which something is to be done */

    struct hbg__rng rng;                /* choices */
    uint32_t burst;                     /* RANDOM, ROUND: steps in a row, on average */
    bool jumps;                         /* RANDOM: sleepers wake early */
    int64_t lowest;                     /* FEW: priority of whoever yielded last */
    uint64_t change[8];                 /* FEW, ALL: steps of the preemptions, ascending */
    uint32_t target[8], changes, changed;
    uint64_t choice_at, check_at, stop_at, patience_at;     /* steps; UINT64_MAX: never */
    uint64_t progress;                  /* as it was at the last look */

    struct hbg__sim_check *check;       /* NULL: nothing is checked */
    pthread_mutex_t lock;
    struct hbg__atomic_u32 visitors;
    enum hbg__inside host_inside;
};

/* HBG_E_NO_MEMORY. `error` gets the sentence. */
enum hbg_status hbg__sim_create(const struct hbg__sim_options *options, struct hbg__memory *memory, struct hbg__sim **sim, struct hbg_error *error);
void hbg__sim_destroy(struct hbg__sim *sim);            /* no launch in flight */
uint32_t hbg__sim_abandon(struct hbg__sim *sim);        /* as hbg__workers_abandon() */

/* As if it had been destroyed and created anew, wherever its workers stand; nothing is allocated. No more workers and no larger ring
   than it was created with. */
void hbg__sim_restart(struct hbg__sim *sim, const struct hbg__sim_options *options);

/* As hbg__workers_...(); timeouts are simulated time. Launch: HBG_E_NO_MEMORY, where the tables of check.c cannot grow. */
enum hbg_status hbg__sim_launch(struct hbg__sim *sim, const struct hbg__launch *launch);
bool hbg__sim_poll(struct hbg__sim *sim);
bool hbg__sim_wait(struct hbg__sim *sim, uint64_t timeout_ns);
void hbg__sim_cancel(struct hbg__sim *sim);
void hbg__sim_result(struct hbg__sim *sim, struct hbg__launch_result *result);
bool hbg__sim_progress(struct hbg__sim *sim, struct hbg__progress *progress);
uint64_t hbg__sim_clock(struct hbg__sim *sim);          /* simulated time; whoever asks takes a step */
uint64_t hbg__sim_queue_sum(const struct hbg__sim *sim);

/* Until every worker has returned: tests of parts; and of a close, the device stays until it is restarted or destroyed. */
void hbg__sim_run_out(struct hbg__sim *sim);
void hbg__sim_run_closed(struct hbg__sim *sim);

/* Let the workers go on for so many steps of theirs, as far as they can. */
void hbg__sim_run(struct hbg__sim *sim, uint64_t steps);

/* What the calling thread runs as a worker of a simulated device, as hbg__workers_here(). */
bool hbg__sim_here(uint32_t *worker, uint32_t *task, uint32_t *kernel);

/* ---- turn.c ---- */

void hbg__sim_seed(struct hbg__sim *sim);               /* the schedule of the options, from its first step on */void hbg__sim_lock(struct hbg__sim *sim);               /* the calling thread is the host now */
void hbg__sim_unlock(struct hbg__sim *sim);
void hbg__sim_join(struct hbg__sim *sim, uint64_t timeout_ns);      /* until every worker has returned that still can */
void hbg__sim_end(struct hbg__sim_fiber *fiber);        /* a worker's last words; does not return */
struct hbg__sim *hbg__sim_current(void);                /* NULL: this thread is in none */
HBG_COLD __attribute__((noreturn)) void hbg__sim_fail(struct hbg__sim *sim, const char *sentence);

/* ---- workers.c ---- */

uint64_t hbg__sim_progress_sum(const struct hbg__sim *sim);         /* changes whenever somebody gets on */
bool hbg__sim_is_in_flight(const struct hbg__sim *sim);             /* a launch has not ended */

/* ---- check.c ---- */

/* False: no memory. */
bool hbg__sim_check_open(struct hbg__sim *sim);
void hbg__sim_check_close(struct hbg__sim *sim);
bool hbg__sim_check_fit(struct hbg__sim *sim, const struct hbg__launch *launch);        /* there will be launches of that size */
void hbg__sim_check_launch(struct hbg__sim *sim);       /* before each launch */
/* NULL, or what is wrong: slot words, wake lists, queues, ring, spill list, counts; at any step. */
const char *hbg__sim_verify(struct hbg__sim *sim);
uint64_t hbg__sim_check_cost(const struct hbg__sim *sim);       /* of one such look, in steps */

#endif /* HBG_PLATFORM_SIM_SIM_H */
