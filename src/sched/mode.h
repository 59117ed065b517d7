/* SPDX-License-Identifier: Apache-2.0 */
/* mode.h - which way to run an image: a pure function of what the host knows before a launch.
 *
 * One worker alone runs ids in order where the image allows it. In-order claim wins on wide irregular graphs of short tasks:
 * a wake costs a compare-exchange per waited-for producer and a queue, a claim one look at a word that is closed already. It
 * loses on narrow graphs, where the claimed ids wait for one another; "narrow" is seen in the share of tasks whose latest
 * producer is less than 128 ids back. With longer tasks the two are equal and wake lists do not spin, so claim is chosen
 * only once earlier runs of the program have shown short tasks. Images with submissions are never run that way.
 */
#ifndef HBG_SCHED_MODE_H
#define HBG_SCHED_MODE_H

#include "image/layout.h"

enum { HBG__CLAIM_TASK_NS = 2000 };     /* mean time of a task below which claim may be chosen */

/* mean_task_ns: of earlier runs of this program, device time x workers / tasks; 0: no run yet. */
static inline enum hbg__mode hbg__mode_choose(const struct hbg__image_head *head, uint32_t worker_count, uint64_t mean_task_ns)
{
    if (worker_count == 1 && (head->flags & HBG__IMAGE_IN_ORDER)) return HBG__MODE_ORDER;
    if (!(head->flags & HBG__IMAGE_IN_ORDER) || (head->flags & HBG__IMAGE_SUBGRAPHS) || worker_count == 1) return HBG__MODE_WAKE;
    bool wide = (uint64_t)head->near_count * 2 < head->task_count;
    return wide && mean_task_ns > 0 && mean_task_ns < HBG__CLAIM_TASK_NS ? HBG__MODE_CLAIM : HBG__MODE_WAKE;
}

#endif /* HBG_SCHED_MODE_H */
