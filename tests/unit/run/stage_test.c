/* SPDX-License-Identifier: Apache-2.0 */
/* stage_test.c - what a run copies, to the byte: arguments, image, descriptor; groups, alignment, epochs, poison. */
#include "unit/run/support.h"

#include <stdlib.h>

static const char *const DISCRETE = "cpu:workers=2,memory=discrete";

/* ---- grouping ---- */

static struct hbg__run *bound(struct hbg_device *device, struct hbg_program *program, struct hbg_arg_list list)
{
    struct hbg__run *run = &device->run[0];
    struct hbg_error error = HBG_OPTIONS(error);
    run->program = program;
    if (hbg__run_bind(run, list, &error)) fail_msg("%s", error.text);
    return run;
}

static void overlapping_ranges_are_one_group(void **state)
{
    struct hbg_device *device = open_device(DISCRETE);
    struct hbg_program *program = make_program(device, build_nothing, false);
    static int32_t a[1000], b[1000];
#define A(lo, hi) hbg_in(hbg_host(a + (lo), HBG_I32, HBG_SHAPE((hi) - (lo))))
    (void)state;
    /* [50,150) joins [0,100) and [140,200); [200,300) only touches them; b stands alone; the empty one too */
    struct hbg__run *run = bound(device, program, LIST(A(200, 300), hbg_f64(3), A(0, 100), A(140, 200), hbg_in(hbg_host(b, HBG_I32, HBG_SHAPE(10))),
                                                       A(50, 150), hbg_in(hbg_host(a + 60, HBG_I32, HBG_SHAPE(0)))));
    assert_int_equal(run->group_count, 4);
    static const uint32_t group[] = { 0, UINT32_MAX, 1, 1, 2, 1, 3 };
    for (int i = 0; i < 7; i++) assert_int_equal(run->arg[i].group, group[i]);
    assert_ptr_equal(run->group[0].host, a + 200);
    assert_int_equal(run->group[0].size_bytes, 400);
    assert_ptr_equal(run->group[1].host, a);
    assert_int_equal(run->group[1].size_bytes, 800);
    assert_int_equal(run->arg[3].displacement, 560);
    assert_int_equal(run->arg[5].displacement, 200);
    assert_int_equal(run->group[3].size_bytes, 0);
    hbg__run_unbind(run);

    struct hbg_region back = hbg_host_strided(a + 99, HBG_I32, HBG_SHAPE(100), HBG_SHAPE(-4));
    run = bound(device, program, LIST(hbg_in(back), A(0, 1)));
    assert_int_equal(run->group_count, 1);
    assert_int_equal(run->arg[0].displacement, 396);
    assert_int_equal(run->group[0].size_bytes, 400);
    hbg__run_unbind(run);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* Against brute force: random ranges; two arguments are in one group exactly when a chain of overlaps connects them. */
static void grouping_is_the_closure_of_overlap(void **state)
{
    enum { N = 60, ROUNDS = 200 };
    static unsigned char bytes[4096];
    struct hbg_device *device = open_device(DISCRETE);
    struct hbg_program *program = make_program(device, build_nothing, false);
    struct hbg_arg arg[N];
    int64_t lo[N], hi[N];
    uint64_t seed = 12345;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int parent[N];
        for (int i = 0; i < N; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            lo[i] = (int64_t)(seed >> 33) % 4000;
            hi[i] = lo[i] + (int64_t)(seed >> 50) % 90;
            arg[i] = hbg_in(hbg_host(bytes + lo[i], HBG_U8, HBG_SHAPE(hi[i] - lo[i])));
            parent[i] = i;
        }
        for (int again = 1; again;) {
            again = 0;
            for (int i = 0; i < N; i++) {
                for (int k = 0; k < N; k++) {
                    bool overlap = lo[i] < hi[i] && lo[k] < hi[k] && lo[i] < hi[k] && lo[k] < hi[i];
                    if (overlap && parent[i] < parent[k]) { parent[k] = parent[i]; again = 1; }
                }
            }
        }
        struct hbg__run *run = bound(device, program, (struct hbg_arg_list){ arg, N });
        uint32_t seen = 0;
        for (int i = 0; i < N; i++) {
            for (int k = 0; k < i; k++) assert_int_equal(run->arg[i].group == run->arg[k].group, parent[i] == parent[k]);
            assert_true(run->arg[i].group <= seen);             /* numbered by first argument */
            if (run->arg[i].group == seen) seen++;
            assert_ptr_equal(run->group[run->arg[i].group].host + run->arg[i].displacement, bytes + lo[i]);
        }
        hbg__run_unbind(run);
    }
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* ---- copies ---- */

static void strided_arguments_move_their_bytes_alone(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device *device = open_device(BOTH_MEMORIES[m]);
        struct hbg_program *program = make_program(device, build_add, false);
        static int32_t matrix[20][10];
        struct hbg_result result = HBG_OPTIONS(result);
        for (int i = 0; i < 20; i++) for (int k = 0; k < 10; k++) matrix[i][k] = i * 10 + k;
        struct hbg_region left = hbg_host_strided(&matrix[0][1], HBG_I32, HBG_SHAPE(20, 3), HBG_SHAPE(40, 4));
        struct hbg_region right = hbg_host_strided(&matrix[19][6], HBG_I32, HBG_SHAPE(20, 2), HBG_SHAPE(-40, 4));
        runs_well(program, LIST(hbg_inout(left), hbg_inout(right)), &result);
        for (int i = 0; i < 20; i++) {
            for (int k = 0; k < 10; k++) assert_int_equal(matrix[i][k], i * 10 + k + ((k >= 1 && k < 4) || (k >= 6 && k < 8)));
        }
        struct hbg_counters counters = counters_of(device);
        assert_int_equal(counters.argument_copies, m ? 4 : 0);
        assert_int_equal(counters.argument_bytes, m ? 2 * 20 * 5 * 4 : 0);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

static void outputs_are_not_copied_in(void **state)
{
    struct hbg_device *device = open_device(DISCRETE);
    struct hbg_program *program = make_program(device, build_set, true);
    int32_t y[256];
    (void)state;
    for (int32_t round = 0; round < 4; round++) {
        struct hbg_result result = HBG_OPTIONS(result);
        runs_well(program, LIST(hbg_out(hbg_host(y, HBG_I32, HBG_SHAPE(256))), hbg_i32(round)), &result);
        for (int i = 0; i < 256; i++) assert_int_equal(y[i], round);
        assert_int_equal(result.replayed, round > 0);
        uint64_t descriptor = sizeof(struct hbg__launch) + (HBG__BASE_BOUNDARY + 2) * sizeof(uint64_t);
        assert_int_equal(result.upload_copies, round ? 1 : 2);
        if (round) assert_int_equal(result.upload_bytes, descriptor);
        else assert_true(result.upload_bytes > descriptor);
    }
    struct hbg_counters counters = counters_of(device);
    assert_int_equal(counters.image_copies, 1);
    assert_int_equal(counters.descriptor_copies, 4);
    assert_int_equal(counters.argument_copies, 4);              /* home, none out */
    assert_int_equal(counters.argument_bytes, 4 * sizeof y);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* The copied bytes hold what the device needs and nothing of the host's. */
static void the_descriptor_holds_no_host_values(void **state)
{
    struct hbg_device *device = open_device(DISCRETE);
    struct hbg_program *program = make_program(device, build_add, false);
    static int32_t x[64];
    struct hbg_run handle;
    (void)state;
    assert_int_equal(hbg_run_prepare(program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(64)))), NULL, &handle), HBG_OK);
    struct hbg__run *run = &device->run[0];
    uint64_t size = counters_of(device).descriptor_bytes;
    assert_int_equal(size, sizeof(struct hbg__launch) + 4 * sizeof(uint64_t));
    const uint64_t host_only[] = { (uint64_t)(uintptr_t)x, (uint64_t)(uintptr_t)run, (uint64_t)(uintptr_t)device, (uint64_t)(uintptr_t)program,
                                   (uint64_t)(uintptr_t)program->name, (uint64_t)(uintptr_t)run->kept->recording.head, (uint64_t)(uintptr_t)run->descriptor };
    const unsigned char *copied = (const unsigned char *)(uintptr_t)run->device_descriptor;
    assert_ptr_not_equal(copied, run->descriptor);
    assert_memory_equal(copied, run->descriptor, size);
    for (uint64_t at = 0; at + 8 <= size; at += 4) {
        for (size_t k = 0; k < sizeof host_only / sizeof host_only[0]; k++) assert_memory_not_equal(copied + at, &host_only[k], 8);
    }
    assert_int_equal(run->kept->device_image % 64, (uintptr_t)run->kept->recording.head % 64);
    assert_int_equal(run->placed[0].address % 64, (uintptr_t)x % 64);
    assert_int_equal(hbg_run_cancel(handle), HBG_OK);
    assert_int_equal(hbg_run_finish(handle, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* ---- live prefix, epochs, poison ---- */

static void build_many(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    for (int64_t i = 0; i < x.shape[0]; i++) hbg_submit(g, ADD_ONE, hbg_inout(hbg_slice(x, 0, i, i + 1)));
}

static void sizes_that_change(void **state)
{
    static const int64_t sizes[] = { 4096, 10, 4096, 1, 0, 257 };
    static int32_t x[4096];
    (void)state;
    for (int m = 0; m < 4; m++) {
        char spec[80];
        snprintf(spec, sizeof spec, "%s%s", BOTH_MEMORIES[m & 1], m & 2 ? ",poison=1" : "");
        struct hbg_device *device = open_device(spec);
        struct hbg_program *program = make_program(device, build_many, false);
        uint64_t before = 0, large = 0;
        hbg__device_start_epoch(device, UINT32_MAX - 2);        /* wraps at the fourth run */
        memset(x, 0, sizeof x);
        for (int i = 0; i < 6; i++) {
            struct hbg_result result = HBG_OPTIONS(result);
            runs_well(program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(sizes[i])))), &result);
            assert_int_equal(result.tasks, sizes[i]);
            uint64_t image = counters_of(device).image_bytes - before;
            before += image;
            if (i == 0) large = image;
            if (i == 1 && m & 1) assert_true(image < large / 100);      /* the live prefix alone travels */
        }
        assert_int_equal(x[0], 5);
        assert_int_equal(x[9], 4);
        assert_int_equal(x[256], 3);
        assert_int_equal(x[4095], 2);
        assert_int_equal(device->run[0].bank.epoch, 3);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

static void build_two_of_four(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, SET, hbg_out(hbg_slice(hbg_args_region(args, 0), 0, 0, 2)), hbg_i32(7));
}

static void poison_shows_outputs_that_are_not_written(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        char spec[80];
        snprintf(spec, sizeof spec, "%s,poison=1", BOTH_MEMORIES[m]);
        struct hbg_device *device = open_device(spec);
        struct hbg_program *program = make_program(device, build_two_of_four, true);
        int32_t y[6] = { 1, 2, 3, 4, 5, 6 };
        for (int round = 0; round < 2; round++) {
            runs_well(program, LIST(hbg_out(hbg_host(y + 1, HBG_I32, HBG_SHAPE(4)))), NULL);
            const int32_t expected[6] = { 1, 7, 7, (int32_t)0xaaaaaaaa, (int32_t)0xaaaaaaaa, 6 };
            assert_memory_equal(y, expected, sizeof y);
        }
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

/* A reservation far below what is needed: every arena moves while it grows, and nothing shows. */
static void small_reservations_move(void **state)
{
    static int32_t x[100000];
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device_options options = HBG_OPTIONS(device_options);
        struct hbg_device *device = NULL;
        options.reserve_bytes = 8192;
        assert_int_equal(hbg_device_open(BOTH_MEMORIES[m], &options, &device), HBG_OK);
        struct hbg_program *program = make_program(device, build_many, false);
        memset(x, 0, sizeof x);
        runs_well(program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(10)))), NULL);
        runs_well(program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(100000)))), NULL);
        runs_well(program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(10)))), NULL);
        assert_int_equal(x[9], 3);
        assert_int_equal(x[99999], 1);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

/* ---- warm ---- */

static void warm_runs_allocate_nothing(void **state)
{
    static int32_t x[512];
    (void)state;
    for (int m = 0; m < 4; m++) {
        struct hbg_device *device = open_device(BOTH_MEMORIES[m & 1]);
        struct hbg_program *program = make_program(device, build_many, m & 2);
        struct hbg_counters warm = { 0 };
        for (int i = 0; i < 20; i++) {
            if (i == 2) warm = counters_of(device);
            runs_well(program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(512)))), NULL);
        }
        struct hbg_counters now = counters_of(device);
        assert_int_equal(now.allocations, warm.allocations);
        assert_int_equal(now.growths, warm.growths);
        assert_int_equal(now.stream_sets_made, 1);
        assert_int_equal(now.builds, m & 2 ? 1 : 20);
        assert_int_equal(now.image_copies, m & 1 ? (m & 2 ? 1 : 20) : 0);
        assert_int_equal(now.runs, 20);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_ranges_are_one_group),
        cmocka_unit_test(grouping_is_the_closure_of_overlap),
        cmocka_unit_test(strided_arguments_move_their_bytes_alone),
        cmocka_unit_test(outputs_are_not_copied_in),
        cmocka_unit_test(the_descriptor_holds_no_host_values),
        cmocka_unit_test(sizes_that_change),
        cmocka_unit_test(poison_shows_outputs_that_are_not_written),
        cmocka_unit_test(small_reservations_move),
        cmocka_unit_test(warm_runs_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
