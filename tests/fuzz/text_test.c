/* SPDX-License-Identifier: Apache-2.0 */
/* text_test.c - damaged device specs, signatures and tables: each is taken, or refused with a sentence, and nothing else happens.
 *
 * The seeds are good texts; HBG_TEST_SEED and HBG_TEST_SCALE choose other damage and more of it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/mutate.h"
#include "workloads/gp/csv.h"

enum { CAPACITY = 2048, ROUNDS = 20000 };

/* A damaged copy of one of the seeds, as a string. */
static const char *damaged(const char *const *seed, size_t seed_count, const char *const *words, struct hbg__rng *rng, char *text)
{
    const char *from = seed[hbg__rng_below(rng, seed_count)];
    size_t size = strlen(from);
    memcpy(text, from, size);
    size = mutate((unsigned char *)text, size, CAPACITY - 1, words, rng);
    text[size] = '\0';
    return text;
}

static struct hbg__rng random_numbers(uint64_t otherwise)
{
    struct hbg__rng rng;
    hbg__rng_seed(&rng, test_seed(otherwise));
    return rng;
}

static bool is_sentence(const char *text) { return strlen(text) >= 8 && strlen(text) < sizeof ((struct hbg_error *)0)->text; }

/* Few workers: a good spec opens a device. */
static void specs(void **state)
{
    static const char *const seed[] = { "cpu", "null:workers=2", "cpu:workers=1,memory=discrete,pin=0,spin_us=5,stall_ms=50,ring=64,spill=1,depth=1",
                                        "null:workers=1,memory=unified,poison=0", "cpu:workers=3,poison=1" };
    static const char *const words[] = { "cpu", "null", ":", ",", "=", "workers", "memory", "discrete", "-1", "0", "1k", "99999999999999999999", "%n%s", "\"", "\\",
                                         "stall_ms", "ring", "1e9", "on", "0x10", " ", "\t", NULL };
    struct hbg__rng rng = random_numbers(1);
    char text[CAPACITY];
    int taken = 0;
    (void)state;
    for (int i = 0, rounds = test_scaled(ROUNDS); i < rounds; i++) {
        struct hbg_error error = HBG_OPTIONS(error);
        struct hbg_device_options options = HBG_OPTIONS(device_options);
        struct hbg_device *device = NULL;
        options.error = &error;
        enum hbg_status status = hbg_device_open(damaged(seed, sizeof seed / sizeof *seed, words, &rng, text), &options, &device);
        if (status && (device || error.status != status || !is_sentence(error.text))) fail_msg("\"%s\": %s: %s", text, hbg_status_name(status), error.text);
        if (status) continue;
        taken++;
        assert_int_equal(hbg_device_close(device), HBG_OK);
    }
    assert_in_range(taken, 1, ROUNDS - 1);
}

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)g;
    (void)args;
    (void)params;
}

static void signatures(void **state)
{
    static const char *const seed[] = { "", "in f32", "in f32, inout f32, f32", "out record[18], bytes[24], any", "untracked any, bool, i64, in bf16", "bytes" };
    static const char *const words[] = { "in", "out", "inout", "untracked", "accumulate", " ", ",", "record[", "]", "4096", "0", "-1", "any", "f64", "bytes", "[", "%s", "\n", NULL };
    struct hbg_device *device = device_open("null:workers=1", NULL);
    struct hbg__rng rng = random_numbers(2);
    char text[CAPACITY];
    int taken = 0;
    (void)state;
    for (int i = 0, rounds = test_scaled(ROUNDS); i < rounds; i++) {
        struct hbg_error error = HBG_OPTIONS(error);
        struct hbg_program_options options = HBG_OPTIONS(program_options);
        struct hbg_kernel kernel = HBG_KERNEL(0, nothing, NULL);
        struct hbg_program *program = NULL;
        damaged(seed, sizeof seed / sizeof *seed, words, &rng, text);
        if (i % 2) options.boundary = text;
        else kernel.signature = text;
        options.build = build;
        options.kernels = &kernel;
        options.kernel_count = 1;
        options.error = &error;
        enum hbg_status status = hbg_program_create(device, &options, &program);
        if (status && (program || status != HBG_E_SIGNATURE || !is_sentence(error.text))) fail_msg("\"%s\": %s: %s", text, hbg_status_name(status), error.text);
        taken += !status;
        hbg_program_destroy(program);
    }
    assert_in_range(taken, 1, ROUNDS - 1);
    device_close(device);
}

static void tables(void **state)
{
    static const char *const seed[] = { "t,v\n1,2\n3,4\n5.5,-6e3\n", "\"time, in years\",\"a \"\"b\"\"\",c\r\n1958.2,315.7,0\r\n1958.3,317.45,1\r\n", "x,y\n1,2\n3,4" };
    static const char *const words[] = { ",", "\"", "\"\"", "\n", "\r\n", "nan", "inf", "1e999", "-", "0x1p3", "\xef\xbb\xbf", " ", "1,2\n", NULL };
    struct hbg__rng rng = random_numbers(3);
    char text[CAPACITY];
    int taken = 0;
    (void)state;
    for (int i = 0, rounds = test_scaled(ROUNDS); i < rounds; i++) {
        struct csv_columns columns;
        const char *from = seed[hbg__rng_below(&rng, sizeof seed / sizeof *seed)];
        size_t size = strlen(from);
        memcpy(text, from, size);
        size = mutate((unsigned char *)text, size, CAPACITY, words, &rng);      /* zeros inside, too */
        FILE *file = size ? fmemopen(text, size, "r") : fopen("/dev/null", "r");
        assert_non_null(file);
        if (hbg__csv_read(file, i % 3 ? "" : "x", i % 3 ? "" : "v", &columns)) {
            assert_true(columns.rows >= 2);
            for (int64_t row = 0; row < columns.rows; row++)
                if (!(columns.x[row] - columns.x[row] == 0 && columns.y[row] - columns.y[row] == 0)) fail_msg("row %lld is no number", (long long)row);
            hbg__csv_release(&columns);
            taken++;
        } else if (!is_sentence(columns.error)) {
            fail_msg("refused without a sentence: \"%s\"", columns.error);
        }
        fclose(file);
    }
    assert_in_range(taken, 1, ROUNDS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(specs), cmocka_unit_test(signatures), cmocka_unit_test(tables) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
