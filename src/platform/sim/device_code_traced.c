/* SPDX-License-Identifier: Apache-2.0 */
/* device_code_traced.c - the three ways to run an image that record each task, for a simulated device. */
#define HBG_SIM_TRACED 1
#include "platform/sim/device_code.h"

#include "sched/traced.c"
