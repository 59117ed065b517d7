/* SPDX-License-Identifier: Apache-2.0 */
/* definition.h - recorded bodies, and the store that keeps them: one a device.
 *
 * A definition is found by its key: name and parameters of the body, and the kernel table that its records name. Of one key there may
 * be several, for boundaries of different shapes or for different values that the body looked at. All that a definition holds is
 * constant once it is made, but for what the store and the device keep of it.
 *
 *     key -> definition -> definition ...          newest first
 *            { image, boundary, guards, what it names }
 *
 * Pins. Whoever names a definition has it pinned: a recording, another definition, a build that is looking. One that nobody pins leaves
 * when the definitions together exceed the budget, least recently used first; and when it is the least recently used of a key that has
 * more than HBG__DEFINITIONS_OF_KEY, since each of them is tried where none fits. Used is what was named: who looks leaves the order as it is.
 *
 *   field                                 written by            read by        guarded by
 *   lists, pins, kept, used_bytes         any building thread   the same       the store's lock
 *   device_image, chunk                   uploading threads     the same       the store's lock
 *   the rest                              the recording thread  any that pins  constant once it is added
 */
#ifndef HBG_GRAPH_DEFINITION_H
#define HBG_GRAPH_DEFINITION_H

#include <pthread.h>

#include "graph/build.h"
#include "graph/guard.h"

enum { HBG__DEFINITIONS_OF_KEY = 32 };    /* and more while they are pinned */

struct hbg__definition_key {
    uint64_t hash, kernel_set;
    hbg_build_fn *fn;                   /* not of the key: bodies of one key are the same; but other programs may have other ones */
    const char *name;
    const void *params;
    size_t params_size;
};

/* One position of a boundary, as a body was recorded with it. */
struct hbg__definition_arg {
    struct hbg_arg arg;                 /* kind, type, shape and strides; no storage, no value */
    uint32_t group;                     /* of arguments that share storage, numbered in the order of positions; UINT32_MAX: a scalar */
    bool is_empty;
    int64_t displacement;               /* of element 0, from the group's first byte */
};

struct hbg__definition_chunk;

struct hbg__definition {
    struct hbg__definitions *store;
    struct hbg__definition *next;       /* of its bucket */
    struct hbg__definition *newer, *older;      /* in the order in which they were made, of all that there are */
    uint32_t pins;
    bool kept;                          /* the store knows it; otherwise it goes with the last pin */
    bool idle;                          /* kept, and nobody names it; who looks at it pins it all the same */
    uint64_t device_image;              /* address of its head on the device; 0: not there */
    struct hbg__definition_chunk *chunk;    /* of device memory that it lies in */
    uint32_t number;                    /* in the order in which definitions were made */

    struct hbg__definition_key key;
    bool depends_on_store;              /* what it submits depends on what the store keeps: hbg__depends_on_store() */
    const char *single;                 /* why it is good for one submission alone; NULL: for more */
    bool in_place;                      /* a note in the place of a definition: bodies of this key cannot be kept and are submitted in place */
    bool shares;                        /* two arguments are of one group */
    bool wholes;                        /* arguments of one group conflict as wholes, at whatever distance */
    uint64_t owner;                     /* of memory that it was guarded by: the program it is good for; 0: any */
    bool names_buffers;                 /* the body names device buffers, or one inside does */
    uint64_t heap_outside_bytes;        /* of the heap's limit, what was in use around it when it was recorded */
    bool heap_was_full;                 /* it has reused bytes to stay within that limit, which may order its tasks */
    bool is_serial;                     /* nothing is known of how its arguments overlap: all of its tasks do */
    struct hbg__definition_arg *arg;
    uint32_t arg_count, named_count;
    struct hbg__named *named;           /* held, pinned */
    struct hbg__guard *guard;           /* in the order in which the body looked */
    uint32_t guard_count;
    unsigned char *guard_bytes;
    uint64_t guard_bytes_size;
    const struct hbg__image_head *head;
    uint64_t image_hash;
    uint32_t depth;                     /* of the body around, where it was recorded; 0: of the build function */
    bool too_deep;                      /* bodies in it, or further in, were submitted in place since they would have been nested too deep: it fits at this depth alone */
    uint32_t levels;                    /* of bodies: its own, and those inside of each other in it */
    uint64_t task_count;                /* with those of bodies inside, without noops that hbg inserted and submissions */
    size_t block_bytes;                 /* of this struct with all that it points to, but for the image */
    void *image_block;                  /* of a large image NULL: it stays in the arena that it was built in */
    size_t image_block_bytes;
    struct hbg__arena arena;
    struct hbg__definition *later, *sooner;     /* in the list of idle ones: whose last use ended after this one's, and before */
    uint64_t used;                      /* number of its last use in the store's count of `uses` */
};

struct hbg__definitions {
    pthread_mutex_t lock;
    struct hbg__memory *memory;
    struct hbg__buffer_ops buffers;
    void (*forget)(void *user, struct hbg__definition *definition);     /* its copy on the device goes */
    void *user;
    struct hbg__definition **bucket;    /* bucket_count of them; NULL at first */
    uint32_t bucket_count, count, made;
    struct hbg__definition *newest, *oldest;            /* ends of the list of all, by when they were made */
    struct hbg__definition *idle_latest, *idle_soonest; /* ends of the list of idle ones, by when their last use ended */
    uint64_t uses;                      /* how many have ended so far */
    uint64_t used_bytes, budget_bytes;
};

/* budget_bytes 0: the default. */
void hbg__definitions_open(struct hbg__definitions *store, struct hbg__memory *memory, const struct hbg__buffer_ops *buffers, uint64_t budget_bytes);
/* The buffer is destroyed: definitions that name it are not found any more, and those that nobody pins let it go. */
void hbg__definitions_forget_buffer(struct hbg__definitions *store, const struct hbg_buffer *buffer);
/* From here on none stays that nobody pins: buffers that they name hold the device, which holds them. */
void hbg__definitions_purge(struct hbg__definitions *store);
/* Nobody pins any. */
void hbg__definitions_close(struct hbg__definitions *store);

/* The first definition of this key, or the one behind `after`, whose pin is taken; pinned; NULL: there is none. */
struct hbg__definition *hbg__definition_next(struct hbg__definitions *store, const struct hbg__definition_key *key, struct hbg__definition *after);
void hbg__definition_pin(struct hbg__definition *definition);
void hbg__definition_unpin(struct hbg__definition *definition);
/* Would building again perhaps submit other things, by what the store keeps by then? Bodies in place are recorded where no note is left that they cannot be kept;
   of one submission no other build finds the definition; where one that reused heap bytes, or whose arguments conflict as wholes, was taken, another that
   fits may be there with less order. Such builds cannot be verified. */
bool hbg__depends_on_store(const struct hbg__recording *recording);
/* Keep it, as the first of its key; it is pinned. Others of its key may go. False: no memory for the table, it is not kept. */
bool hbg__definition_keep(struct hbg__definition *definition);
/* Not found any more: its image has turned out to be damaged. */
void hbg__definition_distrust(struct hbg__definition *definition);

/* A definition with room for all this, pinned once and not kept; all zero but the key, which is copied. NULL: no memory. */
struct hbg__definition *hbg__definition_create(struct hbg__definitions *store, const struct hbg__definition_key *key, uint32_t arg_count,
                                               uint32_t named_count, uint32_t guard_count, uint64_t guard_bytes, uint64_t image_bytes);

/* Copy the image of a recording into the definition's block, or take a large one with its arena, which the recording then lacks. */
void hbg__definition_take_image(struct hbg__definition *definition, struct hbg__recording *recording);

/* Do two builds name the same buffers, and bodies of the same keys? recorder.c */
bool hbg__name_the_same(const struct hbg__named *a, uint32_t a_count, const struct hbg__named *b, uint32_t b_count);

#endif /* HBG_GRAPH_DEFINITION_H */
