/* SPDX-License-Identifier: Apache-2.0 */
/* edges.h - the edges of an image, as a list and as "who comes before whom".
 *
 * They are read from the image itself, the bytes that the device will execute, not from anything the library says about it.
 */
#ifndef HBG_TEST_EDGES_H
#define HBG_TEST_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hbg/hbg.h>

struct edge { uint32_t producer, consumer; };
struct edges {
    uint32_t task_count;                /* noops included */
    uint32_t noop_count;
    uint64_t count;
    struct edge *edge;                  /* by consumer, then from the latest producer down, as in the image */
    uint8_t *flags;                     /* of each task: HBG__TASK_NOOP, .. */
};

/* The image of a prepared run; it must verify. Release with edges_free. */
void edges_of_run(struct edges *edges, struct hbg_run run);
void edges_free(struct edges *edges);

/* Are they exactly these, in any order? "0>4 1>4". A difference is printed. */
bool edges_are(const struct edges *edges, const char *text);
bool edges_order_same(const struct edges *a, const struct edges *b);      /* the same tasks before the same tasks; the edges may differ */
uint64_t edges_into(const struct edges *edges, uint32_t consumer);
bool edges_have(const struct edges *edges, uint32_t producer, uint32_t consumer);
void edges_print(const struct edges *edges);

/* "a comes before b", for all pairs at once: one row of bits for each task. */
struct closure {
    uint32_t count;
    size_t row_words;
    uint64_t *bits;
};
/* Without the edges out of heap-reuse noops when `carrying` is set: those order, but carry no failure. */
void closure_of_edges(struct closure *closure, const struct edges *edges, bool carrying);
void closure_open(struct closure *closure, uint32_t count);
void closure_free(struct closure *closure);
/* Everything before `producer`, and producer itself, comes before `consumer`. Consumers in ascending order. */
void closure_add(struct closure *closure, uint32_t producer, uint32_t consumer);
bool closure_before(const struct closure *closure, uint32_t first, uint32_t second);
uint64_t closure_pairs(const struct closure *closure);

/* One question on a graph of any size: O(tasks + edges). */
bool edges_reach(const struct edges *edges, uint32_t producer, uint32_t consumer);

#endif /* HBG_TEST_EDGES_H */
