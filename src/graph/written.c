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
    const struct hbg_view_arg *arg = hbg__image_submission_args(g->payload, r);
    const struct hbg__submission *s = hbg__image_submission(g->payload, r);
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

/* ---- by another name ---------------------------------------------------------------------------------------------- */

/* Where element offset 0 of a storage's regions lies: at byte `off` of a home of the outermost build that passes it on. `handle` is the device buffer's
   that it is part of. */
struct origin { const struct hbg_graph *build; uint32_t home, handle; int64_t off; bool of_buffer; };

/* What a storage of a body stands for in the build around; NULL: it is the body's own, or a buffer that it names. *off grows by where it lies. */
static const struct hbg__storage *outside(const struct hbg_graph *g, const struct hbg__storage *s, int64_t *off)
{
    const struct hbg__body *body = g->input->body;
    uint32_t named = s->base - HBG__BASE_BOUNDARY - g->recording->boundary_count;
    if (body && s->group != UINT32_MAX) {
        const struct hbg_region *given = &body->arg[hbg__storage_index(g, s)].u.region;
        *off += given->offset_bytes;
        return hbg__storage_of(body->outer, given, -1);
    }
    if (!body || s->base < HBG__BASE_BOUNDARY + g->recording->boundary_count || g->recording->named[named].kind != HBG__NAMED_STORAGE) return NULL;
    return &body->outer->storages[g->recording->named[named].handle];
}

static struct origin origin_of(const struct hbg_graph *g, const struct hbg__storage *s)
{
    struct origin origin = { .off = 0 };
    for (const struct hbg__storage *next; (next = outside(g, s, &origin.off)) != NULL; s = next) g = g->input->body->outer;
    origin.build = g;
    origin.home = s->home;
    origin.off += s->displacement;
    origin.of_buffer = hbg__storage_handle(g, s, &origin.handle);
    return origin;
}

static bool is_written(const struct hbg_graph *g, uint32_t home)
{
    for (uint32_t i = 0; g->manual && i < g->manual_count; i++)
        if (g->manual_accesses[i].writes && g->manual_accesses[i].home == home) return true;
    return (g->storages[home].writer | g->storages[home].part_writer) != 0;
}

/* The bytes that regions of a storage may name, counted as their offsets are. */
static bool bounds_of(const struct hbg_graph *g, const struct hbg__storage *s, int64_t *lo, int64_t *hi)
{
    *lo = s->lower;
    *hi = (int64_t)s->size_bytes;
    if (s->group == UINT32_MAX) return true;
    const struct hbg_region *r = &g->input->boundary.arg[hbg__storage_index(g, s)].arg.u.region;
    return hbg__view_bounds(0, hbg_dtype_size(r->dtype), r->rank, r->shape, r->stride_bytes, lo, hi);
}

/* Does this body, or one around it, capture or name anything? Arguments of a body inside may be the same bytes, then. */
static bool has_other_names(const struct hbg_graph *g)
{
    for (; g->input->body; g = g->input->body->outer)
        if (g->recording->named_count > 0) return true;
    return false;
}

bool hbg__written_by_another_name(const struct hbg_graph *g, const struct hbg__storage *own, const struct hbg_region *x)
{
    int64_t lo, hi, first, end;
    if (!has_other_names(g)) return false;
    if (!hbg__view_bounds(x->offset_bytes, hbg_dtype_size(x->dtype), x->rank, x->shape, x->stride_bytes, &lo, &hi)) return false;
    struct origin here = origin_of(g, own);
    for (uint32_t i = 0; i < g->storage_count; i++) {
        const struct hbg__storage *s = &g->storages[i];
        if (s->base < HBG__BASE_BOUNDARY || (s->group == UINT32_MAX && i < g->input->boundary.arg_count)) continue;        /* an intermediate; a scalar */
        if ((s != own && s->home == own->home) || !is_written(g, s->home)) continue;
        if (s == own && own->group != UINT32_MAX) continue;
        struct origin there = origin_of(g, s);
        bool same = there.build == here.build && there.home == here.home;
        if (!same && here.of_buffer && there.of_buffer && here.handle == there.handle) return true;
        if (same && bounds_of(g, s, &first, &end) && lo + here.off < end + there.off && first + there.off < hi + here.off) return true;
    }
    return false;
}
