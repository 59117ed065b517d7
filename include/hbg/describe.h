/* SPDX-License-Identifier: Apache-2.0 */
/* describe.h - what a graph came to: its size, its tasks, what they are given, and why each waits for which.
 *
 * A submission of a body is a task of the graph, and the tasks of the body are its nodes. All of them have one row of numbers: the
 * graph's tasks first, then the nodes, those of one submission together:
 *
 *     0 .. task_count - 1              tasks of the graph; some are submissions
 *     task_count .. slot_count - 1     first_node .. first_node + body_count - 1 of one submission, those of submissions in it behind
 *
 *     hbg_run_prepare -> { hbg_run_graph, hbg_run_task, hbg_run_argument, hbg_run_edge } * -> .. -> hbg_run_finish
 *
 * The answers are the same before the launch, during the run and after it. `hbg describe` prints them.
 *
 * Functions of this header may be called on any thread but a kernel's or a build function's, several at once, for a run that is
 * prepared and not finished. They allocate nothing, but that the first one asked for a node makes a list of the submissions, and says
 * HBG_E_NO_MEMORY where it cannot. Errors of all of them: HBG_E_STALE, HBG_E_NULL, HBG_E_ABI (a size that is
 * none), HBG_E_REENTRANT, HBG_E_DEVICE (closed, or of the parent of a fork), and those that are named.
 */
#ifndef HBG_DESCRIBE_H
#define HBG_DESCRIBE_H

#include <hbg/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct hbg_graph_info - a whole graph; struct hbg_graph_info info = HBG_OPTIONS(graph_info).
 *
 * Counts are of the graph itself, where nothing else is said: of a body that it submits, one task, and the edges of that.
 * Bytes of the image: those that travel to a device of its own memory. The history is what the host knew at the end of the build
 * of who wrote and who read what; `history_known` is 0 where another graph was built since, as in a replay, and where
 * the build was only compared with the last one.
 */
struct hbg_graph_info {
    size_t size;
    uint32_t task_count;                /* ids, noops and submissions included: tasks are numbered 0 .. task_count - 1 */
    uint32_t noop_count;                /* of these, submitted by hbg_noop() or inserted */
    uint32_t root_count;                /* tasks that wait for nobody */
    uint32_t reserved;
    uint64_t submitted;                 /* tasks that the build submitted, its noops and those of bodies included */
    uint64_t edge_count;
    uint64_t reuse_edge_count;          /* of these, made because intermediates of ended scopes gave their bytes to others */
    uint64_t image_bytes;               /* all of it: the head and what follows */
    uint64_t record_bytes, argument_bytes, edge_bytes, root_bytes;      /* edge_bytes: from a task's fourth producer on */
    uint64_t shared_bytes;              /* layouts, once for all arguments that share one, and parameter bytes */
    uint64_t heap_bytes;                /* of intermediates */
    uint64_t slot_bytes;                /* of the device's state of the tasks; they never travel */
    uint32_t history_known;
    uint32_t storage_count;             /* boundary arguments, intermediates and device buffers */
    uint32_t grid_count;                /* of these, with a table of cells */
    uint32_t reserved2;
    uint64_t cell_count, cells_used;    /* 16 bytes each; used: by an access of the last generation */
    uint64_t list_bytes;                /* of readers beyond the first of a cell, and of what covers cells in part */
    uint32_t slot_count;                /* tasks with all nodes: nodes are numbered task_count .. slot_count - 1 */
    uint32_t submission_count;          /* of bodies, those inside of others included */
    uint32_t definition_count;          /* recorded bodies that are submitted */
    uint32_t reserved3;
    uint64_t definition_bytes;          /* of their images, which travel once */
};

/**
 * struct hbg_task_info - one task.
 */
struct hbg_task_info {
    size_t size;
    uint32_t id;
    uint32_t kernel;                    /* its number; UINT32_MAX for a noop and a submission */
    const char *name;                   /* the kernel's; "noop"; of a submission the body's; borrowed until the finish */
    uint32_t argument_count, producer_count;
    uint32_t is_noop;
    uint32_t orders_reuse;              /* a noop between the former and the next user of some bytes */
    uint32_t is_subgraph;               /* a submission of a body: its arguments are the boundary of the body, and what that names beside it */
    uint32_t parent;                    /* of a node: the submission that it belongs to; UINT32_MAX: it is a task of the graph */
    uint32_t node;                      /* its number in its body, or in the graph */
    uint32_t first_node, body_count;    /* of a submission: nodes of the body, */
    uint32_t node_count;                /* and those with the nodes of submissions in it */
    const char *subgraph;               /* of a submission: the name in the body's key; borrowed until the finish; NULL: it is none */
};

/* Where an argument lies: in terms of the graph, and for a node in terms of its body. HBG_PLACE_VALUE: a constant. HBG_PLACE_DEFINITION: what a
   body submits in its turn. HBG_PLACE_CAPTURED: what a body uses of the build around it, although it is not in its list. */
enum hbg_place { HBG_PLACE_VALUE = 1, HBG_PLACE_BYTES, HBG_PLACE_BOUNDARY, HBG_PLACE_INTERMEDIATE, HBG_PLACE_BUFFER, HBG_PLACE_DEFINITION, HBG_PLACE_CAPTURED };

/**
 * struct hbg_argument_info - one argument of a task.
 */
struct hbg_argument_info {
    size_t size;
    uint32_t kind;                      /* enum hbg_arg_kind where the kernel has a signature; 0: not known */
    uint32_t place;                     /* enum hbg_place */
    uint32_t index;                     /* HBG_PLACE_BOUNDARY, HBG_PLACE_CAPTURED: the position among the arguments of the run, or of the submission;
                                           HBG_PLACE_BUFFER, HBG_PLACE_DEFINITION: counted from the first that the build, or the body, named */
    uint16_t dtype;                     /* enum hbg_dtype; 0: a value of no type */
    uint8_t rank, reserved;
    int64_t offset_bytes;               /* of element 0: in the boundary's argument, the submission's that passes on what is captured, the heap (of the body), the
                                           buffer or the parameter bytes */
    uint64_t bits;                      /* HBG_PLACE_VALUE, or a boundary scalar: its value in this run */
    int64_t shape[HBG_RANK_MAX], stride_bytes[HBG_RANK_MAX];
};

/* Why an edge is there. */
enum hbg_edge_cause {
    HBG_EDGE_REGION = 1,                /* the two tasks touch bytes in common, and one of them writes, as far as signatures tell */
    HBG_EDGE_NOOP,                      /* one end is a noop: it hands on an order that it stands for */
    HBG_EDGE_REUSE,                     /* likewise, for bytes of the heap that have a new user */
    HBG_EDGE_ORDER                      /* no bytes in common: hbg_after(), a barrier, or the edge of a manual scope */
};

/**
 * struct hbg_edge_info - one producer of a task.
 */
struct hbg_edge_info {
    size_t size;
    uint32_t producer;                  /* the task that comes before; of a node one of the same body */
    uint32_t cause;                     /* enum hbg_edge_cause */
    uint32_t producer_argument, argument;       /* HBG_EDGE_REGION: the first pair that meets, by the consumer's positions */
    uint32_t pair_count;                /* how many pairs do */
    uint32_t reserved;
};

/**
 * hbg_run_graph - the whole graph of a run.
 *
 * info        out  as far as its size reaches
 *
 * Cost     O(tasks + cells)
 */
HBG_API HBG_CHECK enum hbg_status hbg_run_graph(struct hbg_run run, struct hbg_graph_info *info);

/**
 * hbg_run_task - one task of the graph of a run, or one node.
 *
 * task        in   0 <= task < slot_count, else HBG_E_TASK_ID
 *
 * Cost     O(1); for a node O(log submissions)
 */
HBG_API HBG_CHECK enum hbg_status hbg_run_task(struct hbg_run run, uint32_t task, struct hbg_task_info *info);

/**
 * hbg_run_argument - one argument of a task.
 *
 * argument    in   0 <= argument < argument_count of the task, else HBG_E_OPTION
 *
 * Cost     O(1); for a node O(log submissions)
 */
HBG_API HBG_CHECK enum hbg_status hbg_run_argument(struct hbg_run run, uint32_t task, uint32_t argument, struct hbg_argument_info *info);

/**
 * hbg_run_edge - one of the tasks that a task waits for, and why.
 *
 * edge        in   0 <= edge < producer_count of the task, else HBG_E_OPTION; 0 is the latest producer
 * info        out  for the producer alone, without the search for a cause, give it a size that ends before `cause`
 *
 * Regions are compared as bytes of this run: two intermediates that had the same bytes of the heap one after the other count as one.
 *
 * Cost     O(n log n) in the arguments of both tasks, where their views have no gaps; one with gaps is compared with all near it
 * Errors   HBG_E_NO_MEMORY, where one has more than 16 arguments
 */
HBG_API HBG_CHECK enum hbg_status hbg_run_edge(struct hbg_run run, uint32_t task, uint32_t edge, struct hbg_edge_info *info);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_DESCRIBE_H */
