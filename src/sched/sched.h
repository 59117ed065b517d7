/* SPDX-License-Identifier: Apache-2.0 */
/* sched.h - the scheduler of one device: its shared state, its workers, and what the host may call.
 *
 *     launch() -> workers enter -> each runs tasks, idles, rests, enters again ... -> the count is reached: finished
 *              -> all leave -> the last one concludes: result, queues empty, done
 *
 * A run belongs to a generation. `state` says which, whether it is finished, and how many workers are inside; only a worker
 * inside touches the run's memory, so "finished and nobody inside" is the moment when the host may take it back. A worker
 * that finds nothing for a while leaves and sleeps outside: it need not be woken for the run to end.
 *
 * Files: slot settle wake_list (what completion means), deque ring spill roots (where ready tasks are), wake claim in_order
 * (three ways to run an image), traced (the same with records of tasks), context expand (submissions of definitions), find idle (what a
 * worker without work does), enter (in and out of runs), launch (the host's side), conclude stall verify (the end).
 *
 * struct hbg__sched
 *   field            written by                          read by            order, label
 *   options          open                                all                set before the threads start
 *   run              launch, while nobody is inside      workers inside     L1 release, L2 acquire (state)
 *   result           the last to leave                   host               N1 release, N2 acquire (done)
 *   state            launch; workers                     all                L1, L2, L3
 *   stop             host, any worker (or)               workers inside     relaxed: a hint to skip or leave
 *   cursor           workers inside                      likewise           relaxed: it only allots roots or ids
 *   closing          host                                workers            Q1 release, Q2 acquire
 *   bell, done_bell  see bell.h
 *   searchers        workers                             workers            relaxed: a hint, see idle.c
 *   hinted           workers; launch                     workers            relaxed: likewise
 *   done             the last to leave; launch (0 tasks) host               N1 release, N2 acquire
 *
 * struct hbg__worker
 *   field            written by                          read by            order, label
 *   running          own worker                          stall check, host  T3 release ("none", "waits"), T4 acquire; relaxed: what runs, as far
 *                                                                           as a passer-by sees
 *   inside           own worker                          host               X1 release, X2 acquire
 *   published        own worker                          workers inside     T1 release, T2 acquire
 *   deque            see deque.h
 *   counts, failure, fault, times, generation
 *                    own worker                          the last to leave  L3 acq_rel (state)
 *   the rest         own worker                          own worker         none: private
 */
#ifndef HBG_SCHED_SCHED_H
#define HBG_SCHED_SCHED_H

#include "core/core.h"
#include "image/layout.h"
#include "sched/bell.h"
#include "sched/deque.h"
#include "sched/result.h"
#include "sched/ring.h"
#include "sched/settle.h"
#include "sched/spill.h"
#include "trace/event.h"

struct hbg__sched_options {
    uint32_t worker_count;
    uint32_t ring_capacity;             /* a power of two */
    bool no_kernels;
    bool spill;
    uint64_t spin_ns;                   /* an idle worker's, before it yields */
    uint64_t wait_spin_ns;              /* a waiting host thread's, before it sleeps */
    uint64_t stall_ns;
    /* Called by the last worker out of a launch of tasks, when the result stands and another may be launched; NULL: nobody asks. */
    void (*concluded)(void *user);
    void *concluded_user;
};

/* What workers need of a launch, decoded once. */
struct hbg__sched_run {
    const struct hbg__launch *launch;
    struct hbg__graph_view graph;
    const uint32_t *roots;
    uint32_t root_count;
    uint32_t mode;                      /* enum hbg__mode */
    struct hbg__activation *activations;        /* activation i lies at i - 1 */
    uint64_t *bases;                    /* of the outermost image's submissions */
    uint32_t slot_count;                /* so many records complete */
    uint32_t activation_count;
    uint32_t base_total;
};

struct hbg__sched {
    struct hbg__sched_options options;
    struct hbg__worker *worker;         /* worker_count of them, behind this struct; then the ring's cells */
    struct hbg__sched_run run;
    struct hbg__launch_result result;
    HBG__OWN_LINE struct hbg__atomic_u64 state;         /* {generation:32, finished:1, inside:31} */
    HBG__OWN_LINE struct hbg__atomic_u32 stop;          /* HBG__STOP_* */
    struct hbg__atomic_u32 closing;
    HBG__OWN_LINE struct hbg__atomic_u32 cursor;        /* next root, or next id in claim mode */
    HBG__OWN_LINE struct hbg__atomic_u32 searchers;     /* workers inside that look for work */
    struct hbg__atomic_u32 hinted;                      /* somebody was woken to look and does not yet */
    struct hbg__bell bell;                              /* workers sleep here, during runs and between */
    struct hbg__bell done_bell;                         /* host threads that wait for the run's end */
    struct hbg__atomic_u32 done;                        /* generation of the last concluded run */
    struct hbg__ring ring;
    struct hbg__spill spill;
};

#define HBG__STATE_FINISHED (1u << 31)
static inline uint32_t hbg__state_generation(uint64_t state) { return (uint32_t)(state >> 32); }
static inline bool hbg__state_finished(uint64_t state) { return (state & HBG__STATE_FINISHED) != 0; }
static inline uint32_t hbg__state_inside(uint64_t state) { return (uint32_t)state & (HBG__STATE_FINISHED - 1); }

#define HBG__RUNNING_NONE HBG__NIL              /* values of worker.running that are no task: no work in hand, */
#define HBG__RUNNING_BUSY (HBG__NIL - 1)        /* or busy between tasks, */
#define HBG__RUNNING_WAITS (1u << 31)           /* or, with that producer's number, has waited for it for long (claim mode) */
HBG__STATIC_ASSERT(HBG__TASKS_MAX <= HBG__RUNNING_WAITS / 2, "no number of a task makes it one of the other two");

/* The failed task that comes first in the program, of those that this worker ran. */
struct hbg__failure {
    uint32_t activation;                /* 0: of the outermost image */
    uint32_t task;                      /* record there; HBG__NIL: none */
    uint32_t kernel;
    int code;
    int64_t detail;
};

/* Why this worker ended the run before its count was reached. */
struct hbg__fault {
    enum hbg_status status;             /* HBG_OK: it did not */
    uint32_t activation, task;          /* likewise */
    int64_t used, limit;
};

/* Roots claimed and not yet run, all of one image. What the own queue holds below `floor` comes after them. */
struct hbg__root_range {
    const uint32_t *at, *end;           /* NULL: there is no range */
    uint64_t floor;                     /* the queue's bottom when they were claimed; without a range HBG__NO_FLOOR */
    uint32_t activation;
};
#define HBG__NO_FLOOR UINT64_MAX

struct hbg__worker {
    struct hbg__core core;
    struct hbg__sched *sched;
    struct hbg__graph_view graph;       /* of the image whose tasks it runs */
    uint32_t index;
    uint32_t generation;                /* of the run that the private state belongs to */
    uint32_t activation;                /* whose tasks it runs, 0: the outermost image's; `next`, `drain` and task ids belong to it */
    uint32_t slot_base;                 /* of its first slot among the run's */
    uint32_t next;                      /* ready: runs next on this worker; HBG__NIL: none */
    uint32_t drain;                     /* skipped tasks and noops to complete, through slot.link; 0: none */
    struct hbg__root_range roots, outer_roots;      /* the outer ones come after the others */
    uint64_t executed, skipped, noops;
    uint64_t told;                      /* that sum, as far as the activation knows of it */
    bool activation_failed;             /* a task that it does not know of failed or was skipped */
    struct hbg__failure failure;
    struct hbg__fault fault;
    uint64_t started_ns, ended_ns;      /* entered this run; last went idle with tasks done */
    uint64_t random;
    uint32_t steal_victim;              /* a short queue that is being watched, and how: find.c */
    uint64_t steal_top, steal_since_ns;
    bool left_some;                     /* stolen from a queue that has more: find.c */
    bool resting, patient;              /* left to sleep; spins before it rests (not after the clock woke it) */
    uint32_t rest_seen;
    uint64_t rest_ns;
    uint64_t quiet_total, quiet_since_ns;       /* since when nothing moved: stall.c */
    struct hbg__atomic_u64 inside;      /* {generation, activation}: whose task is `running` */
    struct hbg__atomic_u32 running;
    struct hbg__event_writer events;    /* of runs whose tasks are recorded */
    struct hbg__atomic_u32 nap;         /* nobody ever changes it: a place to sleep for a set time */
    HBG__OWN_LINE struct hbg__atomic_u64 published;     /* {generation, tasks this worker completed} */
    struct hbg__deque deque;
};

/* Entries of deques and ring name {activation, task}, or the roots of an activation that nobody has claimed. */
#define HBG__ENTRY_ROOTS (1u << 31)
HBG__STATIC_ASSERT(HBG__TASKS_MAX <= HBG__ENTRY_ROOTS, "every activation has a number that leaves the bit free");
static inline uint64_t hbg__entry_make(uint32_t activation, uint32_t task) { return (uint64_t)activation << 32 | task; }
static inline uint64_t hbg__entry_roots(uint32_t activation) { return hbg__entry_make(HBG__ENTRY_ROOTS | activation, 0); }
static inline uint32_t hbg__entry_task(uint64_t entry) { return (uint32_t)entry; }
static inline uint32_t hbg__entry_activation(uint64_t entry) { return (uint32_t)(entry >> 32) & ~HBG__ENTRY_ROOTS; }
static inline bool hbg__entry_is_roots(uint64_t entry) { return (entry >> 63) != 0; }

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the host's side: launch.c ---- */

size_t hbg__sched_bytes(const struct hbg__sched_options *options);
/* `memory`: hbg__sched_bytes() bytes, 64-byte aligned; stays with the caller. */
struct hbg__sched *hbg__sched_open(void *memory, const struct hbg__sched_options *options);
void hbg__sched_launch(struct hbg__sched *sched, const struct hbg__launch *launch);
bool hbg__sched_poll(struct hbg__sched *sched);
bool hbg__sched_wait(struct hbg__sched *sched, uint64_t timeout_ns);
void hbg__sched_cancel(struct hbg__sched *sched);
/* Somebody's task, that of progress->worker if it has one; the launch is in flight and stays so during the call. */
bool hbg__sched_progress(struct hbg__sched *sched, struct hbg__progress *progress);
void hbg__sched_close(struct hbg__sched *sched);       /* every hbg__sched_serve() returns; no launch in flight */
/* The same over a launch that does not end: whoever is in a kernel returns after it, if ever. The memory stays. */
void hbg__sched_abandon(struct hbg__sched *sched);

/* ---- a worker's whole life: enter.c ---- */

void hbg__sched_serve(struct hbg__sched *sched, uint32_t worker);

/* ---- parts of it ---- */

bool hbg__enter(struct hbg__worker *worker);            /* waits for a run; false: the device closes */
void hbg__leave(struct hbg__worker *worker);            /* the last one out of a finished run concludes it */
void hbg__finish(struct hbg__worker *worker);           /* from inside: nobody enters any more, all leave */
void hbg__halt(struct hbg__worker *worker, enum hbg_status status, uint32_t task, int64_t used, int64_t limit);
void hbg__publish(struct hbg__worker *worker);
uint64_t hbg__published_total(struct hbg__sched *sched, uint32_t generation);

void hbg__run_wake(struct hbg__worker *worker);         /* each returns when the worker should leave */
void hbg__run_claim(struct hbg__worker *worker);
void hbg__run_in_order(struct hbg__worker *worker);
void hbg__run_wake_traced(struct hbg__worker *worker);  /* traced.c: the same, and each task is recorded */
void hbg__run_claim_traced(struct hbg__worker *worker);
void hbg__run_in_order_traced(struct hbg__worker *worker);

uint32_t hbg__idle(struct hbg__worker *worker);         /* a task; HBG__NIL: leave (with `resting`: and come back) */
uint32_t hbg__find(struct hbg__worker *worker, uint64_t now_ns);        /* in queues, roots, other workers; HBG__NIL: nothing */
bool hbg__find_left_some(const struct hbg__worker *worker);            /* is there more than what this worker found last? */
void hbg__push_entry(struct hbg__worker *worker, uint64_t entry);       /* into the own queue, or where there is room */
void hbg__push_overflow(struct hbg__worker *worker, uint64_t entry);    /* the own queue is full */
void hbg__hint(struct hbg__sched *sched);               /* there is work: wake somebody unless somebody is looking */

/* expand.c; a task is one of the worker's activation, HBG__NIL: none, look again. */
uint32_t hbg__activate(struct hbg__worker *worker, const struct hbg__task_record *record, uint32_t task);  /* its activation; 0: the run was ended */
uint32_t hbg__expand(struct hbg__worker *worker, const struct hbg__task_record *record, uint32_t task);    /* the same, and its first root */
uint32_t hbg__turn(struct hbg__worker *worker, uint64_t entry);        /* to the activation of an entry that was taken */
void hbg__tell(struct hbg__worker *worker);             /* the activation what was completed; may end it, and make tasks ready */

bool hbg__stalled(struct hbg__worker *worker, uint64_t now_ns);
void hbg__stall_describe(const struct hbg__sched_run *run, char *text, size_t text_bytes);
void hbg__conclude(struct hbg__sched *sched);
/* Does the first task come before the second in the program? Neither is inside of the other. */
bool hbg__is_before(const struct hbg__sched_run *run, uint32_t a, uint32_t task_a, uint32_t b, uint32_t task_b);
/* After a run that reached its count: is everything empty, and do the counts agree? NULL, or what is wrong. */
const char *hbg__sched_verify(const struct hbg__sched *sched, uint32_t generation);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_SCHED_SCHED_H */
