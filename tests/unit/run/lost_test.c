/* SPDX-License-Identifier: Apache-2.0 */
/* lost_test.c - a kernel that does not return: who says so, when, and what a close leaves behind. */
#include "unit/run/support.h"

#include <stdlib.h>

#include "support/devices.h"

/* Until the test lets go, whatever becomes of the run; ends by itself so that a failing test ends. */
static atomic_int stuck_go, stuck_in;
static int stuck(const struct hbg_task_view *t)
{
    (void)t;
    atomic_fetch_add(&stuck_in, 1);
    for (int i = 0; i < 100000 && !atomic_load(&stuck_go); i++) sleep_a_little();
    atomic_fetch_sub(&stuck_in, 1);
    return 0;
}

static const struct hbg_kernel stuck_kernels[] = { HBG_KERNEL(0, stuck, NULL) };

/* Task 0 is stuck, the rest would follow it. */
static void build_stuck(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 20; i++) hbg_submit(g, 0, hbg_inout(hbg_args_region(args, 0)));
    for (int i = 0; i < 20; i++) hbg_submit(g, 0);
}

static char last_error[512];
static void keep_error(void *user, enum hbg_log_level level, const char *text)
{
    (void)user;
    if (level == HBG_LOG_ERROR) snprintf(last_error, sizeof last_error, "%s", text);
}

static int32_t x[16];
static struct hbg_error error;

struct scene { struct hbg_device *device; struct hbg_program *program; struct hbg_buffer *buffer; struct hbg_run run; struct hbg_counters counters; };

/* A run whose first task is inside the kernel. */
static void begin(struct scene *scene, const char *memory, bool in_buffer)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_program_options program = HBG_OPTIONS(program_options);
    struct hbg_run_options run = HBG_OPTIONS(run_options);
    char spec[64];
    snprintf(spec, sizeof spec, "cpu:workers=3,memory=%s", memory);
    error = (struct hbg_error){ .size = sizeof error };
    scene->counters = (struct hbg_counters)HBG_OPTIONS(counters);
    options.log = keep_error;
    options.final_counters = &scene->counters;
    program.name = "stuck program";
    program.build = build_stuck;
    program.kernels = stuck_kernels;
    program.kernel_count = 1;
    run.error = &error;
    atomic_store(&stuck_go, 0);
    assert_int_equal(hbg_device_open(spec, &options, &scene->device), HBG_OK);
    assert_int_equal(hbg_program_create(scene->device, &program, &scene->program), HBG_OK);
    assert_int_equal(hbg_buffer_create(scene->device, sizeof x, &scene->buffer), HBG_OK);
    struct hbg_region region = in_buffer ? hbg_buffer_region(scene->buffer, 0, HBG_I32, HBG_SHAPE(16)) : hbg_host(x, HBG_I32, HBG_SHAPE(16));
    assert_int_equal(hbg_run_prepare(scene->program, LIST(hbg_inout(region)), &run, &scene->run), HBG_OK);
    assert_int_equal(hbg_run_launch(scene->run), HBG_OK);
    while (atomic_load(&stuck_in) < 3) sleep_a_little();
    assert_int_equal(hbg_run_wait(scene->run, 1000000), HBG_TIMEOUT);
}

static void names_the_kernel(const struct hbg_error *e)
{
    assert_int_equal(e->status, HBG_E_DEVICE);
    assert_string_equal(e->name, "stuck");
    if (!strstr(e->text, "kernel \"stuck\") on worker")) fail_msg("%s", e->text);
}

/* ---- from a second after the cancel on, every call says so; and no longer when the kernel came back ---- */

static void an_unusable_device_says_so_until_the_kernel_returns(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct scene scene;
        struct hbg_error second = HBG_OPTIONS(error);
        struct hbg_run_options options = HBG_OPTIONS(run_options);
        struct hbg_result result = HBG_OPTIONS(result);
        struct hbg_run other;
        int32_t y[16];
        begin(&scene, m ? "discrete" : "unified", true);
        assert_int_equal(hbg_run_wait(scene.run, 1200000000), HBG_TIMEOUT);     /* however long: it was not cancelled */
        assert_int_equal(hbg_device_close(scene.device), HBG_E_BUSY);
        assert_int_equal(hbg_run_cancel(scene.run), HBG_OK);
        assert_int_equal(hbg_run_wait(scene.run, 1000000), HBG_TIMEOUT);        /* not yet */
        assert_int_equal(hbg_run_finish(scene.run, NULL), HBG_E_ORDER);
        assert_int_equal(hbg_run_wait(scene.run, 1100000000), HBG_E_DEVICE);
        names_the_kernel(&error);
        options.error = &second;
        assert_int_equal(hbg_run_prepare(scene.program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(16)))), &options, &other), HBG_E_DEVICE);
        names_the_kernel(&second);
        assert_int_equal(hbg_run_finish(scene.run, &result), HBG_E_DEVICE);
        names_the_kernel(&result.error);
        assert_int_equal(hbg_buffer_read(scene.buffer, 0, y, sizeof y), HBG_E_DEVICE);
        atomic_store(&stuck_go, 1);
        assert_int_equal(hbg_run_wait(scene.run, HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(scene.run, NULL), HBG_E_CANCELLED);
        assert_int_equal(hbg_run_sync(scene.program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(16)))), &result), HBG_OK);
        assert_int_equal(hbg_buffer_read(scene.buffer, 0, y, sizeof y), HBG_OK);
        hbg_buffer_destroy(scene.buffer);
        hbg_program_destroy(scene.program);
        assert_int_equal(hbg_device_close(scene.device), HBG_OK);
    }
}

/* ---- close ---- */

static void a_close_leaves_behind_what_does_not_return(void **state)
{
    (void)state;
    for (int m = 0; m < 4; m++) {
        struct scene scene;
        int threads = thread_count();
        begin(&scene, m % 2 ? "discrete" : "unified", m >= 2);
        assert_int_equal(hbg_run_cancel(scene.run), HBG_OK);
        uint64_t began = wall_ns();
        last_error[0] = '\0';
        assert_int_equal(hbg_device_close(scene.device), HBG_E_DEVICE);
        uint64_t took = wall_ns() - began;
        if (took < 900000000 || took > 3000000000) fail_msg("close took %.3f s", (double)took / 1e9);
        if (!strstr(last_error, "closed with 3 worker threads left") || !strstr(last_error, "kernel \"stuck\") on worker")) fail_msg("%s", last_error);
        assert_int_equal(scene.counters.builds, 1);
        assert_int_equal(hbg_run_wait(scene.run, 0), HBG_E_STALE);
        assert_int_equal(hbg_run_finish(scene.run, NULL), HBG_E_STALE);
        hbg_buffer_destroy(scene.buffer);                   /* children as ever, before or after */
        hbg_program_destroy(scene.program);
        atomic_store(&stuck_go, 1);                         /* the kernel uses what is left, and its thread ends */
        for (int i = 0; i < 10000 && (atomic_load(&stuck_in) || thread_count() > threads); i++) sleep_a_little();
        assert_int_equal(atomic_load(&stuck_in), 0);
        assert_int_equal(thread_count(), threads);
    }
}

/* A cancelled run that ends in time is to be finished as ever. */
static void a_close_waits_for_a_cancelled_run(void **state)
{
    (void)state;
    struct hbg_device *device = open_device("cpu:workers=2");
    struct hbg_program *program = make_program(device, build_hold, false);
    struct hbg_run run;
    atomic_store(&hold_open, 0);
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_device_close(device), HBG_E_BUSY);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    (void)hbg_run_finish(run, NULL);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unusable_device_says_so_until_the_kernel_returns),
        cmocka_unit_test(a_close_leaves_behind_what_does_not_return),
        cmocka_unit_test(a_close_waits_for_a_cancelled_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
