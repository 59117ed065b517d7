/* SPDX-License-Identifier: Apache-2.0 */
/* ring_model.cpp - the shared ring: full, wrapping, with stale cells, and a batched pop that looks one cell too far.
   weakened: 1 2 */
#include "model/model.h"
#include "sched/ring.h"

/* Two threads push two entries each into two cells, one pops in batches. Positions wrap in the middle. */
struct ring_suite : rl::test_suite<ring_suite, 3> {
    enum { CAPACITY = 2, ENTRIES = 4 };
    hbg__ring ring;
    hbg__ring_cell cell[CAPACITY];
    rl::var<int> made[ENTRIES];         /* written before the push, read after the pop: a race is a missing order */
    int popped[ENTRIES];

    void before()
    {
        for (int i = 0; i < CAPACITY; ++i) hbg__store_relaxed32(&cell[i].sequence, 0x7fffffffu);
        hbg__ring_open(&ring, cell, CAPACITY, UINT32_MAX - 1);
        for (int i = 0; i < ENTRIES; ++i) popped[i] = 0;
    }

    void thread(unsigned index)
    {
        if (index < 2) {
            for (unsigned i = 0; i < 2; ++i) {
                unsigned entry = index * 2 + i;
                made[entry]($) = 1;
                while (!hbg__ring_push(&ring, entry)) hbg__yield();
            }
            return;
        }
        for (unsigned count = 0; count < ENTRIES;) {
            uint64_t entry[3];
            unsigned got = hbg__ring_pop_many(&ring, entry, 3);
            for (unsigned i = 0; i < got; ++i) {
                RL_ASSERT(entry[i] < ENTRIES);
                RL_ASSERT(made[entry[i]]($) == 1);
                RL_ASSERT(++popped[entry[i]] == 1);
            }
            count += got;
            if (got == 0) hbg__yield();
        }
    }

    void after() { RL_ASSERT(!hbg__ring_has_entries(&ring)); }
};

/* Two threads pop what one pushes: each entry goes to one of them. */
struct ring_poppers : rl::test_suite<ring_poppers, 3> {
    enum { CAPACITY = 2, ENTRIES = 3 };
    hbg__ring ring;
    hbg__ring_cell cell[CAPACITY];
    rl::var<int> made[ENTRIES];
    rl::atomic<int> popped;

    void before()
    {
        hbg__ring_open(&ring, cell, CAPACITY, 0);
        popped.store(0, rl::mo_relaxed, $);
    }

    void thread(unsigned index)
    {
        if (index == 0) {
            for (unsigned entry = 0; entry < ENTRIES; ++entry) {
                made[entry]($) = 1;
                while (!hbg__ring_push(&ring, entry)) hbg__yield();
            }
            return;
        }
        while (popped.load(rl::mo_relaxed, $) < ENTRIES) {
            uint64_t entry[2];
            unsigned got = hbg__ring_pop_many(&ring, entry, index);
            for (unsigned i = 0; i < got; ++i) {
                RL_ASSERT(made[entry[i]]($) == 1);
                made[entry[i]]($) = 2;
            }
            if (got) popped.fetch_add((int)got, rl::mo_relaxed, $);
            else hbg__yield();
        }
    }
};

int main()
{
    return model_holds<ring_suite>(100000, 2) && model_holds<ring_poppers>(300000, 1) ? 0 : 1;
}
