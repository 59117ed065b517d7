/* SPDX-License-Identifier: Apache-2.0 */
/* repeat_args.h - what tasks and submissions of bodies have in common while a build is compared with the last one: repeat.h */
#ifndef HBG_GRAPH_REPEAT_ARGS_H
#define HBG_GRAPH_REPEAT_ARGS_H

#include "graph/append.h"
#include "graph/repeat.h"
#include "graph/short_way.h"

/* The index of a device buffer that the build has named, or of the next one, which is named now, if it is the one that was named here. HBG__NIL: it is not. */
uint32_t hbg__repeat_named_buffer(struct hbg_graph *g, const struct hbg_view_arg *was, const struct hbg_region *r, bool writes);
/* Is the intermediate still there, and does the region begin in it? Then it is remembered for hbg__recall_list(), since many have one base. */
bool hbg__repeat_intermediate(struct hbg_graph *g, const struct hbg__storage *s, const struct hbg_region *r);

/* Is this the region of the argument? looks: with the type, shape and strides that it had; NULL: its layout says them. */
static inline bool hbg__repeat_region(struct hbg_graph *g, const struct hbg_view_arg *was, const struct hbg_region *r, const struct hbg_region *looks, bool writes)
{
    uint32_t index = hbg__short_storage(g, r, writes);
    if (HBG_UNLIKELY(index == HBG__NIL) && (index = hbg__repeat_named_buffer(g, was, r, writes)) == HBG__NIL) return false;
    const struct hbg__storage *s = &g->storages[index];
    if (was->base != s->base || was->word != (uint64_t)(r->offset_bytes + s->word_bias)) return false;
    if (looks ? !hbg__same_looks(r, looks) : !hbg__layout_is(hbg__layout_at(g, was->layout), r)) return false;
    return HBG_LIKELY(s->base != HBG__BASE_HEAP) || hbg__repeat_intermediate(g, s, r);
}

/* Is this the explicit edge of a note's words? */
static inline bool hbg__repeat_after(const struct hbg_graph *g, const struct hbg_arg *arg, const uint32_t *word)
{
    return arg->u.task.graph == g->serial && arg->u.task.id == word[1];
}

/* The next note, if it is about the call that comes now; NULL: it is not. */
static inline const struct hbg__note *hbg__note_here(const struct hbg_graph *g)
{
    const struct hbg__note *note = g->repeat.note < g->notes.count ? &g->notes.item[g->repeat.note] : NULL;
    return note && note->at == g->repeat.calls ? note : NULL;
}

/* On to the next record of a call, over noops that the map has inserted, which follow from the calls. False: there is none. */
static inline bool hbg__repeat_seek(struct hbg_graph *g)
{
    uint32_t count = g->repeat.head->task_count;
    while (g->task_count < count && hbg__record_at(g, g->task_count)->flags & HBG__TASK_NOOP) g->task_count++;
    return g->task_count < count;
}

/* Calls made again from what the last build has left. Its records and arguments are copied first, since they are about to be written over. */
struct hbg__again {
    struct hbg_graph *g;
    const unsigned char *payload;       /* of the copy */
    uint32_t record, note, heap;        /* the next ones */
    uint32_t definition_count;          /* g->repeat_definitions: those that were known, in the order of first use; pinned */
};

/* list->count entries as they were submitted, in g->repeat_args: their kinds and explicit edges from the words of a note, or from a signature. False: latched. */
bool hbg__recall_list(struct hbg__again *again, const struct hbg_view_arg *was, const uint32_t *word, const uint8_t *kind, struct hbg_arg_list *list);

/* repeat_body.c: the submission of the note, again. False: latched. */
bool hbg__submit_body_again(struct hbg__again *again, const struct hbg__note *note);

#endif /* HBG_GRAPH_REPEAT_ARGS_H */
