/* SPDX-License-Identifier: Apache-2.0 */
/* run_test.c - the phases of a run: in order, out of order, with stale handles, cancelled, timed out, and waiting for a slot. */
#include "unit/run/support.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int32_t x[64];
#define X hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(64)))

static struct hbg_run prepared(struct hbg_program *program, struct hbg_arg_list list)
{
    static struct hbg_error error;                              /* outlives the run */
    struct hbg_run run = { 0 };
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    options.error = &error;
    if (hbg_run_prepare(program, list, &options, &run)) fail_msg("%s", error.text);
    return run;
}

static void phases_in_order(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device *device = open_device(BOTH_MEMORIES[m]);
        struct hbg_program *program = make_program(device, build_add, false);
        struct hbg_result result = HBG_OPTIONS(result);
        enum hbg_run_state at;
        memset(x, 0, sizeof x);
        struct hbg_run run = prepared(program, LIST(X));
        assert_int_equal(hbg_run_poll(run, &at), HBG_OK);
        assert_int_equal(at, HBG_RUN_PREPARED);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_poll(run, &at), HBG_OK);
        assert_int_equal(at, HBG_RUN_DONE);
        assert_int_equal(hbg_run_finish(run, &result), HBG_OK);
        assert_int_equal(result.tasks, 1);
        assert_int_equal(result.edges, 0);
        assert_int_equal(result.error.status, HBG_OK);
        assert_true(result.bind_ns > 0 && result.launch_to_done_ns > 0 && result.run_ns >= result.bind_ns);
        for (int i = 0; i < 64; i++) assert_int_equal(x[i], 1);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

static void wrong_order_is_named_and_harmless(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_program *program = make_program(device, build_add, false);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_run none = { 0 }, foreign;
    enum hbg_run_state at;
    const void *image;
    size_t size;
    (void)state;
    memset(x, 0, sizeof x);
    assert_int_equal(hbg_run_launch(none), HBG_E_NULL);
    struct hbg_run run = prepared(program, LIST(X));
    assert_int_equal(hbg_run_wait(run, 0), HBG_E_ORDER);
    assert_int_equal(hbg_run_finish(run, &result), HBG_E_ORDER);
    assert_int_equal(result.error.status, HBG_E_ORDER);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_launch(run), HBG_E_ORDER);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    foreign = run;
    foreign.generation++;
    assert_int_equal(hbg_run_wait(foreign, 0), HBG_E_STALE);
    foreign = run;
    foreign.slot += 1000000;
    assert_int_equal(hbg_run_wait(foreign, 0), HBG_E_STALE);
    foreign = run;
    foreign.program = (struct hbg_program *)(void *)x;
    assert_int_equal(hbg_run_wait(foreign, 0), HBG_E_STALE);
    assert_int_equal(hbg_run_finish(run, &result), HBG_OK);
    assert_int_equal(hbg_run_finish(run, &result), HBG_E_STALE);
    assert_int_equal(hbg_run_launch(run), HBG_E_STALE);
    assert_int_equal(hbg_run_wait(run, 0), HBG_E_STALE);
    assert_int_equal(hbg_run_cancel(run), HBG_E_STALE);
    assert_int_equal(hbg_run_poll(run, &at), HBG_E_STALE);
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_E_STALE);
    assert_int_equal(hbg_run_poll(run, NULL), HBG_E_NULL);
    assert_int_equal(x[0], 1);
    runs_well(program, LIST(X), NULL);
    assert_int_equal(x[0], 2);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    assert_int_equal(hbg_run_wait(run, 0), HBG_E_STALE);        /* the device is gone; the handle is still only stale */
}

static void null_and_other_headers(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_program *program = make_program(device, build_add, false);
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options), old = { .size = 4 };
    struct hbg_result small = { .size = 8 };
    struct hbg_run run;
    (void)state;
    options.error = &error;
    assert_int_equal(hbg_run_prepare(NULL, HBG_NO_ARGS, &options, &run), HBG_E_NULL);
    assert_string_equal(error.name, "program");
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, NULL), HBG_E_NULL);
    assert_string_equal(error.name, "run");
    assert_int_equal(hbg_run_prepare(program, (struct hbg_arg_list){ NULL, 3 }, &options, &run), HBG_E_NULL);
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &old, &run), HBG_E_ABI);
    assert_int_equal(hbg_run_sync(program, HBG_NO_ARGS, &small), HBG_E_ABI);
    assert_int_equal(hbg_run_sync(program, HBG_NO_ARGS, NULL), HBG_OK);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

static void cancel_before_and_after_the_launch(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=2");
    struct hbg_program *add = make_program(device, build_add, false), *holds = make_program(device, build_hold, false);
    struct hbg_result result = HBG_OPTIONS(result);
    (void)state;
    memset(x, 0, sizeof x);
    struct hbg_run run = prepared(add, LIST(X));
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_launch(run), HBG_E_ORDER);
    assert_int_equal(hbg_run_wait(run, 0), HBG_OK);
    assert_int_equal(hbg_run_finish(run, &result), HBG_E_CANCELLED);
    assert_int_equal(result.error.status, HBG_E_CANCELLED);
    assert_int_equal(x[0], 0);

    atomic_store(&hold_open, 0);
    atomic_store(&hold_entered, 0);
    run = prepared(holds, LIST(X));
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    while (!atomic_load(&hold_entered)) sleep_a_little();
    assert_int_equal(hbg_run_finish(run, &result), HBG_E_ORDER);        /* it runs */
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, &result), HBG_E_CANCELLED);
    assert_int_equal(x[0], 0);                                          /* the second task was skipped */
    runs_well(add, LIST(X), NULL);
    assert_int_equal(x[0], 1);
    hbg_program_destroy(add);
    hbg_program_destroy(holds);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

static void a_wait_that_times_out_names_the_task(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_program *program = make_program(device, build_hold, false);
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run run;
    enum hbg_run_state at;
    (void)state;
    options.error = &error;
    atomic_store(&hold_open, 0);
    atomic_store(&hold_entered, 0);
    assert_int_equal(hbg_run_prepare(program, LIST(X), &options, &run), HBG_OK);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    while (!atomic_load(&hold_entered)) sleep_a_little();
    assert_int_equal(hbg_run_poll(run, &at), HBG_OK);
    assert_int_equal(at, HBG_RUN_RUNNING);
    assert_int_equal(hbg_run_wait(run, 1000000), HBG_TIMEOUT);
    assert_int_equal(error.status, HBG_TIMEOUT);
    assert_int_equal(error.task, 0);
    assert_string_equal(error.name, "hold");
    assert_non_null(strstr(error.text, "worker 0"));
    atomic_store(&hold_open, 1);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* By a wait, by a wait of its own shorter time, by a poll, and however late the launch was. */
static void a_deadline_cancels(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_program *program = make_program(device, build_hold, false);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    (void)state;
    options.deadline_ns = 5000000;
    for (int way = 0; way < 4; way++) {
        struct hbg_result result = HBG_OPTIONS(result);
        struct hbg_run run;
        enum hbg_run_state at = HBG_RUN_RUNNING;
        atomic_store(&hold_open, 0);
        atomic_store(&hold_entered, 0);
        assert_int_equal(hbg_run_prepare(program, LIST(X), &options, &run), HBG_OK);
        if (way == 3) for (int i = 0; i < 50; i++) sleep_a_little();
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        while (!atomic_load(&hold_entered)) sleep_a_little();
        if (way == 0 || way == 3) assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        for (int i = 0; way == 1 && i < 50000 && hbg_run_wait(run, 100000) == HBG_TIMEOUT; i++) continue;
        for (int i = 0; way == 2 && i < 50000 && at != HBG_RUN_DONE; i++) {
            sleep_a_little();
            assert_int_equal(hbg_run_poll(run, &at), HBG_OK);
        }
        assert_int_equal(hbg_run_finish(run, &result), HBG_E_CANCELLED);
        assert_non_null(strstr(result.error.text, "at its deadline"));
    }
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* Nobody looks, or it ends in time: it goes its way. */
static void a_deadline_that_is_kept_changes_nothing(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_program *program = make_program(device, build_hold, false);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    (void)state;
    for (int way = 0; way < 2; way++) {
        struct hbg_run run;
        options.deadline_ns = way ? 60000000000u : 1000000;
        atomic_store(&hold_open, 0);
        assert_int_equal(hbg_run_prepare(program, LIST(X), &options, &run), HBG_OK);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        for (int i = 0; i < 20; i++) sleep_a_little();
        if (way) assert_int_equal(hbg_run_wait(run, 0), HBG_TIMEOUT);
        atomic_store(&hold_open, 1);
        while (hbg_run_finish(run, NULL) == HBG_E_ORDER) sleep_a_little();
        assert_int_equal(hbg_run_wait(run, 0), HBG_E_STALE);
    }
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* In the sentence of a wait that times out and of the finish; cut where it is long, and gone with the run. */
static void the_name_of_a_run_is_in_its_sentences(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_program *program = make_program(device, build_hold, false);
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_run run;
    char name[] = "token 17", longer[200];
    (void)state;
    memset(longer, 'n', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    atomic_store(&hold_open, 0);
    for (int i = 0; i < 3; i++) {
        options.name = i == 0 ? name : i == 1 ? longer : NULL;
        options.error = &error;
        assert_int_equal(hbg_run_prepare(program, LIST(X), &options, &run), HBG_OK);
        if (i == 0) name[0] = '?';                              /* it was copied */
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, 1000000), HBG_TIMEOUT);
        const char *label = i == 0 ? "run \"token 17\" of program \"test\"" : i == 1 ? "run \"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\" of program \"test\"" : "program \"test\"";
        if (!strstr(error.text, label)) fail_msg("%s", error.text);
        assert_int_equal(hbg_run_cancel(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        assert_string_equal(error.text, "");                    /* the wait that succeeds forgets it */
        assert_int_equal(hbg_run_finish(run, &result), HBG_E_CANCELLED);
        if (!strstr(result.error.text, label)) fail_msg("%s", result.error.text);
        if (i == 2) assert_null(strstr(result.error.text, "run \""));
    }
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

static void a_failing_kernel_is_explained(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device *device = open_device(BOTH_MEMORIES[m]);
        struct hbg_program *bad = make_program(device, build_fail, true), *good = make_program(device, build_add, false);
        struct hbg_result result = HBG_OPTIONS(result);
        for (int round = 0; round < 3; round++) {
            assert_int_equal(hbg_run_sync(bad, LIST(X), &result), HBG_E_KERNEL);
            assert_int_equal(result.error.status, HBG_E_KERNEL);
            assert_int_equal(result.error.task, 1);
            assert_int_equal(result.error.code, 42);
            assert_int_equal(result.error.detail, 4711);
            assert_string_equal(result.error.name, "fail");
            assert_int_equal(result.tasks, 3);
            assert_int_equal(result.replayed, round > 0);
            memset(x, 0, sizeof x);
            runs_well(good, LIST(X), NULL);
            assert_int_equal(x[63], 1);
        }
        hbg_program_destroy(bad);
        hbg_program_destroy(good);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

/* ---- slots ---- */

static void a_second_prepare_of_one_thread_would_deadlock(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1,depth=1");
    struct hbg_program *program = make_program(device, build_add, false);
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run other;
    (void)state;
    options.error = &error;
    struct hbg_run run = prepared(program, LIST(X));
    assert_int_equal(hbg_run_prepare(program, LIST(X), &options, &other), HBG_E_WOULD_DEADLOCK);
    assert_non_null(strstr(error.text, "handed_over"));
    assert_int_equal(hbg_run_sync(program, LIST(X), NULL), HBG_E_WOULD_DEADLOCK);
    options.poll = true;
    assert_int_equal(hbg_run_prepare(program, LIST(X), &options, &other), HBG_E_BUSY);
    assert_int_equal(hbg_device_close(device), HBG_E_BUSY);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_prepare(program, LIST(X), &options, &other), HBG_E_BUSY);    /* ended, not finished */
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);

    options.poll = false;
    options.handed_over = true;
    options.slot_timeout_ns = 3000000;
    assert_int_equal(hbg_run_prepare(program, LIST(X), &options, &run), HBG_OK);
    assert_int_equal(hbg_run_prepare(program, LIST(X), &options, &other), HBG_TIMEOUT);
    assert_int_equal(error.status, HBG_TIMEOUT);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

struct finisher { struct hbg_run run; atomic_int waiting; };

static void *finish_later(void *user)
{
    struct finisher *f = user;
    for (int i = 0; i < 20; i++) sleep_a_little();
    if (hbg_run_launch(f->run) || hbg_run_wait(f->run, HBG_FOREVER)) return user;
    return hbg_run_finish(f->run, NULL) ? user : NULL;
}

static void a_prepare_waits_for_another_threads_run(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1,depth=1");
    struct hbg_program *program = make_program(device, build_add, false);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct finisher f = { 0 };
    pthread_t thread;
    void *failed;
    (void)state;
    options.handed_over = true;
    memset(x, 0, sizeof x);
    assert_int_equal(hbg_run_prepare(program, LIST(X), &options, &f.run), HBG_OK);
    assert_int_equal(pthread_create(&thread, NULL, finish_later, &f), 0);
    runs_well(program, LIST(X), NULL);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    assert_int_equal(x[5], 2);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

static void *many_runs(void *user)
{
    struct hbg_program *program = user;
    int32_t y[16] = { 0 };
    for (int i = 0; i < 200; i++) {
        if (hbg_run_sync(program, LIST(hbg_inout(hbg_host(y, HBG_I32, HBG_SHAPE(16)))), NULL) || y[15] != i + 1) return user;
    }
    return NULL;
}

static void threads_share_a_device(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device *device = open_device(BOTH_MEMORIES[m]);
        struct hbg_program *program = make_program(device, build_add, m == 1);
        pthread_t thread[3];
        void *failed;
        for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&thread[i], NULL, many_runs, program), 0);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(pthread_join(thread[i], &failed), 0);
            assert_null(failed);
        }
        struct hbg_counters counters = counters_of(device);
        assert_int_equal(counters.runs, 600);
        assert_in_range(counters.stream_sets_made, 1, 2);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

struct meddler { pthread_mutex_t lock; struct hbg_run run; atomic_int stop; atomic_int odd; };

/* Every call that any thread may make on a run, on whichever the other thread has just now, and on those it had before. */
static void *meddle(void *user)
{
    struct meddler *m = user;
    for (unsigned turn = 0; !atomic_load(&m->stop); turn++) {
        enum hbg_run_state at = HBG_RUN_PREPARED;
        pthread_mutex_lock(&m->lock);
        struct hbg_run run = m->run;
        pthread_mutex_unlock(&m->lock);
        enum hbg_status s = turn % 3 == 0 ? hbg_run_poll(run, &at) : turn % 3 == 1 ? hbg_run_wait(run, 0) : turn % 16 == 2 ? hbg_run_cancel(run) : HBG_OK;
        if (s != HBG_OK && s != HBG_TIMEOUT && s != HBG_E_STALE && s != HBG_E_ORDER && s != HBG_E_NULL) atomic_store(&m->odd, (int)s);
    }
    return NULL;
}

static void other_threads_may_meddle(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=2");
    struct hbg_program *program = make_program(device, build_add, true);
    struct meddler m = { .lock = PTHREAD_MUTEX_INITIALIZER };
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, meddle, &m), 0);
    for (int i = 0; i < 400; i++) {
        struct hbg_run run = prepared(program, LIST(X));
        pthread_mutex_lock(&m.lock);
        m.run = run;
        pthread_mutex_unlock(&m.lock);
        enum hbg_status launched = hbg_run_launch(run);         /* refused where the cancel came first */
        assert_true(launched == HBG_OK || launched == HBG_E_ORDER);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        enum hbg_status ended = hbg_run_finish(run, NULL);
        if (launched) assert_int_equal(ended, HBG_E_CANCELLED);
        assert_true(ended == HBG_OK || ended == HBG_E_CANCELLED);
    }
    atomic_store(&m.stop, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&m.odd), 0);
    memset(x, 0, sizeof x);
    runs_well(program, LIST(X), NULL);
    assert_int_equal(x[63], 1);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* ---- where calls are refused ---- */

static struct hbg_program *reentered;
static struct hbg_device *reentered_device;
static enum hbg_status from_build, from_kernel, close_from_build;
static int call_from_kernel(const struct hbg_task_view *t) { (void)t; from_kernel = hbg_run_sync(reentered, HBG_NO_ARGS, NULL); return 0; }
static void call_from_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    struct hbg_result result = HBG_OPTIONS(result);
    from_build = hbg_run_sync(reentered, HBG_NO_ARGS, &result);
    if (!strstr(result.error.text, "build function")) from_build = HBG_OK;
    close_from_build = hbg_device_close(reentered_device);
    hbg_submit(g, 0);
}

static void calls_from_inside_are_refused(void **state)
{
    static const struct hbg_kernel table[] = { HBG_KERNEL(0, call_from_kernel, NULL) };
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    (void)state;
    reentered_device = open_device("cpu:workers=1");
    o.build = call_from_build;
    o.kernels = table;
    o.kernel_count = 1;
    assert_int_equal(hbg_program_create(reentered_device, &o, &reentered), HBG_OK);
    assert_int_equal(hbg_run_sync(reentered, HBG_NO_ARGS, NULL), HBG_OK);
    assert_int_equal(from_build, HBG_E_REENTRANT);
    assert_int_equal(from_kernel, HBG_E_REENTRANT);
    assert_int_equal(close_from_build, HBG_E_REENTRANT);
    hbg_program_destroy(reentered);
    assert_int_equal(hbg_device_close(reentered_device), HBG_OK);
}

/* ---- sentences ---- */

static void build_bad_index(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD_ONE, hbg_inout(hbg_index(hbg_args_region(args, 0), 0, 99)));
}
static void build_no_buffer(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_submit(g, ADD_ONE, hbg_inout(hbg_buffer_region(NULL, 0, HBG_I32, HBG_SHAPE(3))));
}

/* In a submit as in the boundary of a run. */
static void a_bad_view_says_why(void **state)
{
    static const struct { hbg_build_fn *build; const char *why; } cases[] = {
        { build_bad_index, "argument 0 of kernel add_one is a bad view: index 99 of a dimension of 64" },
        { build_no_buffer, "argument 0 of kernel add_one is a bad view: hbg_buffer_region of NULL, which is no buffer" },
    };
    struct hbg_device *device = open_device(BOTH_MEMORIES[0]);
    struct hbg_result result = HBG_OPTIONS(result);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hbg_program *program = make_program(device, cases[i].build, false);
        assert_int_equal(hbg_run_sync(program, LIST(X), &result), HBG_E_REGION);
        if (!strstr(result.error.text, cases[i].why)) fail_msg("%s", result.error.text);
        hbg_program_destroy(program);
    }
    struct hbg_program *program = make_program(device, build_add, false);
    assert_int_equal(hbg_run_sync(program, LIST(hbg_in(hbg_index(hbg_host(x, HBG_I32, HBG_SHAPE(64)), 0, 99))), &result), HBG_E_REGION);
    if (!strstr(result.error.text, "argument 0 is a bad view: index 99 of a dimension of 64")) fail_msg("%s", result.error.text);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_in_order),
        cmocka_unit_test(wrong_order_is_named_and_harmless),
        cmocka_unit_test(null_and_other_headers),
        cmocka_unit_test(cancel_before_and_after_the_launch),
        cmocka_unit_test(a_wait_that_times_out_names_the_task),
        cmocka_unit_test(a_deadline_cancels),
        cmocka_unit_test(a_deadline_that_is_kept_changes_nothing),
        cmocka_unit_test(the_name_of_a_run_is_in_its_sentences),
        cmocka_unit_test(a_failing_kernel_is_explained),
        cmocka_unit_test(a_second_prepare_of_one_thread_would_deadlock),
        cmocka_unit_test(a_prepare_waits_for_another_threads_run),
        cmocka_unit_test(threads_share_a_device),
        cmocka_unit_test(other_threads_may_meddle),
        cmocka_unit_test(calls_from_inside_are_refused),
        
        cmocka_unit_test(a_bad_view_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
