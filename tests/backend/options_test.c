/* SPDX-License-Identifier: Apache-2.0 */
/* options_test.c - what a spec and the device options may ask for: no spinning, pinned workers, tiny rings, small reservations, a
 * device without kernels, and replays that are built again to see whether the program told the truth. */
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { FIRST, READ, TOTAL, KERNEL_COUNT };
#ifdef HBG_SANITIZED
enum { READERS = 6000 };
#else
enum { READERS = 30000 };
#endif

static atomic_uint ran;

static int first(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 0) = 3;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return 0;
}

static int copy_first(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 1) = *HBG_VIEW(const int32_t, t, 0);
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return 0;
}

static int total(const struct hbg_task_view *t)
{
    int32_t sum = 0;
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) sum += HBG_VIEW(const int32_t, t, 0)[i];
    *HBG_VIEW(int32_t, t, 1) = sum;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return 0;
}

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(FIRST, first, NULL), HBG_KERNEL(READ, copy_first, NULL), HBG_KERNEL(TOTAL, total, NULL),
};

/* One task, all at once behind it, and one behind all of those. */
static void burst_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    hbg_submit(g, FIRST, hbg_out(hbg_index(y, 0, 0)));
    for (int i = 0; i < READERS; i++) hbg_submit(g, READ, hbg_in(hbg_index(y, 0, 0)), hbg_out(hbg_index(x, 0, i)));
    hbg_submit(g, TOTAL, hbg_in(x), hbg_out(hbg_index(y, 0, 1)));
}

static int32_t x[READERS], y[2];
#define BURST_ARGUMENTS HBG_ARGS(hbg_out(HOST_I32(x, READERS)), hbg_out(HOST_I32(y, 2)))

static void burst_runs(const char *spec, const struct hbg_device_options *options)
{
    struct hbg_device *device = device_open(spec, options);
    struct hbg_program *program = PROGRAM(device, burst_build, kernels);
    for (int round = 0; round < 3; round++) {
        y[1] = 0;
        atomic_store(&ran, 0);
        program_run(program, BURST_ARGUMENTS, NULL, NULL);
        assert_int_equal(y[1], 3 * READERS);
        assert_int_equal(atomic_load(&ran), READERS + 2);
    }
    hbg_program_destroy(program);
    device_close(device);
}

static void every_spec_runs(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "cpu", "cpu:workers=1", "cpu:workers=3,spin_us=0", "cpu:workers=2,pin=1", "cpu:workers=4,pin=1,memory=discrete", "cpu:workers=2,spin_us=1000",
        "cpu:workers=8,ring=2", "cpu:workers=2,ring=2,spill=1,spin_us=0", "cpu:workers=2,depth=1,stall_ms=5", "cpu:workers=16,memory=discrete,ring=4",
    };
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) burst_runs(specs[i], NULL);
}

static void a_full_ring_without_spill_has_a_name(void **state)
{
    (void)state;
    struct hbg_device *device = device_open("cpu:workers=2,ring=4,spill=0", NULL);
    struct hbg_program *program = PROGRAM(device, burst_build, kernels);
    for (int round = 0; round < 3; round++) {
        uint64_t begin = wall_ns();
        struct hbg_error error = program_run_fails(program, BURST_ARGUMENTS, HBG_E_LIMIT);
        assert_true(wall_ns() - begin < 1000000000u);
        assert_string_equal(error.name, "ring");
        assert_int_equal(error.limit, 4);
    }
    hbg_program_destroy(program);
    device_close(device);
}

static void small_reservations_grow(void **state)
{
    (void)state;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    static const uint64_t sizes[] = { 1, 4096, 65536, 1 << 20 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        options.reserve_bytes = sizes[i];
        burst_runs("cpu:workers=2,memory=unified", &options);
        burst_runs("cpu:workers=2,memory=discrete", &options);
    }
}

static void null_runs_no_kernels(void **state)
{
    (void)state;
    struct hbg_device *device = device_open("null:workers=2", NULL);
    struct hbg_program *program = PROGRAM(device, burst_build, kernels);
    struct hbg_result result = HBG_OPTIONS(result);
    atomic_store(&ran, 0);
    y[1] = 77;
    program_run(program, HBG_ARGS(hbg_out(HOST_I32(x, READERS)), hbg_inout(HOST_I32(y, 2))), &result, NULL);
    assert_int_equal(result.tasks, READERS + 2);
    assert_int_equal(atomic_load(&ran), 0);
    assert_int_equal(y[1], 77);
    hbg_program_destroy(program);
    device_close(device);
}

/* ---- HBG_VERIFY_REPLAY ---- */

static int looked_at;

static void liar_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < looked_at; i++) hbg_submit(g, FIRST, hbg_inout(hbg_args_region(args, 0)));      /* no guard says so */
}

static void replays_are_verified(void **state)
{
    (void)state;
    struct program_spec spec = { .build = liar_build, KERNEL_TABLE(kernels), .pure = true };
    struct hbg_device_options deaf = HBG_OPTIONS(device_options);
    deaf.ignore_environment = true;
    assert_int_equal(setenv("HBG_VERIFY_REPLAY", "2", 1), 0);
    for (int ignored = 0; ignored < 2; ignored++) {
        struct hbg_device *device = device_open("cpu:workers=1", ignored ? &deaf : NULL);
        struct hbg_program *program = program_create(device, &spec);
        struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(y, 2)));
        looked_at = 3;
        for (int i = 0; i < 5; i++) program_run(program, list, NULL, NULL);         /* four replays, two of them verified: the same */
        looked_at = 4;
        int refused = 0;
        for (int i = 0; i < 2; i++) {                                               /* one of two */
            struct hbg_result result = HBG_OPTIONS(result);
            if (hbg_run_sync(program, list, &result) == HBG_OK) continue;
            refused++;
            assert_int_equal(result.error.status, HBG_E_IMAGE);
            assert_non_null(strstr(result.error.text, "pure"));
        }
        assert_int_equal(refused, !ignored);
        hbg_program_destroy(program);
        device_close(device);
    }
    unsetenv("HBG_VERIFY_REPLAY");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spec_runs), cmocka_unit_test(a_full_ring_without_spill_has_a_name), cmocka_unit_test(small_reservations_grow),
        cmocka_unit_test(null_runs_no_kernels), cmocka_unit_test(replays_are_verified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
