/* SPDX-License-Identifier: Apache-2.0 */
/* line_test.c - records as they are made, and that what was encoded is what is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "tools/trace_log.h"
#include "trace/line.h"

static void a_record_as_a_whole(void **state)
{
    struct hbg__trace_line line;
    (void)state;
    hbg__line_begin(&line);
    assert_true(hbg__line_raw(&line, "[STRACE] v=1", 12));
    assert_true(hbg__line_u64(&line, "zero", 0));
    assert_true(hbg__line_u64(&line, "most", UINT64_MAX));
    assert_true(hbg__line_hex(&line, "prog", 0xabc));
    assert_true(hbg__line_text(&line, "text", "a b=%;[\"\\\n\xc3\xa9"));
    assert_true(hbg__line_note(&line, "my key", ""));
    assert_true(hbg__line_name(&line, "ext", "a.b", "c.d e"));
    hbg__line_end(&line);
    static const char expected[] = "[STRACE] v=1 zero=0 most=18446744073709551615 prog=0000000000000abc text=a%20b%3D%25%3B%5B%22%5C%0A%C3%A9"
                                   " my%20key= name=ext.a%2Eb.c.d%20e ;\n";
    assert_int_equal(line.used, sizeof expected - 1);
    assert_memory_equal(line.text, expected, line.used);
}

static void what_does_not_fit_is_left_out(void **state)
{
    static char large[HBG__TRACE_LINE_MAX];
    struct hbg__trace_line line;
    (void)state;
    memset(large, '%', sizeof large - 1);
    for (size_t room = 0; room < 40; room++) {
        hbg__line_begin(&line);
        while (line.used + room < HBG__TRACE_LINE_MAX - 9) assert_true(hbg__line_raw(&line, "x", 1));
        size_t used = line.used;
        assert_false(hbg__line_text(&line, "text", large));
        assert_int_equal(line.used, used);
        assert_int_equal(hbg__line_u64(&line, "n", 1234567), room >= 10);
        assert_true(line.cut);
        hbg__line_end(&line);
        assert_true(line.used <= HBG__TRACE_LINE_MAX);
        assert_memory_equal(line.text + line.used - 9, " cut=1 ;\n", 9);
    }
}

/* All bytes but NUL, at random, and each alone. */
static void encoded_text_is_read_back(void **state)
{
    struct hbg__rng rng;
    char text[64];
    (void)state;
    hbg__rng_seed(&rng, 1);
    for (int round = 0; round < 5000; round++) {
        struct hbg__trace_line line;
        size_t size = round < 255 ? 1 : hbg__rng_below(&rng, sizeof text);
        for (size_t i = 0; i < size; i++) text[i] = (char)(round < 255 ? (uint64_t)round + 1 : 1 + hbg__rng_below(&rng, 255));
        text[size] = '\0';
        hbg__line_begin(&line);
        assert_true(hbg__line_text(&line, "k", text));
        line.text[line.used] = '\0';
        char *value = line.text + 3;
        assert_null(strpbrk(value, " ;=\n[]\"\\"));
        assert_true(hbg__trace_decode(value, strlen(value)));
        assert_string_equal(value, text);
    }
}

static void what_the_encoder_does_not_write_is_refused(void **state)
{
    static const char *const wrong[] = { "%", "a%4", "%4", "%zz", "%2f", "%2F", "%41", "%00", "a b", "a=b", "a;b", "a[b", "\x80", "a%", "%%", "\n" };
    static const char *const right[] = { "", "a", "%25", "%2E", ".", "a%20b", "%FF", "x/y:z,+~" };
    char text[16];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        strcpy(text, wrong[i]);
        if (hbg__trace_decode(text, strlen(text))) fail_msg("\"%s\" was decoded", wrong[i]);
    }
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        strcpy(text, right[i]);
        if (!hbg__trace_decode(text, strlen(text))) fail_msg("\"%s\" was refused", right[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_as_a_whole), cmocka_unit_test(what_does_not_fit_is_left_out),
        cmocka_unit_test(encoded_text_is_read_back), cmocka_unit_test(what_the_encoder_does_not_write_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
