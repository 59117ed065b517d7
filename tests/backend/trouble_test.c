/* SPDX-License-Identifier: Apache-2.0 */
/* trouble_test.c - what comes from outside the program: a damaged image, a kernel that takes too long, a fork; and the
 * log that an application may hand in. No memory and no threads: tests/fault. */
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "image/layout.h"
#include "support/devices.h"
#include "support/program.h"

enum { NOTHING, HOLD, ADD_ONE, KERNEL_COUNT };

static atomic_int hold;

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }

static int hold_on(const struct hbg_task_view *t)
{
    (void)t;
    uint64_t until = wall_ns() + 10000000000u;
    while (atomic_load(&hold) && wall_ns() < until) sleep_ms(1);        /* the test lets go */
    return 0;
}

static int add_one(const struct hbg_task_view *t)
{
    ++*HBG_VIEW(int32_t, t, 0);
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(NOTHING, nothing, NULL), HBG_KERNEL(HOLD, hold_on, NULL), HBG_KERNEL(ADD_ONE, add_one, "inout i32") };

static void chain_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region u = hbg_alloc(g, HBG_U8, HBG_SHAPE(100));
    for (int i = 0; i < 40; i++) hbg_submit(g, ADD_ONE, hbg_inout(hbg_args_region(args, 0)));
    hbg_submit(g, NOTHING, hbg_in(u));
}

/* ---- images ---- */

static void a_damaged_image_does_not_verify(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, chain_build, kernels);
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run run;
    const void *image;
    size_t size;
    int32_t x = 0;
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1))), NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
    unsigned char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, image, size);
    assert_int_equal(hbg_image_verify(copy, size, &error), HBG_OK);
    assert_int_equal(hbg_image_verify(copy, size - 8, &error), HBG_E_IMAGE);
    assert_int_equal(hbg_image_verify(copy, 40, NULL), HBG_E_IMAGE);
    int unnoticed = 0;
    for (size_t at = 0; at < size; at++) {                  /* any bit of it may turn, and nothing worse than "unnoticed" happens */
        copy[at] ^= (unsigned char)(1u << at % 8);
        unnoticed += hbg_image_verify(copy, size, &error) == HBG_OK;
        copy[at] ^= (unsigned char)(1u << at % 8);
    }
    assert_true((size_t)unnoticed < size / 2);
    assert_int_equal(hbg_image_verify(copy, size, &error), HBG_OK);
    struct hbg__image_head *head = (struct hbg__image_head *)(void *)copy;
    head->task_count = UINT32_MAX;
    assert_int_equal(hbg_image_verify(copy, size, &error), HBG_E_IMAGE);
    assert_true(strlen(error.text) > 10);
    free(copy);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
}

/* ---- a stall: the link that wakes task 1 is cut behind the library's back ---- */

static void diamond_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    struct hbg_task a = hbg_submit(g, NOTHING), b = hbg_submit(g, NOTHING, hbg_after(a)), c = hbg_submit(g, NOTHING, hbg_after(a));
    hbg_submit(g, NOTHING, hbg_after(b), hbg_after(c));
}

static void a_stall_is_reported(void **state)
{
    (void)state;
    struct hbg_device *device = device_open("cpu:workers=2,memory=unified,stall_ms=50", NULL);
    struct hbg_program *program = PROGRAM(device, diamond_build, kernels);
    for (int round = 0; round < 3; round++) {
        struct hbg_result result = HBG_OPTIONS(result);
        struct hbg_run run;
        const void *image;
        size_t size;
        assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, NULL, &run), HBG_OK);
        assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
        struct hbg__task_record *first = (struct hbg__task_record *)(uintptr_t)hbg__image_record(hbg__image_payload(image), 0);
        assert_int_equal(first->first_waiter, 1);
        first->first_waiter = 2;
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, 5000000000u), HBG_OK);
        assert_int_equal(hbg_run_finish(run, &result), HBG_E_STALLED);
        assert_int_equal(result.error.status, HBG_E_STALLED);
        if (!strstr(result.error.text, "task 3 waits for task 1")) fail_msg("%s", result.error.text);
        program_run(program, HBG_NO_ARGS, NULL, NULL);              /* and the device goes on */
    }
    hbg_program_destroy(program);
    device_close(device);
}

/* ---- a wait that times out says what runs ---- */

static void hold_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    struct hbg_task first = hbg_submit(g, NOTHING);
    hbg_submit(g, HOLD, hbg_after(first));
}

static void a_timeout_names_task_and_kernel(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, hold_build, kernels);
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run run;
    options.error = &error;
    atomic_store(&hold, 1);
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &run), HBG_OK);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    for (int i = 0; i < 500 && error.task != 1; i++) assert_int_equal(hbg_run_wait(run, 5000000), HBG_TIMEOUT);
    assert_int_equal(error.status, HBG_TIMEOUT);
    assert_int_equal(error.task, 1);
    assert_string_equal(error.name, "hold_on");
    atomic_store(&hold, 0);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
    hbg_program_destroy(program);
}

/* ---- after a fork ---- */

static int in_the_child(struct hbg_device *device, struct hbg_program *program, struct hbg_buffer *buffer)
{
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run run;
    int32_t x = 0;
    options.error = &error;
    if (hbg_run_sync(program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1))), &result) != HBG_E_DEVICE) return 1;
    if (hbg_run_prepare(program, HBG_NO_ARGS, &options, &run) != HBG_E_DEVICE || error.status != HBG_E_DEVICE) return 2;
    if (hbg_buffer_read(buffer, 0, &x, sizeof x) != HBG_E_DEVICE) return 3;
    if (hbg_device_close(device) != HBG_E_DEVICE) return 4;
    hbg_program_destroy(program);
    hbg_buffer_destroy(buffer);
    return 0;
}

static void a_forked_child_is_refused(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, chain_build, kernels);
    struct hbg_buffer *buffer;
    int32_t x = 0;
    int how = -1;
    assert_int_equal(hbg_buffer_create(device, 64, &buffer), HBG_OK);
    program_run(program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1))), NULL, NULL);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(in_the_child(device, program, buffer));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    program_run(program, HBG_ARGS(hbg_inout(HOST_I32(&x, 1))), NULL, NULL);        /* the parent goes on */
    assert_int_equal(x, 80);
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(program);
}

/* ---- the log ---- */

static atomic_int log_lines;
static void log_line(void *user, enum hbg_log_level level, const char *text)
{
    (void)level;
    if (user == &log_lines && strlen(text) > 0) atomic_fetch_add(&log_lines, 1);
}

static void gives_up_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    hbg_graph_fail(g, 1, "the test gives up");
}

static void text_goes_to_the_callback(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.log = log_line;
    options.log_user = &log_lines;
    options.log_level = HBG_LOG_DEBUG;
    atomic_store(&log_lines, 0);
    struct hbg_device *device = device_open(kind->spec, &options);
    struct hbg_program *program = PROGRAM(device, gives_up_build, kernels), *other = PROGRAM(device, hold_build, kernels);
    struct hbg_run run;
    program_run_fails(program, HBG_NO_ARGS, HBG_E_BUILD);
    atomic_store(&hold, 0);
    assert_int_equal(hbg_run_prepare(other, HBG_NO_ARGS, NULL, &run), HBG_OK);
    assert_int_equal(hbg_device_close(device), HBG_E_BUSY);
    assert_true(atomic_load(&log_lines) > 0);               /* a close that is refused says which run is in the way */
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(other);
    hbg_program_destroy(program);
    device_close(device);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(a_damaged_image_does_not_verify), DEVICE_TEST(a_timeout_names_task_and_kernel),
        DEVICE_TEST(a_forked_child_is_refused), DEVICE_TEST(text_goes_to_the_callback),
    };
    const struct CMUnitTest others[] = { cmocka_unit_test(a_stall_is_reported) };
    return DEVICE_TESTS_RUN(tests) + cmocka_run_group_tests(others, NULL, NULL);
}
