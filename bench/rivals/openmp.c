/* SPDX-License-Identifier: Apache-2.0 */
/* openmp.c - OpenMP tasks with depend clauses: a graph cannot be kept, so each run submits its tasks again. */
#include <omp.h>
#include <stdlib.h>

#include "bench/rivals/rival.h"

#ifndef RIVAL_RUNTIME
#define RIVAL_RUNTIME "libgomp"
#endif

/* The addresses of `cell` stand for the cells; nothing is stored there. */
struct state { const struct work *work; int workers; char *cell; };

static void *open_graph(const struct work *work, int workers)
{
    struct state *s = malloc(sizeof *s);
    if (!s) return NULL;
    *s = (struct state){ .work = work, .workers = workers, .cell = calloc(work->dag->cell_count, 1) };
    if (s->cell) return s;
    free(s);
    return NULL;
}

/* An update and a write wait for the same tasks, so both are inout. */
static void submit(char *cell, const struct work *work, uint32_t i)
{
    const struct dag_task *t = &work->dag->task[i];
    const uint32_t *read = work->dag->read + t->first_read;
    int count = t->read_count;
    char *own = &cell[t->cell];
    const char *a = count > 0 ? &cell[read[0]] : cell, *b = count > 1 ? &cell[read[1]] : cell, *c = count > 2 ? &cell[read[2]] : cell;
    (void)own, (void)a, (void)b, (void)c;
    switch (count) {
    case 0:
#pragma omp task depend(inout : own[0])
        hbg__work_do(work, i);
        break;
    case 1:
#pragma omp task depend(inout : own[0]) depend(in : a[0])
        hbg__work_do(work, i);
        break;
    case 2:
#pragma omp task depend(inout : own[0]) depend(in : a[0], b[0])
        hbg__work_do(work, i);
        break;
    case 3:
#pragma omp task depend(inout : own[0]) depend(in : a[0], b[0], c[0])
        hbg__work_do(work, i);
        break;
    default:
#pragma omp task depend(inout : own[0]) depend(iterator(int n = 0 : count), in : cell[read[n]])
        hbg__work_do(work, i);
        break;
    }
}

static uint64_t run_graph(void *state, enum rival_mode mode)
{
    struct state *s = state;
    uint64_t elapsed = 0;
    (void)mode;
#pragma omp parallel num_threads(s->workers)
#pragma omp single
    {
        uint64_t begin = rival_clock_ns();
        for (uint32_t i = 0; i < s->work->dag->task_count; i++) submit(s->cell, s->work, i);
#pragma omp taskwait
        elapsed = rival_clock_ns() - begin;
    }
    return elapsed;
}

static void close_graph(void *state)
{
    struct state *s = state;
    free(s->cell);
    free(s);
}

int main(int argc, char **argv)
{
    static const struct rival rival = { "OpenMP tasks, " RIVAL_RUNTIME, 1 << RIVAL_ANEW, open_graph, run_graph, close_graph, NULL, NULL };
    omp_set_dynamic(0);
    return rival_main(&rival, argc, argv);
}
