/* SPDX-License-Identifier: Apache-2.0 */
/* body.h - submissions of bodies: what one call of hbg_subgraph() works with, and what a build remembers of them.
 *
 *     subgraph.c      the call: check the list; then in place (in_place.c), or
 *     match.c         a definition that fits, of this build (known.c) or of the store, or
 *     recorder.c      a new one, built by hbg__graph_build() with a build state of its own
 *     submission.c    the record that submits it
 */
#ifndef HBG_GRAPH_BODY_H
#define HBG_GRAPH_BODY_H

#include "base/map_u64.h"
#include "graph/definition.h"
#include "graph/graph.h"

enum {
    HBG__BODY_DEPTH_MAX = 32,           /* definitions in one another; deeper ones are submitted in place */
    HBG__FEW_KNOWN = 8,                 /* definitions of a build that are compared one by one, before a key is hashed */
};

/* The body that is being recorded, as its build knows it. */
struct hbg__body {
    struct hbg_graph *outer;
    const struct hbg_arg *arg;          /* by position, with regions of the build around */
    const uint32_t *bound;              /* likewise: position of the scalar in the base table of the build around; HBG__NIL: a constant, or no scalar */
    uint32_t count, depth;
};

/* A definition that this build submits. */
struct hbg__known {
    struct hbg__definition *definition; /* pinned by the recording, which names it */
    uint32_t older;                     /* 1 + index of the one to try behind it: where few are known, the one before; else the one before it of its
                                           key's hash; 0: none */
    uint32_t base;                      /* its place in the base table */
    uint32_t extra;                     /* index of what follows the boundary in its base table: named_count of them */
    uint32_t layout;                    /* index of the layouts of its arguments, arg_count of them */
};

/* A value of a definition's base table behind its boundary, as this build passes it on. */
struct hbg__extra {
    struct hbg_view_arg arg;
    uint32_t home;                      /* storage that is accessed; HBG__NIL: none */
    bool writes;
};

/* Bytes of a storage that an argument touches. */
struct hbg__alias { uint32_t home, arg; int64_t lo, hi; };

struct hbg__bodies {
    uint64_t stamp;                     /* numbers the looks at lists; never reset */
    struct hbg__known *known;
    uint32_t known_count, known_capacity;
    struct hbg__map_u64 by_key, by_definition;          /* 1 + index in known, where these are not few: of the newest of a key's hash; of a definition */
    struct hbg__extra *extra;
    uint32_t extra_count, extra_capacity;
    uint32_t *layout;
    uint32_t layout_count, layout_capacity;
    uint32_t *submission;               /* payload offsets of struct hbg__submission */
    uint32_t submission_count, submission_capacity;
    uint64_t slots, activations, bases; /* that these take, beside the image's own */
    uint64_t task_count;                /* of bodies: those that the user submitted */

    /* of the list at hand */
    uint32_t *storage;                  /* by position */
    uint32_t storage_capacity;
    struct hbg__short_access *settled;  /* those that were settled on the short way */
    uint32_t settled_count, settled_capacity;
    struct hbg__alias *alias;
    uint32_t alias_capacity;
    struct hbg_arg *given;
    uint32_t given_capacity;
    struct hbg__boundary_arg *arg;
    uint32_t arg_capacity;
    struct hbg__boundary_group *group;
    uint32_t group_capacity;
    bool unknown;                       /* two arguments share storage in which distances may change (HBG__STORAGE_WHOLES) */

    struct hbg__recording recording;    /* of the body that is recorded: an arena that is kept */
    uint64_t growths;                   /* of arenas that definitions have taken */
};

/* One call of hbg_subgraph(). */
struct hbg__call {
    struct hbg_graph *g;
    struct hbg__definition_key key;
    hbg_build_fn *fn;
    struct hbg_arg_list list;
    /* what a check of the list leaves, by position */
    struct hbg_arg *arg;                /* what the body is given, with regions of this build */
    uint32_t *bound;                    /* as in struct hbg__body */
    uint32_t count;
};

/* Tasks that the build function has submitted: all but inserted noops and submissions; those of bodies count. */
static inline uint64_t hbg__user_tasks(const struct hbg_graph *g)
{
    return g->task_count - g->noop_count - g->bodies->submission_count + g->bodies->task_count;
}

/* What the limit of tasks is compared with. */
static inline uint64_t hbg__tasks_used(const struct hbg_graph *g) { return hbg__user_tasks(g) + g->input->tasks_outside; }

/* alias.c: of the first `count` of `arg`, regions of this build and scalars, into g->bodies->arg: group, numbered in the order of positions, and
   displacement; and into g->bodies->group and ->unknown. False: latched. */
bool hbg__alias_groups(struct hbg_graph *g, const struct hbg_arg *arg, uint32_t count, uint32_t *group_count);

/* known.c: what a build knows. NULL of add: latched; of find: it does not know it. */
void hbg__known_begin(struct hbg_graph *g);
void hbg__known_free(struct hbg_graph *g);
const struct hbg__known *hbg__known_add(struct hbg_graph *g, struct hbg__known known);
const struct hbg__known *hbg__known_find(const struct hbg__bodies *b, const struct hbg__definition *definition);
/* 1 + index of the first to try for a key of this hash, the newest, the others behind it through `older`; 0: none. Where few are known the hash is
   of no matter. */
uint32_t hbg__known_newest(const struct hbg__bodies *b, uint64_t hash);

/* match.c: a definition that fits the list; NULL: none, or latched. *in_place: bodies of this key are submitted in place. *wholes: one
   missed for distances between its arguments alone. */
const struct hbg__known *hbg__match(struct hbg__call *call, bool *in_place, bool *wholes);

/* Do the values of its scalars fit those that the definition is guarded by? All of its guards are values. */
bool hbg__match_values(struct hbg__call *call, const struct hbg__definition *definition);
/* The storages of a list that fits, for hbg__submit_definition(). */
bool hbg__match_positions(struct hbg__call *call, const struct hbg__definition *definition);
bool hbg__key_is(const struct hbg__definition_key *a, const struct hbg__definition_key *b);
uint64_t hbg__key_hash(const struct hbg__definition_key *key);

/* recorder.c: a body of this key is submitted in place, or will be: say why. */
void hbg__say_single(struct hbg__call *call, const char *why);
/* Record the body; NULL: latched. */
const struct hbg__known *hbg__record_body(struct hbg__call *call, bool wholes);
/* Record it again beside the definition: is it the same? False: latched. */
bool hbg__verify_body(struct hbg__call *call, const struct hbg__definition *definition);

/* submission.c: make the definition known to this build, which takes the caller's pin; NULL: latched. */
const struct hbg__known *hbg__know(struct hbg_graph *g, struct hbg__definition *definition);
struct hbg_task hbg__submit_definition(struct hbg__call *call, const struct hbg__known *known);

/* subgraph.c: check the list, into arg and bound. False: latched. And: the error, which is about an argument, is about one of this body. */
bool hbg__call_check(struct hbg__call *call);
HBG_COLD void hbg__say_argument(struct hbg_graph *g, const char *name);

/* in_place.c; arg and bound are set. And: the body's error, with the name of the body. */
struct hbg_task hbg__submit_in_place(struct hbg__call *call);
void hbg__say_where(struct hbg_graph *g, const char *name);

/* submission.c */
bool hbg__bodies_create(struct hbg_graph *g);
void hbg__bodies_begin(struct hbg_graph *g);
void hbg__bodies_destroy(struct hbg_graph *g);
/* How many records and bases the image has itself is known now: submissions count from behind them. */
void hbg__bodies_seal(struct hbg_graph *g, uint32_t base_count);

#endif /* HBG_GRAPH_BODY_H */
