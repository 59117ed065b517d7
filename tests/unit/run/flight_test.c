/* SPDX-License-Identifier: Apache-2.0 */
/* flight_test.c - the inside of two runs in flight: a stream set that cannot be made, epochs that wrap on one shared image, a launch
 * that the platform refuses, what the launch descriptor carries, and a run behind one that does not return. */
#include "unit/run/support.h"

static struct hbg__platform_ops broken;             /* the device's, with one entry that fails */
static const struct hbg__platform_ops *whole;
static int streams_left;                            /* that may still be made */

static enum hbg_status create_few(struct hbg__platform *platform, struct hbg__stream **stream)
{
    return streams_left-- > 0 ? whole->stream_create(platform, stream) : HBG_E_NO_MEMORY;
}

static enum hbg_status refuse_launch(struct hbg__platform *platform, struct hbg__stream *stream, struct hbg__stream *after, uint64_t descriptor,
                                     const struct hbg__launch_done *done)
{
    (void)platform, (void)stream, (void)after, (void)descriptor, (void)done;
    return HBG_E_DEVICE;
}

static struct hbg__platform_ops *break_ops(struct hbg_device *device)
{
    whole = device->ops;
    broken = *whole;
    device->ops = &broken;
    return &broken;
}

/* CASES 28: a half-made set is undone, is not counted, and the next run tries again. */
static void the_second_stream_cannot_be_made(void **state)
{
    (void)state;
    for (int slot = 0; slot < 2; slot++) {
        for (int made = 0; made < 2; made++) {
            struct hbg_device *device = open_device("cpu:workers=1");
            struct hbg_program *program = make_program(device, build_nothing, false);
            struct hbg_error error = HBG_OPTIONS(error);
            struct hbg_run_options options = HBG_OPTIONS(run_options);
            struct hbg_run first, second;
            options.error = &error;
            if (slot) assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, NULL, &first), HBG_OK);
            break_ops(device)->stream_create = create_few;
            streams_left = made;
            assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &second), HBG_E_NO_MEMORY);
            assert_non_null(strstr(error.text, "stream set"));
            assert_int_equal(counters_of(device).stream_sets_made, slot);
            device->ops = whole;
            assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options, &second), HBG_OK);
            assert_int_equal(counters_of(device).stream_sets_made, slot + 1);
            assert_int_equal(hbg_run_cancel(second), HBG_OK);
            assert_int_equal(hbg_run_finish(second, NULL), HBG_E_CANCELLED);
            if (slot) {
                assert_int_equal(hbg_run_launch(first), HBG_OK);
                assert_int_equal(hbg_run_wait(first, HBG_FOREVER), HBG_OK);
                assert_int_equal(hbg_run_finish(first, NULL), HBG_OK);
            }
            hbg_program_destroy(program);
            assert_int_equal(hbg_device_close(device), HBG_OK);         /* asserts that no stream is left */
        }
    }
}

static void a_refused_launch_is_its_own(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1,memory=discrete");
    struct hbg_program *program = make_program(device, build_set, false);
    int32_t x[2][8] = { { 0 } };
    struct hbg_run run[2];
    struct hbg_result result = HBG_OPTIONS(result);
    (void)state;
    for (int i = 0; i < 2; i++) assert_int_equal(hbg_run_prepare(program, LIST(hbg_out(hbg_host(x[i], HBG_I32, HBG_SHAPE(8))), hbg_i32(5)), NULL, &run[i]), HBG_OK);
    break_ops(device)->launch = refuse_launch;
    assert_int_equal(hbg_run_launch(run[0]), HBG_E_DEVICE);
    device->ops = whole;
    assert_int_equal(hbg_run_launch(run[1]), HBG_OK);
    assert_int_equal(hbg_run_wait(run[1], HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run[0], &result), HBG_E_DEVICE);
    assert_non_null(strstr(result.error.text, "could not be launched"));
    assert_int_equal(hbg_run_finish(run[1], NULL), HBG_OK);
    assert_int_equal(x[0][3], 0);
    assert_int_equal(x[1][3], 5);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* CASES 26: both banks begin near the largest epoch, two runs at a time execute one recording, every third of which fails. */
static void epochs_wrap_on_a_shared_image(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device *device = open_device(BOTH_MEMORIES[m]);
        struct hbg_program *adds = make_program(device, build_add, true), *fails = make_program(device, build_fail, true);
        int32_t x[2][64] = { { 0 } };
        hbg__device_start_epoch(device, UINT32_MAX - 3);
        struct hbg_run run[2];
        for (int n = 0; n < 12 + 2; n++) {
            int at = n % 2;
            bool failing = (n - 2) % 3 == 2;
            if (n >= 2) {
                assert_int_equal(hbg_run_wait(run[at], HBG_FOREVER), HBG_OK);
                assert_int_equal(hbg_run_finish(run[at], NULL), failing ? HBG_E_KERNEL : HBG_OK);
                if (!failing) assert_int_equal(x[at][63], n - 2 + 1);
            }
            if (n >= 12) continue;
            for (int i = 0; i < 64; i++) x[at][i] = n;
            assert_int_equal(hbg_run_prepare(n % 3 == 2 ? fails : adds, LIST(hbg_inout(hbg_host(x[at], HBG_I32, HBG_SHAPE(64)))), NULL, &run[at]), HBG_OK);
            assert_int_equal(hbg_run_launch(run[at]), HBG_OK);
        }
        assert_int_equal(counters_of(device).builds, 2);
        hbg_program_destroy(fails);
        hbg_program_destroy(adds);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

/* Is this number somewhere in the bytes, at any place? */
static bool holds(const unsigned char *bytes, size_t size, uint64_t number, size_t width)
{
    for (size_t at = 0; at + width <= size; at++) {
        if (memcmp(bytes + at, &number, width) == 0) return true;
    }
    return false;
}

/* The descriptor that a discrete device was sent: no address of the host's, no handle, no name. */
static void the_descriptor_holds_nothing_of_the_hosts(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1,memory=discrete");
    struct hbg_program *program = make_program(device, build_add, false);
    int32_t x[32] = { 0 };
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run run;
    struct hbg_error error = HBG_OPTIONS(error);
    (void)state;
    options.name = "a name of the run";
    options.error = &error;
    for (int i = 0; i < 3; i++) runs_well(program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(32)))), NULL);
    assert_int_equal(hbg_run_prepare(program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(32)))), &options, &run), HBG_OK);
    const struct hbg__run *slot = &device->run[0];
    static_assert(sizeof(struct hbg__launch) <= 256, "the descriptor without its base table");
    static_assert(offsetof(struct hbg__descriptor, launch) == 0, "its head is a type of its own");
    const unsigned char *sent = (const unsigned char *)(uintptr_t)slot->device_descriptor;
    size_t size = sizeof(struct hbg__launch) + slot->descriptor->launch.base_count * sizeof(uint64_t);
    const void *const pointers[] = { device, program, slot, slot->descriptor, slot->kept, slot->kept->recording.head, slot->graph, &error, &run, x, x + 1,
                                     program->name, slot->name, slot->arg, slot->program->kernels, slot->entry, slot->owner };
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++)
        if (holds(sent, size, (uint64_t)(uintptr_t)pointers[i], 8)) fail_msg("address %zu of the host's is in the descriptor", i);
    for (size_t at = 0; at + 8 <= size; at++) {
        uint64_t word;
        memcpy(&word, sent + at, 8);
        assert_false(word == (uint64_t)(uintptr_t)x);
    }
    assert_true(holds(sent, size, slot->bank.slots.address, 8));        /* the search does find what is there */
    assert_true(holds(sent, size, slot->placed[0].address, 8));
    assert_false(holds(sent, size, (uint64_t)run.slot | (uint64_t)run.generation << 32, 8) && run.slot);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

static atomic_int let_go;
static int stuck(const struct hbg_task_view *t)
{
    (void)t;
    while (!atomic_load(&let_go)) sleep_a_little();
    return 0;
}
static const struct hbg_kernel stuck_kernels[] = { { 0, "stuck", stuck, NULL, NULL, HBG_ANY, 0 } };
static void build_stuck(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_submit(g, 0);
}

/* A run behind one that does not return says so, a prepare as well although a slot is free; when it returns all is well. */
static void a_run_behind_a_lost_one(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=2");
    struct hbg_error error = HBG_OPTIONS(error), why = HBG_OPTIONS(error);
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_program *program = NULL, *quick = make_program(device, build_nothing, false);
    struct hbg_run first, second, third;
    (void)state;
    o.name = "stuck";
    o.build = build_stuck;
    o.kernels = stuck_kernels;
    o.kernel_count = 1;
    o.error = &why;
    options.error = &error;
    atomic_store(&let_go, 0);
    assert_int_equal(hbg_program_create(device, &o, &program), HBG_OK);
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, NULL, &first), HBG_OK);
    assert_int_equal(hbg_run_launch(first), HBG_OK);
    for (int i = 0; i < 50; i++) sleep_a_little();
    assert_int_equal(hbg_run_cancel(first), HBG_OK);
    assert_int_equal(hbg_run_prepare(quick, HBG_NO_ARGS, &options, &second), HBG_OK);       /* not lost yet */
    assert_int_equal(hbg_run_launch(second), HBG_OK);
    assert_int_equal(hbg_run_wait(second, 2000000000u), HBG_E_DEVICE);
    assert_non_null(strstr(error.text, "stuck"));
    assert_int_equal(hbg_run_cancel(second), HBG_OK);
    assert_int_equal(hbg_run_finish(second, NULL), HBG_E_CANCELLED);
    options.error = &why;
    assert_int_equal(hbg_run_prepare(quick, HBG_NO_ARGS, &options, &third), HBG_E_DEVICE);
    atomic_store(&let_go, 1);
    assert_int_equal(hbg_run_wait(first, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(first, NULL), HBG_OK);          /* its only task has run, to its end */
    runs_well(quick, HBG_NO_ARGS, NULL);
    hbg_program_destroy(program);
    hbg_program_destroy(quick);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_stream_cannot_be_made),
        cmocka_unit_test(a_refused_launch_is_its_own),
        cmocka_unit_test(epochs_wrap_on_a_shared_image),
        cmocka_unit_test(the_descriptor_holds_nothing_of_the_hosts),
        cmocka_unit_test(a_run_behind_a_lost_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
