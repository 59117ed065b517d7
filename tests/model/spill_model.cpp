/* SPDX-License-Identifier: Apache-2.0 */
/* spill_model.cpp - the spill list: tasks come back once each, with what was written before they were pushed, though they are
   pushed and popped by everybody and the same task returns.
   weakened: 6 7 */
#include "model/model.h"
#include "sched/spill.h"

struct spill_suite : rl::test_suite<spill_suite, 3> {
    enum { TASKS = 3 };
    hbg__spill spill;
    hbg__slot slot[TASKS];
    rl::var<int> holder[TASKS];         /* written by whoever has the task: a race is a task that two have */

    void before()
    {
        hbg__spill_open(&spill);
        for (unsigned i = 0; i < TASKS; ++i) {
            holder[i]($) = 0;
            hbg__store_relaxed32(&slot[i].link, 0xaaaaaaaa);
        }
    }

    /* Each thread begins with a task of its own, and twice puts what it has and takes what it gets. */
    void thread(unsigned index)
    {
        uint32_t task = index;
        bool has = true;
        for (int round = 0; round < 2; ++round) {
            if (has) {
                holder[task]($) = (int)index;
                hbg__spill_push(&spill, slot, task);
            }
            has = hbg__spill_pop(&spill, slot, &task);
            if (!has) continue;
            RL_ASSERT(task < TASKS);
            holder[task]($) = 10 + (int)index;
        }
        if (has) hbg__spill_push(&spill, slot, task);
    }

    void after()
    {
        uint32_t task = 0, seen = 0;
        for (int i = 0; i < TASKS; ++i) {
            RL_ASSERT(hbg__spill_pop(&spill, slot, &task));
            RL_ASSERT(!(seen & 1u << task));
            seen |= 1u << task;
        }
        RL_ASSERT(!hbg__spill_has_entries(&spill));
    }
};

int main() { return model_holds<spill_suite>(100000, 2) ? 0 : 1; }
