/* SPDX-License-Identifier: Apache-2.0 */
/* atomic.h - the only door to shared memory for device code: every operation carries its memory order in its name.
 *
 *     load          relaxed, acquire, seq_cst        fetch_add   relaxed, acq_rel, seq_cst (a negative addend wraps)
 *     store         relaxed, release, seq_cst        fetch_or    acq_rel
 *     exchange      acq_rel                          cas         relaxed, acquire, release, acq_rel, seq_cst
 *
 * each for 32 and 64 bits: hbg__load_acquire32(), hbg__cas_acq_rel64(). A compare-exchange returns whether it stored; a failed
 * one puts the value it found into *expected, loaded with acquire where the name says acquire, acq_rel or seq_cst, relaxed
 * otherwise. There are no fences: ThreadSanitizer does not model them.
 *
 * Shared words are structs of their own, so that a plain access does not compile by accident. Beside them stands what a
 * waiting thread may do:
 *
 *     hbg__pause                     a hint inside a spin
 *     hbg__yield                     let another thread of this CPU go first
 *     hbg__clock_ns                  monotonic nanoseconds
 *     hbg__ticks                     a counter that goes evenly, for records of tasks
 *     hbg__word_wait(word, v, ns)    sleep while *word == v, at most ns (UINT64_MAX: without limit); may return early
 *     hbg__word_wake(word, count)    wake up to count threads that sleep on word
 *
 * Back ends: atomic_c11.h (compiler builtins, C11 and C++17; park.c sleeps on a futex), atomic_sim.h (coroutines of one thread;
 * chosen by HBG_ATOMIC_SIM in the device code of src/platform/sim) and atomic_model.h (Relacy; chosen by HBG_ATOMIC_MODEL, in
 * which case the whole program is one translation unit of C++).
 */
#ifndef HBG_ATOMIC_ATOMIC_H
#define HBG_ATOMIC_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HBG__LINE 64                    /* bytes that travel together from core to core */
#define HBG__OWN_LINE __attribute__((aligned(HBG__LINE)))

#ifdef HBG_ATOMIC_MODEL
#include "atomic/atomic_model.h"
#elif defined(HBG_ATOMIC_SIM)
#include "atomic/atomic_sim.h"
#else
#include "atomic/atomic_c11.h"
#endif

#endif /* HBG_ATOMIC_ATOMIC_H */
