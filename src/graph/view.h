/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - why a region is bad. A view that cannot be made is a region with HBG_REGION_BAD that remembers the first reason; views
 * of it stay as they are, and the submit or the run that is given it reports the sentence.
 *
 * A slice or a cell is made inline, where nothing can be written down: its shape and offset are all that is left. Together with
 * the region that its storage is, `whole`, they say where it would have been.
 */
#ifndef HBG_GRAPH_VIEW_H
#define HBG_GRAPH_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include <hbg/region.h>

/* One sentence fragment without a full stop, at most size_bytes with its end. The region is bad. whole: all of its storage, from
   which offsets count; NULL: not known. */
void hbg__region_reason(const struct hbg_region *region, const struct hbg_region *whole, char *text, size_t size_bytes);

/* What stands for boundary position i, which is no region, of `count`. */
struct hbg_region hbg__region_of_no_position(int i, size_t count);

/* What stands for hbg_buffer_region() of NULL, or at an offset that no region can have. */
struct hbg_region hbg__region_of_no_buffer(void);
struct hbg_region hbg__region_of_no_offset(uint64_t offset);

#endif /* HBG_GRAPH_VIEW_H */
