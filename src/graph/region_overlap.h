/* SPDX-License-Identifier: Apache-2.0 */
/* region_overlap.h - do two views of one storage share a byte? */
#ifndef HBG_GRAPH_REGION_OVERLAP_H
#define HBG_GRAPH_REGION_OVERLAP_H

#include "graph/canonical_view.h"

enum hbg__overlap {
    HBG__DISJOINT,
    HBG__OVERLAP,
    HBG__MAYBE          /* the search was given up: to be treated as an overlap */
};

/* Both views come from hbg__view_canonical. DISJOINT and OVERLAP are always true; MAYBE is possible only where
   three or more different strides interleave (region_overlap.c says when it is not). */
enum hbg__overlap hbg__view_overlap(const struct hbg__view *a, const struct hbg__view *b);

#endif /* HBG_GRAPH_REGION_OVERLAP_H */
