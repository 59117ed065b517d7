/* SPDX-License-Identifier: Apache-2.0 */
/* region.h - regions: strided views of storage. They are values; making one is no access.
 *
 * A view that cannot be made (an index out of range, a reshape of other size, a rank above 5) is a *bad* region: it has the flag
 * HBG_REGION_BAD, every view of it is bad as well, and the submit or the run that is given it fails with HBG_E_REGION and names
 * the argument. So build code needs no check after each view. Nothing is clamped, except by hbg_cell() at the far edge.
 *
 * Functions of this header run on any thread, allocate nothing, and cost a few nanoseconds.
 */
#ifndef HBG_REGION_H
#define HBG_REGION_H

#include <hbg/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* hbg_region.flags: may not be written; cannot be used; lies in host memory; lies in a device buffer. */
enum { HBG_REGION_READ_ONLY = 1, HBG_REGION_BAD = 2, HBG_REGION_HOST = 4, HBG_REGION_BUFFER = 8 };

/**
 * struct hbg_region - a strided view: storage, offset, element type, shape, strides.
 *
 * Element (i, j, ..) lies at offset_bytes + i * stride_bytes[0] + j * stride_bytes[1] + .. of the storage. Strides may be negative
 * or zero. Build code may read dtype, rank, shape and strides; regions are made by the functions below, by hbg_args_region(),
 * hbg_alloc() and hbg_buffer_region(), not by hand.
 */
struct hbg_region {            /* 96 bytes: a multiple of 32, so that wide copies do not overlap */
    uint32_t storage;           /* opaque: a buffer, host memory, a boundary position or an intermediate */
    uint16_t dtype;             /* enum hbg_dtype */
    uint8_t rank, flags;        /* flags: HBG_REGION_* */
    int64_t offset_bytes;       /* of element 0; host memory: its address */
    int64_t shape[HBG_RANK_MAX];
    int64_t stride_bytes[HBG_RANK_MAX];
};

/* Sums and products that wrap for bad views, as those of signed numbers may not. */
#define HBG__WRAP(a, op, b) HBG__CAST(int64_t, HBG__CAST(uint64_t, a) op HBG__CAST(uint64_t, b))
#define HBG__TIMES(a, b) HBG__WRAP(a, *, b)

/* The two inline views build a whole new value: copying a region and patching it would cost 3 to 5 times as much, since a wide load of
   freshly patched words waits for the store buffer. */

/**
 * hbg_slice - indices [lo, hi) of one dimension; the others as they are.
 *
 * dim         in   0 <= dim < rank
 * lo, hi      in   0 <= lo <= hi <= shape[dim]; lo == hi is an empty region, legal anywhere
 *
 * Returns  a region of the same rank; a bad one where that does not hold
 */
HBG__INLINE struct hbg_region hbg_slice(struct hbg_region x, int dim, int64_t lo, int64_t hi)
{
    int64_t stride = dim == 0 ? x.stride_bytes[0] : dim == 1 ? x.stride_bytes[1] : dim == 2 ? x.stride_bytes[2]
                   : dim == 3 ? x.stride_bytes[3] : x.stride_bytes[4];
    int64_t extent = dim == 0 ? x.shape[0] : dim == 1 ? x.shape[1] : dim == 2 ? x.shape[2] : dim == 3 ? x.shape[3] : x.shape[4];
    int bad = (HBG__CAST(unsigned, dim) >= x.rank) | (lo < 0) | (hi < lo) | (hi > extent);
    int64_t off = HBG__WRAP(x.offset_bytes, +, HBG__TIMES(lo, stride));
    struct hbg_region r = { x.storage, x.dtype, x.rank, HBG__CAST(uint8_t, x.flags | (bad ? HBG_REGION_BAD : 0)), off,
        { dim == 0 ? hi - lo : x.shape[0], dim == 1 ? hi - lo : x.shape[1], dim == 2 ? hi - lo : x.shape[2],
          dim == 3 ? hi - lo : x.shape[3], dim == 4 ? hi - lo : x.shape[4] },
        { x.stride_bytes[0], x.stride_bytes[1], x.stride_bytes[2], x.stride_bytes[3], x.stride_bytes[4] } };
    return r;
}

/**
 * hbg_cell - cell `at` of the grid that cells of size `cell` make of the region, clipped at the far edges.
 *
 * x           in   the region; its rank, that of cell and that of at agree
 * cell        in   elements of a cell along each dimension
 * at          in   which cell, counted from 0 along each dimension; it begins at at * cell, which is at most the shape
 *
 * Returns  a region of the same rank; a bad one where that does not hold. A cell that begins right at the far edge is empty.
 *
 * Cost     the cheapest kind of region to submit: equal cells of one grid are found by their index, without comparing views
 */
HBG__INLINE struct hbg_region hbg_cell(struct hbg_region x, struct hbg_shape cell, struct hbg_shape at)
{
    int64_t n[HBG_RANK_MAX], off = x.offset_bytes;
    int bad = (cell.rank != x.rank) | (at.rank != x.rank);
#define HBG__CELL(d)        /* by hand: gcc -O2 leaves a loop here as a loop, four times as slow */                   \
    { int64_t lo = d < at.rank ? HBG__TIMES(at.dim[d], cell.dim[d]) : 0, left = HBG__WRAP(x.shape[d], -, lo);          \
      n[d] = d >= at.rank ? 1 : left < cell.dim[d] ? left : cell.dim[d];                                               \
      bad |= (lo < 0) | (n[d] < 0); off = HBG__WRAP(off, +, HBG__TIMES(lo, x.stride_bytes[d])); }
    HBG__CELL(0) HBG__CELL(1) HBG__CELL(2) HBG__CELL(3) HBG__CELL(4)
#undef HBG__CELL
    struct hbg_region r = { x.storage, x.dtype, x.rank, HBG__CAST(uint8_t, x.flags | (bad ? HBG_REGION_BAD : 0)), off,
        { n[0], n[1], n[2], n[3], n[4] },
        { x.stride_bytes[0], x.stride_bytes[1], x.stride_bytes[2], x.stride_bytes[3], x.stride_bytes[4] } };
    return r;
}

/**
 * hbg_index - x[.., i, ..]: fix one dimension and drop it.
 *
 * dim         in   0 <= dim < rank
 * i           in   0 <= i < shape[dim]
 *
 * Returns  a region of one rank less; a bad one where that does not hold
 */
HBG_API struct hbg_region hbg_index(struct hbg_region x, int dim, int64_t i);

/**
 * hbg_permute - put the dimensions into another order; a transpose is HBG_SHAPE(1, 0).
 *
 * order       in   dimension d of the result is dimension order.dim[d] of x; each dimension once
 *
 * Returns  a region of the same rank; a bad one where the order is no permutation
 */
HBG_API struct hbg_region hbg_permute(struct hbg_region x, struct hbg_shape order);

/**
 * hbg_reshape - the same elements in row-major order under another shape.
 *
 * x           in   contiguous: without gaps in row-major order (the strides of dimensions of size 1 do not matter)
 * shape       in   as many elements as x has
 *
 * Returns  a contiguous region; a bad one where that does not hold
 */
HBG_API struct hbg_region hbg_reshape(struct hbg_region x, struct hbg_shape shape);

/**
 * hbg_broadcast - repeat dimensions of size 1, and put new ones in front, by strides of zero.
 *
 * shape       in   compared from the last dimension on: each of its sizes is that of x, or x has 1 or no dimension there
 *
 * Returns  a region of that shape; a bad one where that does not hold
 */
HBG_API struct hbg_region hbg_broadcast(struct hbg_region x, struct hbg_shape shape);

/**
 * hbg_cast_view - the same bytes as elements of another type.
 *
 * x           in   where the sizes of the types differ: its last dimension has no gaps, and as many bytes as make whole elements
 * dtype       in   any, HBG_RECORD too
 *
 * Returns  the last dimension counts the new elements, the others are as they were; a bad region where that does not hold
 */
HBG_API struct hbg_region hbg_cast_view(struct hbg_region x, enum hbg_dtype dtype);

/**
 * hbg_host - host memory as an argument of a run, row-major without gaps.
 *
 * data        in   its first element; may be NULL for an empty region. Borrowed from prepare to finish: nobody else writes it
 *                  meanwhile, and nobody reads what the run writes
 *
 * Returns  a region for the argument list of a run. Views of it may be passed as well; build code that names it directly fails with
 *          HBG_E_REGION, since host memory comes in through the boundary. A bad region for an unknown dtype, a NULL address, or more
 *          bytes than 63 bits can number.
 *
 * Arguments of one list whose bytes overlap are one storage: kernels see one version, and conflicts between them are found.
 */
HBG_API struct hbg_region hbg_host(void *data, enum hbg_dtype dtype, struct hbg_shape shape);

/**
 * hbg_host_const - host memory that is only read: as hbg_host(), and passing it as out or inout is HBG_E_ACCESS.
 */
HBG_API struct hbg_region hbg_host_const(const void *data, enum hbg_dtype dtype, struct hbg_shape shape);

/**
 * hbg_host_strided - host memory with strides of one's own, as hbg_host().
 *
 * data          in   element 0; with negative strides it is not the lowest address
 * stride_bytes  in   one stride a dimension, in bytes; negative and zero are allowed
 */
HBG_API struct hbg_region hbg_host_strided(void *data, enum hbg_dtype dtype, struct hbg_shape shape, struct hbg_shape stride_bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_REGION_H */
