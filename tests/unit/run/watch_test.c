/* SPDX-License-Identifier: Apache-2.0 */
/* watch_test.c - with poison=1, what a run changes and must not is found: by a kernel that writes one byte of it. */
#include "unit/run/support.h"

#include <stdlib.h>

#include "run/buffer.h"
#include "core/kernel_table.h"
#include "platform/cpu/cpu.h"
#include "sched/sched.h"

static const char *const POISONED[] = { "cpu:workers=2,poison=1", "cpu:workers=2,memory=discrete,poison=1" };

/* Where WRITE writes: `off` bytes from the data of its argument, or at an address. */
static struct { int argument; int64_t off; unsigned char *at; int value; } target;

static int write_kernel(const struct hbg_task_view *t)
{
    unsigned char *at = target.at ? target.at : (unsigned char *)(uintptr_t)hbg_view_data(t, target.argument) + target.off;
    *at = (unsigned char)target.value;
    return 0;
}

static const void *seen;
static int see(const struct hbg_task_view *t)
{
    seen = hbg_view_data(t, 0);
    return 0;
}

/* The word of its own record that nobody uses: harmless, but not a kernel's to write. */
static int write_image(const struct hbg_task_view *t)
{
    struct hbg__task_record *record = (struct hbg__task_record *)(uintptr_t)hbg__image_record(t->payload, t->task);
    if (target.value) record->reserved = (uint16_t)target.value;
    return 0;
}

static int fail_after_writing(const struct hbg_task_view *t)
{
    (void)write_kernel(t);
    return hbg_fail(t, 5, 6);
}

enum { WRITE, SEE, WRITE_IMAGE, FAIL_AFTER_WRITING, HOLD_ON, WATCH_KERNELS };
static const struct hbg_kernel watch_kernels[WATCH_KERNELS] = {
    HBG_KERNEL(WRITE, write_kernel, NULL), HBG_KERNEL(SEE, see, NULL), HBG_KERNEL(WRITE_IMAGE, write_image, NULL),
    HBG_KERNEL(FAIL_AFTER_WRITING, fail_after_writing, NULL), HBG_KERNEL(HOLD_ON, hold, NULL),
};

/* Submit one kernel on the whole boundary, with its modes. */
static void submit_all(struct hbg_graph *g, const struct hbg_args *args, int kernel)
{
    struct hbg_arg arg[8];
    struct hbg_arg_list list = { arg, args->count };
    for (size_t i = 0; i < args->count; i++) {
        struct hbg_region r = hbg_args_region(args, (int)i);
        arg[i] = args->arg[i].kind == HBG_ARG_IN ? hbg_in(r) : args->arg[i].kind == HBG_ARG_OUT ? hbg_out(r) : hbg_inout(r);
    }
    hbg_submit_args(g, kernel, list);
}
static void build_write(struct hbg_graph *g, const struct hbg_args *args, const void *params) { (void)params; submit_all(g, args, WRITE); }
static void build_see(struct hbg_graph *g, const struct hbg_args *args, const void *params) { (void)params; submit_all(g, args, SEE); }
static void build_image(struct hbg_graph *g, const struct hbg_args *args, const void *params) { (void)params; submit_all(g, args, WRITE_IMAGE); }
static void build_failing(struct hbg_graph *g, const struct hbg_args *args, const void *params) { (void)params; submit_all(g, args, FAIL_AFTER_WRITING); }
static void build_holding(struct hbg_graph *g, const struct hbg_args *args, const void *params) { (void)params; submit_all(g, args, HOLD_ON); }
static void build_heap(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_submit(g, WRITE, hbg_out(hbg_alloc(g, HBG_U8, HBG_SHAPE(4096))));
}

static struct hbg_program *watched_program(struct hbg_device *device, hbg_build_fn *build, bool pure)
{
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_program *program = NULL;
    o.name = "watched";
    o.build = build;
    o.kernels = watch_kernels;
    o.kernel_count = WATCH_KERNELS;
    o.pure_build = pure;
    assert_int_equal(hbg_program_create(device, &o, &program), HBG_OK);
    return program;
}

/* One run of WRITE over the list fails, and its sentence says so; the next, which writes where it may, does not. */
static void is_found(struct hbg_device *device, hbg_build_fn *build, struct hbg_arg_list list, int argument, const char *sentence)
{
    struct hbg_program *program = watched_program(device, build, false);
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status status = hbg_run_sync(program, list, &result);
    if (status != HBG_E_OVERWRITTEN || !strstr(result.error.text, sentence)) fail_msg("%s: \"%s\" instead of \"%s\"", hbg_status_name(status), result.error.text, sentence);
    assert_int_equal(result.error.status, HBG_E_OVERWRITTEN);
    assert_int_equal(result.error.argument, argument);
    hbg_program_destroy(program);
}

static void is_fine(struct hbg_device *device, hbg_build_fn *build, struct hbg_arg_list list)
{
    struct hbg_program *program = watched_program(device, build, false);
    runs_well(program, list, NULL);
    hbg_program_destroy(program);
}

static void write_at(int argument, int64_t off) { target.argument = argument; target.off = off; target.at = NULL; target.value = 0x5a; }

/* ---- beside the arguments of a discrete device ---- */

static void a_byte_beside_a_staged_argument(void **state)
{
    static unsigned char a[100], b[64], matrix[8][32];
    struct hbg_device *device = open_device(POISONED[1]);
    struct hbg_arg_list both = LIST(hbg_in(hbg_host_const(b, HBG_U8, HBG_SHAPE(64))), hbg_inout(hbg_host(a, HBG_U8, HBG_SHAPE(100))));
    (void)state;
    write_at(1, 100);
    is_found(device, build_write, both, 1, "wrote a byte 1 past the end of argument 1");
    write_at(1, 163);
    is_found(device, build_write, both, 1, "wrote a byte 64 past the end of argument 1");
    write_at(1, -1);
    is_found(device, build_write, both, 1, "wrote a byte 1 before the start of argument 1");
    write_at(0, -64);
    is_found(device, build_write, both, 0, "wrote a byte 64 before the start of argument 0");
    write_at(1, 99);
    is_fine(device, build_write, both);
    assert_int_equal(a[99], 0x5a);

    struct hbg_arg_list columns = LIST(hbg_out(hbg_host_strided(matrix, HBG_U8, HBG_SHAPE(8, 10), HBG_SHAPE(32, 1))));
    write_at(0, 32 + 10);
    is_found(device, build_write, columns, 0, "wrote between the rows of argument 0");
    assert_int_equal(matrix[1][10], 0);                     /* and it was not copied back */
    write_at(0, 32 + 9);
    is_fine(device, build_write, columns);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* Far from every argument, on pages that are committed. */
static void a_byte_behind_the_staged_arguments_and_the_heap(void **state)
{
    static unsigned char a[100];
    struct hbg_device *device = open_device(POISONED[1]);
    (void)state;
    write_at(0, 1000);
    is_found(device, build_write, LIST(hbg_out(hbg_host(a, HBG_U8, HBG_SHAPE(100)))), -1, "memory behind the staged arguments");
    write_at(0, 5000);
    is_found(device, build_heap, LIST(hbg_out(hbg_host(a, HBG_U8, HBG_SHAPE(100)))), -1, "heap behind the intermediates");
    write_at(0, 4095);
    is_fine(device, build_heap, LIST(hbg_in(hbg_host(a, HBG_U8, HBG_SHAPE(100)))));
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* ---- what may only be read ---- */

static void an_argument_that_is_only_read(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        unsigned char a[100] = { 0 };
        struct hbg_device *device = open_device(POISONED[m]);
        write_at(0, 7);
        is_found(device, build_write, LIST(hbg_in(hbg_host(a, HBG_U8, HBG_SHAPE(100)))), 0, "wrote byte 7 of argument 0, which the run only reads");
        /* the same byte through another argument that is written */
        is_fine(device, build_write, LIST(hbg_in(hbg_host(a, HBG_U8, HBG_SHAPE(100))), hbg_inout(hbg_host(a, HBG_U8, HBG_SHAPE(8)))));
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

/* ---- device buffers ---- */

static void bytes_of_buffers(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device *device = open_device(POISONED[m]);
        struct hbg_buffer *used, *other;
        assert_int_equal(hbg_buffer_create(device, 1000, &used), HBG_OK);
        assert_int_equal(hbg_buffer_create(device, 500, &other), HBG_OK);
        struct hbg_region all = hbg_buffer_region(used, 0, HBG_U8, HBG_SHAPE(1000)), slice = hbg_buffer_region(used, 100, HBG_U8, HBG_SHAPE(50));
        write_at(0, 1000);
        is_found(device, build_write, LIST(hbg_inout(all)), -1, "wrote byte 1000 of a device buffer of 1000 bytes");
        hbg_buffer_destroy(used);                           /* the byte stays where it is */
        assert_int_equal(hbg_buffer_create(device, 1000, &used), HBG_OK);
        all = hbg_buffer_region(used, 0, HBG_U8, HBG_SHAPE(1000));
        slice = hbg_buffer_region(used, 100, HBG_U8, HBG_SHAPE(50));
        write_at(0, 999);
        is_found(device, build_write, LIST(hbg_in(all)), 0, "wrote byte 999 of argument 0, which the run only reads");
        write_at(0, 50);
        is_found(device, build_write, LIST(hbg_inout(slice)), 0, "wrote a byte 1 past the end of argument 0");
        write_at(0, 49);
        is_fine(device, build_write, LIST(hbg_inout(slice)));

        is_fine(device, build_see, LIST(hbg_in(hbg_buffer_region(other, 0, HBG_U8, HBG_SHAPE(500)))));
        target.at = (unsigned char *)(uintptr_t)seen + 499;
        is_found(device, build_write, LIST(hbg_inout(all)), -1, "a device buffer of 500 bytes changed while program \"watched\" ran, which does not use it");
        hbg_buffer_destroy(used);
        hbg_buffer_destroy(other);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

static void a_buffer_that_the_host_writes_meanwhile(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device *device = open_device(POISONED[m]);
        struct hbg_program *program = watched_program(device, build_holding, false);
        struct hbg_buffer *other;
        struct hbg_run run;
        assert_int_equal(hbg_buffer_create(device, 4, &other), HBG_OK);
        atomic_store(&hold_open, 0);
        assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, NULL, &run), HBG_OK);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        assert_int_equal(hbg_buffer_write(other, 0, "abc", 4), HBG_OK);
        atomic_store(&hold_open, 1);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
        hbg_buffer_destroy(other);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

/* ---- image, descriptor, kernel table ---- */

static void a_kernel_that_writes_the_image(void **state)
{
    (void)state;
    for (int m = 0; m < 4; m++) {
        bool pure = m >= 2;
        struct hbg_device *device = open_device(POISONED[m % 2]);
        struct hbg_program *program = watched_program(device, build_image, pure);
        struct hbg_result result = HBG_OPTIONS(result);
        target.value = 0;
        for (int i = 0; i < 2; i++) runs_well(program, HBG_NO_ARGS, &result);
        assert_int_equal(result.replayed, pure);
        target.value = 1;
        assert_int_equal(hbg_run_sync(program, HBG_NO_ARGS, &result), HBG_E_IMAGE);
        if (!strstr(result.error.text, "the image of program \"watched\" was changed")) fail_msg("%s", result.error.text);
        target.value = 0;
        runs_well(program, HBG_NO_ARGS, &result);           /* built anew */
        assert_int_equal(result.replayed, 0);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

static void an_image_that_changes_between_two_runs(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device *device = open_device(POISONED[m]);
        struct hbg_program *program = watched_program(device, build_image, true);
        struct hbg_result result = HBG_OPTIONS(result);
        target.value = 0;
        runs_well(program, HBG_NO_ARGS, &result);
        unsigned char *image = (unsigned char *)(uintptr_t)program->kept[0].device_image;
        image[program->kept[0].recording.image_bytes - 1] ^= 1;
        assert_int_equal(hbg_run_sync(program, HBG_NO_ARGS, &result), HBG_E_IMAGE);
        assert_true(strlen(result.error.text) > 20);
        runs_well(program, HBG_NO_ARGS, &result);
        assert_int_equal(result.replayed, 0);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

static void library_memory_that_a_kernel_writes(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device *device = open_device(POISONED[m]);
        struct hbg__run *run = &device->run[0];
        unsigned char a[16] = { 0 };
        struct hbg_program *program = watched_program(device, build_write, true);
        struct hbg_arg_list list = LIST(hbg_inout(hbg_host(a, HBG_U8, HBG_SHAPE(16))));
        struct hbg_result result = HBG_OPTIONS(result);
        write_at(0, 0);
        runs_well(program, list, NULL);
        const struct { unsigned char *at; const char *what; } wrong[] = {
            { (unsigned char *)(uintptr_t)(program->kept[0].device_image + program->kept[0].recording.image_bytes), "memory behind the image" },
            { (unsigned char *)(uintptr_t)(program->kept[0].device_image - 1), "memory before the image" },
            { (unsigned char *)(uintptr_t)(run->bank.slots.address + sizeof(struct hbg__slot)), "memory behind the task slots" },
            { (unsigned char *)(uintptr_t)(run->device_descriptor + offsetof(struct hbg__launch, image_bytes)), "launch descriptor" },
            { (unsigned char *)(uintptr_t)(program->kernel_table + offsetof(struct hbg__kernel_table, reserved)), "kernel table" },
        };
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            if (m == 1 && i == 1 && program->kept[0].device_image == program->kept[0].device_zone.address) continue;    /* nothing is before it */
            target.at = wrong[i].at;
            target.value = 1 + (int)i;
            enum hbg_status status = hbg_run_sync(program, list, &result);
            if (status != HBG_E_OVERWRITTEN || !strstr(result.error.text, wrong[i].what)) fail_msg("%s: %s: \"%s\"", wrong[i].what, hbg_status_name(status), result.error.text);
            write_at(0, 0);
            runs_well(program, list, NULL);
        }
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

/* ---- queues ---- */

static void queues_that_change_between_two_runs(void **state)
{
    (void)state;
    struct hbg_device *device = open_device(POISONED[0]);
    struct hbg_program *program = watched_program(device, build_image, false);
    struct hbg_result result = HBG_OPTIONS(result);
    target.value = 0;
    for (int i = 0; i < 3; i++) runs_well(program, HBG_NO_ARGS, NULL);
    uint64_t sum = device->ops->queue_sum(device->platform);
    assert_int_equal(sum, device->queue_sum);
    struct hbg__workers *workers = device->platform->workers;
    struct hbg__sched *sched = (struct hbg__sched *)(uintptr_t)hbg__workers_sched(workers);
    unsigned char *byte = (unsigned char *)&sched->ring.cell[4095];
    *byte ^= 1;
    assert_int_not_equal(device->ops->queue_sum(device->platform), sum);
    assert_int_equal(hbg_run_sync(program, HBG_NO_ARGS, &result), HBG_E_DEVICE);
    assert_string_equal(result.error.name, "queues");
    *byte ^= 1;
    byte = (unsigned char *)&sched->worker[1].deque.item[7];
    *byte ^= 1;
    assert_int_not_equal(device->ops->queue_sum(device->platform), sum);
    *byte ^= 1;
    runs_well(program, HBG_NO_ARGS, NULL);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* ---- what wins ---- */

static int logged;
static void log_line(void *user, enum hbg_log_level level, const char *text)
{
    (void)user;
    if (level == HBG_LOG_ERROR && strstr(text, "past the end of argument 0")) logged++;
}

static void a_failed_run_keeps_its_status(void **state)
{
    (void)state;
    unsigned char a[100] = { 0 };
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *device;
    options.log = log_line;
    assert_int_equal(hbg_device_open(POISONED[1], &options, &device), HBG_OK);
    struct hbg_program *program = watched_program(device, build_failing, false);
    struct hbg_result result = HBG_OPTIONS(result);
    write_at(0, 100);
    logged = 0;
    assert_int_equal(hbg_run_sync(program, LIST(hbg_inout(hbg_host(a, HBG_U8, HBG_SHAPE(100)))), &result), HBG_E_KERNEL);
    assert_int_equal(result.error.code, 5);
    assert_int_equal(logged, 1);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_byte_beside_a_staged_argument),
        cmocka_unit_test(a_byte_behind_the_staged_arguments_and_the_heap),
        cmocka_unit_test(an_argument_that_is_only_read),
        cmocka_unit_test(bytes_of_buffers),
        cmocka_unit_test(a_buffer_that_the_host_writes_meanwhile),
        cmocka_unit_test(a_kernel_that_writes_the_image),
        cmocka_unit_test(an_image_that_changes_between_two_runs),
        cmocka_unit_test(library_memory_that_a_kernel_writes),
        cmocka_unit_test(queues_that_change_between_two_runs),
        cmocka_unit_test(a_failed_run_keeps_its_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
