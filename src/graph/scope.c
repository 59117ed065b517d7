/* SPDX-License-Identifier: Apache-2.0 */
/* scope.c - scopes, intermediates, and the reuse of their bytes; barriers, which are scopes of order.
 *
 * Reuse. The heap grows until it would exceed heap_reuse_after; from then on an intermediate takes the bytes of the oldest ended
 * scope that has room; where none has, neighbouring pieces are merged first. Reuse adds order: one noop for each ended scope,
 * made when its first byte is reused, comes after everybody who touched an intermediate of the scope, and the new tenant's
 * history starts with it as last writer. Such a noop orders, but carries no failure.
 *
 * Manual scopes. To everything outside, a manual scope is one task: its begin is a noop after the inferred producers of all
 * regions that are used inside, its end a noop after all its tasks, and the end has made the accesses. The begin's record
 * is appended when the scope begins, so that the tasks inside can wait for it, and gets its producers when the scope ends.
 * Scopes inside a manual scope have lifetimes, but infer nothing either.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bits.h"
#include "graph/append.h"
#include "graph/hazard_map.h"
#include "graph/repeat.h"

enum { NO_NOOP = UINT32_MAX, SEARCH_BLOCKS = 64, HEAP_ALIGN = 64 };

/* ---- the heap ------------------------------------------------------------------------------------------------- */

/* The noop after all users of an ended scope's intermediates: its mark, 0 when nobody used them. */
static bool noop_of_scope(struct hbg_graph *g, struct hbg__scope_end *end, uint32_t *mark)
{
    if (end->noop == 0) {
        bool of_task = end->first_storage == HBG__NIL;
        hbg__gather_begin(g);
        if (of_task && !hbg__gather(g, end->storage_count)) return false;
        for (uint32_t i = 0; i < end->storage_count && !of_task; i++) {
            uint32_t storage = end->first_storage + i;
            if (g->storages[storage].base == HBG__BASE_HEAP && !hbg__hazard_gather_all(g, storage)) return false;
        }
        g->reuse_edges += g->gathered_count;
        end->noop = g->gathered_count ? hbg__append_noop(g, g->gathered, g->gathered_count, HBG__TASK_REUSE) : (uint32_t)NO_NOOP;
        if (end->noop == 0) return false;
    }
    *mark = end->noop == (uint32_t)NO_NOOP ? 0 : end->noop;
    return true;
}

static void drop_free_block(struct hbg_graph *g, uint32_t at)
{
    if (at != g->free_first)
        memmove(g->free_blocks + g->free_first + 1, g->free_blocks + g->free_first, (size_t)(at - g->free_first) * sizeof *g->free_blocks);
    g->free_first++;
}

/* Nothing orders a noop that is made inside a manual scope before the tasks there, so bytes are reused in one only when their
   noop comes before its begin. */
static bool is_ordered_here(const struct hbg_graph *g, const struct hbg__scope_end *end)
{
    return !g->manual || end->noop == (uint32_t)NO_NOOP || (end->noop != 0 && end->noop < g->manual_begin);
}

/* The oldest free block with room among the first few; false: none. */
static bool take_free_block(struct hbg_graph *g, uint64_t size, uint64_t *off, uint32_t *scope_end)
{
    uint32_t stop = g->free_count - g->free_first > SEARCH_BLOCKS ? g->free_first + SEARCH_BLOCKS : g->free_count;
    for (uint32_t i = g->free_first; i < stop; i++) {
        struct hbg__free_block *b = &g->free_blocks[i];
        if (b->size_bytes < size || !is_ordered_here(g, &g->scope_ends[b->scope_end])) continue;
        *off = b->off;
        *scope_end = b->scope_end;
        b->off += size;
        b->size_bytes -= size;
        if (b->size_bytes == 0) drop_free_block(g, i);
        return true;
    }
    return false;
}

/* From this size of the heap on, bytes are reused. */
static uint64_t reuse_after_bytes(const struct hbg_graph *g)
{
    const struct hbg__build_input *in = g->input;
    uint64_t after = in->heap_reuse_after_bytes ? in->heap_reuse_after_bytes : (uint64_t)256 << 20, own = in->limit_heap_bytes - in->heap_outside_bytes;
    return in->limit_heap_bytes && own < after ? own : after;
}

/* Before a manual scope: noops for all that may be reused in it. None while the heap is far from reuse. */
static bool order_free_blocks(struct hbg_graph *g)
{
    uint32_t mark;
    if (!g->input->limit_heap_bytes && g->heap_top < reuse_after_bytes(g) / 2) return true;
    for (uint32_t i = g->free_first; i < g->free_count; i++)
        if (!noop_of_scope(g, &g->scope_ends[g->free_blocks[i].scope_end], &mark)) return false;
    return true;
}

static int by_offset(const void *a, const void *b)
{
    const struct hbg__free_block *x = a, *y = b;
    return (x->off > y->off) - (x->off < y->off);
}

/* One block for neighbours [first, first + count), whose scopes are all waited for by one noop. */
static bool merge_neighbours(struct hbg_graph *g, uint32_t first, uint32_t count, struct hbg__free_block *merged)
{
    uint32_t mark;
    *merged = g->free_blocks[first];
    if (count == 1) return true;
    for (uint32_t i = first; i < first + count; i++)
        if (!noop_of_scope(g, &g->scope_ends[g->free_blocks[i].scope_end], &mark)) return false;
    hbg__gather_begin(g);
    for (uint32_t i = first; i < first + count; i++) {
        uint32_t noop = g->scope_ends[g->free_blocks[i].scope_end].noop;
        if (noop != (uint32_t)NO_NOOP && !hbg__gather(g, noop)) return false;
    }
    uint32_t noop = g->gathered_count == 0 ? (uint32_t)NO_NOOP : g->gathered[0];
    if (g->gathered_count > 1) noop = hbg__append_noop(g, g->gathered, g->gathered_count, HBG__TASK_REUSE);
    if (!noop || !hbg__graph_reserve(g, (void **)&g->scope_ends, &g->scope_end_capacity, g->scope_end_count + 1, sizeof *g->scope_ends)) return false;
    const struct hbg__free_block *last = &g->free_blocks[first + count - 1];
    merged->size_bytes = last->off + last->size_bytes - merged->off;
    merged->scope_end = g->scope_end_count;
    g->scope_ends[g->scope_end_count++] = (struct hbg__scope_end){ 0, 0, noop };
    return true;
}

/* Pieces of different scopes that lie side by side become one block again. Once for each time that scopes have ended since. */
static bool merge_free_blocks(struct hbg_graph *g)
{
    uint32_t kept = g->free_first;
    if (g->manual || g->merged_at == g->scope_end_count) return true;
    if (g->free_count > g->free_first + 1) qsort(g->free_blocks + g->free_first, g->free_count - g->free_first, sizeof *g->free_blocks, by_offset);
    for (uint32_t i = g->free_first, end; i < g->free_count; i = end) {
        struct hbg__free_block merged;
        for (end = i + 1; end < g->free_count && g->free_blocks[end - 1].off + g->free_blocks[end - 1].size_bytes == g->free_blocks[end].off; end++) continue;
        if (!merge_neighbours(g, i, end - i, &merged)) return false;
        g->free_blocks[kept++] = merged;
    }
    g->free_count = kept;
    g->merged_at = g->scope_end_count;
    return true;
}

/* What the heap may be: the declared limit, else what the machine has. */
static uint64_t heap_limit(const struct hbg_graph *g)
{
    if (g->input->limit_heap_bytes) return g->input->limit_heap_bytes - g->input->heap_outside_bytes;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : (uint64_t)1 << 46;
}

/* Bytes for an intermediate, and the mark its history starts with. */
bool hbg__heap_take(struct hbg_graph *g, uint64_t size, uint64_t *off, uint32_t *writer)
{
    uint32_t scope_end;
    *writer = 0;
    *off = g->heap_top;
    if (size == 0) return true;
    if (size > UINT64_MAX / 2 || g->heap_top + size > reuse_after_bytes(g)) {
        g->heap_was_full = true;
        if (take_free_block(g, size, off, &scope_end)) return noop_of_scope(g, &g->scope_ends[scope_end], writer);
        if (!merge_free_blocks(g)) return false;
        if (take_free_block(g, size, off, &scope_end)) return noop_of_scope(g, &g->scope_ends[scope_end], writer);
        uint64_t limit = heap_limit(g);
        if (g->heap_top > limit || size > limit - g->heap_top) {
            uint64_t outside = g->input->heap_outside_bytes;
            hbg__graph_fail_limit(g, "limit_heap_bytes", outside + g->heap_top, outside + limit, size, "raise it in the device's options, or end scopes earlier");
            return false;
        }
    }
    g->heap_top += size;
    return true;
}

/* In one piece: what is left of the limit, or an ended scope's bytes. */
uint64_t hbg__heap_room(const struct hbg_graph *g)
{
    uint64_t limit = heap_limit(g), room = limit > g->heap_top ? limit - g->heap_top : 0;
    uint32_t stop = g->free_count - g->free_first > SEARCH_BLOCKS ? g->free_first + SEARCH_BLOCKS : g->free_count;
    for (uint32_t i = g->free_first; i < stop; i++) {
        const struct hbg__free_block *b = &g->free_blocks[i];
        if (b->size_bytes > room && is_ordered_here(g, &g->scope_ends[b->scope_end])) room = b->size_bytes;
    }
    return room;
}

static bool push_free_block(struct hbg_graph *g, uint64_t off, uint64_t size, uint32_t scope_end)
{
    struct hbg__free_block block = { off, hbg__round_up(size, HEAP_ALIGN), scope_end };
    struct hbg__free_block *last = g->free_count > g->free_first ? &g->free_blocks[g->free_count - 1] : NULL;
    if (block.size_bytes == 0) return true;
    if (last && last->scope_end == scope_end && last->off + last->size_bytes == block.off) {
        last->size_bytes += block.size_bytes;
        return true;
    }
    if (g->free_first > 1024 && g->free_first > g->free_count / 2) {
        memmove(g->free_blocks, g->free_blocks + g->free_first, (size_t)(g->free_count - g->free_first) * sizeof block);
        g->free_count -= g->free_first;
        g->free_first = 0;
    }
    if (!hbg__graph_reserve(g, (void **)&g->free_blocks, &g->free_capacity, g->free_count + 1, sizeof block)) return false;
    g->free_blocks[g->free_count++] = block;
    return true;
}

bool hbg__heap_give(struct hbg_graph *g, uint64_t off, uint64_t size, uint32_t mark)
{
    if (!hbg__graph_reserve(g, (void **)&g->scope_ends, &g->scope_end_capacity, g->scope_end_count + 1, sizeof *g->scope_ends)) return false;
    g->scope_ends[g->scope_end_count] = (struct hbg__scope_end){ HBG__NIL, mark, 0 };
    return push_free_block(g, off, size, g->scope_end_count++);
}

/* ---- intermediates ---------------------------------------------------------------------------------------------- */

static struct hbg_region bad_region(void)
{
    struct hbg_region r = { .dtype = HBG_U8, .rank = 1, .flags = HBG_REGION_BAD };
    return r;
}

/* The sentence has two numbers at most. */
static HBG_COLD bool fail_alloc(struct hbg_graph *g, const char *format, long long first, long long second)
{
    char reason[128];
    snprintf(reason, sizeof reason, format, first, second);
    hbg__graph_fail(g, HBG_E_REGION, -1, "hbg_alloc", "hbg_alloc: %s", reason);
    return false;
}

static bool shape_bytes(struct hbg_graph *g, enum hbg_dtype dtype, struct hbg_shape shape, struct hbg_region *r)
{
    int64_t stride = hbg_dtype_size(dtype), bytes = stride;
    if (stride <= 0) return fail_alloc(g, "the dtype %lld, which does not exist", (long long)dtype, 0);
    if (shape.rank < 0 || shape.rank > HBG_RANK_MAX) return fail_alloc(g, "a rank of %lld where 0 to %lld are possible", shape.rank, HBG_RANK_MAX);
    *r = (struct hbg_region){ .dtype = (uint16_t)dtype, .rank = (uint8_t)shape.rank };
    for (int d = shape.rank - 1; d >= 0; d--) {
        if (shape.dim[d] < 0) return fail_alloc(g, "dimension %lld of size %lld", d, shape.dim[d]);
        if (__builtin_mul_overflow(bytes, shape.dim[d], &bytes))
            return fail_alloc(g, "with dimension %lld of size %lld it has more bytes than 63 bits can number", d, shape.dim[d]);
        r->shape[d] = shape.dim[d];
        r->stride_bytes[d] = stride;
        stride *= shape.dim[d] > 0 ? shape.dim[d] : 1;
    }
    for (int d = shape.rank; d < HBG_RANK_MAX; d++) r->shape[d] = 1;
    r->offset_bytes = bytes;
    return true;
}

struct hbg_region hbg_alloc(struct hbg_graph *g, enum hbg_dtype dtype, struct hbg_shape shape)
{
    struct hbg_region r;
    uint64_t off;
    uint32_t writer;
    if (!g || !hbg__graph_is_open(g, "hbg_alloc") || !shape_bytes(g, dtype, shape, &r)) return bad_region();
    uint64_t size = (uint64_t)r.offset_bytes;
    r.offset_bytes = 0;
    if (hbg__repeat_alloc(g, &r)) return r;
    if (!hbg__note_alloc(g, &r)) return bad_region();
    uint32_t layout = hbg__layout_of_region(g, &r);
    if (!layout || !hbg__heap_take(g, hbg__round_up(size, HEAP_ALIGN), &off, &writer)) return bad_region();
    struct hbg__storage *s = hbg__storage_add(g);
    if (!s) return bad_region();
    s->base = HBG__BASE_HEAP;
    s->size_bytes = size;
    hbg__storage_set_irregular(s, size == 0 ? HBG__IRREGULAR_ALWAYS : 0);
    s->word_bias = (int64_t)off;
    s->whole_layout = layout;
    s->writer = writer;
    r.storage = hbg__storage_number(g, hbg__storage_index(g, s));
    return r;
}

/* ---- scopes ----------------------------------------------------------------------------------------------------- */

static bool free_storages(struct hbg_graph *g, uint32_t first)
{
    if (!hbg__graph_reserve(g, (void **)&g->scope_ends, &g->scope_end_capacity, g->scope_end_count + 1, sizeof *g->scope_ends)) return false;
    uint32_t end = g->scope_end_count++;
    g->scope_ends[end] = (struct hbg__scope_end){ first, g->storage_count - first, 0 };
    for (uint32_t i = first; i < g->storage_count; i++) {
        struct hbg__storage *s = &g->storages[i];
        if (s->base != HBG__BASE_HEAP || (s->flags & HBG__STORAGE_FREED)) continue;
        s->flags |= HBG__STORAGE_FREED;
        hbg__storage_set_irregular(s, HBG__IRREGULAR_ALWAYS);
        if (!push_free_block(g, (uint64_t)s->word_bias, s->size_bytes, end)) return false;
    }
    return true;
}

bool hbg__manual_note(struct hbg_graph *g, const struct hbg__access *access)
{
    if (!hbg__graph_reserve(g, (void **)&g->manual_accesses, &g->manual_capacity, g->manual_count + 1, sizeof *access)) return false;
    g->manual_accesses[g->manual_count++] = *access;
    return true;
}

static bool begin_manual(struct hbg_graph *g)
{
    if (!order_free_blocks(g) || !hbg__histories_begin(g)) return false;
    g->manual_begin = hbg__append_noop(g, NULL, 0, 0);
    g->manual_count = 0;
    g->manual_depth = g->scope_depth;
    g->outer_barrier = g->barrier;
    g->manual = g->manual_begin != 0;
    g->short_kernels = 0;
    return g->manual;
}

/* The begin's producers are known now: give its record the edges it was appended without. Nothing after it is a root or
   waits for an older task, so it is the last root and comes last in its latest producer's list. */
static bool complete_begin(struct hbg_graph *g)
{
    struct hbg__producers *p = &g->producers;
    p->count = 0;
    for (uint32_t i = 0; i < g->manual_count; i++)
        if (!hbg__hazard_collect(g, &g->manual_accesses[i])) return false;
    if (g->outer_barrier && (p->count == 0 || p->mark[p->count - 1] < g->outer_barrier)) {
        p->mark[0] = g->outer_barrier;
        p->count = 1;
    }
    if (p->count == 0) return true;
    if (!hbg__payload_fit(g, hbg__edge_row_units(p->count))) return false;
    g->root_count--;
    hbg__set_producers(g, g->manual_begin - 1, p->mark, p->count);
    return true;
}

bool hbg__gather_leaves(struct hbg_graph *g, uint32_t from)
{
    hbg__gather_begin(g);
    for (uint32_t task = from; task < g->task_count; task++) {
        const struct hbg__task_record *r = hbg__record_at(g, task);
        if (r->first_waiter == HBG__NIL && !(r->flags & HBG__TASK_QUERYABLE) && !hbg__gather(g, task + 1)) return false;
    }
    return true;
}

static bool end_manual(struct hbg_graph *g)
{
    uint32_t begin = g->manual_begin;
    if (!complete_begin(g) || !hbg__gather_leaves(g, begin - 1)) return false;
    g->manual = false;
    g->barrier = g->outer_barrier;
    hbg__short_way_renew(g);
    uint32_t end = hbg__append_noop(g, g->gathered, g->gathered_count, 0);
    if (!end) return false;
    for (uint32_t i = 0; i < g->manual_count; i++)
        if (!hbg__hazard_note(g, &g->manual_accesses[i], end)) return false;
    g->manual_begin = 0;
    if (g->is_serial) g->barrier = end;
    return g->regrid_home == HBG__NIL || hbg__hazard_regrid(g);
}

void hbg_scope_begin(struct hbg_graph *g, int mode)
{
    if (!g || !hbg__graph_is_open(g, "hbg_scope_begin")) return;
    if (mode != HBG_SCOPE_AUTO && mode != HBG_SCOPE_MANUAL) {
        hbg__graph_fail(g, HBG_E_OPTION, -1, "mode", "hbg_scope_begin: %d is no scope mode", mode);
        return;
    }
    if (!hbg__graph_reserve(g, (void **)&g->scopes, &g->scope_capacity, g->scope_depth + 1, sizeof *g->scopes)) return;
    if (mode == HBG_SCOPE_MANUAL && !hbg__repeat_forbid(g)) return;
    if (!hbg__repeat_call(g, HBG__NOTE_SCOPE_BEGIN) && !hbg__note_call(g, HBG__NOTE_SCOPE_BEGIN)) return;
    g->scopes[g->scope_depth++] = (struct hbg__scope){ (uint32_t)mode, g->storage_count };
    if (mode == HBG_SCOPE_MANUAL && !g->manual) begin_manual(g);
}

void hbg_scope_end(struct hbg_graph *g)
{
    if (!g || !hbg__graph_is_open(g, "hbg_scope_end")) return;
    if (g->scope_depth == (g->frame ? g->frame->scope_depth : 0)) {
        hbg__graph_fail(g, HBG_E_ORDER, -1, "hbg_scope_end", "hbg_scope_end without hbg_scope_begin%s", g->frame || g->input->body ? " in this body" : "");
        return;
    }
    if (hbg__repeat_scope_end(g)) {
        g->scope_depth--;
        return;
    }
    if (!hbg__note_call(g, HBG__NOTE_SCOPE_END)) return;
    if (g->manual && g->manual_depth == g->scope_depth && !end_manual(g)) return;
    free_storages(g, g->scopes[--g->scope_depth].first_storage);
}

bool hbg__scope_end_build(struct hbg_graph *g)
{
    if (g->scope_depth == 0) return true;
    hbg__graph_fail(g, HBG_E_ORDER, -1, "hbg_scope_end", "%s has returned and %u %s still open", g->input->body ? "the body" : "the build function",
                    g->scope_depth, g->scope_depth == 1 ? "scope is" : "scopes are");
    return false;
}

/* ---- barriers --------------------------------------------------------------------------------------------------- */

void hbg_barrier(struct hbg_graph *g)
{
    if (!g || !hbg__graph_is_open(g, "hbg_barrier")) return;
    if (hbg__repeat_call(g, HBG__NOTE_BARRIER) || !hbg__note_call(g, HBG__NOTE_BARRIER)) return;
    uint32_t from = g->manual && g->manual_begin > g->barrier ? g->manual_begin : g->barrier;
    if (!hbg__gather_leaves(g, from ? from - 1 : 0) || g->gathered_count == 0) return;
    uint32_t noop = hbg__append_noop(g, g->gathered, g->gathered_count, 0);
    if (noop) g->barrier = noop;
}
