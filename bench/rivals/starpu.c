/* SPDX-License-Identifier: Apache-2.0 */
/* starpu.c - StarPU with data handles, one a cell, and the scheduler lws: dependencies are inferred, each run submits again. */
#include <stdlib.h>

#include <starpu.h>

#include "bench/rivals/rival.h"

struct state { const struct rival_graph *graph; starpu_data_handle_t *handle; char *cell; };

static void nothing(void *buffers[], void *argument)
{
    (void)buffers;
    (void)argument;
}

static struct starpu_codelet codelet[2][RIVAL_READS_MAX + 1];   /* by updates and read_count */

static void fill_codelets(void)
{
    for (int updates = 0; updates < 2; updates++)
        for (int reads = 0; reads <= RIVAL_READS_MAX; reads++) {
            struct starpu_codelet *c = &codelet[updates][reads];
            starpu_codelet_init(c);
            c->cpu_funcs[0] = nothing;
            c->nbuffers = reads + 1;
            c->modes[0] = updates ? STARPU_RW : STARPU_W;
            for (int i = 1; i <= reads; i++) c->modes[i] = STARPU_R;
        }
}

static int begin(int workers)
{
    struct starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = workers;
    conf.ncuda = conf.nopencl = 0;
    conf.sched_policy_name = "lws";
    return starpu_init(&conf);
}

static void *open_graph(const struct rival_graph *graph, int workers)
{
    struct state *s = malloc(sizeof *s);
    (void)workers;
    if (!s) return NULL;
    *s = (struct state){ .graph = graph, .handle = calloc(graph->cell_count, sizeof *s->handle), .cell = calloc(graph->cell_count, 1) };
    if (!s->handle || !s->cell) {
        free(s->handle);
        free(s->cell);
        free(s);
        return NULL;
    }
    for (uint32_t i = 0; i < graph->cell_count; i++)
        starpu_variable_data_register(&s->handle[i], STARPU_MAIN_RAM, (uintptr_t)&s->cell[i], 1);
    return s;
}

static void submit(struct state *s, const struct rival_task *t)
{
    struct starpu_task *task = starpu_task_create();
    task->cl = &codelet[t->updates][t->read_count];
    task->handles[0] = s->handle[t->cell];
    for (int i = 0; i < t->read_count; i++) task->handles[i + 1] = s->handle[t->read[i]];
    if (starpu_task_submit(task)) abort();
}

/* StarPU refuses a handle twice in one task, where one of the two writes; here it never does: the own cell is not read. */
static uint64_t run_graph(void *state)
{
    struct state *s = state;
    uint64_t begin_ns = rival_clock_ns();
    for (uint32_t i = 0; i < s->graph->task_count; i++) submit(s, &s->graph->task[i]);
    starpu_task_wait_for_all();
    return rival_clock_ns() - begin_ns;
}

static void close_graph(void *state)
{
    struct state *s = state;
    for (uint32_t i = 0; i < s->graph->cell_count; i++) starpu_data_unregister(s->handle[i]);
    free(s->handle);
    free(s->cell);
    free(s);
}

int main(int argc, char **argv)
{
    static const struct rival rival = { "StarPU data handles, lws, submit included", open_graph, run_graph, close_graph, begin, starpu_shutdown };
    setenv("STARPU_SILENT", "1", 0);
    fill_codelets();
    return rival_main(&rival, argc, argv);
}
