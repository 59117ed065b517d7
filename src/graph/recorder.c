/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.c - a body becomes a definition: it is built like a program, by a build state of its own, with the list as its boundary.
 *
 * The image is built in an arena that is kept for this, and copied into a block of its size. What it names (buffers, definitions) is
 * held by the recording, and then by the definition. Guards are those of the body alone; what it asked was asked of the build around,
 * which has guards of its own for it.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "graph/append.h"
#include "graph/body.h"
#include "graph/hazard_map.h"

/* ---- the build --------------------------------------------------------------------------------------------------------- */

/* A build state and an arena for the bodies of g. False: latched. */
static bool open_inner(struct hbg_graph *g)
{
    struct hbg__arena *arena = &g->bodies->recording.arena;
    if (!g->inner && hbg__graph_create(g->memory, g->reserve_bytes, &g->inner)) { hbg__graph_fail_memory(g, "the build of a body"); return false; }
    if (!arena->origin && !hbg__arena_open(arena, (size_t)g->reserve_bytes, true)) { hbg__graph_fail_memory(g, "the image of a body"); return false; }
    return true;
}

/* Of the heap's limit, what a body cannot have: its intermediates lie in one piece. */
static uint64_t heap_outside(const struct hbg_graph *g)
{
    return g->input->limit_heap_bytes ? g->input->limit_heap_bytes - hbg__heap_room(g) / HBG__LINE * HBG__LINE : 0;
}

/* How a body is recorded, beside its key and list. */
struct terms {
    bool wholes, serial;                /* as in struct hbg__build_input */
    uint64_t heap_outside_bytes;
};

/* Build the body into g->bodies->recording. False: latched, with the name of the body. */
static bool build(struct hbg__call *call, struct terms terms, uint32_t groups)
{
    struct hbg_graph *g = call->g;
    const struct hbg__build_input *in = g->input;
    struct hbg_error error = { .size = sizeof error };
    struct hbg__body body = { g, call->arg, call->bound, call->count, in->body ? in->body->depth + 1 : 1 };
    if (!open_inner(g)) return false;
    if (HBG_UNLIKELY(in->poison != NULL)) in->poison(&g->bodies->recording.arena);
    struct hbg__build_input inner = *in;
    inner.build = call->fn;
    inner.params = call->key.params;
    inner.tasks_outside = hbg__tasks_used(g);
    inner.heap_outside_bytes = terms.heap_outside_bytes;
    inner.record = true;
    inner.repeats = false;
    inner.wholes = terms.wholes;
    inner.serial = terms.serial;
    inner.body = &body;
    inner.boundary = (struct hbg__boundary){ .arg = g->bodies->arg, .arg_count = call->count, .group = g->bodies->group, .group_count = groups };
    g->inner_open = true;
    uint32_t short_kernels = g->short_kernels;
    g->short_kernels = 0;
    enum hbg_status status = hbg__graph_build(g->inner, &inner, &g->bodies->recording, &error);
    g->inner_open = false;
    g->short_kernels = short_kernels;
    if (status && !g->failed) {
        hbg__graph_fail(g, status, -1, "", "%s", "");
        g->error = error;
        g->error.size = sizeof g->error;
    }
    if (g->failed) {
        hbg__say_where(g, call->key.name);
        hbg__recording_reset(&g->bodies->recording, &in->buffers);
    }
    return !g->failed;
}

/* ---- the definition ---------------------------------------------------------------------------------------------------- */

/* Of what the body has named beside its boundary: has a task of it written there? */
static void mark_written(const struct hbg_graph *inner, const struct hbg__recording *r)
{
    uint32_t first = HBG__BASE_BOUNDARY + r->boundary_count;
    for (uint32_t i = r->boundary_count; i < inner->storage_count; i++) {
        const struct hbg__storage *s = &inner->storages[i];
        if (s->base < first || s->base - first >= r->named_count) continue;
        r->named[s->base - first].is_written = (inner->storages[s->home].writer | inner->storages[s->home].part_writer) != 0;
    }
}

static void copy_boundary(struct hbg__definition *d, const struct hbg__bodies *b)
{
    uint32_t highest = 0;
    for (uint32_t i = 0; i < d->arg_count; i++) {
        const struct hbg__boundary_arg *was = &b->arg[i];
        const struct hbg_region *r = &was->arg.u.region;
        d->arg[i] = (struct hbg__definition_arg){ .arg = was->arg, .group = was->group, .displacement = was->displacement };
        if (was->group == UINT32_MAX) continue;
        for (int k = 0; k < r->rank; k++) d->arg[i].is_empty = d->arg[i].is_empty || r->shape[k] == 0;
        d->shares = d->shares || (highest > was->group);
        if (was->group >= highest) highest = was->group + 1;
    }
}

static void copy_guards(struct hbg__definition *d, const struct hbg__guards *guards)
{
    if (guards->count) memcpy(d->guard, guards->item, guards->count * sizeof *d->guard);
    if (guards->bytes_used) memcpy(d->guard_bytes, guards->bytes, guards->bytes_used);
}

static bool reads_data(const struct hbg__definition *d)
{
    for (uint32_t i = 0; i < d->guard_count; i++)
        if (d->guard[i].kind == HBG__GUARD_BYTES) return true;
    return false;
}

/* From here on the definition holds what the recording has named. NULL: latched. */
static struct hbg__definition *make(struct hbg__call *call, struct terms terms)
{
    struct hbg_graph *g = call->g, *inner = g->inner;
    struct hbg__recording *r = &g->bodies->recording;
    const struct hbg__guards *guards = r->guards;
    const struct hbg__body *around = g->input->body;
    struct hbg__definition *d = hbg__definition_create(g->input->definitions, &call->key, call->count, r->named_count, guards->count, guards->bytes_used, r->image_bytes);
    if (!d) { hbg__graph_fail_memory(g, "definitions"); return NULL; }
    mark_written(inner, r);
    if (r->named_count) memcpy(d->named, r->named, r->named_count * sizeof *d->named);
    d->levels = 1;
    d->depth = around ? around->depth : 0;
    d->too_deep = r->too_deep;
    for (uint32_t i = 0; i < r->named_count; i++) {
        const struct hbg__definition *inside = d->named[i].definition;
        if (inside && inside->levels >= d->levels) d->levels = inside->levels + 1;
        if (inside && inside->too_deep) d->too_deep = true;
        d->names_buffers = d->names_buffers || d->named[i].kind == HBG__NAMED_BUFFER;
    }
    d->depends_on_store = hbg__depends_on_store(r);
    r->named_count = 0;
    copy_boundary(d, g->bodies);
    copy_guards(d, guards);
    d->task_count = r->task_count;
    uint64_t growths = r->arena.growths;
    hbg__definition_take_image(d, r);
    g->bodies->growths += growths - r->arena.growths;
    d->wholes = terms.wholes;
    d->heap_outside_bytes = terms.heap_outside_bytes;
    d->heap_was_full = inner->heap_was_full;
    d->is_serial = terms.serial;
    d->single = inner->single ? inner->single : inner->is_serial && reads_data(d) ? "it reads data where it is not known how regions overlap" : NULL;
    for (uint32_t i = 0; i < d->guard_count; i++)
        if (d->guard[i].kind == HBG__GUARD_MEMORY) d->owner = g->input->owner;
    return d;
}

/* Bodies inside count as those of the build around do. */
static void take_counts(struct hbg__recording *to, const struct hbg__recording *from)
{
    to->bodies_recorded += from->bodies_recorded;
    to->bodies_replayed += from->bodies_replayed;
    to->bodies_in_place += from->bodies_in_place;
    for (int i = 0; i < HBG__BODY_MISSES; i++) to->bodies_missed[i] += from->bodies_missed[i];
    if (!to->why[0]) memcpy(to->why, from->why, sizeof to->why);
}

void hbg__say_single(struct hbg__call *call, const char *why)
{
    struct hbg__recording *r = call->g->recording;
    if (!r->why[0]) snprintf(r->why, sizeof r->why, "\"%.20s\" is not kept: %.56s", call->key.name, why);
}

/* Later bodies of this key are submitted in place: what they use cannot be found again. */
static bool keep_mark(struct hbg__call *call, const char *why)
{
    const struct hbg__log *log = call->g->input->log;
    if (log && hbg__log_wants(log, HBG_LOG_DEBUG)) hbg__log_write(log, HBG_LOG_DEBUG, "hbg: body \"%.60s\" is not kept, and submitted in place from now on: %s", call->key.name, why);
    struct hbg__definition *mark = hbg__definition_create(call->g->input->definitions, &call->key, 0, 0, 0, 0, 0);
    if (!mark) return false;
    mark->in_place = true;
    mark->single = why;
    bool kept = hbg__definition_keep(mark);
    hbg__definition_unpin(mark);
    return kept;
}

static bool group(struct hbg__call *call, uint32_t *groups)
{
    if (hbg__alias_groups(call->g, call->arg, call->count, groups)) return true;
    hbg__say_argument(call->g, call->key.name);
    return false;
}

/* What may overlap in ways that nobody knows is recorded for any distance, and one after the other. */
const struct hbg__known *hbg__record_body(struct hbg__call *call, bool wholes)
{
    struct hbg_graph *g = call->g;
    uint32_t groups;
    if (!group(call, &groups)) return NULL;
    struct terms terms = { .wholes = wholes || g->bodies->unknown, .serial = g->is_serial || g->bodies->unknown, .heap_outside_bytes = heap_outside(g) };
    if (!build(call, terms, groups)) return NULL;
    take_counts(g->recording, &g->bodies->recording);
    struct hbg__definition *d = make(call, terms);
    hbg__recording_reset(&g->bodies->recording, &g->input->buffers);
    if (!d) return NULL;
    g->recording->bodies_recorded++;
    if (d->single) hbg__say_single(call, d->single);
    if (d->single ? keep_mark(call, d->single) : hbg__definition_keep(d)) return hbg__know(g, d);
    hbg__graph_fail_memory(g, "definitions");
    hbg__definition_unpin(d);
    return NULL;
}

static bool is_same_image(const struct hbg__definition *a, const struct hbg__definition *b)
{
    return a->image_hash == b->image_hash && a->head->image_bytes == b->head->image_bytes && memcmp(a->head, b->head, a->head->image_bytes) == 0;
}

/* Of one function there may be several that fit; what another one submits must be the same. Bodies inside are named beside them. */
static bool is_same_body(const struct hbg__definition *a, const struct hbg__definition *b)
{
    const struct hbg__definition_key *x = &a->key, *y = &b->key;
    return a == b || (x->kernel_set == y->kernel_set && x->params_size == y->params_size && strcmp(x->name, y->name) == 0 &&
                      memcmp(x->params, y->params, x->params_size) == 0 && (x->fn == y->fn || is_same_image(a, b)));
}

bool hbg__name_the_same(const struct hbg__named *a, uint32_t a_count, const struct hbg__named *b, uint32_t b_count)
{
    if (a_count != b_count) return false;
    for (uint32_t i = 0; i < a_count; i++) {
        if (a[i].kind != b[i].kind || a[i].buffer != b[i].buffer || a[i].handle != b[i].handle) return false;
        if (a[i].definition && !is_same_body(a[i].definition, b[i].definition)) return false;
    }
    return true;
}

bool hbg__verify_body(struct hbg__call *call, const struct hbg__definition *d)
{
    struct hbg_graph *g = call->g;
    uint32_t groups;
    if (d->depends_on_store) return true;      /* and match.c lets it fit its own function alone */
    if (!group(call, &groups) || !build(call, (struct terms){ d->wholes, d->is_serial, d->heap_outside_bytes }, groups)) return false;
    const struct hbg__recording *again = &g->bodies->recording;
    bool same = again->image_bytes == d->head->image_bytes && memcmp(again->head, d->head, again->image_bytes) == 0 &&
                hbg__name_the_same(again->named, again->named_count, d->named, d->named_count);
    hbg__recording_reset(&g->bodies->recording, &g->input->buffers);
    if (!same)
        hbg__graph_fail(g, HBG_E_IMAGE, -1, call->key.name, "subgraph \"%.60s\": recording its body again gives another image: %s", call->key.name,
                        d->key.fn != call->fn ? "this is another function under the key of the first; each needs a name or parameters of its own"
                                              : "it depends on what is neither in its list nor in its key");
    return same;
}
