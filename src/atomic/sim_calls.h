/* SPDX-License-Identifier: Apache-2.0 */
/* sim_calls.h - what the atomics of atomic_sim.h call: src/platform/sim/turn.c. A thread that is in no simulation passes through. */
#ifndef HBG_ATOMIC_SIM_CALLS_H
#define HBG_ATOMIC_SIM_CALLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void hbg__sim_step(void);               /* in front of each operation: somebody else may go on here */
void hbg__sim_pause(void);
void hbg__sim_yield(void);
uint64_t hbg__sim_now_ns(void);
void hbg__sim_word_wait(const uint32_t *word, uint32_t value, uint64_t timeout_ns);
void hbg__sim_word_wake(const uint32_t *word, uint32_t count);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_ATOMIC_SIM_CALLS_H */
