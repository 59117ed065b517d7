/* SPDX-License-Identifier: Apache-2.0 */
/* repeat_body.c - submissions of bodies in a build that is compared with the last one: repeat.h
 *
 * A note says which definition was submitted, by its place among those that the build knew and by its number. That one fits again: the list is the
 * same, all that it was matched by is the same but for values, and these are compared. What a build knows is in the order of first
 * use, so it becomes known here as it did there.
 *
 * Left to the usual way: definitions that name buffers, that read data or memory, with more order than need be, and replays that are verified.
 */
#include "graph/repeat.h"
#include "graph/append.h"
#include "graph/body.h"
#include "graph/repeat_args.h"

enum { WORDS_BEFORE = 2 };              /* of a note: place and number of the definition; then kind and explicit edge of each entry of the list */

bool hbg__repeat_can_compare(const struct hbg_graph *g, const struct hbg__known *known)
{
    const struct hbg__definition *d = known->definition;
    if (d->names_buffers || d->wholes || d->heap_was_full || g->input->verify_every) return false;
    for (uint32_t i = 0; i < d->guard_count; i++)
        if (d->guard[i].kind != HBG__GUARD_VALUE) return false;
    return true;
}

void hbg__note_submission(struct hbg_graph *g, const struct hbg__known *known, struct hbg_arg_list list)
{
    if (!g->repeat.is_possible) return;
    if (hbg__repeat_can_compare(g, known))
        hbg__note_words(g, HBG__NOTE_SUBMISSION, (uint32_t)(known - g->bodies->known), known->definition->number, list);
    else g->repeat.is_possible = false;
}

/* ---- the definition ------------------------------------------------------------------------------------------------ */

/* The one of this number that the store has for the key, known from here on; NULL: there is none, or it is left to the usual way. */
static HBG_NO_INLINE const struct hbg__known *know_stored(struct hbg__call *call, uint32_t number)
{
    struct hbg_graph *g = call->g;
    struct hbg__definition *d = NULL;
    call->key.hash = hbg__key_hash(&call->key);
    while ((d = hbg__definition_next(g->input->definitions, &call->key, d)) != NULL && d->number != number) continue;
    if (!d) return NULL;
    if (d->in_place || d->key.fn != call->fn || d->names_buffers) {
        hbg__definition_unpin(d);
        return NULL;
    }
    return hbg__know(g, d);
}

static const struct hbg__known *find(struct hbg__call *call, const uint32_t *word)
{
    const struct hbg__bodies *b = call->g->bodies;
    const struct hbg__known *known = word[0] < b->known_count ? &b->known[word[0]] : NULL;
    if (known) return known->definition->number == word[1] && known->definition->key.fn == call->fn && hbg__key_is(&known->definition->key, &call->key) ? known : NULL;
    known = know_stored(call, word[1]);
    return known && known == &b->known[word[0]] && hbg__repeat_can_compare(call->g, known) ? known : NULL;
}

/* ---- the list ------------------------------------------------------------------------------------------------------ */

static inline bool is_same_position(struct hbg_graph *g, struct hbg_view_arg *was, const struct hbg__definition_arg *of, const struct hbg_arg *arg)
{
    const struct hbg_region *r = &arg->u.region;
    if (HBG_LIKELY(arg->kind - 1u < HBG_ARG_INOUT))
        return arg->kind == of->arg.kind && hbg__repeat_region(g, was, r, &of->arg.u.region, arg->kind != HBG_ARG_IN);
    if (arg->kind == HBG_ARG_UNTRACKED)
        return of->arg.kind == HBG_ARG_UNTRACKED && !((r->flags ^ of->arg.u.region.flags) & HBG_REGION_READ_ONLY) && hbg__repeat_region(g, was, r, &of->arg.u.region, false);
    if (of->arg.kind != HBG_ARG_SCALAR || arg->dtype != of->arg.dtype) return false;
    if (arg->kind == HBG_ARG_BOUND) return arg->u.boundary == &g->args && was->base == HBG__BASE_BOUNDARY + arg->index;
    if (arg->kind != HBG_ARG_SCALAR || was->base != HBG__BASE_ZERO) return false;
    was->word = arg->u.bits;
    return true;
}

static bool is_same_list(struct hbg_graph *g, const struct hbg__definition *d, struct hbg_view_arg *was, const uint32_t *word, struct hbg_arg_list list)
{
    const struct hbg__definition_arg *of = d->arg;
    for (const struct hbg_arg *arg = list.arg, *end = arg + list.count; arg != end; arg++, word += 2) {
        if (HBG_UNLIKELY(arg->kind != word[0])) return false;
        if (HBG_UNLIKELY(arg->kind == HBG_ARG_AFTER)) {
            if (!hbg__repeat_after(g, arg, word)) return false;
            continue;
        }
        if (!is_same_position(g, was++, of++, arg)) return false;
    }
    return true;
}

bool hbg__repeat_subgraph(struct hbg__call *call, struct hbg_task *task)
{
    struct hbg_graph *g = call->g;
    const struct hbg__note *note = hbg__note_here(g);
    if (!hbg__repeat_seek(g) || !note || note->kind != HBG__NOTE_SUBMISSION || call->list.count != note->count) return false;
    const struct hbg__task_record *r = hbg__record_at(g, g->task_count);
    const struct hbg__known *known = find(call, &g->notes.word[note->first]);
    if (!known || g->failed) return false;
    struct hbg_view_arg *was = (struct hbg_view_arg *)(uintptr_t)hbg__image_submission_args(g->payload, r);
    if (!is_same_list(g, known->definition, was, &g->notes.word[note->first + WORDS_BEFORE], call->list)) return false;
    if (known->definition->guard_count && !hbg__match_values(call, known->definition)) return false;
    g->recording->bodies_replayed++;
    g->repeat.note++;
    g->repeat.calls++;
    *task = (struct hbg_task){ g->task_count++, g->serial };
    return true;
}

/* ---- again --------------------------------------------------------------------------------------------------------- */

bool hbg__submit_body_again(struct hbg__again *again, const struct hbg__note *note)
{
    struct hbg_graph *g = again->g;
    const struct hbg__task_record *r = hbg__image_record(again->payload, again->record);
    struct hbg__definition *d = g->repeat_definitions[g->notes.word[note->first]];
    const uint32_t *word = &g->notes.word[note->first + WORDS_BEFORE];
    struct hbg__call call = { .g = g, .fn = d->key.fn, .key = d->key, .list = { .count = note->count } };
    if (!hbg__recall_list(again, hbg__image_submission_args(again->payload, r), word, NULL, &call.list)) return false;
    const struct hbg__definition_arg *of = d->arg;
    for (uint32_t i = 0; i < note->count; i++) {
        if (word[2 * i] == HBG_ARG_AFTER) continue;
        if (word[2 * i] == HBG_ARG_UNTRACKED) g->repeat_args[i].u.region.flags |= of->arg.u.region.flags & HBG_REGION_READ_ONLY;
        of++;
    }
    hbg__definition_pin(d);
    const struct hbg__known *known = hbg__know(g, d);
    if (!known) return false;
    bool fits = hbg__match_positions(&call, d);     /* as it did before */
    HBG_ASSERT(fits || g->failed);
    if (!fits) return false;
    g->recording->bodies_replayed++;
    hbg__note_submission(g, known, call.list);
    struct hbg_task task = hbg__submit_definition(&call, known);
    HBG_ASSERT(g->failed || task.id == again->record);
    again->record = task.id + 1;
    return !g->failed;
}
