/* SPDX-License-Identifier: Apache-2.0 */
/* region.h - regions: strided views of a buffer. They are values; making one is no access. */
#ifndef HBG_REGION_H
#define HBG_REGION_H

#include <hbg/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HBG_REGION_READ_ONLY = 1, HBG_REGION_BAD = 2, HBG_REGION_HOST = 4, HBG_REGION_BUFFER = 8 };
struct hbg_region {            /* 96 bytes: a multiple of 32, so that wide copies do not overlap */
    uint32_t storage;           /* opaque: a buffer, host memory, a boundary position or an intermediate */
    uint16_t dtype;
    uint8_t rank, flags;        /* HBG_REGION_BAD travels through views; the submit that uses it reports it */
    int64_t offset_bytes;       /* host memory: its address */
    int64_t shape[HBG_RANK_MAX];
    int64_t stride_bytes[HBG_RANK_MAX];
};

/* rows [lo, hi) of one dimension. All view functions build a whole new value: copying and patching one costs
   3 to 5 times as much (a wide load of freshly patched words waits for the store buffer). */
HBG__INLINE struct hbg_region hbg_slice(struct hbg_region x, int dim, int64_t lo, int64_t hi)
{
    int64_t stride = dim == 0 ? x.stride_bytes[0] : dim == 1 ? x.stride_bytes[1] : dim == 2 ? x.stride_bytes[2]
                   : dim == 3 ? x.stride_bytes[3] : x.stride_bytes[4];
    int64_t extent = dim == 0 ? x.shape[0] : dim == 1 ? x.shape[1] : dim == 2 ? x.shape[2] : dim == 3 ? x.shape[3] : x.shape[4];
    int bad = ((unsigned)dim >= x.rank) | (lo < 0) | (hi < lo) | (hi > extent);
    struct hbg_region r = { x.storage, x.dtype, x.rank, (uint8_t)(x.flags | (bad ? HBG_REGION_BAD : 0)), x.offset_bytes + lo * stride,
        { dim == 0 ? hi - lo : x.shape[0], dim == 1 ? hi - lo : x.shape[1], dim == 2 ? hi - lo : x.shape[2],
          dim == 3 ? hi - lo : x.shape[3], dim == 4 ? hi - lo : x.shape[4] },
        { x.stride_bytes[0], x.stride_bytes[1], x.stride_bytes[2], x.stride_bytes[3], x.stride_bytes[4] } };
    return r;
}

/* cell (at) of the grid of `cell`-sized cells, clipped at the far edges; ranks of x, cell and at agree */
HBG__INLINE struct hbg_region hbg_cell(struct hbg_region x, struct hbg_shape cell, struct hbg_shape at)
{
    int64_t n[HBG_RANK_MAX], off = x.offset_bytes;
    int bad = (cell.rank != x.rank) | (at.rank != x.rank);
#define HBG__CELL(d)        /* by hand: gcc -O2 leaves a loop here as a loop, four times as slow */                   \
    { int64_t lo = d < at.rank ? at.dim[d] * cell.dim[d] : 0, left = x.shape[d] - lo;                                  \
      n[d] = d >= at.rank ? 1 : left < cell.dim[d] ? left : cell.dim[d];                                               \
      bad |= (lo < 0) | (n[d] < 0); off += lo * x.stride_bytes[d]; }
    HBG__CELL(0) HBG__CELL(1) HBG__CELL(2) HBG__CELL(3) HBG__CELL(4)
#undef HBG__CELL
    struct hbg_region r = { x.storage, x.dtype, x.rank, (uint8_t)(x.flags | (bad ? HBG_REGION_BAD : 0)), off,
        { n[0], n[1], n[2], n[3], n[4] },
        { x.stride_bytes[0], x.stride_bytes[1], x.stride_bytes[2], x.stride_bytes[3], x.stride_bytes[4] } };
    return r;
}

HBG_API struct hbg_region hbg_index(struct hbg_region x, int dim, int64_t i);              /* x[.., i, ..]: one rank less */
HBG_API struct hbg_region hbg_permute(struct hbg_region x, struct hbg_shape order);
HBG_API struct hbg_region hbg_reshape(struct hbg_region x, struct hbg_shape shape);          /* of contiguous regions */
HBG_API struct hbg_region hbg_broadcast(struct hbg_region x, struct hbg_shape shape);        /* zero strides */
HBG_API struct hbg_region hbg_cast_view(struct hbg_region x, enum hbg_dtype dtype);          /* same bytes, other dtype */

/* host memory as a boundary argument: borrowed from prepare to finish. Overlapping host ranges in one list stay one storage. */
HBG_API struct hbg_region hbg_host(void *data, enum hbg_dtype dtype, struct hbg_shape shape);
HBG_API struct hbg_region hbg_host_const(const void *data, enum hbg_dtype dtype, struct hbg_shape shape);
HBG_API struct hbg_region hbg_host_strided(void *data, enum hbg_dtype dtype, struct hbg_shape shape, struct hbg_shape stride_bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_REGION_H */
