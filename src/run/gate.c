/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - host data of runs in flight. (Two other gates keep runs apart: a slot that is free, lease.c, and cores that are, the device's queue.) A run that would read what an unfinished one writes, or write what one reads, waits
 * in its prepare until that one has ended and its outputs are home.
 *
 *     bind     the ranges of this run's host arguments, sorted
 *     gate     no conflict with a claimed run: claimed as well, all under the device lock, so of two threads one comes first
 *     build    hbg_read and hbg_guard pass here again, for buffers and for memory that is no argument, and are remembered
 *     commit   a run that writes what the build of a prepared one has looked at waits until that is launched. Builds that are still at work
 *              and have looked at it are outdated: they begin anew, which is waited for. Then, under the same lock, the run is prepared
 *     release  the claim ends
 *
 * A claimed run waits for prepared ones, and these wait for nobody; or for an outdated build, which waits for nobody from then on. So
 * no two wait for each other.
 *
 * Waiting for a launched run is waiting for its end, not for its finish: the waiting thread brings its outputs home itself, so one
 * thread that keeps several runs in flight is never stuck. A run that nobody has launched yet ends by its owner alone: where that
 * is the waiting thread, it is HBG_E_WOULD_DEADLOCK.
 *
 * Cost: nothing at depth 1; else one look at each run in flight and, where both have host arguments, one pass over both lists. Pairs of
 * arguments are compared exactly, byte for byte; a million of them and more are taken for a conflict.
 */
#include <inttypes.h>
#include <sched.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "graph/region_overlap.h"
#include "run/run.h"

enum { PAIRS_MAX = 1 << 20, LOOK_NS = 1000000 };

/* ---- which runs conflict ---- */

/* Ranges [first, next) overlap in a row; together they are [lo, hi). */
struct block { uint64_t lo, hi; uint32_t first, next; };

static struct block block_at(const struct hbg__run *run, uint32_t first)
{
    struct block b = { .first = first, .next = first };
    if (first == run->range_count) return b;
    b.lo = run->range[first].lo;
    for (b.hi = run->range[first].hi; b.next < run->range_count && (b.next == first || run->range[b.next].lo < b.hi); b.next++) {
        if (run->range[b.next].hi > b.hi) b.hi = run->range[b.next].hi;
    }
    return b;
}

static const struct hbg_arg *arg_of(const struct hbg__run *run, uint32_t range) { return &run->arg[run->range[range].arg].arg; }

static bool share_bytes(const struct hbg_region *a, const struct hbg_region *b)
{
    struct hbg__view x, y;
    return hbg__view_canonical(&x, a->offset_bytes, hbg_dtype_size(a->dtype), a->rank, a->shape, a->stride_bytes) &&
           hbg__view_canonical(&y, b->offset_bytes, hbg_dtype_size(b->dtype), b->rank, b->shape, b->stride_bytes) &&
           hbg__view_overlap(&x, &y) != HBG__DISJOINT;
}

static bool args_conflict(const struct hbg__run *a, uint32_t i, const struct hbg__run *b, uint32_t k)
{
    const struct hbg_arg *x = arg_of(a, i), *y = arg_of(b, k);
    if (a->range[i].lo >= b->range[k].hi || b->range[k].lo >= a->range[i].hi) return false;
    return (hbg__arg_is_written(x) || hbg__arg_is_written(y)) && share_bytes(&x->u.region, &y->u.region);
}

static bool blocks_conflict(const struct hbg__run *a, const struct block *x, const struct hbg__run *b, const struct block *y, uint32_t *i, uint32_t *k)
{
    if ((uint64_t)(x->next - x->first) * (y->next - y->first) > PAIRS_MAX) {
        *i = x->first;
        *k = y->first;
        return true;
    }
    for (*i = x->first; *i < x->next; ++*i) {
        for (*k = y->first; *k < y->next; ++*k) {
            if (args_conflict(a, *i, b, *k)) return true;
        }
    }
    return false;
}

/* Two sorted rows of blocks that do not overlap among themselves: one pass. *i, *k are the ranges that conflict. */
static bool runs_conflict(const struct hbg__run *a, const struct hbg__run *b, uint32_t *i, uint32_t *k)
{
    struct block x = block_at(a, 0), y = block_at(b, 0);
    while (x.first < a->range_count && y.first < b->range_count) {
        if (x.lo < y.hi && y.lo < x.hi && blocks_conflict(a, &x, b, &y, i, k)) return true;
        if (x.hi < y.hi) x = block_at(a, x.next);
        else y = block_at(b, y.next);
    }
    return false;
}

static bool writes_memory(const struct hbg__run *run, uint64_t lo, uint64_t hi)
{
    for (uint32_t i = 0; i < run->range_count && run->range[i].lo < hi; i++) {
        if (run->range[i].hi > lo && hbg__arg_is_written(arg_of(run, i))) return true;
    }
    return false;
}

static bool names_buffer(const struct hbg__run *run, const struct hbg_buffer *buffer)
{
    const struct hbg__recording *recording = &run->kept->recording;
    for (uint32_t i = 0; i < recording->named_count; i++) {
        if (recording->named[i].buffer == buffer) return true;
    }
    return false;
}

static bool passes_for_writing(const struct hbg__run *run, const struct hbg_buffer *buffer)
{
    for (uint32_t i = 0; i < run->arg_count; i++) {
        uint32_t group = run->arg[i].group;
        if (group != UINT32_MAX && run->group[group].buffer == buffer && hbg__arg_is_written(&run->arg[i].arg)) return true;
    }
    return false;
}

/* An argument that is not read-only, or any mention by the build, whose access nobody knows here. */
static bool writes_buffer(const struct hbg__run *run, const struct hbg_buffer *buffer)
{
    return names_buffer(run, buffer) || passes_for_writing(run, buffer);
}

/* Does this run write what the other has looked at? Buffers that its build names count when that is over. */
static bool writes_what_was_looked_at(const struct hbg__run *run, const struct hbg__run *other, bool built)
{
    if (other->looked_at_all) return true;
    for (uint32_t i = 0; i < other->looked_count; i++) {
        const struct hbg__looked *looked = &other->looked[i];
        if (!looked->buffer && writes_memory(run, looked->lo, looked->hi)) return true;
        if (looked->buffer && (passes_for_writing(run, looked->buffer) || (built && names_buffer(run, looked->buffer)))) return true;
    }
    return false;
}

/* What a run wants to touch: its own arguments, or, to read it, a buffer or memory; or to be prepared. */
struct wanted {
    const struct hbg_buffer *buffer;
    uint64_t lo, hi;                    /* lo == hi and no buffer: the arguments */
    bool commit;
    uint32_t mine, theirs;              /* arguments that conflict, where the arguments are wanted */
    bool of_build;                      /* no: what the other's build has looked at */
    struct hbg_error *error;
};

static bool conflicts(const struct hbg__run *run, struct hbg__run *other, enum hbg__run_phase phase, struct wanted *wanted)
{
    uint32_t i, k;
    bool ready = phase == HBG__RUN_PREPARED || phase == HBG__RUN_LAUNCHING;     /* what its build saw must stay until it is launched */
    if (wanted->commit) return ready && writes_what_was_looked_at(run, other, true);
    if (wanted->buffer) return (ready || (phase == HBG__RUN_LAUNCHED && !hbg__run_has_ended(other))) && writes_buffer(other, wanted->buffer);
    if (wanted->lo < wanted->hi) return phase != HBG__RUN_BINDING && writes_memory(other, wanted->lo, wanted->hi);
    wanted->of_build = (ready || phase == HBG__RUN_BINDING) && writes_what_was_looked_at(run, other, false);
    if (wanted->of_build) return true;
    if (!runs_conflict(run, other, &i, &k)) return false;
    wanted->mine = run->range[i].arg;
    wanted->theirs = other->range[k].arg;
    return true;
}

/* NULL: none. device->lock is held. */
static struct hbg__run *find_conflict(const struct hbg__run *run, struct wanted *wanted)
{
    struct hbg_device *device = run->device;
    for (uint32_t i = 0; i < device->depth; i++) {
        struct hbg__run *other = &device->run[i];
        if (other == run || !other->claimed || other->settled) continue;
        enum hbg__run_phase phase = hbg__run_word_phase(hbg__run_entry_look(other->entry));
        if (phase == HBG__RUN_DROPPED || phase == HBG__RUN_UNLAUNCHED) continue;        /* they will never touch anything */
        if (conflicts(run, other, phase, wanted)) return other;
    }
    return NULL;
}

/* ---- until they do not ---- */

enum hbg_status hbg__run_bring_home(struct hbg__run *run, struct hbg_error *error)
{
    char label[HBG__LABEL_BYTES];
    if (run->device->properties.unified) return HBG_OK;
    pthread_mutex_lock(&run->home_lock);
    if (!run->is_home) run->home_status = hbg__run_copy_back(run);
    run->is_home = true;
    enum hbg_status status = run->home_status;
    pthread_mutex_unlock(&run->home_lock);
    return status ? hbg__error_set(error, status, "arguments", "the outputs of %s cannot be copied back: %s", hbg__run_label(run, label), hbg_status_text(status)) : HBG_OK;
}

static enum hbg_status say(const struct hbg__run *other, const struct wanted *wanted, enum hbg_status status, const char *why)
{
    char label[HBG__LABEL_BYTES];
    struct hbg_error *error = wanted->error;
    hbg__run_label(other, label);
    if (wanted->commit || wanted->of_build) return hbg__error_set(error, status, "build", "the build of %s has read what this run writes, and it is not launched: %s", label, why);
    if (wanted->buffer) return hbg__error_set(error, status, "buffer", "the build reads a device buffer that %s may write: %s", label, why);
    if (wanted->lo < wanted->hi) return hbg__error_set(error, status, "memory", "the build reads memory that %s writes: %s", label, why);
    return hbg__error_set_argument(error, status, (int)wanted->mine, "argument", "argument %u shares bytes with argument %u of %s: %s", wanted->mine, wanted->theirs, label, why);
}

/* The run is launched: wait for its end and bring its outputs home. device->lock is held, and let go meanwhile. */
static enum hbg_status await_end(struct hbg__run *run, struct hbg__run *other, const struct wanted *wanted)
{
    struct hbg_device *device = run->device;
    enum hbg__run_phase phase;
    uint32_t generation = other->generation;
    if (!hbg__run_entry_enter(other->entry, generation, &phase)) return HBG_OK;
    pthread_mutex_unlock(&device->lock);
    uint64_t now_ns = hbg__clock_ns(), left_ns = run->until_ns > now_ns ? run->until_ns - now_ns : 0;
    bool ended = false;
    if (phase == HBG__RUN_LAUNCHED) ended = hbg__run_wait_for_end(other, left_ns < HBG__RUN_GRACE_NS ? left_ns : HBG__RUN_GRACE_NS);
    else sched_yield();
    if (ended) (void)hbg__run_bring_home(other, NULL);      /* its own finish says what went wrong */
    bool lost = !ended && hbg__run_is_lost(other), late = !ended && !lost && hbg__clock_ns() >= run->until_ns;
    if (lost) hbg__run_say_lost(other, wanted->error);
    if (late) say(other, wanted, HBG_TIMEOUT, "it did not end in time");
    hbg__run_entry_leave(other->entry);                     /* from here on it may be gone */
    pthread_mutex_lock(&device->lock);
    if (ended && other->claimed && other->generation == generation) other->settled = true;
    return lost ? HBG_E_DEVICE : late ? HBG_TIMEOUT : HBG_OK;
}

/* One step nearer to where `other` is over; the caller looks again. device->lock is held. */
static enum hbg_status await(struct hbg__run *run, struct hbg__run *other, const struct wanted *wanted)
{
    enum hbg__run_phase phase = hbg__run_word_phase(hbg__run_entry_look(other->entry));
    bool launched = phase == HBG__RUN_LAUNCHING || phase == HBG__RUN_LAUNCHED;
    if (run->polls && !(launched && hbg__run_has_ended(other))) return say(other, wanted, HBG_E_BUSY, "it is not finished");
    if (launched) return await_end(run, other, wanted);
    if (phase == HBG__RUN_PREPARED && other->owner == run->owner && !other->handed_over)
        return say(other, wanted, HBG_E_WOULD_DEADLOCK, "this thread has prepared it and has to launch it first; set handed_over where another thread does");
    if (hbg__clock_ns() >= run->until_ns) return say(other, wanted, HBG_TIMEOUT, "it did not end in time");
    hbg__device_wait_for_slot(run->device, LOOK_NS);        /* nobody rings when it is launched */
    return HBG_OK;
}

/* The build has looked at it. device->lock is held. */
static void remember(struct hbg__run *run, const struct wanted *wanted)
{
    struct hbg__looked *last = run->looked_count ? &run->looked[run->looked_count - 1] : NULL;
    if (run->looked_at_all) return;
    if (last && last->buffer == wanted->buffer && (wanted->buffer || last->hi == wanted->lo)) {
        last->hi = wanted->hi;
        return;
    }
    run->looked_at_all = run->looked_count == HBG__LOOKED_MAX;
    if (run->looked_at_all) return;
    run->looked[run->looked_count++] = (struct hbg__looked){ wanted->buffer, wanted->lo, wanted->hi };
}

static void count_wait(struct hbg__run *run, uint64_t begun_ns) { run->times.waited_ns += hbg__device_now_ns(run->device) - begun_ns; }

/* Until nobody conflicts any more. HBG_E_BUSY as well where the run is outdated: its build begins anew. device->lock is held. */
static enum hbg_status pass(struct hbg__run *run, struct wanted *wanted)
{
    enum hbg_status status = HBG_OK;
    struct hbg__run *other = run->outdated ? NULL : find_conflict(run, wanted);
    if (HBG_UNLIKELY(other != NULL)) {
        uint64_t begun_ns = hbg__device_now_ns(run->device);
        do status = await(run, other, wanted);
        while (!status && !run->outdated && (other = find_conflict(run, wanted)) != NULL);
        count_wait(run, begun_ns);
    }
    return status ? status : run->outdated ? HBG_E_BUSY : HBG_OK;
}

enum hbg_status hbg__run_pass_gate(struct hbg__run *run)
{
    struct hbg_device *device = run->device;
    struct wanted wanted = { .error = run->error };
    if (device->depth == 1) return HBG_OK;
    pthread_mutex_lock(&device->lock);
    enum hbg_status status = pass(run, &wanted);
    run->claimed = status == HBG_OK;
    run->settled = run->looked_at_all = run->outdated = false;
    run->looked_count = 0;
    pthread_mutex_unlock(&device->lock);
    return status;
}

/* ---- what the build reads ---- */

enum hbg_status hbg__run_settle(struct hbg__run *run, const struct hbg_buffer *buffer, const void *memory, uint64_t size_bytes, bool wait,
                                struct hbg_error *error)
{
    struct hbg_device *device = run->device;
    struct wanted wanted = { .buffer = buffer, .lo = (uint64_t)(uintptr_t)memory, .hi = (uint64_t)(uintptr_t)memory + size_bytes, .error = error };
    if (device->depth == 1) return HBG_OK;
    pthread_mutex_lock(&device->lock);
    enum hbg_status status = wait ? pass(run, &wanted) : find_conflict(run, &wanted) ? HBG_E_BUSY : HBG_OK;
    if (!status) remember(run, &wanted);
    pthread_mutex_unlock(&device->lock);
    return status;
}

/* ---- prepared --------------------------------------------------------------------------------------------------- */

/* A build at work that has looked at what this run will write; NULL: none. device->lock is held. */
static struct hbg__run *find_reader(const struct hbg__run *run)
{
    struct hbg_device *device = run->device;
    for (uint32_t i = 0; i < device->depth; i++) {
        struct hbg__run *other = &device->run[i];
        if (other == run || !other->claimed || hbg__run_word_phase(hbg__run_entry_look(other->entry)) != HBG__RUN_BINDING) continue;
        if (writes_what_was_looked_at(run, other, true)) return other;
    }
    return NULL;
}

/* Until no build at work has looked at what this run writes. device->lock is held, and let go meanwhile. */
static enum hbg_status outdate_readers(struct hbg__run *run, struct wanted *wanted)
{
    struct hbg__run *other;
    while (!run->outdated && (other = find_reader(run)) != NULL) {
        if (run->polls) return say(other, wanted, HBG_E_BUSY, "it is not finished");
        if (hbg__clock_ns() >= run->until_ns) return say(other, wanted, HBG_TIMEOUT, "it was not launched in time");
        other->outdated = true;
        uint64_t begun_ns = hbg__device_now_ns(run->device);
        hbg__device_wait_for_slot(run->device, LOOK_NS);
        count_wait(run, begun_ns);
    }
    return run->outdated ? HBG_E_BUSY : HBG_OK;
}

enum hbg_status hbg__run_commit(struct hbg__run *run)
{
    struct hbg_device *device = run->device;
    struct wanted wanted = { .commit = true, .error = run->error };
    enum hbg_status status;
    if (device->depth == 1) {
        hbg__run_entry_set(run->entry, run->generation, HBG__RUN_PREPARED);
        return HBG_OK;
    }
    pthread_mutex_lock(&device->lock);
    do {                                        /* whoever lets the lock go looks at both again */
        status = outdate_readers(run, &wanted);
        if (!status) status = pass(run, &wanted);
    } while (!status && find_reader(run));
    if (!status) hbg__run_entry_set(run->entry, run->generation, HBG__RUN_PREPARED);
    pthread_mutex_unlock(&device->lock);
    return status;
}

bool hbg__run_begins_anew(struct hbg__run *run)
{
    struct hbg_device *device = run->device;
    if (device->depth == 1) return false;
    pthread_mutex_lock(&device->lock);
    bool outdated = run->outdated;
    if (outdated) {
        run->outdated = run->looked_at_all = false;
        run->looked_count = 0;
        pthread_cond_broadcast(&device->slot_free);
    }
    pthread_mutex_unlock(&device->lock);
    return outdated;
}
