/* SPDX-License-Identifier: Apache-2.0 */
/* subgraph.h - a body recorded once, submitted as one task. Refused with HBG_E_UNSUPPORTED by this version. */
#ifndef HBG_SUBGRAPH_H
#define HBG_SUBGRAPH_H

#include <hbg/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct hbg_key - what a recorded body is found by: a name and its construction parameters.
 *
 * Parameters are compared as bytes and handed to the body.
 */
struct hbg_key { const char *name; const void *params; size_t params_size; };

/**
 * hbg_subgraph - submit a body as one task of this graph; the first submission of a key records it.
 *
 * fn          in   the body: called with a boundary of its own, made of `list`
 *
 * Errors   HBG_E_UNSUPPORTED, always in this version
 */
HBG_API struct hbg_task hbg_subgraph(struct hbg_graph *g, struct hbg_key key, hbg_build_fn *fn, struct hbg_arg_list list);

/**
 * hbg_key_of - a key from its parts; name and parameters are borrowed.
 */
HBG__INLINE struct hbg_key hbg_key_of(const char *name, const void *params, size_t params_size)
{ struct hbg_key k; k.name = name; k.params = params; k.params_size = params_size; return k; }

/**
 * HBG_KEY - the key of a name and a parameter struct: HBG_KEY("layer", params).
 */
#define HBG_KEY(name, params) hbg_key_of((name), &(params), sizeof(params))

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_SUBGRAPH_H */
