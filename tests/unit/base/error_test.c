/* SPDX-License-Identifier: Apache-2.0 */
/* error_test.c - errors of every size that a caller may have: all is filled, nothing beyond it is touched. */
#include "base/error.h"

#include <hbg/types.h>

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void all_fields_are_set(void **state)
{
    struct hbg_error error;
    (void)state;
    memset(&error, 0xee, sizeof error);
    error.size = sizeof error;
    assert_int_equal(hbg__error_set(&error, HBG_E_OPTION, "key", "option \"%s\" is %d", "key", 7), HBG_E_OPTION);
    assert_int_equal(error.size, sizeof error);
    assert_int_equal(error.status, HBG_E_OPTION);
    assert_int_equal(error.code, 0);
    assert_int_equal(error.detail, 0);
    assert_int_equal(error.task, UINT32_MAX);
    assert_int_equal(error.argument, -1);
    assert_string_equal(error.name, "key");
    assert_string_equal(error.text, "option \"key\" is 7");
    assert_int_equal(hbg__error_set_argument(&error, HBG_E_REGION, 3, NULL, "bad"), HBG_E_REGION);
    assert_int_equal(error.argument, 3);
    assert_string_equal(error.name, "");
    assert_int_equal(hbg__error_no_memory(&error, "slots", UINT64_MAX), HBG_E_NO_MEMORY);
    assert_int_equal(error.requested, INT64_MAX);
    hbg__error_clear(&error);
    assert_int_equal(error.status, HBG_OK);
    assert_string_equal(error.text, "");
    assert_int_equal(error.task, UINT32_MAX);
}

static void a_size_of_zero_is_the_whole_struct(void **state)
{
    struct hbg_error error = { 0 };
    (void)state;
    hbg__error_set(&error, HBG_E_BUSY, "slot", "busy");
    assert_int_equal(error.size, sizeof error);
    assert_string_equal(error.text, "busy");
}

static void a_smaller_struct_is_not_overrun(void **state)
{
    struct { struct hbg_error error; unsigned char behind[64]; } small;
    (void)state;
    memset(&small, 0x55, sizeof small);
    small.error.size = offsetof(struct hbg_error, text) + 10;
    hbg__error_set(&small.error, HBG_E_BUSY, "slot", "a sentence that is longer than ten bytes");
    assert_int_equal(small.error.status, HBG_E_BUSY);
    assert_int_equal(small.error.size, offsetof(struct hbg_error, text) + 10);
    assert_memory_equal(small.error.text, "a sentence", 10);
    for (size_t i = 10; i < sizeof small.error.text; i++) assert_int_equal((unsigned char)small.error.text[i], 0x55);
}

static void long_texts_are_cut(void **state)
{
    struct hbg_error error = HBG_OPTIONS(error);
    char name[200], text[600];
    (void)state;
    memset(name, 'n', sizeof name - 1);
    memset(text, 't', sizeof text - 1);
    name[sizeof name - 1] = text[sizeof text - 1] = '\0';
    hbg__error_set(&error, HBG_E_BUSY, name, "%s", text);
    assert_int_equal(strlen(error.name), sizeof error.name - 1);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
}

static void null_takes_nothing(void **state)
{
    struct hbg_error error = HBG_OPTIONS(error);
    (void)state;
    hbg__error_clear(NULL);
    hbg__error_copy(NULL, &error);
    assert_int_equal(hbg__error_set(NULL, HBG_E_BUSY, "x", "y"), HBG_E_BUSY);
    assert_int_equal(hbg__error_set_argument(NULL, HBG_E_BUSY, 1, "x", "y"), HBG_E_BUSY);
    assert_int_equal(hbg__error_no_memory(NULL, "x", 1), HBG_E_NO_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fields_are_set),
        cmocka_unit_test(a_size_of_zero_is_the_whole_struct),
        cmocka_unit_test(a_smaller_struct_is_not_overrun),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(null_takes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
