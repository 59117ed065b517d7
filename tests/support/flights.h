/* SPDX-License-Identifier: Apache-2.0 */
/* flights.h - kernels, builds and steps of tests that have several runs in flight. What does not work fails the test. */
#ifndef HBG_TEST_FLIGHTS_H
#define HBG_TEST_FLIGHTS_H

#include <stdatomic.h>

#include <hbg/hbg.h>
#include "support/program.h"

enum { HOLD, SET, COPY, FAIL, NAP, SAME, KERNEL_COUNT };
enum { DEPTH = 2, LENGTH = 64 };

/* HOLD tasks stay while the first is set, ten seconds at most; the second counts those that do. */
extern atomic_int flight_hold, flight_held;
extern const struct hbg_kernel flight_kernels[KERNEL_COUNT];

hbg_build_fn hold_build, fail_build, empty_build;
hbg_build_fn set_build;                 /* (out x, i32 value, i32 microseconds): x = value, behind a task that takes so long */
hbg_build_fn copy_build;                /* (in x, out y): y = x */

#define SET_ARGS(x, value, microseconds) HBG_ARGS(hbg_out(HOST_I32((x), LENGTH)), hbg_i32(value), hbg_i32(microseconds))
#define COPY_ARGS(x, y) HBG_ARGS(hbg_in(HOST_I32((x), LENGTH)), hbg_out(HOST_I32((y), LENGTH)))

struct hbg_run prepared(struct hbg_program *program, struct hbg_arg_list list);
struct hbg_run launched(struct hbg_program *program, struct hbg_arg_list list);
void ends(struct hbg_run run, enum hbg_status expected);       /* waits for it */
enum hbg_run_state state_of(struct hbg_run run);
void until_held(void);                  /* by one task */

#endif /* HBG_TEST_FLIGHTS_H */
