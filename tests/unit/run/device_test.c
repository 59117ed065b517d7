/* SPDX-License-Identifier: Apache-2.0 */
/* device_test.c - opening and closing: order, counters, allocators that fail, forks, the log. */
#include "unit/run/support.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int32_t x[32];
#define X hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(32)))

static void close_while_busy_leaves_all_as_it_was(void **state)
{
    struct hbg_counters final = HBG_OPTIONS(counters);
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *device = NULL;
    struct hbg_run run;
    (void)state;
    options.final_counters = &final;
    assert_int_equal(hbg_device_open("cpu:workers=1,memory=discrete", &options, &device), HBG_OK);
    struct hbg_program *program = make_program(device, build_add, false);
    memset(x, 0, sizeof x);
    assert_int_equal(hbg_run_prepare(program, LIST(X), NULL, &run), HBG_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(hbg_device_close(device), HBG_E_BUSY);
    assert_int_equal(final.runs, 0);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_device_close(device), HBG_E_BUSY);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
    for (int i = 0; i < 3; i++) runs_well(program, LIST(X), NULL);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    assert_int_equal(final.runs, 4);
    assert_int_equal(final.stream_sets_made, 1);
    assert_int_equal(final.stream_sets_live, 0);
    assert_int_equal(final.programs_registered, 1);
    assert_int_equal(final.builds, 4);
    assert_int_equal(x[31], 4);
    assert_int_equal(hbg_device_close(NULL), HBG_OK);
}

static void stream_sets_are_made_on_first_use_and_kept(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_program *program = make_program(device, build_nothing, false);
    (void)state;
    assert_int_equal(counters_of(device).stream_sets_made, 0);
    for (int i = 0; i < 4; i++) runs_well(program, HBG_NO_ARGS, NULL);
    if (counters_of(device).stream_sets_made != 1) fail_msg("expected 1 stream set for 4 runs, got %" PRIu64, counters_of(device).stream_sets_made);
    assert_int_equal(counters_of(device).stream_sets_live, 1);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

static void children_in_any_order(void **state)
{
    (void)state;
    for (int order = 0; order < 6; order++) {
        struct hbg_device *device = open_device("cpu:workers=1,memory=discrete");
        struct hbg_program *program = make_program(device, build_add, true);
        struct hbg_buffer *buffer = NULL;
        assert_int_equal(hbg_buffer_create(device, 128, &buffer), HBG_OK);
        runs_well(program, LIST(hbg_inout(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(32)))), NULL);
        static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
        for (int i = 0; i < 3; i++) {
            if (orders[order][i] == 0) assert_int_equal(hbg_device_close(device), HBG_OK);
            if (orders[order][i] == 1) hbg_program_destroy(program);
            if (orders[order][i] == 2) hbg_buffer_destroy(buffer);
        }
    }
}

/* ---- allocators ---- */

struct failing { int64_t left, live; };
static void *failing_alloc(void *user, size_t size, size_t align)
{
    struct failing *f = user;
    void *block = NULL;
    if (f->left >= 0 && f->left-- == 0) return NULL;
    if (posix_memalign(&block, align < sizeof(void *) ? sizeof(void *) : align, size ? size : 1)) return NULL;
    f->live += (int64_t)size;
    return block;
}
static void failing_free(void *user, void *block, size_t size, size_t align)
{
    (void)align;
    if (block) ((struct failing *)user)->live -= (int64_t)size;
    free(block);
}

/* Open, program, two runs, close, with the n-th allocation refused: HBG_E_NO_MEMORY or success, and nothing left behind. */
static bool life_with_refusal(int64_t n, const char *spec, bool pure)
{
    struct failing failing = { .left = n };
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_device *device = NULL;
    struct hbg_program *program = NULL;
    struct hbg_buffer *buffer = NULL;
    options.allocator = (struct hbg_allocator){ failing_alloc, failing_free, &failing };
    o.name = "test";
    o.build = build_add;
    o.kernels = kernels;
    o.kernel_count = KERNELS;
    o.boundary = "inout i32, inout i32";
    o.pure_build = pure;
    enum hbg_status status = hbg_device_open(spec, &options, &device);
    if (!status) status = hbg_program_create(device, &o, &program);
    if (!status) status = hbg_buffer_create(device, 128, &buffer);
    for (int i = 0; !status && i < 2; i++) status = hbg_run_sync(program, LIST(X, hbg_inout(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(32)))), NULL);
    if (status && status != HBG_E_NO_MEMORY) fail_msg("allocation %lld: %s", (long long)n, hbg_status_name(status));
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    if (failing.live) fail_msg("allocation %lld: %lld bytes are left", (long long)n, (long long)failing.live);
    return status == HBG_OK;
}

static void every_allocation_fails_once(void **state)
{
    static const char *const specs[] = { "cpu:workers=2", "cpu:workers=1,memory=discrete" };
    (void)state;
    for (int m = 0; m < 4; m++) {
        int64_t n = 0;
        while (!life_with_refusal(n, specs[m & 1], m & 2)) n++;
        assert_true(n > 10);
    }
}

/* ---- fork ---- */

static int in_child(struct hbg_device *device, struct hbg_program *program, struct hbg_buffer *buffer, struct hbg_run run)
{
    struct hbg_run other;
    struct hbg_device *own = NULL;
    struct hbg_program *own_program = NULL;
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    int32_t value;
    o.build = build_add;
    o.kernels = kernels;
    o.kernel_count = KERNELS;
    if (hbg_run_sync(program, LIST(X), NULL) != HBG_E_DEVICE) return 1;
    if (hbg_run_prepare(program, LIST(X), NULL, &other) != HBG_E_DEVICE) return 2;
    if (hbg_run_launch(run) != HBG_E_DEVICE || hbg_run_wait(run, 0) != HBG_E_DEVICE || hbg_run_finish(run, NULL) != HBG_E_DEVICE) return 3;
    if (hbg_buffer_read(buffer, 0, &value, 4) != HBG_E_DEVICE) return 4;
    if (hbg_program_create(device, &o, &own_program) != HBG_E_DEVICE) return 5;
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(program);
    if (hbg_device_close(device) != HBG_E_DEVICE) return 6;
#ifdef __SANITIZE_THREAD__                              /* it does not let a forked child start threads */
    return 0;
#endif
    if (hbg_device_open("cpu:workers=1", NULL, &own)) return 7;                     /* a device of its own works */
    if (hbg_program_create(own, &o, &own_program)) return 8;
    memset(x, 0, sizeof x);
    if (hbg_run_sync(own_program, LIST(X), NULL) || x[0] != 1) return 9;
    hbg_program_destroy(own_program);
    return hbg_device_close(own) ? 10 : 0;
}

static void a_forked_child_is_told_at_once(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_program *program = make_program(device, build_add, false);
    struct hbg_buffer *buffer = NULL;
    struct hbg_run run;
    int status = -1;
    (void)state;
    /* The worker has begun before the fork: a thread that begins takes locks of a sanitizer's allocator, and a child would inherit them. */
    assert_int_equal(hbg_run_sync(program, LIST(X), NULL), HBG_OK);
    memset(x, 0, sizeof x);
    assert_int_equal(hbg_buffer_create(device, 64, &buffer), HBG_OK);
    assert_int_equal(hbg_run_prepare(program, LIST(X), NULL, &run), HBG_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(in_child(device, program, buffer, run));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(hbg_run_launch(run), HBG_OK);          /* the parent goes on */
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
    assert_int_equal(x[0], 1);
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* ---- the log, many devices ---- */

static char last_line[600];
static void keep_line(void *user, enum hbg_log_level level, const char *text)
{
    (void)user;
    (void)level;
    snprintf(last_line, sizeof last_line, "%s", text);
}

static void failures_are_logged(void **state)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *device = NULL;
    (void)state;
    options.log = keep_line;
    options.log_level = HBG_LOG_WARN;
    assert_int_equal(hbg_device_open("cpu:wrokers=1", &options, &device), HBG_E_OPTION);
    assert_non_null(strstr(last_line, "wrokers"));
    assert_int_equal(hbg_device_open("cpu:workers=1", &options, &device), HBG_OK);
    struct hbg_program *program = make_program(device, build_fail, false);
    struct hbg_result result = HBG_OPTIONS(result);
    assert_int_equal(hbg_run_sync(program, LIST(X), &result), HBG_E_KERNEL);
    assert_non_null(strstr(last_line, "\"fail\""));
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* ---- what the header promises of worker threads ---- */

static size_t stack_bytes;
static int look_at_stack(const struct hbg_task_view *t)
{
    pthread_attr_t attributes;
    (void)t;
    if (pthread_getattr_np(pthread_self(), &attributes)) return 1;
    int code = pthread_attr_getstacksize(&attributes, &stack_bytes);
    pthread_attr_destroy(&attributes);
    return code;
}
static const struct hbg_kernel stack_kernel[] = { HBG_KERNEL(0, look_at_stack, NULL) };
static void build_stack(struct hbg_graph *g, const struct hbg_args *args, const void *params) { (void)args, (void)params; hbg_submit(g, 0); }

static void kernels_have_two_mebibytes_of_stack(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=2");
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_program *program = NULL;
    (void)state;
    options.build = build_stack;
    options.kernels = stack_kernel;
    options.kernel_count = 1;
    assert_int_equal(hbg_program_create(device, &options, &program), HBG_OK);
    runs_well(program, HBG_NO_ARGS, NULL);
    assert_in_range(stack_bytes, 2 << 20, (2 << 20) + (64 << 10));
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

static void many_devices_keep_their_handles_apart(void **state)
{
    enum { DEVICES = 80 };
    static struct hbg_device *device[DEVICES];
    static struct hbg_program *program[DEVICES];
    static struct hbg_run run[DEVICES];
    (void)state;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
#ifdef HBG_SANITIZED
    options.reserve_bytes = 1 << 20;            /* so many default reservations would fill a sanitizer's address space */
#endif
    memset(x, 0, sizeof x);
    for (int i = 0; i < DEVICES; i++) {
        assert_int_equal(hbg_device_open("cpu:workers=1", &options, &device[i]), HBG_OK);
        program[i] = make_program(device[i], build_nothing, false);
        assert_int_equal(hbg_run_prepare(program[i], HBG_NO_ARGS, NULL, &run[i]), HBG_OK);
    }
    for (int i = 0; i < DEVICES; i++) {
        struct hbg_run mixed = run[i];
        mixed.program = program[(i + 1) % DEVICES];
        assert_int_equal(hbg_run_launch(mixed), HBG_E_STALE);
        assert_int_equal(hbg_run_launch(run[i]), HBG_OK);
        assert_int_equal(hbg_run_wait(run[i], HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(run[i], NULL), HBG_OK);
        hbg_program_destroy(program[i]);
        assert_int_equal(hbg_device_close(device[i]), HBG_OK);
    }
    for (int i = 0; i < DEVICES; i++) assert_int_equal(hbg_run_wait(run[i], 0), HBG_E_STALE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_while_busy_leaves_all_as_it_was),
        cmocka_unit_test(stream_sets_are_made_on_first_use_and_kept),
        cmocka_unit_test(children_in_any_order),
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(a_forked_child_is_told_at_once),
        cmocka_unit_test(failures_are_logged),
        cmocka_unit_test(kernels_have_two_mebibytes_of_stack),
        cmocka_unit_test(many_devices_keep_their_handles_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
