/* SPDX-License-Identifier: Apache-2.0 */
/* storage.c - what the `storage` number of a region means in this build.
 *
 * Every build of the process has numbers of its own, until 2^32 have been given out: a region kept from another build, or from a body, names no storage
 * of this one. Most storages have the number storage_base + index; those that came when other builds had taken the numbers behind, in the
 * first build of a graph or one that is larger than those before, are looked up. Device buffers carry their own handle instead and get a
 * storage at first use.
 */
#include "graph/append.h"
#include "graph/body.h"
#include "graph/graph.h"
#include "graph/hazard_map.h"
#include "graph/repeat.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/plural.h"
#include "graph/view.h"

/* ---- errors -------------------------------------------------------------------------------------------------- */

static void latch(struct hbg_graph *g, enum hbg_status status, int argument, const char *name)
{
    g->failed = true;
    g->short_kernels = 0;
    g->error = (struct hbg_error){ .size = sizeof g->error, .status = status, .task = g->task_count, .argument = argument };
    snprintf(g->error.name, sizeof g->error.name, "%s", name ? name : "");
}

/* The first error wins. While calls are only compared they are made first: the error says after how many tasks it came. */
static bool may_latch(struct hbg_graph *g) { return !g->failed && hbg__repeat_leave(g); }

void hbg__graph_fail(struct hbg_graph *g, enum hbg_status status, int argument, const char *name, const char *format, ...)
{
    va_list list;
    if (!may_latch(g)) return;
    latch(g, status, argument, name);
    va_start(list, format);
    vsnprintf(g->error.text, sizeof g->error.text, format, list);
    va_end(list);
}

void hbg__graph_fail_limit(struct hbg_graph *g, const char *resource, uint64_t used, uint64_t limit, uint64_t requested, const char *remedy)
{
    if (!may_latch(g)) return;
    latch(g, HBG_E_LIMIT, -1, resource);
    g->error.detail = (int64_t)used;
    g->error.limit = (int64_t)limit;
    g->error.requested = (int64_t)requested;
    snprintf(g->error.text, sizeof g->error.text, "%s: %llu used of %llu, %llu more requested; %s", resource, (unsigned long long)used,
             (unsigned long long)limit, (unsigned long long)requested, remedy);
}

void hbg__graph_forgive(struct hbg_graph *g)
{
    for (struct hbg_graph *each = g; each; each = each->input->body ? each->input->body->outer : NULL) {
        each->failed = false;
        each->error = (struct hbg_error){ .size = sizeof each->error };
    }
    hbg__short_way_renew(g);
}

bool hbg__fail_as(struct hbg_graph *g, const struct hbg_graph *other)
{
    if (!g->failed && other->failed) {
        latch(g, other->error.status, other->error.argument, other->error.name);
        g->error = other->error;
    }
    return false;
}

void hbg__graph_fail_memory(struct hbg_graph *g, const char *what)
{
    hbg__graph_fail(g, HBG_E_NO_MEMORY, -1, what, "no memory for %s after %u task%s", what, g->task_count, hbg__s(g->task_count));
}

void hbg__graph_say_who(struct hbg_graph *g, const char *name, const char *who)
{
    struct hbg_error *e = &g->error;
    char said[sizeof e->text];
    int length = 0;
    if (!e->name[0]) snprintf(e->name, sizeof e->name, "%s", name);
    sscanf(e->text, "argument %*d%n", &length);
    if (!length) return;
    memcpy(said, e->text, sizeof said);
    snprintf(e->text, sizeof e->text, "%.100s%.150s", who, said + length);
}

bool hbg__graph_grow(struct hbg_graph *g, void **items, uint32_t *capacity, uint32_t count, size_t item_bytes)
{
    uint64_t wanted = *capacity ? (uint64_t)*capacity * 2 : 16;
    while (wanted < count) wanted *= 2;
    void *moved = wanted > UINT32_MAX ? NULL : hbg__realloc(g->memory, *items, *capacity * item_bytes, wanted * item_bytes, 16);
    if (!moved) { hbg__graph_fail_memory(g, "build tables"); return false; }
    *items = moved;
    *capacity = (uint32_t)wanted;
    return true;
}

/* ---- storages ------------------------------------------------------------------------------------------------- */

void hbg__storage_count(struct hbg_graph *g)
{
    g->storage_count++;
    if (g->storage_count > g->numbered) hbg__graph_take_more_numbers(g);
    if (g->storage_count <= g->numbers[0].count) g->storage_reach = g->storage_count;
}

struct hbg__storage *hbg__storage_add(struct hbg_graph *g)
{
    uint64_t count = (uint64_t)g->storage_count + 1;
    if (!hbg__arena_fit(&g->storage_arena, 0, count * sizeof(struct hbg__storage))) { hbg__graph_fail_memory(g, "storages"); return NULL; }
    g->storages = (struct hbg__storage *)(void *)g->storage_arena.origin;
    struct hbg__storage *s = &g->storages[g->storage_count];
    memset(s, 0, sizeof *s);
    s->home = s->parent = g->storage_count;
    hbg__storage_count(g);
    s->cell_type = HBG__NO_TYPE;
    s->group = UINT32_MAX;
    return s;
}

/* Bytes from the first to the last of a region. */
static uint64_t hull_bytes(const struct hbg_region *r)
{
    int64_t lo = 0, hi = 0;
    return hbg__view_bounds(0, hbg_dtype_size(r->dtype), r->rank, r->shape, r->stride_bytes, &lo, &hi) ? (uint64_t)(hi - lo) : 0;
}

static bool is_only_read(const struct hbg_arg *arg) { return arg->kind == HBG_ARG_IN || arg->u.region.flags & HBG_REGION_READ_ONLY; }

/* The argument shares its group with one before: that one is its home, and the longer one the parent. */
static void join_group(struct hbg_graph *g, uint32_t home, uint32_t member)
{
    const struct hbg__boundary_arg *arg = g->input->boundary.arg;
    struct hbg__storage *h = &g->storages[home], *m = &g->storages[member];
    m->home = home;
    h->flags |= HBG__STORAGE_SHARED;
    if (!is_only_read(&arg[member].arg)) h->generation = 0;
    if (hull_bytes(&arg[member].arg.u.region) > hull_bytes(&arg[h->parent].arg.u.region)) h->parent = member;
}

/* A boundary region; `first` gets the first argument of its group, which is the home of all. */
static bool add_boundary_region(struct hbg_graph *g, struct hbg__storage *s, const struct hbg__boundary_arg *a, uint32_t *first)
{
    const struct hbg__boundary_group *group = &g->input->boundary.group[a->group];
    uint32_t index = hbg__storage_index(g, s);
    s->group = a->group;
    s->displacement = a->displacement;
    s->size_bytes = group->buffer ? 0 : group->size_bytes;
    s->whole_layout = hbg__layout_of_region(g, &a->arg.u.region);
    if (*first != UINT32_MAX) { join_group(g, *first, index); return !g->failed; }
    *first = index;
    if (is_only_read(&a->arg)) s->generation = HBG__UNWRITTEN;
    g->unwritten_buffers = g->unwritten_buffers || (group->buffer && is_only_read(&a->arg));
    if (group->buffer) {
        uint64_t *known = hbg__map_u64_add(&g->buffer_map, group->buffer_handle, NULL);
        if (!known) { hbg__graph_fail_memory(g, "storages"); return false; }
        *known = index;
    }
    return !g->failed;
}

/* Widen the home's range by the bytes of an argument, as yet counted from the buffer's first byte. */
static void reach_over(struct hbg__storage *home, const struct hbg__boundary_arg *a)
{
    const struct hbg_region *r = &a->arg.u.region;
    int64_t lo, hi;
    if (!hbg__view_bounds(a->displacement, hbg_dtype_size(r->dtype), r->rank, r->shape, r->stride_bytes, &lo, &hi) || lo == hi) return;
    bool none = home->size_bytes == 0;
    if (none || (uint64_t)lo < home->first) home->first = (uint64_t)lo;
    if (none || (uint64_t)hi > home->size_bytes) home->size_bytes = (uint64_t)hi;
}

/* Of device buffers, count from the first byte that an argument touches to the last. */
static void count_from_arguments(struct hbg_graph *g)
{
    const struct hbg__boundary *b = &g->input->boundary;
    for (uint32_t i = 0; i < b->arg_count; i++)
        if (b->arg[i].group != UINT32_MAX && b->group[b->arg[i].group].buffer) reach_over(&g->storages[g->storages[i].home], &b->arg[i]);
    for (uint32_t i = 0; i < b->arg_count; i++) g->storages[i].displacement -= (int64_t)g->storages[g->storages[i].home].first;
    for (uint32_t i = 0; i < b->arg_count; i++) {
        struct hbg__storage *s = &g->storages[i];
        s->size_bytes -= s->first;
        if (b->arg[i].group == UINT32_MAX) continue;
        bool wholes = g->input->wholes && g->storages[s->home].flags & HBG__STORAGE_SHARED;
        if (wholes) s->flags |= HBG__STORAGE_WHOLES;
        hbg__storage_set_irregular(s, wholes || (s->size_bytes == 0 && s->home == i) ? HBG__IRREGULAR_ALWAYS : 0);
    }
}

/* One storage a boundary position, so that positions and indices agree; those of scalars are not used. */
bool hbg__storage_boundary(struct hbg_graph *g)
{
    const struct hbg__boundary *b = &g->input->boundary;
    if (!hbg__graph_reserve(g, (void **)&g->gathered, &g->gathered_capacity, b->group_count, sizeof *g->gathered)) return false;
    uint32_t *first = g->gathered;      /* of each group; nothing is gathered yet */
    for (uint32_t i = 0; i < b->group_count; i++) first[i] = UINT32_MAX;
    for (uint32_t i = 0; i < b->arg_count; i++) {
        struct hbg__storage *s = hbg__storage_add(g);
        if (!s) return false;
        s->base = HBG__BASE_BOUNDARY + i;
        if (b->arg[i].group != UINT32_MAX && !add_boundary_region(g, s, &b->arg[i], &first[b->arg[i].group])) return false;
    }
    count_from_arguments(g);
    return true;
}

bool hbg__histories_begin(struct hbg_graph *g)
{
    uint32_t readers = 0, count = g->input->boundary.arg_count;
    if (!g->unwritten_buffers) return true;
    g->unwritten_buffers = false;
    if (!hbg__gather_leaves(g, 0)) return false;
    if (g->gathered_count > 0 && !(readers = hbg__append_noop(g, g->gathered, g->gathered_count, 0))) return false;
    if (!hbg__graph_reserve(g, (void **)&g->accesses, &g->access_capacity, g->access_count + count + g->pending_units / 2 + 1, sizeof *g->accesses)) return false;
    for (uint32_t i = 0; i < count; i++) {
        struct hbg__storage *s = &g->storages[i];
        if (!hbg__is_unwritten(s) || !g->input->boundary.group[s->group].buffer) continue;
        s->generation = 0;
        s->readers = readers;
        if (s->grid && !hbg__hazard_new_generation(g, i)) return false;
        g->accesses[g->access_count++] = (struct hbg__access){ .home = i, .place = HBG__ACCESS_WHOLE };    /* a task that is being submitted may have read it, too */
    }
    return true;
}

/* The build names the buffer of an argument: from here on all of its bytes may be accessed. */
static void grow_to_buffer(struct hbg_graph *g, struct hbg__storage *home, uint64_t size_bytes)
{
    home->lower = -(int64_t)home->first;
    home->size_bytes = size_bytes - home->first;
    home->flags |= HBG__STORAGE_SHARED;
    hbg__storage_set_irregular(home, home->size_bytes == 0 ? HBG__IRREGULAR_ALWAYS : home->irregular & ~(uint32_t)HBG__IRREGULAR_ALWAYS);
    if (!home->grid || g->manual) return;       /* the accesses of a manual scope wait with the cells that they have */
    home->flags |= HBG__STORAGE_GROWN;
    g->regrid_home = hbg__storage_index(g, home);
}

bool hbg__name_room(struct hbg_graph *g)
{
    struct hbg__recording *r = g->recording;
    return hbg__graph_reserve(g, (void **)&r->named, &r->named_capacity, r->named_count + 1, sizeof *r->named);
}

uint32_t hbg__name(struct hbg_graph *g, struct hbg__named named)
{
    struct hbg__recording *r = g->recording;
    r->named[r->named_count] = named;
    return HBG__BASE_BOUNDARY + r->boundary_count + r->named_count++;
}

bool hbg__storage_handle(const struct hbg_graph *g, const struct hbg__storage *s, uint32_t *handle)
{
    uint32_t named = s->base - HBG__BASE_BOUNDARY - g->recording->boundary_count;
    if (s->group != UINT32_MAX) {
        const struct hbg__boundary_group *group = &g->input->boundary.group[s->group];
        *handle = group->buffer_handle;
        return group->buffer || group->of_buffer;
    }
    if (s->base < HBG__BASE_BOUNDARY + g->recording->boundary_count || g->recording->named[named].kind != HBG__NAMED_BUFFER) return false;
    *handle = g->recording->named[named].handle;
    return true;
}

bool hbg__is_argument_of_body(const struct hbg_graph *g, uint32_t handle)
{
    for (; g->input->body; g = g->input->body->outer) {
        const struct hbg__boundary *b = &g->input->boundary;
        for (uint32_t i = 0; i < b->group_count; i++)
            if (b->group[i].of_buffer && b->group[i].buffer_handle == handle) return true;
    }
    return false;
}

/* The buffer, held for the recording: by what the last build has left there, or anew. NULL: latched. */
static struct hbg_buffer *hold_buffer(struct hbg_graph *g, uint32_t handle, int argument, uint64_t *size_bytes)
{
    const struct hbg__buffer_ops *ops = &g->input->buffers;
    const struct hbg__recording *r = g->recording;
    bool foreign = false;
    if (r->named_count < g->repeat.kept_buffers && r->named[r->named_count].handle == handle && r->named[r->named_count].buffer) {
        *size_bytes = r->named[r->named_count].size_bytes;
        return r->named[r->named_count].buffer;
    }
    struct hbg_buffer *buffer = ops->hold(ops->user, handle, size_bytes, &foreign);
    if (!buffer)
        hbg__graph_fail(g, HBG_E_REGION, argument, "", "argument %d names a device buffer that %s", argument,
                        foreign ? "belongs to another device" : "has been destroyed");
    return buffer;
}

/* A device buffer that the build names itself: a base table entry of its own, and the recording holds it. If the boundary
   passes the same buffer, they share the history. */
static struct hbg__storage *add_buffer(struct hbg_graph *g, uint32_t handle, int argument)
{
    uint64_t size_bytes = 0;
    struct hbg_buffer *buffer = hbg__name_room(g) ? hold_buffer(g, handle, argument, &size_bytes) : NULL;
    if (!buffer) return NULL;
    bool is_argument = hbg__is_argument_of_body(g, handle);
    uint32_t base = hbg__name(g, (struct hbg__named){ .kind = HBG__NAMED_BUFFER, .handle = handle, .buffer = buffer, .is_argument = is_argument, .size_bytes = size_bytes });
    uint64_t *index = hbg__map_u64_add(&g->buffer_map, handle | (uint64_t)1 << 32, NULL);
    struct hbg__storage *s = index ? hbg__storage_add(g) : NULL;
    if (!s) { hbg__graph_fail_memory(g, "storages"); return NULL; }
    *index = hbg__storage_index(g, s);
    s->base = base;
    s->size_bytes = size_bytes;
    const uint64_t *boundary = hbg__map_u64_find(&g->buffer_map, handle);
    if (boundary) {
        s->home = (uint32_t)*boundary;
        s->displacement = -(int64_t)g->storages[s->home].first;
        if (hbg__is_unwritten(&g->storages[s->home]) && !hbg__histories_begin(g)) return NULL;
        grow_to_buffer(g, &g->storages[s->home], size_bytes);
    }
    if (is_argument && !hbg__graph_serialize(g)) return NULL;
    return s;
}

static struct hbg__storage *storage_of_buffer(struct hbg_graph *g, uint32_t handle, int argument)
{
    const uint64_t *index = hbg__map_u64_find(&g->buffer_map, handle | (uint64_t)1 << 32);
    struct hbg__storage *s = index ? &g->storages[*index] : add_buffer(g, handle, argument);
    if (!s) return NULL;
    g->buffer_cache[handle % 64].handle = handle;
    g->buffer_cache[handle % 64].storage = hbg__storage_index(g, s);
    return s;
}

/* All of a storage as a region that counts from its element 0; false: its layout is not known. */
static bool whole_region(const struct hbg_graph *g, uint32_t index, struct hbg_region *whole)
{
    if (index >= g->storage_count || !g->storages[index].whole_layout) return false;
    const struct hbg_layout *l = hbg__layout_at(g, g->storages[index].whole_layout);
    *whole = (struct hbg_region){ .rank = (uint8_t)l->rank };
    memcpy(whole->shape, l->shape, (size_t)l->rank * sizeof *l->shape);
    memcpy(whole->stride_bytes, l->stride_bytes, (size_t)l->rank * sizeof *l->stride_bytes);
    return true;
}

static HBG_COLD void fail_bad_view(struct hbg_graph *g, const struct hbg_region *region, uint32_t index, int argument)
{
    struct hbg_region whole;
    char reason[200];
    bool known = !(region->flags & (HBG_REGION_HOST | HBG_REGION_BUFFER)) && whole_region(g, index, &whole);
    hbg__region_reason(region, known ? &whole : NULL, reason, sizeof reason);
    hbg__graph_fail(g, HBG_E_REGION, argument, "", "argument %d is a bad view: %s", argument, reason);
}

struct hbg__storage *hbg__storage_of(struct hbg_graph *g, const struct hbg_region *region, int argument)
{
    uint32_t index = hbg__storage_numbered(g, region->storage);
    if (region->flags & HBG_REGION_BAD) {
        fail_bad_view(g, region, index, argument);
        return NULL;
    }
    if (region->flags & HBG_REGION_HOST) {
        hbg__graph_fail(g, HBG_E_REGION, argument, "", "argument %d is host memory: it must come in through the boundary", argument);
        return NULL;
    }
    if (region->dtype == 0) {
        hbg__graph_fail(g, HBG_E_REGION, argument, "", "argument %d is no region: its dtype is 0, as of one that was never set", argument);
        return NULL;
    }
    if (region->flags & HBG_REGION_BUFFER) return storage_of_buffer(g, region->storage, argument);
    if (index == HBG__NIL) {
        bool known = false;
        struct hbg__storage *captured = g->input->body ? hbg__capture(g, region, argument, &known) : NULL;
        if (known) return captured;
        hbg__graph_fail(g, HBG_E_SCOPE, argument, "", "argument %d is a region of another build, or of a body that has returned", argument);
        return NULL;
    }
    if (g->storages[index].flags & HBG__STORAGE_FREED) {
        hbg__graph_fail(g, HBG_E_SCOPE, argument, "", "argument %d is an intermediate whose scope has ended", argument);
        return NULL;
    }
    return &g->storages[index];
}
