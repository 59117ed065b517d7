/* SPDX-License-Identifier: Apache-2.0 */
/* definition.c - see definition.h. */
#include "graph/definition.h"

#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "image/layout.h"

enum { ALIGN = 64, BUCKETS_FIRST = 64 };
static const uint64_t large_image = (uint64_t)1 << 20;      /* a copy would cost fresh pages for all of it */
static const uint64_t default_budget = (uint64_t)256 << 20;

/* ---- lists; the lock is held --------------------------------------------------------------------------------------- */

static void unlink_made(struct hbg__definitions *store, struct hbg__definition *d)
{
    if (d->newer) d->newer->older = d->older;
    else store->newest = d->older;
    if (d->older) d->older->newer = d->newer;
    else store->oldest = d->newer;
}

static void link_newest(struct hbg__definitions *store, struct hbg__definition *d)
{
    d->older = store->newest;
    d->newer = NULL;
    if (store->newest) store->newest->newer = d;
    else store->oldest = d;
    store->newest = d;
}

static void unlink_idle(struct hbg__definitions *store, struct hbg__definition *d)
{
    if (!d->idle) return;
    d->idle = false;
    if (d->later) d->later->sooner = d->sooner;
    else store->idle_latest = d->sooner;
    if (d->sooner) d->sooner->later = d->later;
    else store->idle_soonest = d->later;
}

/* Its last use is over. One that was idle all the time was looked at, and keeps its place. */
static void link_idle(struct hbg__definitions *store, struct hbg__definition *d)
{
    if (d->idle) return;
    d->idle = true;
    d->used = ++store->uses;
    d->sooner = store->idle_latest;
    d->later = NULL;
    if (store->idle_latest) store->idle_latest->later = d;
    else store->idle_soonest = d;
    store->idle_latest = d;
}

/* ---- making and freeing -------------------------------------------------------------------------------------------- */

struct parts { size_t arg, named, guard, bytes, params, name, all; };

static struct parts measure(const struct hbg__definition_key *key, uint32_t args, uint32_t named, uint32_t guards, uint64_t bytes)
{
    struct parts p = { .arg = hbg__round_up(sizeof(struct hbg__definition), ALIGN) };
    p.named = p.arg + args * sizeof(struct hbg__definition_arg);
    p.guard = p.named + named * sizeof(struct hbg__named);
    p.params = hbg__round_up(p.guard + guards * sizeof(struct hbg__guard), 16);
    p.bytes = p.params + key->params_size;
    p.name = p.bytes + bytes;
    p.all = p.name + strlen(key->name) + 1;
    return p;
}

struct hbg__definition *hbg__definition_create(struct hbg__definitions *store, const struct hbg__definition_key *key, uint32_t arg_count,
                                               uint32_t named_count, uint32_t guard_count, uint64_t guard_bytes, uint64_t image_bytes)
{
    struct parts p = measure(key, arg_count, named_count, guard_count, guard_bytes);
    unsigned char *block = hbg__alloc(store->memory, p.all, ALIGN);
    if (!block) return NULL;
    struct hbg__definition *d = (struct hbg__definition *)(void *)block;
    *d = (struct hbg__definition){ .store = store, .pins = 1, .key = *key, .block_bytes = p.all, .arg_count = arg_count, .named_count = named_count,
                                   .guard_count = guard_count, .guard_bytes_size = guard_bytes };
    d->arg = (struct hbg__definition_arg *)(void *)(block + p.arg);
    d->named = (struct hbg__named *)(void *)(block + p.named);
    d->guard = (struct hbg__guard *)(void *)(block + p.guard);
    d->guard_bytes = block + p.bytes;
    memset(d->named, 0, named_count * sizeof *d->named);
    d->key.params = memcpy(block + p.params, key->params_size ? key->params : "", key->params_size);
    d->key.name = memcpy(block + p.name, key->name, p.all - p.name);
    bool copied = image_bytes != 0 && image_bytes < large_image;
    d->image_block_bytes = copied ? image_bytes + ALIGN : 0;
    d->image_block = copied ? hbg__alloc(store->memory, d->image_block_bytes, ALIGN) : NULL;
    if (copied && !d->image_block) {
        hbg__free(store->memory, block, p.all, ALIGN);
        return NULL;
    }
    pthread_mutex_lock(&store->lock);
    link_newest(store, d);
    pthread_mutex_unlock(&store->lock);
    return d;
}

/* The payload of a copy is aligned as in the arena of a build. */
void hbg__definition_take_image(struct hbg__definition *d, struct hbg__recording *recording)
{
    const struct hbg__image_head *head = recording->head;
    size_t above = (size_t)((const unsigned char *)hbg__image_payload(head) - (const unsigned char *)head);
    if (d->image_block) {
        unsigned char *at = (unsigned char *)d->image_block + (hbg__round_up(above, ALIGN) - above);
        memcpy(at, head, head->image_bytes);
        d->head = (const struct hbg__image_head *)(const void *)at;
    } else {
        d->head = head;
        d->arena = recording->arena;
        recording->arena = (struct hbg__arena){ .origin = NULL };
        hbg__arena_trim(&d->arena, above, head->image_bytes - above);
    }
    d->image_hash = hbg__hash_bytes(d->head, d->head->image_bytes, 0);
}

/* What a definition that nobody has pinned holds, and itself. No lock is held: the last holder of a buffer takes others. */
static void destroy(struct hbg__definition *d)
{
    struct hbg__definitions *store = d->store;
    for (uint32_t i = 0; i < d->named_count; i++) {
        if (d->named[i].buffer) store->buffers.drop(store->buffers.user, d->named[i].buffer);
        if (d->named[i].definition) hbg__definition_unpin(d->named[i].definition);
    }
    pthread_mutex_lock(&store->lock);
    unlink_made(store, d);
    if (store->forget) store->forget(store->user, d);
    pthread_mutex_unlock(&store->lock);
    hbg__free(store->memory, d->image_block, d->image_block_bytes, ALIGN);
    hbg__arena_close(&d->arena);
    hbg__free(store->memory, d, d->block_bytes, ALIGN);
}

/* ---- the table; the lock is held ------------------------------------------------------------------------------------ */

static struct hbg__definition **bucket_of(const struct hbg__definitions *store, uint64_t hash) { return &store->bucket[hash & (store->bucket_count - 1)]; }

static bool same_key(const struct hbg__definition_key *a, const struct hbg__definition_key *b)
{
    return a->hash == b->hash && a->kernel_set == b->kernel_set && a->fn == b->fn && a->params_size == b->params_size && strcmp(a->name, b->name) == 0 &&
           (a->params_size == 0 || memcmp(a->params, b->params, a->params_size) == 0);
}

/* Room for one more; a table that cannot grow stays as it is, and so does the order of a key's definitions. False: there is none at all. */
static bool make_room(struct hbg__definitions *store)
{
    if (store->count < store->bucket_count) return true;
    uint32_t wanted = store->bucket_count ? store->bucket_count * 2 : BUCKETS_FIRST;
    struct hbg__definition **old = store->bucket, **made = hbg__alloc_zero(store->memory, wanted * sizeof *made, ALIGN);
    uint32_t old_count = store->bucket_count;
    if (!made) return old != NULL;
    store->bucket = made;
    store->bucket_count = wanted;
    for (struct hbg__definition *d = store->oldest; d; d = d->newer) {      /* oldest first: chains begin with the newest */
        if (!d->kept) continue;
        d->next = *bucket_of(store, d->key.hash);
        *bucket_of(store, d->key.hash) = d;
    }
    hbg__free(store->memory, old, old_count * sizeof *old, ALIGN);
    return true;
}

static uint64_t bytes_of(const struct hbg__definition *d)
{
    return d->block_bytes + d->image_block_bytes + d->arena.below + d->arena.above;
}

static void forget(struct hbg__definitions *store, struct hbg__definition *d)
{
    struct hbg__definition **link = bucket_of(store, d->key.hash);
    while (*link != d) link = &(*link)->next;
    *link = d->next;
    store->count--;
    store->used_bytes -= bytes_of(d);
    d->kept = false;
    unlink_idle(store, d);
}

/* Into a list of those that destroy_all() frees, linked through `next`. */
static void forget_into(struct hbg__definition **gone, struct hbg__definition *d)
{
    forget(d->store, d);
    d->next = *gone;
    *gone = d;
}

/* Those that are beyond the budget. Cost: none of those that somebody names is looked at. */
static void evict(struct hbg__definitions *store, struct hbg__definition **gone)
{
    for (struct hbg__definition *d = store->idle_soonest, *later; d && store->used_bytes > store->budget_bytes; d = later) {
        later = d->later;
        if (!d->pins) forget_into(gone, d);
    }
}

/* Of the key of `kept`: how many there are, and of those that nobody pins the least recently used. Marks are no definitions. */
static uint32_t count_of_key(const struct hbg__definitions *store, const struct hbg__definition *kept, struct hbg__definition **least)
{
    uint32_t count = 0;
    *least = NULL;
    for (struct hbg__definition *d = *bucket_of(store, kept->key.hash); d; d = d->next) {
        if (d->in_place || !same_key(&d->key, &kept->key)) continue;
        count++;
        if (!d->pins && (!*least || d->used < (*least)->used)) *least = d;
    }
    return count;
}

/* Those that are too many of its key. */
static void thin(struct hbg__definitions *store, const struct hbg__definition *kept, struct hbg__definition **gone)
{
    struct hbg__definition *least;
    while (count_of_key(store, kept, &least) > HBG__DEFINITIONS_OF_KEY && least) forget_into(gone, least);
}

static void destroy_all(struct hbg__definition *gone)
{
    for (struct hbg__definition *next; gone; gone = next) {
        next = gone->next;
        destroy(gone);
    }
}

/* ---- the store ------------------------------------------------------------------------------------------------------ */

void hbg__definitions_open(struct hbg__definitions *store, struct hbg__memory *memory, const struct hbg__buffer_ops *buffers, uint64_t budget_bytes)
{
    *store = (struct hbg__definitions){ .memory = memory, .buffers = *buffers, .budget_bytes = budget_bytes ? budget_bytes : default_budget };
    pthread_mutex_init(&store->lock, NULL);
}

static bool names(const struct hbg__definition *d, const struct hbg_buffer *buffer)
{
    for (uint32_t i = 0; i < d->named_count; i++)
        if (d->named[i].buffer == buffer) return true;
    return false;
}

void hbg__definitions_forget_buffer(struct hbg__definitions *store, const struct hbg_buffer *buffer)
{
    struct hbg__definition *gone = NULL;
    pthread_mutex_lock(&store->lock);
    for (struct hbg__definition *d = store->oldest; d; d = d->newer) {
        if (!d->kept || !d->names_buffers || !names(d, buffer)) continue;
        if (d->pins) forget(store, d);
        else forget_into(&gone, d);
    }
    pthread_mutex_unlock(&store->lock);
    destroy_all(gone);
}

void hbg__definitions_purge(struct hbg__definitions *store)
{
    pthread_mutex_lock(&store->lock);
    struct hbg__definition *gone = NULL;
    store->budget_bytes = 0;
    evict(store, &gone);
    pthread_mutex_unlock(&store->lock);
    destroy_all(gone);
}

void hbg__definitions_close(struct hbg__definitions *store)
{
    while (store->idle_soonest) {       /* what it names is idle then, too */
        struct hbg__definition *d = store->idle_soonest;
        forget(store, d);
        destroy(d);
    }
    HBG_ASSERT(store->newest == NULL);
    hbg__free(store->memory, store->bucket, store->bucket_count * sizeof *store->bucket, ALIGN);
    pthread_mutex_destroy(&store->lock);
}

struct hbg__definition *hbg__definition_next(struct hbg__definitions *store, const struct hbg__definition_key *key, struct hbg__definition *after)
{
    pthread_mutex_lock(&store->lock);
    struct hbg__definition *d = after && after->kept ? after->next : after || !store->bucket_count ? NULL : *bucket_of(store, key->hash);
    while (d && !same_key(&d->key, key)) d = d->next;
    if (d) d->pins++;
    pthread_mutex_unlock(&store->lock);
    if (after) hbg__definition_unpin(after);
    return d;
}

void hbg__definition_pin(struct hbg__definition *d)
{
    pthread_mutex_lock(&d->store->lock);
    d->pins++;
    unlink_idle(d->store, d);
    pthread_mutex_unlock(&d->store->lock);
}

void hbg__definition_unpin(struct hbg__definition *d)
{
    struct hbg__definition *gone = NULL;
    struct hbg__definitions *store = d->store;
    pthread_mutex_lock(&store->lock);
    bool last = --d->pins == 0 && !d->kept;
    if (!last && d->pins == 0) {
        link_idle(store, d);
        evict(store, &gone);
    }
    pthread_mutex_unlock(&store->lock);
    if (last) destroy(d);
    destroy_all(gone);
}

bool hbg__depends_on_store(const struct hbg__recording *recording)
{
    for (uint32_t i = 0; i < recording->named_count; i++) {
        const struct hbg__definition *d = recording->named[i].definition;
        if (d && (d->single || d->wholes || d->heap_was_full || d->depends_on_store)) return true;
    }
    return recording->bodies_in_place > 0;
}

bool hbg__definition_keep(struct hbg__definition *d)
{
    struct hbg__definitions *store = d->store;
    pthread_mutex_lock(&store->lock);
    bool room = make_room(store);
    struct hbg__definition *gone = NULL;
    if (room) {
        d->kept = true;
        d->number = ++store->made;
        d->next = *bucket_of(store, d->key.hash);
        *bucket_of(store, d->key.hash) = d;
        store->count++;
        store->used_bytes += bytes_of(d);
        thin(store, d, &gone);
        evict(store, &gone);
    }
    pthread_mutex_unlock(&store->lock);
    destroy_all(gone);
    return room;
}

void hbg__definition_distrust(struct hbg__definition *d)
{
    pthread_mutex_lock(&d->store->lock);
    if (d->kept) forget(d->store, d);
    pthread_mutex_unlock(&d->store->lock);
}
