/* SPDX-License-Identifier: Apache-2.0 */
/* buffer_test.c - device buffers: reads and writes, bounds, stale and foreign handles, and who keeps them alive. */
#include "unit/run/support.h"

#include <pthread.h>

static struct hbg_buffer *make_buffer(struct hbg_device *device, size_t size)
{
    struct hbg_buffer *buffer = NULL;
    assert_int_equal(hbg_buffer_create(device, size, &buffer), HBG_OK);
    return buffer;
}

#define WHOLE(buffer, count) hbg_inout(hbg_buffer_region((buffer), 0, HBG_I32, HBG_SHAPE(count)))

static void write_run_read(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device *device = open_device(BOTH_MEMORIES[m]);
        struct hbg_program *program = make_program(device, build_add, true);
        struct hbg_buffer *buffer = make_buffer(device, 64 * sizeof(int32_t));
        int32_t x[64], y[64];
        for (int i = 0; i < 64; i++) x[i] = i;
        assert_int_equal(hbg_buffer_write(buffer, 0, x, sizeof x), HBG_OK);
        for (int round = 0; round < 3; round++) runs_well(program, LIST(hbg_inout(hbg_buffer_region(buffer, 16, HBG_I32, HBG_SHAPE(8)))), NULL);
        assert_int_equal(hbg_buffer_read(buffer, 0, y, sizeof y), HBG_OK);
        for (int i = 0; i < 64; i++) assert_int_equal(y[i], i + (i >= 4 && i < 12 ? 3 : 0));
        assert_int_equal(hbg_buffer_read(buffer, 4, y, 4), HBG_OK);
        assert_int_equal(y[0], 1);
        assert_int_equal(counters_of(device).argument_copies, 0);
        hbg_buffer_destroy(buffer);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

static void bounds_of_reads_and_writes(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_buffer *buffer = make_buffer(device, 100), *empty = make_buffer(device, 0);
    unsigned char bytes[101] = { 7 };
    (void)state;
    assert_int_equal(hbg_buffer_write(buffer, 0, bytes, 100), HBG_OK);
    assert_int_equal(hbg_buffer_write(buffer, 100, bytes, 0), HBG_OK);
    assert_int_equal(hbg_buffer_write(buffer, 0, bytes, 101), HBG_E_REGION);
    assert_int_equal(hbg_buffer_write(buffer, 1, bytes, 100), HBG_E_REGION);
    assert_int_equal(hbg_buffer_read(buffer, SIZE_MAX, bytes, 2), HBG_E_REGION);
    assert_int_equal(hbg_buffer_read(buffer, 0, NULL, 2), HBG_E_NULL);
    assert_int_equal(hbg_buffer_read(NULL, 0, bytes, 2), HBG_E_NULL);
    assert_int_equal(hbg_buffer_read(empty, 0, bytes, 0), HBG_OK);
    assert_int_equal(hbg_buffer_create(NULL, 1, &buffer), HBG_E_NULL);
    assert_int_equal(hbg_buffer_create(device, SIZE_MAX, &empty), HBG_E_NO_MEMORY);
    hbg_buffer_destroy(buffer);
    hbg_buffer_destroy(empty);
    hbg_buffer_destroy(NULL);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

static struct hbg_error run_error(struct hbg_program *program, struct hbg_arg_list list, enum hbg_status expected)
{
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status status = hbg_run_sync(program, list, &result);
    if (status != expected) fail_msg("%s: %s", hbg_status_name(status), result.error.text);
    return result.error;
}

static void regions_that_leave_a_buffer(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_program *program = make_program(device, build_nothing, false);
    struct hbg_buffer *buffer = make_buffer(device, 64);
    (void)state;
    struct hbg_error e = run_error(program, LIST(hbg_f32(1), WHOLE(buffer, 17)), HBG_E_REGION);
    assert_int_equal(e.argument, 1);
    assert_non_null(strstr(e.text, "[0, 68)"));
    struct hbg_region before = hbg_buffer_region(buffer, 8, HBG_I32, HBG_SHAPE(2));
    before.stride_bytes[0] = -12;
    e = run_error(program, LIST(hbg_in(before)), HBG_E_REGION);
    assert_non_null(strstr(e.text, "[-4, 12)"));
    runs_well(program, LIST(hbg_in(hbg_buffer_region(buffer, 4096, HBG_I32, HBG_SHAPE(0, 4)))), NULL);   /* empty: legal anywhere */
    runs_well(program, LIST(WHOLE(buffer, 16)), NULL);
    e = run_error(program, LIST(hbg_in(hbg_buffer_region(NULL, 0, HBG_I32, HBG_SHAPE(1)))), HBG_E_REGION);
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

static void stale_and_foreign_handles(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1"), *other = open_device("cpu:workers=1");
    struct hbg_program *program = make_program(device, build_nothing, false);
    struct hbg_buffer *mine = make_buffer(device, 64), *theirs = make_buffer(other, 64);
    struct hbg_arg old = WHOLE(mine, 16);
    (void)state;
    struct hbg_error e = run_error(program, LIST(WHOLE(theirs, 16)), HBG_E_REGION);
    assert_non_null(strstr(e.text, "another device"));
    hbg_buffer_destroy(mine);
    for (int i = 0; i < 300; i++) {                     /* more than come round: the old place is taken again */
        struct hbg_buffer *next = make_buffer(device, 64);
        e = run_error(program, LIST(old), HBG_E_REGION);
        assert_non_null(strstr(e.text, "destroyed"));
        hbg_buffer_destroy(next);
    }
    hbg_buffer_destroy(theirs);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    assert_int_equal(hbg_device_close(other), HBG_OK);
}

static void runs_and_recordings_keep_buffers(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1,memory=discrete");
    struct hbg_program *program = make_program(device, build_add, true);
    struct hbg_buffer *buffer = make_buffer(device, 64);
    struct hbg_run run;
    (void)state;
    assert_int_equal(hbg_run_prepare(program, LIST(WHOLE(buffer, 16)), NULL, &run), HBG_OK);
    hbg_buffer_destroy(buffer);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);     /* asserts that no device memory is left */
}

static void buffers_outlive_their_device(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_buffer *buffer = make_buffer(device, 64);
    struct hbg_program *program = make_program(device, build_add, false);
    struct hbg_run run;
    int32_t value = 1;
    (void)state;
    runs_well(program, LIST(WHOLE(buffer, 16)), NULL);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    assert_int_equal(hbg_buffer_read(buffer, 0, &value, 4), HBG_E_DEVICE);
    assert_int_equal(hbg_buffer_write(buffer, 0, &value, 4), HBG_E_DEVICE);
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, NULL, &run), HBG_E_DEVICE);
    hbg_program_destroy(program);
    hbg_buffer_destroy(buffer);
}

/* ---- waiting for runs ---- */

static void *open_the_hold(void *user)
{
    for (int i = 0; i < 30; i++) sleep_a_little();
    atomic_store(&hold_open, 1);
    return user;
}

static void reads_wait_for_launched_runs_that_use_the_buffer(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device *device = open_device(BOTH_MEMORIES[m]);
        struct hbg_program *program = make_program(device, build_hold, false);
        struct hbg_buffer *used = make_buffer(device, 64), *other = make_buffer(device, 64);
        int32_t value[16] = { 0 };
        struct hbg_run run;
        pthread_t thread;
        atomic_store(&hold_open, 0);
        assert_int_equal(hbg_buffer_write(used, 0, value, 64), HBG_OK);
        assert_int_equal(hbg_run_prepare(program, LIST(WHOLE(used, 16)), NULL, &run), HBG_OK);
        assert_int_equal(hbg_buffer_read(used, 0, value, 4), HBG_OK);           /* prepared only: nothing to wait for */
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        assert_int_equal(hbg_buffer_write(other, 0, value, 4), HBG_OK);         /* does not wait: the hold is closed */
        assert_int_equal(atomic_load(&hold_open), 0);
        assert_int_equal(pthread_create(&thread, NULL, open_the_hold, NULL), 0);
        assert_int_equal(hbg_buffer_read(used, 0, value, 4), HBG_OK);
        assert_int_equal(atomic_load(&hold_open), 1);
        assert_int_equal(value[0], 1);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
        hbg_buffer_destroy(used);
        hbg_buffer_destroy(other);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_run_read),
        cmocka_unit_test(bounds_of_reads_and_writes),
        cmocka_unit_test(regions_that_leave_a_buffer),
        cmocka_unit_test(stale_and_foreign_handles),
        cmocka_unit_test(runs_and_recordings_keep_buffers),
        cmocka_unit_test(buffers_outlive_their_device),
        cmocka_unit_test(reads_wait_for_launched_runs_that_use_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
