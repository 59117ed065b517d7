/* SPDX-License-Identifier: Apache-2.0 */
/* openmp.c - OpenMP tasks with depend clauses: a graph cannot be kept, so each run submits its tasks again. */
#include <omp.h>
#include <stdlib.h>

#include "bench/rivals/rival.h"

#ifndef RIVAL_RUNTIME
#define RIVAL_RUNTIME "the compiler's own runtime"
#endif

struct state { const struct rival_graph *graph; int workers; char *cell; };

static void *open_graph(const struct rival_graph *graph, int workers)
{
    struct state *s = malloc(sizeof *s);
    if (!s) return NULL;
    *s = (struct state){ .graph = graph, .workers = workers, .cell = calloc(graph->cell_count, 1) };
    if (s->cell) return s;
    free(s);
    return NULL;
}

/* Empty tasks. An update and a write wait for the same tasks, so both are inout. */
static void submit(char *cell, const struct rival_task *t)
{
    char *own = &cell[t->cell];
    const char *a = &cell[t->read[0]], *b = &cell[t->read[1]], *c = &cell[t->read[2]], *d = &cell[t->read[3]];
    (void)own, (void)a, (void)b, (void)c, (void)d;
    switch (t->read_count) {
    case 0:
#pragma omp task depend(inout : own[0])
        {}
        break;
    case 1:
#pragma omp task depend(inout : own[0]) depend(in : a[0])
        {}
        break;
    case 2:
#pragma omp task depend(inout : own[0]) depend(in : a[0], b[0])
        {}
        break;
    case 3:
#pragma omp task depend(inout : own[0]) depend(in : a[0], b[0], c[0])
        {}
        break;
    default:
#pragma omp task depend(inout : own[0]) depend(in : a[0], b[0], c[0], d[0])
        {}
        break;
    }
}

static uint64_t run_graph(void *state)
{
    struct state *s = state;
    const struct rival_graph *g = s->graph;
    uint64_t elapsed = 0;
#pragma omp parallel num_threads(s->workers)
#pragma omp single
    {
        uint64_t begin = rival_clock_ns();
        for (uint32_t i = 0; i < g->task_count; i++) submit(s->cell, &g->task[i]);
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
    static const struct rival rival = { "OpenMP tasks, " RIVAL_RUNTIME ", submit included", open_graph, run_graph, close_graph, NULL, NULL };
    omp_set_dynamic(0);
    return rival_main(&rival, argc, argv);
}
