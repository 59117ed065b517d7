/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - the state of one build: what stands between the records that are appended and the next submit.
 *
 *     submit.c              checks a call, collects producers, appends the task; argument by argument on
 *     short_way.h           the short way, for whole cells and whole storages, or
 *     argument.c            the general one
 *     storage.c             what a region's `storage` number means in this build
 *     layouts.c             interned layouts
 *     hazard_map.*          who wrote and who read which bytes last, with hazard_grid.* (arithmetic of cells), hazard_classify.c
 *                           (what a region is), hazard_span.c (which cells it touches), hazard_note.c (entering accesses),
 *                           hazard_parts.h (what covers cells in part) and hazard_regrid.c (other cells)
 *     append.*              records, arguments, edge rows, waiter lists, roots
 *     scope.c               scopes, intermediates, reuse of their bytes
 *     subgraph.c            bodies that are submitted as one task, with in_place.c (their tasks, at each submission), alias.c (which
 *                           arguments share storage), match.c (does a definition fit?), recorder.c (makes one), submission.c (the
 *                           task) and capture.c (what a body uses of the build around)
 *     definition.*          recorded bodies, kept for all builds of a device
 *     hazard_stats.*        how much the map holds
 *     guard.*               what a recording depended on
 *     repeat.*              is this build the same as the last one? With notes.c: what its records do not tell
 *     written.*             has a task written what build code wants to read?
 *     build.c               begin, seal
 *
 * Task marks. Inside the build a task is named by its mark, id + 1, so that 0 is nobody and zeroed tables are empty.
 *
 * All tables live in arenas that are kept from build to build; what an earlier build left in them is told apart by
 * generations, never cleared. Indices, not pointers: an arena may move when it grows.
 */
#ifndef HBG_GRAPH_GRAPH_H
#define HBG_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include <hbg/graph.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/check.h"
#include "base/map_u64.h"
#include "graph/build.h"
#include "graph/canonical_view.h"
#include "graph/producers.h"
#include "image/layout.h"

enum {
    HBG__JOIN_ABOVE = 64,               /* producers of one region beyond which a noop is put between */
    HBG__NEAR_IDS = 128                 /* a latest producer less than this many ids back is near */
};

/* ---- storages ------------------------------------------------------------------------------------------------ */

enum {
    HBG__STORAGE_FREED = 1,             /* its scope has ended */
    HBG__STORAGE_SHARED = 2,            /* the layout of its argument does not cover it all: a group of several, or a buffer that the build names too */
    HBG__STORAGE_GROWN = 4,             /* its grid was made before the build named the buffer: hazard_regrid.c makes it larger */
    HBG__STORAGE_LONG = 8,              /* searches in its history have become long: hazard_regrid.c folds it */
    HBG__STORAGE_WHOLES = 16            /* every access is one of all bytes: arguments of a body, whose distances may change */
};

/* Why the short way leaves a storage alone: freed, or without bytes; of a home: `wide` is in use. */
enum { HBG__IRREGULAR_ALWAYS = 1, HBG__IRREGULAR_WIDE = 2 };

enum { HBG__RECENT_MAX = 4, HBG__ANSWERS = 256, HBG__RECENT_LAYOUTS = 32, HBG__NUMBERS_MAX = 32 };

#define HBG__NO_TYPE UINT32_MAX         /* no region has it */
#define HBG__UNWRITTEN UINT32_MAX       /* in place of a generation, which none is: all arguments are `in`, so nobody waits for anybody and no history is kept */

/* A thing that regions can name: a boundary argument, an intermediate, a device buffer. Its *home* is the storage whose
   history it shares: itself, or the first argument of its group. The short way of a read touches the first two lines, of a
   write the third. */
struct hbg__storage {
    uint32_t home, base;                /* index of the home; entry of the base table that arguments name */
    int64_t displacement;               /* from the home's first byte to the point that region offsets count from */
    int64_t word_bias;                  /* added to a region's offset when it is recorded: an intermediate's place in the heap */
    /* of homes only. The way from an offset to a whole cell, for grids with cells along at most two axes: hbg__hazard_fast_cell() */
    int64_t fast_origin;                /* byte of the home where the first whole cell begins */
    struct { uint64_t reciprocal; int64_t pitch; } fast[2];

    uint32_t fast_count[2];             /* whole cells along the axis; 0: there is no short way */
    uint32_t fast_row, fast_cell;       /* cells in one row of the second axis; index of the first whole cell */
    uint32_t cell_layout;               /* the layout of one whole cell of the grid; 0: not known */
    uint32_t cell_type;                 /* hbg__region_type() of that layout; HBG__NO_TYPE: not known, or the storage is irregular */
    int64_t cell_shape[2], cell_stride[2];      /* its first two dimensions as regions give them */
    uint32_t generation, writer;        /* cells of another generation are empty; whole level: mark of the last writer */

    uint32_t readers;                   /* whole level: readers since: hazard_map.h */
    uint32_t part_writer;               /* mark of the latest task that wrote a part of it in this generation */
    uint32_t touched_lo, touched_hi;    /* cells used in this generation: indices in [lo, hi) */
    uint32_t recent_count, recent[HBG__RECENT_MAX];     /* cells written since `writer`; one more than the most: look at all that were touched */
    uint32_t irregular;                 /* HBG__IRREGULAR_* */
    uint32_t whole_layout;              /* the layout that covers all of it from offset 0; 0: none */
    uint32_t flags;                     /* HBG__STORAGE_* */
    uint32_t grid, cell_base;           /* index, 0: none; index of its first cell */
    uint32_t wide;                      /* partial accesses that belong to no cells */
    uint32_t group;                     /* of the boundary; UINT32_MAX: none */

    /* of homes: the bytes [lower, size_bytes) may be accessed. Byte 0 is the first that an argument touches, so that edges do
       not depend on where in a device buffer the arguments lie; lower is less than 0 where the build names the buffer, too. */
    _Alignas(HBG__LINE) uint64_t size_bytes;
    int64_t lower;
    uint64_t first;                     /* of a device buffer: where byte 0 lies in it */
    uint32_t part_count;                /* accesses since the last fold that are kept as parts */
    uint64_t search_excess;             /* since then: hazard_map.h */
    uint32_t parent;                    /* whose layout gives the axes of the grid: the longest argument of the group */
    uint64_t seen;                      /* the last submission of a definition that looked at it: match.c */
};
_Static_assert(sizeof(struct hbg__storage) == 4 * HBG__LINE, "found by a shift, and lines of its own");

/* Let the short way know whether it may look at the storage. Call it after a change of `irregular`. */
static inline void hbg__storage_set_irregular(struct hbg__storage *s, uint32_t irregular)
{
    s->irregular = irregular;
    if (irregular) s->cell_type = HBG__NO_TYPE;
    if (irregular) s->cell_layout = 0;  /* learnt again when it is regular */
}

static inline bool hbg__is_unwritten(const struct hbg__storage *home) { return home->generation == HBG__UNWRITTEN; }

/* ---- the graph ------------------------------------------------------------------------------------------------ */

struct hbg__scope { uint32_t mode, first_storage; };

/* The bytes of an ended scope, in the order the scopes ended. */
struct hbg__free_block { uint64_t off, size_bytes; uint32_t scope_end; };
struct hbg__scope_end { uint32_t first_storage, storage_count, noop; };     /* noop: mark; 0: none yet. Of one task: HBG__NIL, its mark */

/* One region of the task being submitted, between the collecting and the noting pass. */
struct hbg__access {
    uint32_t home;
    uint32_t cell;                      /* for HBG__ACCESS_CELL */
    uint8_t place;                      /* enum hbg__access_place */
    bool writes;
    struct hbg__view view;              /* but for whole cells and storages that were found the short way */
};
enum hbg__access_place { HBG__ACCESS_NONE, HBG__ACCESS_CELL, HBG__ACCESS_WHOLE, HBG__ACCESS_PART };

/* A body of hbg_subgraph() that is being submitted; on the stack of that call. */
struct hbg__frame {
    struct hbg__frame *outer;           /* NULL: the build function itself */
    struct hbg_args args;               /* what the body is given */
    const uint32_t *bound;              /* by position: the boundary scalar of the run that it is; HBG__NIL: a constant, or no scalar */
    const char *name;
    uint32_t scope_depth;               /* scopes that are not the body's to end */
    uint32_t entry;                     /* mark of the noop before all its tasks; 0: none, here and further out */
};

/* A build that is compared with the last one of its arena: repeat.h */
struct hbg__repeat {
    const struct hbg__image_head *head; /* of the last one; NULL: there is none for this program and this boundary */
    uint32_t calls, note, heap_count;   /* tasks that were the same; the next note; intermediates that they name: g->repeat_heap */
    bool is_tried;                      /* false: it was not worth while lately */
    bool is_on;                         /* all submits so far were the same */
    bool has_left;                      /* one was not */
    uint32_t kept_buffers;              /* entries of the recording's `named` whose buffers are held, while calls are made again */
    bool is_possible;                   /* the next build can be compared with this one, as far as is known */
};

/* What records do not tell of the calls of the last build: notes.c */
struct hbg__notes {
    struct hbg__note *item;
    uint32_t count, capacity;
    uint32_t *word;
    uint32_t word_count, word_capacity;
};

struct hbg_graph {
    /* the image under construction; `payload` is the arena's origin and follows it */
    unsigned char *payload;
    uint32_t payload_top;               /* 8-byte units used */
    uint32_t payload_limit;             /* 8-byte units committed */
    uint32_t pending_units;             /* arguments being written above payload_top */
    uint32_t task_count;                /* ids given, noops included */
    uint32_t task_limit;                /* ids for which every per-task table has room */
    uint32_t build_serial;              /* of this build */
    uint32_t serial;                    /* of this build, or of the body that is being submitted: in hbg_task.graph */
    struct hbg__frame *frame;           /* the innermost body that is submitted in place; NULL: none */
    struct hbg_graph *inner;            /* build state for bodies that are recorded; made by the first */
    bool inner_open;                    /* one is being recorded: nothing may be submitted here meanwhile */
    bool is_serial;                     /* every task comes after the one before: capture.c */
    const char *single;                 /* why what is recorded is good for one submission: it uses what a later one could not find; NULL: it is good for more */
    uint32_t storage_base;              /* number of storage 0 in regions of this build */
    uint32_t storage_count;
    uint32_t storage_reach;             /* how many storages have the numbers from storage_base on; the others are looked up */
    struct hbg__numbers { uint32_t first, index, count; } numbers[HBG__NUMBERS_MAX];    /* that no other build has: of storages from index on */
    uint32_t numbers_count, numbered;   /* of these; of all numbers */
    struct hbg__storage *storages;      /* origin of storage_arena */
    uint32_t *tails;                    /* per task: last in its waiter list */
    uint32_t barrier;                   /* mark of the last barrier */
    bool unwritten_buffers;             /* arguments that have no history lie in buffers, which the build may name */
    bool manual;                        /* inside a manual scope */
    uint32_t manual_begin;              /* mark of the begin noop */
    uint32_t outer_barrier;             /* the last barrier before the begin: one inside orders what is inside */
    uint32_t manual_depth;              /* scope_depth inside the outermost manual scope */
    bool failed;
    uint32_t short_kernels;             /* kernels of which a task may take the short way: 0 inside a manual scope and after an error */
    uint32_t short_tasks;               /* ids below which neither table nor limit has to be looked at */
    struct hbg__repeat repeat;
    struct hbg__notes notes;
    struct hbg__producers producers;    /* of the task being submitted */
    const struct hbg_buffer *settled;   /* hbg_read has waited for the runs that write it; NULL: none */

    const struct hbg__build_input *input;
    struct hbg__recording *recording;
    struct hbg_args args;               /* what the build function is given */
    struct hbg_arg *boundary_args;      /* boundary_capacity of them */
    uint32_t boundary_capacity;
    struct hbg_error error;

    uint64_t edge_count, reuse_edges;
    uint32_t noop_count, user_noops, near_count, root_count;    /* noops: inserted ones; submitted ones, which are user tasks as well */

    struct hbg__bodies *bodies;         /* submissions of definitions: body.h */

    /* hazard map */
    uint32_t generation;                /* the last one given out; never reset, never repeated */
    uint32_t cell_top, pool_top, pool_limit, grid_count;
    uint32_t stamp;                     /* the last one given out, as above */
    uint64_t looks;                     /* at parts, of this build */
    uint32_t regrid_home;               /* storage whose grid wants to change after this submit; HBG__NIL: none */
    struct hbg__view regrid_view;       /* the access that wants it */
    bool regrid_of_run;                 /* this is one run of it */

    /* scopes and heap */
    struct hbg__scope *scopes;
    uint32_t scope_depth, scope_capacity;
    uint64_t heap_top;
    bool heap_was_full;                 /* bytes were reused, or wanted to be */
    struct hbg__free_block *free_blocks;
    uint32_t free_first, free_count, free_capacity;
    struct hbg__scope_end *scope_ends;
    uint32_t scope_end_count, scope_end_capacity;
    uint32_t merged_at;                 /* scope_end_count when neighbouring free blocks were merged last */

    /* scratch of one submit */
    struct hbg__access *accesses;
    uint32_t access_capacity, access_count;
    struct hbg_arg *repeat_args;            /* of a task that is submitted again */
    uint32_t repeat_args_capacity;
    unsigned char *repeat_copy;             /* of records and payload; in lines */
    uint32_t repeat_copy_capacity;
    struct hbg__definition **repeat_definitions;    /* that the build knew, while calls are made again */
    uint32_t repeat_definitions_capacity;
    uint32_t *repeat_heap;                  /* storages of intermediates that tasks and submissions of the build name, in order */
    uint32_t repeat_heap_capacity;
    struct hbg__access *manual_accesses;    /* regions of the open manual scopes */
    uint32_t manual_count, manual_capacity;
    uint32_t *gathered;                     /* producers of one region, stamped unique */
    uint32_t gathered_count, gathered_capacity;

    uint64_t question;                      /* numbers the accesses that ask about views; never repeats */
    struct hbg__view_answer { uint32_t view; uint64_t question; bool answer; } answers[HBG__ANSWERS];     /* the latest, by view */

    struct hbg__arena tail_arena, stamp_arena, root_arena, storage_arena, cell_arena, pool_arena, grid_arena;
    uint32_t recent_layouts[HBG__RECENT_LAYOUTS];   /* of regions, by their looks; 0: none */
    uint32_t scalar_layouts[HBG_F64 + 1];   /* by dtype; 0: not yet, but for dtype 0 */
    struct hbg__map_u64 layout_map;     /* hash of a layout -> payload offset */
    struct hbg__map_u64 buffer_map;     /* handle -> storage index: of the boundary, and with bit 32 of the build itself; with bit 33 what a body
                                           captures, by its storage in the build around */
    struct { uint32_t handle, storage; } buffer_cache[64];      /* the latter, by the handle's low bits */
    struct hbg__memory *memory;
    uint64_t reserve_bytes;             /* of an arena, as hbg__graph_create() was told */
    uint64_t fingerprint;               /* of the image layout: hashed once, written into every head */
    struct copy_block *lent_copies, *spare_copies;      /* of hbg_read: lent until the build returns, then kept for the next */
};


/* ---- errors: the first one wins, later calls do nothing ------------------------------------------------------- */

HBG_COLD void hbg__graph_fail(struct hbg_graph *g, enum hbg_status status, int argument, const char *name, const char *format, ...)
    HBG_PRINTF(5, 6);
HBG_COLD void hbg__graph_fail_limit(struct hbg_graph *g, const char *resource, uint64_t used, uint64_t limit, uint64_t requested,
                                    const char *remedy);
HBG_COLD void hbg__graph_fail_memory(struct hbg_graph *g, const char *what);
/* The error that was just latched, told by somebody who does not know whom it concerns: `name` where it has none, and `who` for the
   words "argument N" that its sentence begins with. */
HBG_COLD void hbg__graph_say_who(struct hbg_graph *g, const char *name, const char *who);

/* What went wrong in another graph has gone wrong here. Returns false. */
HBG_COLD bool hbg__fail_as(struct hbg_graph *g, const struct hbg_graph *other);
/* Not failed after all, nor the builds around it: a look that need not have been. */
HBG_COLD void hbg__graph_forgive(struct hbg_graph *g);

/* ---- storage.c ------------------------------------------------------------------------------------------------- */

/* The storage that a region names, NULL with the error latched when it names none. May add one (a device buffer's first use). */
struct hbg__storage *hbg__storage_of(struct hbg_graph *g, const struct hbg_region *region, int argument);
/* One more entry of the base table behind the boundary: its index. There is room. */
uint32_t hbg__name(struct hbg_graph *g, struct hbg__named named);
bool hbg__name_room(struct hbg_graph *g);       /* false: latched */
/* The handle of the device buffer that a storage is of; false: of none. */
bool hbg__storage_handle(const struct hbg_graph *g, const struct hbg__storage *s, uint32_t *handle);
/* There are more storages than numbers for them: take some more. build.c */
void hbg__graph_take_more_numbers(struct hbg_graph *g);
/* The number of a storage in regions; and the storage of a number, HBG__NIL where this build has given it to none. */
HBG_COLD uint32_t hbg__storage_number_far(const struct hbg_graph *g, uint32_t index);
HBG_COLD uint32_t hbg__storage_numbered_far(const struct hbg_graph *g, uint32_t number);
static inline uint32_t hbg__storage_number(const struct hbg_graph *g, uint32_t index)
{
    return HBG_LIKELY(index < g->storage_reach) ? g->storage_base + index : hbg__storage_number_far(g, index);
}
static inline uint32_t hbg__storage_numbered(const struct hbg_graph *g, uint32_t number)
{
    return HBG_LIKELY(number - g->storage_base < g->storage_reach) ? number - g->storage_base : hbg__storage_numbered_far(g, number);
}
/* A new storage, zeroed, its own home; NULL: no memory, latched. */
struct hbg__storage *hbg__storage_add(struct hbg_graph *g);
bool hbg__storage_boundary(struct hbg_graph *g);
void hbg__storage_count(struct hbg_graph *g);   /* one more, and a number for it */

static inline uint32_t hbg__storage_index(const struct hbg_graph *g, const struct hbg__storage *s) { return (uint32_t)(s - g->storages); }

/* ---- layouts.c: payload offset of the interned layout; 0: no memory, latched ------------------------------------- */

uint32_t hbg__layout_of_region(struct hbg_graph *g, const struct hbg_region *region);
uint32_t hbg__layout_of_scalar(struct hbg_graph *g, int dtype);     /* cached in g->scalar_layouts */

static inline const struct hbg_layout *hbg__layout_at(const struct hbg_graph *g, uint32_t offset)
{
    return (const struct hbg_layout *)(const void *)(g->payload + (size_t)offset * 8);
}

/* Element type and rank in one word; regions and layouts of one shape and other types differ in it. */
static inline uint32_t hbg__region_type(const struct hbg_region *r) { return (uint32_t)r->dtype | (uint32_t)r->rank << 16; }

/* Type, shape and strides. Word by word: wider loads would wait for the stores that have just built the region. */
static inline bool hbg__same_looks(const struct hbg_region *a, const struct hbg_region *b)
{
    if (hbg__region_type(a) != hbg__region_type(b)) return false;
    int64_t difference = 0;
    for (int d = 0; d < a->rank; d++) difference |= (a->shape[d] ^ b->shape[d]) | (a->stride_bytes[d] ^ b->stride_bytes[d]);
    return difference == 0;
}

/* Is this the layout of the region? Word by word: wider loads would wait for the stores that have just built the region. */
static inline bool hbg__layout_is(const struct hbg_layout *l, const struct hbg_region *r)
{
    if (l->dtype != (int16_t)r->dtype || l->rank != r->rank) return false;
    int64_t difference = 0;
    for (int d = 0; d < r->rank; d++) difference |= (l->shape[d] ^ r->shape[d]) | (l->stride_bytes[d] ^ r->stride_bytes[d]);
    return difference == 0;
}

/* ---- append.c (hbg__append itself: append.h) -------------------------------------------------------------------------------------------------- */

/* Room in the payload for `units` of 8 bytes; false: latched. */
bool hbg__payload_grow(struct hbg_graph *g, uint64_t units);
static inline bool hbg__payload_fit(struct hbg_graph *g, uint64_t units)
{
    return g->payload_top + units <= g->payload_limit || hbg__payload_grow(g, units);
}
bool hbg__tasks_grow(struct hbg_graph *g);
void hbg__short_tasks_renew(struct hbg_graph *g);      /* the declared limit is nearer than the number of records says */
/* Insert `units` at payload_top, below the arguments that are being written; *offset is where. False: latched. */
bool hbg__payload_insert(struct hbg_graph *g, uint32_t units, uint32_t *offset);

/* A noop after these tasks (marks in any order, unique; sorted in place): its mark, 0 when latched. */
uint32_t hbg__append_noop(struct hbg_graph *g, uint32_t *marks, uint32_t count, uint32_t flags);

/* ---- submit.c: one more producer of the task being submitted; false: latched ----------------------------------- */

bool hbg__producer_add(struct hbg_graph *g, uint32_t mark);

/* Kernels take the short way again, unless something speaks against it. */
static inline void hbg__short_way_renew(struct hbg_graph *g)
{
    bool no = g->failed || g->manual || g->is_serial || (g->frame && g->frame->entry);
    g->short_kernels = no ? 0 : g->input->kernel_count;
}

/* A number that no other build and no other body has had in a long time. build.c */
uint32_t hbg__serial_take(void);

/* The task whose arguments stand above payload_top, behind `before` units of something else: it comes after g->producers;
   g->accesses are entered, and `settled_count` that were settled on the short way. submit.c */
struct hbg__short_access;
struct hbg_task hbg__submit_append(struct hbg_graph *g, uint32_t kernel, uint32_t arg_count, uint32_t flags, uint32_t before,
                                   const struct hbg__short_access *settled, uint32_t settled_count);

/* ---- scope.c ---------------------------------------------------------------------------------------------------- */

/* Bytes of the heap for an intermediate: their offset, and the mark that its history starts with. False: latched. */
bool hbg__heap_take(struct hbg_graph *g, uint64_t size, uint64_t *off, uint32_t *writer);
/* Bytes that can be had in one piece, of the limit and the ended scopes. */
uint64_t hbg__heap_room(const struct hbg_graph *g);
/* Bytes that only this task has used are free again. False: latched. */
bool hbg__heap_give(struct hbg_graph *g, uint64_t off, uint64_t size, uint32_t mark);

bool hbg__scope_end_build(struct hbg_graph *g);    /* false: a scope is still open, latched */
bool hbg__manual_note(struct hbg_graph *g, const struct hbg__access *access);
/* Everybody since `from` whom nobody waits for, into g->gathered. */
bool hbg__gather_leaves(struct hbg_graph *g, uint32_t from);
/* The build may write buffers whose arguments are `in` (HBG__UNWRITTEN), since it names one, or could in a manual scope, which nothing can be put
   before later. Nobody has noted who reads there: all tasks so far may. False: latched. */
bool hbg__histories_begin(struct hbg_graph *g);

/* ---- subgraph.c -------------------------------------------------------------------------------------------------- */

/* What scalar `index` of a boundary is, of the build or of a body in it: *position in the base table behind the fixed entries, or HBG__NIL
   for a constant. False: no such boundary here, or no scalar. */
bool hbg__scalar_origin(struct hbg_graph *g, const void *boundary, uint32_t index, const struct hbg_args **args, uint32_t *position);

/* May build code call this now? False: an error is latched, maybe for this call, which comes while a body is recorded. */
bool hbg__graph_is_open(struct hbg_graph *g, const char *call);

/* ---- capture.c ----------------------------------------------------------------------------------------------------- */

/* The storage of a region from the build around a body; NULL: latched, or there is none of that number and *known is false. */
struct hbg__storage *hbg__capture(struct hbg_graph *g, const struct hbg_region *region, int argument, bool *known);
/* Does the region come from the build around a body? */
bool hbg__is_captured(const struct hbg_graph *g, const struct hbg_region *region);
/* A scalar of a boundary around: a place in the base table of its own. */
bool hbg__capture_scalar(struct hbg_graph *g, const void *boundary, uint32_t index, const struct hbg_args **args, uint32_t *position);
/* From here on every task comes after all before it. False: latched. */
bool hbg__graph_serialize(struct hbg_graph *g);
/* Is the buffer among the arguments of the body that g builds, or of one around it? Nobody knows then what overlaps. storage.c */
bool hbg__is_argument_of_body(const struct hbg_graph *g, uint32_t handle);
/* The bodies that are being recorded use the graph around them. */
void hbg__graph_looked_into(struct hbg_graph *g);

/* ---- guard.c ---------------------------------------------------------------------------------------------------- */

bool hbg__guards_begin(struct hbg_graph *g);
bool hbg__guards_copy(struct hbg_graph *g);         /* the boundary that is built for; false: latched */
/* The build depends on the value of scalar `position` of its boundary. False: latched. */
bool hbg__guard_scalar(struct hbg_graph *g, uint32_t position, uint64_t bits);
/* hbg_read() and hbg_guard() for calls that come from a body, or for it. */
const void *hbg__graph_read(struct hbg_graph *g, struct hbg_region x);
bool hbg__graph_guard(struct hbg_graph *g, const void *data, size_t size_bytes);
void hbg__read_copies_return(struct hbg_graph *g);   /* those lent out become spare */
void hbg__read_copies_free(struct hbg_graph *g);

/* Room for `count` elements in a growing array of g's memory; false: latched. */
bool hbg__graph_grow(struct hbg_graph *g, void **items, uint32_t *capacity, uint32_t count, size_t item_bytes);
static inline bool hbg__graph_reserve(struct hbg_graph *g, void **items, uint32_t *capacity, uint32_t count, size_t item_bytes)
{
    return HBG_LIKELY(count <= *capacity) || hbg__graph_grow(g, items, capacity, count, item_bytes);
}

#endif /* HBG_GRAPH_GRAPH_H */
