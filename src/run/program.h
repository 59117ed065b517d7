/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - kernels, a build function, and the recordings of its builds.
 *
 * A pure program keeps up to four recordings; the one unused for longest makes room. A recording in use by a run is never
 * touched. A program whose build is not pure keeps none: its image lies in the pipeline slot's own recording.
 *
 *   field                       written by                  guarded by
 *   kept[], turn, misses, missed_shapes
 *                               preparing threads           program lock
 *   kept[i].users               prepare, finish             K1 acq_rel on leaving, K2 acquire before a take-over (record.c)
 *   kept[i].recording, device_* whoever holds users at BUILDING, alone; constant while it is ready
 *   references, list, has_run   create, prepare, finish     device lock
 *   task_ns                     finish                      relaxed: a hint for the choice of mode
 */
#ifndef HBG_RUN_PROGRAM_H
#define HBG_RUN_PROGRAM_H

#include "graph/build.h"
#include "run/device.h"

enum { HBG__KEPT_MAX = 4, HBG__MISSES_MAX = 8 };      /* so many misses in a row: it is built without recording until its shapes change */

/* A recording, and where it lies on a discrete device. */
struct hbg__kept {
    struct hbg__recording recording;
    struct hbg__zone device_zone;
    uint64_t device_image;              /* address of its head on the device; 0: not there */
    bool ready;
    bool summed;                        /* watch.c: sum is the checksum of the image on the device */
    uint64_t sum;
    struct hbg__atomic_u32 users;       /* of runs that are not finished; record.c */
    uint64_t last_use;
};

struct hbg_program {
    struct hbg_device *device;
    char *name;
    hbg_build_fn *build;
    unsigned char *params;
    size_t params_size;
    struct hbg_kernel *kernels;         /* names and signatures are copies */
    uint32_t kernel_count;
    struct hbg__signature *signatures;  /* one a kernel */
    struct hbg__signature boundary;
    char *boundary_text;
    bool pure;
    bool no_compare;                    /* no build is compared with the last one */
    uint64_t number;                    /* of all programs of the process */
    uint64_t kernel_set;                /* hash of the kernel table: definitions are shared by programs of the same */
    uint64_t hash;                      /* of name, parameters, kernel names and purity: its mark in a trace */
    uint64_t limit_tasks;
    uint64_t kernel_table;              /* on the device */

    struct hbg__atomic_u64 task_ns;     /* mean time of a task in the last run; 0: none */

    pthread_mutex_t lock;
    struct hbg__kept kept[HBG__KEPT_MAX];
    uint64_t turn;
    uint32_t misses;                    /* in a row, of boundaries of these shapes: */
    uint64_t missed_shapes;

    uint32_t references;
    bool has_run;                       /* it was given a slot before */
    struct hbg_program *next, **link;
};

/* One user fewer, and the program goes with the last; unlocks device->lock, which is held. */
void hbg__program_unlock_drop(struct hbg_program *program);

/* The device closes: kernel table and device images go. device->lock is held. */
void hbg__program_forget_memory(struct hbg_program *program);

static inline uint64_t hbg__program_task_ns(struct hbg_program *program)
{
    return hbg__load_relaxed64(&program->task_ns);          /* relaxed: a hint */
}

/* A name for messages: kernels of a program by number, "noop" for what has none. */
const char *hbg__program_kernel_name(const struct hbg_program *program, uint32_t kernel);

#endif /* HBG_RUN_PROGRAM_H */
