/* SPDX-License-Identifier: Apache-2.0 */
/* warm_test.c - what a run costs once it is warm, asserted on counters: no allocation, no stream set, no fresh page, and no more
 * copies than the upload contract allows; and that a small graph behind a large one ships the small one. */
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "image/layout.h"
#include "run/device.h"
#include "support/devices.h"
#include "support/program.h"

static atomic_uint ran;

static int add_one(const struct hbg_task_view *t)
{
    ++*HBG_VIEW(int32_t, t, 0);
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return 0;
}

/* Writes 1, late. */
static int slow_one(const struct hbg_task_view *t)
{
    sleep_ms(3);
    *HBG_VIEW(int32_t, t, 0) = 1;
    return 0;
}

static int sum(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 2) = *HBG_VIEW(const int32_t, t, 0) + *HBG_VIEW(const int32_t, t, 1);
    return 0;
}

enum { ADD_ONE, SLOW_ONE, SUM };
static const struct hbg_kernel kernels[] = { HBG_KERNEL(ADD_ONE, add_one, "inout i32"), HBG_KERNEL(SLOW_ONE, slow_one, "out i32"), HBG_KERNEL(SUM, sum, "in i32, in i32, out i32") };

/* Argument 1 says how many tasks; each adds one to its cell of argument 0. */
static void cells_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    int32_t tasks = hbg_args_get_i32(args, 1);
    for (int32_t i = 0; i < tasks; i++) hbg_submit(g, 0, hbg_inout(hbg_index(x, 0, i % x.shape[0])));
}

static long minor_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static void warm_runs(struct hbg_device *device, const struct device_kind *kind, bool pure)
{
    enum { ROUNDS = 50 };
    struct program_spec spec = { .build = cells_build, KERNEL_TABLE(kernels), .pure = pure };
    struct hbg_program *program = program_create(device, &spec);
    static int32_t x[512];
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(HOST_I32(x, 512)), hbg_i32(2000));
    for (int i = 0; i < 2; i++) program_run(program, list, NULL, NULL);
    struct hbg_counters before = counters_of(device);
    long faults = minor_faults();
    for (int i = 0; i < ROUNDS; i++) program_run(program, list, NULL, NULL);
    faults = minor_faults() - faults;
    struct hbg_counters after = counters_of(device);
#define DELTA(name) (after.name - before.name)
    assert_int_equal(DELTA(runs), ROUNDS);
    assert_int_equal(DELTA(allocations), 0);
    assert_int_equal(DELTA(growths), 0);
    assert_int_equal(DELTA(stream_sets_made), 0);
    assert_int_equal(DELTA(programs_registered), 0);
    assert_int_equal(DELTA(image_copies), kind->discrete && !pure ? ROUNDS : 0);
    assert_int_equal(DELTA(descriptor_copies), kind->discrete ? ROUNDS : 0);
    assert_int_equal(DELTA(argument_copies), kind->discrete ? 2 * ROUNDS : 0);
    assert_int_equal(DELTA(builds), pure ? 0 : ROUNDS);
    assert_int_equal(DELTA(replays), pure ? ROUNDS : 0);
#undef DELTA
#ifndef HBG_SANITIZED
    assert_true(faults < ROUNDS / 2);           /* not one a run: a few are the system's own */
#endif
    hbg_program_destroy(program);
}

static void a_warm_run_that_is_built(struct hbg_device *device, const struct device_kind *kind) { warm_runs(device, kind, false); }
static void a_warm_run_that_is_replayed(struct hbg_device *device, const struct device_kind *kind) { warm_runs(device, kind, true); }

static void one_stream_set_for_all_runs(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_counters last = HBG_OPTIONS(counters);
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.final_counters = &last;
    struct hbg_device *device = device_open(kind->spec, &options);
    struct hbg_program *program = PROGRAM(device, cells_build, kernels);
    int32_t x[4] = { 0 };
    assert_int_equal(counters_of(device).stream_sets_made, 0);         /* made on first use */
    for (int i = 0; i < 4; i++) program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 4)), hbg_i32(8)), NULL, NULL);
    uint64_t made = counters_of(device).stream_sets_made;
    if (made != 1) fail_msg("expected 1 stream set for 4 runs, got %llu", (unsigned long long)made);
    assert_int_equal(counters_of(device).stream_sets_live, 1);
    hbg_program_destroy(program);
    device_close(device);
    assert_int_equal(last.stream_sets_made, 1);
    assert_int_equal(last.stream_sets_live, 0);
    assert_int_equal(last.runs, 4);
}

/* ---- 4096, then 10, then 4096 again ---- */

static void sizes_that_change(struct hbg_device *device, const struct device_kind *kind)
{
    static int32_t x[4096];
    struct hbg_program *program = PROGRAM(device, cells_build, kernels);
    static const int32_t sizes[] = { 4096, 10, 4096, 0, 10, 4096, 1 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct hbg_result result = HBG_OPTIONS(result);
        struct hbg_counters before = counters_of(device);
        atomic_store(&ran, 0);
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 4096)), hbg_i32(sizes[i])), &result, NULL);
        uint64_t bytes = counters_of(device).image_bytes - before.image_bytes;
        uint64_t live = sizeof(struct hbg__image_head) + 2 * sizeof(struct hbg_layout) +
                        (uint64_t)sizes[i] * (sizeof(struct hbg__task_record) + sizeof(struct hbg_view_arg) + sizeof(uint32_t));
        assert_int_equal(atomic_load(&ran), sizes[i]);
        assert_int_equal(result.tasks, sizes[i]);
        assert_true(bytes <= live + 4 * sizeof(struct hbg_layout));
        assert_int_equal(bytes > 0, kind->discrete);
        assert_true(result.upload_bytes <= live + 4 * sizeof(struct hbg_layout) + sizeof x);
    }
    hbg_program_destroy(program);
}

/* ---- epochs that wrap ---- */

static void chain_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    for (int i = 0; i < 100; i++) {
        hbg_submit(g, 0, hbg_inout(hbg_index(x, 0, i % 5)));
        hbg_submit(g, 0, hbg_inout(hbg_index(x, 0, 5)));
        hbg_barrier(g);
    }
}

static void epochs_wrap(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[6];
    for (int pure = 0; pure < 2; pure++) {
        struct program_spec spec = { .build = chain_build, KERNEL_TABLE(kernels), .pure = pure };
        struct hbg_program *program = program_create(device, &spec);
        for (int round = 0; round < 12; round++) {
            if (round == 3) hbg__device_start_epoch(device, UINT32_MAX - 2);        /* 0 is no epoch, and old words must not come back */
            for (int i = 0; i < 6; i++) x[i] = 0;
            program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 6))), NULL, NULL);
            for (int i = 0; i < 5; i++) assert_int_equal(x[i], 20);
            assert_int_equal(x[5], 100);
        }
        hbg_program_destroy(program);
    }
}

/* Behind some filling, sums that ask whether a slow task is complete, after the quick one that woke them. */
static void asking_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    int32_t sums = hbg_args_get_i32(args, 1);
    for (int i = 0; i < 50; i++) hbg_submit(g, ADD_ONE, hbg_inout(hbg_index(x, 0, 0)));
    for (int32_t i = 1; i <= sums; i++) {
        hbg_submit(g, SLOW_ONE, hbg_out(hbg_index(x, 0, 3 * i)));
        hbg_submit(g, ADD_ONE, hbg_inout(hbg_index(x, 0, 3 * i + 1)));
        hbg_submit(g, SUM, hbg_in(hbg_index(x, 0, 3 * i)), hbg_in(hbg_index(x, 0, 3 * i + 1)), hbg_out(hbg_index(x, 0, 3 * i + 2)));
    }
}

/* Words that a large run closed in epoch 1 lie behind a small one; the next large run comes round to epoch 1 again. */
static void words_of_an_old_epoch(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    enum { SUMS = 6 };
    struct hbg_program *program = PROGRAM(device, asking_build, kernels);
    static const int32_t sums[] = { SUMS, 0, SUMS };
    for (int run = 0; run < 3; run++) {
        int32_t x[3 * SUMS + 3] = { 0 };
        if (run == 1) hbg__device_start_epoch(device, UINT32_MAX);
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 3 * SUMS + 3)), hbg_i32(sums[run])), NULL, NULL);
        for (int32_t i = 1; i <= sums[run]; i++) assert_int_equal(x[3 * i + 2], 2);
    }
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(a_warm_run_that_is_built), DEVICE_TEST(a_warm_run_that_is_replayed), DEVICE_TEST(one_stream_set_for_all_runs),
        DEVICE_TEST(sizes_that_change), DEVICE_TEST(epochs_wrap), DEVICE_TEST(words_of_an_old_epoch),
    };
    return DEVICE_TESTS_RUN(tests);
}
