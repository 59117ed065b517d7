/* SPDX-License-Identifier: Apache-2.0 */
/* wake_model.cpp - slot word, settle and wake lists: registration against completion, with failures, skip bits, pre-linked
   waiters, consecutive runs on the same slots, and a node that is added while the run goes on.
   weakened: 1 3 4 */
#include "model/model.h"
#include "sched/wake_list.h"

void hbg__halt(hbg__worker *, hbg_status, uint32_t, int64_t, int64_t) { RL_ASSERT(false); }
void hbg__push_overflow(hbg__worker *, uint64_t) { RL_ASSERT(false); }
void hbg__hint(hbg__sched *) { RL_ASSERT(false); }

/* Three roots, one for each thread; their consumers wait for up to three of them:

       3: 2, 1, 0      4: 1, 0      5: 2, 0 (a noop of heap reuse: no failure passes)      6: 1, 0, added by thread 2

   0 and 1 are queryable. 3 and 5 are linked to 2, 4 is linked to 1. */
enum { THREADS = 3, TASKS = 7 };

struct model_image {
    hbg__task_record record[TASKS];     /* of task TASKS - 1 first */
    uint64_t payload[2];
};

static void set_record(model_image *image, uint32_t task, uint8_t flags, uint32_t first_waiter, uint32_t next_waiter,
                       const std::initializer_list<uint32_t> &producers)
{
    hbg__task_record *record = &image->record[TASKS - 1 - task];
    memset(record, 0, sizeof *record);
    record->flags = flags;
    record->first_waiter = first_waiter;
    record->next_waiter = next_waiter;
    for (uint32_t &producer : record->producer) producer = HBG__NIL;
    for (uint32_t producer : producers) record->producer[record->producer_count++] = producer;
}

static const model_image *the_image()
{
    static model_image image;
    set_record(&image, 0, HBG__TASK_QUERYABLE, HBG__NIL, HBG__NIL, {});
    set_record(&image, 1, HBG__TASK_QUERYABLE, 4, HBG__NIL, {});
    set_record(&image, 2, 0, 3, HBG__NIL, {});
    set_record(&image, 3, 0, HBG__NIL, 5, { 2, 1, 0 });
    set_record(&image, 4, 0, HBG__NIL, HBG__NIL, { 1, 0 });
    set_record(&image, 5, HBG__TASK_NOOP | HBG__TASK_REUSE, HBG__NIL, HBG__NIL, { 2, 0 });
    set_record(&image, 6, 0, HBG__NIL, HBG__NIL, { 1, 0 });
    return &image;
}

/* The graph once, on real workers. */
struct model_run {
    hbg__worker worker[THREADS];
    rl::var<int> done[TASKS];           /* written by the kernel, read by its consumers: a race is a missing order */
    bool fails;                         /* task 0 does */

    void open(hbg__sched *sched, hbg__slot *slots, uint32_t epoch)
    {
        for (uint32_t i = 0; i < THREADS; ++i) {
            worker[i].sched = sched;
            worker[i].graph.payload = (const unsigned char *)the_image()->payload;
            worker[i].graph.slots = slots;
            worker[i].graph.epoch = epoch;
            worker[i].graph.task_count = TASKS;
            worker[i].next = HBG__NIL;
            worker[i].drain = 0;
            worker[i].executed = worker[i].skipped = worker[i].noops = 0;
            hbg__deque_open(&worker[i].deque, 0);
        }
        for (int i = 0; i < TASKS; ++i) done[i]($) = 0;
        fails = false;
    }

    const hbg__task_record *record(uint32_t task) { return &the_image()->record[TASKS - 1 - task]; }

    void run_task(hbg__worker *me, uint32_t task)
    {
        const hbg__task_record *r = record(task);
        for (uint32_t i = 0; i < r->producer_count; ++i) RL_ASSERT(done[r->producer[i]]($) == 1);
        RL_ASSERT(task < THREADS || !fails);
        RL_ASSERT(done[task]($) == 0);
        done[task]($) = 1;
        ++me->executed;
        hbg__complete(me, r, task, fails && task == 0 ? HBG__SLOT_FAILED : HBG__SLOT_OK);
        hbg__drain(me);
    }

    void work(unsigned index)
    {
        hbg__worker *me = &worker[index];
        uint64_t entry;
        run_task(me, index);
        if (index == 2) {
            hbg__settled settled = hbg__settle(&me->graph, record(6), 6, 0, false);
            if (settled != HBG__SETTLED_WAITS) hbg__release(me, record(6), 6, settled == HBG__SETTLED_SKIPPED);
            hbg__drain(me);
        }
        for (;;) {
            uint32_t task = me->next;
            me->next = HBG__NIL;
            if (task == HBG__NIL && hbg__deque_take(&me->deque, &entry)) task = hbg__entry_task(entry);
            if (task == HBG__NIL) return;
            run_task(me, task);
        }
    }

    void check()
    {
        uint64_t executed = 0, skipped = 0, noops = 0;
        for (const hbg__worker &w : worker) {
            RL_ASSERT(w.drain == 0 && w.next == HBG__NIL);
            executed += w.executed;
            skipped += w.skipped;
            noops += w.noops;
        }
        RL_ASSERT(noops == 1);
        RL_ASSERT(executed == (fails ? 3u : 6u));
        RL_ASSERT(skipped == (fails ? 3u : 0u));
    }
};

static void open_sched(hbg__sched *sched) { hbg__bell_open(&sched->bell); }

/* Stale words of an earlier epoch stand in the slots; task 0 fails or not. */
struct one_run : rl::test_suite<one_run, THREADS> {
    hbg__sched sched;
    hbg__slot slot[TASKS];
    model_run run;

    void before()
    {
        open_sched(&sched);
        for (uint32_t i = 0; i < TASKS; ++i) {
            hbg__store_relaxed64(&slot[i].word, hbg__slot_word(6, i % 2 ? (uint32_t)HBG__SLOT_FAILED : hbg__waiter_make(3, true)));
            hbg__store_relaxed32(&slot[i].link, hbg__waiter_make(4, true));
        }
        run.open(&sched, slot, 7);
        run.fails = rl::rand(2) == 1;
    }

    void thread(unsigned index) { run.work(index); }
    void after() { run.check(); }
};

/* Two runs of the image, one behind the other on the same slots: what the first left reads as empty in the second. */
struct two_runs : rl::test_suite<two_runs, THREADS> {
    hbg__sched sched;
    hbg__slot slot[TASKS];
    model_run run[2];
    rl::atomic<unsigned> left;

    void before()
    {
        open_sched(&sched);
        for (hbg__slot &s : slot) {
            hbg__store_relaxed64(&s.word, 0);
            hbg__store_relaxed32(&s.link, 0);
        }
        run[0].open(&sched, slot, UINT32_MAX);
        run[1].open(&sched, slot, 1);
        run[0].fails = true;
        left.store(0, rl::mo_relaxed, $);
    }

    void thread(unsigned index)
    {
        run[0].work(index);
        left.fetch_add(1, rl::mo_acq_rel, $);
        while (left.load(rl::mo_acquire, $) != THREADS) rl::yield(1, $);
        run[1].work(index);
    }

    void after()
    {
        run[0].check();
        run[1].check();
    }
};

int main() { return model_holds<one_run>(150000, 2) && model_holds<two_runs>(100000, 0) ? 0 : 1; }
