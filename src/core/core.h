/* SPDX-License-Identifier: Apache-2.0 */
/* core.h - one core: the thing that runs kernels. On `cpu` each worker is one.
 *
 * A core keeps one task view, filled once a run but for the four fields that name the task, and hands its address to every
 * kernel. What a kernel asks of its view beyond plain data (scratch, cancellation, the detail of a failure) is found around
 * the view: it is the first member of its core.
 *
 *   field         written by                                  read by         order
 *   stop          worker's owner at open (the pointer)        own worker      none: private
 *   the rest      the own worker; kernels through the view    own worker      none: private
 *
 * Deliberately not here: which task runs next, and what its end means to others (src/sched).
 */
#ifndef HBG_CORE_CORE_H
#define HBG_CORE_CORE_H

#include "atomic/atomic.h"
#include "core/kernel_table.h"
#include "image/layout.h"

/* Bits of the stop word that all cores of a device look at before each task. */
enum {
    HBG__STOP_CANCEL = 1,               /* tasks that did not start are skipped */
    HBG__STOP_HALT = 2                  /* leave the run as it is */
};

struct hbg__core {
    struct hbg_task_view view;
    const struct hbg__kernel_entry *entry;
    uint32_t kernel_count;
    bool no_kernels;                    /* a core that finishes every task at once */
    const struct hbg__atomic_u32 *stop;
    unsigned char *scratch;             /* NULL: no kernel of this table declares any */
    int64_t detail;                     /* what hbg_fail() said, of task detail_task */
    uint32_t detail_task;
    bool told_cancelled;                /* a kernel of this run has asked, and was told so */
    bool simulated;                     /* one thread runs all cores: who asks lets the others go on */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Once, before the first run. */
void hbg__core_open(struct hbg__core *core, uint32_t worker, bool no_kernels, const struct hbg__atomic_u32 *stop);

/* Before the first task of a run; `launch` stays until the run is done. */
void hbg__core_begin(struct hbg__core *core, const struct hbg__launch *launch, const unsigned char *payload);

/* Tasks of another image from now on, with their base table: the kernels stay the same. */
static inline void hbg__core_enter(struct hbg__core *core, const unsigned char *payload, const uint64_t *base)
{
    core->view.base = base;
    core->view.payload = payload;
    core->detail_task = HBG__NIL;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_CORE_CORE_H */
