/* SPDX-License-Identifier: Apache-2.0 */
/* stall.c - a run that cannot go on says so instead of hanging, and names who waits for whom.
 *
 * Nothing runs, nothing is ready, work remains: at one look every worker's `running` says "none", or, in claim mode, that it waits
 * for a task which is not complete, and the published counts have
 * stood still for the whole budget. A worker that looks for work, or holds some, says "busy", and publishes what it did before it
 * says "none". So a task that went from worker to worker during the look shows in the counts, which are read last. A long kernel
 * is somebody's `running`: slow, not stalled. Others who only look do not start the budget anew: workers that wake at the same
 * time would keep each other from ever seeing the end.
 */
#include "sched/run_task.h"

enum { WAITERS_NAMED = 4 };

/* Whoever waits for a task has nothing to do until it is complete. */
static bool has_nothing(const struct hbg__worker *worker, uint32_t running)
{
    const struct hbg__graph_view *graph = &worker->graph;
    if (running == HBG__RUNNING_NONE) return true;
    if (running == HBG__RUNNING_BUSY || !(running & HBG__RUNNING_WAITS)) return false;
    return !hbg__slot_is_closed(hbg__slot_look(graph->slots, graph->epoch, running & ~HBG__RUNNING_WAITS));
}

bool hbg__stalled(struct hbg__worker *worker, uint64_t now_ns)
{
    struct hbg__sched *sched = worker->sched;
    uint64_t total;
    bool busy = false;
    /* The clock is asked first: most looks end here. */
    if (now_ns - worker->quiet_since_ns < sched->options.stall_ns / 4) return false;
    for (uint32_t i = 0; i < sched->options.worker_count; ++i) {
        /* T4 acquire, pairs with T3 in look(): what that worker has published is in the counts below. */
        uint32_t running = hbg__load_acquire32(&sched->worker[i].running);
        if (i == worker->index || has_nothing(worker, running)) continue;
        busy = true;
        if (!(running & HBG__RUNNING_WAITS)) worker->quiet_since_ns = now_ns;
    }
    total = hbg__published_total(sched, worker->generation);
    if (total != worker->quiet_total) {
        worker->quiet_total = total;
        worker->quiet_since_ns = now_ns;
        return false;
    }
    return !busy && now_ns - worker->quiet_since_ns >= sched->options.stall_ns;
}

/* ---- text without a C library ---- */

struct text { char *at, *end; };

static void put_string(struct text *text, const char *string)
{
    while (*string && text->at < text->end) *text->at++ = *string++;
}

static void put_number(struct text *text, uint64_t number)
{
    char digit[20];
    int count = 0;
    do digit[count++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0 && text->at < text->end) *text->at++ = digit[--count];
}

/* ---- who waits ---- */

/* Is it certain that the task did not complete? A task that nobody queries leaves no trace; it is incomplete when a producer
   is. Tasks are asked in ascending order; `link`, which nobody needs any more, keeps the answers. */
static bool is_incomplete(const struct hbg__graph_view *graph, const struct hbg__task_record *record, uint32_t task, bool active,
                          uint32_t *producer)
{
    uint32_t count = hbg__image_producer_count(graph->payload, record);
    uint32_t value = hbg__slot_marked(graph->slots, graph->epoch, task);
    *producer = HBG__NIL;
    if (active) return true;
    if (hbg__slot_is_closed(value)) return false;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t other = hbg__image_producer(graph->payload, record, i);
        /* An id that is not lower stands in a damaged image only: such a task never becomes ready. */
        if (other < task && hbg__slot_link(graph->slots, other) != HBG__NIL) continue;
        *producer = other;
        return true;
    }
    return (record->flags & HBG__TASK_QUERYABLE) != 0;
}

/* In this run, and some of its records are not complete. */
static bool is_active(const struct hbg__sched_run *run, uint32_t activation)
{
    const struct hbg__activation *own = hbg__activation_at(run, activation);
    /* relaxed: nobody else is inside. */
    return own->epoch == run->graph.epoch && hbg__load_relaxed32(&own->remaining) != 0;
}

struct description {
    const struct hbg__sched_run *run;
    struct text out;
    uint32_t waiting;
};

/* "task 3", or "task 3, node 5" for what is inside. */
static void put_task(struct description *d, uint32_t activation, uint32_t task)
{
    if (activation) {
        const struct hbg__activation *own = hbg__activation_at(d->run, activation);
        put_task(d, own->parent, own->task);
    }
    put_string(&d->out, activation ? ", node " : "task ");
    put_number(&d->out, task);
}

static void describe_waiter(struct description *d, uint32_t activation, uint32_t task, uint32_t producer)
{
    if (++d->waiting > WAITERS_NAMED) return;
    put_string(&d->out, d->waiting == 1 ? "" : "; ");
    put_task(d, activation, task);
    if (producer == HBG__NIL) {
        put_string(&d->out, " did not become ready");
    } else {
        put_string(&d->out, activation ? " waits for node " : " waits for task ");
        put_number(&d->out, producer);
    }
}

/* The records of one image; of a submission that is active, those inside say more. */
static void describe_graph(struct description *d, const struct hbg__graph_view *graph, uint32_t activation)
{
    for (uint32_t task = 0; task < graph->task_count; ++task) {
        const struct hbg__task_record *record = hbg__image_record(graph->payload, task);
        bool active = (record->flags & HBG__TASK_SUBGRAPH) && is_active(d->run, activation + hbg__image_submission(graph->payload, record)->activation);
        uint32_t producer;
        bool incomplete = is_incomplete(graph, record, task, active, &producer);
        /* relaxed: nobody else is inside. */
        hbg__store_relaxed32(&graph->slots[task].link, incomplete ? HBG__NIL : 0);
        if (incomplete && !active) describe_waiter(d, activation, task, producer);
    }
}

/* Called by the last worker inside a run that ended early: nobody else touches the slots. */
void hbg__stall_describe(const struct hbg__sched_run *run, char *text, size_t text_bytes)
{
    struct description d = { run, { text, text + text_bytes - 1 }, 0 };
    struct hbg__graph_view graph = run->graph;
    describe_graph(&d, &graph, 0);
    for (uint32_t i = 1; i <= run->activation_count; ++i) {
        if (!is_active(run, i)) continue;
        graph.payload = (const unsigned char *)(uintptr_t)hbg__activation_at(run, i)->payload;
        graph.slots = (struct hbg__slot *)(uintptr_t)hbg__activation_at(run, i)->slots;
        graph.task_count = hbg__activation_at(run, i)->task_count;
        describe_graph(&d, &graph, i);
    }
    if (d.waiting > WAITERS_NAMED) {
        put_string(&d.out, "; and ");
        put_number(&d.out, d.waiting - WAITERS_NAMED);
        put_string(&d.out, " more");
    }
    *d.out.at = 0;
}
