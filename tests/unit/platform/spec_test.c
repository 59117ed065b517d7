/* SPDX-License-Identifier: Apache-2.0 */
/* spec_test.c - specs of devices: every key, and every way to get one wrong. */
#include <hbg/device.h>

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "platform/platform.h"

static struct hbg_error opened(const char *spec)
{
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *device = NULL;
    options.error = &error;
    enum hbg_status status = hbg_device_open(spec, &options, &device);
    assert_int_equal(status, error.status);
    if (status) assert_null(device);
    else assert_int_equal(hbg_device_close(device), HBG_OK);
    return error;
}

static void opens(const char *spec)
{
    struct hbg_error error = opened(spec);
    if (error.status) fail_msg("%s: %s", spec, error.text);
}

static void refuses(const char *spec, enum hbg_status status, const char *name, const char *part)
{
    struct hbg_error error = opened(spec);
    if (error.status != status || !strstr(error.text, part)) fail_msg("%s: %s: %s", spec, hbg_status_name(error.status), error.text);
    assert_string_equal(error.name, name);
    assert_int_equal(error.argument, -1);
    assert_int_equal(error.task, UINT32_MAX);
}

static void good_specs(void **state)
{
    (void)state;
    opens("cpu");
    opens("null");
    opens("cpu:");
    opens("cpu:workers=3,memory=discrete,pin=1,spin_us=0,stall_ms=50,ring=64,spill=0,depth=1,poison=1");
    opens("null:workers=2,memory=unified,pin=0");
    opens("sim");
    opens("sim:workers=64,seed=18446744073709551615,mode=few,preemptions=8,memory=discrete,poison=1,spin_us=0,stall_ms=1,ring=2,spill=0,depth=1,check=1,patience=1000000");
    opens("sim:workers=1,mode=all,seed=77");
    opens("sim:workers=3,mode=round,stop_worker=2,stop_step=5,stop_us=10");
}

static void bad_specs(void **state)
{
    (void)state;
    refuses("sim:workers=65", HBG_E_OPTION, "workers", "64");
    refuses("sim:mode=rand", HBG_E_OPTION, "mode", "random");
    refuses("sim:ring=3", HBG_E_OPTION, "ring", "power of two");
    refuses("sim:depth=17", HBG_E_OPTION, "depth", "16");
    refuses("sim:depth=2,poison=1", HBG_E_OPTION, "depth", "poison");
    refuses("sim:workers=2,stop_worker=2", HBG_E_OPTION, "stop_worker", "2 workers");
    refuses("sim:workers=2,fail_thread=2", HBG_E_DEVICE, "workers", "worker thread 1 of 2");
    refuses("sim:fail_stream=1", HBG_E_DEVICE, "streams", "bootstrap");
    refuses("cpu:worker=2", HBG_E_OPTION, "worker", "\"workers\"");
    refuses("cpu:memroy=discrete", HBG_E_OPTION, "memroy", "\"memory\"");
    refuses("cpu:colour=red", HBG_E_OPTION, "colour", "colour");
    refuses("cpu:workers=0", HBG_E_OPTION, "workers", "workers");
    refuses("cpu:workers=1025", HBG_E_OPTION, "workers", "1024");
    refuses("cpu:workers=two", HBG_E_OPTION, "workers", "two");
    refuses("cpu:workers=2,workers=3", HBG_E_OPTION, "workers", "workers");
    refuses("cpu:memory=shared", HBG_E_OPTION, "memory", "shared");
    refuses("cpu:pin=maybe", HBG_E_OPTION, "pin", "maybe");
    refuses("cpu:ring=48", HBG_E_OPTION, "ring", "power of two");
    refuses("cpu:depth=17", HBG_E_OPTION, "depth", "16");
    refuses("cpu:depth=2,poison=1", HBG_E_OPTION, "depth", "poison");
    refuses("cup", HBG_E_OPTION, "cup", "did you mean \"cpu\"");
    refuses("cuda", HBG_E_OPTION, "cuda", "no device");
    refuses("", HBG_E_OPTION, "", "no device");
}

static void missing_arguments(void **state)
{
    struct hbg_device *device = NULL;
    struct hbg_device_options small = { .size = 8 }, half = HBG_OPTIONS(device_options);
    (void)state;
    assert_int_equal(hbg_device_open(NULL, NULL, &device), HBG_E_NULL);
    assert_int_equal(hbg_device_open("cpu", NULL, NULL), HBG_E_NULL);
    assert_int_equal(hbg_device_open("cpu", &small, &device), HBG_E_ABI);
    half.allocator.alloc = (void *(*)(void *, size_t, size_t))(uintptr_t)1;
    assert_int_equal(hbg_device_open("cpu", &half, &device), HBG_E_OPTION);
    assert_null(device);
}

/* A back end says what it has; what is too little for the runs in flight is named at open. */
static void resources_are_declared(void **state)
{
    static const struct hbg__resource one_bank[] = { { "queues", HBG__RESOURCE_SCRATCH, 1 }, { "bank", HBG__RESOURCE_PER_RUN, 1 }, { NULL, HBG__RESOURCE_CLASSES, 0 } };
    static const struct hbg__resource nobodys[] = { { "heap", HBG__RESOURCE_CLASSES, 1 }, { NULL, HBG__RESOURCE_CLASSES, 0 } };
    static const struct hbg__platform_ops *const all[] = { &hbg__cpu_ops, &hbg__null_ops, &hbg__sim_ops };
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg__platform_ops ops;
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) assert_int_equal(hbg__platform_check(all[i], 16, &error), HBG_OK);
    ops = hbg__cpu_ops;
    ops.resources = one_bank;
    assert_int_equal(hbg__platform_check(&ops, 1, &error), HBG_OK);
    assert_int_equal(hbg__platform_check(&ops, 2, &error), HBG_E_DEVICE);
    assert_string_equal(error.name, "bank");
    ops.resources = nobodys;
    assert_int_equal(hbg__platform_check(&ops, 1, &error), HBG_E_DEVICE);
    assert_string_equal(error.name, "heap");
    ops = hbg__cpu_ops;
    ops.abort = NULL;
    assert_int_equal(hbg__platform_check(&ops, 1, &error), HBG_E_DEVICE);
    assert_string_equal(error.name, "abort");
    ops = hbg__cpu_ops;
    ops.progress = NULL;                /* one that it may lack */
    assert_int_equal(hbg__platform_check(&ops, 1, &error), HBG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_specs),
        cmocka_unit_test(bad_specs),
        cmocka_unit_test(missing_arguments), cmocka_unit_test(resources_are_declared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
