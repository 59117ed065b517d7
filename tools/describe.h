/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `hbg describe`: a graph in numbers, and its tasks one by one; opened, with the nodes of its submissions.
 *
 *     cmd_describe.c     the command line; a run is prepared and, if asked for, executed
 *     describe.c         the numbers: degrees, depth, kernels
 *     describe_words.h   a task, an argument, an edge in words
 *     describe_text.c    text and DOT
 *     describe_json.c    JSON
 */
#ifndef HBG_TOOLS_DESCRIBE_H
#define HBG_TOOLS_DESCRIBE_H

#include "setup.h"

#include <stdio.h>

enum { DEGREE_CLASSES = 34 };           /* 0, 1, 2, 3, then doubling: 4-7, 8-15, .. */

struct degrees {
    uint32_t most, most_of;             /* the largest, and the first task that has it */
    uint64_t count[DEGREE_CLASSES];
};

struct use { const char *name; uint64_t tasks; };

struct description {
    struct hbg_run run;
    const struct hbg_setup *setup;
    const char *device;
    bool open;                          /* nodes are shown as well */
    struct hbg_graph_info graph;
    struct degrees in, out;             /* of what is shown */
    uint64_t edge_count, node_edges;    /* likewise; and those between nodes, shown or not */
    uint32_t depth;                     /* tasks on the longest chain, nodes in the place of submissions; noops do not count */
    struct use *kernel;                 /* of each kernel, then of noops, in bodies as well; owned */
    size_t kernel_count;
    struct use *body;                   /* submissions of bodies, by name; owned */
    size_t body_count, body_room;
};

/* How many tasks are shown, without a limit. */
static inline uint32_t describe_ids(const struct description *d) { return d->open ? d->graph.slot_count : d->graph.task_count; }

/* Reads the whole graph of a run. HBG_E_NO_MEMORY or what the library said. */
enum hbg_status hbg__describe(struct description *d);
void hbg__describe_free(struct description *d);

/* the smallest degree of a class, and whether the class has others */
uint32_t hbg__degree_of_class(int i);

/* The numbers, and the first `limit` tasks. False: not all of it was written. */
bool hbg__describe_text(FILE *file, const struct description *d, uint32_t limit);
bool hbg__describe_dot(FILE *file, const struct description *d, uint32_t limit);
bool hbg__describe_json(FILE *file, const struct description *d, uint32_t limit);

#endif
