/* SPDX-License-Identifier: Apache-2.0 */
/* raw_view.h - views as a caller writes them, seeded random ones, and their bytes by enumeration.
 *
 * The enumeration is the oracle of the view tests: it walks every element and shares no code with src/graph.
 */
#ifndef HBG_TEST_RAW_VIEW_H
#define HBG_TEST_RAW_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

enum { RAW_VIEW_RANK_MAX = 5 };

struct raw_view {
    int64_t offset, element;
    int rank;
    int64_t shape[RAW_VIEW_RANK_MAX];
    int64_t stride[RAW_VIEW_RANK_MAX];
};

/* Set bytes[k] = 1 for every byte k that the view touches; false when one lies outside [0, size). */
bool raw_view_mark(const struct raw_view *view, uint8_t *bytes, int64_t size);

/* Any view inside `size` bytes: rank 0-4, dims 0-6, strides -64..64 bytes, elements of 1, 2, 4 or 8 bytes. */
struct raw_view raw_view_random(struct hbg__rng *rng, int64_t size);

/* Move the view so that its lowest byte is `lo`. */
void raw_view_place(struct raw_view *view, int64_t lo);

/* Lowest byte to highest byte, in bytes; 0 when empty. */
int64_t raw_view_extent(const struct raw_view *view);

/* A whole array of `rank` dimensions of 1 to dim_max, whose strides leave gaps in about half of the dimensions. */
struct raw_view raw_view_random_parent(struct hbg__rng *rng, int rank, int64_t dim_max, int64_t element, int64_t gap_max);

/* A box of a parent: sliced, in part reversed, its dimensions permuted and those of one index dropped; 1 in 40 is empty.
   lo and hi receive the indices [lo, hi) along each dimension of the parent. */
struct raw_view raw_view_random_box(struct hbg__rng *rng, const struct raw_view *parent, int64_t *lo, int64_t *hi);

/* "offset 8 element 4 shape 3x2 stride 16,-4" in a buffer that the next but one call overwrites. */
const char *raw_view_text(const struct raw_view *view);

#endif /* HBG_TEST_RAW_VIEW_H */
