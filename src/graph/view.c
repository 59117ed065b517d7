/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - the views that are not inline, host memory as regions, and the reasons of bad ones.
 *
 * A bad region made here has no elements (every dimension is 0), so build code that loops over its shape does nothing. Where a
 * dtype would stand it has BAD_DTYPE + reason, and its first two strides hold the numbers of the sentence; views of it, inline
 * ones included, pass both on. A bad region of an inline view keeps its dtype, its shape and its offset: they are what is known.
 *
 * Nothing here clamps, and nothing here is an access.
 */
#include "graph/view.h"

#include <inttypes.h>
#include <stdio.h>

enum { BAD_DTYPE = 0x2000 };            /* above every dtype */
enum bad_reason {
    BAD_RANK, BAD_DIMENSION, BAD_INDEX, BAD_ORDER, BAD_COUNT, BAD_GAPS, BAD_BROADCAST, BAD_ELEMENT, BAD_TYPE, BAD_SIZE, BAD_NULL,
    BAD_TOO_LARGE, BAD_POSITION, BAD_BUFFER, BAD_OFFSET, BAD_REASONS
};

static struct hbg_region bad(struct hbg_region x, enum bad_reason reason, int64_t first, int64_t second)
{
    if (x.flags & HBG_REGION_BAD) return x;                     /* the first reason stays */
    struct hbg_region r = { .storage = x.storage, .dtype = (uint16_t)(BAD_DTYPE + (int)reason), .rank = x.rank > HBG_RANK_MAX ? HBG_RANK_MAX : x.rank,
                            .flags = (uint8_t)(x.flags | HBG_REGION_BAD), .stride_bytes = { first, second } };
    return r;
}

/* Nothing can be taken of it: it is bad, or no function made it, and becomes bad. */
static bool is_bad(struct hbg_region *x)
{
    if (!(x->flags & HBG_REGION_BAD) && x->rank > HBG_RANK_MAX) *x = bad(*x, BAD_RANK, x->rank, HBG_RANK_MAX);
    return x->flags & HBG_REGION_BAD;
}

struct hbg_region hbg__region_of_no_position(int i, size_t count)
{
    return bad((struct hbg_region){ .rank = 1 }, BAD_POSITION, i, (int64_t)count);
}

struct hbg_region hbg__region_of_no_buffer(void)
{
    return bad((struct hbg_region){ .flags = HBG_REGION_BUFFER }, BAD_BUFFER, 0, 0);
}

struct hbg_region hbg__region_of_no_offset(uint64_t offset)
{
    return bad((struct hbg_region){ .flags = HBG_REGION_BUFFER }, BAD_OFFSET, (int64_t)offset, 0);
}

/* "4 x 5", of at most five numbers */
static void shape_text(const int64_t *number, int rank, char text[128])
{
    size_t used = 0;
    snprintf(text, 128, "one element");
    for (int d = 0; d < rank; d++) used += (size_t)snprintf(text + used, 128 - used, "%s%" PRId64, d ? " x " : "", number[d]);
}

/* The only dimension in which a view and all of its storage differ in size; -1: none, or several. */
static int sliced_dimension(const struct hbg_region *r, const struct hbg_region *whole)
{
    int found = -1;
    for (int d = 0; d < r->rank; d++) {
        if (r->shape[d] == whole->shape[d]) continue;
        if (found >= 0) return -1;
        found = d;
    }
    return found;
}

/* Was it cut as a cell out of all of its storage, beginning at `begin` along this dimension, behind its end? A cell is clipped at the end, so its
   size says where it begins; the others begin inside. */
static bool is_cell_behind(const struct hbg_region *r, const struct hbg_region *whole, int dimension, int64_t *begin)
{
    int64_t rest = r->offset_bytes, skipped;
    if (r->shape[dimension] >= 0 || __builtin_sub_overflow(whole->shape[dimension], r->shape[dimension], begin) ||
        __builtin_mul_overflow(*begin, whole->stride_bytes[dimension], &skipped) || __builtin_sub_overflow(rest, skipped, &rest)) return false;
    for (int d = 0; d < r->rank; d++) {
        if (d == dimension) continue;
        int64_t first = rest / whole->stride_bytes[d];
        if (first < 0 || first > whole->shape[d]) return false;
        rest -= first * whole->stride_bytes[d];
    }
    return rest == 0;
}

/* A slice or a cell: how large it would be, and where in its storage, as far as the strides are still those of all of it. Element
   numbers are counted from the outermost dimension on, so the first may be out of range where another one is meant. */
static void inline_reason(const struct hbg_region *r, const struct hbg_region *whole, char *text, size_t size_bytes)
{
    char size[128], all[128], from[128];
    int64_t first[HBG_RANK_MAX], rest = r->offset_bytes;
    int rank = r->rank > HBG_RANK_MAX ? HBG_RANK_MAX : r->rank;
    bool known = whole && whole->rank == rank && rank > 0;
    shape_text(r->shape, rank, size);
    for (int d = 0; known && d < rank; d++) {
        int64_t stride = whole->stride_bytes[d];
        known = stride > 0 && stride == r->stride_bytes[d];
        if (!known) break;
        first[d] = rest / stride - (rest % stride < 0);
        rest -= first[d] * stride;
    }
    for (int d = 0; known && d < rank; d++) {
        int64_t begin;
        if (!is_cell_behind(r, whole, d, &begin)) continue;
        snprintf(text, size_bytes, "a cell that begins at element %" PRId64 " of dimension %d, which has %" PRId64, begin, d, whole->shape[d]);
        return;
    }
    if (!known || rest != 0) {
        snprintf(text, size_bytes, "a slice or a cell of %s leaves the region that it is taken from", size);
        return;
    }
    int d = sliced_dimension(r, whole);
    shape_text(whole->shape, rank, all);
    if (d >= 0 && r->offset_bytes % whole->stride_bytes[d] == 0) {
        int64_t lo = r->offset_bytes / whole->stride_bytes[d], hi = lo + r->shape[d];
        if (lo < 0 || hi < lo || hi > whole->shape[d]) {
            snprintf(text, size_bytes, "a slice or a cell with indices [%" PRId64 ", %" PRId64 ") of dimension %d, which has %" PRId64, lo, hi, d, whole->shape[d]);
            return;
        }
    }
    bool inside = true;
    for (int i = 0; i < rank; i++) inside = inside && first[i] >= 0 && first[i] + r->shape[i] <= whole->shape[i];
    shape_text(first, rank, from);
    snprintf(text, size_bytes, "a slice or a cell of %s, at element %s of %s, %s", size, from, all,
             inside ? "has a wrong rank or dimension, or leaves a slice" : "leaves the region that it is taken from");
}

void hbg__region_reason(const struct hbg_region *region, const struct hbg_region *whole, char *text, size_t size_bytes)
{
    static const char *const format[BAD_REASONS] = {
        [BAD_RANK] = "a rank of %" PRId64 " where 0 to %" PRId64 " are possible",
        [BAD_DIMENSION] = "dimension %" PRId64 " of a region of rank %" PRId64,
        [BAD_INDEX] = "index %" PRId64 " of a dimension of %" PRId64,
        [BAD_ORDER] = "hbg_permute with an order of rank %" PRId64 " that is no permutation of the %" PRId64 " dimensions",
        [BAD_COUNT] = "hbg_reshape of %" PRId64 " elements to %" PRId64,
        [BAD_GAPS] = "hbg_reshape of a region that is not contiguous: dimension %" PRId64 " has a stride of %" PRId64 " bytes",
        [BAD_BROADCAST] = "hbg_broadcast of a dimension of %" PRId64 " to %" PRId64,
        [BAD_ELEMENT] = "hbg_cast_view of %" PRId64 " bytes to elements of %" PRId64,
        [BAD_TYPE] = "the dtype %" PRId64 ", which does not exist",
        [BAD_SIZE] = "dimension %" PRId64 " of size %" PRId64,
        [BAD_NULL] = "%" PRId64 " elements at a NULL address",
        [BAD_TOO_LARGE] = "more bytes than 63 bits can number",
        [BAD_POSITION] = "hbg_args_region of position %" PRId64 ", where the boundary of %" PRId64 " has no region",
        [BAD_BUFFER] = "hbg_buffer_region of NULL, which is no buffer",
        [BAD_OFFSET] = "hbg_buffer_region at byte %" PRIu64 ", more than 63 bits can number",
    };
    int reason = region->dtype - BAD_DTYPE;
    bool known = reason >= 0 && reason < BAD_REASONS;
    if (region->rank > HBG_RANK_MAX || (!known && hbg_dtype_size(region->dtype) == 0))
        snprintf(text, size_bytes, "no region that a function of hbg has made (rank %d, dtype %d)", region->rank, region->dtype);
    else if (!known) inline_reason(region, whole, text, size_bytes);
    else snprintf(text, size_bytes, format[reason], region->stride_bytes[0], region->stride_bytes[1]);
}

struct hbg_region hbg_index(struct hbg_region x, int dim, int64_t i)
{
    if (is_bad(&x)) return x;
    if (dim < 0 || dim >= x.rank) return bad(x, BAD_DIMENSION, dim, x.rank);
    if (i < 0 || i >= x.shape[dim]) return bad(x, BAD_INDEX, i, x.shape[dim]);
    x.offset_bytes += i * x.stride_bytes[dim];
    x.rank--;
    for (int d = dim; d < x.rank; d++) {
        x.shape[d] = x.shape[d + 1];
        x.stride_bytes[d] = x.stride_bytes[d + 1];
    }
    x.shape[x.rank] = x.stride_bytes[x.rank] = 0;
    return x;
}

struct hbg_region hbg_permute(struct hbg_region x, struct hbg_shape order)
{
    if (is_bad(&x)) return x;
    struct hbg_region r = x;
    unsigned seen = 0;
    if (order.rank != x.rank) return bad(x, BAD_ORDER, order.rank, x.rank);
    for (int d = 0; d < x.rank; d++) {
        int64_t from = order.dim[d];
        if (from < 0 || from >= x.rank || seen & 1u << from) return bad(x, BAD_ORDER, order.rank, x.rank);
        seen |= 1u << from;
        r.shape[d] = x.shape[from];
        r.stride_bytes[d] = x.stride_bytes[from];
    }
    return r;
}

/* Sizes not negative, their product times the element below 2^63. False: *broken is the dimension. */
static bool measure(struct hbg_shape shape, int64_t element, int64_t *count, int *broken)
{
    int64_t bytes = element;
    bool empty = false, fits = true;
    for (int d = 0; d < shape.rank; d++) {
        *broken = d;
        if (shape.dim[d] < 0) return false;
        if (shape.dim[d] == 0) empty = true;
        else if (__builtin_mul_overflow(bytes, shape.dim[d], &bytes)) fits = false;
    }
    *broken = -1;
    *count = empty ? 0 : element ? bytes / element : 0;
    return empty || fits;
}

/* Row-major strides. An empty region has the strides of one in which every 0 is a 1. */
static void set_contiguous(struct hbg_region *r, struct hbg_shape shape, int64_t element)
{
    int64_t stride = element;
    r->rank = (uint8_t)shape.rank;
    for (int d = 0; d < HBG_RANK_MAX; d++) r->shape[d] = r->stride_bytes[d] = 0;
    for (int d = shape.rank - 1; d >= 0; d--) {
        r->shape[d] = shape.dim[d];
        r->stride_bytes[d] = stride;
        if (shape.dim[d] > 1 && __builtin_mul_overflow(stride, shape.dim[d], &stride)) stride = 0;      /* only in an empty region */
    }
}

/* Checks that reshape, broadcast and host memory share; the result is bad, or x as it came. */
static struct hbg_region check_shape(struct hbg_region x, struct hbg_shape shape, int64_t element, int64_t *count)
{
    int broken;
    *count = 0;
    if (shape.rank < 0 || shape.rank > HBG_RANK_MAX) return bad(x, BAD_RANK, shape.rank, HBG_RANK_MAX);
    if (measure(shape, element, count, &broken)) return x;
    return broken >= 0 ? bad(x, BAD_SIZE, broken, shape.dim[broken]) : bad(x, BAD_TOO_LARGE, 0, 0);
}

static struct hbg_shape shape_of(struct hbg_region x)
{
    struct hbg_shape shape = { .rank = x.rank };
    for (int d = 0; d < x.rank; d++) shape.dim[d] = x.shape[d];
    return shape;
}

struct hbg_region hbg_reshape(struct hbg_region x, struct hbg_shape shape)
{
    int64_t have, want, element = hbg_dtype_size(x.dtype), stride = element;
    if (is_bad(&x)) return x;
    x = check_shape(x, shape_of(x), element, &have);
    x = check_shape(x, shape, element, &want);
    if (x.flags & HBG_REGION_BAD) return x;
    if (have != want) return bad(x, BAD_COUNT, have, want);
    for (int d = x.rank - 1; d >= 0 && have > 0; d--) {
        if (x.shape[d] == 1) continue;
        if (x.stride_bytes[d] != stride) return bad(x, BAD_GAPS, d, x.stride_bytes[d]);
        stride *= x.shape[d];
    }
    set_contiguous(&x, shape, element);
    return x;
}

struct hbg_region hbg_broadcast(struct hbg_region x, struct hbg_shape shape)
{
    if (is_bad(&x)) return x;
    struct hbg_region r = x;
    int64_t count;
    r = check_shape(r, shape, 0, &count);
    if (r.flags & HBG_REGION_BAD) return r;
    if (shape.rank < x.rank) return bad(x, BAD_RANK, shape.rank, HBG_RANK_MAX);
    r.rank = (uint8_t)shape.rank;
    for (int d = 0; d < shape.rank; d++) {
        int from = d - (shape.rank - x.rank);
        if (from >= 0 && x.shape[from] != shape.dim[d] && x.shape[from] != 1) return bad(x, BAD_BROADCAST, x.shape[from], shape.dim[d]);
        r.shape[d] = shape.dim[d];
        r.stride_bytes[d] = from >= 0 && x.shape[from] == shape.dim[d] ? x.stride_bytes[from] : 0;
    }
    return r;
}

struct hbg_region hbg_cast_view(struct hbg_region x, enum hbg_dtype dtype)
{
    int64_t from = hbg_dtype_size(x.dtype), to = hbg_dtype_size(dtype), row;
    int last = x.rank - 1;
    if (is_bad(&x)) return x;
    if (to == 0) return bad(x, BAD_TYPE, dtype, 0);
    x.dtype = (uint16_t)dtype;
    if (to == from) return x;
    /* the last dimension holds other elements: its bytes must be in one piece */
    row = last < 0 ? from : x.shape[last];
    if (last >= 0 && __builtin_mul_overflow(row, from, &row)) return bad(x, BAD_TOO_LARGE, 0, 0);
    if (last < 0 || row % to || (x.shape[last] > 1 && x.stride_bytes[last] != from)) return bad(x, BAD_ELEMENT, row, to);
    x.shape[last] = row / to;
    x.stride_bytes[last] = to;
    return x;
}

static struct hbg_region host_region(const void *data, int dtype, struct hbg_shape shape, unsigned flags)
{
    struct hbg_region r = { .dtype = (uint16_t)dtype, .flags = (uint8_t)(HBG_REGION_HOST | flags), .offset_bytes = (int64_t)(uintptr_t)data };
    int64_t element = hbg_dtype_size(dtype), count;
    if (element == 0) return bad(r, BAD_TYPE, dtype, 0);
    r = check_shape(r, shape, element, &count);
    if (r.flags & HBG_REGION_BAD) return r;
    if (!data && count > 0) return bad(r, BAD_NULL, count, 0);
    set_contiguous(&r, shape, element);
    return r;
}

struct hbg_region hbg_host(void *data, enum hbg_dtype dtype, struct hbg_shape shape)
{
    return host_region(data, dtype, shape, 0);
}

struct hbg_region hbg_host_const(const void *data, enum hbg_dtype dtype, struct hbg_shape shape)
{
    return host_region(data, dtype, shape, HBG_REGION_READ_ONLY);
}

struct hbg_region hbg_host_strided(void *data, enum hbg_dtype dtype, struct hbg_shape shape, struct hbg_shape stride_bytes)
{
    struct hbg_region r = host_region(data, dtype, shape, 0);
    if (r.flags & HBG_REGION_BAD) return r;
    if (stride_bytes.rank != shape.rank) return bad(r, BAD_RANK, stride_bytes.rank, shape.rank);
    for (int d = 0; d < shape.rank; d++) r.stride_bytes[d] = stride_bytes.dim[d];
    return r;
}
