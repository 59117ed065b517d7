/* SPDX-License-Identifier: Apache-2.0 */
/* node_test.c - the levels of a run: where each lies, who opened it, which definitions are around an activation, whose a number is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "run/device.h"
#include "run/node.h"
#include "run/run.h"
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

/* Two tasks. */
static void leaf(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 2; i++) hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void empty(struct hbg_graph *g, const struct hbg_args *args, const void *params) { (void)g, (void)args, (void)params; }

/* A task, a leaf, an empty body, a leaf. */
static void branch(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
    hbg_subgraph(g, KEY("leaf"), leaf, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
    hbg_subgraph(g, KEY("empty"), empty, HBG_NO_ARGS);
    hbg_subgraph(g, KEY("leaf"), leaf, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

/* A leaf, a task, two branches. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = AT(hbg_args_region(args, 0), 0);
    hbg_subgraph(g, KEY("leaf"), leaf, HBG_ARGS(hbg_inout(x)));
    hbg_submit(g, ADD, hbg_inout(x), hbg_i32(1));
    for (int i = 0; i < 2; i++) hbg_subgraph(g, KEY("branch"), branch, HBG_ARGS(hbg_inout(x)));
}

enum { LEVELS = 10, MOST = 2 };
/* By activation: the name, the activation and the task there that opened it, its first number, how many records it has. */
static const struct { const char *name; uint32_t parent, task, first, count; } expected[LEVELS] = {
    { NULL, 0, 0, 0, 4 }, { "leaf", 0, 0, 4, 2 },
    { "branch", 0, 2, 6, 4 }, { "leaf", 2, 1, 10, 2 }, { "empty", 2, 2, 12, 0 }, { "leaf", 2, 3, 12, 2 },
    { "branch", 0, 3, 14, 4 }, { "leaf", 6, 1, 18, 2 }, { "empty", 6, 2, 20, 0 }, { "leaf", 6, 3, 20, 2 },
};

static void check_path(const struct hbg__recording *recording, uint32_t activation)
{
    const struct hbg__definition *path[MOST] = { NULL };
    uint32_t depth = 0, at = activation;
    for (; at; at = expected[at].parent) depth++;
    assert_int_equal(hbg__levels_path(recording, activation, path, MOST), depth);
    for (at = activation; depth > 0; at = expected[at].parent, depth--) assert_string_equal(path[expected[activation].parent && at == expected[activation].parent]->key.name, expected[at].name);
}

static void levels_of_a_run(void **state)
{
    (void)state;
    int32_t x[1] = { 0 };
    struct hbg_device *device = device_open("cpu", NULL);
    struct hbg_program *program = PROGRAM(device, build, steps);
    struct hbg_run run;
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, &run), HBG_OK);
    const struct hbg__recording *recording = &device->run[0].kept->recording;
    struct hbg__opened opened[LEVELS];
    assert_int_equal(recording->head->activation_count, LEVELS - 1);
    hbg__levels_list(recording, opened);
    for (uint32_t a = 0; a < LEVELS; a++) {
        assert_int_equal(opened[a].level.activation, a);
        assert_int_equal(opened[a].level.first_slot, expected[a].first);
        assert_int_equal(opened[a].level.head->task_count, expected[a].count);
        if (a) assert_string_equal(opened[a].level.definition->key.name, expected[a].name);
        if (a) assert_int_equal(opened[a].parent, expected[a].parent);
        if (a) assert_int_equal(opened[a].task, expected[a].task);
        check_path(recording, a);
        for (uint32_t i = 0; i < expected[a].count; i++) assert_ptr_equal(hbg__levels_find(opened, LEVELS, expected[a].first + i), &opened[a]);
    }
    const struct hbg__definition *path[MOST];
    assert_int_equal(hbg__levels_path(recording, LEVELS, path, MOST), 0);       /* there is no such activation */
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
    assert_int_equal(x[0], 2 + 1 + 2 * 5);
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(levels_of_a_run) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
