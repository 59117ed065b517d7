/* SPDX-License-Identifier: Apache-2.0 */
/* build.h - what the run asks of the graph: build one, and afterwards know whether it may be replayed.
 *
 *     hbg__graph_create -> { hbg__graph_build -> recording } * -> hbg__graph_destroy
 *
 * A graph object is build state that is reused: hazard tables, scopes, stamps. It belongs to one build at a time and never
 * travels. A recording is what a build leaves: the image in its own arena, the guards, the buffers that it names. Whoever
 * called hbg__graph_build owns it; nothing in it refers to the graph object.
 */
#ifndef HBG_GRAPH_BUILD_H
#define HBG_GRAPH_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include <hbg/graph.h>
#include "base/arena.h"
#include "graph/boundary.h"

struct hbg__memory;
struct hbg__image_head;
struct hbg__guards;

/* A kernel of a program: its table entry with the signature taken apart, once, at program creation. */
struct hbg__signature {
    bool given;
    uint32_t arg_count;
    const uint32_t *want;                           /* kind | dtype << 16, in one word for a fast look */
    const uint16_t *dtype;                          /* 0: any */
    const uint8_t *kind;
};

struct hbg__build_input {
    hbg_build_fn *build;
    const void *params;
    const struct hbg_kernel *kernels;
    const struct hbg__signature *signatures;        /* one a kernel */
    uint32_t kernel_count;
    uint64_t limit_tasks;                           /* 0: none; noops that hbg inserts do not count */
    uint64_t limit_heap_bytes;                      /* 0: none */
    uint64_t heap_reuse_after_bytes;                /* 0: the default */
    bool record;                                    /* keep guards: the program's build is pure */
    struct hbg__boundary boundary;
    struct hbg__buffer_ops buffers;
};

struct hbg__recording {
    struct hbg__arena arena;                        /* of the image, two-sided; handed in open, handed back filled */
    const struct hbg__image_head *head;             /* inside the arena; NULL: no image */
    uint64_t image_bytes;                           /* from head on, contiguous */
    uint32_t boundary_count;                        /* base table: 3 fixed, boundary_count, buffer_count */
    uint32_t buffer_count;
    struct hbg_buffer **buffers;                    /* held; named by the build itself, in base-table order */
    uint32_t buffer_capacity;
    uint32_t serial;                                /* of the build; 0: no image */
    struct hbg__guards *guards;                     /* NULL: not recorded */
    uint64_t task_count, edge_count, reuse_edges;       /* tasks: without the noops that hbg inserted */
};

/* HBG_E_NO_MEMORY. reserve_bytes as hbg_device_options. */
enum hbg_status hbg__graph_create(struct hbg__memory *memory, uint64_t reserve_bytes, struct hbg_graph **graph);
void hbg__graph_destroy(struct hbg_graph *graph);

/* Call the build function and seal the image into recording->arena (open, contents of no matter). On an error the recording
   keeps its arena, names no image, and `error` says why. Thread: any, one at a time per graph; no allocation when warm. */
enum hbg_status hbg__graph_build(struct hbg_graph *graph, const struct hbg__build_input *input,
                                 struct hbg__recording *recording, struct hbg_error *error);

/* What a run in flight may be about to write: a buffer, or memory of the host. Neither: nothing is. */
struct hbg__busy { struct hbg_buffer *buffer; const void *memory; uint64_t size_bytes; };

/* What no longer holds: "its shape, strides or type" of argument 2, or "memory named by hbg_guard" of none (HBG__NO_ARG). */
struct hbg__miss {
    const char *what;                   /* static; at most 47 characters */
    uint32_t arg;
    struct hbg__busy busy;              /* a guard cannot be compared before this is settled: then call again */
};
#define HBG__NO_ARG UINT32_MAX

/* Does everything that the recording depended on still hold for this boundary? If not, *miss says what does not.
   Cost: some ns an argument, 1 ns a guarded value, no allocation. */
bool hbg__recording_holds(const struct hbg__recording *recording, const struct hbg__boundary *boundary,
                          const struct hbg__buffer_ops *buffers, struct hbg__miss *miss);

/* Close the arena, drop the buffers, free the guards; NULL members are fine. */
void hbg__recording_release(struct hbg__recording *recording, struct hbg__memory *memory, const struct hbg__buffer_ops *buffers);

/* Drop buffers and guards and forget the image, but keep the arena and its warm pages for the next build. */
void hbg__recording_reset(struct hbg__recording *recording, const struct hbg__buffer_ops *buffers);

/* Tests: start the generations and stamps of the tables here, to see them wrap. Between builds. */
void hbg__graph_set_generation(struct hbg_graph *graph, uint32_t generation, uint32_t stamp);

/* How much of the build state has been committed (hbg info, growth counter). */
uint64_t hbg__graph_growths(const struct hbg_graph *graph);

#endif /* HBG_GRAPH_BUILD_H */
