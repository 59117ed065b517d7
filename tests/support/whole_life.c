/* SPDX-License-Identifier: Apache-2.0 */
/* whole_life.c - see whole_life.h. */
#include "support/whole_life.h"

#include <string.h>

enum { NOTHING, ADD, SCRATCH, KERNEL_COUNT };
enum { SIDE = 12, READERS = 80, BOUNDARIES = 6, RUNS = 3, WIDE_TASKS = 20000, WIDE_ARGS = 30, KEYS = 8 };

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }

/* x += amount, for a row of numbers */
static int add(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(int32_t, t, 0)[i] += hbg_view_i32(t, 1);
    return 0;
}

static int scratch(const struct hbg_task_view *t)
{
    size_t size = 0;
    unsigned char *mine = hbg_view_scratch(t, &size);
    if (size) memset(mine, 1, size);
    return 0;
}

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(NOTHING, nothing, NULL), HBG_KERNEL(ADD, add, "inout i32, i32"), { SCRATCH, "scratch", scratch, NULL, NULL, HBG_ANY, 4096 },
};

/* ---- builds: argument 0 is a square of i32, 1 its row of amounts, 2 a scalar; parameters name a buffer ---- */

struct life_params { struct hbg_buffer *buffer; };

static void views_of(struct hbg_graph *g, struct hbg_region square)
{
    struct hbg_region flat = hbg_reshape(square, HBG_SHAPE(square.shape[0] * SIDE));
    for (int64_t i = 0; i < square.shape[0]; i++) hbg_submit(g, NOTHING, hbg_inout(hbg_cell(square, HBG_SHAPE(1, SIDE), HBG_SHAPE(i, 0))));
    for (int64_t i = 0; i < 9; i++) hbg_submit(g, NOTHING, hbg_inout(hbg_cell(flat, HBG_SHAPE(7), HBG_SHAPE(i))));
    for (int64_t i = 1; i < 5; i++) hbg_submit(g, NOTHING, hbg_inout(hbg_slice(hbg_slice(square, 0, i - 1, i + 2), 1, i, i + 3)));
    hbg_submit(g, NOTHING, hbg_in(hbg_permute(square, HBG_SHAPE(1, 0))), hbg_untracked(hbg_index(square, 0, 1)), hbg_in(hbg_cast_view(square, HBG_I64)));
    for (int64_t i = 0; i < READERS; i++) hbg_submit(g, NOTHING, hbg_in(square));
    hbg_submit(g, NOTHING, hbg_inout(square));          /* after more readers than a row of producers takes */
}

static void scopes_of(struct hbg_graph *g, struct hbg_region square)
{
    for (int i = 0; i < 4; i++) {
        hbg_scope_begin(g, HBG_SCOPE_AUTO);
        struct hbg_region a = hbg_alloc(g, HBG_F32, HBG_SHAPE(64, 16)), b = hbg_alloc(g, HBG_U8, HBG_SHAPE(100));
        hbg_submit(g, SCRATCH, hbg_out(a), hbg_out(b));
        hbg_submit(g, NOTHING, hbg_in(hbg_cell(a, HBG_SHAPE(8, 16), HBG_SHAPE(i, 0))), hbg_inout(b));
        hbg_scope_end(g);
    }
    hbg_scope_begin(g, HBG_SCOPE_MANUAL);
    struct hbg_task first = hbg_submit(g, NOTHING, hbg_inout(hbg_index(square, 0, 0)));
    hbg_submit(g, NOTHING, hbg_inout(hbg_index(square, 0, 1)), hbg_after(first));
    hbg_scope_end(g);
    hbg_barrier(g);
}

/* A body in a body, with an intermediate and a look at the amounts; what it adds it takes away. */
static void inner_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region t = hbg_alloc(g, HBG_I32, HBG_SHAPE(SIDE));
    hbg_submit(g, SCRATCH, hbg_out(t));
    hbg_submit(g, NOTHING, hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(args, 1));
}

/* A submission that does nothing says why. */
static void submit_body(struct hbg_graph *g, struct hbg_key key, hbg_build_fn *fn, struct hbg_arg_list list)
{
    if (hbg_subgraph(g, key, fn, list).id == UINT32_MAX && hbg_graph_error(g, NULL) == HBG_OK) hbg_graph_fail(g, 2, "a body was lost");
}

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct life_params *p = params;
    const int32_t *amounts = hbg_read(g, hbg_args_region(args, 1));
    hbg_submit(g, NOTHING, hbg_in(hbg_buffer_region(p->buffer, 64, HBG_U8, HBG_SHAPE(64))), hbg_inout(hbg_args_region(args, 0)));
    submit_body(g, hbg_key_of("inner", NULL, 0), inner_body, HBG_ARGS(hbg_inout(hbg_args_region(args, 0)), hbg_args_scalar(args, 2)));
    for (int32_t sign = -1; amounts && sign <= 1; sign += 2) hbg_submit(g, ADD, hbg_inout(hbg_args_region(args, 0)), hbg_i32(sign * amounts[0]));
}

static struct hbg_region captured;
static void capturing_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, ADD, hbg_inout(captured), hbg_args_scalar(args, 0));
}

/* More arguments than a call has room for, which share storage. */
static void wide_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < WIDE_ARGS; i++) hbg_submit(g, NOTHING, hbg_inout(hbg_args_region(args, i)));
}

static void bodies_of(struct hbg_graph *g, const struct hbg_args *args, const struct life_params *p)
{
    struct hbg_region square = hbg_args_region(args, 0), amounts = hbg_args_region(args, 1);
    captured = hbg_index(square, 0, 0);
    for (int32_t i = 0; i < 2; i++) submit_body(g, hbg_key_of("captures", NULL, 0), capturing_body, HBG_ARGS(hbg_i32(2 * i - 1)));
    for (int64_t i = 0; i < 6 && i < square.shape[0]; i++) {
        struct hbg_arg amount = i % 2 ? hbg_args_scalar(args, 2) : hbg_i32((int32_t)i);
        submit_body(g, HBG_KEY("body", *p), body, HBG_ARGS(hbg_inout(hbg_index(square, 0, i / 2)), hbg_in(amounts), amount));
    }
    for (int32_t i = 0; i < KEYS; i++) submit_body(g, HBG_KEY("key", i), inner_body, HBG_ARGS(hbg_inout(hbg_index(square, 0, 0)), hbg_i32(i)));
    struct hbg_arg wide[WIDE_ARGS];
    for (int64_t i = 0; i < WIDE_ARGS; i++) wide[i] = hbg_inout(hbg_slice(hbg_index(square, 0, 0), 0, i % 10, i % 10 + 2));
    for (int i = 0; i < 2; i++) submit_body(g, hbg_key_of("wide", NULL, 0), wide_body, (struct hbg_arg_list){ wide, WIDE_ARGS });
}

static void many_kinds(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct life_params *p = params;
    struct hbg_region square = hbg_args_region(args, 0);
    static const char bytes[100] = "parameters of a kernel";
    const int32_t *amounts = hbg_read(g, hbg_args_region(args, 1));
    int32_t sum = amounts ? hbg_read_i32(g, hbg_args_region(args, 1), HBG_SHAPE(0)) - amounts[0] : 0;
    hbg_guard(g, bytes, sizeof bytes);
    views_of(g, square);
    scopes_of(g, square);
    bodies_of(g, args, p);
    for (int64_t i = 0; amounts && i < square.shape[0]; i++) hbg_submit(g, ADD, hbg_inout(hbg_index(square, 0, i)), hbg_i32(amounts[i] + sum));
    struct hbg_task a = hbg_submit(g, ADD, hbg_inout(hbg_index(square, 0, 0)), hbg_args_scalar(args, 2));
    hbg_noop(g, hbg_after(a), hbg_in(square));
    hbg_submit(g, NOTHING, hbg_bytes(bytes, sizeof bytes), hbg_in(hbg_buffer_region(p->buffer, 0, HBG_U8, HBG_SHAPE(64))), hbg_after(a));
    if (hbg_args_get_i32(args, 2) < 0) hbg_graph_fail(g, 1, "a negative amount");
}

/* More tasks than the first pages of an image hold. */
static void many_tasks(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < WIDE_TASKS; i++) hbg_submit(g, ADD, hbg_inout(hbg_index(hbg_args_region(args, 0), 0, i % SIDE)), hbg_i32(i % 3 - 1));
}

/* ---- the life ---- */

struct members { struct hbg_device *device; struct hbg_buffer *buffer; struct hbg_program *kinds, *tasks; };

static bool good(struct whole_life *life, enum hbg_status status, const char *call)
{
    if (!status || life->status) return !status;
    life->status = status;
    life->call = call;
    if (life->on_failure) life->on_failure(life->user);
    return false;
}

static bool open_all(struct whole_life *life, struct members *m)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    options.error = o.error = &life->error;
    options.heap_reuse_after_bytes = 4096;
    options.reserve_bytes = life->reserve_bytes;
    if (life->allocator) options.allocator = *life->allocator;
    if (!good(life, hbg_device_open(life->spec, &options, &m->device), "hbg_device_open")) return false;
    life->error.size = 0;
    if (!good(life, hbg_buffer_create(m->device, 1000, &m->buffer), "hbg_buffer_create")) return false;
    if (!good(life, hbg_buffer_write(m->buffer, 0, "numbers", 8), "hbg_buffer_write")) return false;
    life->error = (struct hbg_error)HBG_OPTIONS(error);
    struct life_params params = { m->buffer };
    o.name = "many kinds";
    o.build = many_kinds;
    o.params = &params;
    o.params_size = sizeof params;
    o.kernels = kernels;
    o.kernel_count = KERNEL_COUNT;
    o.boundary = "inout i32, in i32, i32";
    o.pure_build = true;
    if (!good(life, hbg_program_create(m->device, &o, &m->kinds), "hbg_program_create")) return false;
    o.name = "many tasks";
    o.build = many_tasks;
    o.boundary = NULL;
    o.pure_build = false;
    return good(life, hbg_program_create(m->device, &o, &m->tasks), "hbg_program_create");
}

static enum hbg_status run(struct whole_life *life, struct hbg_program *program, int32_t *square, const int32_t *amounts, int rows)
{
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status status = hbg_run_sync(program, HBG_ARGS(hbg_inout(hbg_host(square, HBG_I32, HBG_SHAPE(rows, SIDE))),
                                                            hbg_in(hbg_host_const(amounts, HBG_I32, HBG_SHAPE(rows))), hbg_i32(5)), &result);
    if (status && !life->status) life->error = result.error;
    return status;
}

/* While another run has the first slot: by a build state that is new, where the definitions are not. */
static bool run_beside(struct whole_life *life, struct members *m, int32_t *square, const int32_t *amounts)
{
    int32_t other[SIDE * SIDE] = { 0 };
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_run prepared;
    options.error = &life->error;
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_host(other, HBG_I32, HBG_SHAPE(SIDE, SIDE))), hbg_in(hbg_host_const(amounts, HBG_I32, HBG_SHAPE(SIDE))), hbg_i32(5));
    if (!good(life, hbg_run_prepare(m->tasks, list, &options, &prepared), "hbg_run_prepare")) return false;
    bool ran = good(life, run(life, m->kinds, square, amounts, SIDE), "hbg_run_sync beside a prepared run");
    return hbg_run_cancel(prepared) == HBG_OK && hbg_run_finish(prepared, NULL) == HBG_E_CANCELLED && ran;
}

static bool run_all(struct whole_life *life, struct members *m)
{
    int32_t square[SIDE * SIDE] = { 0 }, amounts[SIDE], expected = 0;
    for (int i = 0; i < SIDE; i++) amounts[i] = i + 1;
    for (int k = 0; k < RUNS * BOUNDARIES; k++) {
        if (!good(life, run(life, m->kinds, square, amounts, SIDE - k % BOUNDARIES), "hbg_run_sync of many kinds")) return true;
        expected += amounts[0] + 5;
    }
    if (!run_beside(life, m, square, amounts)) return life->status != HBG_OK;
    expected += amounts[0] + 5;
    for (int k = 0; k < 2; k++) {
        if (!good(life, run(life, m->tasks, square, amounts, SIDE), "hbg_run_sync of many tasks")) return true;
    }
    /* the second row is in all boundaries, and nobody but its own task adds to it; many_tasks adds (i % 3) - 1 to rows i % SIDE */
    int32_t second = (RUNS * BOUNDARIES + 1) * amounts[1], third = 0;
    for (int i = 0; i < WIDE_TASKS; i++) {
        if (i % SIDE == 0) third += 2 * (i % 3 - 1);
        if (i % SIDE == 1) second += 2 * (i % 3 - 1);
    }
    return square[0] == expected + third && square[SIDE + 1] == second;
}

static void try_again(struct whole_life *life, struct members *m)
{
    int32_t square[SIDE * SIDE] = { 0 }, amounts[SIDE] = { 1 };
    struct hbg_program *program = m->kinds ? m->kinds : m->tasks;
    if (program) life->after = run(life, program, square, amounts, SIDE);
    if (!life->after && program == m->kinds && program && square[0] != 6) life->after = HBG_E_KERNEL;
}

bool whole_life(struct whole_life *life)
{
    struct members m = { NULL, NULL, NULL, NULL };
    life->status = life->after = HBG_OK;
    life->error = (struct hbg_error)HBG_OPTIONS(error);
    life->call = "";
    bool right = !open_all(life, &m) || run_all(life, &m);
    if (life->status) try_again(life, &m);
    hbg_program_destroy(m.tasks);
    hbg_buffer_destroy(m.buffer);
    hbg_program_destroy(m.kinds);
    life->close = hbg_device_close(m.device);
    return right;
}
