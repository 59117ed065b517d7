/* SPDX-License-Identifier: Apache-2.0 */
/* workers.c - threads, their CPUs and their memory; what they do is src/sched. */
#include "platform/cpu/workers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef HBG_HAVE_HWLOC
#include <hwloc.h>
#endif

#include "base/alloc.h"
#include "base/bits.h"
#include "base/error.h"
#include "base/inside.h"
#include "platform/cpu/thread.h"
#include "sched/context.h"

enum { CPUS_MAX = 4096, PAGE = 4096, SIGNAL_STACK_SPARE = 16 << 10 };
enum { STACK_BYTES = 2 << 20 };         /* what kernels get, as the header says; the default of 8 MiB is much address space for many workers */

struct thread {
    struct hbg__workers *workers;
    pthread_t handle;
    uint32_t index;
    int cpu;                            /* -1: wherever the system puts it */
};

/* This thread's worker; NULL in threads that are none. */
static _Thread_local struct hbg__worker *own_worker HBG__SIGNAL_SAFE;

struct hbg__workers {
    struct hbg__memory *memory;
    unsigned char *signal_stacks;       /* one behind the other */
    size_t signal_stack_bytes;
    struct hbg__sched *sched;
    size_t sched_bytes;
    struct thread *thread;
    uint32_t count, started;
};

/* The CPUs this process may use, in ascending order; returns how many there are. */
static uint32_t allowed_cpus(int *cpu, uint32_t most)
{
    uint32_t found = 0;
    size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX);
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    if (set && sched_getaffinity(0, bytes, set) == 0)
        for (int i = 0; i < CPUS_MAX && found < most; ++i)
            if (CPU_ISSET_S((size_t)i, bytes, set)) cpu[found++] = i;
    CPU_FREE(set);
    return found;
}

#ifdef HBG_HAVE_HWLOC
/* Put one CPU of each core first, so that the first workers do not share a core. */
static void order_by_core(int *cpu, uint32_t count)
{
    hwloc_topology_t topology;
    int ordered[CPUS_MAX];
    bool taken[CPUS_MAX] = { false };
    uint32_t at = 0;
    if (hwloc_topology_init(&topology) != 0) return;
    if (hwloc_topology_load(topology) == 0) {
        int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
        for (int round = 0; at < count && round < CPUS_MAX; ++round) {
            uint32_t before = at;
            for (int core = 0; core < cores && at < count; ++core) {
                hwloc_obj_t object = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)core);
                for (uint32_t i = 0; object && i < count; ++i) {
                    if (taken[i] || !hwloc_bitmap_isset(object->cpuset, (unsigned)cpu[i])) continue;
                    taken[i] = true;
                    ordered[at++] = cpu[i];
                    break;
                }
            }
            if (at == before) break;
        }
        if (at == count) memcpy(cpu, ordered, count * sizeof *cpu);
    }
    hwloc_topology_destroy(topology);
}
#else
static void order_by_core(int *cpu, uint32_t count)
{
    (void)cpu;
    (void)count;
}
#endif

static void *worker_main(void *argument)
{
    struct thread *thread = argument;
    struct hbg__workers *workers = thread->workers;
    stack_t stack = { .ss_sp = workers->signal_stacks + thread->index * workers->signal_stack_bytes, .ss_size = workers->signal_stack_bytes };
    stack_t before;
    char name[16];
    snprintf(name, sizeof name, "hbg-%u", (unsigned)thread->index);
    pthread_setname_np(pthread_self(), name);
    hbg__inside = HBG__INSIDE_KERNEL;               /* this thread runs nothing else that could call a device */
    if (thread->cpu >= 0) {
        size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX);
        cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
        if (set) {
            CPU_ZERO_S(bytes, set);
            CPU_SET_S((size_t)thread->cpu, bytes, set);
            (void)!pthread_setaffinity_np(pthread_self(), bytes, set);     /* a CPU that left the mask meanwhile: not pinned */
        }
        CPU_FREE(set);
    }
    bool replaced = sigaltstack(&stack, &before) == 0;      /* without one a handler runs on the thread's stack, if that is not full */
    own_worker = &workers->sched->worker[thread->index];
    hbg__sched_serve(workers->sched, thread->index);
    own_worker = NULL;
    if (replaced) (void)!sigaltstack(&before, NULL);        /* a sanitizer has put one there, and takes it away again */
    return NULL;
}

/* Returns 0 or an errno. */
static int start_threads(struct hbg__workers *workers)
{
    int status = 0;
    while (workers->started < workers->count && status == 0) {
        struct thread *thread = &workers->thread[workers->started];
        status = hbg__thread_start(&thread->handle, STACK_BYTES, worker_main, thread);
        if (status == 0) ++workers->started;
    }
    return status;
}

/* What the system needs for a handler's frame, and as much again for the handler; whole pages. */
static size_t signal_stack_bytes(void)
{
    long least = sysconf(_SC_MINSIGSTKSZ);
    return hbg__round_up(least > MINSIGSTKSZ ? (size_t)least : MINSIGSTKSZ, PAGE) + SIGNAL_STACK_SPARE;
}

enum hbg_status hbg__workers_create(const struct hbg__workers_options *options, struct hbg__memory *memory,
                                    struct hbg__workers **workers, struct hbg_error *error)
{
    struct hbg__sched_options sched_options;
    struct hbg__workers *made;
    int cpu[CPUS_MAX], status;
    uint32_t cpus = allowed_cpus(cpu, CPUS_MAX);

    sched_options.worker_count = options->workers;
    sched_options.ring_capacity = options->ring_capacity;
    sched_options.no_kernels = options->no_kernels;
    sched_options.spill = options->spill;
    sched_options.spin_ns = options->spin_ns;
    /* A waiting thread spins only where there is a CPU for it beside those of the workers. */
    sched_options.wait_spin_ns = options->workers < cpus ? options->spin_ns : 0;
    sched_options.stall_ns = options->stall_ns;
    sched_options.concluded = options->concluded;
    sched_options.concluded_user = options->concluded_user;

    made = HBG__NEW(memory, struct hbg__workers);
    if (!made) return hbg__error_no_memory(error, "workers", sizeof *made);
    made->memory = memory;
    made->count = options->workers;
    made->sched_bytes = hbg__sched_bytes(&sched_options);
    made->thread = hbg__alloc_zero(memory, made->count * sizeof *made->thread, _Alignof(struct thread));
    made->signal_stack_bytes = signal_stack_bytes();
    made->signal_stacks = hbg__alloc_zero(memory, made->count * made->signal_stack_bytes, PAGE);
    void *block = hbg__alloc_zero(memory, made->sched_bytes, PAGE);
    if (block) made->sched = hbg__sched_open(block, &sched_options);
    if (!made->thread || !made->signal_stacks || !made->sched) {
        uint64_t each = sizeof(struct thread) + made->signal_stack_bytes;
        hbg__workers_destroy(made);
        return hbg__error_no_memory(error, "workers", hbg__sched_bytes(&sched_options) + options->workers * each);
    }
    if (options->pin) order_by_core(cpu, cpus);
    for (uint32_t i = 0; i < made->count; ++i) {
        made->thread[i].workers = made;
        made->thread[i].index = i;
        made->thread[i].cpu = options->pin && cpus > 0 ? cpu[i % cpus] : -1;
    }
    status = start_threads(made);
    if (status != 0) {
        uint32_t started = made->started;
        hbg__workers_destroy(made);
        return hbg__error_set(error, HBG_E_DEVICE, "workers", "worker thread %u of %u cannot be made: %s", started, options->workers, strerror(status));
    }
    *workers = made;
    return HBG_OK;
}

void hbg__workers_destroy(struct hbg__workers *workers)
{
    if (!workers) return;
    struct hbg__memory *memory = workers->memory;
    if (workers->sched) {
        hbg__sched_close(workers->sched);
        for (uint32_t i = 0; i < workers->started; ++i) pthread_join(workers->thread[i].handle, NULL);
        hbg__free(memory, workers->sched, workers->sched_bytes, PAGE);
    }
    if (workers->signal_stacks) hbg__free(memory, workers->signal_stacks, workers->count * workers->signal_stack_bytes, PAGE);
    if (workers->thread) hbg__free(memory, workers->thread, workers->count * sizeof *workers->thread, _Alignof(struct thread));
    HBG__DELETE(memory, workers);
}

uint32_t hbg__workers_abandon(struct hbg__workers *workers)
{
    enum { LEAVE_NS = 100000000, SECOND_NS = 1000000000 };      /* for those who only have to wake up */
    struct timespec until;
    uint32_t left = 0;
    hbg__sched_abandon(workers->sched);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LEAVE_NS;
    if (until.tv_nsec >= SECOND_NS) { until.tv_nsec -= SECOND_NS; ++until.tv_sec; }
    for (uint32_t i = 0; i < workers->started; ++i) {
        if (pthread_timedjoin_np(workers->thread[i].handle, NULL, &until) == 0) continue;
        pthread_detach(workers->thread[i].handle);
        ++left;
    }
    return left;
}

void hbg__workers_launch(struct hbg__workers *workers, const struct hbg__launch *launch)
{
    HBG_ASSERT(hbg__sched_poll(workers->sched));
    hbg__sched_launch(workers->sched, launch);
}

bool hbg__workers_poll(struct hbg__workers *workers) { return hbg__sched_poll(workers->sched); }
bool hbg__workers_wait(struct hbg__workers *workers, uint64_t timeout_ns) { return hbg__sched_wait(workers->sched, timeout_ns); }
void hbg__workers_cancel(struct hbg__workers *workers) { hbg__sched_cancel(workers->sched); }
void hbg__workers_result(struct hbg__workers *workers, struct hbg__launch_result *result) { *result = workers->sched->result; }
uint32_t hbg__workers_count(const struct hbg__workers *workers) { return workers->count; }
uint64_t hbg__workers_wait_spin_ns(const struct hbg__workers *workers) { return workers->sched->options.wait_spin_ns; }
const struct hbg__sched *hbg__workers_sched(const struct hbg__workers *workers) { return workers->sched; }

bool hbg__workers_here(uint32_t *worker, uint32_t *task, uint32_t *kernel)
{
    const struct hbg__worker *own = own_worker;
    if (!own) return false;
    uint32_t running = hbg__load_relaxed32(&own->running);       /* relaxed: this thread's own. */
    if (running >= own->graph.task_count) return false;
    *worker = own->index;
    *task = hbg__outer_task(&own->sched->run, own->activation, running);
    *kernel = hbg__image_record(own->graph.payload, running)->kernel;
    return true;
}

bool hbg__workers_progress(struct hbg__workers *workers, struct hbg__progress *progress)
{
    return hbg__sched_progress(workers->sched, progress);
}
