/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - see machine.h. The round trip is a word that two threads, each pinned to its CPU, count up in turn: one makes it odd,
 * the other even.
 */
#include "bench/machine.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hbg/version.h>

#include "base/clock.h"
#include "bench/tiles.h"
#include "tools/host_info.h"

#if defined(__clang__)
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif

enum { SAMPLES = 15, THROWS = 1000, WARMUP = 2 };

struct court {
    _Alignas(64) atomic_uint ball;
    _Alignas(64) int cpu[2];
    double trip_ns[SAMPLES];
};

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);       /* unpinned it measures what the machine does by itself */
}

/* Ends when the other thread has counted up to `value`. */
static void await(struct court *court, unsigned value)
{
    /* R1 acquire, pairs with R2 in hit(): the word alone is what passes */
    while (atomic_load_explicit(&court->ball, memory_order_acquire) != value) continue;
}

static void hit(struct court *court, unsigned value)
{
    atomic_store_explicit(&court->ball, value, memory_order_release);           /* R2 release, pairs with R1 in await() */
}

static void *answer(void *argument)
{
    struct court *court = argument;
    pin(court->cpu[1]);
    for (unsigned i = 1; i < 2 * THROWS * (SAMPLES + WARMUP); i += 2) {
        await(court, i);
        hit(court, i + 1);
    }
    return NULL;
}

static void *serve(void *argument)
{
    struct court *court = argument;
    unsigned i = 1;
    pin(court->cpu[0]);
    for (int sample = -WARMUP; sample < SAMPLES; sample++) {
        uint64_t begin = hbg__clock_ns();
        for (int n = 0; n < THROWS; n++, i += 2) {
            hit(court, i);
            await(court, i + 1);
        }
        if (sample >= 0) court->trip_ns[sample] = (double)(hbg__clock_ns() - begin) / THROWS;
    }
    return NULL;
}

static int ascending(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

/* the first two CPUs that this thread may use */
static bool choose_cpus(int cpu[2])
{
    cpu_set_t set;
    int found = 0;
    if (pthread_getaffinity_np(pthread_self(), sizeof set, &set)) return false;
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET(i, &set)) cpu[found++] = i;
    return found == 2;
}

double hbg__bench_round_trip_ns(void)
{
    struct court court = { .ball = 0 };
    pthread_t server, answerer;
    if (!choose_cpus(court.cpu) || pthread_create(&answerer, NULL, answer, &court)) return 0;
    if (pthread_create(&server, NULL, serve, &court)) serve(&court);        /* unmeasured, or the other one would wait for ever */
    else pthread_join(server, NULL);
    pthread_join(answerer, NULL);
    qsort(court.trip_ns, SAMPLES, sizeof court.trip_ns[0], ascending);
    return court.trip_ns[SAMPLES / 2];
}

static double load(void)
{
    double mean[1] = { 0 };
    return getloadavg(mean, 1) == 1 ? mean[0] : 0;
}

void hbg__bench_machine_get(struct bench_machine *machine)
{
    struct host_info info;
    hbg__host_info_get(&info);
    memset(machine, 0, sizeof *machine);
    machine->cpus = info.processors_allowed;
    snprintf(machine->model, sizeof machine->model, "%s", info.processor);
    snprintf(machine->kernel, sizeof machine->kernel, "%s", info.machine);
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");
    if (file) {
        if (fgets(machine->governor, sizeof machine->governor, file)) machine->governor[strcspn(machine->governor, "\n")] = '\0';
        fclose(file);
    }
    machine->compiler = COMPILER;
    machine->library = hbg_version();
    machine->blas = hbg__tiles_blas();
    machine->load = load();
    time_t now = time(NULL);
    struct tm utc;
    strftime(machine->begun, sizeof machine->begun, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    machine->round_trip_ns = hbg__bench_round_trip_ns();
}

void hbg__bench_machine_get_after(struct bench_machine *machine)
{
    machine->round_trip_after_ns = hbg__bench_round_trip_ns();
    machine->load_after = load();
}
