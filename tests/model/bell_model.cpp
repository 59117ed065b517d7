/* SPDX-License-Identifier: Apache-2.0 */
/* bell_model.cpp - announce, re-check, sleep: a thread that sleeps without a time limit is woken by what it waits for.
   weakened: 5 */
#include "model/model.h"
#include "sched/bell.h"

/* One makes a thing true and rings for one, two wait for it; each waiter that saw it rings on. A missed wake is a deadlock. */
struct bell_suite : rl::test_suite<bell_suite, 3> {
    hbg__bell bell;
    hbg__atomic_u32 thing;
    rl::var<int> made;

    void before()
    {
        hbg__bell_open(&bell);
        hbg__store_relaxed32(&thing, 0);
    }

    bool is_true() { return hbg__load_relaxed32(&thing) != 0; }

    void thread(unsigned index)
    {
        if (index == 0) {
            made($) = 1;
            hbg__store_release32(&thing, 1);
            hbg__bell_ring(&bell, 2);
            return;
        }
        while (!is_true()) {
            uint32_t seen = hbg__bell_announce(&bell);
            if (is_true()) hbg__bell_retract(&bell);
            else hbg__bell_sleep(&bell, seen, UINT64_MAX);
        }
        RL_ASSERT(hbg__load_acquire32(&thing) == 1);
        RL_ASSERT(made($) == 1);
    }

    void after() { RL_ASSERT(hbg__load_relaxed32(&bell.sleepers) == 0); }
};

int main() { return model_holds<bell_suite>(200000, 1) ? 0 : 1; }
