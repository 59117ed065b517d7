/* SPDX-License-Identifier: Apache-2.0 */
/* canonical_view.h - a strided view as the bytes that it touches, in a form made for comparing.
 *
 * A view touches offset + sum of index[d] * stride[d] + [0, element). Which of its elements a byte belongs to, and in which
 * order they come, is no matter here: only the set of bytes is kept.
 *
 *      lo         lo + run              lo + stride[0]                       end
 *      |##########|. . . . . . . . . . .|##########|. . . . . . . . . . . . .|      count[0] runs in this drawing
 *
 * Invariants: run >= 1; count[d] >= 2; stride[0] >= stride[1] >= .. > run. Nothing equal to another form of the same bytes is
 * promised, with one exception: bytes without a gap always have rank 0.
 *
 * How it is made: negative strides are walked from their other end; strides of zero and dimensions of size one add no byte and
 * go; a stride that the run reaches makes the run longer; an outer stride that is a multiple m of an inner one whose count
 * is m or more makes the inner count larger (this covers dimensions that continue each other, m = count, and equal strides, m = 1).
 * The exception holds because the lowest byte behind the first run can only be touched through the smallest stride.
 *
 * Arithmetic: hbg__view_bounds takes anything. All else takes views whose bytes lie in [0, 2^62); then no sum or product
 * here leaves 63 bits.
 */
#ifndef HBG_GRAPH_CANONICAL_VIEW_H
#define HBG_GRAPH_CANONICAL_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"

enum { HBG__VIEW_RANK_MAX = 5 };

struct hbg__view {
    int64_t lo;                             /* the lowest byte, from the start of the storage */
    int64_t run;                            /* bytes without a gap */
    int32_t rank;
    int64_t count[HBG__VIEW_RANK_MAX];
    int64_t stride[HBG__VIEW_RANK_MAX];     /* bytes, descending */
};

/* The hull [*lo, *hi) of a view; lo == hi == offset when it is empty. False, and nothing set: a negative size, or a byte
   that 64 bits cannot number. */
HBG_MUST_CHECK bool hbg__view_bounds(int64_t offset_bytes, int64_t element_bytes, int rank, const int64_t *shape,
                                     const int64_t *stride_bytes, int64_t *lo, int64_t *hi);

/* False, and nothing set: the view touches nothing. */
HBG_MUST_CHECK bool hbg__view_canonical(struct hbg__view *view, int64_t offset_bytes, int64_t element_bytes, int rank,
                                        const int64_t *shape, const int64_t *stride_bytes);

/* The number of different bytes, known when every stride is at least as long as what lies inside it. False, and
   nothing set: dimensions interleave. */
HBG_MUST_CHECK bool hbg__view_bytes(const struct hbg__view *view, int64_t *bytes);

/* One past the highest byte. */
static inline int64_t hbg__view_end(const struct hbg__view *view)
{
    int64_t end = view->lo + view->run;
    for (int d = 0; d < view->rank; d++) end += (view->count[d] - 1) * view->stride[d];
    return end;
}

/* Does the view touch [lo, hi), all of it and nothing else? */
static inline bool hbg__view_covers(const struct hbg__view *view, int64_t lo, int64_t hi)
{
    return view->rank == 0 && view->lo == lo && view->run == hi - lo;
}

/* Add a dimension to a run and to `rank` dimensions of ascending stride; `step` is at least the largest of them and
   `size` is 2 or more. Returns the new rank. */
static inline int hbg__view_add_dimension(int64_t *run, int rank, int64_t *count, int64_t *stride, int64_t size, int64_t step)
{
    HBG_DEBUG_ASSERT(size >= 2 && step > 0 && (rank == 0 || step >= stride[rank - 1]));
    if (step <= *run) {                     /* rank is 0: every stride in the list is longer than the run */
        *run += (size - 1) * step;
        return rank;
    }
    for (int d = rank - 1; d >= 0; d--) {
        if (step - stride[d] > (count[d] - 1) * stride[d]) continue;        /* leaves a gap: step > count * stride */
        int64_t times = step == stride[d] ? 1 : step / stride[d];
        if (times * stride[d] != step) continue;
        count[d] += (size - 1) * times;
        return rank;
    }
    count[rank] = size;
    stride[rank] = step;
    return rank + 1;
}

#endif /* HBG_GRAPH_CANONICAL_VIEW_H */
