/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - the devices that every behaviour test runs on.
 *
 * A graph means the same on every device, so a test is one function of an open device, run once for each kind below and named
 * after it: "readers_then_writer cpu:workers=2,memory=discrete". A test that fails names its device.
 */
#ifndef HBG_TEST_DEVICES_H
#define HBG_TEST_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hbg/hbg.h>

struct device_kind {
    const char *spec;
    int workers;
    bool discrete;
};
enum { DEVICE_KIND_COUNT = 6 };
extern const struct device_kind DEVICE_KINDS[DEVICE_KIND_COUNT];

/* A test over one open device. The device is closed after it, and that must work. */
struct device_test {
    const char *name;
    void (*run)(struct hbg_device *device, const struct device_kind *kind);
};
#define DEVICE_TEST(function) { #function, function }

/* The exit status of a test binary: each test on each kind of device, which is opened with `extra` behind its spec. */
int device_tests_run_with(const char *extra, const struct device_test *tests, size_t count);
#define DEVICE_TESTS_RUN(tests) device_tests_run_with("", (tests), sizeof(tests) / sizeof (tests)[0])

/* Open and close, or fail the test with the library's sentence. `options` may be NULL. With HBG_TEST_PLATFORM=sim:mode=few,seed=3 in the
   environment that stands in the place of "cpu": the tests of tests/backend whose kernels do not wait for one another hold there too. */
struct hbg_device *device_open(const char *spec, const struct hbg_device_options *options);
struct hbg_device *device_open_verifying(const char *spec, const struct hbg_device_options *options);     /* with HBG_VERIFY_REPLAY=1 */
void device_close(struct hbg_device *device);

/* `count`, made smaller where tests are slow: HBG_TEST_SCALE in the environment is a percentage; 20 under a sanitizer. At least 1. */
int test_scaled(int count);

/* The seed of this run: HBG_TEST_SEED in the environment, else `otherwise`. Tests that draw numbers print it when they fail. */
uint64_t test_seed(uint64_t otherwise);

uint64_t wall_ns(void);             /* monotonic */
uint64_t process_cpu_ns(void);      /* used by all threads of this process */
void sleep_ms(int milliseconds);

/* Counts in /proc/self; -1 where there is no such thing. */
int open_descriptor_count(void);
int thread_count(void);

/* The count of threads once it is `wanted`, or after 3 seconds: a thread that was joined is still listed for a moment. */
int settled_thread_count(int wanted);

long resident_pages(void);         /* of memory: pages of files come and go with what else the machine does */

#endif /* HBG_TEST_DEVICES_H */
