/* SPDX-License-Identifier: Apache-2.0 */
/* repeat.h - a build that makes the calls of the last build of its tables: they are compared, and nothing is written.
 *
 *     last build      records, arguments and layouts stay in the arena of the recording; notes.c keeps of its calls what these do not tell
 *     this build      the next call is the one that came next then?
 *                         yes    that is all; another constant is put in the place of the old one
 *                         no     the calls before are made from the records and the notes, and the build goes on like any other
 *     its end         all calls were made: the image is the last one
 *
 * That is right since the image follows from the boundary and the calls: equal builds give equal images.
 *
 * Can be compared: tasks, intermediates, automatic scopes, barriers, bodies that are found, and buffers that the build names unless they are
 * arguments too. Scalars may be looked at, memory guarded, and arguments read before the first task. Any other call ends the comparison, and a
 * build that makes one is not compared with the next. A program that is never the same does not try each time: after k failures in a row
 * 2^(k-1) - 1 builds, 63 at most, are made without looking, and one more that leaves what the next is compared with. Not compared are
 * builds on a device with poison=1.
 *
 * Cost: bench/budget.txt, where an argument takes 127 instructions, and 275 in a build from the start, some 60 of either the caller's own.
 */
#ifndef HBG_GRAPH_REPEAT_H
#define HBG_GRAPH_REPEAT_H

#include "graph/graph.h"

/* A note names the call that comes after it, by how many tasks there were. count: of a list; first: the first of its words */
enum hbg__note_kind { HBG__NOTE_LIST, HBG__NOTE_ALLOC, HBG__NOTE_SCOPE_BEGIN, HBG__NOTE_SCOPE_END, HBG__NOTE_BARRIER, HBG__NOTE_SUBMISSION };
struct hbg__note { uint32_t at, kind, count, first; };

/* Before the tables are made ready: will this build be compared? */
void hbg__repeat_begin(struct hbg_graph *g, const struct hbg__build_input *input, struct hbg__recording *recording);

/* The tables are ready. */
void hbg__repeat_start(struct hbg_graph *g);

/* Calls of the build while they are compared. A submit returns its task either way; the others return false where the call differs from the last build's,
   and then the caller makes it. */
struct hbg_task hbg__repeat_submit(struct hbg_graph *g, int kernel, struct hbg_arg_list list);
bool hbg__repeat_alloc(struct hbg_graph *g, struct hbg_region *region);     /* type and shape are given; it gets its storage */
bool hbg__repeat_scope_end(struct hbg_graph *g);
bool hbg__repeat_call(struct hbg_graph *g, enum hbg__note_kind kind);       /* any other that a note names */

/* From here on the build is made. False: latched. */
bool hbg__repeat_leave(struct hbg_graph *g);

/* The call that comes cannot be compared. False: latched. */
static inline bool hbg__repeat_forbid(struct hbg_graph *g)
{
    g->repeat.is_possible = false;
    return HBG_LIKELY(!g->repeat.is_on) || hbg__repeat_leave(g);
}

/* The build function has returned. True: the recording has the last image again. */
bool hbg__repeat_end(struct hbg_graph *g);

/* The recording is sealed: may the next build be compared with it? */
void hbg__repeat_keep(struct hbg_graph *g);

/* notes.c: what the records of a build do not tell, noted before the call is made; a comparison is left for it. False: latched. */
bool hbg__note_call(struct hbg_graph *g, enum hbg__note_kind kind);
bool hbg__note_alloc(struct hbg_graph *g, const struct hbg_region *region);
/* Is it this intermediate; and what to ask for to get it again. */
bool hbg__note_is_alloc(const struct hbg_graph *g, const struct hbg__note *note, const struct hbg_region *region);
enum hbg_dtype hbg__noted_alloc(const struct hbg_graph *g, const struct hbg__note *note, struct hbg_shape *shape);
/* Kinds and explicit edges of a list that the signature of its kernel does not tell. */
void hbg__note_list(struct hbg_graph *g, struct hbg_arg_list list);
/* The same behind two words more. */
void hbg__note_words(struct hbg_graph *g, enum hbg__note_kind kind, uint32_t first, uint32_t second, struct hbg_arg_list list);

/* repeat_body.c. False: it is another body or another list, and nothing was submitted. */
struct hbg__call;
struct hbg__known;
bool hbg__repeat_subgraph(struct hbg__call *call, struct hbg_task *task);
void hbg__note_submission(struct hbg_graph *g, const struct hbg__known *known, struct hbg_arg_list list);
/* May submissions of this definition be compared in the next build? */
bool hbg__repeat_can_compare(const struct hbg_graph *g, const struct hbg__known *known);

#endif /* HBG_GRAPH_REPEAT_H */
