/* SPDX-License-Identifier: Apache-2.0 */
/* statuses_test.c - every status of the list in <hbg/status.h> is provoked end to end, through public functions.
 *
 * For each line of HBG_STATUS_MAP there is a function provoke_NAME() here, so a status that nobody provokes does not compile. Each
 * makes one mistake and returns the status that came of it, and fills the error unless the call has none. Afterwards the device works.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
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

enum { ADD_ONE, FAIL, CALL_DEVICE, WRITE_BESIDE, HOLD, KERNEL_COUNT };

static struct hbg_device *in_use;           /* what a kernel or a build function calls */
static struct hbg_task kept_task;           /* of another build */
static struct hbg_region kept_region;
static atomic_int kernel_saw, hold;

static int add_one(const struct hbg_task_view *t) { ++*HBG_VIEW(int32_t, t, 0); return 0; }
static int fail_with_7(const struct hbg_task_view *t) { return hbg_fail(t, 7, 4711); }
static int call_device(const struct hbg_task_view *t)
{
    struct hbg_buffer *buffer = NULL;
    (void)t;
    atomic_store(&kernel_saw, hbg_buffer_create(in_use, 16, &buffer));
    return 0;
}
static int write_beside(const struct hbg_task_view *t) { HBG_VIEW(int32_t, t, 0)[1]++; return 0; }
static int hold_on(const struct hbg_task_view *t)
{
    while (atomic_load(&hold) && !hbg_view_cancelled(t)) sleep_ms(1);
    return 0;
}
static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(ADD_ONE, add_one, "inout i32"), HBG_KERNEL(FAIL, fail_with_7, NULL), HBG_KERNEL(CALL_DEVICE, call_device, NULL),
    HBG_KERNEL(WRITE_BESIDE, write_beside, NULL), HBG_KERNEL(HOLD, hold_on, NULL),
};

/* ---- one run of a build function over one number, which the caller owns ---- */

static int32_t numbers[4];

#define BUILD(name) static void name(struct hbg_graph *g, const struct hbg_args *args, const void *params)
#define X hbg_args_region(args, 0)
#define UNUSED (void)g, (void)args, (void)params

static enum hbg_status run_with(struct hbg_device *device, hbg_build_fn *build, uint64_t limit_tasks, struct hbg_error *error)
{
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build, KERNEL_TABLE(kernels), .limit_tasks = limit_tasks });
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status status = hbg_run_sync(program, HBG_ARGS(hbg_inout(HOST_I32(numbers, 1))), &result);
    *error = result.error;
    hbg_program_destroy(program);
    return status;
}

BUILD(build_good) { UNUSED; kept_task = hbg_submit(g, ADD_ONE, hbg_inout(X)); kept_region = hbg_alloc(g, HBG_I32, HBG_SHAPE(1)); }
BUILD(build_hold) { UNUSED; hbg_submit(g, HOLD); }
BUILD(build_wide_index) { UNUSED; hbg_submit(g, ADD_ONE, hbg_inout(hbg_slice(X, 0, 0, 2))); }
BUILD(build_bound_region) { UNUSED; hbg_submit(g, FAIL, hbg_args_scalar(args, 0)); }
BUILD(build_wrong_mode) { UNUSED; hbg_submit(g, ADD_ONE, hbg_in(X)); }
BUILD(build_two) { UNUSED; hbg_submit(g, ADD_ONE, hbg_inout(X)); hbg_submit(g, ADD_ONE, hbg_inout(X)); }
BUILD(build_late_read) { UNUSED; hbg_submit(g, ADD_ONE, hbg_inout(X)); (void)hbg_read_i32(g, X, HBG_SHAPE(0)); }
BUILD(build_old_region) { UNUSED; hbg_submit(g, ADD_ONE, hbg_inout(kept_region)); }
BUILD(build_old_task) { UNUSED; hbg_submit(g, ADD_ONE, hbg_inout(X), hbg_after(kept_task)); }
BUILD(build_gives_up) { UNUSED; hbg_graph_fail(g, 12, "the request is too long"); }
BUILD(build_fails) { UNUSED; hbg_submit(g, FAIL); }
BUILD(build_accumulates) { UNUSED; hbg_submit(g, FAIL, hbg_accumulate(X)); }
BUILD(build_open_scope) { UNUSED; hbg_scope_begin(g, HBG_SCOPE_AUTO); }
BUILD(build_calls) { UNUSED; hbg_submit(g, CALL_DEVICE); }
BUILD(build_beside) { UNUSED; hbg_submit(g, WRITE_BESIDE, hbg_inout(X)); }
BUILD(build_diamond)
{
    UNUSED;
    struct hbg_task a = hbg_submit(g, CALL_DEVICE), b = hbg_submit(g, CALL_DEVICE, hbg_after(a)), c = hbg_submit(g, CALL_DEVICE, hbg_after(a));
    hbg_submit(g, CALL_DEVICE, hbg_after(b), hbg_after(c));
}
#undef BUILD
#undef X
#undef UNUSED

/* A run that was prepared and not launched; finished by end(). */
static struct hbg_run prepared(struct hbg_device *device, hbg_build_fn *build, struct hbg_error *error)
{
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = build, KERNEL_TABLE(kernels) });
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run run;
    options.error = error;
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(numbers, 1))), &options, &run), HBG_OK);
    hbg_program_destroy(program);           /* the run keeps what it needs */
    return run;
}

static enum hbg_status end(struct hbg_run run, struct hbg_result *result)
{
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    (void)!hbg_run_wait(run, HBG_FOREVER);
    return hbg_run_finish(run, result);
}

/* The call that is provoked has no place for a sentence. */
static void has_no_error(struct hbg_error *error) { error->size = 0; }

/* ---- the provocations ---- */

#define PROVOKE(name) static enum hbg_status provoke_##name(struct hbg_device *device, struct hbg_error *error)

PROVOKE(OK) { return run_with(device, build_good, 0, error); }

PROVOKE(TIMEOUT)
{
    atomic_store(&hold, 1);
    struct hbg_error said = HBG_OPTIONS(error);
    struct hbg_run run = prepared(device, build_hold, &said);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    enum hbg_status status = hbg_run_wait(run, 1000000);
    *error = said;                      /* the wait that succeeds forgets it */
    atomic_store(&hold, 0);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
    return status;
}

PROVOKE(E_NULL)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *other = NULL;
    (void)device;
    options.error = error;
    return hbg_device_open(NULL, &options, &other);
}

PROVOKE(E_OPTION)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *other = NULL;
    (void)device;
    options.error = error;
    return hbg_device_open("cpu:worker=2", &options, &other);
}

PROVOKE(E_STALE)
{
    struct hbg_run run = prepared(device, build_good, NULL);
    has_no_error(error);
    assert_int_equal(end(run, NULL), HBG_E_CANCELLED);
    return hbg_run_launch(run);
}

PROVOKE(E_ORDER) { return run_with(device, build_open_scope, 0, error); }

PROVOKE(E_BUSY)
{
    struct hbg_run run = prepared(device, build_good, NULL);
    enum hbg_status status = hbg_device_close(device);
    has_no_error(error);
    assert_int_equal(end(run, NULL), HBG_E_CANCELLED);
    return status;
}

PROVOKE(E_NO_MEMORY)
{
    struct hbg_buffer *buffer = NULL;
    has_no_error(error);
    return hbg_buffer_create(device, SIZE_MAX / 2, &buffer);
}

PROVOKE(E_ABI)
{
    struct hbg_device_options options = { .error = error };
    struct hbg_device *other = NULL;
    (void)device;
    return hbg_device_open("cpu", &options, &other);
}

PROVOKE(E_UNSUPPORTED) { return run_with(device, build_accumulates, 0, error); }

PROVOKE(E_WOULD_DEADLOCK)
{
    struct hbg_run run = prepared(device, build_good, NULL);
    enum hbg_status status = run_with(device, build_good, 0, error);
    assert_int_equal(end(run, NULL), HBG_E_CANCELLED);
    return status;
}

PROVOKE(E_REENTRANT)
{
    atomic_store(&kernel_saw, 0);
    assert_int_equal(run_with(device, build_calls, 0, error), HBG_OK);
    has_no_error(error);
    return (enum hbg_status)atomic_load(&kernel_saw);
}

PROVOKE(E_REGION) { return run_with(device, build_wide_index, 0, error); }
PROVOKE(E_ACCESS) { return run_with(device, build_bound_region, 0, error); }
PROVOKE(E_SIGNATURE) { return run_with(device, build_wrong_mode, 0, error); }
PROVOKE(E_LIMIT) { return run_with(device, build_two, 1, error); }
PROVOKE(E_WRITTEN) { return run_with(device, build_late_read, 0, error); }
PROVOKE(E_SCOPE) { return run_with(device, build_old_region, 0, error); }
PROVOKE(E_TASK_ID) { return run_with(device, build_old_task, 0, error); }
PROVOKE(E_BUILD) { return run_with(device, build_gives_up, 0, error); }

PROVOKE(E_IMAGE)
{
    struct hbg_run run = prepared(device, build_good, NULL);
    const void *image;
    size_t size;
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
    void *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, image, size);
    memset(copy, 0, 8);
    enum hbg_status status = hbg_image_verify(copy, size, error);
    free(copy);
    assert_int_equal(end(run, NULL), HBG_E_CANCELLED);
    return status;
}

PROVOKE(E_KERNEL) { return run_with(device, build_fails, 0, error); }

PROVOKE(E_CANCELLED)
{
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status status = end(prepared(device, build_good, NULL), &result);
    *error = result.error;
    return status;
}

/* The link that wakes task 1 is cut in the image: task 3 waits for ever. On devices that have the image where the host has it. */
PROVOKE(E_STALLED)
{
    struct hbg_device *own = device_open("cpu:workers=2,memory=unified,stall_ms=50", NULL);
    struct hbg_run run = prepared(own, build_diamond, NULL);
    struct hbg_result result = HBG_OPTIONS(result);
    const void *image;
    size_t size;
    in_use = device;
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
    ((struct hbg__task_record *)(uintptr_t)hbg__image_record(hbg__image_payload(image), 0))->first_waiter = 2;
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    enum hbg_status status = hbg_run_finish(run, &result);
    *error = result.error;
    device_close(own);
    return status;
}

PROVOKE(E_OVERWRITTEN)
{
    struct hbg_device *own = device_open("cpu:workers=1,memory=discrete,poison=1", NULL);
    enum hbg_status status = run_with(own, build_beside, 0, error);
    (void)device;
    device_close(own);
    return status;
}

/* In the child of a fork; the sentence is looked at there. */
PROVOKE(E_DEVICE)
{
    int how = -1;
    struct hbg_program *program = PROGRAM(device, build_good, kernels);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct hbg_result result = HBG_OPTIONS(result);
        enum hbg_status status = hbg_run_sync(program, HBG_ARGS(hbg_inout(HOST_I32(numbers, 1))), &result);
        _exit(strstr(result.error.text, "child of fork") ? -(int)status : 0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    hbg_program_destroy(program);
    has_no_error(error);
    return WIFEXITED(how) ? (enum hbg_status)-WEXITSTATUS(how) : HBG_OK;
}

/* ---- all of them ---- */

static const struct { const char *name; enum hbg_status status; enum hbg_status (*provoke)(struct hbg_device *device, struct hbg_error *error); } statuses[] = {
#define LINE(code, name, text, remedy) { #name, HBG_##name, provoke_##name },
    HBG_STATUS_MAP(LINE)
#undef LINE
};

static void every_status_is_provoked(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    in_use = device;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        struct hbg_error error = HBG_OPTIONS(error);
        enum hbg_status status = statuses[i].provoke(device, &error);
        if (status != statuses[i].status) fail_msg("%s: %s: %s", statuses[i].name, hbg_status_name(status), error.text);
        if (error.size && (error.status != status || (status && strlen(error.text) < 10))) fail_msg("%s: the error says %s: %s", statuses[i].name, hbg_status_name(error.status), error.text);
        memset(numbers, 0, sizeof numbers);
        if (run_with(device, build_good, 0, &error)) fail_msg("after %s: %s", statuses[i].name, error.text);
        assert_int_equal(numbers[0], 1);
        assert_int_equal(numbers[1], 0);
    }
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(every_status_is_provoked) };
    return DEVICE_TESTS_RUN(tests);
}
