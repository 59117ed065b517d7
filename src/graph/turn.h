/* SPDX-License-Identifier: Apache-2.0 */
/* turn.h - whose turn it is to be verified: one of each n replays.
 *
 * Every n-th would do where replays have no order of their own. But a build submits the same bodies in the same order each time, and programs take
 * turns: in step with n every n-th is always the same one. So replays are counted in groups of n, and each group has its turn at another place.
 */
#ifndef HBG_GRAPH_TURN_H
#define HBG_GRAPH_TURN_H

#include "atomic/atomic.h"
#include "base/hash.h"

/* One more has been seen: is it its turn? every: 0: it never is. */
static inline bool hbg__turn_comes(struct hbg__atomic_u64 *seen, uint64_t every)
{
    if (HBG_LIKELY(every == 0)) return false;
    uint64_t count = hbg__fetch_add_relaxed64(seen, 1);     /* relaxed: a count */
    return count % every == hbg__hash_u64(count / every) % every;
}

#endif /* HBG_GRAPH_TURN_H */
