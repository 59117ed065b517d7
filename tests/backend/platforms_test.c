/* SPDX-License-Identifier: Apache-2.0 */
/* platforms_test.c - what a platform says of itself holds for the devices that are opened: its options with their presets are taken,
 * ten times the highest value is not, and it has as many workers as it said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>

static enum hbg_status try_spec(const char *platform, const char *key, const char *value, struct hbg_error *error)
{
    char spec[256];
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *device = NULL;
    *error = (struct hbg_error)HBG_OPTIONS(error);
    options.error = error;
    options.log_level = HBG_LOG_ERROR;
    snprintf(spec, sizeof spec, "%s:%s=%s", platform, key, value);
    enum hbg_status status = hbg_device_open(spec, &options, &device);
    if (!status) assert_int_equal(hbg_device_close(device), HBG_OK);
    return status;
}

static void try_option(const struct hbg_platform_info *info, const struct hbg_platform_option *option)
{
    struct hbg_error error;
    char beyond[sizeof option->values + 1];
    const char *range = strstr(option->values, "..");
    if (option->preset[0] && try_spec(info->name, option->key, option->preset, &error)) fail_msg("%s=%s: %s", option->key, option->preset, error.text);
    if (range) snprintf(beyond, sizeof beyond, "%s0", range + 2);
    else if (strcmp(option->values, "text")) snprintf(beyond, sizeof beyond, "neither");
    else return;
    if (try_spec(info->name, option->key, beyond, &error) != HBG_E_OPTION || strcmp(error.name, option->key))
        fail_msg("%s of %s is %s, and %s is taken: %s", option->key, info->name, option->values, beyond, error.text);
}

static void options_are_those_that_are_taken(void **state)
{
    struct hbg_platform_info info = HBG_OPTIONS(platform_info);
    uint32_t index = 0;
    (void)state;
    while (!hbg_platform_get(index, &info)) {
        assert_string_equal(info.why, "");
        assert_true(info.available && info.workers > 0 && info.depth > 0 && info.page_bytes > 0 && info.option_count > 0);
        assert_string_equal(hbg_platform_hardware(info.name), info.hardware);
        for (uint32_t i = 0; i < info.option_count; i++) {
            try_option(&info, &info.option[i]);
            if (!strcmp(info.option[i].key, "workers")) assert_int_equal(atoi(info.option[i].preset), info.workers);
            if (!strcmp(info.option[i].key, "depth")) assert_int_equal(atoi(info.option[i].preset), info.depth);
        }
        index++;
    }
    assert_true(index >= 2);
}

static void first_ones_have_names(void **state)
{
    struct hbg_platform_info info = HBG_OPTIONS(platform_info);
    (void)state;
    assert_int_equal(hbg_platform_get(0, &info), HBG_OK);
    assert_string_equal(info.name, "cpu");
    assert_int_equal(info.size, sizeof info);
    assert_int_equal(hbg_platform_get(1, &info), HBG_OK);
    assert_string_equal(info.name, "null");
    assert_string_equal(info.hardware, "cpu");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(options_are_those_that_are_taken), cmocka_unit_test(first_ones_have_names) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
