/* SPDX-License-Identifier: Apache-2.0 */
/* Storages have numbers, and a build that outgrew its own ones used those behind them although the build of a body had them by then. So a later
   body took a region that it captured for one of its own, and a region that a body had leaked was one of the build around. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

enum { OUTSIDE = 200, INSIDE = 40 };    /* more than numbers that a build begins with */

static struct hbg_region outside[OUTSIDE], leaked;
static bool leaks, plain;
static int between;                     /* a small body before every so many intermediates */

static void small_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region own = hbg_alloc(g, HBG_I32, HBG_SHAPE(1));
    hbg_submit(g, COPY, hbg_in(hbg_args_region(args, 0)), hbg_out(own));
    if (*(const int *)params == 0) leaked = own;
}

static void capturing_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), own[INSIDE];
    for (int i = 0; i < INSIDE; i++) hbg_submit(g, COPY, hbg_in(AT(x, 0)), hbg_out(own[i] = hbg_alloc(g, HBG_I32, HBG_SHAPE(1))));
    for (int i = 0; i < OUTSIDE; i++) hbg_submit(g, ADD, hbg_inout(outside[i]), hbg_i32(i));
    for (int i = 0; i < INSIDE; i++) hbg_submit(g, COPY, hbg_in(own[i]), hbg_out(AT(x, i)));
}

/* With bodies between, numbers come in several pieces. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    for (int i = 0; i < OUTSIDE; i++) {
        if (i % between == 0) hbg_subgraph(g, HBG_KEY("small", i), small_body, HBG_ARGS(hbg_in(AT(x, 0)), hbg_i32(0), hbg_i32(0)));
        outside[i] = hbg_alloc(g, HBG_I32, HBG_SHAPE(1));
        hbg_submit(g, SCALE, hbg_in(AT(x, 0)), hbg_out(outside[i]), hbg_i32(i));
    }
    struct hbg_args all = { (struct hbg_arg[]){ hbg_inout(x) }, 1, g };
    if (leaks) hbg_submit(g, ADD, hbg_inout(leaked), hbg_i32(1));
    else if (plain) capturing_body(g, &all, NULL);
    else hbg_subgraph(g, KEY("captures"), capturing_body, HBG_ARGS(hbg_inout(x)));
    for (int i = 0; i < OUTSIDE; i++) hbg_submit(g, ADD_ALL, hbg_inout(outside[i]), hbg_i32(0));
    for (int i = INSIDE; i < OUTSIDE; i++) hbg_submit(g, COPY, hbg_in(outside[i]), hbg_out(AT(x, i)));
}

static void a_body_captures_what_it_says(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    leaks = false;
    for (int way = 0; way < 4; way++) {
        struct hbg_device *device = device_open(kind->spec, NULL);    /* its first build has few numbers */
        plain = way / 2 == 0;
        between = way % 2 ? OUTSIDE : 13;
        struct hbg_program *program = PROGRAM(device, build, steps);
        for (int run = 0; run < 2; run++) {
            int32_t x[OUTSIDE] = { 3 };
            program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, OUTSIDE))), NULL, NULL);
            for (int i = 0; i < OUTSIDE; i++) assert_int_equal(x[i], i < INSIDE ? 3 : 4 * i);
        }
        hbg_program_destroy(program);
        device_close(device);
    }
}

static void a_region_of_a_body_that_has_returned_is_refused(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device *device = device_open(kind->spec, NULL);
    leaks = true;
    between = 13;
    int32_t x[OUTSIDE] = { 3 };
    struct hbg_program *program = PROGRAM(device, build, steps);
    for (int run = 0; run < 2; run++)
        (void)program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, OUTSIDE))), HBG_E_SCOPE);
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(a_body_captures_what_it_says), DEVICE_TEST(a_region_of_a_body_that_has_returned_is_refused) };
    return DEVICE_TESTS_RUN(tests);
}
