/* SPDX-License-Identifier: Apache-2.0 */
/* raw_view.c - see raw_view.h. */
#include "support/raw_view.h"

#include <inttypes.h>
#include <stdio.h>

bool raw_view_mark(const struct raw_view *view, uint8_t *bytes, int64_t size)
{
    int64_t index[RAW_VIEW_RANK_MAX] = { 0 };
    for (int d = 0; d < view->rank; d++) {
        if (view->shape[d] == 0) return true;
    }
    for (;;) {
        int64_t at = view->offset;
        int d = view->rank - 1;
        for (int k = 0; k < view->rank; k++) at += index[k] * view->stride[k];
        if (at < 0 || at + view->element > size) return false;
        for (int64_t e = 0; e < view->element; e++) bytes[at + e] = 1;
        for (; d >= 0 && ++index[d] == view->shape[d]; d--) index[d] = 0;
        if (d < 0) return true;
    }
}

static int64_t lowest(const struct raw_view *view)
{
    int64_t lo = view->offset;
    for (int d = 0; d < view->rank; d++) {
        if (view->stride[d] < 0) lo += (view->shape[d] - 1) * view->stride[d];
    }
    return lo;
}

void raw_view_place(struct raw_view *view, int64_t lo)
{
    view->offset += lo - lowest(view);
}

int64_t raw_view_extent(const struct raw_view *view)
{
    int64_t extent = view->element;
    for (int d = 0; d < view->rank; d++) {
        int64_t s = view->stride[d];
        if (view->shape[d] == 0) return 0;
        extent += (view->shape[d] - 1) * (s < 0 ? -s : s);
    }
    return extent;
}

struct raw_view raw_view_random(struct hbg__rng *rng, int64_t size)
{
    struct raw_view view = { .rank = (int)hbg__rng_between(rng, 0, 4), .element = (int64_t)1 << hbg__rng_between(rng, 0, 3) };
    for (int d = 0; d < view.rank; d++) {
        view.shape[d] = hbg__rng_between(rng, 0, 6);
        view.stride[d] = hbg__rng_between(rng, -64, 64);
    }
    int64_t extent = raw_view_extent(&view);
    if (extent > 0) raw_view_place(&view, hbg__rng_between(rng, 0, size - extent));
    else view.offset = hbg__rng_between(rng, 0, 2 * size);     /* an empty view may lie anywhere */
    return view;
}

struct raw_view raw_view_random_parent(struct hbg__rng *rng, int rank, int64_t dim_max, int64_t element, int64_t gap_max)
{
    struct raw_view parent = { .rank = rank, .element = element };
    int64_t inside = element;
    for (int d = rank - 1; d >= 0; d--) {
        parent.shape[d] = hbg__rng_between(rng, 1, dim_max);
        parent.stride[d] = inside + (hbg__rng_next(rng) & 1 ? hbg__rng_between(rng, 0, gap_max) : 0);
        inside = parent.shape[d] * parent.stride[d];
    }
    return parent;
}

static void swap(int64_t *a, int64_t *b)
{
    int64_t kept = *a;
    *a = *b;
    *b = kept;
}

/* [lo, hi) of [0, n): in turn the whole, one index, any slice; rarely none. */
static void random_slice(struct hbg__rng *rng, int64_t n, int64_t *lo, int64_t *hi)
{
    int64_t kind = hbg__rng_between(rng, 0, 3);
    *lo = kind == 0 ? 0 : hbg__rng_between(rng, 0, n - 1);
    *hi = kind == 0 ? n : kind == 1 ? *lo + 1 : hbg__rng_between(rng, *lo + 1, n);
}

struct raw_view raw_view_random_box(struct hbg__rng *rng, const struct raw_view *parent, int64_t *lo, int64_t *hi)
{
    struct raw_view box = { .offset = parent->offset, .element = parent->element };
    int64_t emptied = hbg__rng_between(rng, 0, 39);
    for (int d = 0; d < parent->rank; d++) {
        random_slice(rng, parent->shape[d], &lo[d], &hi[d]);
        if (emptied == d) hi[d] = lo[d];
        int64_t n = hi[d] - lo[d], s = parent->stride[d];
        box.offset += lo[d] * s;
        if (n == 1 && hbg__rng_next(rng) & 1) continue;            /* an index: one rank less */
        if (n > 0 && hbg__rng_between(rng, 0, 3) == 0) {
            box.offset += (n - 1) * s;
            s = -s;
        }
        box.shape[box.rank] = n;
        box.stride[box.rank++] = s;
    }
    for (int d = box.rank - 1; d > 0; d--) {
        int other = (int)hbg__rng_between(rng, 0, d);
        swap(&box.shape[d], &box.shape[other]);
        swap(&box.stride[d], &box.stride[other]);
    }
    return box;
}

const char *raw_view_text(const struct raw_view *view)
{
    static char texts[2][320];
    static int turn;
    char *text = texts[turn ^= 1];
    const size_t room = sizeof texts[0];
    size_t at = (size_t)snprintf(text, room, "offset %" PRId64 " element %" PRId64 " shape ", view->offset, view->element);
    for (int d = 0; d < view->rank; d++) at += (size_t)snprintf(text + at, room - at, "%s%" PRId64, d ? "x" : "", view->shape[d]);
    at += (size_t)snprintf(text + at, room - at, " stride ");
    for (int d = 0; d < view->rank; d++) at += (size_t)snprintf(text + at, room - at, "%s%" PRId64, d ? "," : "", view->stride[d]);
    return text;
}
