/* SPDX-License-Identifier: Apache-2.0 */
/* signature_test.c - the grammar of signatures, what they permit, and the words that do not belong. */
#include "graph/signature.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct hbg__memory memory;

static struct hbg__signature parsed(const char *text)
{
    struct hbg__signature signature;
    struct hbg_error error = HBG_OPTIONS(error);
    enum hbg_status status = hbg__signature_parse(text, &memory, "test", &signature, &error);
    if (status) fail_msg("\"%s\": %s", text, error.text);
    return signature;
}

static void refuses(const char *text, int argument)
{
    struct hbg__signature signature;
    struct hbg_error error = HBG_OPTIONS(error);
    if (hbg__signature_parse(text, &memory, "test", &signature, &error) != HBG_E_SIGNATURE) fail_msg("\"%s\" was taken", text);
    assert_int_equal(error.argument, argument);
    assert_null(signature.kind);
}

static void every_form_is_read(void **state)
{
    static const struct { const char *text; int kind, dtype; } forms[] = {
        { "in f32", HBG_ARG_IN, HBG_F32 }, { "out i8", HBG_ARG_OUT, HBG_I8 }, { "inout any", HBG_ARG_INOUT, 0 },
        { "accumulate f64", HBG_ARG_ACCUMULATE, HBG_F64 }, { "untracked bf16", HBG_ARG_UNTRACKED, HBG_BF16 },
        { "in record", HBG_ARG_IN, HBG_RECORD_0 }, { "in record[18]", HBG_ARG_IN, HBG_RECORD(18) },
        { "f32", HBG_ARG_SCALAR, HBG_F32 }, { "bool", HBG_ARG_SCALAR, HBG_BOOL }, { "any", HBG_ARG_SCALAR, 0 },
        { "bytes", HBG_ARG_BYTES, 0 }, { "bytes[24]", HBG_ARG_BYTES, 24 }, { "bytes[4096]", HBG_ARG_BYTES, 4096 },
        { "  inout \t u64 ", HBG_ARG_INOUT, HBG_U64 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct hbg__signature s = parsed(forms[i].text);
        assert_int_equal(s.arg_count, 1);
        assert_int_equal(s.kind[0], forms[i].kind);
        assert_int_equal(s.dtype[0], forms[i].dtype);
        hbg__signature_free(&s, &memory);
    }
    struct hbg__signature three = parsed("in f32,inout f64 ,i32");
    assert_int_equal(three.arg_count, 3);
    assert_int_equal(three.kind[1], HBG_ARG_INOUT);
    assert_int_equal(three.dtype[2], HBG_I32);
    hbg__signature_free(&three, &memory);
}

static void none_and_empty_differ(void **state)
{
    (void)state;
    struct hbg__signature none = parsed(NULL), empty = parsed(" ");
    assert_false(none.given);
    assert_true(empty.given);
    assert_int_equal(empty.arg_count, 0);
    hbg__signature_free(&empty, &memory);
}

static void what_does_not_read_is_refused(void **state)
{
    (void)state;
    refuses("f33", 0);
    refuses("in", 0);
    refuses("in f32 f32", 0);
    refuses("in f32,", 1);
    refuses("in f32,,f32", 1);
    refuses(",", 0);
    refuses("f32, input f32", 1);
    refuses("record", 0);
    refuses("record[4]", 0);
    refuses("in record[0]", 0);
    refuses("in record[4096]", 0);
    refuses("in record[4", 0);
    refuses("in record[-4]", 0);
    refuses("bytes[0]", 0);
    refuses("bytes[4097]", 0);
    refuses("bytes[1]x", 0);
    refuses("in bytes", 0);
    refuses("averyveryveryveryverylongword_that_is_no_dtype", 0);
    assert_int_equal(hbg__memory_live_bytes(&memory), 0);
}

static void permits_equal_mode_and_dtype_alone(void **state)
{
    float value = 0;
    (void)state;
    struct hbg__signature s = parsed("in f32, any, in record, bytes[4], f32");
    struct hbg_region x = hbg_host(&value, HBG_F32, HBG_SHAPE(1)), record = hbg_host(&value, HBG_RECORD(3), HBG_SHAPE(1));
    struct hbg_arg in = hbg_in(x), inout = hbg_inout(x), scalar = hbg_f32(1), wide = hbg_f64(1), bytes = hbg_bytes(&value, 4), more = hbg_bytes(&value, 8);
    struct hbg_arg in_record = hbg_in(record), bound = scalar;
    bound.kind = HBG_ARG_BOUND;
    assert_true(hbg__signature_permits(&s, 0, &in));
    assert_false(hbg__signature_permits(&s, 0, &inout));
    assert_false(hbg__signature_permits(&s, 0, &in_record));
    assert_false(hbg__signature_permits(&s, 0, &scalar));
    assert_true(hbg__signature_permits(&s, 1, &wide));
    assert_false(hbg__signature_permits(&s, 1, &bytes));
    assert_true(hbg__signature_permits(&s, 2, &in_record));
    assert_false(hbg__signature_permits(&s, 2, &in));
    assert_true(hbg__signature_permits(&s, 3, &bytes));
    assert_false(hbg__signature_permits(&s, 3, &more));
    assert_true(hbg__signature_permits(&s, 4, &bound));
    assert_false(hbg__signature_permits(&s, 4, &wide));
    hbg__signature_free(&s, &memory);
}

static void text_reads_back(void **state)
{
    static const char *const texts[] = { "in f32", "out record[7]", "inout record", "untracked any", "f64", "any", "bytes", "bytes[12]" };
    char text[32];
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct hbg__signature s = parsed(texts[i]);
        hbg__signature_text_of(&s, 0, text);
        assert_string_equal(text, texts[i]);
        hbg__signature_free(&s, &memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_read),
        cmocka_unit_test(none_and_empty_differ),
        cmocka_unit_test(what_does_not_read_is_refused),
        cmocka_unit_test(permits_equal_mode_and_dtype_alone),
        cmocka_unit_test(text_reads_back),
    };
    if (!hbg__memory_init(&memory, NULL)) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
