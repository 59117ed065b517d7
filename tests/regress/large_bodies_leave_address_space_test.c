/* SPDX-License-Identifier: Apache-2.0 */
/* large_bodies_leave_address_space_test.c - a definition of a large image kept all of the address space that its arena had reserved, gigabytes each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

enum { BODIES = 24, TASKS = 26000, SEVERAL_IMAGES = 64 << 20 };

static uint64_t address_space_bytes(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%llu", &pages), 1);
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < TASKS; i++) hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(1));
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    for (int32_t i = 0; i < *(const int32_t *)params; i++) hbg_subgraph(g, HBG_KEY("large", i), body, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void prepare(struct hbg_device *device, int32_t bodies)
{
    struct hbg_program *program = PROGRAM_WITH(device, build, steps, bodies);
    int32_t x[1] = { 0 };
    struct hbg_run run;
    assert_int_equal(hbg_run_prepare(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
}

static void images_alone(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    prepare(device, 2);
    uint64_t before = address_space_bytes();
    prepare(device, BODIES);
    uint64_t after = address_space_bytes();
    assert_true(after < before + (uint64_t)BODIES * SEVERAL_IMAGES);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(images_alone) };
    return DEVICE_TESTS_RUN(tests);
}
