/* SPDX-License-Identifier: Apache-2.0 */
/* log_test.c - levels filter, long lines are cut, and without a callback nothing happens. */
#include "base/log.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

struct heard { int lines; enum hbg_log_level level; char text[1024]; };

static void hear(void *user, enum hbg_log_level level, const char *text)
{
    struct heard *heard = user;
    heard->lines++;
    heard->level = level;
    strncpy(heard->text, text, sizeof heard->text - 1);
}

static void lines_reach_the_callback_by_level(void **state)
{
    (void)state;
    struct heard heard = { 0 };
    struct hbg__log log;
    hbg__log_init(&log, hear, &heard, HBG_LOG_INFO);
    hbg__log_write(&log, HBG_LOG_INFO, "%d of %s", 3, "five");
    assert_int_equal(heard.lines, 1);
    assert_int_equal(heard.level, HBG_LOG_INFO);
    assert_string_equal(heard.text, "3 of five");
    hbg__log_write(&log, HBG_LOG_DEBUG, "not this");
    assert_int_equal(heard.lines, 1);
    hbg__log_write(&log, HBG_LOG_ERROR, "but this");
    assert_int_equal(heard.lines, 2);
}

static void level_zero_is_warn(void **state)
{
    (void)state;
    struct heard heard = { 0 };
    struct hbg__log log;
    hbg__log_init(&log, hear, &heard, (enum hbg_log_level)0);
    assert_true(hbg__log_wants(&log, HBG_LOG_WARN));
    assert_false(hbg__log_wants(&log, HBG_LOG_INFO));
}

static void long_lines_are_cut(void **state)
{
    (void)state;
    struct heard heard = { 0 };
    struct hbg__log log;
    char text[900];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    hbg__log_init(&log, hear, &heard, HBG_LOG_DEBUG);
    hbg__log_write(&log, HBG_LOG_WARN, "%s", text);
    assert_int_equal(strlen(heard.text), 511);
}

static void nobody_listens(void **state)
{
    (void)state;
    struct hbg__log log;
    hbg__log_init(&log, NULL, NULL, HBG_LOG_DEBUG);
    assert_false(hbg__log_wants(&log, HBG_LOG_ERROR));
    assert_false(hbg__log_wants(NULL, HBG_LOG_ERROR));
    hbg__log_write(&log, HBG_LOG_ERROR, "to nobody");
    hbg__log_write(NULL, HBG_LOG_ERROR, "to nobody");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_reach_the_callback_by_level),
        cmocka_unit_test(level_zero_is_warn),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(nobody_listens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
