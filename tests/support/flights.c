/* SPDX-License-Identifier: Apache-2.0 */
/* flights.c - see flights.h. */
#include "support/flights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/devices.h"

atomic_int flight_hold, flight_held;

static int hold_on(const struct hbg_task_view *t)
{
    uint64_t until = wall_ns() + 10000000000u;
    atomic_fetch_add(&flight_held, 1);
    while (atomic_load(&flight_hold) && !hbg_view_cancelled(t) && wall_ns() < until) sleep_ms(1);
    atomic_fetch_sub(&flight_held, 1);
    return 0;
}

static int set(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 0)[i] = hbg_view_i32(t, 1);
    return 0;
}

static int copy(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 1)[i] = HBG_VIEW(int32_t, t, 0)[i];
    return 0;
}

static int always_fails(const struct hbg_task_view *t) { return hbg_fail(t, 7, 0); }

static int nap(const struct hbg_task_view *t)
{
    uint64_t until = wall_ns() + (uint64_t)hbg_view_i32(t, 0) * 1000u;
    while (wall_ns() < until) {}
    return 0;
}

/* What the build has read is what is there. */
static int same(const struct hbg_task_view *t) { return *HBG_VIEW(int32_t, t, 0) == hbg_view_i32(t, 1) ? 0 : hbg_fail(t, 1, 0); }

const struct hbg_kernel flight_kernels[KERNEL_COUNT] = {
    HBG_KERNEL(HOLD, hold_on, NULL), HBG_KERNEL(SET, set, "out i32, i32"), HBG_KERNEL(COPY, copy, "in i32, out i32"), HBG_KERNEL(FAIL, always_fails, NULL),
    HBG_KERNEL(NAP, nap, "i32"), HBG_KERNEL(SAME, same, "in i32, i32"),
};

void hold_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_submit(g, HOLD);
}

void fail_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_submit(g, FAIL);
}

void empty_build(struct hbg_graph *g, const struct hbg_args *args, const void *params) { (void)g, (void)args, (void)params; }

void set_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    struct hbg_task slow = hbg_submit(g, NAP, hbg_args_scalar(args, 2));
    hbg_submit(g, SET, hbg_out(x), hbg_args_scalar(args, 1), hbg_after(slow));
}

void copy_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, COPY, hbg_in(hbg_args_region(args, 0)), hbg_out(hbg_args_region(args, 1)));
}

struct hbg_run prepared(struct hbg_program *program, struct hbg_arg_list list)
{
    static struct hbg_error error = HBG_OPTIONS(error);         /* borrowed until the finish */
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run run;
    options.error = &error;
    if (hbg_run_prepare(program, list, &options, &run)) fail_msg("%s: %s", hbg_status_name(error.status), error.text);
    return run;
}

struct hbg_run launched(struct hbg_program *program, struct hbg_arg_list list)
{
    struct hbg_run run = prepared(program, list);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    return run;
}

void ends(struct hbg_run run, enum hbg_status expected)
{
    struct hbg_result result = HBG_OPTIONS(result);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    if (hbg_run_finish(run, &result) != expected) fail_msg("%s: %s", hbg_status_name(result.error.status), result.error.text);
}

enum hbg_run_state state_of(struct hbg_run run)
{
    enum hbg_run_state state;
    assert_int_equal(hbg_run_poll(run, &state), HBG_OK);
    return state;
}

void until_held(void)
{
    for (int i = 0; i < 5000 && !atomic_load(&flight_held); i++) sleep_ms(1);
    assert_int_equal(atomic_load(&flight_held), 1);
}
