/* SPDX-License-Identifier: Apache-2.0 */
/* workers.c - a simulated device from its opening to its end, and what the host may ask of it. Each call makes the calling thread the
 * host; what it calls of the scheduler has the same turns as the workers have. */
#include "platform/sim/device_code.h"
#include "platform/sim/sim.h"

#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sched/context.h"
#include "sched/queues.h"

enum { STACK_BYTES = 2 << 20, GUARD_BYTES = 4096, PAGE = 4096 };        /* stacks of what kernels get on `cpu`, a guard below each */
enum { LEAVE_NS = 100000000 };                                          /* for those who only have to wake up */

/* ---- a worker ---- */

static void serve(void *argument)
{
    struct hbg__sim_fiber *fiber = argument;
    const struct hbg__sim_options *options = &fiber->sim->options;
    if (options->body) options->body(options->body_user, fiber->index);
    else hbg__sched_serve(fiber->sim->sched, fiber->index);
    hbg__sim_end(fiber);
}

uint64_t hbg__sim_progress_sum(const struct hbg__sim *sim)
{
    const struct hbg__sched *sched = sim->sched;
    uint64_t sum = (sched->state.value >> 32) + sched->done.value;
    for (uint32_t i = 0; i < sim->options.workers; ++i) {
        const struct hbg__worker *worker = &sched->worker[i];
        sum += worker->executed + worker->skipped + worker->noops + worker->generation + (sim->fiber[i].state == HBG__SIM_ENDED);
    }
    return sum;
}

bool hbg__sim_is_in_flight(const struct hbg__sim *sim)
{
    return sim->sched->done.value != hbg__state_generation(sim->sched->state.value);
}

/* ---- open and close ---- */

static bool open_stacks(struct hbg__sim *sim)
{
    size_t each = STACK_BYTES + GUARD_BYTES;
    sim->stacks_bytes = sim->workers_made * each;
    void *stacks = mmap(NULL, sim->stacks_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) return false;
    sim->stacks = stacks;
    for (uint32_t i = 0; i < sim->workers_made; ++i)
        if (mprotect(sim->stacks + i * each, GUARD_BYTES, PROT_NONE)) return false;
    return true;
}

static void open_fibers(struct hbg__sim *sim)
{
    for (uint32_t i = 0; i <= sim->options.workers; ++i) {
        struct hbg__sim_fiber *fiber = &sim->fiber[i];
        memset(fiber, 0, sizeof *fiber);
        fiber->sim = sim;
        fiber->index = i;
        if (i == sim->options.workers) continue;
        hbg__fiber_open(&fiber->fiber, sim->stacks + i * ((size_t)STACK_BYTES + GUARD_BYTES) + GUARD_BYTES, STACK_BYTES, serve, fiber);
    }
}

static void close_fibers(struct hbg__sim *sim)
{
    for (uint32_t i = 0; sim->fiber && i < sim->options.workers; ++i) hbg__fiber_close(&sim->fiber[i].fiber);
}

static struct hbg__sched_options sched_options_of(const struct hbg__sim_options *options)
{
    return (struct hbg__sched_options){
        .worker_count = options->workers, .ring_capacity = options->ring_capacity, .no_kernels = options->no_kernels, .spill = options->spill,
        .spin_ns = options->spin_ns, .wait_spin_ns = 0, .stall_ns = options->stall_ns,
        .concluded = options->concluded, .concluded_user = options->concluded_user };
}

/* Everything is as before the first step. */
static void open_all(struct hbg__sim *sim, void *block)
{
    struct hbg__sched_options options = sched_options_of(&sim->options);
    struct hbg__sched *sched = hbg__sched_open(block, &options);
    uint32_t generation = sim->options.generation;
    sim->sched = sched;
    sched->done.value = generation;
    sched->state.value = (uint64_t)generation << 32 | HBG__STATE_FINISHED;
    hbg__ring_open(&sched->ring, sched->ring.cell, options.ring_capacity, (uint32_t)sim->options.position);
    for (uint32_t i = 0; i < options.worker_count; ++i) hbg__deque_open(&sched->worker[i].deque, sim->options.position);
    sim->abandoned = false;
    open_fibers(sim);
    hbg__sim_seed(sim);
}

static void give_back(struct hbg__sim *sim)
{
    struct hbg__memory *memory = sim->memory;
    close_fibers(sim);
    hbg__sim_check_close(sim);
    if (sim->stacks) munmap(sim->stacks, sim->stacks_bytes);
    hbg__free(memory, sim->sched, sim->sched_bytes, PAGE);
    hbg__free(memory, sim->fiber, (sim->workers_made + 1) * sizeof *sim->fiber, _Alignof(struct hbg__sim_fiber));
    pthread_mutex_destroy(&sim->lock);
    HBG__DELETE(memory, sim);
}

enum hbg_status hbg__sim_create(const struct hbg__sim_options *options, struct hbg__memory *memory, struct hbg__sim **sim, struct hbg_error *error)
{
    struct hbg__sched_options sched_options = sched_options_of(options);
    struct hbg__sim *made = HBG__NEW(memory, struct hbg__sim);
    if (!made) return hbg__error_no_memory(error, "simulated device", sizeof *made);
    made->options = *options;
    made->memory = memory;
    made->workers_made = options->workers;
    pthread_mutex_init(&made->lock, NULL);
    made->sched_bytes = hbg__sched_bytes(&sched_options);
    made->fiber = hbg__alloc_zero(memory, (options->workers + 1) * sizeof *made->fiber, _Alignof(struct hbg__sim_fiber));
    void *block = hbg__alloc_zero(memory, made->sched_bytes, PAGE);
    made->sched = block;
    if (!made->fiber || !block || !open_stacks(made) || (options->check && !hbg__sim_check_open(made))) {
        uint64_t wanted = made->sched_bytes + (uint64_t)options->workers * STACK_BYTES;
        give_back(made);
        return hbg__error_no_memory(error, "simulated workers", wanted);
    }
    open_all(made, block);
    *sim = made;
    return HBG_OK;
}

void hbg__sim_restart(struct hbg__sim *sim, const struct hbg__sim_options *options)
{
    struct hbg__sched_options sched_options = sched_options_of(options);
    HBG_ASSERT(options->workers <= sim->workers_made && hbg__sched_bytes(&sched_options) <= sim->sched_bytes);
    close_fibers(sim);
    sim->options = *options;
    open_all(sim, sim->sched);
}

void hbg__sim_run_closed(struct hbg__sim *sim)
{
    hbg__sim_lock(sim);
    hbg__sched_close(sim->sched);
    hbg__sim_join(sim, UINT64_MAX);
    hbg__sim_unlock(sim);
}

void hbg__sim_destroy(struct hbg__sim *sim)
{
    if (!sim) return;
    hbg__sim_run_closed(sim);
    give_back(sim);
}

void hbg__sim_run_out(struct hbg__sim *sim)
{
    hbg__sim_lock(sim);
    hbg__sim_join(sim, UINT64_MAX);
    hbg__sim_unlock(sim);
}

uint32_t hbg__sim_abandon(struct hbg__sim *sim)
{
    uint32_t left = 0;
    hbg__sim_lock(sim);
    sim->abandoned = true;
    hbg__sched_abandon(sim->sched);
    hbg__sim_join(sim, LEAVE_NS);
    for (uint32_t i = 0; i < sim->options.workers; ++i) left += sim->fiber[i].state != HBG__SIM_ENDED;
    hbg__sim_unlock(sim);
    return left;
}

/* ---- launches ---- */

enum hbg_status hbg__sim_launch(struct hbg__sim *sim, const struct hbg__launch *launch)
{
    hbg__sim_lock(sim);
    bool fits = hbg__sim_check_fit(sim, launch);
    hbg__sim_check_launch(sim);
    if (fits) hbg__sched_launch(sim->sched, launch);
    hbg__sim_unlock(sim);
    return fits ? HBG_OK : HBG_E_NO_MEMORY;
}

/* Whoever asks in a loop lets the others go on. */
bool hbg__sim_poll(struct hbg__sim *sim)
{
    hbg__sim_lock(sim);
    hbg__sim_yield();
    bool done = hbg__sched_poll(sim->sched);
    hbg__sim_unlock(sim);
    return done;
}

bool hbg__sim_wait(struct hbg__sim *sim, uint64_t timeout_ns)
{
    hbg__sim_lock(sim);
    bool done = hbg__sched_wait(sim->sched, timeout_ns);
    hbg__sim_unlock(sim);
    return done;
}

void hbg__sim_cancel(struct hbg__sim *sim)
{
    hbg__sim_lock(sim);
    hbg__sched_cancel(sim->sched);
    hbg__sim_unlock(sim);
}

void hbg__sim_result(struct hbg__sim *sim, struct hbg__launch_result *result) { *result = sim->sched->result; }

bool hbg__sim_progress(struct hbg__sim *sim, struct hbg__progress *progress)
{
    hbg__sim_lock(sim);
    bool found = hbg__sched_progress(sim->sched, progress);
    hbg__sim_unlock(sim);
    return found;
}

void hbg__sim_run(struct hbg__sim *sim, uint64_t steps)
{
    hbg__sim_lock(sim);
    uint64_t until = sim->steps + steps;
    while (sim->steps < until) hbg__sim_yield();
    hbg__sim_unlock(sim);
}

bool hbg__sim_here(uint32_t *worker, uint32_t *task, uint32_t *kernel)
{
    const struct hbg__sim *sim = hbg__sim_current();
    if (!sim || sim->running == sim->options.workers) return false;
    const struct hbg__worker *own = &sim->sched->worker[sim->running];
    uint32_t running = own->running.value;
    if (running >= own->graph.task_count) return false;
    *worker = own->index;
    *task = hbg__outer_task(&own->sched->run, own->activation, running);
    *kernel = hbg__image_record(own->graph.payload, running)->kernel;
    return true;
}

/* Host threads come in one after the other, as for every call. */
uint64_t hbg__sim_clock(struct hbg__sim *sim)
{
    hbg__sim_lock(sim);
    hbg__sim_step();
    uint64_t now_ns = hbg__sim_now_ns();
    hbg__sim_unlock(sim);
    return now_ns;
}

uint64_t hbg__sim_queue_sum(const struct hbg__sim *sim) { return hbg__queues_sum(sim->sched); }
