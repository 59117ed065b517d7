/* SPDX-License-Identifier: Apache-2.0 */
/* short_way.h - the arguments that tiled code submits, settled without comparing views.
 *
 * A region takes the short way when it has the layout of the cells of its storage and lies on their grid, or the layout of
 * the whole storage, and when the history there is plain: no parts, few readers. Whatever does not is left as it was, and
 * argument.c does it on the general way, with the same result: this file only knows fewer cases.
 */
#ifndef HBG_GRAPH_SHORT_WAY_H
#define HBG_GRAPH_SHORT_WAY_H

#include <stddef.h>

#include "graph/hazard_map.h"

enum {
    HBG__SHORT_ARGUMENTS = 32,          /* longer lists take the general way */
    HBG__SHORT_MARKS = 16,              /* producers that one argument adds at most: four blocks of readers and a writer; there is room */
    HBG__SHORT_TASK_MARKS = HBG__SHORT_ARGUMENTS * HBG__SHORT_MARKS
};

/* An access that was settled here: cell is HBG__NIL for all of the storage. */
struct hbg__short_access { uint32_t cell, home_writes; };      /* home * 2 + writes */

/* What the arguments of one task have come to so far. */
struct hbg__short_task {
    struct hbg__short_access access[HBG__SHORT_ARGUMENTS];
    struct hbg__short_access *noted;    /* behind the last */
    uint32_t *producer;                 /* behind the last */
    uint32_t nobody, mark[HBG__SHORT_TASK_MARKS];      /* producers: ascending, unique; the word before them is 0 */
    bool mixed;                         /* an argument took the general way */
};
_Static_assert(offsetof(struct hbg__short_task, nobody) + sizeof(uint32_t) == offsetof(struct hbg__short_task, mark), "mark[-1] is 0");

static inline uint32_t hbg__short_count(const struct hbg__short_task *t) { return (uint32_t)(t->producer - t->mark); }

/* A producer that is not the newest so far. */
void hbg__short_insert(struct hbg__short_task *t, uint32_t mark);
/* Those so far join g->producers, and there is room for more. False: latched. */
bool hbg__short_take_marks(struct hbg_graph *g, struct hbg__short_task *t);

static inline void hbg__short_mark(struct hbg_graph *g, struct hbg__short_task *t, uint32_t mark)
{
    uint32_t newest = t->producer[-1];
    if (mark > newest) *t->producer++ = mark;
    else if (mark != newest && mark != 0) hbg__short_insert(t, mark);
    else return;
    __builtin_prefetch(g->payload - (size_t)mark * sizeof(struct hbg__task_record), 1);     /* the append will link or mark it */
}

/* Is the task sure to come after the last writer that it saw? A noop may stand for readers of different ages: hazard_map.c. */
static inline bool hbg__short_follows(const struct hbg_graph *g, uint32_t mark)
{
    return !(hbg__image_record(g->payload, mark - 1)->flags & HBG__TASK_NOOP);
}

/* The readers of a chain and, when none of them is newer, the last writer. False: too many, nothing added. */
static HBG_NO_INLINE bool hbg__short_readers(struct hbg_graph *g, struct hbg__short_task *t, uint32_t writer, uint32_t chain)
{
    const struct hbg__reader_block *blocks = (const struct hbg__reader_block *)(const void *)g->pool_arena.origin;
    uint32_t newest = 0, block = chain & ~HBG__CHAIN;
    for (int count = 0; (block = blocks[block].next & ~HBG__CHAIN) != 0; count++)
        if (count == 3) return false;
    for (block = chain & ~HBG__CHAIN; block; block = blocks[block].next & ~HBG__CHAIN) {
        for (int i = 0; i < 3 && blocks[block].mark[i]; i++) {
            hbg__short_mark(g, t, blocks[block].mark[i]);
            if (blocks[block].mark[i] > newest && hbg__short_follows(g, blocks[block].mark[i])) newest = blocks[block].mark[i];
        }
    }
    if (newest < writer) hbg__short_mark(g, t, writer);
    return true;
}

static inline bool hbg__short_history(struct hbg_graph *g, struct hbg__short_task *t, uint32_t writer, uint32_t readers)
{
    if (HBG_UNLIKELY(readers & HBG__CHAIN)) return hbg__short_readers(g, t, writer, readers);
    if (readers < writer || (readers && !hbg__short_follows(g, readers))) hbg__short_mark(g, t, writer);
    hbg__short_mark(g, t, readers);
    return true;
}

static inline bool hbg__is_cell_layout(const struct hbg_graph *g, const struct hbg__storage *home, const struct hbg_region *r)
{
    uint32_t type = hbg__region_type(r);
    if (type != home->cell_type || ((r->shape[0] ^ home->cell_shape[0]) | (r->shape[1] ^ home->cell_shape[1]) |
                                    (r->stride_bytes[0] ^ home->cell_stride[0]) | (r->stride_bytes[1] ^ home->cell_stride[1]))) return false;
    return type < (3u << 16) || hbg__layout_is(hbg__layout_at(g, home->cell_layout), r);
}

/* One access of a whole cell. */
static HBG_ALWAYS_INLINE bool hbg__short_cell(struct hbg_graph *g, struct hbg__short_task *t, uint32_t home_index, uint32_t index, bool writes)
{
    struct hbg__storage *home = &g->storages[home_index];
    struct hbg__cell *cell = hbg__cell_at(g, index);
    if (HBG_UNLIKELY(cell->generation != home->generation)) {
        if (hbg__is_unwritten(home)) return !writes;
        hbg__cell_open(g, home, index);
    }
    if (HBG_UNLIKELY(cell->parts || (writes && home->readers))) return false;
    uint32_t writer = cell->writer > home->writer ? cell->writer : home->writer;
    if (!writes) hbg__short_mark(g, t, writer);
    else if (!hbg__short_history(g, t, writer, cell->readers)) return false;
    *t->noted++ = (struct hbg__short_access){ index, 2 * home_index + writes };
    return true;
}

/* One access of all of a storage that has no grid. */
static HBG_NO_INLINE bool hbg__short_whole(struct hbg_graph *g, struct hbg__short_task *t, uint32_t home_index, const struct hbg_region *r,
                                           bool writes)
{
    const struct hbg__storage *s = &g->storages[home_index];
    if (!s->whole_layout || s->irregular || s->grid || r->offset_bytes || (s->flags & HBG__STORAGE_SHARED) ||
        !hbg__layout_is(hbg__layout_at(g, s->whole_layout), r)) return false;
    if (hbg__is_unwritten(s)) return !writes;
    if (!writes) hbg__short_mark(g, t, s->writer);
    else if (!hbg__short_history(g, t, s->writer, s->readers)) return false;
    *t->noted++ = (struct hbg__short_access){ HBG__NIL, 2 * home_index + writes };
    return true;
}

/* The index of the storage that a region names, if it may be accessed so; HBG__NIL: the general way finds out. */
static inline uint32_t hbg__short_storage(const struct hbg_graph *g, const struct hbg_region *r, bool writes)
{
    _Static_assert(HBG_REGION_READ_ONLY == 1, "flags of 1 are all right for a read, other than 0 for no write");
    uint32_t index = r->storage - g->storage_base;
    if (HBG_UNLIKELY(r->flags > (writes ? 0 : HBG_REGION_READ_ONLY))) {
        if ((r->flags & ~(writes ? 0u : HBG_REGION_READ_ONLY)) != HBG_REGION_BUFFER || g->buffer_cache[r->storage % 64].handle != r->storage)
            return HBG__NIL;
        index = g->buffer_cache[r->storage % 64].storage;
        return index < g->storage_count ? index : HBG__NIL;
    }
    return index < g->storage_reach ? index : HBG__NIL;
}

/* Settle a region that is read (in) or written (out, inout): its argument to *out, its access and its producers to t. */
static HBG_ALWAYS_INLINE bool hbg__short_region(struct hbg_graph *g, struct hbg__short_task *t, const struct hbg_region *r, bool writes,
                                     struct hbg_view_arg *out)
{
    uint32_t index = hbg__short_storage(g, r, writes);
    if (HBG_UNLIKELY(index == HBG__NIL)) return false;
    const struct hbg__storage *own = &g->storages[index];
    const struct hbg__storage *home = &g->storages[own->home];
    if (HBG_LIKELY(hbg__is_cell_layout(g, home, r))) {
        uint32_t cell;
        if (HBG_UNLIKELY(!hbg__hazard_fast_cell(home, r->offset_bytes + own->displacement - home->fast_origin, &cell)) ||
            !hbg__short_cell(g, t, own->home, cell, writes)) return false;
        out->layout = home->cell_layout;
    } else {
        if (own != home || !hbg__short_whole(g, t, own->home, r, writes)) return false;
        out->layout = home->whole_layout;
    }
    out->base = own->base;
    out->word = (uint64_t)(r->offset_bytes + own->word_bias);
    return true;
}

/* Enter a settled access under the task's mark; false: the general way has to. */
static inline bool hbg__short_note(struct hbg_graph *g, const struct hbg__short_access *access, uint32_t mark)
{
    struct hbg__storage *home = &g->storages[access->home_writes / 2];
    bool writes = access->home_writes % 2;
    if (HBG_UNLIKELY(access->cell == HBG__NIL)) {
        if (home->grid) return false;   /* another argument of this task has brought one */
        if (!writes) return hbg__reader_add(g, &home->readers, mark);
        home->writer = mark;
        home->readers = 0;
        return true;
    }
    struct hbg__cell *cell = hbg__cell_at(g, access->cell);
    if (!writes) return hbg__reader_add(g, &cell->readers, mark);
    hbg__cell_written(home, access->cell, mark);
    cell->writer = mark;
    cell->readers = 0;
    return true;
}

#endif /* HBG_GRAPH_SHORT_WAY_H */
