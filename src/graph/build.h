/* SPDX-License-Identifier: Apache-2.0 */
/* build.h - what the run asks of the graph: build one, and afterwards know whether it may be replayed.
 *
 *     hbg__graph_create -> { hbg__graph_build -> recording } * -> hbg__graph_destroy
 *
 * A graph object is build state that is reused: hazard tables, scopes, stamps. It belongs to one build at a time and never
 * travels. A recording is what a build leaves: the image in its own arena, the guards, the buffers that it names. Whoever
 * called hbg__graph_build owns it; but for `last`, which is good for
 * the next build by the same object, nothing in it refers to the graph object.
 */
#ifndef HBG_GRAPH_BUILD_H
#define HBG_GRAPH_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include <hbg/graph.h>
#include "base/arena.h"
#include "graph/boundary.h"

struct hbg__atomic_u64;
struct hbg__log;
struct hbg__memory;
struct hbg__image_head;
struct hbg__guards;
struct hbg__definition;
struct hbg__definitions;

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
    uint64_t tasks_outside;                         /* of the limit, what the builds around a body have used */
    uint64_t limit_heap_bytes;                      /* 0: none */
    uint64_t heap_outside_bytes;                    /* of the limit, what the builds around a body leave to it not */
    uint64_t heap_reuse_after_bytes;                /* 0: the default */
    bool record;                                    /* keep guards: the program's build is pure */
    bool repeats;                                   /* compare it with the last build of the owner into this recording: repeat.h */
    bool serial;                                    /* nothing is known of how arguments overlap: the tasks follow one another */
    bool wholes;                                    /* arguments that share storage conflict as wholes, wherever in it they lie */
    struct hbg__boundary boundary;
    struct hbg__buffer_ops buffers;
    struct hbg__definitions *definitions;           /* where recorded bodies are kept; NULL: they are submitted in place */
    uint32_t verify_every;                          /* of n submissions that find a definition one records again and compares: turn.h; 0: none */
    struct hbg__atomic_u64 *verify_count;           /* of the device; not looked at where all are verified */
    void (*poison)(struct hbg__arena *arena);       /* fills what a body is recorded into, before it is; NULL: nothing does */
    const struct hbg__log *log;                     /* is told of each body that is recorded once more; NULL: nobody */
    uint64_t owner;                                 /* the program, by a number that no other has: memory named by hbg_guard() is its own */
    uint64_t kernel_set;                            /* a hash of the kernel table: definitions are for one of them */
    const struct hbg__body *body;                   /* what is built is a body of hbg_subgraph(); NULL: a program */
};

/* What a build names beside its boundary; entry i of the base table behind that. */
struct hbg__named {
    enum hbg__named_kind { HBG__NAMED_BUFFER, HBG__NAMED_DEFINITION, HBG__NAMED_STORAGE, HBG__NAMED_SCALAR } kind;
    uint32_t handle;                                /* of a buffer; in the build around: index of a storage, base table entry of a scalar */
    struct hbg_buffer *buffer;                      /* held; NULL: none */
    struct hbg__definition *definition;             /* likewise */
    uint32_t layout_dtype;                          /* of a scalar */
    bool is_written;                                /* a storage: by a task that may write */
    bool is_argument;                               /* a buffer: an argument of a body lies in it, of this one or one around */
    int64_t lower;                                  /* of a storage of the build around: its first byte, from what the base table names, */
    uint64_t size_bytes;                            /* and how many there are; of a buffer, its bytes */
};

/* What did not fit a definition: kinds, types and shapes; which arguments share storage; values; data. */
enum hbg__body_miss { HBG__BODY_MISS_SHAPE, HBG__BODY_MISS_ALIAS, HBG__BODY_MISS_VALUE, HBG__BODY_MISS_DATA, HBG__BODY_MISSES };

/* What was built last into an arena, to compare the next build with: repeat.h */
struct hbg__last {
    const struct hbg__image_head *head;             /* NULL: nothing that can be compared */
    uint64_t owner;                                 /* the program's number */
    uint32_t serial;                                /* of the build */
    uint64_t task_count, reuse_edges;
    bool names_buffers;
    uint32_t fails, pause;                           /* builds in a row that were other ones; builds that are made without looking */
};

struct hbg__recording {
    struct hbg__arena arena;                        /* of the image, two-sided; handed in open, handed back filled */
    const struct hbg__image_head *head;             /* inside the arena; NULL: no image */
    uint64_t image_bytes;                           /* from head on, contiguous */
    uint32_t boundary_count;                        /* base table: 3 fixed, boundary_count, named_count */
    uint32_t named_count;
    struct hbg__named *named;                       /* in base-table order */
    uint32_t named_capacity;
    uint32_t serial;                                /* of the build; 0: no image */
    struct hbg__guards *guards;                     /* NULL: not recorded */
    uint64_t task_count, edge_count, reuse_edges;       /* tasks: with those of bodies, without the noops that hbg inserted and submissions */
    uint32_t bodies_recorded, bodies_replayed, bodies_in_place;      /* by the build */
    bool too_deep;                      /* of a body: some inside were submitted in place because of the depth */
    uint32_t bodies_missed[HBG__BODY_MISSES];       /* enum hbg__body_miss */
    struct hbg__last last;                          /* outlives a reset */
    bool is_repeated;                               /* the build was compared with the last one, and was the same */
    char why[96];                                   /* the first of these misses: argument 2 of "layer": its shape, strides or type */
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
