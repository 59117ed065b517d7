/* SPDX-License-Identifier: Apache-2.0 */
/* A body in place was given a region of a device buffer as the buffer's own. A body inside that used it without having it in its list was
   kept as one that names the buffer, and the next body around, with another buffer, got its definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

enum { BUFFERS = 3 };

static struct hbg_buffer *buffer[BUFFERS];
static struct hbg_region of_build, of_body;

static void inner_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_submit(g, ADD, hbg_inout(of_body), hbg_i32(1));
}

/* The first of its key captures, so that the others are submitted in place. */
static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    if (hbg_args_get_i32(args, 1)) {
        hbg_submit(g, ADD, hbg_inout(of_build), hbg_i32(1));
        return;
    }
    of_body = hbg_args_region(args, 0);
    hbg_subgraph(g, KEY("inner"), inner_body, HBG_NO_ARGS);
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    of_build = hbg_args_region(args, 0);
    hbg_subgraph(g, KEY("body"), body, HBG_ARGS(hbg_inout(of_build), hbg_i32(1)));
    for (int i = 0; i < BUFFERS; i++) hbg_subgraph(g, KEY("body"), body, HBG_ARGS(hbg_inout(hbg_buffer_region(buffer[i], 4, HBG_I32, HBG_SHAPE(1))), hbg_i32(0)));
}

static void each_gets_its_own_buffer(struct hbg_device *device, const struct device_kind *kind)
{
    static const int32_t zero[2];
    (void)kind;
    for (int i = 0; i < BUFFERS; i++) {
        assert_int_equal(hbg_buffer_create(device, sizeof zero, &buffer[i]), HBG_OK);
        assert_int_equal(hbg_buffer_write(buffer[i], 0, zero, sizeof zero), HBG_OK);
    }
    struct hbg_program *program = PROGRAM(device, build, steps);
    for (int32_t run = 1; run <= 2; run++) {
        int32_t x[1] = { 0 }, y[2];
        program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
        assert_int_equal(x[0], 1);
        for (int i = 0; i < BUFFERS; i++) {
            assert_int_equal(hbg_buffer_read(buffer[i], 0, y, sizeof y), HBG_OK);
            assert_int_equal(y[0], 0);
            assert_int_equal(y[1], run);
        }
    }
    hbg_program_destroy(program);
    for (int i = 0; i < BUFFERS; i++) hbg_buffer_destroy(buffer[i]);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(each_gets_its_own_buffer) };
    return DEVICE_TESTS_RUN(tests);
}
