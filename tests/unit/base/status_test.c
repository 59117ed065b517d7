/* SPDX-License-Identifier: Apache-2.0 */
/* status_test.c - every status has a name of its own and a sentence, and the groups keep their ranges. */
#include <hbg/status.h>

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static const int CODES[] = {
#define CODE(code, name, text, remedy) code,
    HBG_STATUS_MAP(CODE)
#undef CODE
};
enum { CODE_COUNT = sizeof CODES / sizeof CODES[0] };

static void names_are_those_of_the_enumerators(void **state)
{
    (void)state;
    assert_string_equal(hbg_status_name(HBG_OK), "HBG_OK");
    assert_string_equal(hbg_status_name(HBG_TIMEOUT), "HBG_TIMEOUT");
    assert_string_equal(hbg_status_name(HBG_E_REGION), "HBG_E_REGION");
    assert_string_equal(hbg_status_name(HBG_E_DEVICE), "HBG_E_DEVICE");
}

static void every_status_differs(void **state)
{
    (void)state;
    for (int i = 0; i < CODE_COUNT; i++) {
        assert_true(strlen(hbg_status_text((enum hbg_status)CODES[i])) > 3);
        assert_true(strlen(hbg_status_remedy((enum hbg_status)CODES[i])) > 3);
        for (int k = 0; k < i; k++) {
            assert_int_not_equal(CODES[i], CODES[k]);
            assert_string_not_equal(hbg_status_name((enum hbg_status)CODES[i]), hbg_status_name((enum hbg_status)CODES[k]));
            assert_string_not_equal(hbg_status_remedy((enum hbg_status)CODES[i]), hbg_status_remedy((enum hbg_status)CODES[k]));
            assert_string_not_equal(hbg_status_text((enum hbg_status)CODES[i]), hbg_status_text((enum hbg_status)CODES[k]));
        }
    }
}

static void unknown_codes_have_text_too(void **state)
{
    (void)state;
    assert_string_equal(hbg_status_name((enum hbg_status)-1000), "HBG_?");
    assert_string_equal(hbg_status_text((enum hbg_status)-1000), "an unknown status");
    assert_string_equal(hbg_status_remedy((enum hbg_status)-1000), "none is known");
    assert_string_equal(hbg_status_name((enum hbg_status)2), "HBG_?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_enumerators),
        cmocka_unit_test(every_status_differs),
        cmocka_unit_test(unknown_codes_have_text_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
