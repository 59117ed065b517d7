/* SPDX-License-Identifier: Apache-2.0 */
/* starpu.c - StarPU with data handles, one a cell, and the scheduler lws: dependencies are inferred, each run submits again. */
#include <stdlib.h>

#include <starpu.h>

#include "bench/rivals/rival.h"

struct state { const struct work *work; starpu_data_handle_t *handle; char *cell; };

static const struct work *running;      /* the one graph that is run now */

static void run_task(void *buffers[], void *argument)
{
    (void)buffers;
    hbg__work_do(running, (uint32_t)(uintptr_t)argument);
}

static struct starpu_codelet codelet[2][DAG_READS_MAX + 1];     /* by updates and read_count */
static enum starpu_data_access_mode modes[2][DAG_READS_MAX + 1];

static void fill_codelets(void)
{
    for (int updates = 0; updates < 2; updates++) {
        modes[updates][0] = updates ? STARPU_RW : STARPU_W;
        for (int i = 1; i <= DAG_READS_MAX; i++) modes[updates][i] = STARPU_R;
        for (int reads = 0; reads <= DAG_READS_MAX; reads++) {
            struct starpu_codelet *c = &codelet[updates][reads];
            starpu_codelet_init(c);
            c->cpu_funcs[0] = run_task;
            c->nbuffers = reads + 1;
            if (reads < STARPU_NMAXBUFS)
                for (int i = 0; i <= reads; i++) c->modes[i] = modes[updates][i];
            else c->dyn_modes = modes[updates];
        }
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

static void *open_graph(const struct work *work, int workers)
{
    struct state *s = malloc(sizeof *s);
    uint32_t cells = work->dag->cell_count;
    (void)workers;
    if (!s) return NULL;
    *s = (struct state){ .work = work, .handle = calloc(cells, sizeof *s->handle), .cell = calloc(cells, 1) };
    if (!s->handle || !s->cell) {
        free(s->handle);
        free(s->cell);
        free(s);
        return NULL;
    }
    for (uint32_t i = 0; i < cells; i++) starpu_variable_data_register(&s->handle[i], STARPU_MAIN_RAM, (uintptr_t)&s->cell[i], 1);
    return s;
}

/* StarPU refuses a handle twice in one task, where one of the two writes; here it never does: the own cell is not read. */
static void submit(struct state *s, uint32_t i)
{
    const struct dag_task *t = &s->work->dag->task[i];
    const uint32_t *read = s->work->dag->read + t->first_read;
    struct starpu_task *task = starpu_task_create();
    task->cl = &codelet[t->updates][t->read_count];
    task->cl_arg = (void *)(uintptr_t)i;
    starpu_data_handle_t *handle = task->handles;
    if (t->read_count >= STARPU_NMAXBUFS) handle = task->dyn_handles = malloc((t->read_count + 1u) * sizeof *handle);   /* StarPU's to free */
    if (!handle) abort();
    handle[0] = s->handle[t->cell];
    for (int n = 0; n < t->read_count; n++) handle[n + 1] = s->handle[read[n]];
    if (starpu_task_submit(task)) abort();
}

/* Where the submit alone counts, the workers pause meanwhile. */
static uint64_t run_graph(void *state, enum rival_mode mode)
{
    struct state *s = state;
    running = s->work;
    if (mode == RIVAL_SUBMIT) starpu_pause();
    uint64_t begin_ns = rival_clock_ns(), submitted_ns;
    for (uint32_t i = 0; i < s->work->dag->task_count; i++) submit(s, i);
    submitted_ns = rival_clock_ns();
    if (mode == RIVAL_SUBMIT) starpu_resume();
    starpu_task_wait_for_all();
    return (mode == RIVAL_SUBMIT ? submitted_ns : rival_clock_ns()) - begin_ns;
}

static void close_graph(void *state)
{
    struct state *s = state;
    for (uint32_t i = 0; i < s->work->dag->cell_count; i++) starpu_data_unregister(s->handle[i]);
    free(s->handle);
    free(s->cell);
    free(s);
}

int main(int argc, char **argv)
{
    static const struct rival rival = { "StarPU, lws", 1 << RIVAL_ANEW | 1 << RIVAL_SUBMIT, open_graph, run_graph, close_graph, begin, starpu_shutdown };
    setenv("STARPU_SILENT", "1", 0);
    fill_codelets();
    return rival_main(&rival, argc, argv);
}
