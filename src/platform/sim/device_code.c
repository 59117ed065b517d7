/* SPDX-License-Identifier: Apache-2.0 */
/* device_code.c - src/sched and src/core once more, for a simulated device. What a kernel may ask of its view (src/core/view.c) it
 * asks of the code that is there already: a core is the same for both. */
#include "platform/sim/device_code.h"

#include "core/core.c"
#include "sched/claim.c"
#include "sched/conclude.c"
#include "sched/enter.c"
#include "sched/expand.c"
#include "sched/find.c"
#include "sched/idle.c"
#include "sched/in_order.c"
#include "sched/launch.c"
#include "sched/stall.c"
#include "sched/verify.c"
#include "sched/wake.c"
