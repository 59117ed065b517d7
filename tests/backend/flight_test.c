/* SPDX-License-Identifier: Apache-2.0 */
/* flight_test.c - several runs in flight: they keep their order, one's end is nobody else's, and each is told apart. flight_data_test.c: what they share. */
#include <pthread.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "base/rng.h"
#include "support/devices.h"
#include "support/flights.h"
#include "support/program.h"

/* ---- CASES 13 ---- */

static void every_run_writes_its_number(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    enum { RUNS = 200 };
    static int32_t out[DEPTH][LENGTH];
    struct hbg_program *program = PROGRAM(device, set_build, flight_kernels);
    struct hbg_run run[DEPTH];
    struct hbg__rng rng;
    int runs = test_scaled(RUNS), overlapped = 0;
    hbg__rng_seed(&rng, test_seed(13));
    for (int n = 0; n < runs + DEPTH; n++) {
        int at = n % DEPTH;
        if (n >= DEPTH) {
            struct hbg_run stale = run[at];
            ends(run[at], HBG_OK);
            for (int i = 0; i < LENGTH; i++) assert_int_equal(out[at][i], n - DEPTH);
            assert_int_equal(hbg_run_launch(stale), HBG_E_STALE);
            assert_int_equal(hbg_run_finish(stale, NULL), HBG_E_STALE);
        }
        if (n >= runs) continue;
        struct hbg_arg arg[] = { hbg_out(HOST_I32(out[at], LENGTH)), hbg_i32(n), hbg_i32((int32_t)hbg__rng_below(&rng, 2000)) };
        memset(out[at], 0, sizeof out[at]);
        run[at] = prepared(program, (struct hbg_arg_list){ arg, 3 });
        memset(arg, 0xee, sizeof arg);
        if (n > 0) overlapped += state_of(run[(n - 1) % DEPTH]) != HBG_RUN_DONE;
        assert_int_equal(hbg_run_launch(run[at]), HBG_OK);
    }
    assert_true(overlapped > 0);
    hbg_program_destroy(program);
}

/* ---- CASES 21 ---- */

static void streams_are_made_once_a_slot(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = PROGRAM(device, empty_build, flight_kernels);
    for (int i = 0; i < 4; i++) program_run(program, HBG_NO_ARGS, NULL, NULL);
    uint64_t made = counters_of(device).stream_sets_made;
    if (made != 1) fail_msg("expected 1 stream set for 4 runs, got %d", (int)made);
    for (int i = 0; i < 5; i++) {
        struct hbg_run first = launched(program, HBG_NO_ARGS), second = launched(program, HBG_NO_ARGS);
        assert_int_not_equal(first.slot, second.slot);
        ends(second, HBG_OK);
        ends(first, HBG_OK);
    }
    assert_int_equal(counters_of(device).stream_sets_made, 2);
    assert_int_equal(counters_of(device).stream_sets_live, 2);
    hbg_program_destroy(program);
}

/* ---- CASES 28 ---- */

static void a_wait_is_for_its_own_run(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *quick = PROGRAM(device, empty_build, flight_kernels), *slow = PROGRAM(device, hold_build, flight_kernels);
    struct hbg_buffer *buffer;
    atomic_store(&flight_hold, 1);
    struct hbg_run first = launched(quick, HBG_NO_ARGS), second = launched(slow, HBG_NO_ARGS);
    ends(first, HBG_OK);
    until_held();
    assert_int_equal(hbg_run_wait(second, 1000000), HBG_TIMEOUT);
    struct hbg_program *third = PROGRAM(device, empty_build, flight_kernels);
    assert_int_equal(hbg_buffer_create(device, 64, &buffer), HBG_OK);
    assert_int_equal(hbg_buffer_write(buffer, 0, "control", 8), HBG_OK);
    struct hbg_run behind = launched(third, HBG_NO_ARGS);
    assert_int_equal(state_of(behind), HBG_RUN_QUEUED);
    assert_int_equal(state_of(second), HBG_RUN_RUNNING);
    assert_int_equal(hbg_run_wait(behind, 1000000), HBG_TIMEOUT);
    assert_int_equal(hbg_device_close(device), HBG_E_BUSY);
    atomic_store(&flight_hold, 0);
    ends(behind, HBG_OK);
    assert_int_equal(state_of(second), HBG_RUN_DONE);           /* launched before, so over before */
    ends(second, HBG_OK);
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(third);
    hbg_program_destroy(slow);
    hbg_program_destroy(quick);
}

/* ---- a run's end is its own ---- */

static void a_failed_run_leaves_the_others_alone(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static int32_t out[LENGTH];
    struct hbg_program *good = PROGRAM(device, set_build, flight_kernels), *bad = PROGRAM(device, fail_build, flight_kernels);
    for (int i = 0; i < 20; i++) {
        struct hbg_run first = launched(i % 2 ? good : bad, i % 2 ? SET_ARGS(out, i, 100) : HBG_NO_ARGS);
        struct hbg_run second = launched(i % 2 ? bad : good, i % 2 ? HBG_NO_ARGS : SET_ARGS(out, i, 100));
        ends(i % 4 < 2 ? first : second, (i % 4 < 2) == (i % 2 == 0) ? HBG_E_KERNEL : HBG_OK);
        ends(i % 4 < 2 ? second : first, (i % 4 < 2) == (i % 2 == 0) ? HBG_OK : HBG_E_KERNEL);
        assert_int_equal(out[LENGTH - 1], i);
    }
    hbg_program_destroy(bad);
    hbg_program_destroy(good);
}

static void a_queued_run_is_cancelled_at_once(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static int32_t out[LENGTH];
    struct hbg_program *slow = PROGRAM(device, hold_build, flight_kernels), *good = PROGRAM(device, set_build, flight_kernels);
    for (int i = 0; i < 3; i++) {
        atomic_store(&flight_hold, 1);
        struct hbg_run first = launched(slow, HBG_NO_ARGS);
        until_held();
        for (int k = 0; k < 40; k++) {                          /* more often than any queue is long */
            struct hbg_run second = launched(good, SET_ARGS(out, -1, 0));
            assert_int_equal(state_of(second), HBG_RUN_QUEUED);
            assert_int_equal(hbg_run_cancel(second), HBG_OK);
            ends(second, HBG_E_CANCELLED);
        }
        struct hbg_run last = launched(good, SET_ARGS(out, i, 0));
        if (i == 1) assert_int_equal(hbg_run_cancel(first), HBG_OK);
        else atomic_store(&flight_hold, 0);
        ends(first, i == 1 ? HBG_E_CANCELLED : HBG_OK);
        ends(last, HBG_OK);
        assert_int_equal(out[0], i);
    }
    hbg_program_destroy(good);
    hbg_program_destroy(slow);
}

static void two_runs_share_one_recording(struct hbg_device *device, const struct device_kind *kind)
{
    static int32_t out[DEPTH][LENGTH];
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = set_build, KERNEL_TABLE(flight_kernels), .pure = true });
    struct hbg_run run[DEPTH];
    for (int n = 0; n < 50 + DEPTH; n++) {
        int at = n % DEPTH;
        if (n >= DEPTH) {
            ends(run[at], HBG_OK);
            for (int i = 0; i < LENGTH; i++) assert_int_equal(out[at][i], n - DEPTH);
        }
        run[at] = launched(program, SET_ARGS(out[at], n, n % 7 * 50));
    }
    for (int i = 0; i < DEPTH; i++) ends(run[(50 + DEPTH + i) % DEPTH], HBG_OK);
    struct hbg_counters counters = counters_of(device);
    assert_int_equal(counters.builds, 1);
    assert_int_equal(counters.replays, 51);
    assert_int_equal(counters.image_copies, kind->discrete ? 1 : 0);
    hbg_program_destroy(program);
}

/* ---- completion callbacks ---- */

struct told { struct hbg_device *device; atomic_int calls; struct hbg_run run; enum hbg_status status, inside; };

static void tell(void *user, struct hbg_run run, enum hbg_status status)
{
    struct told *t = user;
    t->run = run;
    t->status = status;
    t->inside = hbg_run_cancel(run);
    atomic_fetch_add(&t->calls, 1);
}

static void a_callback_is_called_once(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    hbg_build_fn *build[] = { empty_build, hold_build, fail_build };
    static const enum hbg_status expected[] = { HBG_OK, HBG_OK, HBG_E_KERNEL };
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct told t = { .device = device };
    options.done = tell;
    options.done_user = &t;
    atomic_store(&flight_hold, 0);
    for (int i = 0; i < 3; i++) {
        struct hbg_program *program = PROGRAM(device, build[i], flight_kernels);
        struct hbg_run run;
        for (int k = 0; k < 20; k++) {
            atomic_store(&t.calls, 0);
            assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &run), HBG_OK);
            assert_int_equal(hbg_run_launch(run), HBG_OK);
            for (int n = 0; n < 5000 && !atomic_load(&t.calls); n++) sleep_ms(1);       /* without any wait of the host's */
            assert_int_equal(atomic_load(&t.calls), 1);
            assert_int_equal(t.status, expected[i]);
            assert_int_equal(t.inside, HBG_E_REENTRANT);
            assert_int_equal(t.run.generation, run.generation);
            assert_int_equal(hbg_run_finish(run, NULL), expected[i]);
        }
        hbg_program_destroy(program);
    }
    struct hbg_program *program = PROGRAM(device, hold_build, flight_kernels);
    struct hbg_run first, second;
    atomic_store(&flight_hold, 1);
    atomic_store(&t.calls, 0);
    first = launched(program, HBG_NO_ARGS);
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &second), HBG_OK);
    assert_int_equal(hbg_run_launch(second), HBG_OK);
    assert_int_equal(hbg_run_cancel(second), HBG_OK);
    assert_int_equal(atomic_load(&t.calls), 1);
    assert_int_equal(t.status, HBG_E_CANCELLED);
    ends(second, HBG_E_CANCELLED);
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &second), HBG_OK);
    assert_int_equal(hbg_run_cancel(second), HBG_OK);               /* never launched: it has not ended either */
    assert_int_equal(hbg_run_finish(second, NULL), HBG_E_CANCELLED);
    assert_int_equal(atomic_load(&t.calls), 1);
    atomic_store(&flight_hold, 0);
    ends(first, HBG_OK);
    hbg_program_destroy(program);
}

struct row { atomic_int count; int32_t number[64]; };

static void note(void *user, struct hbg_run run, enum hbg_status status)
{
    int32_t *number = user;
    struct row *row = (struct row *)(void *)((char *)(number - *number % 64) - offsetof(struct row, number));
    (void)run, (void)status;
    row->number[*number % 64] = -1 - atomic_fetch_add(&row->count, 1);
}

/* One at a time, in order, and each has returned when a wait sees the end: what it was given may go then. */
static void callbacks_are_in_order_and_before_the_end(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static struct row row;
    struct hbg_program *program = PROGRAM(device, empty_build, flight_kernels), *other = PROGRAM(device, hold_build, flight_kernels);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run run[DEPTH];
    int runs = test_scaled(3000);
    options.done = note;
    atomic_store(&flight_hold, 0);
    atomic_store(&row.count, 0);
    for (int n = 0; n < runs + DEPTH; n++) {
        if (n >= DEPTH) {
            if (n % 3) assert_int_equal(hbg_run_wait(run[n % DEPTH], HBG_FOREVER), HBG_OK);
            else while (state_of(run[n % DEPTH]) != HBG_RUN_DONE) {}
            assert_int_equal(row.number[(n - DEPTH) % 64], -1 - (n - DEPTH));
            assert_int_equal(hbg_run_finish(run[n % DEPTH], NULL), HBG_OK);
        }
        if (n >= runs) continue;
        row.number[n % 64] = n;
        options.done_user = &row.number[n % 64];
        assert_int_equal(hbg_run_prepare(n % 7 ? other : program, HBG_NO_ARGS, &options, &run[n % DEPTH]), HBG_OK);
        assert_int_equal(hbg_run_launch(run[n % DEPTH]), HBG_OK);
    }
    hbg_program_destroy(other);
    hbg_program_destroy(program);
}

/* ---- several host threads ---- */

struct client { struct hbg_program *program, *reader; int number, runs; int32_t out[LENGTH], back[LENGTH]; };

static void *be_client(void *user)
{
    struct client *c = user;
    for (int i = 0; i < c->runs; i++) {
        struct hbg_result result = HBG_OPTIONS(result);
        int32_t value = c->number * 100000 + i;
        if (hbg_run_sync(c->program, SET_ARGS(c->out, value, i % 50), &result) || c->out[LENGTH - 1] != value) return user;
        if (hbg_run_sync(c->reader, COPY_ARGS(c->out, c->back), &result) || c->back[0] != value) return user;
    }
    return NULL;
}

static void threads_prepare_at_once(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    enum { CLIENTS = 4 };
    static struct client client[CLIENTS];
    pthread_t thread[CLIENTS];
    struct hbg_program *program = program_create(device, &(struct program_spec){ .build = set_build, KERNEL_TABLE(flight_kernels), .pure = true });
    struct hbg_program *reader = PROGRAM(device, copy_build, flight_kernels);
    for (int i = 0; i < CLIENTS; i++) {
        client[i] = (struct client){ .program = program, .reader = reader, .number = i, .runs = test_scaled(200) };
        assert_int_equal(pthread_create(&thread[i], NULL, be_client, &client[i]), 0);
    }
    for (int i = 0; i < CLIENTS; i++) {
        void *failed;
        assert_int_equal(pthread_join(thread[i], &failed), 0);
        assert_null(failed);
    }
    hbg_program_destroy(reader);
    hbg_program_destroy(program);
}

/* A wait that times out says what runs, while one run after the other ends, begins and goes. */
static void short_waits_see_runs_come_and_go(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static int32_t out[DEPTH][LENGTH];
    struct hbg_program *program = PROGRAM(device, set_build, flight_kernels);
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run run[DEPTH];
    int runs = test_scaled(1000);
    options.error = &error;
    for (int n = 0; n < runs + DEPTH; n++) {
        int at = n % DEPTH;
        if (n >= DEPTH) {
            enum hbg_status status;
            uint64_t begin = wall_ns();
            while ((status = hbg_run_wait(run[at], n % 2 ? 0 : 1000)) == HBG_TIMEOUT && wall_ns() - begin < 20000000000u) {}
            assert_int_equal(status, HBG_OK);
            assert_int_equal(hbg_run_finish(run[at], NULL), HBG_OK);
            assert_int_equal(out[at][0], n - DEPTH);
        }
        if (n >= runs) continue;
        assert_int_equal(hbg_run_prepare(program, SET_ARGS(out[at], n, n % 5 * 20), &options, &run[at]), HBG_OK);
        assert_int_equal(hbg_run_launch(run[at]), HBG_OK);
    }
    hbg_program_destroy(program);
}

struct rival { struct hbg_program *program; int32_t *shared; int runs; };

/* All want the same memory, and none waits long for it. */
static void *be_rival(void *user)
{
    struct rival *r = user;
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    options.error = &error;
    for (int i = 0; i < r->runs; i++) {
        struct hbg_run run;
        options.slot_timeout_ns = 1000 + (uint64_t)i % 40 * 1000;
        enum hbg_status status = hbg_run_prepare(r->program, SET_ARGS(r->shared, i, i % 3 * 20), &options, &run);
        if (status == HBG_TIMEOUT) continue;
        if (status || hbg_run_launch(run) || hbg_run_wait(run, HBG_FOREVER) || hbg_run_finish(run, NULL)) return user;
    }
    return NULL;
}

static void timeouts_at_the_gate_meet_finishes(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    enum { RIVALS = 4 };
    static int32_t shared[LENGTH];
    struct rival rival = { PROGRAM(device, set_build, flight_kernels), shared, test_scaled(2000) };
    pthread_t thread[RIVALS];
    for (int i = 0; i < RIVALS; i++) assert_int_equal(pthread_create(&thread[i], NULL, be_rival, &rival), 0);
    for (int i = 0; i < RIVALS; i++) {
        void *failed;
        assert_int_equal(pthread_join(thread[i], &failed), 0);
        assert_null(failed);
    }
    hbg_program_destroy(rival.program);
}

/* Large arguments: the copies are made while the run before is still at work, and never after the launch that needs them. */
static void large_uploads_are_whole(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    enum { COUNT = 1 << 18 };
    static int32_t from[DEPTH][COUNT], to[DEPTH][COUNT];
    struct hbg_program *program = PROGRAM(device, copy_build, flight_kernels);
    struct hbg_run run[DEPTH];
    for (int n = 0; n < 12 + DEPTH; n++) {
        int at = n % DEPTH;
        if (n >= DEPTH) {
            ends(run[at], HBG_OK);
            assert_memory_equal(from[at], to[at], sizeof from[at]);
        }
        if (n >= 12) continue;
        for (int i = 0; i < COUNT; i++) from[at][i] = i ^ n;
        run[at] = launched(program, HBG_ARGS(hbg_in(HOST_I32(from[at], COUNT)), hbg_out(HOST_I32(to[at], COUNT))));
    }
    for (int i = 0; i < 5; i++) {                       /* given up with copies on their way: the memory is the caller's again at once */
        int32_t *once = test_malloc(sizeof from[0]);
        memset(once, i, sizeof from[0]);
        run[0] = prepared(program, HBG_ARGS(hbg_in(HOST_I32(once, COUNT)), hbg_out(HOST_I32(to[0], COUNT))));
        assert_int_equal(hbg_run_cancel(run[0]), HBG_OK);
        assert_int_equal(hbg_run_finish(run[0], NULL), HBG_E_CANCELLED);
        test_free(once);
    }
    hbg_program_destroy(program);
}
int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(every_run_writes_its_number), DEVICE_TEST(streams_are_made_once_a_slot), DEVICE_TEST(a_wait_is_for_its_own_run),
        DEVICE_TEST(a_failed_run_leaves_the_others_alone), DEVICE_TEST(a_queued_run_is_cancelled_at_once), DEVICE_TEST(two_runs_share_one_recording),
        DEVICE_TEST(a_callback_is_called_once), DEVICE_TEST(callbacks_are_in_order_and_before_the_end), DEVICE_TEST(threads_prepare_at_once),
        DEVICE_TEST(large_uploads_are_whole), DEVICE_TEST(short_waits_see_runs_come_and_go), DEVICE_TEST(timeouts_at_the_gate_meet_finishes),
    };
    return DEVICE_TESTS_RUN(tests);
}
