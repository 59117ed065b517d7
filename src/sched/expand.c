/* SPDX-License-Identifier: Apache-2.0 */
/* expand.c - a submission on the device: activated once, its roots claimed by all workers in ranges, completed by whoever tells its
 * last record.
 *
 *     the task is ready --> activate: base table, counts       by the worker that took it
 *                             |
 *                             |--> a first range of its roots, for this worker alone; or a few, into its queue
 *                             '--> the rest: one entry for all of them, in the shared ring
 *                                    |
 *                                    '--> whoever takes the entry: a further range; the entry goes on while roots remain
 *
 *     records completed   --> told, when a worker turns away:  remaining -= so many
 *                             |
 *                             '--> remaining is 0: complete the task, in the image that submits, and so on outwards
 *
 * Whoever has the entry of the roots has them alone, so the cursor needs no read-modify-write: it goes with the entry. There is one
 * such entry or none for each activation, and none once all roots are claimed.
 *
 * Nobody else can take from a range. So where few roots are left for each worker they go to the own queue, from which others steal: a body
 * whose handful of roots takes long is worked by all. A worker that finds roots while it has claimed others keeps two ranges; where
 * both are in use it puts a few of the roots into its own queue as well.
 *
 * struct hbg__activation
 *   field         written by                       read by                            order, label
 *   cursor        who activates; then whoever has  whoever has the entry              relaxed: goes with the entry (D1, R1)
 *                 the entry of the roots
 *   remaining     who activates; who tells         who tells                          E1 acq_rel
 *   failed        who tells                        who tells last                     relaxed: E1 publishes it
 *   the rest      who activates                    who runs or completes its records  goes with the entry; progress: X1, X2
 */
#include "sched/context.h"
#include "sched/roots.h"
#include "sched/wake_list.h"

static const uint32_t range_min = HBG__ROOT_RANGE_MIN, range_max = HBG__ROOT_RANGE_MAX;     /* of ranges that one worker has alone */
static const uint32_t few = 16;                         /* where these would be shorter: so many go to the own queue at once */

/* ---- activation ---- */

/* Is it a definition, the one that the build meant as far as that shows, and does what it needs lie in what was set aside? */
static bool fits(const struct hbg__sched_run *run, const struct hbg__submission *submission, const struct hbg__image_head *head, uint32_t index,
                 const uint64_t *base)
{
    if (!head || head->magic != HBG__IMAGE_MAGIC || submission->slot_count != head->slot_count) return false;
    if (head->base_count != HBG__BASE_BOUNDARY + (uint64_t)submission->arg_count) return false;
    if (submission->activation == 0 || (uint64_t)index + head->activation_count > run->activation_count) return false;
    return (uint64_t)(base - run->bases) + head->base_count + head->base_total <= run->base_total;
}

/* The values of the definition's base table, out of the terms of the image that submits. */
static void fill_base(const struct hbg__worker *worker, const struct hbg__task_record *record, const struct hbg__submission *submission,
                      const unsigned char *payload, uint64_t *base)
{
    const uint64_t *outer = worker->core.view.base;
    const struct hbg_view_arg *arg = hbg__image_submission_args(worker->graph.payload, record);
    base[HBG__BASE_ZERO] = 0;
    base[HBG__BASE_PAYLOAD] = (uint64_t)(uintptr_t)payload;
    base[HBG__BASE_HEAP] = outer[HBG__BASE_HEAP] + submission->heap;
    for (uint32_t i = 0; i < submission->arg_count; ++i) base[HBG__BASE_BOUNDARY + i] = outer[arg[i].base] + arg[i].word;
}

uint32_t hbg__activate(struct hbg__worker *worker, const struct hbg__task_record *record, uint32_t task)
{
    const struct hbg__sched_run *run = &worker->sched->run;
    const struct hbg__submission *submission = hbg__image_submission(worker->graph.payload, record);
    const struct hbg__image_head *head = (const struct hbg__image_head *)(uintptr_t)worker->core.view.base[submission->definition];
    uint32_t parent = worker->activation, index = parent + submission->activation;
    uint64_t *bases = parent ? (uint64_t *)(uintptr_t)hbg__activation_at(run, parent)->base : run->bases;
    uint64_t *base = bases + submission->bases;
    if (HBG_UNLIKELY(!fits(run, submission, head, index, base))) {
        hbg__halt(worker, HBG_E_IMAGE, task, 0, 0);
        return 0;
    }
    struct hbg__activation *made = hbg__activation_at(run, index);
    const unsigned char *payload = hbg__image_payload(head);
    fill_base(worker, record, submission, payload, base);
    made->payload = (uint64_t)(uintptr_t)payload;
    made->slots = (uint64_t)(uintptr_t)(worker->graph.slots + submission->slots);
    made->base = (uint64_t)(uintptr_t)base;
    made->roots = (uint64_t)(uintptr_t)hbg__image_at(payload, head->roots);
    made->task_count = head->task_count;
    made->root_count = head->root_count;
    made->slot_base = worker->slot_base + submission->slots;
    made->parent = parent;
    made->task = task;
    made->outer_task = hbg__outer_task(run, parent, task);
    /* relaxed: nobody else knows of it yet. */
    hbg__store_relaxed32(&made->cursor, 0);
    hbg__store_relaxed32(&made->remaining, head->task_count);
    hbg__store_relaxed32(&made->failed, 0);
    made->epoch = run->graph.epoch;
    return index;
}

/* ---- roots ---- */

/* How many of the roots that are left one worker takes for itself; 0: too few to take them from the others. */
static uint32_t range_length(uint32_t left, uint32_t workers)
{
    uint32_t length = left / (2 * workers);
    if (workers == 1) return left;
    if (length < range_min) return 0;
    return length < range_max ? length : range_max;
}

/* Roots remain: to whoever looks. False: there is no room anywhere. */
static bool pass_on(struct hbg__worker *worker, uint32_t activation)
{
    struct hbg__sched *sched = worker->sched;
    uint64_t entry = hbg__entry_roots(activation);
    if (!hbg__ring_push(&sched->ring, entry) && !hbg__deque_push(&worker->deque, entry)) return false;
    if (hbg__bell_has_sleepers(&sched->bell)) hbg__hint(sched);
    return true;
}

static bool has_range(const struct hbg__root_range *range) { return range->at != range->end; }

/* The first root is the worker's next task, the others follow in the own queue. */
static uint32_t scatter(struct hbg__worker *worker, const uint32_t *root, uint32_t length)
{
    for (uint32_t i = 0; i < length; ++i) {
        if (HBG_LIKELY(root[i] < worker->graph.task_count)) continue;
        hbg__halt(worker, HBG_E_IMAGE, HBG__NIL, 0, 0);
        return HBG__NIL;
    }
    for (uint32_t i = length; i > 1; --i) hbg__push_entry(worker, hbg__entry_make(worker->activation, root[i - 1]));
    return root[0];
}

/* A range of the roots of the worker's activation, which it has alone; its first root. */
static uint32_t claim_roots(struct hbg__worker *worker)
{
    struct hbg__activation *own = hbg__activation_at(&worker->sched->run, worker->activation);
    const uint32_t *root = (const uint32_t *)(uintptr_t)own->roots;
    bool room = !has_range(&worker->roots) || !has_range(&worker->outer_roots);
    uint32_t at = hbg__load_relaxed32(&own->cursor), left = own->root_count - at;       /* relaxed: came with the entry */
    uint32_t range = room ? range_length(left, worker->sched->options.worker_count) : 0;
    uint32_t length = range ? range : left < few ? left : few;
    if (HBG_UNLIKELY(length == 0)) return HBG__NIL;
    root += at;
    hbg__store_relaxed32(&own->cursor, at + length);            /* relaxed: goes with the entry */
    if (length < left && !pass_on(worker, worker->activation)) {
        length = left;
        hbg__store_relaxed32(&own->cursor, own->root_count);    /* relaxed: likewise */
    }
    if (range == 0) return scatter(worker, root, length);
    hbg__roots_take(worker, worker->activation, root, length);
    return hbg__roots_next(worker);
}

/* ---- turning from one activation to another ---- */

/* The last record of `done` is told: its task is complete. */
static void complete_submission(struct hbg__worker *worker, const struct hbg__activation *done)
{
    uint32_t task = done->task;
    bool failed = hbg__load_relaxed32(&done->failed) != 0;      /* relaxed: E1 has acquired it. */
    hbg__context_enter(worker, done->parent);
    worker->activation_failed = failed;
    ++worker->noops;
    hbg__complete(worker, hbg__image_record(worker->graph.payload, task), task, failed ? HBG__SLOT_FAILED : HBG__SLOT_OK);
    hbg__drain(worker);
}

HBG_NO_INLINE void hbg__tell(struct hbg__worker *worker)
{
    while (worker->activation != 0 && worker->next == HBG__NIL) {
        struct hbg__activation *own = hbg__activation_at(&worker->sched->run, worker->activation);
        uint32_t done = (uint32_t)(hbg__completed(worker) - worker->told);
        if (done == 0) return;
        if (HBG_UNLIKELY(worker->activation_failed)) hbg__store_relaxed32(&own->failed, 1);     /* relaxed: E1 publishes it. */
        worker->told += done;
        worker->activation_failed = false;
        /* E1 acq_rel, pairs with E1 in hbg__tell(): publishes what the records that are told did; whoever brings it to 0 has seen
           all of it, since every step is a read-modify-write. */
        if (hbg__fetch_add_acq_rel32(&own->remaining, 0u - done) != done) return;
        complete_submission(worker, own);
    }
}

uint32_t hbg__expand(struct hbg__worker *worker, const struct hbg__task_record *record, uint32_t task)
{
    uint32_t activation = hbg__activate(worker, record, task);
    HBG_DEBUG_ASSERT(worker->next == HBG__NIL && worker->drain == 0);
    if (HBG_UNLIKELY(activation == 0)) return HBG__NIL;
    if (HBG_UNLIKELY(hbg__activation_at(&worker->sched->run, activation)->task_count == 0)) {
        ++worker->noops;
        hbg__complete(worker, record, task, HBG__SLOT_OK);
        hbg__drain(worker);
        return HBG__NIL;
    }
    hbg__tell(worker);                  /* `task` is not complete, so this ends no activation */
    hbg__context_enter(worker, activation);
    return claim_roots(worker);
}

/* The entry waits. False: there is no room. */
static bool put_back(struct hbg__worker *worker, uint64_t entry)
{
    if (hbg__entry_is_roots(entry)) return pass_on(worker, hbg__entry_activation(entry));
    hbg__push_entry(worker, entry);
    return true;
}

HBG_NO_INLINE uint32_t hbg__turn(struct hbg__worker *worker, uint64_t entry)
{
    hbg__tell(worker);
    if (worker->next != HBG__NIL) {     /* telling has made a task ready, which goes first */
        uint32_t next = worker->next;
        worker->next = HBG__NIL;
        if (put_back(worker, entry)) return next;
        hbg__push_entry(worker, hbg__entry_make(worker->activation, next));
        hbg__tell(worker);              /* that task is not complete, so this ends no activation */
    }
    hbg__context_enter(worker, hbg__entry_activation(entry));
    if (hbg__entry_is_roots(entry)) return claim_roots(worker);
    if (HBG_LIKELY(hbg__entry_task(entry) < worker->graph.task_count)) return hbg__entry_task(entry);
    hbg__halt(worker, HBG_E_IMAGE, HBG__NIL, 0, 0);
    return HBG__NIL;
}
