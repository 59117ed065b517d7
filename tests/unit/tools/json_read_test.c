/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON read back: what is right, what is wrong, and texts that were cut or changed anywhere.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>

#include "tools/json_read.h"

static bool parse(struct json_document *document, const char *text)
{
    return hbg__json_parse(document, strdup(text), strlen(text));
}

static const char whole[] = "{\"name\": \"a\\\"b\\u00e9\\ud83d\\ude00\\n\", \"rounds\": [{\"ns\": 10}, {\"ns\": 20.5}, {\"no\": 1}],\n \"list\": [1, -2e3, [3]], \"empty\": {}, \"none\": null, \"yes\": true, \"list\": 9}";

static bool add(void *context, double number)
{
    *(double *)context += number;
    return true;
}

static bool stop(void *context, double number)
{
    (void)number;
    ++*(int *)context;
    return false;
}

static double sum(const struct json_value *value, const char *path)
{
    double all = 0.0;
    assert_true(hbg__json_walk(value, path, add, &all));
    return all;
}

static void values(void **state)
{
    struct json_document d;
    const char *text = NULL;
    double number = 1.0;
    int calls = 0;
    (void)state;

    assert_true(parse(&d, whole));
    assert_true(hbg__json_text(d.first, "name", &text));
    assert_string_equal(text, "a\"b\xc3\xa9\xf0\x9f\x98\x80\n");
    assert_true(hbg__json_number(d.first, "none", &number) && isnan(number));
    assert_false(hbg__json_number(d.first, "name", &number) || hbg__json_text(d.first, "list", &text) || hbg__json_number(d.first, "nothing", &number));
    assert_null(hbg__json_get(hbg__json_get(d.first, "yes"), "x"));
    assert_true(sum(d.first, "rounds.ns") == 30.5 && sum(d.first, "rounds.1.ns") == 20.5 && sum(d.first, "rounds.2.ns") == 0.0);
    assert_true(sum(d.first, "list") == 1 - 2000 + 3 + 9 && sum(d.first, "list.1") == -2000 && sum(d.first, "name") == 0 && sum(d.first, "") == 0);
    assert_false(hbg__json_walk(d.first, "list", stop, &calls));
    assert_int_equal(calls, 1);
    hbg__json_free(&d);

    assert_true(parse(&d, " 1 \n{\"a\": 2}\n[3]\n"));              /* lines of JSON */
    assert_true(d.first->number == 1 && sum(d.first->next, "a") == 2 && !d.first->next->next->next);
    hbg__json_free(&d);
}

/* How far a path comes that leads to no number, within the room that there is. */
static void stuck(void **state)
{
    static const struct { const char *text, *path, *wanted; size_t room; } c[] = {
        { "{\"a\": {\"b\": 1, \"c\": 2}}", "a.d", "`a` has the keys b, c", 99 },
        { "{\"a\": {\"b\": 1, \"c\": 2}}", "a", "`a` has the keys b, c", 99 },
        { "{\"a\": 1}", "x", "it has the key a", 99 },
        { "{\"a\": 1}", "a.b.c", "`a` is a number", 99 },
        { "{\"a\": [{\"b\": 1}, {\"c\": 1}]}", "a.x", "element 0 of `a` has the key b", 99 },
        { "{\"a\": [{\"b\": 1}, {\"c\": 1}]}", "a.1.x", "element 1 of `a.1` has the key c", 99 },
        { "{\"a\": [1]}", "a.7", "`a` has no such element", 99 },
        { "[]", "a", "it is an empty array", 99 },
        { "{}", "a", "it has no keys", 99 },
        { "\"a\"", "", "it is a string", 99 },
        { "{\"longer\": 1, \"than\": 2, \"there\": 3, \"is room\": 4}", "a", "it has the keys longer, than, ..", 35 },
    };
    (void)state;

    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct json_document d;
        char text[100];

        assert_true(parse(&d, c[i].text));
        assert_string_equal(hbg__json_stuck(d.first, c[i].path, text, c[i].room), c[i].wanted);
        hbg__json_free(&d);
    }
}

static void wrong(void **state)
{
    static const char *const text[] = {
        "", " ", "{", "[", "[1,", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\u0000\"",
        "\"\t\"", "01", "-", "1.", "1e", ".5", "+1", "nul", "NaN", "]", "}", ",", "\"\\", "{\"a\":1 \"b\":2}", "\"\\ud800\\u0041\"",
    };
    struct json_document d;
    char deep[300];
    (void)state;

    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        assert_false(parse(&d, text[i]));
        assert_true(strlen(d.why) > 5 && d.line == 1);
        hbg__json_free(&d);
    }
    memset(deep, '[', 299);
    deep[299] = '\0';
    assert_false(parse(&d, deep));
    assert_string_equal(d.why, "it nests too deeply");
    hbg__json_free(&d);
    assert_false(parse(&d, "[1,\n2,\n?]"));
    assert_int_equal(d.line, 3);
    hbg__json_free(&d);
}

/* Cut anywhere it is refused; with any byte changed the reader stays inside of it. */
static void damaged(void **state)
{
    struct json_document d;
    char text[sizeof whole];
    size_t refused = 0;
    (void)state;

    for (size_t i = 0; i + 1 < sizeof whole; i++) {
        memcpy(text, whole, i);
        text[i] = '\0';
        assert_false(parse(&d, text));
        hbg__json_free(&d);
        for (int c = 0; c < 256; c++) {
            char *copy = malloc(sizeof whole);
            memcpy(copy, whole, sizeof whole);
            copy[i] = (char)c;
            refused += !hbg__json_parse(&d, copy, sizeof whole - 1);
            hbg__json_free(&d);
        }
    }
    assert_true(refused > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(values), cmocka_unit_test(stuck), cmocka_unit_test(wrong), cmocka_unit_test(damaged) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
