/* SPDX-License-Identifier: Apache-2.0 */
/* support.h - small programs that the run tests share, and the devices they run on. */
#ifndef HBG_TEST_UNIT_RUN_SUPPORT_H
#define HBG_TEST_UNIT_RUN_SUPPORT_H

#include <hbg/hbg.h>

#include <inttypes.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "run/run.h"

static const char *const BOTH_MEMORIES[] = { "cpu:workers=2", "cpu:workers=2,memory=discrete" };

__attribute__((unused)) static struct hbg_device *open_device(const char *spec)
{
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *device = NULL;
    options.error = &error;
    if (hbg_device_open(spec, &options, &device)) fail_msg("%s: %s", spec, error.text);
    return device;
}

__attribute__((unused)) static struct hbg_counters counters_of(const struct hbg_device *device)
{
    struct hbg_counters counters = HBG_OPTIONS(counters);
    hbg_device_counters(device, &counters);
    return counters;
}

/* ---- kernels ---- */

enum { ADD_ONE, FAIL, HOLD, SET, KERNELS };

/* x += 1, any view of rank up to 2 */
static int add_one(const struct hbg_task_view *t)
{
    const struct hbg_layout *l = hbg_view_layout(t, 0);
    int64_t rows = l->rank > 1 ? l->shape[0] : 1, columns = l->rank > 0 ? l->shape[l->rank - 1] : 1;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < columns; k++) {
            int64_t off = (l->rank > 1 ? i * l->stride_bytes[0] : 0) + (l->rank > 0 ? k * l->stride_bytes[l->rank - 1] : 0);
            *(int32_t *)(void *)(HBG_VIEW(unsigned char, t, 0) + off) += 1;
        }
    }
    return 0;
}

static int fail_kernel(const struct hbg_task_view *t) { return hbg_fail(t, 42, 4711); }

static atomic_int hold_open, hold_entered;
static void sleep_a_little(void) { nanosleep(&(struct timespec){ 0, 200000 }, NULL); }
static int hold(const struct hbg_task_view *t)
{
    atomic_store(&hold_entered, 1);
    while (!atomic_load(&hold_open) && !hbg_view_cancelled(t)) sleep_a_little();
    return 0;
}

/* x = value */
static int set_kernel(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 0)[i] = hbg_view_i32(t, 1);
    return 0;
}

static const struct hbg_kernel kernels[KERNELS] = {
    { ADD_ONE, "add_one", add_one, "inout i32", NULL, HBG_ANY, 0 },
    { FAIL, "fail", fail_kernel, NULL, NULL, HBG_ANY, 0 },
    { HOLD, "hold", hold, NULL, NULL, HBG_ANY, 0 },
    { SET, "set", set_kernel, "out i32, i32", NULL, HBG_ANY, 0 },
};

/* ---- build functions ---- */

/* one add_one on every region of the boundary */
__attribute__((unused)) static void build_add(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (size_t i = 0; i < args->count; i++) hbg_submit(g, ADD_ONE, hbg_inout(hbg_args_region(args, (int)i)));
}
__attribute__((unused)) static void build_fail(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD_ONE, hbg_inout(hbg_args_region(args, 0)));
    hbg_submit(g, FAIL, hbg_inout(hbg_args_region(args, 0)));
    hbg_submit(g, ADD_ONE, hbg_inout(hbg_args_region(args, 0)));
}
__attribute__((unused)) static void build_hold(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    if (args->count) hbg_submit(g, HOLD, hbg_inout(hbg_args_region(args, 0)));
    else hbg_submit(g, HOLD);
    if (args->count) hbg_submit(g, ADD_ONE, hbg_inout(hbg_args_region(args, 0)));
}
__attribute__((unused)) static void build_set(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, SET, hbg_out(hbg_args_region(args, 0)), hbg_args_scalar(args, 1));
}
__attribute__((unused)) static void build_nothing(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)g; (void)args; (void)params;
}

__attribute__((unused)) static struct hbg_program *make_program(struct hbg_device *device, hbg_build_fn *build, bool pure)
{
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_program *program = NULL;
    o.name = "test";
    o.build = build;
    o.kernels = kernels;
    o.kernel_count = KERNELS;
    o.pure_build = pure;
    o.error = &error;
    if (hbg_program_create(device, &o, &program)) fail_msg("%s", error.text);
    return program;
}

/* One argument as a list that lives as long as the caller's block. */
#define LIST(...) ((struct hbg_arg_list){ (const struct hbg_arg[]){ __VA_ARGS__ }, sizeof((const struct hbg_arg[]){ __VA_ARGS__ }) / sizeof(struct hbg_arg) })

__attribute__((unused)) static void runs_well(struct hbg_program *program, struct hbg_arg_list list, struct hbg_result *result)
{
    struct hbg_result mine = HBG_OPTIONS(result);
    if (!result) result = &mine;
    if (hbg_run_sync(program, list, result)) fail_msg("%s", result->error.text);
}

#endif /* HBG_TEST_UNIT_RUN_SUPPORT_H */
