/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - kernels of one step each, of which tests make bodies, and runs whose counters are looked at. */
#ifndef HBG_TEST_STEPS_H
#define HBG_TEST_STEPS_H

#include <hbg/hbg.h>
#include "support/program.h"

enum {
    SCALE,                              /* in i32, out i32, k: out = in * k */
    ADD,                                /* inout i32, k: x += k */
    COPY,                               /* in i32, out i32 */
    ADD_ALL,                            /* a region of any shape, i32 or i64, and k: every element += k */
    FAIL_IF,                            /* in i32: fails with x where x is not 0 */
    SLOW_SET,                           /* inout i32: 7, after 5 ms: whoever does not wait for it is earlier */
    STEPS
};
extern const struct hbg_kernel steps[STEPS];

#define KEY(text) hbg_key_of(text, NULL, 0)
#define AT(region, i) hbg_index((region), 0, (i))

/* One run that works. */
struct hbg_result steps_run(struct hbg_program *program, struct hbg_arg_list list);

#endif /* HBG_TEST_STEPS_H */
