/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a pipeline slot: the resources of one run in flight, and the run that has them.
 *
 *     prepare   lease (lease.c) -> bind (bind.c: check, group) -> claim (gate.c: host data of runs in flight) -> record (record.c:
 *               replay or build) -> stage (stage.c: upload, arguments, descriptor)
 *     launch, poll, wait, cancel     run.c
 *     finish    result.c: copy back, explain; then the slot is free for the next generation
 *
 * Everything here belongs to the thread that is in the run's current phase (handle.h); `leased` and what follows it up to
 * `program` belong to the device lock. What several callers of one launched run share:
 *
 *   field          written by                          read by      order
 *   deadline_hit   prepare; polls and waits that are   finish       relaxed: leaving a call (H4) orders it before the finish,
 *                  late, any thread                                 which waits until all have left (H2)
 *   cancelled_ns   prepare; whoever cancels first,     any thread   relaxed: a time, it publishes nothing
 *                  any thread
 *   levels,        whoever first asks about a node     the same     levels_lock; then constant until the finish
   level_count
   is_home,       whoever first needs the outputs     the same     home_lock
 *   home_status    at home
 *
 * A run that was cancelled and has not ended a second later is lost: some kernel does not return. While that is so, prepares,
 * waits that time out, accesses to its buffers and its finish say HBG_E_DEVICE, and a close leaves it behind. When the kernel
 * returns after all, the run has ended and the device is as usable as before.
 */
#ifndef HBG_RUN_RUN_H
#define HBG_RUN_RUN_H

#include "graph/build.h"
#include "image/layout.h"
#include "run/device.h"
#include "run/handle.h"
#include "run/program.h"
#include "run/watch.h"
#include "trace/span.h"

/* What a run copies beside image and arguments. Nothing of the host's is in it. */
struct hbg__descriptor {
    struct hbg__launch launch;
    uint64_t base[];
};

/* Where a group of boundary arguments lies on the device. */
struct hbg__placed_group {
    uint64_t address;               /* of its first byte */
    uint64_t host;                  /* of its first byte; 0: a device buffer */
    bool has_input;                 /* some argument of it is copied in */
    uint64_t watched, writes;       /* watch.c: place in its copies; writes of the buffer before */
};

struct hbg__range { uint64_t lo, hi; uint32_t arg; };
/* What the build has looked at, or a guard: a buffer, or memory of the host. */
enum { HBG__LOOKED_MAX = 64 };
struct hbg__looked { const struct hbg_buffer *buffer; uint64_t lo, hi; };

struct hbg__bank {
    struct hbg__zone slots, heap, staging, descriptor;
    struct hbg__zone activations;   /* of submissions of definitions, and nothing else ever: their epochs tell whose they are */
    struct hbg__zone bases;         /* the base tables of these */
    struct hbg__zone events;        /* task records, where they are traced */
    uint32_t epoch;                 /* of the last run; the next takes the one after */
};

struct hbg__run_times {
    uint64_t prepare_begin, build_begin, build_end, upload_begin, prepare_end, launch_begin;
    uint64_t waited_ns;             /* of prepare, for other runs: gate.c; what of it lies before prepare_end, and inside of the build: */
    uint64_t bind_waited_ns, build_waited_ns;
};

struct hbg__opened;

struct hbg__run {
    struct hbg_device *device;
    struct hbg__run_entry *entry;
    uint32_t slot, generation;

    bool leased, handed_over;
    bool claimed;                   /* its host arguments are compared with those of later prepares: gate.c */
    bool settled;                   /* claimed, but it has ended and its outputs are home */
    struct hbg__looked looked[HBG__LOOKED_MAX];     /* under the device lock */
    uint32_t looked_count;
    bool outdated;                  /* likewise: a run that waits for it writes what its build has looked at */
    bool looked_at_all;             /* there was no room for more: whatever is written, it may have been looked at */
    const void *owner;              /* the thread that prepared it */
    struct hbg_program *program;    /* kept until finish */

    char name[48];                  /* of the run's options, cut; empty: none */
    struct hbg_error *error;        /* of the run's options; borrowed until finish */
    bool has_said;                  /* a wait that did not succeed wrote it; under the device lock */
    hbg_done_fn *done;              /* of the run's options */
    void *done_user;
    bool polls;                     /* prepare does not wait; of the run's options */
    uint64_t until_ns;              /* likewise, on the clock: prepare waits no longer; UINT64_MAX: without limit */
    uint64_t deadline_ns;           /* on the clock; UINT64_MAX: none */
    struct hbg__atomic_u32 deadline_hit;    /* 1: somebody cancelled it for being late */
    struct hbg__atomic_u64 cancelled_ns;    /* on the clock; 0: it was not cancelled after its launch */
    enum hbg_status launch_status;  /* of a launch that failed */

    struct hbg__boundary_arg *arg;
    struct hbg__boundary_group *group;
    struct hbg__placed_group *placed;
    struct hbg__range *range;
    uint32_t capacity, arg_count, group_count, range_count;

    struct hbg__kept *kept;         /* what is executed */
    struct hbg__kept scratch;       /* of builds that are not kept */
    struct hbg_graph *graph;        /* build state; made by the first build */
    struct hbg__descriptor *descriptor;
    uint32_t base_capacity;
    uint64_t device_descriptor;     /* where the device finds it */
    struct hbg__bank bank;
    struct hbg__stream_set streams;

    struct hbg__run_times times;
    uint64_t upload_bytes, upload_copies;
    uint64_t staged_bytes;          /* of the staging zone, in use */
    pthread_mutex_t home_lock;
    bool is_home;                   /* the outputs are where the caller wants them */
    enum hbg_status home_status;
    struct hbg__watch watch;        /* with poison=1 */
    struct hbg__run_spans *spans;   /* NULL: nothing is traced */
    uint64_t event_capacity;        /* of a core's ring of task records; 0: none are kept */
    void *collected;                /* task_trace.c: its memory, kept from run to run */
    uint64_t collected_bytes;
    pthread_mutex_t levels_lock;
    struct hbg__opened *levels;     /* describe.c: level_count of them, of this run; 0: nobody asked. Their memory is kept */
    uint32_t level_count, level_capacity;
    bool replayed;
    char why[64];
};

/* run.c: the run object behind a handle, the call counted in; every HBG_OK is followed by a leave. */
enum hbg_status hbg__run_enter(struct hbg_run handle, const char *call, struct hbg__run **run, enum hbg__run_phase *phase);
void hbg__run_leave(struct hbg__run *run);

/* bind.c: check the list, hold its buffers, fill arg and group. On an error nothing is held. */
enum hbg_status hbg__run_bind(struct hbg__run *run, struct hbg_arg_list list, struct hbg_error *error);
void hbg__run_unbind(struct hbg__run *run);
void hbg__run_free_arguments(struct hbg__run *run);
static inline struct hbg__boundary hbg__run_boundary(const struct hbg__run *run)
{
    return (struct hbg__boundary){ .arg = run->arg, .arg_count = run->arg_count, .group = run->group, .group_count = run->group_count };
}

/* gate.c: until no run in flight conflicts with the host arguments of this one, which then counts as one that others wait for.
   HBG_E_BUSY, HBG_TIMEOUT, HBG_E_WOULD_DEADLOCK, HBG_E_DEVICE; run->error says of which. */
enum hbg_status hbg__run_pass_gate(struct hbg__run *run);
/* The same for what the build function reads: a buffer, or else memory of the host. wait false: HBG_E_BUSY at once. */
enum hbg_status hbg__run_settle(struct hbg__run *run, const struct hbg_buffer *buffer, const void *memory, uint64_t size_bytes, bool wait,
                                struct hbg_error *error);
/* The run becomes prepared, when nobody prepared before has read what it writes and is not launched. The same errors. */
enum hbg_status hbg__run_commit(struct hbg__run *run);
/* Did the build, or the commit, fail for this alone: a run that was to be prepared writes what it has read? What it has read is forgotten then. */
bool hbg__run_begins_anew(struct hbg__run *run);
/* Of a run that has ended: its outputs are copied back, once. Any thread that has entered it. */
enum hbg_status hbg__run_bring_home(struct hbg__run *run, struct hbg_error *error);

/* run.c: until the launch has ended, the run's deadline (which cancels it) or the timeout. True: it has ended. */
bool hbg__run_wait_for_end(struct hbg__run *run, uint64_t timeout_ns);
/* lease.c: a slot for this run, its streams made, its program held; and the end of that, whatever became of the run. */
enum hbg_status hbg__run_lease(struct hbg_program *program, const struct hbg_run_options *options, struct hbg__run **leased);
void hbg__run_end(struct hbg__run *run, enum hbg_status status);
/* Until a slot is freed, or a while. device->lock is held. */
void hbg__device_wait_for_slot(struct hbg_device *device, uint64_t most_ns);
/* A run that does not end, as far as one can see; NULL: none. device->lock is held. */
struct hbg__run *hbg__run_find_lost(struct hbg_device *device);

/* record.c: set run->kept, with one more user. */
enum hbg_status hbg__run_record(struct hbg__run *run, struct hbg_error *error);
void hbg__run_unrecord(struct hbg__run *run);
/* The image is on the device: other runs may replay it. */
void hbg__run_publish(struct hbg__run *run);
/* The recording that the run uses is damaged: no later run replays it. */
void hbg__run_distrust(struct hbg__run *run);

/* definitions.c: every definition that the run's recording names is on the device. */
enum hbg_status hbg__run_upload_definitions(struct hbg__run *run, struct hbg_error *error);
void hbg__definitions_forget_memory(struct hbg_device *device);    /* device->lock is held */
void hbg__definition_forget(void *device, struct hbg__definition *definition);

/* stage.c: image and arguments are on the device; then all that depends on slot and platform as well. */
enum hbg_status hbg__run_upload(struct hbg__run *run, struct hbg_error *error);
enum hbg_status hbg__run_prepare_execution(struct hbg__run *run, struct hbg_error *error);
void hbg__run_free_descriptor(struct hbg__run *run);
/* Entry `base` of the base table that the run was given. */
uint64_t hbg__run_base(const struct hbg__run *run, uint32_t base);
enum hbg_status hbg__run_copy_back(struct hbg__run *run);

/* poison.c: only where the platform says so; see there for the list. */
void hbg__poison_arena(struct hbg__arena *arena);
enum hbg_status hbg__poison_staging(struct hbg__run *run);
enum hbg_status hbg__poison_bank(struct hbg__run *run);
enum hbg_status hbg__poison_outputs(struct hbg__run *run);

/* result.c: copy back, explain, fill the result, which may be NULL. Returns the run's own status. */
enum hbg_status hbg__run_conclude(struct hbg__run *run, enum hbg__run_phase phase, struct hbg_result *result);

/* task_trace.c: the records of a launch's tasks, copied home and written. */
void hbg__run_collect_tasks(struct hbg__run *run, const struct hbg__launch_result *launch);

/* What to call it in a sentence: program "p", or run "n" of program "p". Returns label. */
enum { HBG__LABEL_BYTES = 160 };
const char *hbg__run_label(const struct hbg__run *run, char label[HBG__LABEL_BYTES]);
/* The same for a task, as a device tells of it: task 3, or node 5 of subgraph "layer" in task 3, with the body around that, too. Returns words. */
enum { HBG__TASK_BYTES = 140 };
const char *hbg__run_task_words(const struct hbg__run *run, uint32_t task, uint32_t activation, uint32_t node, char words[HBG__TASK_BYTES]);

/* Is it launched, and does it use the buffer? device->lock is held. */
bool hbg__run_uses(const struct hbg__run *run, const struct hbg_buffer *buffer);

/* HBG_OK: the launch of every run in flight that uses the buffer has ended. HBG_E_DEVICE: one of them is lost. */
enum hbg_status hbg__run_wait_for_buffer(struct hbg_device *device, const struct hbg_buffer *buffer);

/* ---- lost.c ---- */

/* How long a cancelled run may go on before it is lost, and how often a call that waits looks whether one is. */
#define HBG__RUN_GRACE_NS UINT64_C(1000000000)

/* Of a launched run: is its launch over? */
static inline bool hbg__run_has_ended(struct hbg__run *run)
{
    return run->device->ops->poll(run->device->platform, run->streams.stream[HBG__STREAM_WORK]) == HBG__LAUNCH_ENDED;
}

/* Of a launched run. */
bool hbg__run_is_lost(struct hbg__run *run);
/* Close: is it lost, or will it be unless it ends within *left_ns? False: neither, so it has to be finished. device->lock is held. */
bool hbg__run_may_be_left(struct hbg__run *run, uint64_t *left_ns);
/* Its handle is stale from now on; everything that it uses stays. False: another call is inside. device->lock is held. */
bool hbg__run_leave_behind(struct hbg__run *run);
/* What does not return, for a message. */
void hbg__run_say_lost(const struct hbg__run *run, struct hbg_error *error);

enum hbg_status hbg__run_open(struct hbg__run *run, struct hbg_device *device);
void hbg__run_close(struct hbg__run *run);

/* Does the argument move into the device, out of it? */
static inline bool hbg__arg_is_region(const struct hbg_arg *arg) { return arg->kind < HBG_ARG_SCALAR; }
static inline bool hbg__arg_is_read(const struct hbg_arg *arg) { return arg->kind != HBG_ARG_OUT; }
static inline bool hbg__arg_is_written(const struct hbg_arg *arg)
{
    return arg->kind != HBG_ARG_IN && !(arg->kind == HBG_ARG_UNTRACKED && arg->u.region.flags & HBG_REGION_READ_ONLY);
}

#endif /* HBG_RUN_RUN_H */
