/* SPDX-License-Identifier: Apache-2.0 */
/* rival.c - see rival.h. */
#include "bench/rivals/rival.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/machine.h"

enum { TASKS = 100000, WAVE_SIDE = 316, SIDE = 64, LEAVES = 1 << 16, REPS_MAX = 101, WORKERS_MAX = 2, BATCH_NS = 1000000 };

uint64_t rival_clock_ns(void) { return hbg__clock_ns(); }

static void *allocate(size_t count, size_t size_bytes)
{
    void *block = calloc(count ? count : 1, size_bytes);
    if (!block) {
        fputs("no memory for a graph\n", stderr);
        exit(1);
    }
    return block;
}

/* ---- the graphs of bench/shapes.c ---- */

static struct rival_task *add(struct rival_graph *g, uint32_t cell, bool updates)
{
    struct rival_task *t = &g->task[g->task_count++];
    t->cell = cell;
    t->updates = updates;
    if (cell >= g->cell_count) g->cell_count = cell + 1;
    return t;
}

static void read_cell(struct rival_task *t, uint32_t cell) { t->read[t->read_count++] = cell; }

static void chain(struct rival_graph *g)
{
    for (uint32_t i = 0; i < TASKS; i++) add(g, 0, true);
}

static void independent(struct rival_graph *g)
{
    for (uint32_t i = 0; i < TASKS; i++) add(g, i, true);
}

static void wavefront(struct rival_graph *g)
{
    for (uint32_t i = 0; i < WAVE_SIDE; i++)
        for (uint32_t j = 0; j < WAVE_SIDE; j++) {
            struct rival_task *t = add(g, i * WAVE_SIDE + j, false);
            if (i) read_cell(t, (i - 1) * WAVE_SIDE + j);
            if (j) read_cell(t, i * WAVE_SIDE + j - 1);
        }
}

static void cholesky(struct rival_graph *g)
{
    for (uint32_t k = 0; k < SIDE; k++) {
        add(g, k * SIDE + k, true);
        for (uint32_t i = k + 1; i < SIDE; i++) read_cell(add(g, i * SIDE + k, true), k * SIDE + k);
        for (uint32_t i = k + 1; i < SIDE; i++) {
            read_cell(add(g, i * SIDE + i, true), i * SIDE + k);
            for (uint32_t j = k + 1; j < i; j++) {
                struct rival_task *t = add(g, i * SIDE + j, true);
                read_cell(t, i * SIDE + k);
                read_cell(t, j * SIDE + k);
            }
        }
    }
}

static void tree(struct rival_graph *g)
{
    for (uint32_t i = 0; i < LEAVES; i++) add(g, i, false);
    for (uint32_t apart = 1; apart < LEAVES; apart *= 2)
        for (uint32_t i = 0; i < LEAVES; i += 2 * apart) read_cell(add(g, i, true), i + apart);
}

static void random_reads(struct rival_graph *g)
{
    uint64_t state = 12345;
    add(g, 0, false);
    for (uint32_t i = 1; i < TASKS; i++) {
        struct rival_task *t = add(g, i, false);
        for (int n = 0; n < RIVAL_READS_MAX; n++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            read_cell(t, (uint32_t)((state >> 33) % i));
        }
    }
}

static const struct { const char *name; void (*make)(struct rival_graph *g); } graphs[] = {
    { "chain", chain }, { "independent", independent }, { "wavefront", wavefront },
    { "cholesky", cholesky }, { "tree", tree }, { "random", random_reads }
};
enum { GRAPHS = sizeof graphs / sizeof graphs[0] };

/* ---- who waits for whom ---- */

struct history { uint32_t writer; uint32_t *reader; uint32_t reader_count, reader_capacity; };  /* writer: id + 1, 0 is none */
struct row { uint32_t *stamp, *producer; uint32_t count, capacity; };

static void wait_for(struct row *row, uint32_t task, uint32_t producer)
{
    if (row->stamp[producer] == task + 1) return;
    row->stamp[producer] = task + 1;
    if (row->count == row->capacity) {
        row->capacity = row->capacity ? 2 * row->capacity : 1024;
        row->producer = realloc(row->producer, row->capacity * sizeof *row->producer);
        if (!row->producer) exit(1);
    }
    row->producer[row->count++] = producer;
}

static void note_reader(struct history *h, uint32_t task)
{
    if (h->reader_count == h->reader_capacity) {
        h->reader_capacity = h->reader_capacity ? 2 * h->reader_capacity : 4;
        h->reader = realloc(h->reader, h->reader_capacity * sizeof *h->reader);
        if (!h->reader) exit(1);
    }
    h->reader[h->reader_count++] = task;
}

/* Reads wait for the last writer; a write waits for the readers since, and for the last writer. */
static void infer(struct rival_graph *g)
{
    struct history *cell = allocate(g->cell_count, sizeof *cell);
    struct row row = { .stamp = allocate(g->task_count, sizeof(uint32_t)) };
    g->first = allocate((size_t)g->task_count + 1, sizeof *g->first);
    for (uint32_t i = 0; i < g->task_count; i++) {
        const struct rival_task *t = &g->task[i];
        struct history *own = &cell[t->cell];
        g->first[i] = row.count;
        for (uint32_t n = 0; n < t->read_count; n++)
            if (cell[t->read[n]].writer) wait_for(&row, i, cell[t->read[n]].writer - 1);
        if (own->writer) wait_for(&row, i, own->writer - 1);
        for (uint32_t n = 0; n < own->reader_count; n++) wait_for(&row, i, own->reader[n]);
        for (uint32_t n = 0; n < t->read_count; n++) note_reader(&cell[t->read[n]], i);
        own->writer = i + 1;
        own->reader_count = 0;
    }
    g->first[g->task_count] = row.count;
    g->producer = row.producer;
    for (uint32_t c = 0; c < g->cell_count; c++) free(cell[c].reader);
    free(cell);
    free(row.stamp);
}

/* ---- measuring ---- */

struct rival_case { const struct rival_graph *graph; void *state; double sample[REPS_MAX]; };

static int ascending(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

/* as bench/measure.c: one run that is not timed, then 1 ms of them */
static double batch(const struct rival *rival, struct rival_case *c)
{
    uint64_t sum_ns = 0, runs = 0;
    rival->run(c->state);
    while (sum_ns < BATCH_NS) {
        sum_ns += rival->run(c->state);
        runs++;
    }
    return (double)sum_ns / (double)runs / c->graph->task_count;
}

static void measure(const struct rival *rival, struct rival_graph *made, uint32_t count, int workers, uint32_t reps)
{
    static struct rival_case cases[GRAPHS];
    uint32_t opened = 0;
    for (uint32_t i = 0; i < count; i++) {
        cases[opened].graph = &made[i];
        cases[opened].state = rival->open(&made[i], workers);
        if (cases[opened].state) opened++;
        else fprintf(stderr, "%s cannot run %s with %d workers\n", rival->name, made[i].name, workers);
    }
    for (uint32_t rep = 0; rep < reps; rep++)
        for (uint32_t i = 0; i < opened; i++) cases[i].sample[rep] = batch(rival, &cases[i]);
    for (uint32_t i = 0; i < opened; i++) {
        uint32_t last = reps - 1;
        double *sample = cases[i].sample;
        qsort(sample, reps, sizeof *sample, ascending);
        printf("%-22s %7d %11.2f %11.2f %11.2f\n", cases[i].graph->name, workers,
               last % 2 ? (sample[last / 2] + sample[last / 2 + 1]) / 2 : sample[last / 2], sample[(last + 5) / 10], sample[last - (last + 5) / 10]);
        rival->close(cases[i].state);
    }
    fflush(stdout);
}

int rival_main(const struct rival *rival, int argc, char **argv)
{
    static struct rival_graph made[GRAPHS];
    const char *only = NULL;
    uint32_t reps = 11, count = 0;
    int only_workers = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--reps")) reps = (uint32_t)atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--case")) only = argv[i + 1];
        else if (!strcmp(argv[i], "--workers")) only_workers = atoi(argv[i + 1]);
        else argc = 0;
    }
    if (argc % 2 == 0 || reps < 1 || reps > REPS_MAX) {
        fprintf(stderr, "usage: %s [--reps 1..%d] [--case NAME] [--workers N]\n", argv[0], REPS_MAX);
        return 2;
    }
    for (uint32_t i = 0; i < GRAPHS; i++) {
        if (only && strcmp(only, graphs[i].name)) continue;
        made[count].name = graphs[i].name;
        made[count].task = allocate(2 * LEAVES, sizeof *made[count].task);
        graphs[i].make(&made[count]);
        infer(&made[count++]);
    }
    printf("round trip  %.0f ns from core to core and back before\n\n%s, ns/task; %u batches\n\n", hbg__bench_round_trip_ns(), rival->name, reps);
    printf("%-22s %7s %11s %11s %11s\n", "case", "workers", "median", "p10", "p90");
    for (int workers = 1; workers <= WORKERS_MAX; workers++) {
        if (only_workers && workers != only_workers) continue;
        if (rival->begin && rival->begin(workers)) {
            fprintf(stderr, "%s cannot start with %d workers\n", rival->name, workers);
            return 1;
        }
        measure(rival, made, count, workers, reps);
        if (rival->end) rival->end();
    }
    printf("\nround trip  %.0f ns after\n", hbg__bench_round_trip_ns());
    return 0;
}
