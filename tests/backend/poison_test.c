/* SPDX-License-Identifier: Apache-2.0 */
/* poison_test.c - devices that fill with 0xaa whatever a run must not read, and its slot words with stale epochs.
 *
 * One of each kind of task gives the right values and the right edges there, and no word of its image is poison, nor of those of bodies that
 * are submitted; and what a kernel
 * sees of memory that nobody wrote is the poison, so a device that forgets to poison is noticed. scripts/mutate_submit.py deletes
 * the writes of a submit one by one, each of which this test must notice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "image/layout.h"
#include "run/device.h"
#include "support/devices.h"
#include "support/program.h"

enum { ADD, SUM, HALF, PEEK, BYTES, FAIL_ONCE, KERNEL_COUNT };

static int add(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 0)[i] += hbg_view_i32(t, 1);
    return 0;
}

static int sum(const struct hbg_task_view *t)
{
    int last = (int)t->arg_count - 1;
    int32_t s = 0;
    for (int a = 0; a < last; a++) {
        for (int64_t i = 0; i < hbg_view_count(t, a); i++) s += HBG_VIEW(const int32_t, t, a)[i];
    }
    *HBG_VIEW(int32_t, t, last) = s;
    return 0;
}

/* Writes the first half of what it promised to write. */
static int half(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0) / 2; i++) HBG_VIEW(int32_t, t, 0)[i] = 1;
    return 0;
}

static uint32_t peeked[4];
static int peek(const struct hbg_task_view *t)
{
    memcpy(peeked, hbg_view_data(t, 0), sizeof peeked);
    return 0;
}

struct pair { int32_t a, b; };
static int bytes(const struct hbg_task_view *t)
{
    const struct pair *p = HBG_VIEW(const struct pair, t, 1);
    *HBG_VIEW(int32_t, t, 0) = p->a * 1000 + p->b;
    return 0;
}

static int fails;
static int fail_once(const struct hbg_task_view *t) { return fails ? hbg_fail(t, 9, 9) : 0; }

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(ADD, add, "inout i32, i32"), HBG_KERNEL(SUM, sum, NULL), HBG_KERNEL(HALF, half, NULL), HBG_KERNEL(PEEK, peek, NULL),
    HBG_KERNEL(BYTES, bytes, NULL), HBG_KERNEL(FAIL_ONCE, fail_once, NULL),
};

/* ---- one of each kind ---- */

static struct hbg_buffer *named;

static void each_kind_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1), w = hbg_buffer_region(named, 0, HBG_I32, HBG_SHAPE(4));
    struct pair pair = { 3, 4 };
    struct hbg_task first = hbg_submit(g, FAIL_ONCE);                                               /* no argument, asked by nobody */
    hbg_submit(g, BYTES, hbg_out(hbg_index(y, 0, 0)), hbg_bytes(&pair, sizeof pair), hbg_after(first));
    for (int i = 0; i < 300; i++) hbg_submit(g, ADD, hbg_inout(hbg_index(x, 0, i)), hbg_args_scalar(args, 2));
    hbg_submit(g, SUM, hbg_in(x), hbg_out(hbg_index(y, 0, 1)));                                     /* behind an inserted noop */
    for (int i = 0; i < 6; i++) hbg_submit(g, ADD, hbg_inout(hbg_slice(x, 0, i * 50, i * 50 + 50)), hbg_i32(1));
    hbg_submit(g, SUM, hbg_in(hbg_slice(x, 0, 0, 250)), hbg_out(hbg_index(y, 0, 2)));               /* five producers: an edge row */
    struct hbg_task last = { 0, 0 };
    struct hbg_arg many[302];
    for (int i = 0; i < 300; i++) {                                                                 /* 300 of them: a row with its count */
        last = hbg_submit(g, FAIL_ONCE);
        many[i] = hbg_after(last);
    }
    many[300] = hbg_in(hbg_slice(x, 0, 0, 1));
    many[301] = hbg_out(hbg_index(y, 0, 3));
    struct hbg_arg_list list = { many, 302 };
    hbg_submit_args(g, SUM, list);
    hbg_noop(g, hbg_inout(y), hbg_after(last));
    hbg_barrier(g);
    for (int i = 0; i < 5; i++) {                                                                   /* intermediates, used again */
        hbg_scope_begin(g, i == 3 ? HBG_SCOPE_MANUAL : HBG_SCOPE_AUTO);
        struct hbg_region u = hbg_alloc(g, HBG_I32, HBG_SHAPE(1));
        struct hbg_task made = hbg_submit(g, SUM, hbg_in(hbg_index(y, 0, 1)), hbg_out(u));
        hbg_submit(g, SUM, hbg_in(u), hbg_in(w), hbg_out(hbg_index(y, 0, 4 + i)), hbg_after(made));
        hbg_scope_end(g);
    }
    hbg_submit(g, ADD, hbg_inout(w), hbg_i32(1));
}

/* "A>C", "B>C", .. for all producers from `first` to `last`, behind what is there. */
static size_t put_edges(char *text, size_t at, uint32_t first, uint32_t last, uint32_t consumer)
{
    for (uint32_t producer = first; producer <= last; producer++) at += (size_t)sprintf(text + at, "%u>%u ", producer, consumer);
    return at;
}

static const char *each_kind_edges(void)
{
    static char text[16384];
    size_t at = put_edges(text, 0, 0, 0, 1);
    at = put_edges(text, at, 2, 301, 302);                                      /* the cells of x, the noop for their readers, the sum */
    at = put_edges(text, at, 302, 302, 303);
    for (uint32_t task = 304; task <= 309; task++) at = put_edges(text, at, 303, 303, task);
    at = put_edges(text, at, 304, 308, 310);
    at = put_edges(text, at, 304, 304, 611);
    at = put_edges(text, at, 311, 610, 611);
    strcpy(text + at, "1>612 303>612 310>612 610>612 611>612 309>613 612>613 "  /* the noop over y, the barrier */
                      "613>614 614>615 615>616 616>617 617>618 618>619 619>620 620>621 621>622 "
                      "622>623 612>623 623>624 624>625 625>626 "                 /* the manual scope: begin, two tasks, end */
                      "626>627 627>628 628>629 615>630 618>630 621>630 626>630 629>630");
    return text;
}

/* Nothing that was forgotten while the image was made is left in it: the arena was full of poison before. */
static void is_written(const struct hbg__image_head *head)
{
    const uint32_t *word = (const uint32_t *)(const void *)head;
    for (size_t i = 0; i < head->image_bytes / 4; i++) {
        if (word[i] == 0xaaaaaaaa) fail_msg("word %zu of the image's %zu is poison", i, (size_t)head->image_bytes / 4);
    }
    for (uint32_t task = 0; task < head->task_count; task++) {
        const struct hbg__task_record *r = hbg__image_record(hbg__image_payload(head), task);
        if (r->kernel == 0xaaaa || r->arg_count == 0xaaaa || r->producer_count == 0xaa || r->flags == 0xaa || r->reserved) fail_msg("a part of record %u is poison", task);
    }
}

static enum hbg_status each_kind_run(struct hbg_program *program, struct hbg_arg_list list, struct hbg_result *result)
{
    struct hbg_run run;
    struct edges edges;
    const void *image = NULL;
    size_t size = 0;
    assert_int_equal(hbg_run_prepare(program, list, NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
    is_written(image);
    edges_of_run(&edges, run);
    assert_true(edges_are(&edges, each_kind_edges()));
    edges_free(&edges);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    return hbg_run_finish(run, result);
}

static void each_kind(const struct device_kind *kind, bool pure)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.heap_reuse_after_bytes = 64;
    char spec[128];
    snprintf(spec, sizeof spec, "%s,poison=1", kind->spec);
    struct hbg_device *device = device_open(spec, &options);
    struct program_spec program_spec = { .build = each_kind_build, KERNEL_TABLE(kernels), .pure = pure };
    struct hbg_program *program = program_create(device, &program_spec);
    int32_t weights[4] = { 10, 20, 30, 40 }, x[300], y[9];
    assert_int_equal(hbg_buffer_create(device, sizeof weights, &named), HBG_OK);
    assert_int_equal(hbg_buffer_write(named, 0, weights, sizeof weights), HBG_OK);
    for (int round = 0, added = 0; round < 12; round++) {
        for (int i = 0; i < 300; i++) x[i] = i;
        memset(y, 0x55, sizeof y);
        fails = round % 4 == 2;                             /* then most is skipped, and the next round must not see its traces */
        struct hbg_result result = HBG_OPTIONS(result);
        enum hbg_status status = each_kind_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 300)), hbg_out(HOST_I32(y, 9)), hbg_i32(round)), &result);
        assert_int_equal(status, fails ? HBG_E_KERNEL : HBG_OK);
        assert_int_equal(result.replayed, pure && round > 0);
        if (fails) {
            assert_int_equal(result.error.task, 0);
            assert_int_equal(hbg_buffer_write(named, 0, weights, sizeof weights), HBG_OK);
            added = 0;
            continue;
        }
        int32_t all = 299 * 150 + 300 * round;
        assert_int_equal(y[0], 3004);
        assert_int_equal(y[1], all);
        assert_int_equal(y[2], 249 * 125 + 250 * (round + 1));
        assert_int_equal(y[3], round + 1);
        for (int i = 4; i < 9; i++) assert_int_equal(y[i], all + 100 + 4 * added);
        added++;
    }
    hbg_buffer_destroy(named);
    hbg_program_destroy(program);
    device_close(device);
}

static void one_of_each_kind_built(struct hbg_device *unused, const struct device_kind *kind) { (void)unused; each_kind(kind, false); }
static void one_of_each_kind_replayed(struct hbg_device *unused, const struct device_kind *kind) { (void)unused; each_kind(kind, true); }

/* ---- submissions of bodies ---- */

enum { LAYERS = 5, WIDTH = 4 };
static int32_t generation;              /* of the bodies: another one is recorded again, over what the one before has left */

/* (inout x, k): x += k, by a task each */
static void cells_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < WIDTH; i++) hbg_submit(g, ADD, hbg_inout(hbg_index(hbg_args_region(args, 0), 0, i)), hbg_args_scalar(args, 1));
}

/* (inout x, out y, k): of each kind of task one or more, around a body inside; the weights are a buffer that it names. All come after the first, so
   the list of roots ends in padding. */
static void layer_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), u = hbg_alloc(g, HBG_I32, HBG_SHAPE(2)), w = hbg_buffer_region(named, 0, HBG_I32, HBG_SHAPE(4));
    struct pair pair = { 1, 2 };
    struct hbg_task first = hbg_submit(g, FAIL_ONCE);
    hbg_submit(g, BYTES, hbg_out(hbg_index(u, 0, 0)), hbg_bytes(&pair, sizeof pair), hbg_after(first));
    hbg_subgraph(g, HBG_KEY("cells", generation), cells_body, HBG_ARGS(hbg_after(first), hbg_inout(x), hbg_args_scalar(args, 2)));
    for (int i = 0; i < WIDTH; i++) hbg_submit(g, ADD, hbg_inout(hbg_index(x, 0, i)), hbg_i32(1));
    hbg_submit(g, SUM, hbg_in(x), hbg_out(hbg_index(u, 0, 1)));                    /* four producers: an edge row */
    hbg_noop(g, hbg_in(u));
    hbg_subgraph(g, HBG_KEY("cells", generation), cells_body, HBG_ARGS(hbg_inout(w), hbg_after(first), hbg_i32(1)));
    hbg_submit(g, SUM, hbg_in(u), hbg_in(w), hbg_out(hbg_args_region(args, 1)));
}

static void layers_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    for (int32_t i = 0; i < LAYERS; i++)
        hbg_subgraph(g, HBG_KEY("layer", generation), layer_body, HBG_ARGS(hbg_inout(hbg_index(x, 0, i)), hbg_out(hbg_index(y, 0, i)), i % 2 ? hbg_i32(i) : hbg_args_scalar(args, 2)));
    hbg_submit(g, SUM, hbg_in(hbg_slice(y, 0, 0, LAYERS)), hbg_out(hbg_index(y, 0, LAYERS)));
}

/* The same on the host. */
static void layers_plainly(int32_t (*x)[WIDTH], int32_t *y, int32_t *weights, int32_t k)
{
    y[LAYERS] = 0;
    for (int32_t i = 0; i < LAYERS; i++) {
        y[i] = 1002;
        for (int j = 0; j < WIDTH; j++) {
            x[i][j] += (i % 2 ? i : k) + 1;
            y[i] += x[i][j] + ++weights[j];
        }
        y[LAYERS] += y[i];
    }
}

static enum hbg_status layers_run(struct hbg_device *device, struct hbg_program *program, struct hbg_arg_list list, struct hbg_result *result)
{
    struct hbg_run run;
    const void *image = NULL;
    size_t size = 0;
    uint32_t bodies = 0;
    assert_int_equal(hbg_run_prepare(program, list, NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
    is_written(image);
    for (const struct hbg__definition *d = device->definitions.newest; d; d = d->older, bodies++) is_written(d->head);
    assert_int_equal(bodies, 2 * (generation + 1));
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    return hbg_run_finish(run, result);
}

static void submissions(const struct device_kind *kind, bool pure)
{
    char spec[128];
    snprintf(spec, sizeof spec, "%s,poison=1", kind->spec);
    struct hbg_device *device = device_open(spec, NULL);
    struct program_spec program_spec = { .build = layers_build, KERNEL_TABLE(kernels), .pure = pure };
    struct hbg_program *program = program_create(device, &program_spec);
    int32_t weights[WIDTH] = { 10, 20, 30, 40 }, x[2][LAYERS][WIDTH], y[2][LAYERS + 1];
    assert_int_equal(hbg_buffer_create(device, sizeof weights, &named), HBG_OK);
    memset(x, 0, sizeof x);
    for (int round = 0; round < 12; round++) {
        struct hbg_result result = HBG_OPTIONS(result);
        assert_int_equal(hbg_buffer_write(named, 0, weights, sizeof weights), HBG_OK);
        fails = round % 4 == 2;
        generation = pure ? 0 : round;
        enum hbg_status status = layers_run(device, program, HBG_ARGS(hbg_inout(hbg_host(x[0], HBG_I32, HBG_SHAPE(LAYERS, WIDTH))), hbg_out(HOST_I32(y[0], LAYERS + 1)), hbg_i32(round)), &result);
        assert_int_equal(status, fails ? HBG_E_KERNEL : HBG_OK);
        assert_int_equal(result.subgraphs_recorded, pure && round > 0 ? 0 : 2);       /* the layer, and the cells in it */
        if (fails) {
            memcpy(x[0], x[1], sizeof x[0]);
            continue;
        }
        layers_plainly(x[1], y[1], weights, round);
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        assert_memory_equal(y[0], y[1], sizeof y[0]);
    }
    hbg_buffer_destroy(named);
    hbg_program_destroy(program);
    device_close(device);
}

static void submissions_built(struct hbg_device *unused, const struct device_kind *kind) { (void)unused; submissions(kind, false); }
static void submissions_replayed(struct hbg_device *unused, const struct device_kind *kind) { (void)unused; submissions(kind, true); }

/* ---- the poison is there ---- */

static void half_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, HALF, hbg_out(hbg_args_region(args, 0)));
}

static void an_output_that_is_not_written(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[8];
    for (int i = 0; i < 8; i++) x[i] = 7;
    graph_run(device, half_build, KERNELS(kernels), HBG_ARGS(hbg_out(HOST_I32(x, 8))), NULL, NULL);
    for (int i = 0; i < 8; i++) assert_int_equal(x[i], i < 4 ? 1 : (int32_t)0xaaaaaaaa);
    for (int i = 0; i < 8; i++) x[i] = 7;
    graph_run(device, half_build, KERNELS(kernels), HBG_ARGS(hbg_inout(HOST_I32(x, 8))), NULL, NULL);
    for (int i = 0; i < 8; i++) assert_int_equal(x[i], i < 4 ? 1 : 7);          /* inout keeps what it had */
}

static void peek_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    struct hbg_region u = hbg_alloc(g, HBG_I32, HBG_SHAPE(4));
    hbg_submit(g, PEEK, hbg_in(u));
    for (int i = 0; i < 4; i++) hbg_submit(g, ADD, hbg_inout(hbg_index(u, 0, i)), hbg_i32(1));
}

static void an_intermediate_that_is_not_written(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    struct program_spec spec = { .build = peek_build, KERNEL_TABLE(kernels), .pure = true };
    struct hbg_program *program = program_create(device, &spec);
    for (int round = 0; round < 3; round++) {               /* not what the round before left either */
        memset(peeked, 0, sizeof peeked);
        program_run(program, HBG_NO_ARGS, NULL, NULL);
        for (int i = 0; i < 4; i++) assert_int_equal(peeked[i], 0xaaaaaaaa);
    }
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(one_of_each_kind_built), DEVICE_TEST(one_of_each_kind_replayed), DEVICE_TEST(submissions_built), DEVICE_TEST(submissions_replayed),
        DEVICE_TEST(an_output_that_is_not_written), DEVICE_TEST(an_intermediate_that_is_not_written),
    };
    return device_tests_run_with(",poison=1", tests, sizeof tests / sizeof tests[0]);
}
