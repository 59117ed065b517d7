/* SPDX-License-Identifier: Apache-2.0 */
/* append.c - room for records and payload, and noops. The per-task tables grow together, so that a submit checks one limit. */
#include "graph/append.h"
#include "graph/body.h"

bool hbg__payload_grow(struct hbg_graph *g, uint64_t units)
{
    struct hbg__arena *arena = &g->recording->arena;
    uint64_t wanted = g->payload_top + units;
    if (wanted > UINT32_MAX) {
        hbg__graph_fail_limit(g, "image payload in bytes", (uint64_t)g->payload_top * 8, (uint64_t)UINT32_MAX * 8, units * 8, "split the graph");
        return false;
    }
    if (!hbg__arena_grow(arena, arena->below, wanted * 8)) { hbg__graph_fail_memory(g, "image"); return false; }
    g->payload = arena->origin;
    g->payload_limit = (uint32_t)(arena->above / 8 > UINT32_MAX ? UINT32_MAX : arena->above / 8);
    return true;
}

bool hbg__payload_insert(struct hbg_graph *g, uint32_t units, uint32_t *offset)
{
    if (!hbg__payload_fit(g, (uint64_t)units + g->pending_units)) return false;
    unsigned char *at = g->payload + (size_t)g->payload_top * 8;
    memmove(at + (size_t)units * 8, at, (size_t)g->pending_units * 8);
    *offset = g->payload_top;
    g->payload_top += units;
    return true;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

void hbg__short_tasks_renew(struct hbg_graph *g)
{
    uint64_t limit = g->input->limit_tasks, used = hbg__tasks_used(g);
    g->short_tasks = limit ? (uint32_t)smaller(g->task_limit, g->task_count + (limit > used ? limit - used : 0)) : g->task_limit;
}

/* The head goes below the last record, so its room is kept as well. */
bool hbg__tasks_grow(struct hbg_graph *g)
{
    struct hbg__arena *image = &g->recording->arena;
    uint64_t tasks = (uint64_t)g->task_count + 1;
    if (tasks > HBG__TASKS_MAX) {
        hbg__graph_fail_limit(g, "tasks of one graph", g->task_count, HBG__TASKS_MAX, 1, "split the graph");
        return false;
    }
    if (!hbg__arena_fit(image, tasks * sizeof(struct hbg__task_record) + sizeof(struct hbg__image_head), image->above) ||
        !hbg__arena_fit(&g->tail_arena, 0, tasks * sizeof(uint32_t)) || !hbg__arena_fit(&g->stamp_arena, 0, tasks * sizeof(uint32_t)) ||
        !hbg__arena_fit(&g->root_arena, 0, (tasks + 1) * sizeof(uint32_t))) {
        hbg__graph_fail_memory(g, "tasks");
        return false;
    }
    g->payload = image->origin;
    g->tails = (uint32_t *)(void *)g->tail_arena.origin;
    uint64_t limit = (image->below - sizeof(struct hbg__image_head)) / sizeof(struct hbg__task_record);
    limit = smaller(limit, g->tail_arena.above / sizeof(uint32_t));
    limit = smaller(limit, g->stamp_arena.above / sizeof(uint32_t));
    limit = smaller(limit, g->root_arena.above / sizeof(uint32_t) - 1);
    g->task_limit = (uint32_t)smaller(limit, HBG__TASKS_MAX);
    hbg__short_tasks_renew(g);
    return true;
}

/* ---- noops ---------------------------------------------------------------------------------------------------- */

static void sift_down(uint32_t *heap, uint32_t at, uint32_t count)
{
    uint32_t value = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1] > heap[child]) child++;
        if (heap[child] <= value) break;
        heap[at] = heap[child];
    }
    heap[at] = value;
}

/* In place and without memory, which qsort does not promise. Mostly they are in order already. */
static void sort_ascending(uint32_t *marks, uint32_t count)
{
    uint32_t sorted = 1;
    while (sorted < count && marks[sorted - 1] < marks[sorted]) sorted++;
    if (sorted >= count) return;
    for (uint32_t i = count / 2; i-- > 0;) sift_down(marks, i, count);
    for (uint32_t i = count; i-- > 1;) {
        uint32_t largest = marks[0];
        marks[0] = marks[i];
        marks[i] = largest;
        sift_down(marks, 0, i);
    }
}

uint32_t hbg__append_noop(struct hbg_graph *g, uint32_t *marks, uint32_t count, uint32_t flags)
{
    uint32_t offset;
    if (g->task_count >= g->task_limit && !hbg__tasks_grow(g)) return 0;
    sort_ascending(marks, count);
    if (count > 0 && marks[count - 1] < g->barrier) {       /* all are covered by the barrier */
        marks[0] = g->barrier;
        count = 1;
    }
    if (!hbg__payload_insert(g, hbg__edge_row_units(count), &offset)) return 0;
    g->payload_top = offset;            /* where the row goes, below the arguments of a submit in progress */
    g->noop_count++;
    return hbg__append(g, 0, 0, HBG__TASK_NOOP | flags, marks, count) + 1;
}
