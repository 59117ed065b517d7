/* SPDX-License-Identifier: Apache-2.0 */
/* Behind a body that was submitted, plain tasks were counted as if it had been one: limit_tasks let more of them through than it says. And where
 * the limit was reached inside of a body that was recorded, the sentence named what had been left to the body as the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

/* a plain task, a body of three, plain ones to the end */
static void three_more(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 3; i++) hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void build_plain_and_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = AT(hbg_args_region(args, 0), 0);
    hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1));
    hbg_subgraph(g, KEY("three more"), three_more, HBG_ARGS(hbg_inout(x)));
    for (int i = 4; i < *(const int *)params; i++) hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1));
}

/* Where the limit is reached in a body, before it or behind it: what is said of it is the same. */
static void one_limit_for_plain_tasks_and_bodies(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    for (int tasks = 4; tasks < 9; tasks++) {
        for (int limit = 1; limit <= tasks; limit++) {
            int32_t x[1] = { 0 };
            struct hbg_device *fresh = limit % 2 ? device_open(kind->spec, NULL) : device;      /* or the body is known */
            struct program_spec spec = { .build = build_plain_and_body, KERNEL_TABLE(steps), .params = &tasks, .params_size = sizeof tasks, .limit_tasks = (uint64_t)limit };
            struct hbg_program *program = program_create(fresh, &spec);
            if (limit == tasks) {
                steps_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))));
            } else {
                char used[64];
                struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), HBG_E_LIMIT);
                snprintf(used, sizeof used, "limit_tasks: %d used of %d, ", limit > 3 || error.requested == 1 ? limit : 1, limit);
                if (!strstr(error.text, used)) fail_msg("%d tasks: %s", tasks, error.text);
                assert_int_equal(error.limit, limit);
            }
            assert_int_equal(x[0], limit == tasks ? tasks : 0);
            hbg_program_destroy(program);
            if (fresh != device) device_close(fresh);
        }
    }
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(one_limit_for_plain_tasks_and_bodies),
    };
    return DEVICE_TESTS_RUN(tests);
}
