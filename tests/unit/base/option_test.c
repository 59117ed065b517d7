/* SPDX-License-Identifier: Apache-2.0 */
/* option_test.c - specs are taken apart, values are checked, and each mistake gets its sentence. */
#include "base/option.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static const char *const MEMORY[] = { "unified", "discrete" };

/* A device's options as a user of the parser reads them. */
struct device { int64_t workers; uint64_t spin; int memory; bool pin; double scale; const char *label; };

static bool read_device(struct hbg__option_set *set, const char *spec, struct device *d)
{
    *d = (struct device){ .workers = -7, .spin = 12, .memory = -7, .scale = 0.25, .label = "none" };
    hbg__option_parse(set, spec);
    hbg__option_i64(set, "workers", -10, 1024, &d->workers);
    hbg__option_u64(set, "spin", 0, UINT64_MAX, &d->spin);
    hbg__option_choice(set, "memory", MEMORY, 2, &d->memory);
    hbg__option_bool(set, "pin", &d->pin);
    hbg__option_f64(set, "scale", 0, 1, &d->scale);
    hbg__option_text(set, "label", &d->label);
    return hbg__option_finish(set);
}

static void specs_are_taken_apart(void **state)
{
    (void)state;
    struct hbg__option_set set;
    struct device d;
    assert_true(read_device(&set, "cpu:workers=4,memory=discrete,pin,scale=0.5,label=a=b,spin=3k", &d));
    assert_string_equal(set.name, "cpu");
    assert_int_equal(d.workers, 4);
    assert_int_equal(d.memory, 1);
    assert_true(d.pin);
    assert_true(d.scale == 0.5);
    assert_string_equal(d.label, "a=b");
    assert_int_equal(d.spin, 3072);
    assert_string_equal(set.problem, "");
}

static void what_is_absent_keeps_its_default(void **state)
{
    (void)state;
    struct hbg__option_set set;
    static const char *const specs[] = { "cpu", "cpu:", "" };
    for (int i = 0; i < 4; i++) {
        struct device d;
        assert_true(read_device(&set, i < 3 ? specs[i] : NULL, &d));
        assert_string_equal(set.name, i < 2 ? "cpu" : "");
        assert_int_equal(d.workers, -7);
        assert_int_equal(d.spin, 12);
        assert_int_equal(d.memory, -7);
        assert_string_equal(d.label, "none");
    }
}

static void mistake(const char *spec, const char *key, const char *sentence)
{
    struct hbg__option_set set;
    struct device d;
    assert_false(read_device(&set, spec, &d));
    assert_string_equal(set.problem, sentence);
    assert_string_equal(set.problem_key, key);
}

static void mistakes_get_a_sentence(void **state)
{
    (void)state;
    mistake("cpu:worker=4", "worker", "there is no option \"worker\"; did you mean \"workers\"?");
    mistake("cpu:wrokers=4", "wrokers", "there is no option \"wrokers\"; did you mean \"workers\"?");
    mistake("cpu:colour=4", "colour", "there is no option \"colour\"; there are: workers, spin, memory, pin, scale, label");
    mistake("cpu:workers=four", "workers", "option \"workers\" is \"four\"; it is a whole number from -10 to 1024");
    mistake("cpu:workers=1025", "workers", "option \"workers\" is \"1025\"; it is a whole number from -10 to 1024");
    mistake("cpu:workers=-11", "workers", "option \"workers\" is \"-11\"; it is a whole number from -10 to 1024");
    mistake("cpu:workers=", "workers", "option \"workers\" is \"\"; it is a whole number from -10 to 1024");
    mistake("cpu:memory=both", "memory", "option \"memory\" is \"both\"; it is one of: unified, discrete");
    mistake("cpu:pin=maybe", "pin", "option \"pin\" is \"maybe\"; it is 0 or 1");
    mistake("cpu:scale=2", "scale", "option \"scale\" is \"2\"; it is a number from 0 to 1");
    mistake("cpu:scale=nan", "scale", "option \"scale\" is \"nan\"; it is a number from 0 to 1");
    mistake("cpu:pin=1,pin=0", "pin", "option \"pin\" is given twice");
    mistake("cpu:=4", "", "an option without a name: \"=4\"");
    mistake("cpu:pin,,scale=1", "", "an option without a name: \"\"");
}

static void first_problem_is_kept(void **state)
{
    (void)state;
    mistake("cpu:scale=7,workers=x,nothing=1", "workers", "option \"workers\" is \"x\"; it is a whole number from -10 to 1024");
}

static void numbers_at_the_edges(void **state)
{
    (void)state;
    struct hbg__option_set set;
    int64_t i = 0;
    uint64_t u = 0;
    hbg__option_begin(&set, "");
    assert_true(hbg__option_add(&set, "low=-9223372036854775808"));
    assert_true(hbg__option_add(&set, "high=9223372036854775807"));
    assert_true(hbg__option_add(&set, "top=18446744073709551615"));
    assert_true(hbg__option_add(&set, "giga=2G"));
    assert_true(hbg__option_i64(&set, "low", INT64_MIN, INT64_MAX, &i) && i == INT64_MIN);
    assert_true(hbg__option_i64(&set, "high", INT64_MIN, INT64_MAX, &i) && i == INT64_MAX);
    assert_true(hbg__option_u64(&set, "top", 0, UINT64_MAX, &u) && u == UINT64_MAX);
    assert_true(hbg__option_u64(&set, "giga", 0, UINT64_MAX, &u) && u == UINT64_C(2) << 30);
    assert_true(hbg__option_finish(&set));

    static const char *const wrong[] = { "x=18446744073709551616", "x=17179869184g", "x=-1", "x=1kk", "x= 1", "x=0x10", "x=1.5" };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        hbg__option_begin(&set, "");
        assert_true(hbg__option_add(&set, wrong[k]));
        u = 99;
        assert_false(hbg__option_u64(&set, "x", 0, UINT64_MAX, &u));
        assert_int_equal(u, 99);
    }
    hbg__option_begin(&set, "");
    assert_true(hbg__option_add(&set, "x=9223372036854775808"));
    assert_false(hbg__option_i64(&set, "x", INT64_MIN, INT64_MAX, &i));
}

static void room_is_bounded(void **state)
{
    (void)state;
    struct hbg__option_set set;
    char word[HBG__OPTION_TEXT_MAX + 10];
    memset(word, 'w', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    hbg__option_begin(&set, "x");
    assert_false(hbg__option_add(&set, word));
    assert_string_equal(set.problem, "the options are longer than 1023 letters");
    assert_false(hbg__option_parse(&set, word));
    assert_string_equal(set.problem, "the name is longer than 63 letters");

    hbg__option_begin(&set, "x");
    for (int i = 0; i < HBG__OPTION_COUNT_MAX; i++) {
        const char key[] = { (char)('a' + i % 26), (char)('a' + i / 26), '\0' };
        assert_true(hbg__option_add(&set, key));
    }
    assert_false(hbg__option_add(&set, "last"));
    assert_string_equal(set.problem, "more than 32 options");
}

static void nearest_words(void **state)
{
    (void)state;
    static const char *const commands[] = { "run", "list", "bench", "info", "version", "describe" };
    assert_string_equal(hbg__option_nearest("bnech", commands, 6), "bench");
    assert_string_equal(hbg__option_nearest("verison", commands, 6), "version");
    assert_string_equal(hbg__option_nearest("lst", commands, 6), "list");
    assert_string_equal(hbg__option_nearest("descirbe", commands, 6), "describe");
    assert_null(hbg__option_nearest("launch", commands, 6));
    assert_null(hbg__option_nearest("xyz", commands, 6));
    assert_null(hbg__option_nearest("anything", commands, 0));
}

static void expect_about(const struct hbg__option_set *set, int at, const char *values, const char *preset)
{
    char text[2][32];
    hbg__option_describe(set, at, text[0], sizeof text[0], text[1], sizeof text[1]);
    assert_string_equal(text[0], values);
    assert_string_equal(text[1], preset);
}

static void keys_say_what_they_take(void **state)
{
    (void)state;
    struct hbg__option_set set;
    struct device d;
    assert_true(read_device(&set, "cpu:workers=4,memory=discrete,label=a", &d));
    assert_int_equal(set.known_count, 6);
    expect_about(&set, 0, "-10..1024", "-7");
    set.about[0].low.i = -6;
    expect_about(&set, 0, "-6..1024", "");
    expect_about(&set, 1, "0..18446744073709551615", "12");
    expect_about(&set, 2, "unified|discrete", "");      /* the reader's own default is no choice */
    expect_about(&set, 3, "0|1", "0");
    expect_about(&set, 4, "0..1", "0.25");
    expect_about(&set, 5, "text", "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specs_are_taken_apart),
        cmocka_unit_test(what_is_absent_keeps_its_default),
        cmocka_unit_test(mistakes_get_a_sentence),
        cmocka_unit_test(first_problem_is_kept),
        cmocka_unit_test(numbers_at_the_edges),
        cmocka_unit_test(room_is_bounded),
        cmocka_unit_test(nearest_words), cmocka_unit_test(keys_say_what_they_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
