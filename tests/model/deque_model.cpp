/* SPDX-License-Identifier: Apache-2.0 */
/* deque_model.cpp - a worker's own queue: every entry is taken once, the last one by the owner or by a thief, never by both.
   weakened: 2 5 */
#include "model/model.h"
#include "sched/deque.h"

/* The owner pushes and takes, two threads steal; the queue holds two, so places are used again while thieves look. */
struct deque_suite : rl::test_suite<deque_suite, 3> {
    enum { ENTRIES = 4 };
    hbg__deque deque;
    rl::var<int> made[ENTRIES];         /* 1 by the owner before the push, 2 by whoever gets it: a race is a missing order */

    void before() { hbg__deque_open(&deque, 0); }

    void got(uint64_t entry)
    {
        RL_ASSERT(entry < ENTRIES);
        RL_ASSERT(made[entry]($) == 1);
        made[entry]($) = 2;
    }

    void thread(unsigned index)
    {
        uint64_t entry;
        if (index == 0) {
            for (unsigned i = 0; i < ENTRIES; ++i) {
                made[i]($) = 1;
                while (!hbg__deque_push(&deque, i))
                    if (hbg__deque_take(&deque, &entry)) got(entry);
                if (i == 1 && hbg__deque_take(&deque, &entry)) got(entry);
            }
            while (hbg__deque_take(&deque, &entry)) got(entry);
        } else {
            for (int tries = 0; tries < 2; ++tries)
                if (hbg__deque_steal(&deque, &entry)) got(entry);
        }
    }

    void after()
    {
        uint64_t top;
        RL_ASSERT(hbg__deque_size(&deque, &top) == 0);
        for (unsigned i = 0; i < ENTRIES; ++i) RL_ASSERT(made[i]($) == 2);
    }
};

int main() { return model_holds<deque_suite>(300000, 2) ? 0 : 1; }
