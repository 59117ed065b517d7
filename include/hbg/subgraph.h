/* SPDX-License-Identifier: Apache-2.0 */
/* subgraph.h - a body that is submitted as one task: a layer of a model, a step of a solver. */
#ifndef HBG_SUBGRAPH_H
#define HBG_SUBGRAPH_H

#include <hbg/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct hbg_key - what a body is known by: a name and its construction parameters.
 *
 * Parameters are bytes, handed to the body. Bodies of one key are the same function of their boundary and these bytes.
 */
struct hbg_key { const char *name; const void *params; size_t params_size; };

/**
 * hbg_subgraph - submit a body as one task of this graph.
 *
 * key         in   borrowed for the call
 * fn          in   the body, called once, with a boundary of its own: hbg_args_region() and hbg_args_scalar() count positions of `list`
 * list        in   regions that the build may name now, with the access that the body has to them; scalars, constants or bound ones of the
 *                  boundary around it (hbg_args_scalar()); hbg_after() takes no position and orders the whole body
 *
 * Inside the body all of hbg/graph.h may be called, and hbg_subgraph() again. What is `in` is read-only there. Its intermediates and
 * scopes end with it; its tasks cannot be named outside, nor tasks from outside in it. A region from outside may be used although it is
 * not in the list. In this version the tasks of a body are submitted in place at each call: nothing is kept from one to the next, and
 * a body costs what its tasks cost.
 *
 * Returns  the task that ends the body: hbg_after() it is to come after all of it. Whoever shares data with tasks of the body waits for
 *          those alone
 * Threads  inside a build function
 * Cost     the body's tasks, and one noop; one more where the list has an hbg_after()
 * Errors   latched, with the name of the key: HBG_E_REGION, HBG_E_SCOPE, HBG_E_ACCESS (written, but read-only; a bound position that is
 *          no scalar), HBG_E_TASK_ID, HBG_E_ORDER (a scope that is open at the body's end, or not the body's), HBG_E_LIMIT, HBG_E_NULL,
 *          HBG_E_UNSUPPORTED (inside a manual scope; hbg_bytes() or hbg_accumulate() in the list); whatever the body latches
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
