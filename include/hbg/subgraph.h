/* SPDX-License-Identifier: Apache-2.0 */
/* subgraph.h - a body that is recorded once and submitted as one task: a layer of a model, a step of a solver.
 *
 * The first submission of a key calls the body, with a graph of its own, and keeps what it submitted as a definition, on the device.
 * Every later submission whose boundary fits writes one record, whatever the body's size; the device makes the body's tasks out of the
 * definition. Definitions are kept for all programs of a device that have the same kernel table, up to definition_budget_bytes, and of
 * one key up to 32: when one more comes, the least recently used goes that nothing names.
 *
 * A definition fits while what its body depended on is the same: number, access, types, shapes and strides of the boundary; which of its
 * regions share storage, and their distances in it; values that the body looked at (hbg_args_get_i32(), hbg_read(), hbg_guard()).
 * Addresses, bound scalars and constants that the body only passes on are not among these. Where none fits the body is recorded again,
 * beside the others, which costs a try of each: a value that differs each time is better bound than looked at. Regions that overlap at
 * another distance each time are recorded once more as ones that conflict as wholes, which fits at every distance.
 */
#ifndef HBG_SUBGRAPH_H
#define HBG_SUBGRAPH_H

#include <hbg/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct hbg_key - what a body is known by: a name and its construction parameters.
 *
 * Parameters are bytes, handed to the body, copied and compared. Padding is compared as well: what stands in it is nobody's choice, so a
 * struct that has some may be another key each time, which costs a recording and is told by subgraphs_recorded alone. Leave no padding, or
 * clear the struct with memset() before its fields are set.
 *
 * Bodies of one key are the same function of their boundary and these bytes, so these tell one layer from another: a body that names
 * device buffers has pointers to them, or a number that stands for them, among its parameters. A pointer that is used again for another buffer does no
 * harm, since hbg_buffer_destroy() drops the definitions that name the buffer. HBG_VERIFY_REPLAY=n records one of n that are found again and
 * says HBG_E_IMAGE where they are not the same.
 *
 * Two functions under one key are HBG_E_IMAGE where one build submits both and they submit other tasks. Where the first of them submits a body that cannot
 * be kept they cannot be compared, and each call is recorded. Functions of different builds have definitions of their own.
 */
struct hbg_key { const char *name; const void *params; size_t params_size; };

/**
 * hbg_subgraph - submit a body as one task of this graph.
 *
 * key         in   borrowed for the call
 * fn          in   the body; called where no definition fits, once, with a graph and a boundary of its own: hbg_args_region() and
 *                  hbg_args_scalar() count positions of `list`
 * list        in   regions that the build may name now, with the access that the body has to them; scalars, constants or bound ones of the
 *                  boundary around it (hbg_args_scalar()); hbg_after() takes no position and orders the whole body
 *
 * Inside the body all of hbg/graph.h may be called with the graph that it was given, and hbg_subgraph() again. What is `in` is
 * read-only there. Intermediates and scopes end with the body; its tasks cannot be named outside, nor tasks from outside in it. Device
 * buffers may be named in it (weights, told apart by the key): the submission accesses them as wholes.
 *
 * To the graph around it the body is one task: what shares data with any of its boundary waits for all of it. A body that uses a region or a
 * bound scalar from outside that is not in its list cannot be kept: it is recorded for this submission alone, with its tasks in the
 * order of their submits, and later bodies of its key are submitted in place, as tasks of this graph. So are bodies that are nested
 * more than 32 deep.
 *
 * Returns  the task that the body is: hbg_after() it is to come after all of it
 * Threads  inside a build function
 * Cost     where a definition fits: one record, and of each argument what it costs in a submit; else the body's tasks, and a copy of
 *          their records
 * Errors   latched, with the name of the key: HBG_E_REGION, HBG_E_SCOPE, HBG_E_ACCESS (written, but read-only; a bound position that is
 *          no scalar), HBG_E_TASK_ID, HBG_E_ORDER (a scope that is open at the body's end, or not the body's; a call on the graph around
 *          it), HBG_E_LIMIT, HBG_E_NULL, HBG_E_IMAGE (another body under this key),
 *          HBG_E_UNSUPPORTED (inside a manual scope; hbg_bytes() or hbg_accumulate() in the list); whatever the body latches
 */
HBG_API struct hbg_task hbg_subgraph(struct hbg_graph *g, struct hbg_key key, hbg_build_fn *fn, struct hbg_arg_list list);

/**
 * hbg_key_of - a key from its parts; name and parameters are borrowed.
 */
HBG__INLINE struct hbg_key hbg_key_of(const char *name, const void *params, size_t params_size)
{ struct hbg_key k; k.name = name; k.params = params; k.params_size = params_size; return k; }

/**
 * HBG_KEY - the key of a name and of parameters, a struct or a number that stands in a variable: HBG_KEY("layer", shape).
 *
 * A pointer to void, as the parameters of a build function are, does not compile: its own bytes would be the key, not what it points to.
 */
#ifndef __cplusplus
struct hbg__key_of_the_struct_and_not_of_a_pointer_to_it { int none; };
#define HBG__NO_KEY (struct hbg__key_of_the_struct_and_not_of_a_pointer_to_it){ 0 }
#define HBG_KEY(name, params)                                                                                              \
    hbg_key_of((name), _Generic(&(params), void **: HBG__NO_KEY, void *const *: HBG__NO_KEY, const void **: HBG__NO_KEY,    \
                                const void *const *: HBG__NO_KEY, default: &(params)), sizeof(params))
#endif

#ifdef __cplusplus
} /* extern "C" */

template <class T> inline const void *hbg__key_of_the_struct_and_not_of_a_pointer_to_it(const T *params) { return params; }
inline const void *hbg__key_of_the_struct_and_not_of_a_pointer_to_it(void *const *params) = delete;
inline const void *hbg__key_of_the_struct_and_not_of_a_pointer_to_it(const void *const *params) = delete;
#define HBG_KEY(name, params) hbg_key_of((name), hbg__key_of_the_struct_and_not_of_a_pointer_to_it(&(params)), sizeof(params))
#endif

#endif /* HBG_SUBGRAPH_H */
