/* SPDX-License-Identifier: Apache-2.0 */
/* subgraph.h - a body recorded once, submitted as one task. */
#ifndef HBG_SUBGRAPH_H
#define HBG_SUBGRAPH_H

#include <hbg/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* the key: a name and the construction parameters, copied and compared as bytes, handed to the body */
struct hbg_key { const char *name; const void *params; size_t params_size; };
HBG_API struct hbg_task hbg_subgraph(struct hbg_graph *g, struct hbg_key key, hbg_build_fn *fn, struct hbg_arg_list list);
HBG__INLINE struct hbg_key hbg_key_of(const char *name, const void *params, size_t params_size)
{ struct hbg_key k; k.name = name; k.params = params; k.params_size = params_size; return k; }
#define HBG_KEY(name, params) hbg_key_of((name), &(params), sizeof(params))

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_SUBGRAPH_H */
