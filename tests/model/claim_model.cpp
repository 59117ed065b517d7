/* SPDX-License-Identifier: Apache-2.0 */
/* claim_model.cpp - claim mode: words are closed by a store and watched by consumers, run after run.
   weakened: 1 2 */
#include "model/model.h"
#include "sched/slot.h"

/* Thread i runs task i, which waits for the tasks below it: 2 for both, 1 for task 0. Twice, with two epochs, one run behind the other. */
struct claim_suite : rl::test_suite<claim_suite, 3> {
    hbg__slot slot[3];
    rl::var<int> made[2][3];
    rl::atomic<unsigned> left;

    void before()
    {
        left.store(0, rl::mo_relaxed, $);
        for (unsigned i = 0; i < 3; ++i) {
            hbg__store_relaxed64(&slot[i].word, hbg__slot_word(4, HBG__SLOT_OK));
            made[0][i]($) = made[1][i]($) = 0;
        }
    }

    void thread(unsigned index)
    {
        for (unsigned run = 0; run < 2; ++run) {
            uint32_t epoch = 5 + run;
            for (unsigned producer = 0; producer < index; ++producer) {
                uint32_t state;
                while (!hbg__slot_is_closed(state = hbg__slot_look(slot, epoch, producer))) rl::yield(1, $);
                RL_ASSERT(state == (producer == 0 ? HBG__SLOT_FAILED : HBG__SLOT_OK));
                RL_ASSERT(made[run][producer]($) == 1);
            }
            made[run][index]($) = 1;
            hbg__slot_publish(slot, epoch, index, index == 0 ? HBG__SLOT_FAILED : HBG__SLOT_OK);
            left.fetch_add(1, rl::mo_relaxed, $);
            while (left.load(rl::mo_relaxed, $) < 3 * (run + 1)) rl::yield(1, $);   /* orders nothing: the words must */
        }
    }
};

int main() { return model_holds<claim_suite>(200000, 0) ? 0 : 1; }
