/* SPDX-License-Identifier: Apache-2.0 */
/* seam.h - places between the operations on a slot word, at which a test may hold a thread.
 *
 *     registration of t with p                   completion of p
 *         LOOK    -> W3, the load                    CLOSE   -> W2, the exchange
 *         LOOKED                                     CLOSED
 *         LINK    -> W1, the compare-exchange
 *         LINKED
 *
 * LINK comes again when the compare-exchange fails and the word is not closed. So a test can put the completion before the
 * registration, into its middle, or behind it, and need not wait for chance: tests/unit/sched/seam_test.c.
 *
 * Builds without HBG_DEBUG have no seams, and neither has the model, which tries all orders by itself.
 *
 *   field       written by                          read by           order
 *   hbg__seam   a test, while no launch is in       workers inside    L1 and L2 of the launch that follows
 *               flight
 */
#ifndef HBG_SCHED_SEAM_H
#define HBG_SCHED_SEAM_H

#include <stdint.h>

enum hbg__seam_place { HBG__SEAM_LOOK, HBG__SEAM_LOOKED, HBG__SEAM_LINK, HBG__SEAM_LINKED, HBG__SEAM_CLOSE, HBG__SEAM_CLOSED };

#if defined(HBG_DEBUG) && !defined(HBG_ATOMIC_MODEL)

#ifdef __cplusplus
extern "C" {
#endif

/* NULL: nobody is interested. `task` is the one that registers; in a completion it is the producer once more. */
extern void (*hbg__seam)(enum hbg__seam_place place, uint32_t producer, uint32_t task);

#ifdef __cplusplus
} /* extern "C" */
#endif

#define HBG__SEAM(place, producer, task)                                                                              \
    do {                                                                                                              \
        if (hbg__seam) hbg__seam(HBG__SEAM_##place, (producer), (task));                                              \
    } while (0)

#else

#define HBG__SEAM(place, producer, task) ((void)0)

#endif

#endif /* HBG_SCHED_SEAM_H */
