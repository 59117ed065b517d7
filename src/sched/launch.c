/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - the host's side of the scheduler: memory, launch, wait, cancel, look.
 *
 *     memory:  | struct hbg__sched | worker 0 | worker 1 | ... | cells of the ring |
 */
#include "sched/context.h"
#include "sched/roots.h"
#include "sched/sched.h"

HBG__STATIC_ASSERT(sizeof(struct hbg__worker) % HBG__LINE == 0, "workers share no cache line");
HBG__STATIC_ASSERT(sizeof(struct hbg__sched) % HBG__LINE == 0, "the workers behind it start on a line");

size_t hbg__sched_bytes(const struct hbg__sched_options *options)
{
    return sizeof(struct hbg__sched) + options->worker_count * sizeof(struct hbg__worker) +
           options->ring_capacity * sizeof(struct hbg__ring_cell);
}

static void open_worker(struct hbg__sched *sched, uint32_t index)
{
    struct hbg__worker *worker = &sched->worker[index];
    hbg__core_open(&worker->core, index, sched->options.no_kernels, &sched->stop);
    worker->sched = sched;
    worker->index = index;
    worker->generation = 0;
    worker->random = 0x9e3779b97f4a7c15u * (index + 1);
    worker->resting = false;
    /* relaxed: threads start later. */
    hbg__store_relaxed32(&worker->running, HBG__RUNNING_NONE);
    hbg__store_relaxed64(&worker->inside, 0);
    hbg__store_relaxed32(&worker->nap, 0);
    hbg__store_relaxed64(&worker->published, 0);
    hbg__deque_open(&worker->deque, 0);
}

struct hbg__sched *hbg__sched_open(void *memory, const struct hbg__sched_options *options)
{
    struct hbg__sched *sched = (struct hbg__sched *)memory;
    sched->options = *options;
    sched->worker = (struct hbg__worker *)(void *)(sched + 1);
    hbg__ring_open(&sched->ring, (struct hbg__ring_cell *)(void *)(sched->worker + options->worker_count), options->ring_capacity, 0);
    hbg__spill_open(&sched->spill);
    hbg__bell_open(&sched->bell);
    hbg__bell_open(&sched->done_bell);
    /* relaxed: threads start later. */
    hbg__store_relaxed64(&sched->state, HBG__STATE_FINISHED);
    hbg__store_relaxed32(&sched->stop, 0);
    hbg__store_relaxed32(&sched->closing, 0);
    hbg__store_relaxed32(&sched->cursor, 0);
    hbg__store_relaxed32(&sched->searchers, 0);
    hbg__store_relaxed32(&sched->hinted, 0);
    hbg__store_relaxed32(&sched->done, 0);
    for (uint32_t i = 0; i < options->worker_count; ++i) open_worker(sched, i);
    return sched;
}

/* How many workers find something to do at once. */
static uint32_t wanted_workers(const struct hbg__sched *sched)
{
    const struct hbg__sched_run *run = &sched->run;
    uint32_t tasks = run->mode == HBG__MODE_ORDER ? 1 : run->mode == HBG__MODE_CLAIM ? run->graph.task_count : run->root_count;
    return tasks < sched->options.worker_count ? tasks : sched->options.worker_count;
}

static void decode(struct hbg__sched_run *run, const struct hbg__launch *launch)
{
    const struct hbg__image_head *head = (const struct hbg__image_head *)(uintptr_t)launch->image;
    run->launch = launch;
    run->mode = launch->mode;
    run->graph.task_count = launch->task_count;
    run->graph.epoch = launch->epoch;
    run->graph.slots = (struct hbg__slot *)(uintptr_t)launch->slots;
    run->graph.payload = NULL;
    run->roots = NULL;
    run->root_count = 0;
    run->activations = (struct hbg__activation *)(uintptr_t)launch->activations;
    run->bases = (uint64_t *)(uintptr_t)launch->bases;
    run->slot_count = launch->slot_count;
    run->activation_count = launch->activation_count;
    run->base_total = 0;
    HBG_DEBUG_ASSERT(launch->activation_count == 0 || launch->mode != HBG__MODE_CLAIM);
    if (launch->task_count == 0) return;
    run->graph.payload = hbg__image_payload(head);
    run->roots = (const uint32_t *)hbg__image_at(run->graph.payload, head->roots);
    run->root_count = head->root_count;
    run->base_total = head->base_total;
}

void hbg__sched_launch(struct hbg__sched *sched, const struct hbg__launch *launch)
{
    struct hbg__launch_result *result = &sched->result;
    /* relaxed: the caller has seen the end of the run before (N2), and nobody else launches. */
    uint32_t generation = hbg__load_relaxed32(&sched->done) + 1;
    bool empty = launch->task_count == 0;
    if (generation == 0) generation = 1;
    decode(&sched->run, launch);
    result->status = HBG_OK;
    result->task = result->node = HBG__NIL;
    result->activation = 0;
    result->kernel = 0;
    result->code = 0;
    result->detail = result->limit = 0;
    result->accepted_ns = hbg__clock_ns();
    result->started_ns = empty ? result->accepted_ns : UINT64_MAX;
    result->ended_ns = empty ? result->accepted_ns : 0;
    result->executed = result->skipped = result->noops = 0;
    result->text[0] = 0;
    /* relaxed: L1 publishes them. */
    hbg__store_relaxed32(&sched->stop, 0);
    hbg__store_relaxed32(&sched->cursor, 0);
    hbg__store_relaxed32(&sched->hinted, 0);
    /* L1 release, pairs with L2 in hbg__enter(): the run's constants. A run of nothing is finished at once. */
    hbg__store_release64(&sched->state, (uint64_t)generation << 32 | (empty ? HBG__STATE_FINISHED : 0));
    if (empty) {
        /* N3 release, pairs with N2 in hbg__sched_poll(): the result. */
        hbg__store_release32(&sched->done, generation);
        hbg__bell_ring(&sched->done_bell, UINT32_MAX);
    } else {
        hbg__bell_ring(&sched->bell, wanted_workers(sched));
    }
}

bool hbg__sched_poll(struct hbg__sched *sched)
{
    /* relaxed: only launch changes the generation. */
    uint32_t generation = hbg__state_generation(hbg__load_relaxed64(&sched->state));
    /* N2 acquire, pairs with N1 in hbg__conclude() and N3 in hbg__sched_launch(): the result, and all that the run wrote. */
    return hbg__load_acquire32(&sched->done) == generation;
}

static bool is_done(void *sched) { return hbg__sched_poll((struct hbg__sched *)sched); }

/* Ends when the workers conclude the run, or when the time is up. */
bool hbg__sched_wait(struct hbg__sched *sched, uint64_t timeout_ns)
{
    return hbg__bell_wait(&sched->done_bell, is_done, sched, sched->options.wait_spin_ns, timeout_ns);
}

void hbg__sched_cancel(struct hbg__sched *sched)
{
    /* S2 acq_rel, pairs with S1 in hbg__halt(): publishes nothing; tasks that see it late have started before. */
    hbg__fetch_or_acq_rel32(&sched->stop, HBG__STOP_CANCEL);
}

/* False: it runs nothing of this run. A worker that turns to another activation meanwhile may be said to run a task of the one before. */
static bool look_at(const struct hbg__sched_run *run, const struct hbg__worker *worker, uint32_t generation, struct hbg__progress *progress)
{
    /* X2 acquire, pairs with X1 in hbg__context_enter(): the activation. */
    uint64_t inside = hbg__load_acquire64(&worker->inside);
    uint32_t running = hbg__load_relaxed32(&worker->running);   /* relaxed: a glance. */
    uint32_t activation = (uint32_t)inside, count = run->graph.task_count;
    const unsigned char *payload = run->graph.payload;
    if (inside >> 32 != generation) return false;
    if (activation) {
        count = hbg__activation_at(run, activation)->task_count;
        payload = (const unsigned char *)(uintptr_t)hbg__activation_at(run, activation)->payload;
    }
    if (running >= count) return false;
    progress->task = hbg__outer_task(run, activation, running);
    progress->activation = activation;
    progress->node = running;
    progress->kernel = hbg__image_record(payload, running)->kernel;
    progress->worker = worker->index;
    return true;
}

bool hbg__sched_progress(struct hbg__sched *sched, struct hbg__progress *progress)
{
    /* relaxed: only launch changes the generation. */
    uint32_t generation = hbg__state_generation(hbg__load_relaxed64(&sched->state));
    uint32_t count = sched->options.worker_count, at = progress->worker < count ? progress->worker : 0;
    for (uint32_t i = 0; i < count; ++i, at = at + 1 < count ? at + 1 : 0)
        if (look_at(&sched->run, &sched->worker[at], generation, progress)) return true;
    return false;
}

/* Workers that wait for tasks of the stuck ones leave as after a halt; whoever is last, if ever, concludes for nobody. */
void hbg__sched_abandon(struct hbg__sched *sched)
{
    hbg__fetch_or_acq_rel32(&sched->stop, HBG__STOP_CANCEL | HBG__STOP_HALT);       /* as S1: publishes nothing. */
    hbg__fetch_or_acq_rel64(&sched->state, HBG__STATE_FINISHED);                    /* as L4: nobody enters any more. */
    hbg__sched_close(sched);
}

void hbg__sched_close(struct hbg__sched *sched)
{
    /* Q1 release, pairs with Q2 in is_closing(): the device's last orders. */
    hbg__store_release32(&sched->closing, 1);
    hbg__bell_ring(&sched->bell, UINT32_MAX);
}
