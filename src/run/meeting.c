/* SPDX-License-Identifier: Apache-2.0 */
/* meeting.c - see meeting.h.
 *
 * Ranges without gaps are counted and not compared: of those that begin before a range ends, all meet it but those that end before it
 * begins, and two sorted lists give both numbers. Views with gaps are compared, each with those whose hulls meet its own: they
 * are sorted by their begins, and `reach` says how far anything up to a place goes.
 */
#include "run/meeting.h"

#include <stdlib.h>
#include <string.h>

#include "graph/region_overlap.h"

/* Below this many pairs the sorting is not worth it. */
enum { FEW_PAIRS = 256 };

static bool meets(const struct hbg__touch *a, const struct hbg__touch *b)
{
    return !(a->reads && b->reads) && a->view.lo < b->end && b->view.lo < a->end && hbg__view_overlap(&a->view, &b->view) != HBG__DISJOINT;
}

static void count_pair(struct hbg__meeting *meeting, const struct hbg__touch *mine, const struct hbg__touch *theirs)
{
    if (meeting->pair_count++) return;
    meeting->mine = mine->position;
    meeting->theirs = theirs->position;
}

static void compare_all(const struct hbg__touch *mine, uint32_t my_count, const struct hbg__touch *theirs, uint32_t their_count,
                        struct hbg__meeting *meeting)
{
    for (uint32_t i = 0; i < my_count; i++)
        for (uint32_t j = 0; j < their_count; j++)
            if (meets(&mine[i], &theirs[j])) count_pair(meeting, &mine[i], &theirs[j]);
}

/* ---- sorted lists ---- */

/* Begins and ends of ranges without gaps, each sorted for itself. */
struct ranges { int64_t *lo, *end; uint32_t count; };

/* Touches by their begins. */
struct spread { const struct hbg__touch **touch; int64_t *reach; uint32_t count; };

struct index {
    struct ranges all, writing;
    struct spread whole, gapped;        /* whole: the ranges without gaps */
    int64_t *numbers;                   /* of all lists */
    const struct hbg__touch **touches;
};

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int by_begin(const void *a, const void *b)
{
    return by_number(&(*(const struct hbg__touch *const *)a)->view.lo, &(*(const struct hbg__touch *const *)b)->view.lo);
}

static void add_range(struct ranges *r, const struct hbg__touch *t)
{
    r->lo[r->count] = t->view.lo;
    r->end[r->count++] = t->end;
}

static void sort_ranges(struct ranges *r)
{
    qsort(r->lo, r->count, sizeof *r->lo, by_number);
    qsort(r->end, r->count, sizeof *r->end, by_number);
}

static void sort_spread(struct spread *s)
{
    qsort(s->touch, s->count, sizeof *s->touch, by_begin);
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t before = i ? s->reach[i - 1] : INT64_MIN, end = s->touch[i]->end;
        s->reach[i] = end > before ? end : before;
    }
}

static size_t number_bytes(uint32_t count) { return 6 * (size_t)count * sizeof(int64_t); }
static size_t touch_bytes(uint32_t count) { return 2 * (size_t)count * sizeof(struct hbg__touch *); }

static void index_free(struct hbg__memory *memory, struct index *x, uint32_t count)
{
    hbg__free(memory, x->numbers, number_bytes(count), 16);
    hbg__free(memory, x->touches, touch_bytes(count), 16);
}

static bool index_make(struct hbg__memory *memory, struct index *x, const struct hbg__touch *touch, uint32_t count)
{
    memset(x, 0, sizeof *x);
    x->numbers = hbg__alloc(memory, number_bytes(count), 16);
    x->touches = hbg__alloc(memory, touch_bytes(count), 16);
    if (!x->numbers || !x->touches) {
        index_free(memory, x, count);
        return false;
    }
    x->all = (struct ranges){ x->numbers, x->numbers + count, 0 };
    x->writing = (struct ranges){ x->numbers + 2 * (size_t)count, x->numbers + 3 * (size_t)count, 0 };
    x->whole = (struct spread){ x->touches, x->numbers + 4 * (size_t)count, 0 };
    x->gapped = (struct spread){ x->touches + count, x->numbers + 5 * (size_t)count, 0 };
    for (uint32_t i = 0; i < count; i++) {
        struct spread *s = touch[i].view.rank ? &x->gapped : &x->whole;
        s->touch[s->count++] = &touch[i];
        if (touch[i].view.rank) continue;
        add_range(&x->all, &touch[i]);
        if (!touch[i].reads) add_range(&x->writing, &touch[i]);
    }
    sort_ranges(&x->all);
    sort_ranges(&x->writing);
    sort_spread(&x->whole);
    sort_spread(&x->gapped);
    return true;
}

/* ---- looking up ---- */

/* how many of the sorted numbers are below the limit */
static uint32_t below(const int64_t *number, uint32_t count, int64_t limit)
{
    uint32_t first = 0;
    while (count) {
        uint32_t half = count / 2;
        if (number[first + half] < limit) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

static uint32_t count_ranges(const struct ranges *r, const struct hbg__touch *t)
{
    return below(r->lo, r->count, t->end) - below(r->end, r->count, t->view.lo + 1);
}

static uint32_t count_spread(const struct spread *s, const struct hbg__touch *t)
{
    uint32_t first = 0, count = s->count, met = 0;
    while (count) {                     /* first: how many begin before t ends */
        uint32_t half = count / 2;
        if (s->touch[first + half]->view.lo < t->end) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    while (first > 0 && s->reach[first - 1] > t->view.lo) met += meets(t, s->touch[--first]);
    return met;
}

static uint32_t count_index(const struct index *x, const struct hbg__touch *t)
{
    uint32_t whole = t->view.rank ? count_spread(&x->whole, t) : count_ranges(t->reads ? &x->writing : &x->all, t);
    return whole + count_spread(&x->gapped, t);
}

void hbg__meeting_find(struct hbg__memory *memory, const struct hbg__touch *mine, uint32_t my_count, const struct hbg__touch *theirs,
                       uint32_t their_count, struct hbg__meeting *meeting)
{
    struct index x;
    *meeting = (struct hbg__meeting){ 0 };
    if ((uint64_t)my_count * their_count <= FEW_PAIRS || !index_make(memory, &x, theirs, their_count)) {
        compare_all(mine, my_count, theirs, their_count, meeting);
        return;
    }
    for (uint32_t i = 0; i < my_count; i++) {
        uint32_t met = count_index(&x, &mine[i]), j = 0;
        if (!met) continue;
        if (!meeting->pair_count) {     /* the first one: which of theirs is it? */
            while (!meets(&mine[i], &theirs[j])) j++;
            meeting->mine = mine[i].position;
            meeting->theirs = theirs[j].position;
        }
        meeting->pair_count += met;
    }
    index_free(memory, &x, their_count);
}
