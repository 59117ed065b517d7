/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - why a region is bad. A view that cannot be made is an empty region with HBG_REGION_BAD that remembers the first
 * reason; views of it stay as they are, and the submit or the run that is given it reports the sentence.
 */
#ifndef HBG_GRAPH_VIEW_H
#define HBG_GRAPH_VIEW_H

#include <stddef.h>

#include <hbg/region.h>

/* One sentence fragment without a full stop, at most size_bytes with its end. The region is bad. */
void hbg__region_reason(const struct hbg_region *region, char *text, size_t size_bytes);

#endif /* HBG_GRAPH_VIEW_H */
