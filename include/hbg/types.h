/* SPDX-License-Identifier: Apache-2.0 */
/* types.h - element types, shapes, and option structs. */
#ifndef HBG_TYPES_H
#define HBG_TYPES_H

#include <hbg/version.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HBG_RANK_MAX = 5 };
enum hbg_dtype {
    HBG_BOOL = 1, HBG_I8, HBG_U8, HBG_I16, HBG_U16, HBG_I32, HBG_U32, HBG_I64, HBG_U64, HBG_F16, HBG_BF16, HBG_F32, HBG_F64,
    HBG_RECORD_0 = 0x1000,      /* HBG_RECORD(n): n bytes that hbg does not interpret */
    HBG_RECORD_MAX_ = 0x1fff
};
/* fp8, complex, packed 4-bit blocks (18 bytes hold 32 weights), user structs: 1 to 4095 bytes */
#define HBG_RECORD(bytes) ((enum hbg_dtype)(HBG_RECORD_0 + (bytes)))

HBG__INLINE int64_t hbg_dtype_size(int dtype)
{
    static const uint8_t size[] = { 0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8 };
    return dtype >= HBG_RECORD_0 ? dtype - HBG_RECORD_0 : dtype > 0 && dtype <= HBG_F64 ? size[dtype] : 0;
}

struct hbg_shape { int64_t dim[HBG_RANK_MAX]; int rank; };

#ifndef __cplusplus
#define HBG__RANK(...) ((int)(sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)))
#define HBG_SHAPE(...) ((struct hbg_shape){ { __VA_ARGS__ }, HBG__RANK(__VA_ARGS__) })
/* a zeroed struct of options or results that knows its size: struct hbg_error e = HBG_OPTIONS(error); */
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
