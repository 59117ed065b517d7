/* SPDX-License-Identifier: Apache-2.0 */
/* program_test.c - creating programs, boundaries, and what is kept from build to build. */
#include "unit/run/support.h"

#include <stdlib.h>

static int32_t x[64];
#define HOST(count) hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(count)))

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }

static struct hbg_program_options options_of(const struct hbg_kernel *table, size_t count, struct hbg_error *error)
{
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    o.name = "options";
    o.build = build_nothing;
    o.kernels = table;
    o.kernel_count = count;
    o.error = error;
    return o;
}

static void refused(struct hbg_device *device, const struct hbg_kernel *kernel, enum hbg_status status, const char *part)
{
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_program_options o = options_of(kernel, 1, &error);
    struct hbg_program *program = NULL;
    assert_int_equal(hbg_program_create(device, &o, &program), status);
    assert_int_equal(error.status, status);
    assert_null(program);
    if (!strstr(error.text, part)) fail_msg("\"%s\" is not in \"%s\"", part, error.text);
}

static void kernel_tables_are_checked(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    (void)state;
    refused(device, &(struct hbg_kernel){ 1, "late", nothing, NULL, NULL, HBG_ANY, 0 }, HBG_E_OPTION, "stands at place 0");
    refused(device, &(struct hbg_kernel){ -1, "below", nothing, NULL, NULL, HBG_ANY, 0 }, HBG_E_OPTION, "the id -1");
    refused(device, &(struct hbg_kernel){ 0, "none", NULL, NULL, NULL, HBG_ANY, 0 }, HBG_E_NULL, "has no function");
    refused(device, &(struct hbg_kernel){ 0, NULL, nothing, NULL, NULL, HBG_ANY, 0 }, HBG_E_NULL, "has no name");
    refused(device, &(struct hbg_kernel){ 0, "kind", nothing, NULL, NULL, (enum hbg_core_kind)9, 0 }, HBG_E_OPTION, "core kind 9");
    refused(device, &(struct hbg_kernel){ 0, "cube", nothing, NULL, NULL, HBG_MATRIX, 0 }, HBG_E_UNSUPPORTED, "core kind");
    refused(device, &(struct hbg_kernel){ 0, "huge", nothing, NULL, NULL, HBG_ANY, SIZE_MAX }, HBG_E_OPTION, "scratch");
    refused(device, &(struct hbg_kernel){ 0, "sign", nothing, "in f32, ni f32", NULL, HBG_ANY, 0 }, HBG_E_SIGNATURE, "argument 1 of the signature of sign");
    refused(device, NULL, HBG_E_NULL, "no table");
    assert_int_equal(counters_of(device).programs_registered, 0);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

static void other_options_are_checked(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_program_options o = options_of(kernels, KERNELS, &error), bad = o;
    struct hbg_program *program = NULL;
    (void)state;
    assert_int_equal(hbg_program_create(device, NULL, &program), HBG_E_NULL);
    assert_int_equal(hbg_program_create(NULL, &o, &program), HBG_E_NULL);
    assert_int_equal(hbg_program_create(device, &o, NULL), HBG_E_NULL);
    bad.size = 3;
    assert_int_equal(hbg_program_create(device, &bad, &program), HBG_E_ABI);
    bad = o;
    bad.build = NULL;
    assert_int_equal(hbg_program_create(device, &bad, &program), HBG_E_NULL);
    bad = o;
    bad.params_size = 8;
    assert_int_equal(hbg_program_create(device, &bad, &program), HBG_E_NULL);
    bad = o;
    bad.boundary = "in f32,";
    assert_int_equal(hbg_program_create(device, &bad, &program), HBG_E_SIGNATURE);
    assert_non_null(strstr(error.text, "the boundary"));
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* ---- copies ---- */

struct scale { int32_t add, times; };
static int apply(const struct hbg_task_view *t)
{
    const struct scale *s = HBG_VIEW(const struct scale, t, 1);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 0)[i] = HBG_VIEW(int32_t, t, 0)[i] * s->times + s->add;
    return 0;
}
static void build_apply(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    hbg_submit(g, 0, hbg_inout(hbg_args_region(args, 0)), hbg_bytes(params, sizeof(struct scale)));
}

static void options_are_copied(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1,memory=discrete");
    struct hbg_error error = HBG_OPTIONS(error);
    char name[] = "apply", signature[] = "inout i32, bytes[8]";
    struct scale *params = malloc(sizeof *params);
    struct hbg_kernel *table = malloc(sizeof *table);
    struct hbg_program *program = NULL;
    (void)state;
    assert_non_null(params);
    assert_non_null(table);
    *params = (struct scale){ 5, 2 };
    *table = (struct hbg_kernel){ 0, name, apply, signature, NULL, HBG_ANY, 0 };
    struct hbg_program_options o = options_of(table, 1, &error);
    o.build = build_apply;
    o.params = params;
    o.params_size = sizeof *params;
    assert_int_equal(hbg_program_create(device, &o, &program), HBG_OK);
    memset(params, 0xee, sizeof *params);
    memset(table, 0xee, sizeof *table);
    memset(name, 'z', 5);
    memset(signature, 'z', 5);
    free(params);
    free(table);
    for (int i = 0; i < 64; i++) x[i] = i;
    runs_well(program, LIST(HOST(64)), NULL);
    for (int i = 0; i < 64; i++) assert_int_equal(x[i], 2 * i + 5);
    hbg_program_destroy(program);
    hbg_program_destroy(NULL);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* ---- boundaries ---- */

static struct hbg_error refused_run(struct hbg_program *program, struct hbg_arg_list list, enum hbg_status expected, int argument)
{
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status status = hbg_run_sync(program, list, &result);
    if (status != expected || result.error.argument != argument) fail_msg("%s, argument %d: %s", hbg_status_name(status), result.error.argument, result.error.text);
    assert_int_equal(result.error.status, expected);
    assert_true(result.error.text[0] != '\0');
    return result.error;
}

static void boundaries_are_checked(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_program_options o = options_of(kernels, KERNELS, &error);
    struct hbg_program *program = NULL, *any = make_program(device, build_nothing, false);
    float f = 0;
    (void)state;
    o.boundary = "inout i32, f32";
    assert_int_equal(hbg_program_create(device, &o, &program), HBG_OK);
    runs_well(program, LIST(HOST(4), hbg_f32(1)), NULL);
    struct hbg_error e = refused_run(program, LIST(HOST(4)), HBG_E_SIGNATURE, 1);
    assert_non_null(strstr(e.text, "takes 2 arguments and was given 1"));
    e = refused_run(program, LIST(HOST(4), hbg_f64(1)), HBG_E_SIGNATURE, 1);
    assert_non_null(strstr(e.text, "is \"f64\" and should be \"f32\""));
    refused_run(program, LIST(hbg_in(hbg_host(x, HBG_I32, HBG_SHAPE(4))), hbg_f32(1)), HBG_E_SIGNATURE, 0);
    refused_run(program, LIST(hbg_inout(hbg_host(x, HBG_U32, HBG_SHAPE(4))), hbg_f32(1)), HBG_E_SIGNATURE, 0);

    refused_run(any, LIST(hbg_f32(1), hbg_out(hbg_host_const(x, HBG_I32, HBG_SHAPE(4)))), HBG_E_ACCESS, 1);
    refused_run(any, LIST(hbg_inout(hbg_host_const(x, HBG_I32, HBG_SHAPE(4)))), HBG_E_ACCESS, 0);
    refused_run(any, LIST(hbg_accumulate(hbg_host(x, HBG_I32, HBG_SHAPE(4)))), HBG_E_UNSUPPORTED, 0);
    refused_run(any, LIST(hbg_bytes(&f, 4)), HBG_E_UNSUPPORTED, 0);
    refused_run(any, LIST(hbg_after((struct hbg_task){ 0, 0 })), HBG_E_TASK_ID, 0);
    refused_run(any, LIST((struct hbg_arg){ .kind = 99 }), HBG_E_ACCESS, 0);
    e = refused_run(any, LIST(hbg_in(hbg_index(hbg_host(x, HBG_I32, HBG_SHAPE(4)), 0, 4))), HBG_E_REGION, 0);
    assert_non_null(strstr(e.text, "index 4 of a dimension of 4"));
    refused_run(any, LIST(hbg_in(hbg_slice(hbg_host(x, HBG_I32, HBG_SHAPE(4)), 0, 3, 5))), HBG_E_REGION, 0);
    refused_run(any, LIST(hbg_in((struct hbg_region){ .dtype = HBG_F32 })), HBG_E_REGION, 0);
    refused_run(any, LIST(hbg_in(hbg_host_strided(x, HBG_I32, HBG_SHAPE(4, 4), HBG_SHAPE(INT64_MAX / 2, 4)))), HBG_E_REGION, 0);
    hbg_program_destroy(program);
    hbg_program_destroy(any);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* ---- recordings ---- */

static void up_to_four_recordings_side_by_side(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device *device = open_device(BOTH_MEMORIES[m]);
        struct hbg_program *program = make_program(device, build_add, true);
        struct hbg_result result = HBG_OPTIONS(result);
        for (int64_t count = 1; count <= 4; count++) {
            runs_well(program, LIST(HOST(count)), &result);
            assert_false(result.replayed);
            assert_true((result.why[0] != '\0') == (count > 1));
        }
        for (int64_t count = 4; count >= 1; count--) {
            runs_well(program, LIST(HOST(count)), &result);
            assert_true(result.replayed);
            assert_string_equal(result.why, "");
        }
        runs_well(program, LIST(HOST(5)), &result);             /* takes the place of 4, unused for longest */
        assert_false(result.replayed);
        for (int64_t count = 1; count <= 3; count++) {
            runs_well(program, LIST(HOST(count)), &result);
            assert_true(result.replayed);
        }
        runs_well(program, LIST(HOST(4)), &result);
        assert_false(result.replayed);
        struct hbg_counters counters = counters_of(device);
        assert_int_equal(counters.builds, 6);
        assert_int_equal(counters.replays, 7);
        assert_int_equal(counters.replay_misses, 5);
        assert_int_equal(counters.image_copies, m ? 6 : 0);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

static void a_replay_takes_new_memory_and_new_scalars(void **state)
{
    static int32_t y[8][16];
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct hbg_device *device = open_device(BOTH_MEMORIES[m]);
        struct hbg_program *program = make_program(device, build_set, true);
        for (int32_t i = 0; i < 8; i++) runs_well(program, LIST(hbg_out(hbg_host(y[i], HBG_I32, HBG_SHAPE(16))), hbg_i32(i * 3 - 7)), NULL);
        for (int32_t i = 0; i < 8; i++) assert_int_equal(y[i][15], i * 3 - 7);
        assert_int_equal(counters_of(device).replays, 7);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
}

static int32_t hidden;
static void build_impure(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, SET, hbg_out(hbg_args_region(args, 0)), hbg_i32(hidden));
}

static void verification_finds_an_impure_build(void **state)
{
    struct hbg_result result = HBG_OPTIONS(result);
    (void)state;
    assert_int_equal(setenv("HBG_VERIFY_REPLAY", "3", 1), 0);
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_program *pure = make_program(device, build_add, true), *impure = make_program(device, build_impure, true);
    for (int i = 0; i < 1 + 9; i++) runs_well(pure, LIST(HOST(8)), NULL);
    assert_int_equal(counters_of(device).builds, 1 + 3);        /* 9 replays, one of three built again */
    hidden = 1;
    struct hbg_arg_list list = LIST(hbg_out(hbg_host(x, HBG_I32, HBG_SHAPE(8))));
    runs_well(impure, list, NULL);
    hidden = 2;
    for (int i = 0, refused = 0; i < 6; i++) {
        bool due = hbg_run_sync(impure, list, &result) != HBG_OK;
        refused += due;
        if (due) assert_int_equal(result.error.status, HBG_E_IMAGE);
        if (due) assert_non_null(strstr(result.error.text, "declared pure"));
        else assert_int_equal(x[0], 1);                         /* what was recorded */
        if (i % 3 == 2) assert_int_equal(refused, (i + 1) / 3);
    }
    hbg_program_destroy(pure);
    hbg_program_destroy(impure);
    assert_int_equal(hbg_device_close(device), HBG_OK);

    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.ignore_environment = true;
    assert_int_equal(hbg_device_open("cpu:workers=1", &options, &device), HBG_OK);
    pure = make_program(device, build_add, true);
    for (int i = 0; i < 9; i++) runs_well(pure, LIST(HOST(8)), NULL);
    assert_int_equal(counters_of(device).builds, 1);
    hbg_program_destroy(pure);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    assert_int_equal(unsetenv("HBG_VERIFY_REPLAY"), 0);
}

static void an_error_of_the_build_leaves_the_program_usable(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_program *program = make_program(device, build_add, true);
    struct hbg_run run;
    const void *image = NULL;
    size_t size = 0;
    (void)state;
    memset(x, 0, sizeof x);
    refused_run(program, LIST(hbg_inout(hbg_host(x, HBG_U32, HBG_SHAPE(4)))), HBG_E_SIGNATURE, 0);
    runs_well(program, LIST(HOST(4)), NULL);
    refused_run(program, LIST(hbg_inout(hbg_host(x, HBG_U32, HBG_SHAPE(4)))), HBG_E_SIGNATURE, 0);
    assert_int_equal(hbg_run_prepare(program, LIST(HOST(4)), NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
    assert_int_equal(hbg_image_verify(image, size, NULL), HBG_OK);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_OK);
    assert_int_equal(x[3], 2);
    assert_int_equal(x[4], 0);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_tables_are_checked),
        cmocka_unit_test(other_options_are_checked),
        cmocka_unit_test(options_are_copied),
        cmocka_unit_test(boundaries_are_checked),
        cmocka_unit_test(up_to_four_recordings_side_by_side),
        cmocka_unit_test(a_replay_takes_new_memory_and_new_scalars),
        cmocka_unit_test(verification_finds_an_impure_build),
        cmocka_unit_test(an_error_of_the_build_leaves_the_program_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
