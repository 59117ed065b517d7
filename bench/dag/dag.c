/* SPDX-License-Identifier: Apache-2.0 */
/* dag.c - see dag.h. */
#include "bench/dag/dag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- growing ---- */

/* False: no memory; the block stays as it is. */
static bool grow(void **block, uint32_t *capacity, uint32_t count, size_t size_bytes)
{
    if (count < *capacity) return true;
    uint32_t wanted = *capacity ? 2 * *capacity : 1024;
    void *larger = realloc(*block, wanted * size_bytes);
    if (!larger) return false;
    *block = larger;
    *capacity = wanted;
    return true;
}

void hbg__dag_add(struct dag *dag, uint32_t cell, bool updates, enum dag_op op)
{
    void *block = dag->task;
    if (dag->failed || !grow(&block, &dag->task_capacity, dag->task_count, sizeof *dag->task)) {
        dag->failed = true;
        return;
    }
    dag->task = block;
    dag->task[dag->task_count++] = (struct dag_task){ cell, dag->read_total, 0, updates, (uint8_t)op };
    if (cell >= dag->cell_count) dag->cell_count = cell + 1;
}

void hbg__dag_read(struct dag *dag, uint32_t cell)
{
    void *block = dag->read;
    if (dag->failed || !grow(&block, &dag->read_capacity, dag->read_total, sizeof *dag->read)) {
        dag->failed = true;
        return;
    }
    struct dag_task *task = &dag->task[dag->task_count - 1];
    dag->read = block;
    dag->read[dag->read_total++] = cell;
    if (++task->read_count > dag->read_most) dag->read_most = task->read_count;
    if (task->read_count > DAG_READS_MAX) dag->failed = true;
}

/* ---- who waits for whom ---- */

/* Of a cell: who wrote it last, as id + 1 where 0 is nobody, and who has read it since. */
struct history { uint32_t writer; uint32_t *reader; uint32_t reader_count, reader_capacity; };

struct inference {
    struct dag *dag;
    struct history *cell;
    uint32_t *stamp;                    /* of each task: the last one that was found to wait for it, as id + 1 */
    uint32_t count, capacity;           /* of dag->producer */
};

static void wait_for(struct inference *in, uint32_t task, uint32_t producer)
{
    void *block = in->dag->producer;
    if (in->stamp[producer] == task + 1 || in->dag->failed) return;
    in->stamp[producer] = task + 1;
    if (!grow(&block, &in->capacity, in->count, sizeof *in->dag->producer)) {
        in->dag->failed = true;
        return;
    }
    in->dag->producer = block;
    in->dag->producer[in->count++] = producer;
}

static void note_reader(struct inference *in, struct history *h, uint32_t task)
{
    void *block = h->reader;
    if (!grow(&block, &h->reader_capacity, h->reader_count, sizeof *h->reader)) {
        in->dag->failed = true;
        return;
    }
    h->reader = block;
    h->reader[h->reader_count++] = task;
}

static void infer_task(struct inference *in, uint32_t i)
{
    const struct dag_task *t = &in->dag->task[i];
    const uint32_t *read = in->dag->read + t->first_read;
    struct history *own = &in->cell[t->cell];
    in->dag->first[i] = in->count;
    for (uint32_t n = 0; n < t->read_count; n++)
        if (in->cell[read[n]].writer) wait_for(in, i, in->cell[read[n]].writer - 1);
    if (own->writer && !own->reader_count) wait_for(in, i, own->writer - 1);
    for (uint32_t n = 0; n < own->reader_count; n++) wait_for(in, i, own->reader[n]);
    for (uint32_t n = 0; n < t->read_count; n++) note_reader(in, &in->cell[read[n]], i);
    own->writer = i + 1;
    own->reader_count = 0;
}

static void infer(struct dag *dag)
{
    struct inference in = { .dag = dag, .cell = calloc(dag->cell_count, sizeof *in.cell), .stamp = calloc(dag->task_count, sizeof *in.stamp) };
    dag->first = calloc((size_t)dag->task_count + 1, sizeof *dag->first);
    if (!in.cell || !in.stamp || !dag->first) dag->failed = true;
    for (uint32_t i = 0; i < dag->task_count && !dag->failed; i++) infer_task(&in, i);
    if (!dag->failed) dag->first[dag->task_count] = in.count;
    for (uint32_t c = 0; in.cell && c < dag->cell_count; c++) free(in.cell[c].reader);
    free(in.cell);
    free(in.stamp);
}

/* ---- by name ---- */

static const struct dag_maker *find(const char *name)
{
    const struct dag_maker *const tables[] = { hbg__dag_graphs, hbg__dag_patterns };
    for (int i = 0; i < 2; i++)
        for (const struct dag_maker *maker = tables[i]; maker->name; maker++)
            if (strcmp(maker->name, name) == 0) return maker;
    return NULL;
}

const char *hbg__dag_name(uint32_t index)
{
    const struct dag_maker *const tables[] = { hbg__dag_graphs, hbg__dag_patterns };
    for (int i = 0; i < 2; i++)
        for (const struct dag_maker *maker = tables[i]; maker->name; maker++)
            if (index-- == 0) return maker->name;
    return NULL;
}

bool hbg__dag_make(struct dag *dag, const char *name, struct dag_size size)
{
    const struct dag_maker *maker = find(name);
    *dag = (struct dag){ .failed = !maker };
    if (!maker) return false;
    if (!size.width) size.width = maker->usual.width;
    if (!size.steps) size.steps = maker->usual.steps;
    if (!size.radix) size.radix = maker->usual.radix;
    snprintf(dag->name, sizeof dag->name, "%s", name);
    dag->size = size;
    maker->fill(dag, size);
    if (!dag->failed) infer(dag);
    if (dag->failed) hbg__dag_free(dag);
    return dag->task != NULL;
}

void hbg__dag_free(struct dag *dag)
{
    free(dag->task);
    free(dag->read);
    free(dag->first);
    free(dag->producer);
    *dag = (struct dag){ .failed = true };
}
