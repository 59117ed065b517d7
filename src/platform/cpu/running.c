/* SPDX-License-Identifier: Apache-2.0 */
/* running.c - what the calling thread does, for signal handlers: it reads thread-local words and what is already there. */
#include <hbg/kernel.h>

#include "base/inside.h"
#include "platform/cpu/workers.h"
#include "platform/sim/sim.h"

enum hbg_inside hbg_running_get(struct hbg_running *running)
{
    struct hbg_running found = { .size = sizeof found };
    if (hbg__workers_here(&found.worker, &found.task, &found.kernel) || hbg__sim_here(&found.worker, &found.task, &found.kernel)) found.inside = HBG_INSIDE_KERNEL;
    else if (hbg__inside == HBG__INSIDE_BUILD) found.inside = HBG_INSIDE_BUILD;
    if (running && running->size >= sizeof found) {
        size_t size = running->size;
        *running = found;
        running->size = size;
    }
    return found.inside;
}
