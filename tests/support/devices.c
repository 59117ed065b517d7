/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c - see devices.h. */
#include "support/devices.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

const struct device_kind DEVICE_KINDS[DEVICE_KIND_COUNT] = {
    { "cpu:workers=1,memory=unified", 1, false },
    { "cpu:workers=1,memory=discrete", 1, true },
    { "cpu:workers=2,memory=unified", 2, false },
    { "cpu:workers=2,memory=discrete", 2, true },
    { "cpu:workers=8,memory=unified", 8, false },
    { "cpu:workers=8,memory=discrete", 8, true },
};

/* The spec, or where HBG_TEST_PLATFORM is set and it begins with "cpu:", what stands there in its place: "sim:mode=few,seed=3". */
static const char *device_spec(const char *spec, char *text, size_t size)
{
    const char *platform = getenv("HBG_TEST_PLATFORM");
    if (!platform || strncmp(spec, "cpu:", 4) != 0) return spec;
    snprintf(text, size, "%s%c%s", platform, strchr(platform, ':') ? ',' : ':', spec + 4);
    return text;
}

struct hbg_device *device_open(const char *spec, const struct hbg_device_options *options)
{
    char text[256];
    spec = device_spec(spec, text, sizeof text);
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_device_options chosen = HBG_OPTIONS(device_options);
    if (options) chosen = *options;
    if (!chosen.error) chosen.error = &error;
    struct hbg_device *device = NULL;
    enum hbg_status status = hbg_device_open(spec, &chosen, &device);
    if (status != HBG_OK) fail_msg("%s does not open: %s: %s", spec, hbg_status_name(status), chosen.error->text);
    return device;
}

struct hbg_device *device_open_verifying(const char *spec, const struct hbg_device_options *options)
{
    setenv("HBG_VERIFY_REPLAY", "1", 1);
    struct hbg_device *device = device_open(spec, options);
    unsetenv("HBG_VERIFY_REPLAY");
    return device;
}

void device_close(struct hbg_device *device)
{
    enum hbg_status status = hbg_device_close(device);
    if (status != HBG_OK) fail_msg("the device does not close: %s", hbg_status_name(status));
}

/* ---- one cmocka test for each test and kind ---- */

struct device_case {
    const struct device_test *test;
    const struct device_kind *kind;
    char spec[160], name[256];
};

static void run_case(void **state)
{
    const struct device_case *one = *state;
    struct hbg_device *device = device_open(one->spec, NULL);
    one->test->run(device, one->kind);
    device_close(device);
}

int device_tests_run_with(const char *extra, const struct device_test *tests, size_t count)
{
    size_t all = count * DEVICE_KIND_COUNT;
    struct device_case *cases = calloc(all, sizeof *cases);
    struct CMUnitTest *units = calloc(all, sizeof *units);
    if (!cases || !units) abort();
    for (size_t i = 0; i < all; i++) {
        struct device_case *one = &cases[i];
        one->test = &tests[i / DEVICE_KIND_COUNT];
        one->kind = &DEVICE_KINDS[i % DEVICE_KIND_COUNT];
        snprintf(one->spec, sizeof one->spec, "%s%s", one->kind->spec, extra);
        snprintf(one->name, sizeof one->name, "%s %s", one->test->name, one->spec);
        units[i] = (struct CMUnitTest){ .name = one->name, .test_func = run_case, .initial_state = one };
    }
    int failed = _cmocka_run_group_tests("devices", units, all, NULL, NULL);
    free(units);
    free(cases);
    return failed;
}

/* ---- how far a test goes ---- */

int test_scaled(int count)
{
    const char *text = getenv("HBG_TEST_SCALE");
#ifdef HBG_SANITIZED
    long percent = 20;
#else
    long percent = 100;
#endif
    if (text) percent = strtol(text, NULL, 10);
    long scaled = count * percent / 100;
    return scaled < 1 ? 1 : (int)scaled;
}

uint64_t test_seed(uint64_t otherwise)
{
    const char *text = getenv("HBG_TEST_SEED");
    return text ? strtoull(text, NULL, 0) : otherwise;
}

static uint64_t clock_read(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t wall_ns(void) { return clock_read(CLOCK_MONOTONIC); }
uint64_t process_cpu_ns(void) { return clock_read(CLOCK_PROCESS_CPUTIME_ID); }

void sleep_ms(int milliseconds)
{
    struct timespec t = { milliseconds / 1000, milliseconds % 1000 * 1000000L };
    nanosleep(&t, NULL);
}

/* ---- /proc/self ---- */

static int entry_count(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) return -1;
    int count = 0;
    while (readdir(folder)) count++;
    closedir(folder);
    return count - 2;
}

int open_descriptor_count(void) { return entry_count("/proc/self/fd"); }
int thread_count(void) { return entry_count("/proc/self/task"); }

int settled_thread_count(int wanted)
{
    for (int i = 0; i < 600 && thread_count() != wanted; i++) sleep_ms(5);
    return thread_count();
}

long resident_pages(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kib = -1;
    if (!file) return -1;
    while (kib < 0 && fgets(line, sizeof line, file)) (void)!sscanf(line, "Anonymous: %ld kB", &kib);
    fclose(file);
    return kib < 0 ? -1 : kib * 1024 / sysconf(_SC_PAGESIZE);
}
