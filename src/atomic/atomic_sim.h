/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_sim.h - atomics of the `sim` platform: all threads of the device are coroutines of one thread, and each operation is a
 * place at which another coroutine may go on.
 *
 * hbg__sim_step() comes in front of the operation, which nothing interrupts. So what is explored is every interleaving under
 * sequential consistency; the order in an operation's name means nothing here, and atomic_model.h is for that. A thread that
 * runs no simulation passes through hbg__sim_step().
 *
 * Time is a count: it grows by a little with each operation and jumps where everybody sleeps. src/platform/sim/turn.c.
 */
#ifndef HBG_ATOMIC_ATOMIC_SIM_H
#define HBG_ATOMIC_ATOMIC_SIM_H

#include "atomic/sim_calls.h"

struct hbg__atomic_u32 { uint32_t value; };
struct hbg__atomic_u64 { uint64_t value; };

#define HBG__SIM_LOAD(order, bits)                                                                                    \
    static inline uint##bits##_t hbg__load_##order##bits(const struct hbg__atomic_u##bits *word)                      \
    {                                                                                                                 \
        hbg__sim_step();                                                                                              \
        return word->value;                                                                                           \
    }
#define HBG__SIM_STORE(order, bits)                                                                                   \
    static inline void hbg__store_##order##bits(struct hbg__atomic_u##bits *word, uint##bits##_t value)               \
    {                                                                                                                 \
        hbg__sim_step();                                                                                              \
        word->value = value;                                                                                          \
    }
#define HBG__SIM_RMW(name, result, bits)                                                                              \
    static inline uint##bits##_t hbg__##name##bits(struct hbg__atomic_u##bits *word, uint##bits##_t value)            \
    {                                                                                                                 \
        hbg__sim_step();                                                                                              \
        uint##bits##_t found = word->value;                                                                           \
        word->value = result;                                                                                         \
        return found;                                                                                                 \
    }
#define HBG__SIM_CAS(order, bits)                                                                                     \
    static inline bool hbg__cas_##order##bits(struct hbg__atomic_u##bits *word, uint##bits##_t *expected,             \
                                              uint##bits##_t desired)                                                 \
    {                                                                                                                 \
        hbg__sim_step();                                                                                              \
        uint##bits##_t found = word->value;                                                                           \
        bool equal = found == *expected;                                                                              \
        if (equal) word->value = desired;                                                                             \
        else *expected = found;                                                                                       \
        return equal;                                                                                                 \
    }

#define HBG__SIM_ALL(bits)                                                                                            \
    HBG__SIM_LOAD(relaxed, bits)                                                                                      \
    HBG__SIM_LOAD(acquire, bits)                                                                                      \
    HBG__SIM_LOAD(seq_cst, bits)                                                                                      \
    HBG__SIM_STORE(relaxed, bits)                                                                                     \
    HBG__SIM_STORE(release, bits)                                                                                     \
    HBG__SIM_STORE(seq_cst, bits)                                                                                     \
    HBG__SIM_RMW(exchange_acq_rel, value, bits)                                                                       \
    HBG__SIM_RMW(fetch_add_relaxed, found + value, bits)                                                              \
    HBG__SIM_RMW(fetch_add_acq_rel, found + value, bits)                                                              \
    HBG__SIM_RMW(fetch_add_seq_cst, found + value, bits)                                                              \
    HBG__SIM_RMW(fetch_or_acq_rel, found | value, bits)                                                               \
    HBG__SIM_CAS(relaxed, bits)                                                                                       \
    HBG__SIM_CAS(acquire, bits)                                                                                       \
    HBG__SIM_CAS(release, bits)                                                                                       \
    HBG__SIM_CAS(acq_rel, bits)                                                                                       \
    HBG__SIM_CAS(seq_cst, bits)

HBG__SIM_ALL(32)
HBG__SIM_ALL(64)

#undef HBG__SIM_ALL
#undef HBG__SIM_LOAD
#undef HBG__SIM_STORE
#undef HBG__SIM_RMW
#undef HBG__SIM_CAS

static inline void hbg__pause(void) { hbg__sim_pause(); }
static inline void hbg__yield(void) { hbg__sim_yield(); }
static inline void hbg__prefetch_read(const void *address) { (void)address; }
static inline void hbg__prefetch_write(const void *address) { (void)address; }
static inline uint64_t hbg__clock_ns(void) { return hbg__sim_now_ns(); }
static inline uint64_t hbg__ticks(void) { return hbg__sim_now_ns(); }

static inline void hbg__word_wait(struct hbg__atomic_u32 *word, uint32_t value, uint64_t timeout_ns)
{
    hbg__sim_word_wait(&word->value, value, timeout_ns);
}

static inline void hbg__word_wake(struct hbg__atomic_u32 *word, uint32_t count) { hbg__sim_word_wake(&word->value, count); }

#endif /* HBG_ATOMIC_ATOMIC_SIM_H */
