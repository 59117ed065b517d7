/* SPDX-License-Identifier: Apache-2.0 */
/* roots.h - tasks without producers: claimed in ranges from the image's root list by an atomic cursor.
 *
 * A range is a share of what remains, so that early ranges are long (the cursor's line is rarely fought over) and the last
 * ones short (nobody sits on work that others could do). Where a range goes it is private: roots of it are run in order.
 */
#ifndef HBG_SCHED_ROOTS_H
#define HBG_SCHED_ROOTS_H

#include "sched/sched.h"

enum { HBG__ROOT_RANGE_MAX = 512 };

/* The next root of the own range; HBG__NIL: it is used up. */
static inline uint32_t hbg__roots_next(struct hbg__worker *worker)
{
    if (worker->root_at == worker->root_end) return HBG__NIL;
    uint32_t root = worker->sched->run.roots[worker->root_at++];
    if (HBG_UNLIKELY(root >= worker->graph.task_count)) {
        hbg__halt(worker, HBG_E_IMAGE, HBG__NIL, 0, 0);
        return HBG__NIL;
    }
    return root;
}

static inline bool hbg__roots_left(const struct hbg__sched *sched)
{
    return hbg__load_relaxed32(&sched->cursor) < sched->run.root_count;     /* relaxed: a guess that claim checks. */
}

/* Claim a range. False: none is left. */
static inline bool hbg__roots_claim(struct hbg__worker *worker)
{
    struct hbg__sched *sched = worker->sched;
    uint32_t count = sched->run.root_count;
    uint32_t at = hbg__load_relaxed32(&sched->cursor);          /* relaxed: it only allots; the roots are constant */
    if (at >= count) return false;
    uint32_t length = (count - at) / (4 * sched->options.worker_count);
    if (length < 1) length = 1;
    if (length > HBG__ROOT_RANGE_MAX) length = HBG__ROOT_RANGE_MAX;
    at = hbg__fetch_add_relaxed32(&sched->cursor, length);      /* relaxed: likewise */
    if (at >= count) return false;
    worker->root_at = at;
    worker->root_end = length > count - at ? count : at + length;
    return true;
}

#endif /* HBG_SCHED_ROOTS_H */
