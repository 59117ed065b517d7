/* SPDX-License-Identifier: Apache-2.0 */
/* roots.h - tasks without producers: claimed in ranges from the outermost image's root list by an atomic cursor; those of a
 * submission are claimed in expand.c.
 *
 * A range is a share of what remains, so that early ranges are long (the cursor's line is rarely fought over) and the last
 * ones short (nobody sits on work that others could do). Where a range goes it is private: roots of it are run in order.
 *
 * Ranges and the own queue are one stack: what was in the queue when a range was claimed comes after it (`floor`), what was pushed
 * since comes before its next root.
 */
#ifndef HBG_SCHED_ROOTS_H
#define HBG_SCHED_ROOTS_H

#include "sched/sched.h"

enum { HBG__ROOT_RANGE_MAX = 512 };
#ifndef HBG__ROOT_RANGE_MIN
#define HBG__ROOT_RANGE_MIN 4u          /* of a submission */
#endif

static inline void hbg__roots_forget(struct hbg__root_range *range)
{
    range->at = range->end = NULL;
    range->floor = HBG__NO_FLOOR;
    range->activation = 0;
}

/* A range that is claimed is the worker's next; the one in use, if there is one, comes after it. */
static inline void hbg__roots_take(struct hbg__worker *worker, uint32_t activation, const uint32_t *root, uint32_t length)
{
    uint64_t floor = hbg__deque_bottom(&worker->deque);
    if (worker->roots.at != worker->roots.end) worker->outer_roots = worker->roots;
    worker->roots.at = root;
    worker->roots.end = root + length;
    worker->roots.floor = floor;
    worker->roots.activation = activation;
}

/* The range is used up: the one that came before it, if any. False: none. */
static inline bool hbg__roots_drop(struct hbg__worker *worker)
{
    if (worker->roots.at == NULL) return false;
    worker->roots = worker->outer_roots;
    hbg__roots_forget(&worker->outer_roots);
    return true;
}

/* The next root of the own range, which is not used up. */
static inline uint32_t hbg__roots_next(struct hbg__worker *worker)
{
    uint32_t root = *worker->roots.at++;
    if (HBG_UNLIKELY(worker->roots.activation != worker->activation)) return hbg__turn(worker, hbg__entry_make(worker->roots.activation, root));
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

/* Claim a range; the own queue and both own ranges are empty. False: none is left. */
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
    if (length > count - at) length = count - at;
    hbg__roots_take(worker, 0, sched->run.roots + at, length);
    return true;
}

#endif /* HBG_SCHED_ROOTS_H */
