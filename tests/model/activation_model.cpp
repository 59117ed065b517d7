/* SPDX-License-Identifier: Apache-2.0 */
/* activation_model.cpp - a submission, from the worker that activates it to the consumer that sees what is inside: the sources of the
   scheduler as they are, but for the idle worker, which looks until everything is complete.
   weakened: 1 2 4 8 */
#include "model/model.h"
#include "sched/expand.c"
#include "sched/find.c"
#include "sched/wake.c"

void hbg__halt(hbg__worker *, hbg_status, uint32_t, int64_t, int64_t) { RL_ASSERT(false); }
void hbg__check_failed(const char *, int, const char *)
{
    RL_ASSERT(false);
    abort();
}

bool hbg__is_before(const hbg__sched_run *, uint32_t, uint32_t, uint32_t, uint32_t) { return false; }

/* Outermost:  before -> submission -> after
   Definition: 0, 1, 2, 3 are roots, 4 waits for 1 and 0; 2 submits another body, in the nested suite
   Inner body: two roots

   Slots: 0 to 2 the outermost image, 3 to 7 the definition, 8 and 9 the inner body. Two workers claim its roots in ranges, three find too few
   of them for that. */
enum { BEFORE, SUBMISSION, AFTER, OUTER, FIRST = OUTER, BODY = 5, INNER = FIRST + BODY, INNER_COUNT = 2, SLOTS = INNER + INNER_COUNT };

template <unsigned Records> struct model_image {
    hbg__image_head head;
    hbg__task_record record[Records];   /* of the last one first */
    uint64_t payload[32];

    hbg__task_record *at(unsigned task) { return &record[Records - 1 - task]; }

    void open(uint32_t slot_count, uint32_t activation_count, uint32_t bases, const std::initializer_list<uint32_t> &root)
    {
        memset(this, 0, sizeof *this);
        head.magic = HBG__IMAGE_MAGIC;
        head.task_count = Records;
        head.slot_count = slot_count;
        head.activation_count = activation_count;
        head.base_count = HBG__BASE_BOUNDARY + 2;
        head.base_total = bases;
        head.roots = 24;
        head.root_count = (uint32_t)root.size();
        std::copy(root.begin(), root.end(), (uint32_t *)(void *)(payload + 24));
        for (hbg__task_record &r : record) {
            r.first_waiter = r.next_waiter = HBG__NIL;
            for (uint32_t &producer : r.producer) producer = HBG__NIL;
        }
    }

    void waits(uint32_t task, uint32_t first, uint32_t second)
    {
        hbg__task_record *r = at(task);
        r->producer[r->producer_count++] = first;
        at(first)->first_waiter = task;
        if (second == HBG__NIL) return;
        r->producer[r->producer_count++] = second;
        at(second)->flags |= HBG__TASK_QUERYABLE;
    }

    /* Boundary: the first slot, and what is submitted inside. */
    void submits(uint32_t task, uint32_t slots, uint32_t bases, uint32_t slot_count)
    {
        hbg_view_arg *arg = (hbg_view_arg *)(void *)(payload + 8);
        hbg__submission *s = (hbg__submission *)(void *)(arg + 2);
        s->slots = slots;
        s->activation = 1;
        s->bases = bases;
        s->definition = HBG__BASE_BOUNDARY + 1;
        s->slot_count = slot_count;
        s->arg_count = 2;
        arg[0].word = slots;
        arg[0].base = HBG__BASE_BOUNDARY;
        arg[1].base = HBG__BASE_BOUNDARY + 2;
        at(task)->flags |= HBG__TASK_SUBGRAPH;
        at(task)->args = 16;
    }
};

static model_image<OUTER> outer_image;
static model_image<BODY> body_image;
static model_image<INNER_COUNT> inner_image;

static void make_images(bool nested)
{
    uint32_t inside = nested ? INNER_COUNT : 0;
    inner_image.open(INNER_COUNT, 0, 0, { 0, 1 });
    body_image.open(BODY + inside, nested, nested ? 5 : 0, { 0, 1, 2, 3 });
    body_image.waits(4, 1, 0);
    if (nested) body_image.submits(2, BODY, 5, INNER_COUNT);
    outer_image.open(OUTER + BODY + inside, 1 + nested, nested ? 10 : 5, { BEFORE });
    outer_image.waits(SUBMISSION, BEFORE, HBG__NIL);
    outer_image.waits(AFTER, SUBMISSION, HBG__NIL);
    outer_image.submits(SUBMISSION, FIRST, 0, BODY + inside);
}

struct model_launch {
    hbg__launch launch;
    uint64_t base[HBG__BASE_BOUNDARY + 3];
};

/* What hbg__idle() is, of the suite that is tried. */
static uint32_t (*idle_of)(hbg__worker *worker);
static void *suite_of;

template <unsigned Threads, bool Nested> struct activation_suite : rl::test_suite<activation_suite<Threads, Nested>, Threads> {
    hbg__sched sched;
    hbg__worker worker[Threads];
    hbg__ring_cell cell[2];
    hbg__slot slot[SLOTS];
    hbg__activation activation[2];
    uint64_t bases[16];
    model_launch launch;
    hbg__kernel_entry entry;
    rl::var<int> done[SLOTS];           /* written by the kernel, read by all that come after: a race is a missing order */
    rl::atomic<unsigned> completed;     /* orders nothing */
    unsigned told[Threads];
    bool fails;                         /* the definition's task 1 does, so that 4, the submission and its consumer do not run */

    static int kernel(const hbg_task_view *t)
    {
        activation_suite *suite = (activation_suite *)(uintptr_t)t->user;
        return suite->run((uint32_t)t->base[HBG__BASE_BOUNDARY] + t->task);
    }

    int run(uint32_t at)
    {
        RL_ASSERT(done[at]($) == 0);
        if (at > BEFORE) RL_ASSERT(done[BEFORE]($) == 1);
        if (at == FIRST + 4) RL_ASSERT(!fails && done[FIRST]($) == 1 && done[FIRST + 1]($) == 1);
        if (at == AFTER) {
            RL_ASSERT(!fails);
            for (uint32_t i = FIRST; i < INNER; ++i)
                if (!Nested || i != FIRST + 2) RL_ASSERT(done[i]($) == 1);
            for (uint32_t i = INNER; Nested && i < SLOTS; ++i) RL_ASSERT(done[i]($) == 1);
        }
        done[at]($) = 1;
        return fails && at == FIRST + 1;
    }

    void before()
    {
        make_images(Nested);
        idle_of = idle;
        suite_of = this;
        memset(&launch, 0, sizeof launch);
        launch.base[HBG__BASE_BOUNDARY + 1] = (uint64_t)(uintptr_t)&body_image.head;
        launch.base[HBG__BASE_BOUNDARY + 2] = (uint64_t)(uintptr_t)&inner_image.head;
        sched.options.worker_count = Threads;
        sched.options.spill = true;
        sched.worker = worker;
        sched.run.launch = &launch.launch;
        sched.run.graph.payload = hbg__image_payload(&outer_image.head);
        sched.run.graph.slots = slot;
        sched.run.graph.epoch = 5;
        sched.run.graph.task_count = OUTER;
        sched.run.roots = NULL;
        sched.run.root_count = 0;
        sched.run.mode = HBG__MODE_WAKE;
        sched.run.activations = activation;
        sched.run.bases = bases;
        sched.run.slot_count = outer_image.head.slot_count;
        sched.run.activation_count = outer_image.head.activation_count;
        sched.run.base_total = outer_image.head.base_total;
        hbg__store_relaxed32(&sched.stop, 0);
        hbg__store_relaxed32(&sched.cursor, 0);
        hbg__bell_open(&sched.bell);
        hbg__spill_open(&sched.spill);
        hbg__ring_open(&sched.ring, cell, 2, 0);
        entry.run = kernel;
        entry.user = this;
        fails = rl::rand(2) != 0;
        completed.store(0, rl::mo_relaxed, $);
        for (uint32_t i = 0; i < SLOTS; ++i) {
            done[i]($) = 0;
            hbg__store_relaxed64(&slot[i].word, hbg__slot_word(4, HBG__SLOT_OK));
        }
        for (uint32_t i = 0; i < Threads; ++i) open_worker(i);
    }

    void open_worker(uint32_t index)
    {
        hbg__worker *me = &worker[index];
        me->sched = &sched;
        me->index = index;
        me->generation = 1;
        me->random = 77 + index;
        me->steal_victim = HBG__NIL;
        me->next = index == 0 ? (uint32_t)BEFORE : HBG__NIL;
        me->drain = 0;
        me->executed = me->skipped = me->noops = 0;
        me->failure.task = HBG__NIL;
        me->core.no_kernels = false;
        me->core.entry = &entry;
        me->core.kernel_count = 1;
        hbg__roots_forget(&me->roots);
        hbg__roots_forget(&me->outer_roots);
        hbg__deque_open(&me->deque, 0);
        hbg__context_enter(me, 0);
        told[index] = 0;
    }

    /* Instead of hbg__idle(): ends when everything is complete. */
    uint32_t look(hbg__worker *me)
    {
        uint64_t now_ns = 0;
        unsigned count = (unsigned)hbg__completed(me), news = count - told[me->index];
        told[me->index] = count;
        if (news) completed.fetch_add(news, rl::mo_relaxed, $);
        for (;;) {
            uint32_t task = hbg__find(me, now_ns += 10000);
            if (task != HBG__NIL || completed.load(rl::mo_relaxed, $) == sched.run.slot_count) return task;
            rl::yield(1, $);
        }
    }

    static uint32_t idle(hbg__worker *me) { return ((activation_suite *)suite_of)->look(me); }

    void thread(unsigned index) { hbg__run_wake(&worker[index]); }

    void after()
    {
        uint64_t executed = 0, skipped = 0, noops = 0;
        for (const hbg__worker &one : worker) {
            RL_ASSERT(one.next == HBG__NIL && one.drain == 0 && one.roots.at == one.roots.end && one.outer_roots.at == one.outer_roots.end);
            executed += one.executed;
            skipped += one.skipped;
            noops += one.noops;
        }
        RL_ASSERT(skipped == (fails ? 2u : 0u));
        RL_ASSERT(noops == 1u + Nested);
        RL_ASSERT(executed + skipped + noops == sched.run.slot_count);
        for (uint32_t i = 0; i < sched.run.activation_count; ++i) RL_ASSERT(hbg__load_relaxed32(&activation[i].remaining) == 0);
        RL_ASSERT(!hbg__ring_has_entries(&sched.ring) && !hbg__spill_has_entries(&sched.spill));
    }
};

uint32_t hbg__idle(hbg__worker *worker) { return idle_of(worker); }

int main()
{
    return model_holds<activation_suite<2, false>>(30000, 0) && model_holds<activation_suite<3, false>>(30000, 0) &&
                   model_holds<activation_suite<2, true>>(30000, 0) && model_holds<activation_suite<3, true>>(30000, 0) ? 0 : 1;
}
