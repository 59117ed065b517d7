/* SPDX-License-Identifier: Apache-2.0 */
/* types.h - element types, shapes, and structs that know their size. */
#ifndef HBG_TYPES_H
#define HBG_TYPES_H

#include <hbg/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Dimensions a region can have; more is refused by name, never cut. */
enum { HBG_RANK_MAX = 5 };

/* The type of one element. HBG_F16 and HBG_BF16 are moved and counted like the others, but no scalar is made of them. */
enum hbg_dtype {
    HBG_BOOL = 1, HBG_I8, HBG_U8, HBG_I16, HBG_U16, HBG_I32, HBG_U32, HBG_I64, HBG_U64, HBG_F16, HBG_BF16, HBG_F32, HBG_F64,
    HBG_RECORD_0 = 0x1000,      /* HBG_RECORD(n): n bytes that hbg does not interpret */
    HBG_RECORD_MAX_ = 0x1fff    /* the largest dtype; no name for a type */
};
/**
 * HBG_RECORD - the dtype of elements of `bytes` bytes that hbg does not interpret.
 *
 * For fp8, complex numbers, packed 4-bit blocks (18 bytes hold 32 weights), structs of your own: 1 to 4095 bytes.
 */
#define HBG_RECORD(bytes) HBG__CAST(enum hbg_dtype, HBG_RECORD_0 + (bytes))

/**
 * hbg_dtype_size - bytes of one element.
 *
 * Returns  0 for a number that is no dtype
 * Threads  any, at any time
 */
HBG__INLINE int64_t hbg_dtype_size(int dtype)
{
    static const uint8_t size[] = { 0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8 };
    return dtype >= HBG_RECORD_0 ? (dtype <= HBG_RECORD_MAX_ ? dtype - HBG_RECORD_0 : 0) : dtype > 0 && dtype <= HBG_F64 ? size[dtype] : 0;
}

/**
 * struct hbg_shape - up to five numbers: a shape, an index, a cell, strides, an order of dimensions.
 *
 * Made by HBG_SHAPE; rank 0 is one element. Only dim[0 .. rank) is looked at.
 */
struct hbg_shape { int64_t dim[HBG_RANK_MAX]; int rank; };

/**
 * HBG_SHAPE - a shape from its numbers: HBG_SHAPE(rows, columns).
 *
 * 1 to 5 whole numbers. More do not compile in C++; in C the compiler warns, and whatever uses the shape refuses its rank. The
 * shape of rank 0 is a zeroed struct hbg_shape.
 */

#ifndef __cplusplus
#define HBG__RANK(...) ((int)(sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)))
#define HBG_SHAPE(...) ((struct hbg_shape){ { __VA_ARGS__ }, HBG__RANK(__VA_ARGS__) })
/**
 * HBG_OPTIONS - a zeroed struct that knows its size: struct hbg_device_options o = HBG_OPTIONS(device_options).
 *
 * name        in   error, counters, result, running, .._info or one of the structs whose name ends in _options, without its hbg_
 *
 * Zero means the default in every option.
 */
#define HBG_OPTIONS(name) ((struct hbg_##name){ .size = sizeof(struct hbg_##name) })
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef __cplusplus
template <class... D> inline hbg_shape hbg__shape(D... d)
{
    static_assert(sizeof...(D) <= HBG_RANK_MAX, "rank up to 5");
    return { { static_cast<int64_t>(d)... }, static_cast<int>(sizeof...(D)) };
}
template <class T> inline T hbg__options() { T o{}; o.size = sizeof(T); return o; }
#define HBG_SHAPE(...) hbg__shape(__VA_ARGS__)
#define HBG_OPTIONS(name) hbg__options<struct hbg_##name>()
#endif

#endif /* HBG_TYPES_H */
