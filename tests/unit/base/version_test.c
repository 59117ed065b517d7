/* SPDX-License-Identifier: Apache-2.0 */
/* version_test.c - header, build system and library agree on the version; the stamp has its form. */
#include <hbg/version.h>

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "hbg_build.h"

static void header_and_build_agree(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", HBG_VERSION_MAJOR, HBG_VERSION_MINOR, HBG_VERSION_PATCH);
    assert_string_equal(text, HBG_BUILD_VERSION);
    assert_int_equal(strncmp(hbg_version(), text, strlen(text)), 0);
}

static void stamp_names_the_commit(void **state)
{
    (void)state;
    const char *rest = hbg_version() + strlen(HBG_BUILD_VERSION);
    assert_string_equal(hbg_version_commit(), HBG_BUILD_COMMIT);
    assert_int_equal(hbg_version_dirty(), HBG_BUILD_DIRTY);
    if (HBG_BUILD_COMMIT[0] == '\0') {
        assert_string_equal(rest, "");
        return;
    }
    assert_true(strlen(HBG_BUILD_COMMIT) == 40 || strlen(HBG_BUILD_COMMIT) == 64);
    assert_int_equal(strspn(HBG_BUILD_COMMIT, "0123456789abcdef"), strlen(HBG_BUILD_COMMIT));
    assert_int_equal(strncmp(rest, " (", 2), 0);
    assert_int_equal(strncmp(rest + 2, HBG_BUILD_COMMIT, 8), 0);
    assert_string_equal(rest + 10, HBG_BUILD_DIRTY ? ", dirty)" : ")");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_and_build_agree),
        cmocka_unit_test(stamp_names_the_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
