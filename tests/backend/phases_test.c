/* SPDX-License-Identifier: Apache-2.0 */
/* phases_test.c - a run in its phases: prepare, launch, poll, wait, finish, cancel; handles that went stale; what would deadlock;
 * and objects that outlive one another. */
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { NOTHING, HOLD, ADD_ONE, KERNEL_COUNT };

static atomic_int hold, held, ran;      /* HOLD tasks stay while `hold` is set, ten seconds at most */

static int nothing(const struct hbg_task_view *t)
{
    (void)t;
    atomic_fetch_add(&ran, 1);
    return 0;
}

static int hold_on(const struct hbg_task_view *t)
{
    uint64_t until = wall_ns() + 10000000000u;
    atomic_fetch_add(&held, 1);
    while (atomic_load(&hold) && !hbg_view_cancelled(t) && wall_ns() < until) sleep_ms(1);     /* the test lets go, or cancels */
    atomic_fetch_sub(&held, 1);
    return 0;
}

static int add_one(const struct hbg_task_view *t)
{
    ++*HBG_VIEW(int32_t, t, 0);
    return 0;
}

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(NOTHING, nothing, NULL), HBG_KERNEL(HOLD, hold_on, NULL), HBG_KERNEL(ADD_ONE, add_one, "inout i32"),
};

/* HOLD, then one that counts behind it. */
static void hold_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    struct hbg_task first = hbg_submit(g, HOLD);
    hbg_submit(g, NOTHING, hbg_after(first));
}

static void lone_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    hbg_submit(g, HOLD);
}

static void add_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 10; i++) hbg_submit(g, ADD_ONE, hbg_inout(hbg_args_region(args, 0)));
}

static struct hbg_run prepared(struct hbg_program *program, struct hbg_arg_list list)
{
    struct hbg_run run;
    assert_int_equal(hbg_run_prepare(program, list, NULL, &run), HBG_OK);
    return run;
}

static void until_held(void)
{
    for (int i = 0; i < 5000 && !atomic_load(&held); i++) sleep_ms(1);
    assert_int_equal(atomic_load(&held), 1);
}

/* ---- the phases ---- */

static void phases_in_order(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, hold_build, kernels);
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_run_state state = HBG_RUN_DONE;
    for (int round = 0; round < 3; round++) {
        atomic_store(&hold, 1);
        atomic_store(&ran, 0);
        struct hbg_run run = prepared(program, HBG_NO_ARGS);
        assert_int_equal(hbg_run_poll(run, &state), HBG_OK);
        assert_int_equal(state, HBG_RUN_PREPARED);
        assert_int_equal(atomic_load(&held), 0);                                    /* nothing runs before the launch */
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        until_held();
        assert_int_equal(hbg_run_poll(run, &state), HBG_OK);
        assert_int_equal(state, HBG_RUN_RUNNING);
        assert_int_equal(hbg_run_wait(run, 2000000), HBG_TIMEOUT);
        assert_int_equal(hbg_run_wait(run, 0), HBG_TIMEOUT);
        assert_int_equal(hbg_run_launch(run), HBG_E_ORDER);
        assert_int_equal(hbg_run_finish(run, &result), HBG_E_ORDER);                /* not done yet: nothing changes */
        assert_int_equal(hbg_device_close(device), HBG_E_BUSY);
        atomic_store(&hold, 0);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_poll(run, &state), HBG_OK);
        assert_int_equal(state, HBG_RUN_DONE);
        assert_int_equal(hbg_run_wait(run, 0), HBG_OK);
        assert_int_equal(hbg_run_finish(run, &result), HBG_OK);
        assert_int_equal(result.tasks, 2);
        assert_int_equal(result.edges, 1);
        assert_true(result.launch_to_done_ns > 2000000 && result.run_ns >= result.launch_to_done_ns);
        assert_int_equal(atomic_load(&ran), 1);
    }
    hbg_program_destroy(program);
}

static void a_finished_run_is_stale(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x = 0;
    struct hbg_program *program = PROGRAM(device, add_build, kernels);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_run old = prepared(program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1))));
    assert_int_equal(hbg_run_launch(old), HBG_OK);
    assert_int_equal(hbg_run_wait(old, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(old, &result), HBG_OK);
    assert_int_equal(x, 10);
    struct hbg_run now = prepared(program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1))));   /* the same slot, leased again */
    enum hbg_run_state state = HBG_RUN_DONE;
    const void *image = NULL;
    size_t size = 0;
    assert_int_equal(hbg_run_launch(old), HBG_E_STALE);
    assert_int_equal(hbg_run_poll(old, &state), HBG_E_STALE);
    assert_int_equal(hbg_run_wait(old, 0), HBG_E_STALE);
    assert_int_equal(hbg_run_finish(old, &result), HBG_E_STALE);
    assert_int_equal(hbg_run_cancel(old), HBG_E_STALE);
    assert_int_equal(hbg_run_image(old, &image, &size), HBG_E_STALE);
    assert_int_equal(hbg_run_launch(now), HBG_OK);
    assert_int_equal(hbg_run_wait(now, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(now, &result), HBG_OK);
    assert_int_equal(x, 20);
    struct hbg_run none;
    memset(&none, 0, sizeof none);
    assert_true(hbg_run_launch(none) != HBG_OK);
    hbg_program_destroy(program);
}

/* ---- cancelling ---- */

static void a_run_is_cancelled(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, hold_build, kernels);
    struct hbg_result result = HBG_OPTIONS(result);
    for (int round = 0; round < 5; round++) {
        atomic_store(&hold, 1);
        atomic_store(&ran, 0);
        struct hbg_run run = prepared(program, HBG_NO_ARGS);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        until_held();
        assert_int_equal(hbg_run_cancel(run), HBG_OK);                  /* the kernel looks, and leaves */
        assert_int_equal(hbg_run_wait(run, 5000000000u), HBG_OK);
        assert_int_equal(hbg_run_finish(run, &result), HBG_E_CANCELLED);
        assert_int_equal(result.error.status, HBG_E_CANCELLED);
        assert_int_equal(atomic_load(&ran), 0);                         /* the task behind it was skipped */
    }
    atomic_store(&hold, 0);
    program_run(program, HBG_NO_ARGS, NULL, NULL);
    assert_int_equal(atomic_load(&ran), 1);
    hbg_program_destroy(program);
}

/* Nothing is left to skip, but a kernel was told and left early: what it wrote may be half of it. One that did not look is done. */
static void the_last_task_is_cancelled(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, lone_build, kernels);
    struct hbg_result result = HBG_OPTIONS(result);
    atomic_store(&hold, 1);
    struct hbg_run run = prepared(program, HBG_NO_ARGS);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    until_held();
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, 5000000000u), HBG_OK);
    assert_int_equal(hbg_run_finish(run, &result), HBG_E_CANCELLED);
    assert_int_equal(result.error.status, HBG_E_CANCELLED);
    atomic_store(&hold, 0);
    run = prepared(program, HBG_NO_ARGS);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, 5000000000u), HBG_OK);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);                      /* too late */
    assert_int_equal(hbg_run_finish(run, &result), HBG_OK);
    hbg_program_destroy(program);
}

/* What a wait that timed out has said is gone when a later one succeeds. */
static void a_timeout_is_forgotten(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, lone_build, kernels);
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run run;
    options.error = &error;
    atomic_store(&hold, 1);
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &run), HBG_OK);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, 1000000), HBG_TIMEOUT);
    assert_int_equal(error.status, HBG_TIMEOUT);
    assert_true(error.text[0] != '\0');
    atomic_store(&hold, 0);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(error.status, HBG_OK);
    assert_int_equal(error.text[0], 0);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
    hbg_program_destroy(program);
}

static void a_prepared_run_is_given_up(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x = 0;
    struct hbg_program *program = PROGRAM(device, add_build, kernels);
    struct hbg_result result = HBG_OPTIONS(result);
    for (int round = 0; round < 5; round++) {
        struct hbg_run run = prepared(program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1))));
        assert_int_equal(hbg_run_cancel(run), HBG_OK);
        assert_int_equal(hbg_run_finish(run, &result), HBG_E_CANCELLED);
        assert_int_equal(x, 0);
    }
    program_run(program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1))), NULL, NULL);
    assert_int_equal(x, 10);
    hbg_program_destroy(program);
}

/* ---- every slot is taken: CASES 33 ---- */

enum { DEPTH = 2 };                     /* the default */

static void the_only_thread_would_deadlock(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, hold_build, kernels);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run run[DEPTH], second;
    options.error = &error;
    atomic_store(&hold, 1);
    for (int i = 0; i < DEPTH; i++) run[i] = prepared(program, HBG_NO_ARGS);
    for (int launched = 0; launched < 2; launched++) {
        uint64_t begin = wall_ns();
        options.poll = false;
        assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &second), HBG_E_WOULD_DEADLOCK);
        assert_int_equal(error.status, HBG_E_WOULD_DEADLOCK);
        assert_int_equal(hbg_run_sync(program, HBG_NO_ARGS, &result), HBG_E_WOULD_DEADLOCK);
        options.poll = true;
        assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &second), HBG_E_BUSY);
        assert_true(wall_ns() - begin < 1000000000u);
        for (int i = 0; !launched && i < DEPTH; i++) assert_int_equal(hbg_run_launch(run[i]), HBG_OK);
    }
    atomic_store(&hold, 0);
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(hbg_run_wait(run[i], HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(run[i], &result), HBG_OK);
    }
    program_run(program, HBG_NO_ARGS, NULL, NULL);
    hbg_program_destroy(program);
}

/* A run that another thread will finish is no deadlock: the prepare waits for its slot, as long as it was told to. */
static void a_slot_timeout(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, hold_build, kernels);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run run[DEPTH], second;
    atomic_store(&hold, 0);
    options.handed_over = true;
    for (int i = 0; i < DEPTH; i++) assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &run[i]), HBG_OK);
    options.slot_timeout_ns = 30000000;
    uint64_t begin = wall_ns();
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &second), HBG_TIMEOUT);
    assert_true(wall_ns() - begin >= 30000000 && wall_ns() - begin < 2000000000u);
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(hbg_run_launch(run[i]), HBG_OK);
        assert_int_equal(hbg_run_wait(run[i], HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(run[i], &result), HBG_OK);
    }
    hbg_program_destroy(program);
}

/* ---- device calls from inside ---- */

static struct hbg_device *inner_device;
static struct hbg_program *inner_program;
static struct hbg_buffer *inner_buffer;
static enum hbg_status inner[8];

static void call_everything(void)
{
    int32_t x = 0;
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_run run;
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_program *program = NULL;
    struct hbg_buffer *buffer = NULL;
    options.name = "inner";
    options.build = hold_build;
    options.kernels = kernels;
    options.kernel_count = KERNEL_COUNT;
    inner[0] = hbg_run_sync(inner_program, HBG_NO_ARGS, &result);
    inner[1] = hbg_run_prepare(inner_program, HBG_NO_ARGS, NULL, &run);
    inner[2] = hbg_buffer_read(inner_buffer, 0, &x, sizeof x);
    inner[3] = hbg_buffer_write(inner_buffer, 0, &x, sizeof x);
    inner[4] = hbg_program_create(inner_device, &options, &program);
    inner[5] = hbg_buffer_create(inner_device, 16, &buffer);
    inner[6] = hbg_device_close(inner_device);
}

static int calls_inside(const struct hbg_task_view *t)
{
    (void)t;
    call_everything();
    return 0;
}

static const struct hbg_kernel inside_kernels[] = { HBG_KERNEL(0, calls_inside, NULL) };

static void inside_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    if (*(const int *)params) call_everything();
    hbg_submit(g, 0);
}

static void calls_from_inside_are_refused(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    inner_device = device;
    inner_program = PROGRAM(device, hold_build, kernels);
    assert_int_equal(hbg_buffer_create(device, 64, &inner_buffer), HBG_OK);
    atomic_store(&hold, 0);
    for (int in_build = 0; in_build < 2; in_build++) {
        struct hbg_program *program = PROGRAM_WITH(device, inside_build, inside_kernels, in_build);
        uint64_t begin = wall_ns();
        for (int i = 0; i < 7; i++) inner[i] = HBG_OK;
        /* the build's own calls go first; the kernel overwrites what they left, so in_build looks before the launch */
        struct hbg_run run = prepared(program, HBG_NO_ARGS);
        for (int i = 0; i < 7 && in_build; i++) assert_int_equal(inner[i], HBG_E_REENTRANT);
        struct hbg_result result = HBG_OPTIONS(result);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(run, &result), HBG_OK);
        for (int i = 0; i < 7; i++) assert_int_equal(inner[i], HBG_E_REENTRANT);
        assert_true(wall_ns() - begin < 1000000000u);
        hbg_program_destroy(program);
    }
    hbg_buffer_destroy(inner_buffer);
    program_run(inner_program, HBG_NO_ARGS, NULL, NULL);
    hbg_program_destroy(inner_program);
}

/* ---- a deadline ---- */

static void a_deadline_ends_a_run(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, hold_build, kernels);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run run;
    options.deadline_ns = 20000000;
    atomic_store(&hold, 1);
    atomic_store(&ran, 0);
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &run), HBG_OK);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, 5000000000u), HBG_OK);
    assert_int_equal(hbg_run_finish(run, &result), HBG_E_CANCELLED);
    assert_int_equal(atomic_load(&ran), 0);
    atomic_store(&hold, 0);
    hbg_program_destroy(program);
}

/* ---- objects go in any order ---- */

static void destroyed_in_any_order(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    for (int order = 0; order < 6; order++) {
        struct hbg_device *device = device_open(kind->spec, NULL);
        struct hbg_program *program = PROGRAM(device, add_build, kernels);
        struct hbg_buffer *buffer = NULL;
        int32_t x = 1;
        assert_int_equal(hbg_buffer_create(device, 64, &buffer), HBG_OK);
        program_run(program, HBG_ARGS(hbg_inout(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(1)))), NULL, NULL);
        static const char *const orders[] = { "pbd", "bpd", "dpb", "dbp", "pdb", "bdp" };
        for (const char *c = orders[order]; *c; c++) {
            if (*c == 'p') hbg_program_destroy(program);
            if (*c == 'b') hbg_buffer_destroy(buffer);
            if (*c == 'd') device_close(device);
        }
        assert_int_equal(x, 1);
    }
    hbg_program_destroy(NULL);
    hbg_buffer_destroy(NULL);
    assert_int_equal(hbg_device_close(NULL), HBG_OK);
}

/* A buffer or program that a run in flight uses may be destroyed; the run keeps it. */
static void a_run_keeps_what_it_uses(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, add_build, kernels);
    struct hbg_buffer *buffer = NULL;
    struct hbg_result result = HBG_OPTIONS(result);
    assert_int_equal(hbg_buffer_create(device, 64, &buffer), HBG_OK);
    struct hbg_run run = prepared(program, HBG_ARGS(hbg_inout(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(1)))));
    hbg_buffer_destroy(buffer);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, &result), HBG_OK);
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(phases_in_order), DEVICE_TEST(a_finished_run_is_stale), DEVICE_TEST(a_run_is_cancelled), DEVICE_TEST(the_last_task_is_cancelled), DEVICE_TEST(a_timeout_is_forgotten),
        DEVICE_TEST(a_prepared_run_is_given_up), DEVICE_TEST(the_only_thread_would_deadlock), DEVICE_TEST(a_slot_timeout),
        DEVICE_TEST(calls_from_inside_are_refused), DEVICE_TEST(a_deadline_ends_a_run),
        DEVICE_TEST(destroyed_in_any_order), DEVICE_TEST(a_run_keeps_what_it_uses),
    };
    return DEVICE_TESTS_RUN(tests);
}
