/* SPDX-License-Identifier: Apache-2.0 */
/* queues.c - the checksum of sched/queues.h over the workers of `cpu` and `null`. */
#include "platform/cpu/cpu.h"
#include "sched/queues.h"

uint64_t hbg__cpu_queue_sum(struct hbg__platform *platform)
{
    return hbg__queues_sum(hbg__workers_sched(platform->workers));
}
