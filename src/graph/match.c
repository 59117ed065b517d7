/* SPDX-License-Identifier: Apache-2.0 */
/* match.c - does a definition fit a list? Everything that its body depended on must be as it was recorded.
 *
 *     number, kinds, types, shapes and strides     compared position by position
 *     which arguments share storage                each storage is stamped; only where one is met twice, or the definition was recorded
 *                                                  so, are ranges of bytes compared (alias.c)
 *     values, data, memory                         asked again of the build around, in the order in which the body asked: each question is one
 *                                                  that the body would put, since all before had the same answers
 *
 * What is asked becomes a guard of the build around. Definitions that this build has submitted are tried first: no lock is taken for them.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "graph/body.h"
#include "graph/hazard_map.h"

enum { AHEAD = 4 };                     /* arguments */

/* What a try has found out. */
struct match {
    struct hbg_graph *g;
    const struct hbg__definition *d;
    struct hbg_arg_list list;
    hbg_build_fn *fn;
    const char *what;                   /* the first thing that does not fit; NULL: all does */
    uint32_t arg;                       /* whose thing it is; HBG__NO_ARG: of none */
    enum hbg__body_miss reason;
    bool distance;                      /* it is the distance between arguments, and nothing else is known not to fit */
};

static bool miss(struct match *m, enum hbg__body_miss reason, uint32_t arg, const char *what)
{
    m->what = what;
    m->arg = arg;
    m->reason = reason;
    return false;
}

/* ---- positions ------------------------------------------------------------------------------------------------------ */

/* The storage that a region names; HBG__NIL: it is none that may be used, and a recording will say why. */
static inline uint32_t storage_of(struct hbg_graph *g, const struct hbg_region *r, uint32_t argument)
{
    uint32_t index;
    if (HBG_UNLIKELY(r->flags & ~HBG_REGION_READ_ONLY)) {
        if ((r->flags & ~HBG_REGION_READ_ONLY) != HBG_REGION_BUFFER) return HBG__NIL;
        index = g->buffer_cache[r->storage % 64].storage;
        if (g->buffer_cache[r->storage % 64].handle == r->storage && index < g->storage_count) return index;
        const struct hbg__storage *s = hbg__storage_of(g, r, (int)argument);
        return s ? hbg__storage_index(g, s) : HBG__NIL;
    }
    index = hbg__storage_numbered(g, r->storage);
    return index != HBG__NIL && !(g->storages[index].flags & HBG__STORAGE_FREED) ? index : HBG__NIL;
}

/* Does an argument lie in this buffer: one of the list, or of a body around? */
static bool is_argument(const struct match *m, uint32_t handle)
{
    const struct hbg_graph *g = m->g;
    uint32_t other;
    for (uint32_t i = 0; i < m->d->arg_count; i++)
        if (m->d->arg[i].arg.kind < HBG_ARG_SCALAR && hbg__storage_handle(g, &g->storages[g->bodies->storage[i]], &other) && other == handle) return true;
    return hbg__is_argument_of_body(g, handle);
}

/* Of the buffers that it names, are those in which arguments lie the same ones? A body that names one of these has its tasks run one after the other from there on. */
static HBG_NO_INLINE bool meets_the_same(const struct match *m)
{
    for (uint32_t i = 0; i < m->d->named_count; i++)
        if (m->d->named[i].kind == HBG__NAMED_BUFFER && is_argument(m, m->d->named[i].handle) != m->d->named[i].is_argument) return false;
    return true;
}

/* A region of the list at position i; *shared: its storage has been met before. */
static inline bool fits_region(struct match *m, uint32_t i, const struct hbg__definition_arg *was, const struct hbg_arg *given, bool *shared)
{
    struct hbg_graph *g = m->g;
    const struct hbg_region *r = &given->u.region;
    bool writes = given->kind == HBG_ARG_OUT || given->kind == HBG_ARG_INOUT;
    if (given->kind != was->arg.kind || (writes && r->flags & HBG_REGION_READ_ONLY)) return miss(m, HBG__BODY_MISS_SHAPE, i, "its access mode");
    if (given->kind == HBG_ARG_UNTRACKED && (r->flags ^ was->arg.u.region.flags) & HBG_REGION_READ_ONLY) return miss(m, HBG__BODY_MISS_SHAPE, i, "its access mode");
    if (!hbg__same_looks(r, &was->arg.u.region)) return miss(m, HBG__BODY_MISS_SHAPE, i, "its shape, strides or type");
    uint32_t index = storage_of(g, r, i);
    if (index == HBG__NIL) return miss(m, HBG__BODY_MISS_ALIAS, i, "its storage");
    g->bodies->storage[i] = index;
    if (was->is_empty) return true;
    struct hbg__storage *home = &g->storages[g->storages[index].home];
    if (home->seen == g->bodies->stamp) {
        *shared = true;
        if (home->flags & HBG__STORAGE_WHOLES) g->bodies->unknown = true;
    }
    home->seen = g->bodies->stamp;
    return true;
}

/* Where the storage of a region a few positions on is likely to stand: a look at it waits for memory otherwise. */
static inline void prefetch_storage(const struct hbg_graph *g, const struct hbg_region *r)
{
    uint32_t index = r->storage - g->storage_base;
    if (index >= g->storage_reach) return;
    const unsigned char *storage = (const unsigned char *)&g->storages[index];
    __builtin_prefetch(storage, 1);
    __builtin_prefetch(storage + HBG__LINE);
    __builtin_prefetch(storage + 3 * HBG__LINE, 1);
}

static inline bool fits_positions(struct match *m, bool *shared)
{
    struct hbg_graph *g = m->g;
    const struct hbg__definition_arg *was = m->d->arg;
    uint32_t i = 0;
    *shared = false;
    if (!hbg__graph_reserve(g, (void **)&g->bodies->storage, &g->bodies->storage_capacity, m->d->arg_count, sizeof(uint32_t))) return miss(m, HBG__BODY_MISS_SHAPE, HBG__NO_ARG, "no memory");
    g->bodies->stamp++;
    g->bodies->unknown = false;
    for (const struct hbg_arg *given = m->list.arg, *end = given + m->list.count; given != end; given++) {
        if (given->kind == HBG_ARG_AFTER) continue;
        if (i >= m->d->arg_count) return miss(m, HBG__BODY_MISS_SHAPE, HBG__NO_ARG, "the number of arguments");
        if (end - given > AHEAD) prefetch_storage(g, &given[AHEAD].u.region);
        if (given->kind - 1u < HBG_ARG_UNTRACKED) {
            if (!fits_region(m, i, was, given, shared)) return false;
        } else if ((given->kind != HBG_ARG_SCALAR && given->kind != HBG_ARG_BOUND) || was->arg.kind != HBG_ARG_SCALAR) {
            return miss(m, HBG__BODY_MISS_SHAPE, i, "its kind");
        } else if (given->dtype != was->arg.dtype) {
            return miss(m, HBG__BODY_MISS_SHAPE, i, "its type");
        }
        i++;
        was++;
    }
    if (i != m->d->arg_count) return miss(m, HBG__BODY_MISS_SHAPE, HBG__NO_ARG, "the number of arguments");
    if ((g->is_serial || g->bodies->unknown) != m->d->is_serial) return miss(m, HBG__BODY_MISS_ALIAS, HBG__NO_ARG, "whether it is known how arguments overlap");
    return HBG_LIKELY(!m->d->names_buffers) || m->d->is_serial || meets_the_same(m) || miss(m, HBG__BODY_MISS_ALIAS, HBG__NO_ARG, "arguments in buffers that it names");
}

/* ---- storage that is shared -------------------------------------------------------------------------------------------- */

/* The list without hbg_after, as alias.c wants it. */
static bool gather_list(struct match *m)
{
    struct hbg__bodies *b = m->g->bodies;
    uint32_t i = 0;
    if (!hbg__graph_reserve(m->g, (void **)&b->given, &b->given_capacity, m->d->arg_count, sizeof *b->given)) return false;
    for (size_t k = 0; k < m->list.count; k++)
        if (m->list.arg[k].kind != HBG_ARG_AFTER) b->given[i++] = m->list.arg[k];
    return true;
}

static bool fits_groups(struct match *m)
{
    const struct hbg__bodies *b = m->g->bodies;
    uint32_t groups;
    if (!gather_list(m) || !hbg__alias_groups(m->g, b->given, m->d->arg_count, &groups)) return miss(m, HBG__BODY_MISS_ALIAS, HBG__NO_ARG, "no memory");
    for (uint32_t i = 0; i < m->d->arg_count; i++)
        if (b->arg[i].arg.kind < HBG_ARG_SCALAR && b->arg[i].group != m->d->arg[i].group) return miss(m, HBG__BODY_MISS_ALIAS, i, "which others share its storage");
    for (uint32_t i = 0; i < m->d->arg_count && !m->d->wholes; i++) {
        if (b->arg[i].arg.kind >= HBG_ARG_SCALAR || b->arg[i].displacement == m->d->arg[i].displacement) continue;
        m->distance = true;
        return miss(m, HBG__BODY_MISS_ALIAS, i, "its distance from others in its storage");
    }
    return true;
}

/* ---- values ------------------------------------------------------------------------------------------------------------ */

/* The argument at a position. */
static const struct hbg_arg *given_at(const struct match *m, uint32_t position)
{
    const struct hbg_arg *given = m->list.arg;
    if (m->list.count == m->d->arg_count) return &given[position];      /* none takes no position */
    for (;; given++) {
        if (given->kind == HBG_ARG_AFTER) continue;
        if (position-- == 0) return given;
    }
}

static bool fits_value(struct match *m, const struct hbg__guard *guard)
{
    const struct hbg_arg *given = given_at(m, guard->group);
    const struct hbg_args *boundary;
    uint32_t position = HBG__NIL;
    uint64_t bits = given->u.bits;
    if (given->kind == HBG_ARG_BOUND) {
        if (!hbg__scalar_origin(m->g, given->u.boundary, given->index, &boundary, &position)) return miss(m, HBG__BODY_MISS_VALUE, guard->group, "what it is bound to");
        bits = boundary->arg[given->index].u.bits;
    }
    if (bits != guard->offset) return miss(m, HBG__BODY_MISS_VALUE, guard->group, "its value, which the body looked at");
    return position == HBG__NIL || hbg__guard_scalar(m->g, position, bits) || miss(m, HBG__BODY_MISS_VALUE, HBG__NO_ARG, "no memory");
}

static bool fits_bytes(struct match *m, const struct hbg__guard *guard)
{
    const struct hbg_region *given = &given_at(m, guard->group)->u.region;
    struct hbg_region bytes = { .storage = given->storage, .flags = given->flags, .dtype = HBG_U8, .rank = 1, .shape = { (int64_t)guard->size_bytes },
                                .stride_bytes = { 1 }, .offset_bytes = given->offset_bytes + (int64_t)guard->offset };
    const void *seen = hbg__graph_read(m->g, bytes);
    if (!seen) {
        /* Neighbouring reads are one guard, and the body may not come to the later ones: it will ask for what it needs itself. */
        if (m->g->error.status == HBG_E_WRITTEN || m->g->error.status == HBG_E_ACCESS) hbg__graph_forgive(m->g);
        return miss(m, HBG__BODY_MISS_DATA, guard->group, "data that cannot be read");
    }
    return memcmp(seen, m->d->guard_bytes + guard->copy, guard->size_bytes) == 0 || miss(m, HBG__BODY_MISS_DATA, guard->group, "data in it that the body read");
}

static bool fits_values(struct match *m)
{
    for (uint32_t i = 0; i < m->d->guard_count; i++) {
        const struct hbg__guard *guard = &m->d->guard[i];
        const unsigned char *was = m->d->guard_bytes + guard->copy;
        if (guard->kind == HBG__GUARD_VALUE && !fits_value(m, guard)) return false;
        if (guard->kind == HBG__GUARD_BYTES && !fits_bytes(m, guard)) return false;
        if (guard->kind != HBG__GUARD_MEMORY) continue;
        if (!hbg__graph_guard(m->g, guard->memory, guard->size_bytes)) return miss(m, HBG__BODY_MISS_DATA, HBG__NO_ARG, "no memory");
        if (memcmp(guard->memory, was, guard->size_bytes) != 0) return miss(m, HBG__BODY_MISS_DATA, HBG__NO_ARG, "memory named by hbg_guard");
    }
    return true;
}

/* ---- the search ---------------------------------------------------------------------------------------------------------- */

static bool fits(struct match *m)
{
    bool shared;
    const struct hbg__body *around = m->g->input->body;
    uint32_t depth = around ? around->depth : 0;
    if (m->d->depends_on_store && m->d->key.fn != m->fn) return miss(m, HBG__BODY_MISS_DATA, HBG__NO_ARG, "its function, which cannot be compared");
    if (m->d->too_deep ? m->d->depth != depth : m->d->levels > HBG__BODY_DEPTH_MAX - depth) return miss(m, HBG__BODY_MISS_SHAPE, HBG__NO_ARG, "how deep it would be nested");
    if (m->d->owner && m->d->owner != m->g->input->owner) return miss(m, HBG__BODY_MISS_DATA, HBG__NO_ARG, "the program whose memory it is guarded by");
    if (m->g->input->limit_heap_bytes && m->d->head->heap_bytes > hbg__heap_room(m->g)) return miss(m, HBG__BODY_MISS_SHAPE, HBG__NO_ARG, "the heap that its intermediates need");
    return fits_positions(m, &shared) && (HBG_LIKELY(!shared && !m->d->shares) || fits_groups(m)) && (m->d->guard_count == 0 || fits_values(m));
}

bool hbg__match_values(struct hbg__call *call, const struct hbg__definition *d)
{
    struct match m = { .g = call->g, .d = d, .list = call->list, .fn = call->fn };
    return fits_values(&m);
}

bool hbg__match_positions(struct hbg__call *call, const struct hbg__definition *d)
{
    struct match m = { .g = call->g, .d = d, .list = call->list, .fn = call->fn };
    bool shared;
    return fits_positions(&m, &shared);
}

/* Equal keys? A hash of 0 is not known yet. Kernel tables are not looked at: a build has one, and the hash covers it. */
bool hbg__key_is(const struct hbg__definition_key *a, const struct hbg__definition_key *b)
{
    return (b->hash == 0 || a->hash == b->hash) && a->params_size == b->params_size && (a->name == b->name || strcmp(a->name, b->name) == 0) &&
           (a->params_size == 0 || memcmp(a->params, b->params, a->params_size) == 0);
}

/* Of definitions that were tried: none fits, for this reason first of all. */
static void say_miss(struct hbg__call *call, const struct match *m)
{
    struct hbg__recording *r = call->g->recording;
    const struct hbg__log *log = call->g->input->log;
    char text[sizeof r->why];
    if (m->arg == HBG__NO_ARG) snprintf(text, sizeof text, "\"%.30s\": %.47s", call->key.name, m->what);
    else snprintf(text, sizeof text, "\"%.20s\" argument %u: %.47s", call->key.name, m->arg, m->what);
    r->bodies_missed[m->reason]++;
    if (!r->why[0]) memcpy(r->why, text, sizeof text);
    if (log && hbg__log_wants(log, HBG_LOG_DEBUG)) hbg__log_write(log, HBG_LOG_DEBUG, "hbg: a body is recorded once more: %s", text);
}

/* Where two fit, the one with less order; so what is taken does not depend on which was made first. */
static uint32_t rank_of(const struct hbg__definition *d) { return 2u * d->wholes + d->heap_was_full; }

/* Try a definition that would be better than the best so far. */
static bool fits_better(struct hbg__call *call, const struct hbg__definition *d, uint32_t *best, struct match *first)
{
    struct match m = { .g = call->g, .d = d, .list = call->list, .fn = call->fn };
    if (rank_of(d) >= *best) return false;
    if (fits(&m)) {
        *best = rank_of(d);
        return true;
    }
    if (!first->what) *first = m;
    first->distance = first->distance || m.distance;
    return false;
}

uint64_t hbg__key_hash(const struct hbg__definition_key *key)
{
    return hbg__hash_bytes(key->params, key->params_size, hbg__hash_bytes(key->name, strlen(key->name), key->kernel_set)) | 1;
}

static HBG_NO_INLINE uint32_t newest_of_key(struct hbg__call *call)
{
    call->key.hash = hbg__key_hash(&call->key);
    return hbg__known_newest(call->g->bodies, call->key.hash);
}

static const struct hbg__known *find_known(struct hbg__call *call, uint32_t *best, struct match *first)
{
    struct hbg__bodies *b = call->g->bodies;
    const struct hbg__known *found = NULL, *known;
    uint32_t i = HBG_LIKELY(b->known_count <= HBG__FEW_KNOWN) ? b->known_count : newest_of_key(call);
    for (; i > 0 && !call->g->failed; i = known->older) {       /* the newest first */
        known = &b->known[i - 1];
        const struct hbg__definition *d = known->definition;
        if (d->single || !hbg__key_is(&d->key, &call->key) || !fits_better(call, d, best, first)) continue;
        found = known;
        if (*best == 0) break;
    }
    return found;
}

/* Are the buffers there that it names? One that is destroyed takes its definitions with it, but for those that are being looked at. */
static bool has_buffers(const struct hbg_graph *g, const struct hbg__definition *d)
{
    const struct hbg__buffer_ops *ops = &g->input->buffers;
    for (uint32_t i = 0; d->names_buffers && i < d->named_count; i++) {
        uint64_t size_bytes;
        bool foreign;
        if (d->named[i].buffer && ops->find(ops->user, d->named[i].handle, &size_bytes, &foreign) != d->named[i].buffer) return false;
    }
    return true;
}

/* One of the store, pinned, that is better than what was found so far; NULL: none. */
static struct hbg__definition *find_stored(struct hbg__call *call, uint32_t *best, struct match *first, bool *in_place)
{
    struct hbg_graph *g = call->g;
    struct hbg__definition *d = NULL, *found = NULL;
    const char *single = NULL;
    while (*best > 0 && !g->failed && (d = hbg__definition_next(g->input->definitions, &call->key, d)) != NULL) {
        if (d->in_place) {
            *in_place = true;
            if (!single) single = d->single;
        }
        if (d->in_place || hbg__known_find(g->bodies, d) || !has_buffers(g, d) || !fits_better(call, d, best, first)) continue;
        if (found) hbg__definition_unpin(found);
        hbg__definition_pin(d);
        found = d;
    }
    if (d) hbg__definition_unpin(d);
    if (single && !found) hbg__say_single(call, single);
    return found;
}

const struct hbg__known *hbg__match(struct hbg__call *call, bool *in_place, bool *wholes)
{
    struct hbg_graph *g = call->g;
    struct match first = { .what = NULL };
    uint32_t best = UINT32_MAX;
    *in_place = false;
    const struct hbg__known *known = find_known(call, &best, &first);
    if (!known) {
        if (!call->key.hash) call->key.hash = hbg__key_hash(&call->key);
        struct hbg__definition *stored = find_stored(call, &best, &first, in_place);
        if (stored) known = hbg__know(g, stored);
    }
    *wholes = first.distance;
    if (known) g->recording->bodies_replayed++;
    else if (first.what && !*in_place && !g->failed) say_miss(call, &first);
    return known;
}
