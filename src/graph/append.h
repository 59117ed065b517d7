/* SPDX-License-Identifier: Apache-2.0 */
/* append.h - append one task record in the form in which it travels, and link it to its latest producer.
 *
 * Of earlier records just two words are written: `first_waiter` or `next_waiter` where the task is hung into a list, and
 * the queryable mark of producers that are not its latest. Both are the last stores of a submit, after every check.
 */
#ifndef HBG_GRAPH_APPEND_H
#define HBG_GRAPH_APPEND_H

#include <string.h>

#include "graph/graph.h"

/* A submit is bound by the number of its stores: neighbouring fields are stored together. */
enum { HBG__LITTLE_ENDIAN = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

static inline void hbg__store_pair(void *at, uint32_t first, uint32_t second)
{
    uint64_t pair = HBG__LITTLE_ENDIAN ? first | (uint64_t)second << 32 : second | (uint64_t)first << 32;
    memcpy(at, &pair, sizeof pair);
}

/* The last eight bytes of a record. */
static inline void hbg__store_tail(struct hbg__task_record *r, uint32_t kernel, uint32_t arg_count, uint32_t producer_count, uint32_t flags)
{
    if (HBG__LITTLE_ENDIAN) {
        hbg__store_pair(&r->kernel, kernel | arg_count << 16, producer_count | flags << 8);
        return;
    }
    hbg__store_pair(&r->kernel, kernel << 16 | arg_count, producer_count << 24 | flags << 16);
}

static inline struct hbg__task_record *hbg__record_at(const struct hbg_graph *g, uint32_t task)
{
    return (struct hbg__task_record *)(void *)(g->payload - ((size_t)task + 1) * sizeof(struct hbg__task_record));
}

/* Payload units of the edge row of a task with this many producers. */
static inline uint32_t hbg__edge_row_units(uint32_t count)
{
    return count <= 3 ? 0 : (count - 3 + (count >= 255) + 1) / 2;
}

/* marks: ascending; the row holds ids from the fourth-latest down, its padding is 0. */
static inline void hbg__write_edge_row(struct hbg_graph *g, const uint32_t *marks, uint32_t count)
{
    uint32_t units = hbg__edge_row_units(count);
    uint32_t *row = (uint32_t *)(void *)(g->payload + (size_t)g->payload_top * 8);
    if (units == 0) return;
    row[2 * units - 1] = 0;
    if (count >= 255) *row++ = count;
    for (uint32_t i = 3; i < count; i++) *row++ = marks[count - 1 - i] - 1;
    g->payload_top += units;
}

/* Hang the task into the waiter list of its latest producer, and mark the others as queryable. */
static inline void hbg__link_producers(struct hbg_graph *g, uint32_t task, const uint32_t *marks, uint32_t count)
{
    uint32_t latest = marks[count - 1] - 1;
    struct hbg__task_record *producer = hbg__record_at(g, latest);
    if (producer->first_waiter == HBG__NIL) producer->first_waiter = task;
    else hbg__record_at(g, g->tails[latest])->next_waiter = task;
    g->tails[latest] = task;
    g->near_count += task - latest < HBG__NEAR_IDS;
    for (uint32_t i = 0; i + 1 < count; i++) hbg__record_at(g, marks[i] - 1)->flags |= HBG__TASK_QUERYABLE;
}

/* Producers of a record that was appended without them or with others; its arguments are none. */
static inline void hbg__set_producers(struct hbg_graph *g, uint32_t task, const uint32_t *marks, uint32_t count)
{
    struct hbg__task_record *r = hbg__record_at(g, task);
    r->producer[0] = count > 0 ? marks[count - 1] - 1 : HBG__NIL;
    r->producer[1] = count > 1 ? marks[count - 2] - 1 : HBG__NIL;
    r->producer[2] = count > 2 ? marks[count - 3] - 1 : HBG__NIL;
    r->args = g->payload_top;
    r->producer_count = (uint8_t)(count < 255 ? count : 255);
    g->edge_count += count;
    hbg__write_edge_row(g, marks, count);
    hbg__link_producers(g, task, marks, count);
}

/* Append the task whose arguments stand right below payload_top. There is room for the task and for its edge row. */
static HBG_ALWAYS_INLINE uint32_t hbg__append(struct hbg_graph *g, uint32_t kernel, uint32_t arg_count, uint32_t flags, const uint32_t *marks, uint32_t count)
{
    uint32_t task = g->task_count++;
    struct hbg__task_record *r = hbg__record_at(g, task);
    uint32_t producer[3] = { count > 0 ? marks[count - 1] - 1 : HBG__NIL, count > 1 ? marks[count - 2] - 1 : HBG__NIL,
                             count > 2 ? marks[count - 3] - 1 : HBG__NIL };
    hbg__store_pair(&r->first_waiter, HBG__NIL, HBG__NIL);
    hbg__store_pair(&r->producer[0], producer[0], producer[1]);
    hbg__store_pair(&r->producer[2], producer[2], g->payload_top - 2 * arg_count);
    hbg__store_tail(r, kernel, arg_count, count < 255 ? count : 255, flags);
    g->edge_count += count;
    if (count == 0) {
        ((uint32_t *)(void *)g->root_arena.origin)[g->root_count++] = task;
        return task;
    }
    hbg__write_edge_row(g, marks, count);
    hbg__link_producers(g, task, marks, count);
    return task;
}

#endif /* HBG_GRAPH_APPEND_H */
