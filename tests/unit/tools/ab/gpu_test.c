/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nvidia-smi prints, as its manual has it and as it does not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <math.h>

#include "base/rng.h"
#include "tools/ab/gpu.h"

enum { ROOM = 8 };

static void rows(void **state)
{
    struct ab_gpu_row row[ROOM];
    (void)state;

    assert_int_equal(hbg__ab_gpu_read("0, GPU-5f3b, 1980, 2619, 119.45, 41, 0x0000000000000004\n1, GPU-77aa, 345, 405, 9.87, 35, 0x0000000000000001\n", row, ROOM), 2);
    assert_true(row[0].gpu.index == 0 && row[0].gpu.sm_mhz == 1980 && row[0].gpu.memory_mhz == 2619 && row[0].gpu.watts == 119.45 && row[0].gpu.celsius == 41);
    assert_true(row[0].gpu.throttle == 4 && row[1].gpu.throttle == 1 && row[1].gpu.index == 1 && isnan(row[1].gpu.others));
    assert_string_equal(row[1].uuid, "GPU-77aa");
    assert_int_equal(hbg__ab_gpu_read("3,GPU-1,[N/A],[Not Supported],N/A,[Unknown Error],[N/A]\r\n", row, ROOM), 1);
    assert_true(row[0].gpu.index == 3 && isnan(row[0].gpu.sm_mhz) && isnan(row[0].gpu.memory_mhz) && isnan(row[0].gpu.watts) && isnan(row[0].gpu.celsius) && isnan(row[0].gpu.throttle));
    assert_int_equal(hbg__ab_gpu_read("0, GPU-1, 1 MHz, -5, inf, nan, Active", row, ROOM), 1);
    assert_true(isnan(row[0].gpu.sm_mhz) && isnan(row[0].gpu.memory_mhz) && isnan(row[0].gpu.watts) && isnan(row[0].gpu.celsius) && isnan(row[0].gpu.throttle));
    assert_int_equal(hbg__ab_gpu_read("0, GPU-1, 1, 1, 1, 1, 0x8000000000000008", row, ROOM), 1);
    assert_true(row[0].gpu.throttle > 0x1p53);
    assert_int_equal(hbg__ab_gpu_read("0, GPU-1, 1, 1, 1, 1, 0\n1, GPU-2, 1, 1, 1, 1, 0", row, 1), 1);
}

static void no_rows(void **state)
{
    static const char *const text[] = {
        "", "\n\n", ",,,,,,", "No devices were found\n", "0, GPU-1, 1, 1, 1, 1\n", "0, GPU-1, 1, 1, 1, 1, 0x0, more\n", "x, GPU-1, 1, 1, 1, 1, 0x0\n", "0.5, GPU-1, 1, 1, 1, 1, 0x0\n",
        "-1, GPU-1, 1, 1, 1, 1, 0x0\n", "0, [N/A], 1, 1, 1, 1, 0x0\n", "Unable to determine the device handle for GPU0: 0000:01:00.0: Unknown Error\n",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n\n",
        "index, uuid, clocks.current.sm [MHz], clocks.current.memory [MHz], power.draw [W], temperature.gpu, clocks_throttle_reasons.active\n",
    };
    struct ab_gpu_row row[ROOM];
    (void)state;

    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        assert_int_equal(hbg__ab_gpu_read(text[i], row, ROOM), 0);
}

static void processes(void **state)
{
    struct ab_gpu_row row[2];
    struct ab_facts holders = { NULL, 0 };
    char text[256];
    (void)state;

    assert_int_equal(hbg__ab_gpu_read("0, GPU-a, 1, 1, 1, 1, 0x0\n1, GPU-b, 1, 1, 1, 1, 0x0\n", row, 2), 2);
    snprintf(text, sizeof text, "%ld, GPU-b, 512\n999999999, GPU-b, [N/A]\n5, GPU-c, 1\nfive, GPU-a, 1\n5\n, ,\nNo running processes found\n", (long)getpid());
    assert_true(hbg__ab_gpu_read_processes(text, row, 2, &holders));
    assert_true(row[0].gpu.others == 0 && row[0].gpu.others_mib == 0 && row[1].gpu.others == 2 && row[1].gpu.others_mib == 512);
    assert_int_equal(holders.count, 2);
    assert_string_equal(holders.fact[0].name, "GPU 1");
    assert_non_null(strstr(holders.fact[0].value, ", 512 MiB: "));
    assert_string_equal(holders.fact[1].value, "process 999999999");
    assert_true(hbg__ab_gpu_read_processes("", row, 2, NULL));
    assert_true(row[1].gpu.others == 0);
    hbg__ab_facts_free(&holders);
}

/* Any bytes: nothing is read beside the text, and no row is more than its text says. */
static void garbage(void **state)
{
    static const char letters[] = "0123456789,,,,,,,,..xX-GPUabcef[]N/A \t\r\n\n%";
    struct ab_gpu_row row[ROOM];
    struct hbg__rng rng;
    char text[512];
    (void)state;

    hbg__rng_seed(&rng, 1);
    for (int i = 0; i < 20000; i++) {
        size_t length = (size_t)hbg__rng_below(&rng, sizeof text - 1), count;

        for (size_t k = 0; k < length; k++)
            text[k] = i % 2 ? letters[hbg__rng_below(&rng, sizeof letters - 1)] : (char)(1 + hbg__rng_below(&rng, 255));
        text[length] = '\0';
        count = hbg__ab_gpu_read(text, row, ROOM);
        assert_true(count <= ROOM && hbg__ab_gpu_read_processes(text, row, count, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rows), cmocka_unit_test(no_rows), cmocka_unit_test(processes), cmocka_unit_test(garbage) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
