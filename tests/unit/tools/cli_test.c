/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: numbers, hints, options.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tools/cli.h"

static void whole_numbers(void **state)
{
    static const char *const bad[] = { "", " 1", "1 ", "abc", "1x", "1.5", "0x10", "--1", "9223372036854775808", "1e3", "+5", "-" };
    int64_t value = 7;
    (void)state;

    assert_null(hbg__cli_i64("0", &value));
    assert_int_equal(value, 0);
    assert_null(hbg__cli_i64("-9223372036854775808", &value));
    assert_true(value == INT64_MIN);
    assert_null(hbg__cli_i64("9223372036854775807", &value));
    assert_true(value == INT64_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        value = 7;
        assert_non_null(hbg__cli_i64(bad[i], &value));
        assert_int_equal(value, 7);
    }
}

static void natural_numbers(void **state)
{
    static const char *const bad[] = { "", "-1", "+1", " 1", "1x", "18446744073709551616" };
    uint64_t value = 7;
    (void)state;

    assert_null(hbg__cli_u64("18446744073709551615", &value));
    assert_true(value == UINT64_MAX);
    value = 7;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_non_null(hbg__cli_u64(bad[i], &value));
    assert_int_equal(value, 7);
}

static void real_numbers(void **state)
{
    static const char *const bad[] = { "", "nan", "inf", "-inf", "0x1p3", "1,5", "1 ", " 1", "1e", "1e999", "e5", ".", "+1.5" };
    double value = 7.0;
    (void)state;

    assert_null(hbg__cli_f64("-1.5e-3", &value));
    assert_true(value == -1.5e-3);
    assert_null(hbg__cli_f64(".5", &value));
    assert_true(value == 0.5);
    value = 7.0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_non_null(hbg__cli_f64(bad[i], &value));
    assert_true(value == 7.0);
}

static void hints(void **state)
{
    static const char *const known[] = { "vector", "bgemm", "cholesky" };
    char text[64], small[12];
    (void)state;

    assert_string_equal(hbg__cli_hint("vectro", known, 3, text, sizeof text), "; did you mean `vector`?");
    assert_string_equal(hbg__cli_hint("choleski", known, 3, text, sizeof text), "; did you mean `cholesky`?");
    assert_string_equal(hbg__cli_hint("stencil", known, 3, text, sizeof text), "; known are vector, bgemm, cholesky");
    assert_string_equal(hbg__cli_hint("x", known, 0, text, sizeof text), "; there are none");
    assert_string_equal(hbg__cli_hint("stencil", known, 3, small, sizeof small), "; known are");
}

static const char *device, *rounds, *seconds;
static bool verify, waits;

static enum cli_outcome parse(const char **rest, size_t *count, const char *a, const char *b, const char *c)
{
    static const struct cli_option option[] = {
        { "--device", &device, NULL, "" }, { "--rounds", &rounds, NULL, "" }, { "--verify", NULL, &verify, "" },
        { "--wait", &seconds, &waits, "" },
    };
    static const struct cli_command command = { "run", "", "", option, 4 };
    char *argv[3] = { (char *)(uintptr_t)a, (char *)(uintptr_t)b, (char *)(uintptr_t)c };
    int argc = a ? b ? c ? 3 : 2 : 1 : 0;

    device = rounds = seconds = NULL;
    verify = waits = false;
    return hbg__cli_parse(&command, argc, argv, rest, count);
}

static void options(void **state)
{
    const char *rest[3];
    size_t count;
    (void)state;

    assert_int_equal(parse(rest, &count, "--device=cpu:workers=2", "gp", "--verify"), CLI_PARSED);
    assert_string_equal(device, "cpu:workers=2");
    assert_true(verify);
    assert_int_equal(count, 1);
    assert_string_equal(rest[0], "gp");

    assert_int_equal(parse(rest, &count, "--rounds", "3", "n=1"), CLI_PARSED);
    assert_string_equal(rounds, "3");
    assert_int_equal(count, 1);

    assert_int_equal(parse(rest, &count, "--", "--verify", "-"), CLI_PARSED);
    assert_false(verify);
    assert_int_equal(count, 2);

    assert_int_equal(parse(rest, &count, "--wait", "3", "--verify"), CLI_REFUSED);     /* a value only behind an equals sign */
    assert_int_equal(parse(rest, &count, "--wait", "gp", "--verify"), CLI_PARSED);
    assert_true(waits && verify && !seconds);
    assert_int_equal(count, 1);
    assert_int_equal(parse(rest, &count, "--wait=3", NULL, NULL), CLI_PARSED);
    assert_true(waits);
    assert_string_equal(seconds, "3");
    assert_int_equal(parse(rest, &count, "--wait=3", "--wait", NULL), CLI_REFUSED);

    assert_int_equal(parse(rest, &count, "--round", "3", NULL), CLI_REFUSED);
    assert_int_equal(parse(rest, &count, "--rounds", NULL, NULL), CLI_REFUSED);
    assert_int_equal(parse(rest, &count, "--verify=yes", NULL, NULL), CLI_REFUSED);
    assert_int_equal(parse(rest, &count, "--verify", "--verify", NULL), CLI_REFUSED);
    assert_int_equal(parse(rest, &count, "--rounds", "--rounds", "--verify"), CLI_PARSED);      /* a value may look like an option */
    assert_int_equal(parse(rest, &count, "--rounds=1", "--verify", "--rounds=1"), CLI_REFUSED);
    assert_int_equal(parse(rest, &count, "--help", NULL, NULL), CLI_HELP_SHOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers), cmocka_unit_test(natural_numbers), cmocka_unit_test(real_numbers),
        cmocka_unit_test(hints), cmocka_unit_test(options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
