/* SPDX-License-Identifier: Apache-2.0 */
/* A body may know the same bytes as an argument, as a region that it captures and as a buffer that it names. What it wrote by one of these names and read
 * by another with hbg_read was read as it was before the run; so was what it wrote and read in a manual scope, what a body inside knew as two
 * arguments, and what a replay was given in the place of an argument that had been read where it was no other's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"
#include "support/steps.h"

enum name { ARGUMENT, CAPTURE, BUFFER, NAMES };
enum { CELLS = 4 };

static struct hbg_buffer *buffer;
static struct hbg_region of_build;
static struct way { enum name written, read; int64_t written_at, read_at; bool manual, nested; } way;

static struct hbg_region region_of(enum name name, const struct hbg_args *args, int64_t at)
{
    struct hbg_region all = name == ARGUMENT ? hbg_args_region(args, 0) : name == CAPTURE ? of_build : hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(CELLS));
    return hbg_slice(all, 0, at, at + 1);
}

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    if (way.manual) hbg_scope_begin(g, HBG_SCOPE_MANUAL);
    hbg_submit(g, ADD, hbg_inout(region_of(way.written, args, way.written_at)), hbg_i32(1));
    int32_t read = hbg_read_i32(g, region_of(way.read, args, way.read_at), HBG_SHAPE(0));
    if (way.manual) hbg_scope_end(g);
    hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 1)), hbg_i32(read));
}

static void around(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, KEY("body"), body, HBG_ARGS(hbg_inout(hbg_slice(hbg_args_region(args, 0), 0, 0, CELLS)), hbg_inout(hbg_args_region(args, 1))));
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    of_build = hbg_args_region(args, 0);
    hbg_subgraph(g, KEY("body"), way.nested ? around : body, HBG_ARGS(hbg_inout(of_build), hbg_inout(hbg_args_region(args, 1))));
}

static void open_buffer(struct hbg_device *device)
{
    static const int32_t start[CELLS] = { 5, 6, 7, 8 };
    assert_int_equal(hbg_buffer_create(device, sizeof start, &buffer), HBG_OK);
    assert_int_equal(hbg_buffer_write(buffer, 0, start, sizeof start), HBG_OK);
}

static void what_is_written_is_refused(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    open_buffer(device);
    for (int i = 0; i < NAMES * NAMES * 4; i++) {
        int32_t sum[1] = { 0 };
        way = (struct way){ .written = i / NAMES % NAMES, .read = i % NAMES, .written_at = 1, .read_at = 1, .manual = i / (NAMES * NAMES) % 2, .nested = i / (NAMES * NAMES) / 2 };
        if (way.read == BUFFER) continue;                   /* which build code may not read */
        struct hbg_program *program = PROGRAM(device, build, steps);
        for (int run = 0; run < 2; run++)
            (void)program_run_fails(program, HBG_ARGS(hbg_inout(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(CELLS))), hbg_inout(HOST_I32(sum, 1))), HBG_E_WRITTEN);
        hbg_program_destroy(program);
    }
    hbg_buffer_destroy(buffer);
}

/* An argument of the run and a region that the body captures are compared byte by byte, and those of other storages not at all. */
static void what_lies_beside_is_read(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    way = (struct way){ .written = ARGUMENT, .read = CAPTURE, .read_at = 2 };
    int32_t x[CELLS] = { 1, 2, 3, 4 }, sum[1] = { 0 };
    struct hbg_program *program = PROGRAM(device, build, steps);
    (void)program_run_fails(program, HBG_ARGS(hbg_inout(HOST_I32(x, CELLS)), hbg_inout(HOST_I32(sum, 1))), HBG_E_WRITTEN);     /* all of the list's region may be written */
    hbg_program_destroy(program);
    open_buffer(device);
    way = (struct way){ .written = BUFFER, .read = ARGUMENT, .written_at = 2, .read_at = 2 };
    program = PROGRAM(device, build, steps);
    for (int run = 0; run < 2; run++) program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, CELLS)), hbg_inout(HOST_I32(sum, 1))), NULL, NULL);
    assert_int_equal(sum[0], 2 * 3);
    hbg_program_destroy(program);
    hbg_buffer_destroy(buffer);
}

/* ---- two arguments of a body inside ---- */

/* (inout y, in x, inout sum) */
static void writes_one_and_reads_the_other(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(AT(hbg_args_region(args, 0), 1)), hbg_i32(1));
    hbg_submit(g, ADD, hbg_inout(AT(hbg_args_region(args, 2), 0)), hbg_i32(hbg_read_i32(g, hbg_args_region(args, 1), HBG_SHAPE(1))));
}

static void gives_both_names(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region other = way.written == CAPTURE ? of_build : hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(CELLS));
    hbg_subgraph(g, KEY("two"), writes_one_and_reads_the_other, HBG_ARGS(hbg_inout(other), hbg_in(hbg_args_region(args, 0)), hbg_inout(hbg_args_region(args, 1))));
}

static void build_two(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    of_build = hbg_args_region(args, 0);
    hbg_subgraph(g, KEY("both"), gives_both_names, HBG_ARGS(hbg_inout(of_build), hbg_inout(hbg_args_region(args, 1))));
}

static void two_arguments_may_be_the_same(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    open_buffer(device);
    for (way.written = CAPTURE; way.written <= BUFFER; way.written++) {
        int32_t sum[1] = { 0 };
        struct hbg_program *program = PROGRAM(device, build_two, steps);
        for (int run = 0; run < 2; run++)
            (void)program_run_fails(program, HBG_ARGS(hbg_inout(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(CELLS))), hbg_inout(HOST_I32(sum, 1))), HBG_E_WRITTEN);
        hbg_program_destroy(program);
    }
    hbg_buffer_destroy(buffer);
}

/* ---- another argument for a definition that has read ---- */

static int turn;

static void writes_buffer_and_reads(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(1))), hbg_i32(1));
    hbg_submit(g, ADD, hbg_inout(AT(hbg_args_region(args, 1), 0)), hbg_i32(hbg_read_i32(g, hbg_args_region(args, 0), HBG_SHAPE(0))));
}

/* What it captures makes it one whose tasks follow one another. */
static void gives_one_or_the_other(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(AT(of_build, 0)), hbg_i32(1));
    hbg_subgraph(g, KEY("reads"), writes_buffer_and_reads, HBG_ARGS(hbg_in(hbg_args_region(args, turn ? 1 : 0)), hbg_inout(hbg_args_region(args, 2))));
}

static void build_turns(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    of_build = hbg_args_region(args, 3);
    hbg_subgraph(g, HBG_KEY("turns", turn), gives_one_or_the_other,
                 HBG_ARGS(hbg_in(hbg_args_region(args, 0)), hbg_in(hbg_args_region(args, 1)), hbg_inout(hbg_args_region(args, 2))));
}

static void what_was_read_may_be_the_buffer_next_time(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    open_buffer(device);
    struct hbg_program *program = PROGRAM(device, build_turns, steps);
    int32_t x[CELLS] = { 5 }, sum[1] = { 0 }, other[1] = { 0 };          /* what the buffer holds as well */
    struct hbg_arg_list list = HBG_ARGS(hbg_in(HOST_I32(x, CELLS)), hbg_in(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(CELLS))), hbg_inout(HOST_I32(sum, 1)), hbg_inout(HOST_I32(other, 1)));
    turn = 0;
    program_run(program, list, NULL, NULL);
    assert_int_equal(sum[0], 5);
    int32_t five = 5;
    for (turn = 1; turn < 3; turn++) {
        assert_int_equal(hbg_buffer_write(buffer, 0, &five, sizeof five), HBG_OK);
        (void)program_run_fails(program, list, HBG_E_WRITTEN);
    }
    hbg_program_destroy(program);
    hbg_buffer_destroy(buffer);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(what_is_written_is_refused), DEVICE_TEST(what_lies_beside_is_read), DEVICE_TEST(two_arguments_may_be_the_same),
        DEVICE_TEST(what_was_read_may_be_the_buffer_next_time),
    };
    return DEVICE_TESTS_RUN(tests);
}
