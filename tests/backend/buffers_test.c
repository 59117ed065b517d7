/* SPDX-License-Identifier: Apache-2.0 */
/* buffers_test.c - device buffers: bytes in and out, bounds, alignment, whose they are, and runs that still use them. */
#include <pthread.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { ADD_ONE, WHERE, HOLD_THEN_SET, KERNEL_COUNT };

static uintptr_t seen_at;
static atomic_int hold, held;

static int add_one(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 0)[i]++;
    return 0;
}

static int where(const struct hbg_task_view *t)
{
    seen_at = (uintptr_t)hbg_view_data(t, 0);
    return 0;
}

static int hold_then_set(const struct hbg_task_view *t)
{
    uint64_t until = wall_ns() + 5000000000u;
    atomic_store(&held, 1);
    while (atomic_load(&hold) && wall_ns() < until) sleep_ms(1);            /* the test lets go */
    *HBG_VIEW(int32_t, t, 0) = 99;
    return 0;
}

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(ADD_ONE, add_one, "inout i32"), HBG_KERNEL(WHERE, where, NULL), HBG_KERNEL(HOLD_THEN_SET, hold_then_set, NULL),
};

static void one_task_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    hbg_submit(g, *(const int *)params, hbg_inout(hbg_args_region(args, 0)));
}

static struct hbg_program *one_task(struct hbg_device *device, int kernel) { return PROGRAM_WITH(device, one_task_build, kernels, kernel); }

static void bytes_in_and_out(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_buffer *buffer;
    static unsigned char data[100000], back[100000];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 31 >> 3);
    assert_int_equal(hbg_buffer_create(device, sizeof data, &buffer), HBG_OK);
    assert_int_equal(hbg_buffer_write(buffer, 0, data, sizeof data), HBG_OK);
    assert_int_equal(hbg_buffer_write(buffer, 777, data, 1000), HBG_OK);
    assert_int_equal(hbg_buffer_read(buffer, 777, back, 1000), HBG_OK);
    assert_memory_equal(back, data, 1000);
    assert_int_equal(hbg_buffer_read(buffer, 1777, back, sizeof data - 1777), HBG_OK);
    assert_memory_equal(back, data + 1777, sizeof data - 1777);
    assert_int_equal(hbg_buffer_read(buffer, sizeof data, back, 0), HBG_OK);
    assert_int_equal(hbg_buffer_read(buffer, sizeof data - 4, back, 5), HBG_E_REGION);
    assert_int_equal(hbg_buffer_write(buffer, SIZE_MAX, data, 2), HBG_E_REGION);
    assert_int_equal(hbg_buffer_write(buffer, 1, data, SIZE_MAX), HBG_E_REGION);
    hbg_buffer_destroy(buffer);
}

static void contents_stay_from_run_to_run(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_buffer *buffer;
    struct hbg_program *program = one_task(device, ADD_ONE);
    int32_t values[64];
    for (int i = 0; i < 64; i++) values[i] = i;
    assert_int_equal(hbg_buffer_create(device, sizeof values, &buffer), HBG_OK);
    assert_int_equal(hbg_buffer_write(buffer, 0, values, sizeof values), HBG_OK);
    struct hbg_counters before = counters_of(device);
    for (int i = 0; i < 20; i++) program_run(program, HBG_ARGS(hbg_inout(hbg_buffer_region(buffer, 16, HBG_I32, HBG_SHAPE(8)))), NULL, NULL);
    assert_int_equal(counters_of(device).argument_copies, before.argument_copies);          /* nothing of it travels */
    assert_int_equal(hbg_buffer_read(buffer, 0, values, sizeof values), HBG_OK);
    for (int i = 0; i < 64; i++) assert_int_equal(values[i], i + (i >= 4 && i < 12 ? 20 : 0));
    hbg_program_destroy(program);
    hbg_buffer_destroy(buffer);
}

static void buffers_are_aligned(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_program *program = one_task(device, WHERE);
    static const size_t sizes[] = { 1, 3, 255, 256, 257, 5000, 1 << 20 };
    struct hbg_buffer *buffers[7];
    for (int i = 0; i < 7; i++) {
        assert_int_equal(hbg_buffer_create(device, sizes[i], &buffers[i]), HBG_OK);
        program_run(program, HBG_ARGS(hbg_inout(hbg_buffer_region(buffers[i], 0, HBG_U8, HBG_SHAPE((int64_t)sizes[i])))), NULL, NULL);
        assert_int_equal(seen_at % 256, 0);
    }
    for (int i = 0; i < 7; i++) hbg_buffer_destroy(buffers[i]);
    hbg_program_destroy(program);
}

static void regions_past_the_end(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct hbg_buffer *buffer;
    struct hbg_program *program = one_task(device, ADD_ONE);
    assert_int_equal(hbg_buffer_create(device, 64, &buffer), HBG_OK);
    const struct hbg_region past[] = {
        hbg_buffer_region(buffer, 4, HBG_I32, HBG_SHAPE(16)), hbg_buffer_region(buffer, 64, HBG_I32, HBG_SHAPE(1)),
        hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(4, 5)), hbg_buffer_region(buffer, SIZE_MAX - 3, HBG_I32, HBG_SHAPE(1)),
        hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(INT64_MAX, INT64_MAX)), hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(-1)),
    };
    for (size_t i = 0; i < sizeof past / sizeof past[0]; i++) {
        assert_int_equal(program_run_fails(program, HBG_ARGS(hbg_inout(past[i])), HBG_E_REGION).argument, 0);
    }
    program_run(program, HBG_ARGS(hbg_inout(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(16)))), NULL, NULL);
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(program);
}

static void foreign_and_destroyed_buffers(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_device *other = device_open(kind->spec, NULL);
    struct hbg_buffer *foreign, *gone;
    struct hbg_program *program = one_task(device, ADD_ONE);
    assert_int_equal(hbg_buffer_create(other, 64, &foreign), HBG_OK);
    assert_int_equal(hbg_buffer_create(device, 64, &gone), HBG_OK);
    struct hbg_region kept = hbg_buffer_region(gone, 0, HBG_I32, HBG_SHAPE(4));
    program_run(program, HBG_ARGS(hbg_inout(kept)), NULL, NULL);
    hbg_buffer_destroy(gone);
    assert_int_equal(program_run_fails(program, HBG_ARGS(hbg_inout(kept)), HBG_E_REGION).argument, 0);
    struct hbg_region theirs = hbg_buffer_region(foreign, 0, HBG_I32, HBG_SHAPE(4));
    struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(theirs)), HBG_E_REGION);
    assert_int_equal(error.argument, 0);
    assert_non_null(strstr(error.text, "another device"));
    hbg_program_destroy(program);
    hbg_buffer_destroy(foreign);
    device_close(other);
}

/* ---- a read waits for the run that writes ---- */

struct reader { struct hbg_buffer *buffer; int32_t value; enum hbg_status status; };

static void *read_it(void *user)
{
    struct reader *reader = user;
    reader->status = hbg_buffer_read(reader->buffer, 0, &reader->value, sizeof reader->value);
    return NULL;
}

static void a_read_waits_for_launched_runs(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct reader reader = { 0 };
    struct hbg_program *program = one_task(device, HOLD_THEN_SET);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_run run;
    pthread_t thread;
    assert_int_equal(hbg_buffer_create(device, 64, &reader.buffer), HBG_OK);
    assert_int_equal(hbg_buffer_write(reader.buffer, 0, &reader.value, sizeof reader.value), HBG_OK);
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(hbg_buffer_region(reader.buffer, 0, HBG_I32, HBG_SHAPE(1)))), NULL, &run), HBG_OK);
    assert_int_equal(hbg_buffer_read(reader.buffer, 0, &reader.value, sizeof reader.value), HBG_OK);     /* prepared is not launched */
    assert_int_equal(reader.value, 0);
    atomic_store(&hold, 1);
    atomic_store(&held, 0);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    while (!atomic_load(&held)) sleep_ms(1);                                                            /* the kernel has begun */
    assert_int_equal(pthread_create(&thread, NULL, read_it, &reader), 0);
    sleep_ms(20);
    atomic_store(&hold, 0);
    pthread_join(thread, NULL);
    assert_int_equal(reader.status, HBG_OK);
    assert_int_equal(reader.value, 99);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, &result), HBG_OK);
    hbg_buffer_destroy(reader.buffer);
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(bytes_in_and_out), DEVICE_TEST(contents_stay_from_run_to_run), DEVICE_TEST(buffers_are_aligned),
        DEVICE_TEST(regions_past_the_end), DEVICE_TEST(foreign_and_destroyed_buffers), DEVICE_TEST(a_read_waits_for_launched_runs),
    };
    return DEVICE_TESTS_RUN(tests);
}
