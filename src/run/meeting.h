/* SPDX-License-Identifier: Apache-2.0 */
/* meeting.h - which arguments of two tasks touch bytes in common, where one of the two may write them. */
#ifndef HBG_RUN_MEETING_H
#define HBG_RUN_MEETING_H

#include "base/alloc.h"
#include "graph/canonical_view.h"

/* The bytes of one argument. */
struct hbg__touch {
    struct hbg__view view;
    int64_t end;                        /* one past the highest byte */
    uint32_t position;                  /* among the task's arguments */
    bool reads;                         /* and does not write */
};

struct hbg__meeting {
    uint32_t mine, theirs;              /* positions of the first pair: by mine, then by theirs */
    uint32_t pair_count;
};

/* Both lists in the order of their positions. Cost: (m + n) log n, and a comparison for each two whose hulls meet and one of which has
   gaps; without the memory for that, m x n. */
void hbg__meeting_find(struct hbg__memory *memory, const struct hbg__touch *mine, uint32_t my_count, const struct hbg__touch *theirs,
                       uint32_t their_count, struct hbg__meeting *meeting);

#endif /* HBG_RUN_MEETING_H */
