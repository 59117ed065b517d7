/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - the map of an image: what travels to a device, byte for byte.
 *
 *    low addresses                                                                            high addresses
 *    | head (96 bytes) | record n-1 | ... | record 1 | record 0 | payload ...                        | roots |
 *    ^ image           ^                                        ^ payload, 64-byte aligned on the host       ^ image + bytes
 *
 * Task records grow downwards and the payload grows upwards from one point, so that two growing things are one contiguous
 * range and the live image is one copy. Record i lies at payload - 32 * (i + 1).
 *
 * The payload holds, in the order of submission and in units of 8 bytes: interned layouts (struct hbg_layout), parameter bytes
 * (16-byte aligned), and per task its arguments (struct hbg_view_arg) followed by its edge row, where it has one; the root list
 * stands at the end. A payload offset of 0 is never a layout's: the payload begins with the layout of an untyped scalar.
 * A submission has its struct between its arguments and its edge row, which is where `args` of its record points to:
 *
 *     a task         | arguments | edge row |
 *                    ^ args: arg_count of them
 *     a submission   | arguments: its arg_count | struct hbg__submission | edge row |
 *                                                                        ^ args, and an arg_count of 0
 *
 * So the edge row of any record begins arg_count arguments behind `args`, and a submission may have more than 16 bits count.
 *
 * Edges. The producers of a task are unique, lower than the task, and sorted from the latest down. The first three stand in
 * the record; the rest, from index 3 on, in the edge row behind the arguments (32-bit ids, padded to 8 bytes). Where there are
 * 255 producers or more, `producer_count` is 255 and the row begins with the true count as a 32-bit word.
 *
 * First waits. Every task with producers is linked, in submission order, into the list of its latest producer: `first_waiter`
 * of the producer, then `next_waiter` of each waiter. These lists are part of the image and never change afterwards. A task
 * is *queryable* when some consumer has it as a producer but not as its latest: only those may be asked "are you complete?".
 *
 * Addresses. An argument's address or value is base[arg.base] + arg.word, from the run's base table:
 *     base[0] = 0 (constants), base[1] = the payload (parameter bytes), base[2] = the heap (intermediates),
 *     base[3 ..] = the boundary in position order (address of element 0, or a scalar's value), then device buffers and
 *     definitions in the order in which the build named them. So a replay writes the base table and nothing else.
 *
 * Submissions. A definition is an image like any other, with a base table of its own for each submission, which the device makes
 * out of the submission's arguments. The slots of its records, its activation, its base table and its heap lie in parts of the run's
 * zones that the image which submits has set aside for it:
 *
 *     slots          | own records | submission | submission { own records | submissions inside } ... |
 *     activations    |             | activation | activation   | those inside ...                     |
 *     base tables    |             | base table | base table   | those inside ...                     |
 *
 * Not here: addresses, names, anything per run.
 */
#ifndef HBG_IMAGE_LAYOUT_H
#define HBG_IMAGE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <hbg/kernel.h>

#include "atomic/atomic.h"

#ifdef __cplusplus
#define HBG__STATIC_ASSERT static_assert
#else
#define HBG__STATIC_ASSERT _Static_assert
#endif

#define HBG__NIL UINT32_MAX             /* no task */
#define HBG__TASKS_MAX (1u << 30)       /* two bits of a slot's value are taken */
#define HBG__ARGS_MAX 65535u

enum { HBG__BASE_ZERO, HBG__BASE_PAYLOAD, HBG__BASE_HEAP, HBG__BASE_BOUNDARY };

enum {
    HBG__IMAGE_MAGIC = 0x49474248,      /* "HBGI" */
    HBG__IMAGE_VERSION = 3              /* part of the fingerprint: one more where the same structs stand in other places */
};

/* head.flags */
enum {
    HBG__IMAGE_IN_ORDER = 1,            /* one worker may run ids in order: no asynchronous kernel, priority, gang, mixed task */
    HBG__IMAGE_SUBGRAPHS = 2,           /* some record is a submission: no claim mode */
    HBG__IMAGE_DEFINITION = 4           /* it is submitted by others: its own base table stands in front of those of its submissions */
};

struct hbg__image_head {
    uint32_t magic, version;
    uint64_t fingerprint;               /* of the sizes and offsets of every wire struct: fingerprint.h */
    uint64_t image_bytes;               /* head, records, payload, roots */
    uint64_t payload_bytes;             /* payload with the root list */
    uint64_t heap_bytes;                /* of intermediates, in each run */
    uint64_t edge_count;
    uint32_t task_count;                /* records; noops included */
    uint32_t noop_count;
    uint32_t root_count;                /* tasks without producers */
    uint32_t roots;                     /* payload offset of the root list, 32-bit ids ascending, padded to 8 bytes */
    uint32_t base_count;                /* entries of the base table that arguments may name */
    uint32_t boundary_count;            /* of these, values of the boundary */
    uint32_t near_count;                /* tasks whose latest producer is less than 128 ids back */
    uint32_t kernel_count;              /* kernels in the program's table */
    uint32_t flags;
    uint32_t slot_count;                /* records, with those of all submissions inside, at any depth */
    uint32_t activation_count;          /* submissions inside, at any depth */
    uint32_t base_total;                /* values of the base tables of all these */
};
HBG__STATIC_ASSERT(sizeof(struct hbg__image_head) == 96, "the head is three records long, so records stay aligned");

/* record.flags */
enum {
    HBG__TASK_QUERYABLE = 1,            /* some consumer names it as a producer that is not its latest */
    HBG__TASK_NOOP = 2,                 /* visits no core; `kernel` and the arguments mean nothing */
    HBG__TASK_REUSE = 4,                /* noop of heap reuse: its edges order, but carry no failure */
    HBG__TASK_SUBGRAPH = 8,             /* a submission: struct hbg__submission stands right before `args`, its arguments before that; `kernel` means nothing */
    HBG__TASK_NO_KERNEL = HBG__TASK_NOOP | HBG__TASK_SUBGRAPH
};

struct hbg__task_record {
    uint32_t first_waiter;              /* HBG__NIL: nobody has this task as latest producer */
    uint32_t next_waiter;               /* HBG__NIL: last in the list of this task's own latest producer */
    uint32_t producer[3];               /* the latest three, descending; unused ones are HBG__NIL */
    uint32_t args;                      /* payload offset in 8-byte units */
    uint16_t kernel;
    uint16_t arg_count;                 /* 16 bytes each at args; the edge row begins behind them. 0 of a submission, which counts its own */
    uint8_t producer_count;             /* 255: the true count is the first word of the edge row */
    uint8_t flags;
    uint16_t reserved;                  /* width and lanes, later */
};
HBG__STATIC_ASSERT(sizeof(struct hbg__task_record) == 32, "two records a cache line: a 64-byte record costs wide graphs 40 %");
HBG__STATIC_ASSERT(sizeof(struct hbg_view_arg) == 16, "two 8-byte units an argument");
HBG__STATIC_ASSERT(sizeof(struct hbg_layout) == 96, "twelve 8-byte units a layout");

/* A submission of a definition, by a record with HBG__TASK_SUBGRAPH. The arguments in front of it are the values of the definition's base
   table from HBG__BASE_BOUNDARY on, in the terms of the image that submits: value i is base[arg[i].base] + arg[i].word. What is counted
   from "the image that submits" is counted from its own activation, and from the start of the run's zones for the outermost image. */
struct hbg__submission {
    uint64_t heap;                      /* bytes from its heap */
    uint32_t slots;                     /* its first slot, from the first slot of the image that submits */
    uint32_t activation;                /* its activation, 1 or more behind that of the image that submits */
    uint32_t bases;                     /* where its base table begins, in values from where that of the image that submits begins */
    uint32_t definition;                /* index in the base table of the image that submits: device address of the definition's head */
    uint32_t slot_count;                /* of the definition: so many tasks are skipped where the submission is */
    uint32_t arg_count;                 /* 16 bytes each, right in front of this struct */
};
HBG__STATIC_ASSERT(sizeof(struct hbg__submission) == 32, "four 8-byte units");
enum { HBG__SUBMISSION_UNITS = 4 };

/* A submission while it runs, on the device: written by the worker that takes the task, then read by all that run its nodes. Activations
   are not cleared between runs. Nothing else ever lies where they do, so no other data is taken for an epoch. */
struct hbg__activation {
    HBG__OWN_LINE uint64_t payload;     /* device addresses: of the definition's payload, */
    uint64_t slots;                     /* of the slots of its records, */
    uint64_t base;                      /* of its base table, and behind it those of submissions inside */
    uint64_t roots;
    uint32_t task_count, root_count;
    uint32_t slot_base;                 /* index of its first slot in the run's slots */
    uint32_t parent, task;              /* activation that submits, 0: the outermost image; and its record there */
    uint32_t outer_task;                /* record of the outermost image that it belongs to */
    uint32_t epoch;                     /* of the run that activated it: all else is of an earlier run if it is another */
    HBG__OWN_LINE struct hbg__atomic_u32 cursor;        /* next root */
    struct hbg__atomic_u32 remaining;   /* records that are not complete, as far as workers have said */
    struct hbg__atomic_u32 failed;      /* 1: some record failed or was skipped */
};

/* A task's mutable state on the device; `link` belongs to whoever holds the task: a wake list while it waits, the spill list
   while it is ready. Neither is ever reset: a word of another epoch reads as empty. */
struct hbg__slot {
    struct hbg__atomic_u64 word;        /* {epoch, value}: src/sched/slot.h */
    struct hbg__atomic_u32 link;
    uint32_t activation;                /* on the spill list: to which activation the task belongs */
};
#ifndef HBG_ATOMIC_MODEL                /* a model checker's words carry their history */
HBG__STATIC_ASSERT(sizeof(struct hbg__slot) == 16, "four slots a cache line");
#endif

/* The launch descriptor: all that a run copies besides image and arguments. base_count 8-byte values follow it directly. */
struct hbg__launch {
    uint64_t image;                     /* device addresses; 0: none */
    uint64_t slots;                     /* slot_count of struct hbg__slot */
    uint64_t heap;
    uint64_t kernel_table;              /* struct hbg__kernel_table: src/core/kernel_table.h */
    uint64_t image_bytes;
    uint32_t task_count;
    uint32_t base_count;                /* entries that follow, the three fixed ones included */
    uint32_t epoch;                     /* never 0, never that of an earlier run on these slots */
    uint32_t mode;                      /* enum hbg__mode */
    uint64_t events;                    /* where cores record tasks: src/trace/event.h; 0: they do not */
    uint64_t event_capacity;            /* records in a core's ring, at least 1 */
    uint64_t activations;               /* activation_count of struct hbg__activation; 0: no submissions */
    uint64_t bases;                     /* base_total values, the base tables of these; 0: likewise */
    uint32_t slot_count;                /* as in the head: so many records complete in this run */
    uint32_t activation_count;
};
HBG__STATIC_ASSERT(sizeof(struct hbg__launch) == 96, "8-byte aligned, so the base table can follow");

enum hbg__mode {
    HBG__MODE_WAKE = 1,                 /* wake lists */
    HBG__MODE_CLAIM = 2,                /* ids in chunks, producers' words are watched */
    HBG__MODE_ORDER = 3                 /* one worker, ids in order */
};

static inline const struct hbg__task_record *hbg__image_record(const unsigned char *payload, uint32_t task)
{
    return (const struct hbg__task_record *)(const void *)(payload - ((size_t)task + 1) * sizeof(struct hbg__task_record));
}

static inline const unsigned char *hbg__image_payload(const struct hbg__image_head *head)
{
    return (const unsigned char *)(head + 1) + (size_t)head->task_count * sizeof(struct hbg__task_record);
}

static inline const void *hbg__image_at(const unsigned char *payload, uint32_t offset) { return payload + (size_t)offset * 8; }

/* Of a record with HBG__TASK_SUBGRAPH. */
static inline const struct hbg__submission *hbg__image_submission(const unsigned char *payload, const struct hbg__task_record *task)
{
    return (const struct hbg__submission *)hbg__image_at(payload, task->args - HBG__SUBMISSION_UNITS);
}

static inline const struct hbg_view_arg *hbg__image_submission_args(const unsigned char *payload, const struct hbg__task_record *task)
{
    const struct hbg__submission *submission = hbg__image_submission(payload, task);
    return (const struct hbg_view_arg *)(const void *)submission - submission->arg_count;
}

/* The whole number of producers, and the i-th of them, latest first. */
static inline const uint32_t *hbg__image_edge_row(const unsigned char *payload, const struct hbg__task_record *task)
{
    return (const uint32_t *)hbg__image_at(payload, task->args + 2u * task->arg_count);
}

static inline uint32_t hbg__image_producer_count(const unsigned char *payload, const struct hbg__task_record *task)
{
    return task->producer_count < 255 ? task->producer_count : *hbg__image_edge_row(payload, task);
}

static inline uint32_t hbg__image_producer(const unsigned char *payload, const struct hbg__task_record *task, uint32_t i)
{
    if (i < 3) return task->producer[i];
    return hbg__image_edge_row(payload, task)[i - 3 + (task->producer_count == 255)];
}

#endif /* HBG_IMAGE_LAYOUT_H */
