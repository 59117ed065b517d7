/* SPDX-License-Identifier: Apache-2.0 */
/* find.c - where a worker without work looks: shared ring, roots, spill list, other workers' queues; and where work goes
 * that does not fit the own queue.
 *
 * Stealing. A queue of STEAL_AT_ONCE entries or more is stolen from at once. A shorter one is left alone until its top has
 * stood still for STEAL_PATIENCE_NS: an owner that works through short tasks takes its last entry itself, which moves the top,
 * and would lose far more by the cache lines that a thief pulls over than the thief gains. One short queue is watched at a time.
 */
#include "sched/context.h"
#include "sched/roots.h"
#include "sched/sched.h"

enum { STEAL_AT_ONCE = 4, STEAL_PATIENCE_NS = 200 };

static uint32_t random_below(struct hbg__worker *worker, uint32_t limit)
{
    worker->random ^= worker->random << 13;
    worker->random ^= worker->random >> 7;
    worker->random ^= worker->random << 17;
    return (uint32_t)((worker->random >> 32) * limit >> 32);
}

static bool may_steal(struct hbg__worker *worker, uint32_t victim, uint64_t size, uint64_t top, uint64_t now_ns)
{
    if (size >= STEAL_AT_ONCE) return true;
    if (worker->steal_victim == HBG__NIL) {
        worker->steal_victim = victim;
        worker->steal_top = top;
        worker->steal_since_ns = now_ns;
    }
    return worker->steal_victim == victim && now_ns - worker->steal_since_ns >= STEAL_PATIENCE_NS;
}

static bool steal(struct hbg__worker *worker, uint64_t now_ns, uint64_t *entry)
{
    struct hbg__sched *sched = worker->sched;
    uint32_t count = sched->options.worker_count;
    uint64_t top;
    if (worker->steal_victim != HBG__NIL &&
        (hbg__deque_size(&sched->worker[worker->steal_victim].deque, &top) == 0 || top != worker->steal_top))
        worker->steal_victim = HBG__NIL;
    uint32_t victim = random_below(worker, count);
    for (uint32_t i = 0; i < count; ++i, victim = victim + 1 < count ? victim + 1 : 0) {
        if (victim == worker->index) continue;
        struct hbg__deque *deque = &sched->worker[victim].deque;
        uint64_t size = hbg__deque_size(deque, &top);
        if (size == 0 || !may_steal(worker, victim, size, top, now_ns)) continue;
        worker->steal_victim = HBG__NIL;
        if (hbg__deque_steal(deque, entry)) {
            worker->left_some = size > 1;
            return true;
        }
    }
    return false;
}

/* Of an activation, or 0 of the outermost image: its first slot among the run's. */
static uint32_t slot_base(const struct hbg__sched_run *run, uint32_t activation)
{
    return activation ? hbg__activation_at(run, activation)->slot_base : 0;
}

static bool pop_spilled(struct hbg__sched *sched, uint64_t *entry)
{
    struct hbg__slot *slots = sched->run.graph.slots;
    uint32_t slot;
    if (!hbg__spill_has_entries(&sched->spill) || !hbg__spill_pop(&sched->spill, slots, &slot)) return false;
    *entry = hbg__entry_make(slots[slot].activation, slot - slot_base(&sched->run, slots[slot].activation));
    return true;
}

/* Is there work besides what this worker has just found, in its own queue as well? As far as a passer-by sees. */
bool hbg__find_left_some(const struct hbg__worker *worker)
{
    const struct hbg__sched *sched = worker->sched;
    uint64_t top;
    return worker->left_some || hbg__deque_size(&worker->deque, &top) != 0 || hbg__ring_has_entries(&sched->ring) || hbg__roots_left(sched) || hbg__spill_has_entries(&sched->spill);
}

uint32_t hbg__find(struct hbg__worker *worker, uint64_t now_ns)
{
    struct hbg__sched *sched = worker->sched;
    uint64_t entry;
    worker->left_some = false;
    if (sched->run.mode != HBG__MODE_WAKE) return HBG__NIL;
    if (hbg__ring_has_entries(&sched->ring) && hbg__ring_pop(&sched->ring, &entry)) return hbg__take_entry(worker, entry);
    if (hbg__roots_claim(worker)) {
        return hbg__roots_next(worker);
    }
    if (pop_spilled(sched, &entry)) return hbg__take_entry(worker, entry);
    if (sched->options.worker_count > 1 && steal(worker, now_ns, &entry)) return hbg__take_entry(worker, entry);
    return HBG__NIL;
}

void hbg__push_entry(struct hbg__worker *worker, uint64_t entry)
{
    if (HBG_UNLIKELY(!hbg__deque_push(&worker->deque, entry))) hbg__push_overflow(worker, entry);
    if (hbg__bell_has_sleepers(&worker->sched->bell)) hbg__hint(worker->sched);
}

HBG_COLD void hbg__push_overflow(struct hbg__worker *worker, uint64_t entry)
{
    struct hbg__sched *sched = worker->sched;
    struct hbg__slot *slots = sched->run.graph.slots;
    uint32_t activation = hbg__entry_activation(entry), slot = slot_base(&sched->run, activation) + hbg__entry_task(entry);
    if (hbg__ring_push(&sched->ring, entry)) return;
    if (sched->options.spill) {
        slots[slot].activation = activation;
        hbg__spill_push(&sched->spill, slots, slot);
    } else {
        uint32_t named = activation == worker->activation ? hbg__entry_task(entry) : HBG__NIL;
        hbg__halt(worker, HBG_E_LIMIT, named, sched->options.ring_capacity, sched->options.ring_capacity);
    }
}

HBG_COLD void hbg__hint(struct hbg__sched *sched)
{
    /* relaxed: somebody who looks already, or who was woken and is about to look, will find it; or comes back by the clock. */
    if (hbg__load_relaxed32(&sched->searchers) != 0 || hbg__load_relaxed32(&sched->hinted) != 0) return;
    hbg__store_relaxed32(&sched->hinted, 1);    /* relaxed: likewise. */
    hbg__bell_ring(&sched->bell, 1);
}
