/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_c11.h - atomics by the compiler's builtins: the C11 memory model, for gcc and clang, in C11 and in C++17. */
#ifndef HBG_ATOMIC_ATOMIC_C11_H
#define HBG_ATOMIC_ATOMIC_C11_H

#include "base/clock.h"

struct hbg__atomic_u32 { uint32_t value; };
struct hbg__atomic_u64 { uint64_t value; };

#define HBG__ATOMIC_LOAD(order, ORDER, bits)                                                                          \
    static inline uint##bits##_t hbg__load_##order##bits(const struct hbg__atomic_u##bits *word)                      \
    { return __atomic_load_n(&word->value, ORDER); }
#define HBG__ATOMIC_STORE(order, ORDER, bits)                                                                         \
    static inline void hbg__store_##order##bits(struct hbg__atomic_u##bits *word, uint##bits##_t value)               \
    { __atomic_store_n(&word->value, value, ORDER); }
#define HBG__ATOMIC_RMW(name, builtin, ORDER, bits)                                                                   \
    static inline uint##bits##_t hbg__##name##bits(struct hbg__atomic_u##bits *word, uint##bits##_t value)            \
    { return builtin(&word->value, value, ORDER); }
#define HBG__ATOMIC_CAS(order, ORDER, FAILED, bits)                                                                   \
    static inline bool hbg__cas_##order##bits(struct hbg__atomic_u##bits *word, uint##bits##_t *expected,             \
                                              uint##bits##_t desired)                                                 \
    { return __atomic_compare_exchange_n(&word->value, expected, desired, false, ORDER, FAILED); }

#define HBG__ATOMIC_ALL(bits)                                                                                         \
    HBG__ATOMIC_LOAD(relaxed, __ATOMIC_RELAXED, bits)                                                                 \
    HBG__ATOMIC_LOAD(acquire, __ATOMIC_ACQUIRE, bits)                                                                 \
    HBG__ATOMIC_LOAD(seq_cst, __ATOMIC_SEQ_CST, bits)                                                                 \
    HBG__ATOMIC_STORE(relaxed, __ATOMIC_RELAXED, bits)                                                                \
    HBG__ATOMIC_STORE(release, __ATOMIC_RELEASE, bits)                                                                \
    HBG__ATOMIC_STORE(seq_cst, __ATOMIC_SEQ_CST, bits)                                                                \
    HBG__ATOMIC_RMW(exchange_acq_rel, __atomic_exchange_n, __ATOMIC_ACQ_REL, bits)                                    \
    HBG__ATOMIC_RMW(fetch_add_relaxed, __atomic_fetch_add, __ATOMIC_RELAXED, bits)                                    \
    HBG__ATOMIC_RMW(fetch_add_acq_rel, __atomic_fetch_add, __ATOMIC_ACQ_REL, bits)                                    \
    HBG__ATOMIC_RMW(fetch_add_seq_cst, __atomic_fetch_add, __ATOMIC_SEQ_CST, bits)                                    \
    HBG__ATOMIC_RMW(fetch_or_acq_rel, __atomic_fetch_or, __ATOMIC_ACQ_REL, bits)                                      \
    HBG__ATOMIC_CAS(relaxed, __ATOMIC_RELAXED, __ATOMIC_RELAXED, bits)                                                \
    HBG__ATOMIC_CAS(acquire, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE, bits)                                                \
    HBG__ATOMIC_CAS(release, __ATOMIC_RELEASE, __ATOMIC_RELAXED, bits)                                                \
    HBG__ATOMIC_CAS(acq_rel, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, bits)                                                \
    HBG__ATOMIC_CAS(seq_cst, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST, bits)

HBG__ATOMIC_ALL(32)
HBG__ATOMIC_ALL(64)

#undef HBG__ATOMIC_ALL
#undef HBG__ATOMIC_LOAD
#undef HBG__ATOMIC_STORE
#undef HBG__ATOMIC_RMW
#undef HBG__ATOMIC_CAS

static inline void hbg__pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory");
#endif
}

static inline void hbg__prefetch_read(const void *address) { __builtin_prefetch(address, 0); }

/* The line is wanted exclusively. gcc turns a prefetch for writing into one for reading unless told that prefetchw exists;
   every x86-64 processor accepts it. */
static inline void hbg__prefetch_write(const void *address)
{
#if defined(__x86_64__)
    __asm__ __volatile__("prefetchw %0" : : "m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1);
#endif
}

#ifdef __cplusplus
extern "C" {
#endif

void hbg__yield(void);
void hbg__word_wait(struct hbg__atomic_u32 *word, uint32_t value, uint64_t timeout_ns);
void hbg__word_wake(struct hbg__atomic_u32 *word, uint32_t count);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_ATOMIC_ATOMIC_C11_H */
