/* SPDX-License-Identifier: Apache-2.0 */
/* flight_data_test.c - data that runs in flight share: a run waits for another that writes what it reads, and a build for what it looks at. */
#include <pthread.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/flights.h"
#include "support/program.h"

/* ---- CASES 29: gate C ---- */

static void a_reader_waits_for_the_writer(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static int32_t y[LENGTH], z[LENGTH];
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_program *writer = PROGRAM(device, set_build, flight_kernels), *reader = PROGRAM(device, copy_build, flight_kernels);
    struct hbg_run second;
    options.error = &error;
    for (int i = 1; i < 10; i++) {
        struct hbg_run first = prepared(writer, SET_ARGS(y, i, 2000));
        options.poll = true;
        assert_int_equal(hbg_run_prepare(reader, COPY_ARGS(y, z), &options, &second), HBG_E_BUSY);
        assert_int_equal(error.argument, 0);
        options.poll = false;
        assert_int_equal(hbg_run_prepare(reader, COPY_ARGS(y, z), &options, &second), HBG_E_WOULD_DEADLOCK);        /* nobody would launch it */
        assert_non_null(strstr(error.text, "launch"));
        assert_int_equal(hbg_run_launch(first), HBG_OK);
        second = launched(reader, COPY_ARGS(y, z));                 /* waits for the end, and has the outputs brought home */
        assert_int_equal(y[LENGTH - 1], i);
        ends(i % 2 ? first : second, HBG_OK);
        ends(i % 2 ? second : first, HBG_OK);
        assert_int_equal(z[LENGTH - 1], i);
        first = launched(reader, COPY_ARGS(y, z));
        second = launched(writer, SET_ARGS(y, -i, 0));              /* writes what the first one reads */
        ends(second, HBG_OK);
        ends(first, HBG_OK);
        assert_int_equal(z[0], i);
        assert_int_equal(y[0], -i);
        first = launched(writer, SET_ARGS(y, 100, 500));
        second = launched(writer, SET_ARGS(y, 200 + i, 0));
        ends(second, HBG_OK);                                       /* out of order: the later one's values stay */
        ends(first, HBG_OK);
        assert_int_equal(y[7], 200 + i);
    }
    hbg_program_destroy(reader);
    hbg_program_destroy(writer);
}

static void a_prepare_times_out_at_the_gate(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static int32_t y[LENGTH], z[LENGTH];
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_program *slow = PROGRAM(device, hold_build, flight_kernels), *reader = PROGRAM(device, copy_build, flight_kernels);
    struct hbg_run second;
    options.error = &error;
    options.slot_timeout_ns = 20000000;
    atomic_store(&flight_hold, 1);
    struct hbg_run first = launched(slow, HBG_ARGS(hbg_inout(HOST_I32(y, LENGTH))));
    assert_int_equal(hbg_run_prepare(reader, COPY_ARGS(y, z), &options, &second), HBG_TIMEOUT);
    assert_int_equal(error.argument, 0);
    assert_int_equal(hbg_run_prepare(reader, COPY_ARGS(z, y), &options, &second), HBG_TIMEOUT);
    assert_int_equal(error.argument, 1);
    atomic_store(&flight_hold, 0);
    ends(first, HBG_OK);
    hbg_program_destroy(reader);
    hbg_program_destroy(slow);
}

/* Interleaved columns of one matrix share no byte: both runs are in flight, and each copies back its own. */
static void columns_of_one_matrix_do_not_conflict(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static int32_t m[LENGTH][4];
    struct hbg_program *program = PROGRAM(device, set_build, flight_kernels);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run run[DEPTH];
    options.poll = true;
    struct hbg_region even = hbg_host_strided(&m[0][0], HBG_I32, HBG_SHAPE(LENGTH, 2), HBG_SHAPE(16, 8));
    struct hbg_region odd = hbg_host_strided(&m[0][1], HBG_I32, HBG_SHAPE(LENGTH, 2), HBG_SHAPE(16, 8));
    struct hbg_region row = hbg_host(m[5], HBG_I32, HBG_SHAPE(4));
    memset(m, 0, sizeof m);
    struct hbg_program *slow = PROGRAM(device, hold_build, flight_kernels);
    atomic_store(&flight_hold, 1);
    assert_int_equal(hbg_run_prepare(slow, HBG_ARGS(hbg_inout(even)), &options, &run[0]), HBG_OK);
    assert_int_equal(hbg_run_prepare(slow, HBG_ARGS(hbg_inout(odd)), &options, &run[1]), HBG_OK);
    for (int i = 0; i < LENGTH; i++) m[i][1] = 5;               /* staged already on a discrete device: the copy-back makes it 0 again */
    atomic_store(&flight_hold, 0);
    for (int i = 0; i < DEPTH; i++) assert_int_equal(hbg_run_launch(run[i]), HBG_OK);
    ends(run[0], HBG_OK);
    assert_int_equal(m[3][1], 5);                               /* not touched by the first */
    ends(run[1], HBG_OK);
    assert_int_equal(m[3][1], kind->discrete ? 0 : 5);
    run[0] = prepared(slow, HBG_ARGS(hbg_inout(even)));
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_out(row), hbg_i32(1), hbg_i32(1)), &options, &run[1]), HBG_E_BUSY);
    assert_int_equal(hbg_run_cancel(run[0]), HBG_OK);
    assert_int_equal(hbg_run_finish(run[0], NULL), HBG_E_CANCELLED);
    hbg_program_destroy(slow);
    hbg_program_destroy(program);
}

/* ---- what the build reads ---- */

static const int32_t *told;             /* memory that a guard names */
static int32_t read_by_build;

/* (in table, out y): y = table[0], read by the build */
static void reading_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    read_by_build = hbg_read_i32(g, hbg_args_region(args, 0), HBG_SHAPE(0));
    hbg_submit(g, SET, hbg_out(hbg_args_region(args, 1)), hbg_i32(read_by_build));
}

static void guarding_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_guard(g, told, sizeof *told);
    hbg_submit(g, SET, hbg_out(hbg_args_region(args, 0)), hbg_i32(*told));
}

static struct hbg_region named_region;

static void naming_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_submit(g, SET, hbg_out(named_region), hbg_i32(0));
}

static void *let_go(void *unused)
{
    (void)unused;
    nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
    atomic_store(&flight_hold, 0);
    return NULL;
}

/* A run that waits for another says how long; it is not part of what its bind or build took. */
static void waiting_is_no_binding(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static int32_t y[LENGTH], z[LENGTH];
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_buffer *buffer;
    assert_int_equal(hbg_buffer_create(device, sizeof y, &buffer), HBG_OK);
    struct hbg_region table = hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(LENGTH));
    struct hbg_program *slow = PROGRAM(device, hold_build, flight_kernels), *copy = PROGRAM(device, copy_build, flight_kernels), *reader = PROGRAM(device, reading_build, flight_kernels);
    for (int way = 0; way < 3; way++) {                             /* at the gate; in the build; not at all */
        struct hbg_region x = way == 1 ? table : HOST_I32(y, LENGTH);
        pthread_t thread;
        atomic_store(&flight_hold, 1);
        struct hbg_run first = launched(slow, HBG_ARGS(hbg_inout(x))), second;
        assert_int_equal(pthread_create(&thread, NULL, let_go, NULL), 0);
        if (way == 0) second = launched(copy, COPY_ARGS(y, z));
        if (way == 1) second = launched(reader, HBG_ARGS(hbg_in(table), hbg_out(HOST_I32(z, LENGTH))));
        if (way == 2) second = launched(copy, HBG_ARGS(hbg_in(table), hbg_out(HOST_I32(z, LENGTH))));
        assert_int_equal(pthread_join(thread, NULL), 0);
        ends(first, HBG_OK);
        assert_int_equal(hbg_run_wait(second, HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(second, &result), HBG_OK);
        if (way == 2) assert_int_equal(result.waited_ns, 0);
        else assert_in_range(result.bind_ns, 1, result.waited_ns);
        assert_in_range(result.build_ns, 1, result.bind_ns);
        assert_in_range(result.waited_ns, 0, result.run_ns);
    }
    hbg_program_destroy(slow);
    hbg_program_destroy(copy);
    hbg_program_destroy(reader);
    hbg_buffer_destroy(buffer);
}

static void a_build_waits_for_what_it_reads(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static int32_t y[LENGTH], z[LENGTH];
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_buffer *buffer;
    struct hbg_run second;
    options.error = &error;
    options.poll = true;
    assert_int_equal(hbg_buffer_create(device, sizeof y, &buffer), HBG_OK);
    struct hbg_region table = hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(LENGTH));
    struct hbg_program *writer = PROGRAM(device, set_build, flight_kernels);
    named_region = table;
    struct hbg_program *named = PROGRAM(device, naming_build, flight_kernels);
    for (int pure = 0; pure < 2; pure++) {
        struct hbg_program *reader = program_create(device, &(struct program_spec){ .build = reading_build, KERNEL_TABLE(flight_kernels), .pure = pure });
        struct hbg_program *guard = program_create(device, &(struct program_spec){ .build = guarding_build, KERNEL_TABLE(flight_kernels), .pure = pure });
        for (int i = 1; i < 8; i++) {
            struct hbg_arg_list list = HBG_ARGS(hbg_in(table), hbg_out(HOST_I32(z, LENGTH)));
            struct hbg_run first = prepared(writer, HBG_ARGS(hbg_out(table), hbg_i32(i / 2), hbg_i32(2000)));
            assert_int_equal(hbg_run_prepare(reader, list, &options, &second), HBG_E_BUSY);
            assert_non_null(strstr(error.text, "buffer"));
            assert_int_equal(hbg_run_launch(first), HBG_OK);
            second = launched(reader, list);
            ends(second, HBG_OK);
            ends(first, HBG_OK);
            assert_int_equal(z[3], i / 2);

            told = &y[5];
            list = HBG_ARGS(hbg_out(HOST_I32(z, LENGTH)));
            first = prepared(writer, SET_ARGS(y, 10 + i / 2, 2000));
            assert_int_equal(hbg_run_prepare(guard, list, &options, &second), HBG_E_BUSY);
            assert_int_equal(hbg_run_launch(first), HBG_OK);
            second = launched(guard, list);
            ends(second, HBG_OK);
            ends(first, HBG_OK);
            assert_int_equal(z[3], 10 + i / 2);

            first = prepared(guard, list);                              /* what a build has seen stays until its run is launched */
            assert_int_equal(hbg_run_prepare(writer, SET_ARGS(y, 0, 0), &options, &second), HBG_E_BUSY);
            assert_non_null(strstr(error.text, "build"));
            assert_int_equal(hbg_run_launch(first), HBG_OK);
            second = launched(writer, SET_ARGS(y, 10 + i / 2, 0));
            ends(first, HBG_OK);
            ends(second, HBG_OK);
            list = HBG_ARGS(hbg_in(table), hbg_out(HOST_I32(z, LENGTH)));
            first = prepared(reader, list);
            assert_int_equal(hbg_run_prepare(writer, HBG_ARGS(hbg_out(table), hbg_i32(0), hbg_i32(0)), &options, &second), HBG_E_BUSY);
            assert_int_equal(hbg_run_prepare(named, HBG_NO_ARGS, &options, &second), HBG_E_BUSY);
            assert_int_equal(hbg_run_cancel(first), HBG_OK);
            assert_int_equal(hbg_run_finish(first, NULL), HBG_E_CANCELLED);
            program_run(named, HBG_NO_ARGS, NULL, NULL);
        }
        hbg_program_destroy(guard);
        hbg_program_destroy(reader);
    }
    hbg_program_destroy(named);
    hbg_program_destroy(writer);
    hbg_buffer_destroy(buffer);
}

static void comparing_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    hbg_submit(g, SAME, hbg_in(x), hbg_i32(hbg_read_i32(g, x, HBG_SHAPE(0))));
}

static void setting_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, SET, hbg_out(hbg_args_region(args, 0)), hbg_args_scalar(args, 1));
}

/* The same of a buffer that it names itself. */
static void setting_named_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, SET, hbg_out(named_region), hbg_args_scalar(args, 0));
}

struct writer { struct hbg_program *program; bool names; atomic_bool stop; atomic_int failed; };

static void *be_writer(void *user)
{
    struct writer *w = user;
    for (int32_t i = 0; !atomic_load(&w->stop); i++) {
        enum hbg_status status = w->names ? hbg_run_sync(w->program, HBG_ARGS(hbg_i32(i)), NULL) : hbg_run_sync(w->program, HBG_ARGS(hbg_out(named_region), hbg_i32(i)), NULL);
        if (status) atomic_fetch_add(&w->failed, 1);
    }
    return NULL;
}

/* Nobody's launch comes between what a build has read of a buffer and the launch of its run, whoever is prepared when. */
static void what_a_build_has_read_is_what_its_run_finds(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_buffer *buffer;
    int32_t zero = 0;
    assert_int_equal(hbg_buffer_create(device, sizeof zero, &buffer), HBG_OK);
    assert_int_equal(hbg_buffer_write(buffer, 0, &zero, sizeof zero), HBG_OK);
    named_region = hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(1));
    for (int way = 0; way < 4; way++) {
        struct program_spec spec = { .build = comparing_build, KERNEL_TABLE(flight_kernels), .pure = way % 2 };
        struct hbg_program *reader = program_create(device, &spec);
        struct writer writer = { .program = PROGRAM(device, way < 2 ? setting_build : setting_named_build, flight_kernels), .names = way >= 2 };
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, be_writer, &writer), 0);
        for (int i = 0; i < test_scaled(4000); i++) {
            struct hbg_result result = HBG_OPTIONS(result);
            if (hbg_run_sync(reader, HBG_ARGS(hbg_in(named_region)), &result)) fail_msg("way %d, run %d: %s", way, i, result.error.text);
        }
        atomic_store(&writer.stop, true);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(atomic_load(&writer.failed), 0);
        hbg_program_destroy(writer.program);
        hbg_program_destroy(reader);
    }
    hbg_buffer_destroy(buffer);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(a_reader_waits_for_the_writer), DEVICE_TEST(waiting_is_no_binding), DEVICE_TEST(a_prepare_times_out_at_the_gate), DEVICE_TEST(columns_of_one_matrix_do_not_conflict),
        DEVICE_TEST(a_build_waits_for_what_it_reads), DEVICE_TEST(what_a_build_has_read_is_what_its_run_finds),
    };
    return DEVICE_TESTS_RUN(tests);
}
