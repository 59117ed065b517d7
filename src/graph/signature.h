/* SPDX-License-Identifier: Apache-2.0 */
/* signature.h - take the text of a signature apart. The grammar stands at struct hbg_kernel in <hbg/kernel.h>.
 *
 *   text                 kind                dtype
 *   in f32               HBG_ARG_IN          HBG_F32
 *   inout any            HBG_ARG_INOUT       0
 *   out record           HBG_ARG_OUT         HBG_RECORD_0: a record of any size
 *   in record[18]        HBG_ARG_IN          HBG_RECORD(18)
 *   f32, any             HBG_ARG_SCALAR      HBG_F32, 0
 *   bytes, bytes[24]     HBG_ARG_BYTES       0, 24
 */
#ifndef HBG_GRAPH_SIGNATURE_H
#define HBG_GRAPH_SIGNATURE_H

#include "base/alloc.h"
#include "graph/build.h"

/* The types that hbg_bool(), hbg_i32() and their kin make scalars of. */
static inline bool hbg__is_scalar_dtype(int dtype)
{
    return dtype == HBG_BOOL || dtype == HBG_I32 || dtype == HBG_U32 || dtype == HBG_I64 || dtype == HBG_U64 || dtype == HBG_F32 || dtype == HBG_F64;
}

/* NULL text gives a signature that permits all. HBG_E_SIGNATURE: the sentence names `what` and the word; HBG_E_NO_MEMORY. */
enum hbg_status hbg__signature_parse(const char *text, struct hbg__memory *memory, const char *what, struct hbg__signature *signature,
                                     struct hbg_error *error);
void hbg__signature_free(struct hbg__signature *signature, struct hbg__memory *memory);

/* Does an argument of a list fit position i? A bound scalar counts as its dtype. */
bool hbg__signature_permits(const struct hbg__signature *signature, uint32_t i, const struct hbg_arg *arg);

/* "in f32", for messages, of an argument and of a position; the buffer holds 32 bytes */
void hbg__signature_text_of_arg(const struct hbg_arg *arg, char *text);
void hbg__signature_text_of(const struct hbg__signature *signature, uint32_t i, char *text);

#endif /* HBG_GRAPH_SIGNATURE_H */
