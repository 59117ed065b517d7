/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - runs: one execution of a program.
 *
 *     hbg_run_prepare -> hbg_run_launch -> hbg_run_wait -> hbg_run_finish          hbg_run_sync is exactly this
 *          |                                                  ^
 *          '-> hbg_run_cancel ---------------------------------'                   a run that is not launched
 *
 * Every run that was prepared must be finished. A device has `depth` pipeline slots, two unless its spec says otherwise, so one run
 * can be prepared while another executes; launched runs execute one at a time, in the order of their launches. Host memory that
 * one of them writes is kept from the others: see hbg_run_prepare().
 */
#ifndef HBG_RUN_H
#define HBG_RUN_H

#include <hbg/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct hbg_run - a run, as a value: copies of it name the same run, and after its finish all of them are refused with HBG_E_STALE.
 */
struct hbg_run { struct hbg_program *program; uint32_t slot, generation; };

/* What hbg_run_poll() says. HBG_RUN_QUEUED: launched, behind other runs or behind its copies. HBG_RUN_DONE: it has ended, or will never
   run; finish tells how. */
enum hbg_run_state { HBG_RUN_PREPARED = 1, HBG_RUN_QUEUED, HBG_RUN_RUNNING, HBG_RUN_DONE };

/**
 * struct hbg_result - what a run was: how it ended, what it cost; struct hbg_result r = HBG_OPTIONS(result).
 */
struct hbg_result {
    size_t size;
    struct hbg_error error;
    uint64_t tasks;             /* that the build submitted; each submission of a body of hbg_subgraph() counts as the tasks of the body, not
                                   as one; noops that hbg inserted are not counted */
    uint64_t edges;             /* of the graph that the build submitted, in which a submission is one node, and an inserted noop another;
                                   those between the tasks of a recorded body are not counted */
    uint64_t upload_bytes, upload_copies;       /* image, arguments (one copy each), launch descriptor; 0 on a unified device */
    uint64_t build_ns;          /* in the build function and around it, without waited_ns; 0 of a replay */
    uint64_t upload_ns;         /* of prepare, after the build */
    uint64_t bind_ns;           /* prepare, once it had its slot; build and upload included, waited_ns not */
    uint64_t launch_to_done_ns; /* from the launch to the end of the last task */
    uint64_t device_ns;         /* from the first worker's start to the end of the last task */
    uint64_t run_ns;            /* from prepare, once it had its slot, to the end of finish */
    uint32_t replayed;          /* 1: nothing was built */
    char why[64];               /* why a pure program was built although it had recordings, "argument 2: its shape, strides or type";
                                   else empty */
    /* of bodies of hbg_subgraph() that this build submitted, and those inside of bodies that it recorded; all 0 of a replay */
    uint32_t subgraphs_recorded;        /* the body was called, and is kept if it can be */
    uint32_t subgraphs_replayed;        /* a definition was found: one record, whatever the body's size */
    uint32_t subgraphs_missed;          /* recorded although the key had definitions */
    char subgraph_why[96];              /* of the first that was missed: "layer" argument 2: its shape, strides or type; where none was, why the first body
                                           that was recorded or submitted in place cannot be kept */
    uint32_t subgraphs_in_place;        /* the body was called, and its tasks are plain ones: it cannot be kept, or is nested too deep */
    uint32_t repeated;                  /* 1: built, by the calls of the last build of its place in flight: these were compared and nothing was made */
    uint64_t waited_ns;         /* of prepare, once it had its slot: for runs in flight that use the same host data, or data that the build reads; such runs
                                   are one after the other whatever `depth` is */
};

/* Called once when a launched run has ended, well or badly: by a worker's thread, or, where it had no tasks or was cancelled before it
   began, by that of any call. It must not block and not call the device (HBG_E_REENTRANT). `status` is how the launch ended; what only the
   finish finds, such as a copy that fails, is not in it. Calls come one at a time, in the order of the ends, and each has returned before
   polls, waits and the finish see the end of its run: until then `run` is not stale and `user` has to live. */
typedef void hbg_done_fn(void *user, struct hbg_run run, enum hbg_status status);

/**
 * struct hbg_run_options - how a run is prepared; zero is the default.
 */
struct hbg_run_options {
    size_t size;
    const char *name;           /* of this run, in sentences about it; copied, up to 47 bytes; NULL: none */
    uint64_t slot_timeout_ns;   /* how long prepare waits for a free slot and for runs that use its host data; 0: no limit */
    bool poll;                  /* where prepare would wait: HBG_E_BUSY at once */
    bool handed_over;           /* another thread will finish this run */
    uint64_t deadline_ns;       /* from prepare on; a launched run past it is cancelled by whoever polls it or waits for it, and by
                                   nobody else; its finish says so; 0: none */
    hbg_done_fn *done; void *done_user;         /* NULL: nobody is told */
    struct hbg_error *error;    /* borrowed until finish: a failing prepare and a wait that times out write it, and
                                   a wait that succeeds after one that did not clears it */
};

/**
 * hbg_run_prepare - take a slot, build or replay the graph, and bring all that the device needs to it.
 *
 * program     in   kept until finish
 * list        in   the arguments: regions of host memory and of device buffers, and scalars. The list is copied; host memory is
 *                  borrowed until finish
 * options     in   borrowed for the call, but for error; NULL: all defaults
 * run         out  set only on success, and then to be finished
 *
 * Waits until a slot is free, and until no run that is prepared and not finished writes what this one reads, or reads or writes what
 * this one writes: host arguments, byte for byte, memory named by hbg_guard(), buffers that the build reads with hbg_read(). For a
 * launched run it waits until that has ended and its outputs are in place. Buffers that only kernels touch make nobody wait: runs
 * execute in the order of their launches.
 *
 * Threads  any but a kernel's or a build function's. The build function runs on the calling thread; it is called again where a run that
 *          another thread prepares meanwhile writes what it has read
 * Cost     with a build: proportional to the tasks submitted and the arguments; of a replay: to the arguments and the guarded values.
 *          No allocation once it is warm
 * Errors   of the arguments: HBG_E_REGION, HBG_E_ACCESS, HBG_E_SIGNATURE (the boundary's), HBG_E_LIMIT, HBG_E_UNSUPPORTED,
 *          HBG_E_TASK_ID (an hbg_after); of the build: whatever was latched in the graph; HBG_E_WOULD_DEADLOCK (every slot belongs to a
 *          run that this thread prepared, has not finished and did not hand over; or one that it has not launched uses the same host
 *          data), HBG_E_BUSY (poll), HBG_TIMEOUT (slot_timeout_ns),
 *          HBG_E_IMAGE (HBG_VERIFY_REPLAY found that the build is not pure), HBG_E_NO_MEMORY, HBG_E_NULL, HBG_E_ABI,
 *          HBG_E_REENTRANT, HBG_E_DEVICE (closed, or of the parent of a fork)
 */
HBG_API HBG_CHECK enum hbg_status hbg_run_prepare(struct hbg_program *program, struct hbg_arg_list list, const struct hbg_run_options *options, struct hbg_run *run);

/**
 * hbg_run_launch - start a prepared run, or queue it behind those launched before; returns at once.
 *
 * Threads  any but a kernel's or a build function's
 * Cost     wakes the workers that sleep
 * Errors   HBG_E_ORDER (it is not in the state prepared), HBG_E_STALE, HBG_E_NULL, HBG_E_REENTRANT, HBG_E_DEVICE; HBG_E_NO_MEMORY with
 *          poison=1. After the last two the run is to be finished, which says why
 */
HBG_API HBG_CHECK enum hbg_status hbg_run_launch(struct hbg_run run);

/**
 * hbg_run_poll - where a run stands, without waiting.
 *
 * state       out  set only on success
 *
 * Threads  any but a kernel's or a build function's, during any other call on the run
 * Errors   HBG_E_STALE, HBG_E_NULL, HBG_E_REENTRANT, HBG_E_DEVICE
 */
HBG_API HBG_CHECK enum hbg_status hbg_run_poll(struct hbg_run run, enum hbg_run_state *state);

/**
 * hbg_run_wait - wait until a launched run has ended, well or badly; finish tells which.
 *
 * timeout_ns  in   0 looks once; HBG_FOREVER
 *
 * Threads  any but a kernel's or a build function's, several at once
 * Errors   HBG_TIMEOUT (nothing is lost, wait again; the run's `error` names the task that runs longest), HBG_E_ORDER (not launched),
 *          HBG_E_DEVICE (not within the time given, and it was cancelled more than a second ago: the error names the task that does
 *          not return; wait again, or close the device), HBG_E_STALE, HBG_E_NULL, HBG_E_REENTRANT
 */
HBG_API HBG_CHECK enum hbg_status hbg_run_wait(struct hbg_run run, uint64_t timeout_ns);

/**
 * hbg_run_finish - end a run: outputs are copied back, the slot is free.
 *
 * run         in   it has ended, or was cancelled before its launch; stale from now on
 * result      out  may be NULL
 *
 * Returns  how the run ended: HBG_OK; HBG_E_KERNEL (the failed task with the lowest id, its kernel, code and detail),
 *          HBG_E_CANCELLED, HBG_E_STALLED (the sentence says who waits for whom), HBG_E_LIMIT (a full ring with spill=0),
 *          HBG_E_UNSUPPORTED (a kernel returned HBG_PENDING), HBG_E_IMAGE; with poison=1 HBG_E_OVERWRITTEN (a kernel wrote beside
 *          its arguments or what it may only read; the sentence says where). After all but HBG_OK the contents of `out` and `inout`
 *          are unspecified; nothing beside them was touched by the library, and the next run works
 *
 * Threads  any but a kernel's or a build function's; waits for calls of other threads on this run, which see it end
 * Cost     one copy for each run of bytes of an output on a discrete device, none on a unified one
 * Errors   HBG_E_ORDER (it has not ended: nothing has changed), HBG_E_STALE, HBG_E_NULL, HBG_E_ABI, HBG_E_REENTRANT, HBG_E_DEVICE
 */
HBG_API enum hbg_status hbg_run_finish(struct hbg_run run, struct hbg_result *result);

/**
 * hbg_run_cancel - skip every task that has not started. A run that is not launched yet will never be; one that is queued ends at
 * once. Other runs in flight are left alone.
 *
 * Wait (for a launched run) and finish are needed as ever. A run that has ended is left as it is. One that has not ended a second
 * later makes the device unusable until it does: prepare, finish, timed-out waits and accesses to its buffers return HBG_E_DEVICE,
 * and hbg_device_close() leaves behind what does not return.
 *
 * Threads  any but a kernel's or a build function's, during any other call on the run
 * Errors   HBG_E_STALE, HBG_E_NULL, HBG_E_REENTRANT, HBG_E_DEVICE
 */
HBG_API enum hbg_status hbg_run_cancel(struct hbg_run run);

/**
 * hbg_run_sync - prepare, launch, wait, finish.
 *
 * result      out  may be NULL; its error is set whichever of the four fails
 *
 * Threads, cost and errors as the four have them.
 */
HBG_API HBG_CHECK enum hbg_status hbg_run_sync(struct hbg_program *program, struct hbg_arg_list list, struct hbg_result *result);

/**
 * hbg_run_once - open a device, create a program, run it once, and take both away again: for first tries and for scripts.
 *
 * spec        in   as hbg_device_open() takes it; NULL: "cpu"
 * options     in   the program: build function, kernels, parameters; borrowed for the call
 * list        in   as hbg_run_prepare() takes it; buffers belong to other devices and are refused
 * result      out  may be NULL; its error, and that of the options, say why whichever step failed
 *
 * Threads  any but a kernel's or a build function's
 * Cost     starts and ends the worker threads, and touches all memory for the first time: a program that runs twice opens its device
 * Errors   those of hbg_device_open(), hbg_program_create(), hbg_run_sync() and hbg_device_close(), the first of them
 */
HBG_API HBG_CHECK enum hbg_status hbg_run_once(const char *spec, const struct hbg_program_options *options, struct hbg_arg_list list, struct hbg_result *result);

/* A timeout without end. */
#define HBG_FOREVER UINT64_MAX

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_RUN_H */
