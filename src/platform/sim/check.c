/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - what must hold of a device at every step, whoever was interrupted where.
 *
 *     every task is in one place at most: a worker's next-task place, its roots, its queue, its drain list, the ring, the spill list,
 *     the wake list of one producer; and in none once its own word is closed
 *     a word that is closed stays as it is in its epoch; whoever waits in it names that task as a producer
 *     queues, ring and lists hold tasks of the graph, no more than they have room for, and end
 *     the counts do not exceed the tasks; whoever sleeps on a bell has announced it
 *     between runs every queue is empty
 *
 * A task that somebody holds in a register is in no place; so a lost one is not seen here, but at the end of the run.
 */
#include "platform/sim/device_code.h"
#include "platform/sim/sim.h"

#include <string.h>

#include "base/alloc.h"
#include "sched/roots.h"

enum { FREE_STEPS = 64 };                       /* a look at so many words costs no more than a step */

struct hbg__sim_check {
    uint32_t *seen;                             /* by task: the look that found it last */
    uint32_t *closed;                           /* by task: its word's value once it was closed, 0 before */
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

bool hbg__sim_check_fit(struct hbg__sim *sim, uint32_t task_count)
{
    struct hbg__sim_check *check = sim->check;
    if (!check || task_count <= check->capacity) return true;
    check->epoch = 0;
    free_tables(sim);
    check->seen = hbg__alloc_zero(sim->memory, task_count * sizeof *check->seen, sizeof *check->seen);
    check->closed = hbg__alloc_zero(sim->memory, task_count * sizeof *check->closed, sizeof *check->closed);
    check->capacity = task_count;
    if (check->seen && check->closed) return true;
    free_tables(sim);
    return false;
}

uint64_t hbg__sim_check_cost(const struct hbg__sim *sim)
{
    const struct hbg__sched *sched = sim->sched;
    uint64_t words = sched->options.ring_capacity + sim->options.workers * HBG__DEQUE_CAPACITY;
    if (hbg__sim_is_in_flight(sim)) words += sched->run.graph.task_count;
    return 1 + words / FREE_STEPS;
}

/* ---- places of tasks ---- */

static const char *put(struct hbg__sim *sim, uint32_t task, const char *where)
{
    struct hbg__sim_check *check = sim->check;
    if (task >= sim->sched->run.graph.task_count) return where;
    if (check->seen[task] == check->look) return "a task is in two places";
    if (check->closed[task]) return "a task that is complete waits to be run";
    check->seen[task] = check->look;
    return NULL;
}

static const char *put_list(struct hbg__sim *sim, uint32_t waiter, const char *where)
{
    const struct hbg__graph_view *graph = &sim->sched->run.graph;
    const char *wrong = NULL;
    for (; waiter && !wrong; waiter = graph->slots[hbg__waiter_task(waiter)].link.value) {
        if (!(waiter & HBG__WAITER)) return where;
        wrong = put(sim, hbg__waiter_task(waiter), where);
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
        wrong = put(sim, hbg__entry_node(deque->item[top % HBG__DEQUE_CAPACITY].value), "a queue holds what is no task");
    return wrong;
}

static const char *look_at_worker(struct hbg__sim *sim, const struct hbg__worker *worker)
{
    const struct hbg__sched_run *run = &sim->sched->run;
    const char *wrong = NULL;
    if (worker->root_at > worker->root_end || worker->root_end > run->root_count) return "a worker's roots are beyond the graph's";
    if (worker->next != HBG__NIL) wrong = put(sim, worker->next, "a next-task place holds what is no task");
    for (uint32_t i = worker->root_at; i < worker->root_end && !wrong; ++i) wrong = put(sim, run->roots[i], "a root is no task");
    return wrong ? wrong : put_list(sim, worker->drain, "a drain list holds what is no task");
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
        if (i < count && sequence == 1) wrong = put(sim, hbg__entry_node(cell->entry.value), "the ring holds what is no task");
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

static const char *look_at_waiters(struct hbg__sim *sim, uint32_t producer, uint32_t waiter)
{
    const struct hbg__graph_view *graph = &sim->sched->run.graph;
    const char *wrong = NULL;
    for (; waiter && !wrong; waiter = graph->slots[hbg__waiter_task(waiter)].link.value) {
        wrong = put(sim, hbg__waiter_task(waiter), "a wake list holds what is no task");
        if (!wrong && !is_producer(graph, producer, hbg__waiter_task(waiter))) return "a task waits for one that is no producer of it";
    }
    return wrong;
}

static const char *look_at_words(struct hbg__sim *sim)
{
    struct hbg__sim_check *check = sim->check;
    const struct hbg__graph_view *graph = &sim->sched->run.graph;
    const char *wrong = NULL;
    if (check->epoch != graph->epoch && check->capacity) memset(check->closed, 0, check->capacity * sizeof *check->closed);
    check->epoch = graph->epoch;
    for (uint32_t task = 0; task < graph->task_count; ++task) {
        uint32_t value = hbg__slot_value(graph->slots[task].word.value, graph->epoch);
        if (check->closed[task] && value != check->closed[task]) return "a word that was closed has changed";
        if (hbg__slot_is_closed(value)) check->closed[task] = value;
        else if (value && !(value & HBG__WAITER)) return "a slot word means nothing";
    }
    for (uint32_t task = 0; task < graph->task_count && !wrong; ++task) {
        uint32_t value = hbg__slot_value(graph->slots[task].word.value, graph->epoch);
        if (value & HBG__WAITER) wrong = look_at_waiters(sim, task, value);
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
    if (total > sched->run.graph.task_count) return "more tasks have ended than there are";
    if (hbg__state_finished(sched->state.value) && published_total != sched->run.graph.task_count)
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
        wrong = look_at_words(sim);
        if (!wrong) wrong = look_at_counts(sim, generation);
        if (!wrong) wrong = put_list(sim, (uint32_t)sched->spill.head.value, "the spill list holds what is no task");
    }
    if (!wrong) wrong = look_at_ring(sim, in_flight);
    for (uint32_t i = 0; i < workers && !wrong; ++i) {
        wrong = look_at_deque(sim, &sched->worker[i].deque, in_flight);
        if (!wrong && in_flight && sched->worker[i].generation == generation) wrong = look_at_worker(sim, &sched->worker[i]);
    }
    return wrong;
}
