/* SPDX-License-Identifier: Apache-2.0 */
/* producers.h - the producers of one task: unique marks in ascending order.
 *
 * Producers mostly arrive in order and are few, so a new mark is looked for from the end; many (an explicit `after` of
 * thousands) are searched by halves.
 */
#ifndef HBG_GRAPH_PRODUCERS_H
#define HBG_GRAPH_PRODUCERS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct hbg__producers {
    uint32_t *mark;                     /* ascending, unique, never 0 */
    uint32_t count, capacity;
};

/* False: there is no room for one more. 0 is nobody and is passed over. */
static inline bool hbg__producers_add(struct hbg__producers *p, uint32_t mark)
{
    uint32_t at = p->count;
    if (mark == 0) return true;
    if (at > 16 && p->mark[at - 1] >= mark) {
        uint32_t lo = 0, hi = at;
        while (lo < hi) {
            uint32_t middle = (lo + hi) / 2;
            if (p->mark[middle] < mark) lo = middle + 1; else hi = middle;
        }
        if (lo < at && p->mark[lo] == mark) return true;
        at = lo;
    } else {
        while (at > 0 && p->mark[at - 1] > mark) at--;
        if (at > 0 && p->mark[at - 1] == mark) return true;
    }
    if (p->count == p->capacity) return false;
    if (p->count > 16) memmove(p->mark + at + 1, p->mark + at, (size_t)(p->count - at) * sizeof *p->mark);
    else for (uint32_t i = p->count; i > at; i--) p->mark[i] = p->mark[i - 1];
    p->mark[at] = mark;
    p->count++;
    return true;
}

#endif /* HBG_GRAPH_PRODUCERS_H */
