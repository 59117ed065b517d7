/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - what must hold of a device at every step, whoever was interrupted where.
 *
 *     every task is in one place at most: a worker's next-task place, its roots, its queue, its drain list, the ring, the spill list,
 *     the wake list of one producer; and in none once its own word is closed
 *     a word that is closed stays as it is in its epoch; whoever waits in it names that task as a producer
 *     queues, ring and lists hold tasks of the graph, or of submissions that were activated, no more than they have room for, and end
 *     the unclaimed roots of a submission are in one entry at most, and in none once all are claimed
 *     the counts do not exceed the tasks, those of a submission not its records; whoever sleeps on a bell has announced it
 *     between runs every queue is empty
 *
 * A task that somebody holds in a register is in no place; so a lost one is not seen here, but at the end of the run.
 */
#include "platform/sim/device_code.h"
#include "platform/sim/sim.h"

#include <string.h>

#include "base/alloc.h"
#include "sched/context.h"
#include "sched/roots.h"

enum { FREE_STEPS = 64 };                       /* a look at so many words costs no more than a step */

/* By slot of the run, and behind the slots by activation. */
struct hbg__sim_check {
    uint32_t *seen;                             /* the look that found the task, or the entry of the roots, last */
    uint32_t *closed;                           /* the word's value once it was closed, 0 before */
    uint32_t capacity, look;
    uint32_t epoch;                             /* of `closed`; 0: of another launch */
};

bool hbg__sim_check_open(struct hbg__sim *sim)
{
    sim->check = HBG__NEW(sim->memory, struct hbg__sim_check);
    return sim->check != NULL;
}

static void free_tables(struct hbg__sim *sim)
{
    struct hbg__sim_check *check = sim->check;
    hbg__free(sim->memory, check->seen, check->capacity * sizeof *check->seen, sizeof *check->seen);
    hbg__free(sim->memory, check->closed, check->capacity * sizeof *check->closed, sizeof *check->closed);
    check->seen = check->closed = NULL;
    check->capacity = 0;
}

void hbg__sim_check_close(struct hbg__sim *sim)
{
    if (!sim->check) return;
    free_tables(sim);
    HBG__DELETE(sim->memory, sim->check);
    sim->check = NULL;
}

void hbg__sim_check_launch(struct hbg__sim *sim)
{
    if (sim->check) sim->check->epoch = 0;
}

bool hbg__sim_check_fit(struct hbg__sim *sim, const struct hbg__launch *launch)
{
    struct hbg__sim_check *check = sim->check;
    uint32_t places = launch->slot_count + launch->activation_count;
    if (!check || places <= check->capacity) return true;
    check->epoch = 0;
    free_tables(sim);
    check->seen = hbg__alloc_zero(sim->memory, places * sizeof *check->seen, sizeof *check->seen);
    check->closed = hbg__alloc_zero(sim->memory, places * sizeof *check->closed, sizeof *check->closed);
    check->capacity = places;
    if (check->seen && check->closed) return true;
    free_tables(sim);
    return false;
}

uint64_t hbg__sim_check_cost(const struct hbg__sim *sim)
{
    const struct hbg__sched *sched = sim->sched;
    uint64_t words = sched->options.ring_capacity + sim->options.workers * HBG__DEQUE_CAPACITY;
    if (hbg__sim_is_in_flight(sim)) words += sched->run.slot_count;
    return 1 + words / FREE_STEPS;
}

/* ---- images ---- */

/* The outermost image, or that of an activation. */
struct part {
    uint32_t activation, slot_base;
    struct hbg__graph_view graph;
};

/* False: it is not activated in this run. */
static bool find_part(const struct hbg__sim *sim, uint32_t activation, struct part *part)
{
    const struct hbg__sched_run *run = &sim->sched->run;
    *part = (struct part){ .activation = activation, .graph = run->graph };
    if (activation == 0) return true;
    if (activation > run->activation_count) return false;
    const struct hbg__activation *own = hbg__activation_at(run, activation);
    if (own->epoch != run->graph.epoch) return false;
    part->slot_base = own->slot_base;
    part->graph.payload = (const unsigned char *)(uintptr_t)own->payload;
    part->graph.slots = (struct hbg__slot *)(uintptr_t)own->slots;
    part->graph.task_count = own->task_count;
    return true;
}

/* ---- places of tasks ---- */

static const char *put(struct hbg__sim *sim, const struct part *part, uint32_t task, const char *where)
{
    struct hbg__sim_check *check = sim->check;
    if (task >= part->graph.task_count) return where;
    uint32_t slot = part->slot_base + task;
    if (check->seen[slot] == check->look) return "a task is in two places";
    if (check->closed[slot]) return "a task that is complete waits to be run";
    check->seen[slot] = check->look;
    return NULL;
}

static const char *put_entry(struct hbg__sim *sim, uint64_t entry, const char *where)
{
    struct hbg__sim_check *check = sim->check;
    uint32_t activation = hbg__entry_activation(entry);
    struct part part;
    if (!find_part(sim, activation, &part)) return where;
    if (!hbg__entry_is_roots(entry)) return put(sim, &part, hbg__entry_task(entry), where);
    const struct hbg__activation *own = hbg__activation_at(&sim->sched->run, activation);
    uint32_t place = sim->sched->run.slot_count + activation - 1;
    if (check->seen[place] == check->look) return "the roots of a submission are in two places";
    if (own->cursor.value >= own->root_count) return "the roots of a submission are handed on, and all are claimed";
    check->seen[place] = check->look;
    return NULL;
}

static const char *put_list(struct hbg__sim *sim, const struct part *part, uint32_t waiter, const char *where)
{
    const char *wrong = NULL;
    for (; waiter && !wrong; waiter = part->graph.slots[hbg__waiter_task(waiter)].link.value) {
        if (!(waiter & HBG__WAITER)) return where;
        wrong = put(sim, part, hbg__waiter_task(waiter), where);
    }
    return wrong;
}

/* By slots of the run. */
static const char *put_spilled(struct hbg__sim *sim)
{
    const struct hbg__sched_run *run = &sim->sched->run;
    const char *wrong = NULL;
    for (uint32_t waiter = (uint32_t)sim->sched->spill.head.value; waiter && !wrong;) {
        uint32_t slot = hbg__waiter_task(waiter);
        struct part part;
        if (!(waiter & HBG__WAITER) || slot >= run->slot_count) return "the spill list holds what is no task";
        if (!find_part(sim, run->graph.slots[slot].activation, &part)) return "a task on the spill list belongs to nobody";
        wrong = put(sim, &part, slot - part.slot_base, "the spill list holds what is no task");
        waiter = run->graph.slots[slot].link.value;
    }
    return wrong;
}

static const char *look_at_deque(struct hbg__sim *sim, const struct hbg__deque *deque, bool in_flight)
{
    uint64_t top = deque->top.value, bottom = deque->bottom.value;
    const char *wrong = NULL;
    if ((int64_t)(bottom - top) < -1 || (int64_t)(bottom - top) > (int64_t)HBG__DEQUE_CAPACITY) return "a queue's ends have passed each other";
    if (!in_flight) return bottom != top ? "a queue holds a task between runs" : NULL;
    for (; (int64_t)(bottom - top) > 0 && !wrong; ++top)
        wrong = put_entry(sim, deque->item[top % HBG__DEQUE_CAPACITY].value, "a queue holds what is no task");
    return wrong;
}

static const char *look_at_range(struct hbg__sim *sim, const struct hbg__root_range *range)
{
    const struct hbg__sched_run *run = &sim->sched->run;
    const uint32_t *first = run->roots;
    uint32_t count = run->root_count;
    const char *wrong = NULL;
    struct part part;
    if (range->at == range->end) return NULL;
    if (!find_part(sim, range->activation, &part)) return "a worker's roots belong to nobody";
    if (range->activation) {
        const struct hbg__activation *own = hbg__activation_at(run, range->activation);
        first = (const uint32_t *)(uintptr_t)own->roots;
        count = own->cursor.value;
    }
    if (range->at < first || range->at > range->end || range->end > first + count) return "a worker's roots are beyond the graph's";
    for (const uint32_t *root = range->at; root < range->end && !wrong; ++root) wrong = put(sim, &part, *root, "a root is no task");
    return wrong;
}

static const char *look_at_worker(struct hbg__sim *sim, const struct hbg__worker *worker)
{
    const char *wrong = NULL;
    struct part part;
    if (!find_part(sim, worker->activation, &part)) return "a worker runs tasks of a submission that is not active";
    if (worker->next != HBG__NIL) wrong = put(sim, &part, worker->next, "a next-task place holds what is no task");
    if (!wrong) wrong = look_at_range(sim, &worker->roots);
    if (!wrong) wrong = look_at_range(sim, &worker->outer_roots);
    return wrong ? wrong : put_list(sim, &part, worker->drain, "a drain list holds what is no task");
}

/* A cell is full, or about to be; those beyond are free, or about to be. */
static const char *look_at_ring(struct hbg__sim *sim, bool in_flight)
{
    const struct hbg__ring *ring = &sim->sched->ring;
    uint32_t tail = ring->tail.value, count = ring->head.value - tail;
    const char *wrong = NULL;
    if (count > ring->capacity) return "the ring holds more than it has room for";
    if (!in_flight && count) return "the ring holds a task between runs";
    for (uint32_t i = 0; i < ring->capacity && !wrong; ++i) {
        const struct hbg__ring_cell *cell = &ring->cell[(tail + i) & (ring->capacity - 1)];
        uint32_t sequence = cell->sequence.value - (tail + i);
        if (i >= count && sequence != 0 && sequence != 1 - ring->capacity) return "a free cell of the ring has a wrong number";
        if (i < count && sequence > 1 && sequence != 1 - ring->capacity) return "a full cell of the ring has a wrong number";
        if (i < count && sequence == 1) wrong = put_entry(sim, cell->entry.value, "the ring holds what is no task");
    }
    return wrong;
}

/* ---- slot words ---- */

static bool is_producer(const struct hbg__graph_view *graph, uint32_t producer, uint32_t task)
{
    const struct hbg__task_record *record = hbg__image_record(graph->payload, task);
    uint32_t count = hbg__image_producer_count(graph->payload, record), at = hbg__producer_position(graph, record, producer);
    return at < count && hbg__image_producer(graph->payload, record, at) == producer;
}

static const char *look_at_waiters(struct hbg__sim *sim, const struct part *part, uint32_t producer, uint32_t waiter)
{
    const struct hbg__graph_view *graph = &part->graph;
    const char *wrong = NULL;
    for (; waiter && !wrong; waiter = graph->slots[hbg__waiter_task(waiter)].link.value) {
        wrong = put(sim, part, hbg__waiter_task(waiter), "a wake list holds what is no task");
        if (!wrong && !is_producer(graph, producer, hbg__waiter_task(waiter))) return "a task waits for one that is no producer of it";
    }
    return wrong;
}

/* Words of slots that no active image has stay what they are. */
static const char *look_at_words(struct hbg__sim *sim)
{
    struct hbg__sim_check *check = sim->check;
    const struct hbg__sched_run *run = &sim->sched->run;
    uint32_t epoch = run->graph.epoch;
    if (check->epoch != epoch && check->capacity) memset(check->closed, 0, check->capacity * sizeof *check->closed);
    check->epoch = epoch;
    for (uint32_t slot = 0; slot < run->slot_count; ++slot) {
        uint32_t value = hbg__slot_value(run->graph.slots[slot].word.value, epoch);
        if (check->closed[slot] && value != check->closed[slot]) return "a word that was closed has changed";
        if (hbg__slot_is_closed(value)) check->closed[slot] = value;
        else if (value && !(value & HBG__WAITER)) return "a slot word means nothing";
    }
    return NULL;
}

static const char *look_at_wake_lists(struct hbg__sim *sim, const struct part *part)
{
    const struct hbg__graph_view *graph = &part->graph;
    const char *wrong = NULL;
    for (uint32_t task = 0; task < graph->task_count && !wrong; ++task) {
        uint32_t value = hbg__slot_value(graph->slots[task].word.value, graph->epoch);
        if (value & HBG__WAITER) wrong = look_at_waiters(sim, part, task, value);
    }
    return wrong;
}

static const char *look_at_images(struct hbg__sim *sim)
{
    const struct hbg__sched_run *run = &sim->sched->run;
    const char *wrong = look_at_words(sim);
    for (uint32_t i = 0; i <= run->activation_count && !wrong; ++i) {
        struct part part;
        if (!find_part(sim, i, &part)) continue;
        wrong = look_at_wake_lists(sim, &part);
        if (i && hbg__activation_at(run, i)->remaining.value > part.graph.task_count) return "more records of a submission were told than it has";
    }
    return wrong;
}

/* ---- counts ---- */

static const char *look_at_bell(const struct hbg__sim *sim, const struct hbg__bell *bell, uint32_t most)
{
    uint32_t asleep = 0;
    for (uint32_t i = 0; i <= sim->options.workers; ++i) {
        const struct hbg__sim_fiber *fiber = &sim->fiber[i];
        asleep += fiber->state == HBG__SIM_SLEEPS && fiber->word == &bell->rings.value;
    }
    if (bell->sleepers.value < asleep) return "somebody sleeps who has not announced it";
    return bell->sleepers.value > most ? "more have announced themselves than there are" : NULL;
}

static const char *look_at_counts(const struct hbg__sim *sim, uint32_t generation)
{
    const struct hbg__sched *sched = sim->sched;
    uint64_t total = 0, published_total = 0;
    for (uint32_t i = 0; i < sim->options.workers; ++i) {
        const struct hbg__worker *worker = &sched->worker[i];
        uint64_t count = worker->executed + worker->skipped + worker->noops, published = worker->published.value;
        if (worker->generation != generation) continue;
        total += count;
        if (published >> 32 != generation) continue;
        published_total += (uint32_t)published;
        if ((uint32_t)published > count) return "a worker has published more than it did";
    }
    if (total > sched->run.slot_count) return "more tasks have ended than there are";
    if (hbg__state_finished(sched->state.value) && published_total != sched->run.slot_count)
        return "the run is finished before its tasks are";
    if (hbg__state_inside(sched->state.value) > sim->options.workers) return "more workers are inside than there are";
    return sched->searchers.value > sim->options.workers ? "more workers search than there are" : NULL;
}

const char *hbg__sim_verify(struct hbg__sim *sim)
{
    const struct hbg__sched *sched = sim->sched;
    uint32_t generation = hbg__state_generation(sched->state.value), workers = sim->options.workers;
    bool in_flight = hbg__sim_is_in_flight(sim), halted = (sched->stop.value & HBG__STOP_HALT) != 0;
    const char *wrong = look_at_bell(sim, &sched->bell, workers);
    if (!wrong) wrong = look_at_bell(sim, &sched->done_bell, 1);
    if (wrong || (halted && (in_flight || sim->abandoned))) return wrong;       /* left as it is; an abandoned one for good */
    ++sim->check->look;
    if (in_flight) {
        wrong = look_at_images(sim);
        if (!wrong) wrong = look_at_counts(sim, generation);
        if (!wrong) wrong = put_spilled(sim);
    }
    if (!wrong) wrong = look_at_ring(sim, in_flight);
    for (uint32_t i = 0; i < workers && !wrong; ++i) {
        wrong = look_at_deque(sim, &sched->worker[i].deque, in_flight);
        if (!wrong && in_flight && sched->worker[i].generation == generation) wrong = look_at_worker(sim, &sched->worker[i]);
    }
    return wrong;
}
