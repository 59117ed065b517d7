/* SPDX-License-Identifier: Apache-2.0 */
/* written.c - see written.h.
 *
 * The hazard map answers at once when nobody has written there. It may say yes too often: a noop stands for writers of other bytes,
 * a cell for all that was written in it. Then the arguments of the tasks decide, as they stand in the image.
 */
#include "graph/written.h"
#include "graph/body.h"
#include "graph/hazard_grid.h"
#include "graph/hazard_map.h"
#include "graph/region_overlap.h"

/* The open manual scope enters its accesses when it ends: until then they are looked through one by one. */
static bool written_in_manual_scope(const struct hbg_graph *g, const struct hbg__access *access)
{
    for (uint32_t i = 0; g->manual && i < g->manual_count; i++) {
        const struct hbg__access *other = &g->manual_accesses[i];
        if (!other->writes || other->home != access->home) continue;
        if (access->place == HBG__ACCESS_WHOLE || other->place == HBG__ACCESS_WHOLE) return true;
        if (hbg__view_overlap(&other->view, &access->view) != HBG__DISJOINT) return true;
    }
    return false;
}

/* The storage that a base table entry stands for, of a boundary region or a device buffer; NULL: of none. */
static const struct hbg__storage *storage_of_base(const struct hbg_graph *g, uint32_t base)
{
    uint32_t position = base - HBG__BASE_BOUNDARY, boundary = g->input->boundary.arg_count;
    if (base < HBG__BASE_BOUNDARY) return NULL;
    if (position < boundary) return g->storages[position].group == UINT32_MAX ? NULL : &g->storages[position];
    for (uint32_t i = boundary; i < g->storage_count; i++)
        if (g->storages[i].base == base) return &g->storages[i];
    return NULL;
}

static bool argument_touches(const struct hbg_graph *g, const struct hbg_view_arg *arg, const struct hbg__access *access)
{
    const struct hbg__storage *s = storage_of_base(g, arg->base);
    struct hbg__view view;
    if (!s || s->home != access->home) return false;
    const struct hbg_layout *l = hbg__layout_at(g, arg->layout);
    int64_t off = (int64_t)arg->word - s->word_bias + s->displacement;
    return hbg__view_canonical(&view, off, l->element_bytes, l->rank, l->shape, l->stride_bytes) &&
           hbg__view_overlap(&view, &access->view) != HBG__DISJOINT;
}

/* A submission writes what its list says, and what its body does with buffers that it names. */
static bool submission_writes(const struct hbg_graph *g, const struct hbg__task_record *r, const struct hbg__access *access)
{
    const struct hbg_view_arg *arg = hbg__image_at(g->payload, r->args);
    const struct hbg__submission *s = hbg__image_at(g->payload, r->args - HBG__SUBMISSION_UNITS);
    const struct hbg__definition *d = g->recording->named[s->definition - HBG__BASE_BOUNDARY - g->recording->boundary_count].definition;
    for (uint32_t i = 0; i < d->arg_count; i++) {
        uint16_t kind = d->arg[i].arg.kind;
        if ((kind == HBG_ARG_OUT || kind == HBG_ARG_INOUT) && argument_touches(g, &arg[i], access)) return true;
    }
    for (uint32_t i = 0; i < d->named_count; i++) {
        const struct hbg__storage *named = d->named[i].is_written ? storage_of_base(g, arg[d->arg_count + i].base) : NULL;
        if (named && named->home == access->home) return true;
    }
    return false;
}

static bool task_writes(const struct hbg_graph *g, uint32_t task, const struct hbg__access *access)
{
    const struct hbg__task_record *r = hbg__image_record(g->payload, task);
    if (r->flags & HBG__TASK_NOOP) return false;
    if (r->flags & HBG__TASK_SUBGRAPH) return submission_writes(g, r, access);
    const struct hbg_view_arg *arg = hbg__image_at(g->payload, r->args);
    const struct hbg__signature *sig = &g->input->signatures[r->kernel];
    for (uint32_t i = 0; i < r->arg_count; i++)
        if ((!sig->given || sig->kind[i] == HBG_ARG_OUT || sig->kind[i] == HBG_ARG_INOUT) && argument_touches(g, &arg[i], access)) return true;
    return false;
}

/* Collect the producers, but leave no trace in what the build decides by: no noops, and no work that counts. */
static bool look(struct hbg_graph *g, const struct hbg__access *access)
{
    struct hbg__storage *s = &g->storages[access->home];
    struct hbg__grid *grid = s->grid ? hbg__grid_at(g, s->grid) : NULL;
    bool manual = g->manual;
    uint64_t looks = g->looks, search_excess = s->search_excess, excess = grid ? grid->excess : 0;
    g->producers.count = 0;
    g->manual = true;                   /* no noops */
    bool known = hbg__hazard_collect(g, access);
    g->manual = manual;
    g->looks = looks;
    s->search_excess = search_excess;
    if (grid) grid->excess = excess;
    return known;
}

bool hbg__written_by(struct hbg_graph *g, const struct hbg__access *access, uint32_t *task)
{
    const struct hbg__storage *s = &g->storages[access->home];
    *task = HBG__NIL;
    if (written_in_manual_scope(g, access)) { *task = g->manual_begin - 1; return true; }
    if ((s->writer | s->part_writer) == 0) return true;
    if (!look(g, access)) return false;
    for (uint32_t i = g->task_count; g->producers.count > 0 && i > 0 && *task == HBG__NIL; i--)
        if (task_writes(g, i - 1, access)) *task = i - 1;
    return true;
}
