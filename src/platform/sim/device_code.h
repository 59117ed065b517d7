/* SPDX-License-Identifier: Apache-2.0 */
/* device_code.h - the scheduler as `sim` has it: the same sources over other atomics, and with other names for the linker.
 *
 * Whoever includes this sees `struct hbg__sched` of a simulated device. Its own queues are shorter than those of `cpu`, so that
 * graphs of some ten tasks overflow into the shared ring and the spill list, and ranges of a submission's roots, so that the few
 * that there are go to several workers; nothing else differs.
 */
#ifndef HBG_PLATFORM_SIM_DEVICE_CODE_H
#define HBG_PLATFORM_SIM_DEVICE_CODE_H

#ifdef HBG_ATOMIC_ATOMIC_H
#error "the atomics of another device were included before"
#endif

#define HBG_ATOMIC_SIM 1
#define HBG__DEQUE_CAPACITY 4u
#define HBG__ROOT_RANGE_MIN 1u

#define hbg__core_open hbg__sim_core_open
#define hbg__core_begin hbg__sim_core_begin
#define hbg__sched_bytes hbg__sim_sched_bytes
#define hbg__sched_open hbg__sim_sched_open
#define hbg__sched_launch hbg__sim_sched_launch
#define hbg__sched_poll hbg__sim_sched_poll
#define hbg__sched_wait hbg__sim_sched_wait
#define hbg__sched_cancel hbg__sim_sched_cancel
#define hbg__sched_progress hbg__sim_sched_progress
#define hbg__sched_close hbg__sim_sched_close
#define hbg__sched_abandon hbg__sim_sched_abandon
#define hbg__sched_serve hbg__sim_sched_serve
#define hbg__sched_verify hbg__sim_sched_verify
#define hbg__enter hbg__sim_enter
#define hbg__leave hbg__sim_leave
#define hbg__finish hbg__sim_finish
#define hbg__halt hbg__sim_halt
#define hbg__publish hbg__sim_publish
#define hbg__published_total hbg__sim_published_total
#define hbg__idle hbg__sim_idle
#define hbg__find hbg__sim_find
#define hbg__find_left_some hbg__sim_find_left_some
#define hbg__push_entry hbg__sim_push_entry
#define hbg__push_overflow hbg__sim_push_overflow
#define hbg__hint hbg__sim_hint
#define hbg__activate hbg__sim_activate
#define hbg__expand hbg__sim_expand
#define hbg__turn hbg__sim_turn
#define hbg__tell hbg__sim_tell
#define hbg__stalled hbg__sim_stalled
#define hbg__stall_describe hbg__sim_stall_describe
#define hbg__conclude hbg__sim_conclude
#define hbg__is_before hbg__sim_is_before
#define hbg__run_wake_traced hbg__sim_run_wake_traced
#define hbg__run_claim_traced hbg__sim_run_claim_traced
#define hbg__run_in_order_traced hbg__sim_run_in_order_traced
#ifndef HBG_SIM_TRACED                  /* traced.c gives these three names of its own */
#define hbg__run_wake hbg__sim_run_wake
#define hbg__run_claim hbg__sim_run_claim
#define hbg__run_in_order hbg__sim_run_in_order
#endif

#include "sched/sched.h"

#endif /* HBG_PLATFORM_SIM_DEVICE_CODE_H */
