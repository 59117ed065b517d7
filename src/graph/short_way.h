/* SPDX-License-Identifier: Apache-2.0 */
/* short_way.h - the arguments that tiled code submits, settled in some forty loads each.
 *
 * A region takes the short way when it has the layout of the cells of its storage and lies on their grid, or the layout of
 * the whole storage, and when the history there is plain: no parts, few readers. Whatever does not is left as it was, and
 * argument.c does it on the general way, with the same result: this file only knows fewer cases.
 */
#ifndef HBG_GRAPH_SHORT_WAY_H
#define HBG_GRAPH_SHORT_WAY_H

#include "graph/hazard_map.h"

enum {
    HBG__SHORT_MARKS = 16               /* producers that one argument adds here at most: four blocks of readers and a writer; there is room */
};

/* An access that was settled here: cell is HBG__NIL for all of the storage. */
struct hbg__short_access { uint32_t home, cell; bool writes; };

/* Mostly the newest so far, or the newest once more. */
static inline void hbg__short_mark(struct hbg_graph *g, uint32_t mark)
{
    uint32_t *marks = g->producers.mark, count = g->producers.count, at = count;
    if (mark == 0) return;
    for (; at > 0; at--) {
        if (marks[at - 1] == mark) return;
        if (marks[at - 1] < mark) break;
    }
    for (uint32_t i = count; i > at; i--) marks[i] = marks[i - 1];
    marks[at] = mark;
    g->producers.count = count + 1;
    __builtin_prefetch(g->payload - (size_t)mark * sizeof(struct hbg__task_record), 1);     /* the append will link or mark it */
}

/* The readers of a chain and, when none of them is newer, the last writer. False: too many, nothing added. */
static inline bool hbg__short_readers(struct hbg_graph *g, uint32_t writer, uint32_t chain)
{
    const struct hbg__reader_block *blocks = (const struct hbg__reader_block *)(const void *)g->pool_arena.origin;
    uint32_t newest = 0, block = chain & ~HBG__CHAIN;
    for (int count = 0; (block = blocks[block].next & ~HBG__CHAIN) != 0; count++)
        if (count == 3) return false;
    for (block = chain & ~HBG__CHAIN; block; block = blocks[block].next & ~HBG__CHAIN) {
        for (int i = 0; i < 3 && blocks[block].mark[i]; i++) {
            hbg__short_mark(g, blocks[block].mark[i]);
            if (blocks[block].mark[i] > newest) newest = blocks[block].mark[i];
        }
    }
    if (newest < writer) hbg__short_mark(g, writer);
    return true;
}

static inline bool hbg__short_history(struct hbg_graph *g, uint32_t writer, uint32_t readers, bool writes)
{
    if (!writes) {
        hbg__short_mark(g, writer);
        return true;
    }
    if (readers & HBG__CHAIN) return hbg__short_readers(g, writer, readers);
    if (readers < writer) hbg__short_mark(g, writer);
    hbg__short_mark(g, readers);
    return true;
}

static inline bool hbg__is_cell_layout(const struct hbg_graph *g, const struct hbg__storage *s, const struct hbg_region *r)
{
    uint32_t type = hbg__region_type(r);
    if (type != s->cell_type || ((r->shape[0] ^ s->cell_shape[0]) | (r->shape[1] ^ s->cell_shape[1]) |
                                 (r->stride_bytes[0] ^ s->cell_stride[0]) | (r->stride_bytes[1] ^ s->cell_stride[1]))) return false;
    return type < (3u << 16) || hbg__layout_is(hbg__layout_at(g, s->cell_layout), r);
}

/* The storage of a region that is not bad, may be accessed so, and is live; NULL: the general way finds out. */
static inline const struct hbg__storage *hbg__short_storage(const struct hbg_graph *g, const struct hbg_region *r, bool writes)
{
    uint32_t index = r->storage - g->storage_base, flags = writes ? r->flags : r->flags & ~(uint32_t)HBG_REGION_READ_ONLY;
    if (HBG_UNLIKELY(flags == HBG_REGION_BUFFER)) {
        if (g->buffer_cache[r->storage % 64].handle != r->storage) return NULL;
        index = g->buffer_cache[r->storage % 64].storage;
        flags = 0;
    }
    if (index >= g->storage_count) return NULL;
    return flags | g->storages[index].irregular ? NULL : &g->storages[index];
}

/* Settle a region that is read (in) or written (out, inout): its argument to *out, its access to *access, its producers to g. */
static inline bool hbg__short_region(struct hbg_graph *g, const struct hbg_region *r, bool writes, struct hbg_view_arg *out,
                                     struct hbg__short_access *access)
{
    const struct hbg__storage *own = hbg__short_storage(g, r, writes);
    if (!own) return false;
    const struct hbg__storage *s = &g->storages[own->home];
    uint32_t cell = HBG__NIL, writer = s->writer, readers = s->readers;
    if (s->irregular) return false;
    if (HBG_LIKELY(hbg__is_cell_layout(g, s, r))) {
        cell = hbg__hazard_fast_cell(s, r->offset_bytes + own->displacement - s->grid_origin);
        if (cell == HBG__NIL || (writes && readers)) return false;
        const struct hbg__cell *c = hbg__cell_at(g, cell);
        readers = 0;
        if (c->generation == s->generation) {
            if (c->parts) return false;
            if (c->writer > writer) writer = c->writer;
            readers = c->readers;
        }
        out->layout = s->cell_layout;
    } else {
        uint32_t layout = s->whole_layout;
        if (!layout || s->grid || own != s || r->offset_bytes || (s->flags & HBG__STORAGE_SHARED) ||
            !hbg__layout_is(hbg__layout_at(g, layout), r)) return false;
        out->layout = layout;
    }
    if (!hbg__short_history(g, writer, readers, writes)) return false;
    out->base = own->base;
    out->word = (uint64_t)(r->offset_bytes + own->word_bias);
    access->home = own->home;
    access->cell = cell;
    access->writes = writes;
    return true;
}

/* Enter a settled access under the task's mark; false: the general way has to. */
static inline bool hbg__short_note(struct hbg_graph *g, const struct hbg__short_access *access, uint32_t mark)
{
    struct hbg__storage *s = &g->storages[access->home];
    if (access->cell == HBG__NIL) {
        if (s->grid) return false;      /* another argument of this task has brought one */
        if (!access->writes) return hbg__reader_add(g, &s->readers, mark);
        s->writer = mark;
        s->readers = 0;
        return true;
    }
    struct hbg__cell *cell = hbg__cell_open(g, s, access->cell);
    if (!access->writes) return hbg__reader_add(g, &cell->readers, mark);
    hbg__cell_written(s, access->cell, mark);
    cell->writer = mark;
    cell->readers = cell->parts = 0;
    return true;
}

#endif /* HBG_GRAPH_SHORT_WAY_H */
