/* SPDX-License-Identifier: Apache-2.0 */
/* json_write_test.c - exact text of small documents, escapes, numbers that come back, and misuse that is noticed. */
#include "base/json_write.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* One document at a time, kept in memory. */
static char *text;
static size_t text_size;
static FILE *stream;

static void begin(struct hbg__json *json)
{
    stream = open_memstream(&text, &text_size);
    assert_non_null(stream);
    hbg__json_begin(json, stream);
}

/* What hbg__json_end() said; the document is in `text` until release(). */
static bool end(struct hbg__json *json)
{
    bool is_good = hbg__json_end(json);
    fclose(stream);
    return is_good;
}

static void release(void) { free(text); }

static void nested_document(void **state)
{
    (void)state;
    struct hbg__json json;
    begin(&json);
    hbg__json_open_object(&json);
    hbg__json_key_string(&json, "name", "gp");
    hbg__json_key_u64(&json, "tasks", UINT64_MAX);
    hbg__json_key_i64(&json, "low", INT64_MIN);
    hbg__json_key_bool(&json, "verified", true);
    hbg__json_key_string(&json, "none", NULL);
    hbg__json_key(&json, "times");
    hbg__json_open_array(&json);
    hbg__json_f64(&json, 0.5);
    hbg__json_null(&json);
    hbg__json_close(&json);
    hbg__json_key(&json, "empty");
    hbg__json_open_object(&json);
    hbg__json_close(&json);
    hbg__json_close(&json);
    assert_true(end(&json));
    assert_string_equal(text, "{\n"
                              "  \"name\": \"gp\",\n"
                              "  \"tasks\": 18446744073709551615,\n"
                              "  \"low\": -9223372036854775808,\n"
                              "  \"verified\": true,\n"
                              "  \"none\": null,\n"
                              "  \"times\": [\n"
                              "    0.5,\n"
                              "    null\n"
                              "  ],\n"
                              "  \"empty\": {}\n"
                              "}\n");
    release();
}

static void one_string(const char *given, const char *expected)
{
    struct hbg__json json;
    begin(&json);
    hbg__json_string(&json, given);
    assert_true(end(&json));
    assert_string_equal(text, expected);
    release();
}

static void strings_are_escaped(void **state)
{
    (void)state;
    one_string("a\"b\\c\nd\te\x01", "\"a\\\"b\\\\c\\nd\\te\\u0001\"\n");
    one_string("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\"\n");
    one_string("\xff" "a", "\"\\ufffda\"\n");
    one_string("\xc3", "\"\\ufffd\"\n");                            /* cut at the end */
    one_string("\xe2\x82", "\"\\ufffd\\ufffd\"\n");
    one_string("\xc0\xaf", "\"\\ufffd\\ufffd\"\n");                 /* overlong */
    one_string("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"\n");      /* a surrogate */
    one_string("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"\n");
}

static void doubles_come_back(void **state)
{
    (void)state;
    static const double values[] = { 0, -0.0, 1, 0.1, 1.0 / 3, 1e300, 5e-324, 123456789.123456789, -2.5e-10, 9007199254740993.0 };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct hbg__json json;
        begin(&json);
        hbg__json_f64(&json, values[i]);
        assert_true(end(&json));
        double back = strtod(text, NULL);
        assert_memory_equal(&back, &values[i], sizeof back);
        release();
    }
    static const double odd[] = { INFINITY, -INFINITY, NAN };
    for (int i = 0; i < 3; i++) {
        struct hbg__json json;
        begin(&json);
        hbg__json_f64(&json, odd[i]);
        assert_true(end(&json));
        assert_string_equal(text, "null\n");
        release();
    }
}

static void value_without_key(struct hbg__json *json) { hbg__json_open_object(json), hbg__json_i64(json, 1), hbg__json_close(json); }
static void key_in_array(struct hbg__json *json) { hbg__json_open_array(json), hbg__json_key(json, "a"), hbg__json_close(json); }
static void key_without_value(struct hbg__json *json) { hbg__json_open_object(json), hbg__json_key(json, "a"), hbg__json_close(json); }
static void unclosed(struct hbg__json *json) { hbg__json_open_array(json); }
static void closed_twice(struct hbg__json *json) { hbg__json_open_array(json), hbg__json_close(json), hbg__json_close(json); }
static void two_documents(struct hbg__json *json) { hbg__json_i64(json, 1), hbg__json_i64(json, 2); }
static void nothing(struct hbg__json *json) { (void)json; }
static void too_deep(struct hbg__json *json)
{
    for (int i = 0; i <= HBG__JSON_DEPTH_MAX; i++) hbg__json_open_array(json);
    for (int i = 0; i <= HBG__JSON_DEPTH_MAX; i++) hbg__json_close(json);
}

static void misuse_is_noticed(void **state)
{
    (void)state;
    void (*const misuse[])(struct hbg__json *) = { value_without_key, key_in_array, key_without_value, unclosed, closed_twice,
                                                   two_documents, nothing, too_deep };
    for (size_t i = 0; i < sizeof misuse / sizeof misuse[0]; i++) {
        struct hbg__json json;
        begin(&json);
        misuse[i](&json);
        assert_false(end(&json));
        release();
    }
}

static void failed_writes_are_noticed(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    struct hbg__json json;
    hbg__json_begin(&json, full);
    hbg__json_i64(&json, 1);
    assert_false(hbg__json_end(&json));
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_document),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(doubles_come_back),
        cmocka_unit_test(misuse_is_noticed),
        cmocka_unit_test(failed_writes_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
