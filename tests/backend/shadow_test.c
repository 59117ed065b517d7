/* SPDX-License-Identifier: Apache-2.0 */
/* shadow_test.c - on poisoned devices: each task is computed by the build as well, on memory of its own, when it is submitted.
 *
 * Values and order must be those of the shadows (support/shadow.h). The graph goes where the one of poison_test.c does not:
 * arguments that overlap, strided views, buffers that come in twice, pieces of the heap, scopes within barriers and the other way
 * round, long lists. Between its runs a build is given up in the middle, so that nothing it left is taken for the next one's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "image/layout.h"
#include "run/device.h"
#include "run/run.h"
#include "support/devices.h"
#include "support/program.h"
#include "support/shadow.h"

enum { SCOPES = 3000, HEAP_BYTES = 768 };

/* Host memory of the arguments, its shadow, and a device buffer with its own. `line` comes in as two arguments that overlap. */
struct memory { int32_t grid[48], line[30], bank[8]; };
static struct memory real, shadow;
static struct hbg_buffer *buffer;

/* Two of these see each other, where two workers run. */
static atomic_int meeting;
static int meet(const struct hbg_task_view *t)
{
    uint64_t started_ns = wall_ns();
    (void)t;
    atomic_fetch_add(&meeting, 1);
    while (atomic_load(&meeting) < 2) {
        if (wall_ns() - started_ns > UINT64_C(20000000000)) return 1;
    }
    return 0;
}

static const struct hbg_kernel meeting_kernels[] = { HBG_KERNEL(0, meet, NULL) };

/* ---- the graph ---- */

enum { ARG_GRID, ARG_LOW, ARG_HIGH, ARG_NONE, ARG_BANK, ARG_BANK_END, ARG_SCALAR, ARGS, BASES = 3 + ARGS + 1 };

static struct hbg_arg_list boundary(struct hbg_arg *arg, uint32_t scalar)
{
    struct hbg_region bank = hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(8));
    arg[ARG_GRID] = hbg_inout(hbg_host(real.grid, HBG_I32, HBG_SHAPE(6, 8)));
    arg[ARG_LOW] = hbg_inout(hbg_host(real.line, HBG_I32, HBG_SHAPE(20)));
    arg[ARG_HIGH] = hbg_inout(hbg_host(real.line + 10, HBG_I32, HBG_SHAPE(20)));
    arg[ARG_NONE] = hbg_inout(hbg_host(real.line, HBG_I32, HBG_SHAPE(0)));
    arg[ARG_BANK] = hbg_inout(hbg_slice(bank, 0, 2, 6));
    arg[ARG_BANK_END] = hbg_inout(hbg_slice(bank, 0, 4, 8));
    arg[ARG_SCALAR] = hbg_u32(scalar);
    return (struct hbg_arg_list){ arg, ARGS };
}

static struct both argument(const struct hbg_args *args, int i, int32_t *at, struct hbg_shape shape)
{
    return (struct both){ hbg_args_region(args, i), hbg_host(at, HBG_I32, shape) };
}

static void views(struct hbg_graph *g, struct both grid, struct both low, struct both high)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            SHADOW_PUT(g, both_cell(grid, HBG_SHAPE(2, 4), HBG_SHAPE(i, j)), (uint32_t)(i * 2 + j), both_cell(grid, HBG_SHAPE(2, 4), HBG_SHAPE(2 - i, 1 - j)));
    SHADOW_PUT(g, both_slice(low, 0, 3, 15), 1, both_turned(grid));
    SHADOW_PUT(g, both_slice(high, 0, 0, 5), 2, both_slice(low, 0, 0, 8));
    SHADOW_PUT(g, both_slice(low, 0, 12, 20), 3, both_slice(high, 0, 5, 20));
    SHADOW_PUT(g, both_turned(both_slice(both_slice(grid, 0, 1, 4), 1, 2, 5)), 4, high, both_slice(grid, 1, 7, 8));
    SHADOW_PUT(g, both_slice(grid, 1, 3, 4), 5, both_slice(low, 0, 0, 1));
}

/* More arguments than fit the short way; each has a layout that comes into the image in the middle of them. */
static void long_list(struct hbg_graph *g, struct both low, struct both high)
{
    struct both input[10];
    for (int i = 0; i < 10; i++) input[i] = both_slice(i % 2 ? low : high, 0, i / 2, 9 + i);
    shadow_put(g, both_slice(low, 0, 0, 2), 6, input, 10);
}

/* Of an empty region nothing is read or written, so it orders nobody. */
static struct hbg_task after_nobody, after_nobody_either;
static void empty(struct hbg_graph *g, struct both none)
{
    struct both nothing = both_alloc(g, HBG_SHAPE(0, 3));
    SHADOW_PUT(g, nothing, 1, none);
    after_nobody = SHADOW_PUT(g, none, 2, nothing);
    after_nobody_either = SHADOW_PUT(g, nothing, 3, none);
}

/* Each after the one before and after nobody else: who wrote a region, who read it, and who wrote it again. */
enum { CHAIN = 6 };
static uint32_t chain[4][CHAIN];
static void history(struct hbg_graph *g, struct both b, struct both *sinks, uint32_t *ids)
{
    for (int i = 0; i < CHAIN; i++) ids[i] = (i % 2 ? SHADOW_PUT(g, sinks[i / 2], 30, b) : shadow_put(g, b, 31, NULL, 0)).id;
}

/* All of an intermediate, and a cell of one; and three cells that are read in another order than they were written in. */
static uint32_t apart[4];
static void histories(struct hbg_graph *g)
{
    struct both whole = both_alloc(g, HBG_SHAPE(4)), cells = both_alloc(g, HBG_SHAPE(8)), sink = both_alloc(g, HBG_SHAPE(16)), sinks[3], at[3];
    for (int k = 0; k < 3; k++) at[k] = both_cell(cells, HBG_SHAPE(2), HBG_SHAPE(k));
    for (int round = 0; round < 4; round++) {
        for (int k = 0; k < 3; k++) sinks[k] = both_cell(sink, HBG_SHAPE(1), HBG_SHAPE(round * 3 + k));
        history(g, round % 2 ? at[round / 2] : whole, sinks, chain[round]);
    }
    for (int k = 0; k < 3; k++) apart[k] = shadow_put(g, at[k], 32, NULL, 0).id;
    apart[3] = SHADOW_PUT(g, both_cell(sink, HBG_SHAPE(1), HBG_SHAPE(12)), 33, at[1], at[2], at[0]).id;
}

static void check_histories(const struct edges *edges)
{
    for (int round = 0; round < 4; round++)
        for (int i = 1; i < CHAIN; i++) {
            assert_true(edges_have(edges, chain[round][i - 1], chain[round][i]));
            assert_int_equal(edges_into(edges, chain[round][i]), 1);
        }
    assert_int_equal(edges_into(edges, apart[3]), 3);
    for (int k = 0; k < 3; k++) assert_true(edges_have(edges, apart[k], apart[3]));
}

/* All of an argument that overlaps another one, whose end it does not reach. */
static uint32_t beside[2];
static void overlap(struct hbg_graph *g, struct both low, struct both high)
{
    struct both sink = both_alloc(g, HBG_SHAPE(2));
    beside[0] = shadow_put(g, low, 34, NULL, 0).id;
    beside[1] = SHADOW_PUT(g, sink, 35, both_slice(high, 0, 12, 20)).id;
    SHADOW_PUT(g, sink, 36, both_slice(high, 0, 8, 20));
}

/* Pieces of the heap: of one scope each, side by side, one for two, two for one, and after a barrier. */
static uint32_t tenant[2];              /* of the last of the pieces, and of all of them together */
static void heap(struct hbg_graph *g, struct both grid, struct both low)
{
    struct both a, b;
    for (int i = 0; i < 4; i++) {
        hbg_scope_begin(g, HBG_SCOPE_AUTO);
        a = both_alloc(g, HBG_SHAPE(3, 5));
        b = both_alloc(g, HBG_SHAPE(16));
        SHADOW_PUT(g, a, 7, both_slice(grid, 0, i, i + 1));
        SHADOW_PUT(g, both_cell(b, HBG_SHAPE(4), HBG_SHAPE(i)), 8, both_cell(a, HBG_SHAPE(1, 5), HBG_SHAPE(i % 3, 0)));
        for (int k = 0; k < 4; k++) {
            if (k != i) SHADOW_PUT(g, both_cell(b, HBG_SHAPE(4), HBG_SHAPE(k)), 9, both_slice(a, 1, k, k + 2), both_cell(b, HBG_SHAPE(4), HBG_SHAPE(i)));
        }
        SHADOW_PUT(g, both_slice(grid, 0, i, i + 1), 10, both_turned(a), b);
        if (i == 1) hbg_barrier(g);
        hbg_scope_end(g);
    }
    hbg_barrier(g);
    hbg_alloc(g, HBG_I32, HBG_SHAPE(16));                               /* for good, out of the piece that is free: the rest is small */
    for (int i = 0; i < SCOPES; i++) {
        hbg_scope_begin(g, HBG_SCOPE_AUTO);
        if (i == SCOPES - 1) tenant[0] = shadow_put(g, both_alloc(g, HBG_SHAPE(30)), 40, NULL, 0).id;
        else hbg_alloc(g, HBG_I32, HBG_SHAPE(30));                           /* used by nobody, and so many that the list of pieces moves up */
        hbg_scope_begin(g, HBG_SCOPE_AUTO);
        hbg_alloc(g, HBG_I32, HBG_SHAPE(30));                           /* ends before the other one */
        hbg_scope_end(g);
        hbg_scope_end(g);
    }
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    a = both_alloc(g, HBG_SHAPE(80));                                        /* all pieces are merged for it */
    tenant[1] = SHADOW_PUT(g, a, 11, both_slice(grid, 0, 5, 6)).id;
    SHADOW_PUT(g, both_slice(low, 0, 16, 20), 12, a);
    hbg_scope_end(g);
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    struct both piece[5];                                               /* and cut again */
    for (int i = 0; i < 5; i++) piece[i] = both_alloc(g, i % 2 ? HBG_SHAPE(16) : HBG_SHAPE(4, 4));
    for (int i = 0; i < 5; i++) SHADOW_PUT(g, piece[i], 13 + (uint32_t)i, low);
    shadow_put(g, both_slice(low, 0, 15, 17), 15, piece, 5);
    hbg_scope_end(g);
}

/* After six tasks, after nobody, and after a barrier alone. */
static struct hbg_task first_inside[3];
static uint32_t before_barrier;
static void manual_scopes(struct hbg_graph *g, struct both grid, struct both low, struct both high)
{
    for (int i = 0; i < 6; i++) SHADOW_PUT(g, both_cell(grid, HBG_SHAPE(1, 8), HBG_SHAPE(i, 0)), 16, both_slice(low, 0, 0, 3));
    hbg_scope_begin(g, HBG_SCOPE_MANUAL);
    first_inside[0] = SHADOW_PUT(g, both_slice(high, 0, 10, 20), 17, grid);
    hbg_scope_end(g);
    before_barrier = SHADOW_PUT(g, both_slice(low, 0, 5, 6), 18, both_slice(high, 0, 10, 12)).id;
    hbg_scope_begin(g, HBG_SCOPE_MANUAL);
    struct both own = both_alloc(g, HBG_SHAPE(2));
    first_inside[2] = shadow_put(g, own, 37, NULL, 0);
    hbg_scope_end(g);
    hbg_barrier(g);
    hbg_scope_begin(g, HBG_SCOPE_MANUAL);
    first_inside[1] = SHADOW_PUT(g, both_slice(low, 0, 4, 5), 19, both_slice(low, 0, 6, 7));
    hbg_scope_end(g);
    SHADOW_PUT(g, both_slice(low, 0, 6, 9), 20, both_slice(low, 0, 4, 6));
}

static struct hbg_region kept;          /* of the build before */

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct both grid = argument(args, ARG_GRID, shadow.grid, HBG_SHAPE(6, 8)), low = argument(args, ARG_LOW, shadow.line, HBG_SHAPE(20));
    struct both high = argument(args, ARG_HIGH, shadow.line + 10, HBG_SHAPE(20)), none = argument(args, ARG_NONE, shadow.line, HBG_SHAPE(0));
    struct both bank = argument(args, ARG_BANK, shadow.bank + 2, HBG_SHAPE(4)), bank_end = argument(args, ARG_BANK_END, shadow.bank + 4, HBG_SHAPE(4));
    struct both named = { hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(8)), hbg_host(shadow.bank, HBG_I32, HBG_SHAPE(8)) };
    shadow_begin(&shadow, sizeof shadow);
    struct both early = both_alloc(g, HBG_SHAPE(4));
    shadow_put(g, early, (uint32_t)hbg_read_i32(g, low.region, HBG_SHAPE(3)), NULL, 0);
    kept = early.region;
    views(g, grid, low, high);
    SHADOW_PUT(g, both_slice(bank, 0, 1, 4), 21, both_slice(named, 0, 0, 4));
    SHADOW_PUT(g, both_slice(named, 0, 3, 7), 22, bank_end, both_slice(bank, 0, 0, 2));
    SHADOW_PUT(g, both_slice(bank_end, 0, 1, 2), 23, named);
    SHADOW_PUT(g, both_slice(bank, 0, 0, 4), 24, both_slice(bank_end, 0, 2, 4), early);
    SHADOW_PUT(g, both_slice(bank, 0, 0, 2), 38, early);
    SHADOW_PUT(g, both_alloc(g, HBG_SHAPE(1)), 39, both_slice(named, 0, 3, 4));      /* its writer did not name the buffer so */
    for (int i = 0; i < 5; i++) SHADOW_PUT(g, both_slice(low, 0, i * 4, i * 4 + 4), 25, both_slice(grid, 0, i, i + 1));
    SHADOW_PUT(g, both_slice(grid, 0, 0, 1), 26, low);              /* five producers: one unit of edges, then parameter bytes */
    shadow_put_text(g, both_slice(grid, 0, 1, 2), "twenty bytes or less");
    shadow_put_text(g, both_slice(grid, 0, 2, 3), "some");
    long_list(g, low, high);
    empty(g, none);
    histories(g);
    overlap(g, low, high);
    heap(g, grid, low);
    manual_scopes(g, grid, low, high);
}

/* Given up where everything is open; the second time over a region of another build. */
static int given_up;
static void give_up_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region grid = hbg_args_region(args, ARG_GRID), bank = hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(8));
    for (int i = 0; i < 6; i++) hbg_submit(g, SHADOW_MIX, hbg_u32(1), hbg_out(hbg_slice(grid, 0, i, i + 1)));
    hbg_submit(g, SHADOW_MIX, hbg_f64(1), hbg_in(grid), hbg_out(bank));
    hbg_barrier(g);
    for (int i = 0; i < 3; i++) {
        hbg_scope_begin(g, HBG_SCOPE_AUTO);
        hbg_submit(g, SHADOW_MIX, hbg_u32(1), hbg_out(hbg_alloc(g, HBG_I32, HBG_SHAPE(100))));
        hbg_scope_end(g);
    }
    hbg_scope_begin(g, HBG_SCOPE_MANUAL);
    hbg_submit(g, SHADOW_MIX, hbg_u32(1), hbg_inout(grid), hbg_out(hbg_alloc(g, HBG_I32, HBG_SHAPE(100))));
    hbg_submit(g, SHADOW_MIX, hbg_u32(1), hbg_inout(grid), hbg_i64(0), hbg_in(bank), hbg_in(given_up++ % 2 ? kept : hbg_slice(bank, 0, 6, 9)));
}

/* ---- what stands in the image ---- */

/* Equal layouts are one, and parameter bytes are followed by zeros up to the next sixteenth. */
static void check_arguments(const struct hbg__image_head *head)
{
    const unsigned char *payload = hbg__image_payload(head);
    uint32_t seen[64], count = 0;
    for (uint32_t task = 0; task < head->task_count; task++) {
        const struct hbg__task_record *r = hbg__image_record(payload, task);
        const struct hbg_view_arg *arg = hbg__image_at(payload, r->args);
        for (uint32_t a = 0; a < r->arg_count; a++) {
            uint32_t k = 0;
            while (k < count && seen[k] != arg[a].layout) k++;
            for (uint32_t other = 0; k == count && other < count; other++)
                if (memcmp(hbg__image_at(payload, seen[other]), hbg__image_at(payload, arg[a].layout), sizeof(struct hbg_layout)) == 0)
                    fail_msg("the layout of argument %u of task %u stands in the image twice", a, task);
            if (k == count) seen[count++] = arg[a].layout;
            assert_true(count < 64);
            for (int i = SHADOW_TEXT_BYTES; arg[a].base == HBG__BASE_PAYLOAD && i < 32; i++) assert_int_equal(payload[arg[a].word + (uint64_t)i], 0);
        }
    }
}

/* Returns the bytes of the image; *edge_count is how many edges it has. */
static size_t check_image(struct hbg_run run, uint64_t *edge_count)
{
    struct edges edges;
    const void *image = NULL;
    size_t size = 0;
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
    check_arguments(image);
    edges_of_run(&edges, run);
    assert_int_equal(edges_into(&edges, after_nobody.id), 0);
    assert_int_equal(edges_into(&edges, after_nobody_either.id), 0);
    uint32_t second = first_inside[1].id;
    assert_true(edges_have(&edges, second - 1, second));
    assert_int_equal(edges_into(&edges, second - 1), 1);            /* the barrier, which covers whoever wrote what it reads */
    assert_false(edges_have(&edges, before_barrier, second - 1));
    assert_true(edges_reach(&edges, before_barrier, second - 1));
    uint32_t first = first_inside[0].id;
    assert_int_equal(edges_into(&edges, first), 1);
    assert_true(edges_into(&edges, first - 1) >= 6);
    assert_false(edges_reach(&edges, first, first_inside[2].id));           /* what the one uses the other does not */
    assert_false(edges_have(&edges, beside[0], beside[1]));
    assert_true(edges_reach(&edges, tenant[0], tenant[1]));
    check_histories(&edges);
    shadow_check_order(&edges);
    assert_int_equal(((const struct hbg__image_head *)image)->heap_bytes, HEAP_BYTES);
    *edge_count = edges.count;
    edges_free(&edges);
    return size;
}

static void give_up(struct hbg_program *program)
{
    struct hbg_arg arg[ARGS];
    struct hbg_error error = program_run_fails(program, boundary(arg, 1), given_up % 2 ? HBG_E_SCOPE : HBG_E_REGION);
    assert_true(strstr(error.text, "kernel mix") != NULL);
}

static void shadows(struct hbg_device *unused, const struct device_kind *kind)
{
    (void)unused;
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.heap_reuse_after_bytes = 256;
    char spec[128];
    snprintf(spec, sizeof spec, "%s,poison=1", kind->spec);
    struct hbg_device *device = device_open(spec, &options);
    struct hbg_program *program = PROGRAM(device, build, shadow_kernels), *halfway = PROGRAM(device, give_up_build, shadow_kernels);
    uint64_t reuse_edges = 0;
    assert_int_equal(hbg_buffer_create(device, sizeof real.bank, &buffer), HBG_OK);
    for (size_t i = 0; i < sizeof real / 4; i++) ((int32_t *)&real)[i] = (int32_t)i * 17;
    shadow = real;
    assert_int_equal(hbg_buffer_write(buffer, 0, real.bank, sizeof real.bank), HBG_OK);
    hbg__device_start_epoch(device, UINT32_MAX - 2);
    for (int round = 0; round < 6; round++) {
        struct hbg_arg arg[ARGS];
        struct hbg_result result = HBG_OPTIONS(result);
        struct hbg_run run;
        uint64_t before = counters_of(device).reuse_edges, edge_count;
        assert_int_equal(hbg_run_prepare(program, boundary(arg, (uint32_t)round), NULL, &run), HBG_OK);
        size_t uploaded = check_image(run, &edge_count) + sizeof real.grid + 2 * 20 * sizeof(int32_t) + sizeof(struct hbg__launch) + BASES * sizeof(uint64_t);
        assert_int_equal(hbg_run_launch(run), HBG_OK);
        assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(run, &result), HBG_OK);
        assert_int_equal(hbg_buffer_read(buffer, 0, real.bank, sizeof real.bank), HBG_OK);
        for (size_t i = 0; i < sizeof real / 4; i++)
            if (((int32_t *)&real)[i] != ((int32_t *)&shadow)[i])
                fail_msg("round %d: word %zu is %d and not %d", round, i, ((int32_t *)&real)[i], ((int32_t *)&shadow)[i]);
        assert_int_equal(result.tasks, shadow_submitted());
        assert_int_equal(result.edges, edge_count);
        assert_int_equal(result.upload_copies, kind->discrete ? 5 : 0);         /* image, three arguments, descriptor */
        assert_int_equal(result.upload_bytes, kind->discrete ? uploaded : 0);
        if (round > 0) assert_int_equal(counters_of(device).reuse_edges - before, reuse_edges);
        reuse_edges = counters_of(device).reuse_edges - before;
        assert_true(reuse_edges > 0);
        give_up(halfway);
    }
    assert_int_equal(device->run[0].bank.epoch, 3);                /* 0 is none */
    hbg_program_destroy(halfway);
    hbg_program_destroy(program);
    hbg_buffer_destroy(buffer);
    device_close(device);
}

/* ---- several workers do run ---- */

static void meet_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    hbg_submit(g, 0);
    hbg_submit(g, 0);
}

static void two_tasks_meet(struct hbg_device *device, const struct device_kind *kind)
{
    if (kind->workers < 2) return;
    atomic_store(&meeting, 0);
    graph_run(device, meet_build, KERNELS(meeting_kernels), HBG_NO_ARGS, NULL, NULL);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(shadows), DEVICE_TEST(two_tasks_meet) };
    return device_tests_run_with(",poison=1", tests, sizeof tests / sizeof tests[0]);
}
