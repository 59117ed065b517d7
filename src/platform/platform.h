/* SPDX-License-Identifier: Apache-2.0 */
/* platform.h - what a back end gives to hbg: one table of functions.
 *
 * A device address is a 64-bit number. On a unified device it is also an address of the host, and kernels use host memory in
 * place; on a discrete one nothing but the functions below crosses between the two.
 *
 * Resources are declared by each back end, by who needs how many copies (enum hbg__resource_class), and checked at open. Beside them
 * there is one bootstrap pair of streams, so that control work never queues behind a run.
 *
 * Which calls may run together: every call but open and close may run on any thread; calls on one stream, one zone or one
 * address come one at a time, except poll, wait, abort and progress of a stream, which may run at any time during a launch.
 *
 * Copies and fills are in order on their stream and may be made after the call: source and target stay until a sync, or until the
 * end of a launch that came `after` them. Launches of all streams run one at a time, in the order of the calls.
 *
 * Not here: what a run is, what an image is, who owns which memory.
 */
#ifndef HBG_PLATFORM_PLATFORM_H
#define HBG_PLATFORM_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hbg/kernel.h>
#include <hbg/run.h>
#include <hbg/status.h>
#include "base/arena.h"
#include "sched/result.h"

struct hbg__memory;
struct hbg__log;
struct hbg__option_set;
struct hbg__platform;               /* an open back end; each one defines its own */
struct hbg__stream;                 /* likewise */

/* Whose stream sets are: each slot's, kept; one for all runs, which then come one at a time; each run's. The last two are for experiments. */
enum hbg__stream_sets { HBG__STREAMS_OF_SLOT, HBG__STREAMS_OF_DEVICE, HBG__STREAMS_OF_RUN };

struct hbg__platform_properties {
    uint32_t workers;
    uint32_t depth;                 /* runs in flight */
    uint32_t clusters;
    uint32_t core_kinds;            /* bits: 1 << enum hbg_core_kind */
    bool unified;                   /* device addresses are host addresses */
    bool poison;                    /* fill what a run must not read, and watch what it must not change */
    uint32_t page_bytes;
    enum hbg__stream_sets stream_sets;
    uint64_t pad_bytes;             /* for experiments: a launch descriptor travels with so many bytes at least, */
    uint32_t pad_copies;            /* in so many copies; 0: one */
};

enum hbg__resource_class {
    HBG__RESOURCE_PER_RUN,          /* a run in flight has its own: `depth` copies */
    HBG__RESOURCE_SCRATCH,          /* of the launch that executes, which is one at a time: one copy */
    HBG__RESOURCE_HANDLE,           /* lives with a program, a buffer, a recording; runs share it and do not change it */
    HBG__RESOURCE_CLASSES
};

struct hbg__resource {
    const char *name;               /* NULL: behind the last */
    enum hbg__resource_class kind;
    uint32_t copies;                /* that the device can have; 0: as many as are asked for */
};

/* Device memory that grows and keeps its contents; its address may change. Fresh bytes are zero. All-zero is an empty zone. */
struct hbg__zone {
    uint64_t address, size_bytes, growths;
    struct hbg__arena arena;        /* of back ends whose device memory is host memory */
};

/* What fresh device memory is filled with where it must not be read, and what a device with poison=1 writes before a run. */
enum { HBG__POISON = 0xaa };

/* Where a launch stands: behind others, or behind copies; on the cores; over, or never launched. */
enum hbg__launch_state { HBG__LAUNCH_QUEUED, HBG__LAUNCH_RUNNING, HBG__LAUNCH_ENDED };

/* Who is told that a launch has ended; call NULL: nobody. `status` is the platform's to fill. */
struct hbg__launch_done {
    hbg_done_fn *call;
    void *user;
    struct hbg_run run;
    enum hbg_status status;
};

struct hbg__platform_context {
    struct hbg__memory *memory;     /* outlives the platform */
    const struct hbg__log *log;     /* likewise */
    struct hbg_error *error;        /* for the call */
    uint64_t reserve_bytes;         /* address space of a zone; 0: the default */
};

struct hbg__platform_ops {
    const char *name;
    const struct hbg__resource *resources;      /* required */
    const char *hardware;           /* what its cores are made of, by which devices exclude one another; default: the name */

    /* required: take the options from the spec; every problem of the spec is HBG_E_OPTION */
    enum hbg_status (*open)(struct hbg__option_set *spec, const struct hbg__platform_context *context, struct hbg__platform **platform);
    /* required: nothing is in flight, all memory and streams were given back */
    void (*close)(struct hbg__platform *platform);
    /* required: instead of close, where a cancelled launch does not end. What its cores may still use stays: the platform, every zone,
       allocation and stream. Returns how many cores are left in a kernel */
    uint32_t (*abandon)(struct hbg__platform *platform);
    /* optional, default yes: can this machine have the platform? */
    bool (*probe)(void);
    /* required */
    void (*properties)(const struct hbg__platform *platform, struct hbg__platform_properties *properties);

    /* required: 256-byte aligned; HBG_E_NO_MEMORY */
    enum hbg_status (*memory_alloc)(struct hbg__platform *platform, uint64_t size_bytes, uint64_t *address);
    void (*memory_free)(struct hbg__platform *platform, uint64_t address, uint64_t size_bytes);
    /* optional, default NULL: the host address of device memory; NULL where the host cannot read it */
    void *(*memory_map)(struct hbg__platform *platform, uint64_t address, uint64_t size_bytes);
    /* optional, default NULL: nothing is known. Is what lies around an allocation, and belongs to nobody, as memory_alloc left it?
       False: *offset of the lowest byte that is not, from `address`. */
    bool (*memory_intact)(struct hbg__platform *platform, uint64_t address, uint64_t size_bytes, int64_t *offset);
    /* optional, default NULL: nothing is known. A checksum over the queues of the device, which nobody may change between the end
       of one launch and the next. */
    uint64_t (*queue_sum)(struct hbg__platform *platform);
    /* required: at least size_bytes; HBG_E_NO_MEMORY leaves size and contents as they were, at an address that may be another */
    enum hbg_status (*zone_fit)(struct hbg__platform *platform, struct hbg__zone *zone, uint64_t size_bytes);
    void (*zone_close)(struct hbg__platform *platform, struct hbg__zone *zone);

    /* required: in order on one stream */
    enum hbg_status (*stream_create)(struct hbg__platform *platform, struct hbg__stream **stream);
    void (*stream_destroy)(struct hbg__platform *platform, struct hbg__stream *stream);
    enum hbg_status (*stream_sync)(struct hbg__platform *platform, struct hbg__stream *stream);
    bool (*stream_query)(struct hbg__platform *platform, struct hbg__stream *stream);        /* nothing is queued or runs */
    enum hbg_status (*copy_in)(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t target, const void *source, uint64_t size_bytes);
    enum hbg_status (*copy_out)(struct hbg__platform *platform, struct hbg__stream *stream, void *target, uint64_t source, uint64_t size_bytes);
    enum hbg_status (*fill)(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t target, unsigned char byte, uint64_t size_bytes);

    /* required: *table is the device address of a struct hbg__kernel_table with scratch for every worker */
    enum hbg_status (*program_register)(struct hbg__platform *platform, struct hbg__stream *stream, const struct hbg_kernel *kernels,
                                        uint32_t count, uint64_t *table);
    void (*program_release)(struct hbg__platform *platform, uint64_t table);

    /* optional, default nothing: what a launch needs of slot and platform beyond the descriptor */
    enum hbg_status (*prepare)(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t descriptor);
    /* required: `descriptor` is the device address of a struct hbg__launch; it stays until the launch is done. It begins when those
       launched before have ended and all copies that `after` has now are made. `done` is copied, and called once if the launch is
       accepted, by any thread, before the launch is seen to have ended */
    enum hbg_status (*launch)(struct hbg__platform *platform, struct hbg__stream *stream, struct hbg__stream *after, uint64_t descriptor,
                              const struct hbg__launch_done *done);
    enum hbg__launch_state (*poll)(struct hbg__platform *platform, struct hbg__stream *stream);
    bool (*wait)(struct hbg__platform *platform, struct hbg__stream *stream, uint64_t timeout_ns);  /* false: time is up */
    void (*result)(struct hbg__platform *platform, struct hbg__stream *stream, struct hbg__launch_result *result);
    /* required: a launch that has not begun ends at once; of one that has, tasks not yet started are skipped, and it ends by itself */
    void (*abort)(struct hbg__platform *platform, struct hbg__stream *stream);
    /* optional, default HBG_E_DEVICE: make an unusable device usable again */
    enum hbg_status (*recover)(struct hbg__platform *platform);
    /* optional, default unknown. patient: a millisecond may go by to see which task runs longest; else one look at some task */
    bool (*progress)(struct hbg__platform *platform, struct hbg__stream *stream, bool patient, struct hbg__progress *progress);
    /* optional, default the monotonic clock of the host, ns */
    uint64_t (*clock)(struct hbg__platform *platform);
};

extern const struct hbg__platform_ops hbg__cpu_ops, hbg__null_ops, hbg__sim_ops;

/* The back ends of this library, from 0 on; NULL: there are fewer. */
const struct hbg__platform_ops *hbg__platform_at(uint32_t index);

/* What `cpu` and those built on it have. */
extern const struct hbg__resource hbg__cpu_resources[];

/* Has the table all that is required, and are there copies enough for `depth` runs in flight? HBG_E_DEVICE names what is missing. */
enum hbg_status hbg__platform_check(const struct hbg__platform_ops *ops, uint32_t depth, struct hbg_error *error);

/* The back end of that name; NULL: `error` names the nearest one. */
const struct hbg__platform_ops *hbg__platform_find(const char *name, struct hbg_error *error);

#endif /* HBG_PLATFORM_PLATFORM_H */
