/* SPDX-License-Identifier: Apache-2.0 */
/* written.h - has a submitted task written what build code wants to read? */
#ifndef HBG_GRAPH_WRITTEN_H
#define HBG_GRAPH_WRITTEN_H

#include "graph/graph.h"

/* The latest task that writes a byte of the access, of the begin of the open manual scope when it is one in there; HBG__NIL: none does.
   Of a kernel without a signature every argument counts as written. False: latched.
   Cost: a look at the hazard map; where that says that somebody may, the arguments of all tasks. */
bool hbg__written_by(struct hbg_graph *g, const struct hbg__access *access, uint32_t *task);

/* In a body: may a task of it have written some of region x, of the storage `own`, by another name? An argument, a captured region and a buffer that the
   body names may be the same bytes, which have histories of their own there. Ranges of bytes are compared, and of a buffer that is named the whole.
   Cost: nothing where neither the body nor one around it captures or names anything; else a look at each storage. */
bool hbg__written_by_another_name(const struct hbg_graph *g, const struct hbg__storage *own, const struct hbg_region *x);

#endif /* HBG_GRAPH_WRITTEN_H */
