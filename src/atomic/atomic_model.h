/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_model.h - atomics under Relacy: real sources run on simulated threads and simulated weak memory.
 *
 * HBG_WEAKEN=n takes an order away, to show that a model notices:
 *     1 acquire loads   2 release stores   3 acq_rel compare-exchanges   4 acq_rel exchanges   5 seq_cst of everything
 *     6 acquire compare-exchanges          7 release compare-exchanges   8 acq_rel fetch-adds
 * each becomes relaxed; seq_cst becomes acquire, release or acq_rel.
 *
 * A sleeping thread is parked by Relacy's own futex; a thread that nobody wakes is reported as a deadlock.
 */
#ifndef HBG_ATOMIC_ATOMIC_MODEL_H
#define HBG_ATOMIC_ATOMIC_MODEL_H

#ifndef HBG_WEAKEN
#define HBG_WEAKEN 0
#endif
#define HBG__ORDER(n, order, weak) (HBG_WEAKEN == (n) ? rl::mo_##weak : rl::mo_##order)

struct hbg__atomic_u32 { rl::atomic<uint32_t> value; };
struct hbg__atomic_u64 { rl::atomic<uint64_t> value; };

#define HBG__MODEL_LOAD(name, ORDER, bits)                                                                            \
    static inline uint##bits##_t hbg__load_##name##bits(const struct hbg__atomic_u##bits *word)                       \
    { return word->value.load(ORDER, RL_INFO); }
#define HBG__MODEL_STORE(name, ORDER, bits)                                                                           \
    static inline void hbg__store_##name##bits(struct hbg__atomic_u##bits *word, uint##bits##_t value)                \
    { word->value.store(value, ORDER, RL_INFO); }
#define HBG__MODEL_RMW(name, member, ORDER, bits)                                                                     \
    static inline uint##bits##_t hbg__##name##bits(struct hbg__atomic_u##bits *word, uint##bits##_t value)            \
    { return word->value.member(value, ORDER, RL_INFO); }
#define HBG__MODEL_CAS(name, ORDER, FAILED, bits)                                                                     \
    static inline bool hbg__cas_##name##bits(struct hbg__atomic_u##bits *word, uint##bits##_t *expected,              \
                                             uint##bits##_t desired)                                                  \
    { return word->value.compare_exchange_strong(*expected, desired, ORDER, RL_INFO, FAILED, RL_INFO); }

#define HBG__MODEL_ALL(bits)                                                                                          \
    HBG__MODEL_LOAD(relaxed, rl::mo_relaxed, bits)                                                                    \
    HBG__MODEL_LOAD(acquire, HBG__ORDER(1, acquire, relaxed), bits)                                                   \
    HBG__MODEL_LOAD(seq_cst, HBG__ORDER(5, seq_cst, acquire), bits)                                                   \
    HBG__MODEL_STORE(relaxed, rl::mo_relaxed, bits)                                                                   \
    HBG__MODEL_STORE(release, HBG__ORDER(2, release, relaxed), bits)                                                  \
    HBG__MODEL_STORE(seq_cst, HBG__ORDER(5, seq_cst, release), bits)                                                  \
    HBG__MODEL_RMW(exchange_acq_rel, exchange, HBG__ORDER(4, acq_rel, relaxed), bits)                                 \
    HBG__MODEL_RMW(fetch_add_relaxed, fetch_add, rl::mo_relaxed, bits)                                                \
    HBG__MODEL_RMW(fetch_add_acq_rel, fetch_add, HBG__ORDER(8, acq_rel, relaxed), bits)                               \
    HBG__MODEL_RMW(fetch_add_seq_cst, fetch_add, HBG__ORDER(5, seq_cst, acq_rel), bits)                               \
    HBG__MODEL_RMW(fetch_or_acq_rel, fetch_or, rl::mo_acq_rel, bits)                                                  \
    HBG__MODEL_CAS(relaxed, rl::mo_relaxed, rl::mo_relaxed, bits)                                                     \
    HBG__MODEL_CAS(acquire, HBG__ORDER(6, acquire, relaxed), HBG__ORDER(6, acquire, relaxed), bits)                   \
    HBG__MODEL_CAS(release, HBG__ORDER(7, release, relaxed), rl::mo_relaxed, bits)                                    \
    HBG__MODEL_CAS(acq_rel, HBG__ORDER(3, acq_rel, relaxed), HBG__ORDER(3, acquire, relaxed), bits)                   \
    HBG__MODEL_CAS(seq_cst, HBG__ORDER(5, seq_cst, acq_rel), HBG__ORDER(5, seq_cst, acquire), bits)

HBG__MODEL_ALL(32)
HBG__MODEL_ALL(64)

#undef HBG__MODEL_ALL
#undef HBG__MODEL_LOAD
#undef HBG__MODEL_STORE
#undef HBG__MODEL_RMW
#undef HBG__MODEL_CAS

static inline void hbg__pause(void) { rl::yield(1, RL_INFO); }
static inline void hbg__yield(void) { rl::yield(1, RL_INFO); }
static inline void hbg__prefetch_read(const void *address) { (void)address; }
static inline void hbg__prefetch_write(const void *address) { (void)address; }
static inline uint64_t hbg__clock_ns(void) { return 0; }
static inline uint64_t hbg__ticks(void) { return 0; }

/* The kernel compares and parks under its own lock: nothing comes between the two. */
static inline void hbg__word_wait(struct hbg__atomic_u32 *word, uint32_t value, uint64_t timeout_ns)
{
    rl::context &context = rl::ctx();
    context.sched();
    context.atomic_thread_fence_seq_cst();
    {
        rl::preemption_disabler together(context);
        if (word->value.load(rl::mo_acquire, RL_INFO) != value) return;
    }
    word->value.wait(context, timeout_ns != UINT64_MAX, true, RL_INFO);
}

static inline void hbg__word_wake(struct hbg__atomic_u32 *word, uint32_t count)
{
    rl::context &context = rl::ctx();
    context.sched();
    context.atomic_thread_fence_seq_cst();
    word->value.wake(context, count > 1000 ? 1000 : count, RL_INFO);
}

#endif /* HBG_ATOMIC_ATOMIC_MODEL_H */
