/* SPDX-License-Identifier: Apache-2.0 */
/* abi_test.c - structs of the caller of a wrong size: the sentence, and who gets it. */
#include "support.h"

#include "run/abi.h"

static char logged[512];
static void keep_line(void *user, enum hbg_log_level level, const char *text)
{
    (void)user, (void)level;
    snprintf(logged, sizeof logged, "%s", text);
}

#define SAYS(text, part) do { if (!strstr((text), (part))) fail_msg("\"%s\" instead of \"%s\"", (text), (part)); } while (0)

static void too_small(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_device_options device_options = { .size = 8, .error = &error };
    struct hbg_program_options program_options = { .error = &error };
    struct hbg_run_options run_options = { .size = sizeof run_options - 1, .error = &error };
    struct hbg_result result = { .size = 16 };
    struct hbg_program *program = make_program(device, build_nothing, false), *none = NULL;
    struct hbg_device *other = NULL;
    struct hbg_run run;
    char expected[160];
    (void)state;
    assert_int_equal(hbg_device_open("cpu", &device_options, &other), HBG_E_ABI);
    snprintf(expected, sizeof expected, "a struct hbg_device_options says that it has 8 bytes; this library takes %zu to 4096: make it with HBG_OPTIONS(device_options)", sizeof device_options);
    assert_string_equal(error.text, expected);
    assert_int_equal(error.status, HBG_E_ABI);
    assert_string_equal(error.name, "size");
    assert_int_equal(hbg_program_create(device, &program_options, &none), HBG_E_ABI);
    SAYS(error.text, "a struct hbg_program_options says that it has 0 bytes;");
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &run_options, &run), HBG_E_ABI);
    snprintf(expected, sizeof expected, "a struct hbg_run_options says that it has %zu bytes; this library takes %zu to", sizeof run_options - 1, sizeof run_options);
    SAYS(error.text, expected);
    assert_int_equal(hbg_run_sync(program, HBG_NO_ARGS, &result), HBG_E_ABI);
    SAYS(result.error.text, "a struct hbg_result says that it has 16 bytes;");
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* What lies behind such a size was never set: the error is not looked at, and the log gets the sentence. */
static void out_of_proportion(void **state)
{
    struct hbg_device_options device_options = HBG_OPTIONS(device_options);
    struct hbg_run_options run_options = { .size = HBG__ABI_MOST + 1, .error = (struct hbg_error *)(uintptr_t)8 };
    struct hbg_program_options program_options = { .size = SIZE_MAX, .error = (struct hbg_error *)(uintptr_t)8 };
    struct hbg_device *device = NULL;
    struct hbg_program *none = NULL;
    struct hbg_run run;
    (void)state;
    device_options.log = keep_line;
    assert_int_equal(hbg_device_open("cpu:workers=1", &device_options, &device), HBG_OK);
    struct hbg_program *program = make_program(device, build_nothing, false);
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &run_options, &run), HBG_E_ABI);
    SAYS(logged, "a struct hbg_run_options says that it has 4097 bytes;");
    assert_int_equal(hbg_program_create(device, &program_options, &none), HBG_E_ABI);
    SAYS(logged, "a struct hbg_program_options says that it has 18446744073709551615 bytes;");
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

/* A struct of a newer header: its new members are zero, or it asks for what this library cannot do. */
static void larger(void **state)
{
    struct hbg_device *device = open_device("cpu:workers=1");
    struct hbg_program *program = make_program(device, build_nothing, false);
    struct hbg_error error = HBG_OPTIONS(error);
    struct { struct hbg_run_options known; uint64_t more[2]; } options = { .known = HBG_OPTIONS(run_options) };
    struct { struct hbg_result known; uint64_t more; } result = { .known = HBG_OPTIONS(result), .more = 4711 };
    struct hbg_run run;
    (void)state;
    options.known.size = sizeof options;
    options.known.error = &error;
    result.known.size = sizeof result;
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options.known, &run), HBG_OK);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, &result.known), HBG_OK);
    assert_int_equal(result.more, 4711);
    options.more[1] = 1;
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &options.known, &run), HBG_E_ABI);
    SAYS(error.text, "sets an option behind the");
    SAYS(error.text, hbg_version());
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

static void errors_that_could_say_nothing(void **state)
{
    struct hbg_device_options device_options = HBG_OPTIONS(device_options);
    struct hbg_device *device = NULL, *other = NULL;
    struct hbg_error small = { .size = 2 };
    struct hbg_run_options run_options = HBG_OPTIONS(run_options);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_run run;
    (void)state;
    device_options.log = keep_line;
    assert_int_equal(hbg_device_open("cpu:workers=1", &device_options, &device), HBG_OK);
    struct hbg_program *program = make_program(device, build_nothing, false);
    run_options.error = device_options.error = &small;
    assert_int_equal(hbg_run_prepare(program, HBG_NO_ARGS, &run_options, &run), HBG_E_ABI);
    SAYS(logged, "the struct hbg_error of a struct hbg_run_options says that it has 2 bytes;");
    assert_int_equal(hbg_device_open("cpu", &device_options, &other), HBG_E_ABI);
    SAYS(logged, "the struct hbg_error of a struct hbg_device_options says that it has 2 bytes;");
    result.error.size = 2;
    assert_int_equal(hbg_run_sync(program, HBG_NO_ARGS, &result), HBG_E_ABI);
    SAYS(logged, "the struct hbg_error of a struct hbg_result says that it has 2 bytes;");
    assert_int_equal(small.status, HBG_OK);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_small), cmocka_unit_test(out_of_proportion), cmocka_unit_test(larger), cmocka_unit_test(errors_that_could_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
