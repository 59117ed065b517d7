/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - devices, buffers and programs.
 *
 * Children keep what they need of their device alive, so device, programs and buffers may be destroyed in any order; only a run that
 * is not finished keeps a device from closing. After fork() the child's calls on a device of its parent return HBG_E_DEVICE; it may
 * open devices of its own.
 */
#ifndef HBG_DEVICE_H
#define HBG_DEVICE_H

#include <hbg/graph.h>
#include <hbg/log.h>
#include <hbg/status.h>
#include <hbg/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque. */
struct hbg_device; struct hbg_buffer; struct hbg_program;

/**
 * struct hbg_allocator - where the library's host memory comes from; both functions, or neither for malloc.
 *
 * Called from any thread that calls the library. Memory of the device, the arenas that graphs are built in and two small tables of the
 * process do not come from here.
 */
struct hbg_allocator {
    void *(*alloc)(void *user, size_t size_bytes, size_t align_bytes);             /* NULL: no memory */
    void (*free)(void *user, void *block, size_t size_bytes, size_t align_bytes);  /* with the numbers it was allocated with */
    void *user;
};

/**
 * struct hbg_counters - what a device has done since it was opened. Diagnostic: nothing in hbg depends on them.
 */
struct hbg_counters {
    size_t size;
    uint64_t runs;                      /* finished, in whatever way */
    uint64_t image_copies, image_bytes, descriptor_copies, descriptor_bytes;        /* host to device; 0 on a unified device */
    uint64_t argument_copies, argument_bytes;                                       /* both ways; an argument is one copy */
    uint64_t allocations;               /* calls of the allocator */
    uint64_t growths;                   /* times that pages were committed: 0 more in a warm run */
    uint64_t stream_sets_made, stream_sets_live, programs_registered;
    uint64_t libraries_loaded;          /* 0 in this version */
    uint64_t builds, replays;           /* graphs built; runs that needed no build */
    uint64_t replay_misses;             /* runs of pure programs with recordings, none of which held */
    uint64_t definitions_uploaded;      /* recorded bodies of hbg_subgraph() that a run has found new; on a unified device without a copy */
    uint64_t reuse_edges;               /* made by the reuse of heap bytes */
    uint64_t trace_copies, trace_bytes; /* of task records, device to host; 0 on a unified device */
    uint64_t definition_bytes;          /* host to device; 0 on a unified device */
    uint64_t subgraphs_recorded, subgraphs_replayed;        /* submissions that called the body, and that found a definition; those in bodies as well */
    uint64_t subgraphs_in_place;        /* that called a body which cannot be kept: its tasks are plain ones */
    /* recorded although the key had definitions, by what did not fit first: access, type or shape, or the heap that is left; shared storage; a value;
       data that the body read, or memory of hbg_guard() */
    uint64_t subgraph_misses_shape, subgraph_misses_alias, subgraph_misses_value, subgraph_misses_data;
    uint64_t builds_repeated;           /* of the builds: made the calls of the last build of their slot, so that these were compared and nothing was made */
};

/* X(name) for each counter, in the order of the struct. */
#define HBG_COUNTER_MAP(X)                                                                                            \
    X(runs) X(image_copies) X(image_bytes) X(descriptor_copies) X(descriptor_bytes) X(argument_copies) X(argument_bytes) \
    X(allocations) X(growths) X(stream_sets_made) X(stream_sets_live) X(programs_registered) X(libraries_loaded)      \
    X(builds) X(replays) X(replay_misses) X(definitions_uploaded) X(reuse_edges)                           \
    X(trace_copies) X(trace_bytes) X(definition_bytes) X(subgraphs_recorded) X(subgraphs_replayed) X(subgraphs_in_place)  \
    X(subgraph_misses_shape) X(subgraph_misses_alias) X(subgraph_misses_value) X(subgraph_misses_data)  \
    X(builds_repeated)

/**
 * struct hbg_device_options - how a device is opened; zero is the default.
 */
struct hbg_device_options {
    size_t size;
    hbg_log_fn *log; void *log_user; enum hbg_log_level log_level;                  /* level 0: HBG_LOG_WARN */
    struct hbg_allocator allocator;
    uint64_t reserve_bytes;             /* address space of an arena that graphs are built in; 0: 16 GiB, or a 512th of a finite
                                           `ulimit -v`; halved where it is refused; a full one grows by moving */
    bool ignore_environment;            /* do not look at HBG_VERIFY_REPLAY, HBG_TRACE and HBG_TRACE_TO */
    uint64_t limit_heap_bytes;          /* of the intermediates of a run; 0: none */
    uint64_t heap_reuse_after_bytes;    /* from this size of the heap on, bytes of ended scopes are used again; 0: 256 MiB */
    uint64_t definition_budget_bytes;   /* of recorded bodies that no recording names; least recently used ones go beyond it; 0: 256 MiB */
    struct hbg_counters *final_counters;/* may be NULL: filled by the close that succeeds; borrowed until then */
    struct hbg_error *error;            /* may be NULL: where a failing open says why */
    enum hbg_trace_level trace;         /* how much is traced: include/hbg/trace.h */
    const char *trace_to;               /* "stderr", "log" or a file; NULL: as HBG_TRACE_TO says, else "stderr" */
    uint64_t trace_records;             /* of tasks that a core keeps of a run; 0: as many as the run has tasks, up to 65,536 */
};

/**
 * hbg_device_open - open a device.
 *
 * spec        in   NAME or NAME:key=value,key=value.. (borrowed); the names are "cpu", whose worker threads are the cores, "null",
 *                  which is the same without calling kernels: it measures the scheduler, and "sim", whose cores are simulated by the
 *                  thread that waits (docs/protocols.md). Keys of the first two:
 *                      workers=N            worker threads, each with a stack of 2 MiB; the default is the CPUs that affinity and cgroup
 *                                           quota allow
 *                      memory=unified       kernels use the host's memory in place (default)
 *                      memory=discrete      device memory apart, everything is copied: shows what a device behind a bus would be sent
 *                      pin=0|1              bind each worker to a CPU; 0
 *                      spin_us=N            how long an idle worker spins before it sleeps; 12
 *                      stall_ms=N           no progress for so long is HBG_E_STALLED; 1000
 *                      ring=N               places of the queue that workers share, a power of two; 4096
 *                      spill=0|1            0: a full ring is HBG_E_LIMIT instead of spilling to a list; 1
 *                      poison=0|1           for tests: fill what a run must not read before each run, and let its finish fail with
 *                                           HBG_E_OVERWRITTEN or HBG_E_IMAGE where it changed what it must not; 0
 *                      depth=N              runs in flight, each with memory of its own, up to 16; 2, and 1 with poison=1
 *                  Keys for experiments (docs/experiments), which nobody needs otherwise:
 *                      streams=slot|pair|run    whose stream sets are: each slot's, one for all runs (depth=1), each run's; slot
 *                      stream_threads=0|1   each stream of a discrete device has a thread of its own for its copies; 0
 *                      pad_bytes=N          a launch descriptor travels to a discrete device with so many bytes at least; 0
 *                      pad_copies=N         in so many copies, up to 64; 1
 *                  Keys of "sim": memory, spill, poison and depth as above, and
 *                      workers=N            simulated cores, at most 64; 4
 *                      seed=N               one seed is one schedule, the same every time; 1
 *                      mode=random|few|round|all    who goes on where: anybody; by priority, with few preemptions; one after the other;
 *                                           the seed counts all ways to place two preemptions. random
 *                      preemptions=N        of mode=few, at most 8; 3
 *                      spin_us=N, stall_ms=N, ring=N   as above, in simulated time; 1, 20 and 64
 *                      check=0|1            look at all structures of the scheduler after each step; 1 in builds with HBG_DEBUG
 *                      patience=N           so many steps in which no task ends are a fault of hbg; 50000000
 *                      stop_worker=N, stop_step=N, stop_us=N   that worker stands still from that step on, for so long; 0: for ever, and then
 *                                           a wait without limit is HBG_TIMEOUT after ten simulated seconds
 *                      fail_alloc=N, fail_copy=N, fail_stream=N, fail_thread=N   the N-th one is refused; 0: none
 * options     in   borrowed for the call, but for final_counters; NULL: all defaults
 * device      out  owned: hbg_device_close()
 *
 * Threads  any but a kernel's or a build function's
 * Cost     starts the worker threads
 * Errors   HBG_E_OPTION (unknown platform, key or value: the sentence names the nearest one; no such trace level, or its file cannot be written), HBG_E_NO_MEMORY,
 *          HBG_E_DEVICE (a thread cannot be made), HBG_E_NULL, HBG_E_ABI, HBG_E_REENTRANT
 */
HBG_API HBG_CHECK enum hbg_status hbg_device_open(const char *spec, const struct hbg_device_options *options, struct hbg_device **device);

/**
 * hbg_device_workers, hbg_device_depth - how many cores a device has, and how many runs may be in flight on it.
 *
 * Threads  any, at any time before the close
 * Errors   0 for NULL
 */
HBG_API uint32_t hbg_device_workers(const struct hbg_device *device);
HBG_API uint32_t hbg_device_depth(const struct hbg_device *device);

/**
 * hbg_device_close - close a device: its threads end, its memory goes.
 *
 * device      in   taken when HBG_OK is returned; NULL is fine. Programs and buffers of it may be destroyed before or after
 *
 * Threads  any but a kernel's or a build function's; nobody else uses the device any more
 * Cost     up to a second after the hbg_run_cancel() of a run that does not end, else little
 * Errors   HBG_E_BUSY (a run is not finished, or a thread waits for a slot: nothing has changed, and it may be repeated),
 *          HBG_E_DEVICE (a cancelled run does not end: the device is closed and its handle taken, but threads that are inside a kernel
 *          are left to themselves, and what they may use is never freed; the log says which. In the child of a fork: nothing is closed),
 *          HBG_E_REENTRANT
 */
HBG_API HBG_CHECK enum hbg_status hbg_device_close(struct hbg_device *device);

/**
 * hbg_buffer_create - memory of the device that lives from run to run.
 *
 * size_bytes  in   0 is allowed
 * buffer      out  owned: hbg_buffer_destroy(); 256-byte aligned, contents undefined
 *
 * Threads  any but a kernel's or a build function's
 * Errors   HBG_E_NO_MEMORY, HBG_E_NULL, HBG_E_REENTRANT, HBG_E_DEVICE (the device was closed, or belongs to the parent of a fork)
 */
HBG_API HBG_CHECK enum hbg_status hbg_buffer_create(struct hbg_device *device, size_t size_bytes, struct hbg_buffer **buffer);

/**
 * hbg_buffer_destroy - give a buffer back. Runs and recordings of programs that use it keep its memory until they go; definitions of
 * subgraphs that name it go at once, or with the last recording that holds them.
 *
 * buffer      in   taken; NULL is fine. Regions of it are refused from now on
 *
 * Threads  any
 */
HBG_API void hbg_buffer_destroy(struct hbg_buffer *buffer);

/**
 * hbg_buffer_write - copy host bytes into a device buffer.
 *
 * buffer      in   borrowed for the call
 * source      in   size_bytes bytes of host memory; free to change when the call returns
 *
 * Units    bytes; offset + size_bytes <= the buffer's size
 * Threads  any but a kernel's or a build function's; waits for launched runs that use the buffer
 * Cost     one copy, no allocation
 * Errors   HBG_E_REGION (leaves the buffer), HBG_E_NULL, HBG_E_REENTRANT, HBG_E_DEVICE
 */
HBG_API HBG_CHECK enum hbg_status hbg_buffer_write(struct hbg_buffer *buffer, size_t offset, const void *source, size_t size_bytes);

/**
 * hbg_buffer_read - copy bytes of a device buffer to the host.
 *
 * target      out  size_bytes bytes of host memory
 *
 * Units, threads, cost and errors as hbg_buffer_write().
 */
HBG_API HBG_CHECK enum hbg_status hbg_buffer_read(struct hbg_buffer *buffer, size_t offset, void *target, size_t size_bytes);

/**
 * hbg_buffer_region - a region of a device buffer, row-major without gaps.
 *
 * buffer      in   borrowed for the call; the region itself is refused once the buffer was destroyed
 * offset      in   of element 0, in bytes
 *
 * Returns  a region for the argument list of a run or, directly, for a submit in build code. Views of it may reach anywhere in the
 *          buffer; the run or the submit checks its bounds. A bad region for a NULL buffer, an unknown type, or too large a shape
 * Threads  any, at any time
 */
HBG_API struct hbg_region hbg_buffer_region(struct hbg_buffer *buffer, size_t offset, enum hbg_dtype dtype, struct hbg_shape shape);

/**
 * struct hbg_program_options - what a program is. Everything it points to is copied, but for `user` of a kernel.
 */
struct hbg_program_options {
    size_t size;
    const char *name;                   /* for messages; NULL: "program" */
    hbg_build_fn *build;                /* needed */
    const void *params; size_t params_size;                         /* bytes handed to the build function */
    const struct hbg_kernel *kernels; size_t kernel_count;          /* at most 65,535 */
    const char *boundary;               /* NULL or a signature; checked at prepare */
    bool pure_build;                    /* the graph depends on nothing but params, the types, shapes, strides, access modes and
                                           overlaps of the arguments, and what the build reads through hbg or names with hbg_guard():
                                           while these are unchanged, a run replays an earlier build */
    uint64_t limit_tasks;               /* that a build may submit; 0: none */
    struct hbg_error *error;            /* may be NULL: where a failing create says why */
    bool no_compare;                    /* make each build from the start. By default a build whose calls are those of the last one, in the same
                                           place of a run in flight, takes over what that came to: the graph and the results are the same,
                                           only sooner. For measurements */
};

/**
 * hbg_program_create - register kernels and a build function on a device.
 *
 * options     in   borrowed for the call
 * program     out  owned: hbg_program_destroy()
 *
 * Threads  any but a kernel's or a build function's
 * Errors   HBG_E_NULL (options, device, build function, a kernel's function or name), HBG_E_OPTION (a kernel's id is not its place,
 *          its kind or scratch size; too many kernels), HBG_E_SIGNATURE (of a kernel or the boundary does not read), HBG_E_NO_MEMORY,
 *          HBG_E_ABI, HBG_E_REENTRANT, HBG_E_DEVICE
 */
HBG_API HBG_CHECK enum hbg_status hbg_program_create(struct hbg_device *device, const struct hbg_program_options *options, struct hbg_program **program);

/**
 * hbg_program_destroy - give a program back. Runs of it that are not finished keep what they need.
 *
 * program     in   taken; NULL is fine
 *
 * Threads  any
 */
HBG_API void hbg_program_destroy(struct hbg_program *program);

/**
 * hbg_device_counters - what the device has done so far.
 *
 * counters    out  as far as its size reaches: struct hbg_counters c = HBG_OPTIONS(counters)
 *
 * Threads  any; numbers of runs in flight may be on their way
 */
HBG_API void hbg_device_counters(const struct hbg_device *device, struct hbg_counters *counters);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_DEVICE_H */
