/* SPDX-License-Identifier: Apache-2.0 */
/* submission.c - the one record that submits a definition: {boundary, what the definition names, struct hbg__submission}.
 *
 * To the build around it is a task that accesses its boundary as the list says, and all of the buffers that its body names. Cost: for
 * each argument what a submit costs that knows the layout already; nothing depends on the size of the body.
 */
#include <string.h>

#include "base/bits.h"
#include "base/plural.h"
#include "graph/append.h"
#include "graph/body.h"
#include "graph/short_way.h"

enum { LAYOUT_UNKNOWN = 0 };

static struct hbg_task no_task(const struct hbg_graph *g) { return (struct hbg_task){ UINT32_MAX, g->serial }; }

/* ---- the life of the tables --------------------------------------------------------------------------------------------- */

bool hbg__bodies_create(struct hbg_graph *g)
{
    g->bodies = HBG__NEW(g->memory, struct hbg__bodies);
    if (!g->bodies) return false;
    hbg__map_u64_init(&g->bodies->by_key, g->memory);
    hbg__map_u64_init(&g->bodies->by_definition, g->memory);
    return true;
}

void hbg__bodies_begin(struct hbg_graph *g)
{
    struct hbg__bodies *b = g->bodies;
    hbg__known_begin(g);
    b->extra_count = b->layout_count = b->submission_count = 0;
    b->slots = b->activations = b->bases = b->task_count = 0;
}

void hbg__bodies_destroy(struct hbg_graph *g)
{
    struct hbg__bodies *b = g->bodies;
    struct hbg__buffer_ops none = { .drop = NULL };
    if (!b) return;
    hbg__recording_release(&b->recording, g->memory, &none);
    hbg__known_free(g);
    hbg__free(g->memory, b->extra, b->extra_capacity * sizeof *b->extra, 16);
    hbg__free(g->memory, b->layout, b->layout_capacity * sizeof *b->layout, 16);
    hbg__free(g->memory, b->submission, b->submission_capacity * sizeof *b->submission, 16);
    hbg__free(g->memory, b->storage, b->storage_capacity * sizeof *b->storage, 16);
    hbg__free(g->memory, b->settled, b->settled_capacity * sizeof *b->settled, 16);
    hbg__free(g->memory, b->given, b->given_capacity * sizeof *b->given, 16);
    hbg__free(g->memory, b->alias, b->alias_capacity * sizeof *b->alias, 16);
    hbg__free(g->memory, b->arg, b->arg_capacity * sizeof *b->arg, 16);
    hbg__free(g->memory, b->group, b->group_capacity * sizeof *b->group, 16);
    HBG__DELETE(g->memory, b);
    g->bodies = NULL;
}

void hbg__bodies_seal(struct hbg_graph *g, uint32_t base_count)
{
    const struct hbg__bodies *b = g->bodies;
    for (uint32_t i = 0; i < b->submission_count; i++) {
        struct hbg__submission *s = (struct hbg__submission *)(void *)(g->payload + (size_t)b->submission[i] * 8);
        s->slots += g->task_count;
        s->bases += base_count;
    }
}

/* ---- a definition becomes known to this build --------------------------------------------------------------------------- */

static const struct hbg__known *know(struct hbg_graph *g, struct hbg__definition *d, bool is_inside);

/* One thing that the definition names, in terms of this build; of one inside of another, what it captures is of the build of that one, which alone
   submits it. False: latched. */
static bool pass_on(struct hbg_graph *g, const struct hbg__named *named, bool is_inside, struct hbg__extra *extra)
{
    const struct hbg__storage *s;
    *extra = (struct hbg__extra){ .home = HBG__NIL };
    if (is_inside && (named->kind == HBG__NAMED_SCALAR || named->kind == HBG__NAMED_STORAGE)) return true;
    if (named->kind == HBG__NAMED_SCALAR) {
        extra->arg.base = named->handle;
        return true;
    }
    if (named->kind == HBG__NAMED_DEFINITION) {
        hbg__definition_pin(named->definition);
        const struct hbg__known *known = know(g, named->definition, true);
        if (known) extra->arg.base = known->base;
        return known != NULL;
    }
    struct hbg_region buffer = { .flags = HBG_REGION_BUFFER, .storage = named->handle, .dtype = HBG_U8 };
    s = named->kind == HBG__NAMED_BUFFER ? hbg__storage_of(g, &buffer, -1) : &g->storages[named->handle];
    if (!s) return false;
    *extra = (struct hbg__extra){ .arg = { .word = (uint64_t)s->word_bias, .base = s->base }, .home = s->home, .writes = named->is_written };
    return true;
}

/* The place in the base table; the recording takes the pin. */
static bool name_definition(struct hbg_graph *g, struct hbg__definition *d, uint32_t *base)
{
    if (!hbg__name_room(g)) {
        hbg__definition_unpin(d);
        return false;
    }
    *base = hbg__name(g, (struct hbg__named){ .kind = HBG__NAMED_DEFINITION, .definition = d });
    return true;
}

static const struct hbg__known *know(struct hbg_graph *g, struct hbg__definition *d, bool is_inside)
{
    struct hbg__bodies *b = g->bodies;
    const struct hbg__known *before = hbg__known_find(b, d);
    if (before) {                       /* inside of another one it may have been met before */
        hbg__definition_unpin(d);
        return before;
    }
    struct hbg__known known = { .definition = d };
    if (!name_definition(g, d, &known.base)) return NULL;
    for (uint32_t i = 0; i < d->named_count; i++) {     /* those of inner definitions come first */
        struct hbg__extra unused;
        if (d->named[i].kind == HBG__NAMED_DEFINITION && !pass_on(g, &d->named[i], is_inside, &unused)) return NULL;
    }
    known.extra = b->extra_count;
    known.layout = b->layout_count;
    if (!hbg__graph_reserve(g, (void **)&b->extra, &b->extra_capacity, b->extra_count + d->named_count, sizeof *b->extra) ||
        !hbg__graph_reserve(g, (void **)&b->layout, &b->layout_capacity, b->layout_count + d->arg_count, sizeof *b->layout)) return NULL;
    for (uint32_t i = 0; i < d->named_count; i++)
        if (!pass_on(g, &d->named[i], is_inside, &b->extra[known.extra + i])) return NULL;
    if (d->arg_count) memset(b->layout + known.layout, 0, d->arg_count * sizeof *b->layout);
    b->extra_count += d->named_count;
    b->layout_count += d->arg_count;
    return hbg__known_add(g, known);
}

const struct hbg__known *hbg__know(struct hbg_graph *g, struct hbg__definition *d) { return know(g, d, false); }

/* ---- arguments ------------------------------------------------------------------------------------------------------------ */

static inline struct hbg_view_arg *arg_at(const struct hbg_graph *g, uint32_t i)
{
    return (struct hbg_view_arg *)(void *)(g->payload + (size_t)g->payload_top * 8) + i;
}

/* A whole cell, or all of a storage, with a plain history: like hbg__short_region(), but the layout is known by its number. */
static inline bool put_short(struct hbg_graph *g, struct hbg__short_task *t, const struct hbg__storage *own, const struct hbg_region *r, uint32_t layout, bool writes)
{
    const struct hbg__storage *home = &g->storages[own->home];
    uint32_t cell;
    if (layout == home->cell_layout && home->cell_type != HBG__NO_TYPE)
        return hbg__hazard_fast_cell(home, r->offset_bytes + own->displacement - home->fast_origin, &cell) && hbg__short_cell(g, t, own->home, cell, writes);
    if (own != home || layout != home->whole_layout || home->irregular || home->grid || r->offset_bytes || home->flags & HBG__STORAGE_SHARED) return false;
    if (hbg__is_unwritten(home)) return !writes;
    if (!writes) hbg__short_mark(g, t, home->writer);
    else if (!hbg__short_history(g, t, home->writer, home->readers)) return false;
    *t->noted++ = (struct hbg__short_access){ HBG__NIL, 2 * own->home + writes };
    return true;
}

/* What nobody is ordered by lies in its storage all the same. */
static HBG_NO_INLINE bool put_untracked(struct hbg_graph *g, uint32_t position, const struct hbg__storage *own, const struct hbg_region *r, uint32_t layout)
{
    struct hbg__access unused;
    unused.writes = false;
    if (layout == own->whole_layout && r->offset_bytes == 0) return true;
    return hbg__hazard_classify(g, own->home, r->offset_bytes + own->displacement, r, (int)position, &unused);
}

static HBG_NO_INLINE bool put_general(struct hbg_graph *g, uint32_t position, uint32_t storage, const struct hbg_region *r, bool writes)
{
    const struct hbg__storage *own = &g->storages[storage];
    struct hbg__access *access = &g->accesses[g->access_count];
    access->writes = writes;
    if (!hbg__hazard_classify(g, own->home, r->offset_bytes + own->displacement, r, (int)position, access)) return false;
    if (access->place == HBG__ACCESS_NONE) return true;
    g->access_count++;
    return hbg__hazard_collect(g, access);
}

static inline bool put_region(struct hbg_graph *g, struct hbg__short_task *t, uint32_t position, const struct hbg_arg *given, uint32_t *layout)
{
    uint32_t storage = g->bodies->storage[position];
    const struct hbg_region *r = &given->u.region;
    if (HBG_UNLIKELY(*layout == LAYOUT_UNKNOWN) && !(*layout = hbg__layout_of_region(g, r))) return false;
    const struct hbg__storage *own = &g->storages[storage];
    *arg_at(g, position) = (struct hbg_view_arg){ (uint64_t)(r->offset_bytes + own->word_bias), own->base, *layout };
    if (HBG_UNLIKELY(given->kind == HBG_ARG_UNTRACKED)) return put_untracked(g, position, own, r, *layout);
    bool writes = given->kind != HBG_ARG_IN;
    if (HBG_UNLIKELY(t->producer > t->mark + HBG__SHORT_TASK_MARKS - HBG__SHORT_MARKS) && !hbg__short_take_marks(g, t)) return false;
    return HBG_LIKELY(put_short(g, t, own, r, *layout, writes)) || put_general(g, position, storage, r, writes);
}

static inline bool put_scalar(struct hbg_graph *g, uint32_t position, const struct hbg_arg *given)
{
    const struct hbg_args *boundary;
    uint32_t at = HBG__NIL, layout = g->scalar_layouts[given->dtype];
    uint64_t bits = given->u.bits;
    if (given->kind == HBG_ARG_BOUND) {
        if (!hbg__scalar_origin(g, given->u.boundary, given->index, &boundary, &at)) {
            hbg__graph_fail(g, HBG_E_ACCESS, (int)position, "", "argument %u binds a boundary position that is no scalar", position);
            return false;
        }
        bits = at == HBG__NIL ? boundary->arg[given->index].u.bits : 0;
    }
    if (!layout && !(layout = hbg__layout_of_scalar(g, given->dtype))) return false;
    *arg_at(g, position) = (struct hbg_view_arg){ bits, at == HBG__NIL ? HBG__BASE_ZERO : HBG__BASE_BOUNDARY + at, layout };
    return true;
}

static bool put_after(struct hbg__call *call, const struct hbg_arg *given)
{
    struct hbg_graph *g = call->g;
    struct hbg_task task = given->u.task;
    if (task.graph == g->serial && task.id < g->task_count) return hbg__producer_add(g, task.id + 1);
    hbg__graph_fail(g, HBG_E_TASK_ID, -1, call->key.name, "hbg_after of subgraph \"%.60s\" names task %u of %s", call->key.name, task.id,
                    task.graph == g->serial ? "this graph, which has not been submitted" : "another graph or body");
    return false;
}

static bool put_boundary(struct hbg__call *call, const struct hbg__known *known)
{
    struct hbg_graph *g = call->g;
    struct hbg__short_task t;
    uint32_t *layout = g->bodies->layout + known->layout, position = 0;
    t.nobody = 0;
    t.mixed = true;
    t.noted = g->bodies->settled;       /* there is room for all */
    t.producer = t.mark;
    for (const struct hbg_arg *given = call->list.arg, *end = given + call->list.count; given != end; given++) {
        if (HBG_UNLIKELY(given->kind == HBG_ARG_AFTER)) {
            if (!put_after(call, given)) return false;
            continue;
        }
        if (given->kind - 1u < HBG_ARG_UNTRACKED ? !put_region(g, &t, position, given, &layout[position]) : !put_scalar(g, position, given)) return false;
        position++;
    }
    g->bodies->settled_count = (uint32_t)(t.noted - g->bodies->settled);
    return hbg__short_take_marks(g, &t);
}

static bool put_extras(struct hbg_graph *g, const struct hbg__known *known)
{
    const struct hbg__definition *d = known->definition;
    for (uint32_t i = 0; i < d->named_count; i++) {
        const struct hbg__extra *extra = &g->bodies->extra[known->extra + i];
        *arg_at(g, d->arg_count + i) = extra->arg;
        if (extra->home == HBG__NIL) continue;
        struct hbg__access *access = &g->accesses[g->access_count++];
        *access = (struct hbg__access){ .home = extra->home, .place = HBG__ACCESS_WHOLE, .writes = extra->writes };
        if (g->storages[extra->home].size_bytes == 0) access->place = HBG__ACCESS_NONE;
        if (!hbg__hazard_collect(g, access)) return false;
    }
    return true;
}

/* ---- the record ----------------------------------------------------------------------------------------------------------- */

/* Values of its base table, and of those of submissions inside. */
static uint64_t bases_of(const struct hbg__definition *d) { return (uint64_t)d->head->base_count + d->head->base_total; }

static bool has_slots(const struct hbg_graph *g, const struct hbg__definition *d)
{
    return g->task_count + g->bodies->slots + d->head->slot_count < HBG__TASKS_MAX;
}

static HBG_COLD bool fail_limit(struct hbg_graph *g, const struct hbg__definition *d)
{
    if (g->input->limit_tasks && hbg__tasks_used(g) + d->task_count > g->input->limit_tasks)
        hbg__graph_fail_limit(g, "limit_tasks", hbg__tasks_used(g), g->input->limit_tasks, d->task_count, "raise limit_tasks in the program's options");
    else if (!has_slots(g, d))
        hbg__graph_fail_limit(g, "tasks of one graph, with those of bodies", g->task_count + g->bodies->slots, HBG__TASKS_MAX, d->head->slot_count, "split the graph");
    else
        hbg__graph_fail_limit(g, "entries of base tables of one graph", g->bodies->bases, UINT32_MAX, bases_of(d), "pass bodies fewer, larger regions, or split the graph");
    return false;
}

static bool is_within_limits(struct hbg_graph *g, const struct hbg__definition *d)
{
    bool within = (!g->input->limit_tasks || hbg__tasks_used(g) + d->task_count <= g->input->limit_tasks) && has_slots(g, d) &&
                  g->bodies->bases + bases_of(d) <= UINT32_MAX;
    return HBG_LIKELY(within) || fail_limit(g, d);
}

static bool make_room(struct hbg_graph *g, const struct hbg__definition *d)
{
    struct hbg__bodies *b = g->bodies;
    uint32_t args = d->arg_count + d->named_count;
    return (g->task_count < g->task_limit || hbg__tasks_grow(g)) && hbg__payload_fit(g, 2 * (uint64_t)args + HBG__SUBMISSION_UNITS) &&
           hbg__graph_reserve(g, (void **)&g->accesses, &g->access_capacity, args + 1, sizeof *g->accesses) &&
           hbg__graph_reserve(g, (void **)&b->settled, &b->settled_capacity, args, sizeof *b->settled) &&
           hbg__graph_reserve(g, (void **)&b->submission, &b->submission_capacity, b->submission_count + 1, sizeof *b->submission);
}

/* Its parts of the zones of a run, and the struct that says where they are. */
static void write_submission(struct hbg_graph *g, const struct hbg__known *known, uint64_t heap)
{
    struct hbg__bodies *b = g->bodies;
    const struct hbg__image_head *head = known->definition->head;
    uint32_t args = known->definition->arg_count + known->definition->named_count;
    struct hbg__submission *s = (struct hbg__submission *)(void *)arg_at(g, args);
    *s = (struct hbg__submission){ .heap = heap, .slots = (uint32_t)b->slots, .activation = (uint32_t)b->activations + 1, .bases = (uint32_t)b->bases,
                                   .definition = known->base, .slot_count = head->slot_count, .arg_count = args };
    b->slots += head->slot_count;
    b->activations += 1 + (uint64_t)head->activation_count;
    b->bases += bases_of(known->definition);
    b->task_count += known->definition->task_count;
}

struct hbg_task hbg__submit_definition(struct hbg__call *call, const struct hbg__known *found)
{
    struct hbg_graph *g = call->g;
    const struct hbg__known known = *found;
    const struct hbg__definition *d = known.definition;
    uint64_t heap = 0, heap_bytes = d->head->heap_bytes;
    uint32_t tenant = 0, units = 2 * (d->arg_count + d->named_count) + HBG__SUBMISSION_UNITS;
    if (!is_within_limits(g, d) || (g->regrid_home != HBG__NIL && !hbg__hazard_regrid(g)) || !make_room(g, d)) return no_task(g);
    g->producers.count = g->access_count = g->bodies->settled_count = 0;
    g->pending_units = 0;
    if (heap_bytes && !hbg__heap_take(g, hbg__round_up(heap_bytes, HBG__LINE), &heap, &tenant)) return no_task(g);
    if (!make_room(g, d)) return no_task(g);      /* heap_take may have appended noops */
    g->pending_units = units;
    if (!hbg__producer_add(g, tenant)) return no_task(g);
    if (!put_boundary(call, &known)) {
        hbg__say_argument(g, call->key.name);
        return no_task(g);
    }
    if (!put_extras(g, &known)) return no_task(g);
    write_submission(g, &known, heap);
    struct hbg_task task = hbg__submit_append(g, 0, 0, HBG__TASK_SUBGRAPH, units, g->bodies->settled, g->bodies->settled_count);
    if (g->failed) return no_task(g);
    g->bodies->submission[g->bodies->submission_count++] = hbg__record_at(g, task.id)->args - HBG__SUBMISSION_UNITS;
    if (HBG_UNLIKELY(g->input->limit_tasks != 0)) hbg__short_tasks_renew(g);
    if (heap_bytes && !hbg__heap_give(g, heap, hbg__round_up(heap_bytes, HBG__LINE), task.id + 1)) return no_task(g);
    return task;
}
