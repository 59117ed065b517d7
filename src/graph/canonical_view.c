/* SPDX-License-Identifier: Apache-2.0 */
/* canonical_view.c - see canonical_view.h. Dimensions are sorted by insertion: they mostly arrive in order. */
#include "graph/canonical_view.h"

static bool has_zero(int rank, const int64_t *shape)
{
    for (int d = 0; d < rank; d++) {
        if (shape[d] == 0) return true;
    }
    return false;
}

bool hbg__view_bounds(int64_t offset_bytes, int64_t element_bytes, int rank, const int64_t *shape, const int64_t *stride_bytes,
                      int64_t *lo, int64_t *hi)
{
    int64_t low = offset_bytes, high = offset_bytes, span;
    if (element_bytes < 0) return false;
    for (int d = 0; d < rank; d++) {
        if (shape[d] < 0) return false;
    }
    if (element_bytes > 0 && !has_zero(rank, shape)) {
        for (int d = 0; d < rank; d++) {
            int64_t *side = stride_bytes[d] < 0 ? &low : &high;
            if (__builtin_mul_overflow(shape[d] - 1, stride_bytes[d], &span)) return false;
            if (__builtin_add_overflow(*side, span, side)) return false;
        }
        if (__builtin_add_overflow(high, element_bytes, &high)) return false;
    }
    *lo = low;
    *hi = high;
    return true;
}

/* Keep the dimensions that add bytes, walked upwards and in ascending order of stride; lowers *lo for those that
   were walked downwards. Returns their number. */
static int ascending_dimensions(int rank, const int64_t *shape, const int64_t *stride_bytes, int64_t *size, int64_t *step,
                                int64_t *lo)
{
    int kept = 0;
    for (int d = rank - 1; d >= 0; d--) {
        int64_t n = shape[d], s = stride_bytes[d];
        int at = kept;
        if (n == 1 || s == 0) continue;
        if (s < 0) {
            *lo += (n - 1) * s;
            s = -s;
        }
        for (; at > 0 && step[at - 1] > s; at--) {
            size[at] = size[at - 1];
            step[at] = step[at - 1];
        }
        size[at] = n;
        step[at] = s;
        kept++;
    }
    return kept;
}

bool hbg__view_canonical(struct hbg__view *view, int64_t offset_bytes, int64_t element_bytes, int rank, const int64_t *shape,
                         const int64_t *stride_bytes)
{
    int64_t size[HBG__VIEW_RANK_MAX], step[HBG__VIEW_RANK_MAX], count[HBG__VIEW_RANK_MAX], stride[HBG__VIEW_RANK_MAX];
    int64_t lo = offset_bytes, run = element_bytes;
    int used = 0;
    HBG_DEBUG_ASSERT(rank >= 0 && rank <= HBG__VIEW_RANK_MAX);
    if (element_bytes == 0 || has_zero(rank, shape)) return false;
    int kept = ascending_dimensions(rank, shape, stride_bytes, size, step, &lo);
    for (int d = 0; d < kept; d++) used = hbg__view_add_dimension(&run, used, count, stride, size[d], step[d]);
    view->lo = lo;
    view->run = run;
    view->rank = used;
    for (int d = 0; d < used; d++) {
        view->count[d] = count[used - 1 - d];
        view->stride[d] = stride[used - 1 - d];
    }
    return true;
}

bool hbg__view_bytes(const struct hbg__view *view, int64_t *bytes)
{
    int64_t inside = view->run;             /* bytes from the first to the last, of the dimensions seen so far */
    int64_t number = view->run;             /* different ones among them */
    for (int d = view->rank - 1; d >= 0; d--) {
        if (view->stride[d] < inside) return false;
        inside += (view->count[d] - 1) * view->stride[d];
        number *= view->count[d];
    }
    *bytes = number;
    return true;
}
