/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.c - see shapes.h. */
#include "bench/shapes.h"

enum { TILE = 8, BLOCK = 16, SIDE = 64, BUFFERS = 64, GEMM_SIDE = 32, WAVE_SIDE = 316, TASKS = 100000, LEAVES = 1 << 16, LAYER = 256, LAYERS = 390, FAN_IN = 16 };
enum { WHOLE_ROUNDS = 12, VIEW_ROUNDS = 6, ROW_ROUNDS = 48, MANY = 1000, MANY_ROUNDS = 25, ASKEW_BLOCK = 700 };

/* ---- kernels ---- */

static int nothing(const struct hbg_task_view *t)
{
    (void)t;
    return 0;
}

/* named by what a task does with its arguments: U updates, W writes, R reads */
enum { NONE, U, UR, URR, URRR, W, WR, WRR, WRRRR, R, RU, RRU, WR16, KERNEL_COUNT };
#define READ_4 ", in f32, in f32, in f32, in f32"
const struct hbg_kernel hbg__bench_kernels[] = {
    HBG_KERNEL(NONE, nothing, ""),
    HBG_KERNEL(U, nothing, "inout f32"),
    HBG_KERNEL(UR, nothing, "inout f32, in f32"),
    HBG_KERNEL(URR, nothing, "inout f32, in f32, in f32"),
    HBG_KERNEL(URRR, nothing, "inout f32, in f32, in f32, in f32"),
    HBG_KERNEL(W, nothing, "out f32"),
    HBG_KERNEL(WR, nothing, "out f32, in f32"),
    HBG_KERNEL(WRR, nothing, "out f32, in f32, in f32"),
    HBG_KERNEL(WRRRR, nothing, "out f32, in f32, in f32, in f32, in f32"),
    HBG_KERNEL(R, nothing, "in f32"),
    HBG_KERNEL(RU, nothing, "in f32, inout f32"),
    HBG_KERNEL(RRU, nothing, "in f32, in f32, inout f32"),
    HBG_KERNEL(WR16, nothing, "out f32" READ_4 READ_4 READ_4 READ_4),
};

size_t hbg__bench_kernel_count(void) { return KERNEL_COUNT; }

/* ---- views ---- */

#define TILE_OF(x, i, j) hbg_cell((x), HBG_SHAPE(TILE, TILE), HBG_SHAPE((i), (j)))
#define BLOCK_OF(x, i) hbg_cell((x), HBG_SHAPE(BLOCK), HBG_SHAPE(i))

/* ---- a number of arguments ---- */

/* `buffers` is a constant where this is called, so that the remainders cost no division */
static inline __attribute__((always_inline)) void submit_args(struct hbg_graph *g, const struct hbg_args *args, const struct bench_size *size, int64_t buffers)
{
#define ARG(mode, n) mode(TILE_OF(hbg_args_region(args, (int)((i + (n)) % buffers)), i / buffers / SIDE % SIDE, i / buffers % SIDE))
    int64_t i, tasks = size->tasks;
    switch (size->args) {
    case 0: for (i = 0; i < tasks; i++) hbg_submit(g, NONE); break;
    case 1: for (i = 0; i < tasks; i++) hbg_submit(g, U, ARG(hbg_inout, 0)); break;
    case 2: for (i = 0; i < tasks; i++) hbg_submit(g, UR, ARG(hbg_inout, 0), ARG(hbg_in, 1)); break;
    case 3: for (i = 0; i < tasks; i++) hbg_submit(g, URR, ARG(hbg_inout, 0), ARG(hbg_in, 1), ARG(hbg_in, 2)); break;
    default: for (i = 0; i < tasks; i++) hbg_submit(g, URRR, ARG(hbg_inout, 0), ARG(hbg_in, 1), ARG(hbg_in, 2), ARG(hbg_in, 3)); break;
    }
#undef ARG
}

static void args_of_64(struct hbg_graph *g, const struct hbg_args *args, const void *params) { submit_args(g, args, params, BUFFERS); }
static void args_of_3(struct hbg_graph *g, const struct hbg_args *args, const void *params) { submit_args(g, args, params, 3); }

/* ---- graphs of the literature ---- */

static void chain(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    for (int64_t i = 0; i < TASKS; i++) hbg_submit(g, U, hbg_inout(BLOCK_OF(x, 0)));
}

static void independent(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    for (int64_t i = 0; i < TASKS; i++) hbg_submit(g, U, hbg_inout(BLOCK_OF(x, i)));
}

static void wavefront(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    for (int64_t i = 0; i < WAVE_SIDE; i++)
        for (int64_t j = 0; j < WAVE_SIDE; j++)
            if (i && j) hbg_submit(g, WRR, hbg_out(TILE_OF(x, i, j)), hbg_in(TILE_OF(x, i - 1, j)), hbg_in(TILE_OF(x, i, j - 1)));
            else if (i) hbg_submit(g, WR, hbg_out(TILE_OF(x, i, j)), hbg_in(TILE_OF(x, i - 1, j)));
            else if (j) hbg_submit(g, WR, hbg_out(TILE_OF(x, i, j)), hbg_in(TILE_OF(x, i, j - 1)));
            else hbg_submit(g, W, hbg_out(TILE_OF(x, i, j)));
}

static void cholesky(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region a = hbg_args_region(args, 0);
    (void)params;
    for (int64_t k = 0; k < SIDE; k++) {
        hbg_submit(g, U, hbg_inout(TILE_OF(a, k, k)));
        for (int64_t i = k + 1; i < SIDE; i++) hbg_submit(g, RU, hbg_in(TILE_OF(a, k, k)), hbg_inout(TILE_OF(a, i, k)));
        for (int64_t i = k + 1; i < SIDE; i++) {
            hbg_submit(g, RU, hbg_in(TILE_OF(a, i, k)), hbg_inout(TILE_OF(a, i, i)));
            for (int64_t j = k + 1; j < i; j++)
                hbg_submit(g, RRU, hbg_in(TILE_OF(a, i, k)), hbg_in(TILE_OF(a, j, k)), hbg_inout(TILE_OF(a, i, j)));
        }
    }
}

static void gemm(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region a = hbg_args_region(args, 0), b = hbg_args_region(args, 1), c = hbg_args_region(args, 2);
    (void)params;
    for (int64_t i = 0; i < GEMM_SIDE; i++)
        for (int64_t j = 0; j < GEMM_SIDE; j++)
            for (int64_t k = 0; k < GEMM_SIDE; k++)
                hbg_submit(g, RRU, hbg_in(TILE_OF(a, i, k)), hbg_in(TILE_OF(b, k, j)), hbg_inout(TILE_OF(c, i, j)));
}

static void tree(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    for (int64_t i = 0; i < LEAVES; i++) hbg_submit(g, W, hbg_out(BLOCK_OF(x, i)));
    for (int64_t apart = 1; apart < LEAVES; apart *= 2)
        for (int64_t i = 0; i < LEAVES; i += 2 * apart) hbg_submit(g, UR, hbg_inout(BLOCK_OF(x, i)), hbg_in(BLOCK_OF(x, i + apart)));
}

/* an earlier block, drawn by a linear congruential generator */
static int64_t draw(uint64_t *state, int64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((*state >> 33) % (uint64_t)below);
}

static void random_reads(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    uint64_t state = 12345;
    (void)params;
    hbg_submit(g, W, hbg_out(BLOCK_OF(x, 0)));
    for (int64_t i = 1; i < TASKS; i++) {
        int64_t a = draw(&state, i), b = draw(&state, i), c = draw(&state, i), d = draw(&state, i);
        hbg_submit(g, WRRRR, hbg_out(BLOCK_OF(x, i)), hbg_in(BLOCK_OF(x, a)), hbg_in(BLOCK_OF(x, b)), hbg_in(BLOCK_OF(x, c)), hbg_in(BLOCK_OF(x, d)));
    }
}

static void layered(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    struct hbg_arg list[1 + FAN_IN];
    uint64_t state = 12345;
    (void)params;
    for (int64_t i = 0; i < LAYER; i++) hbg_submit(g, W, hbg_out(BLOCK_OF(x, i)));
    for (int64_t i = LAYER; i < LAYERS * LAYER; i++) {
        list[0] = hbg_out(BLOCK_OF(x, i));
        for (int n = 1; n <= FAN_IN; n++) list[n] = hbg_in(BLOCK_OF(x, i / LAYER * LAYER - LAYER + draw(&state, LAYER)));
        hbg_submit_args(g, WR16, (struct hbg_arg_list){ list, 1 + FAN_IN });
    }
}

/* ---- views that are harder on the hazard map ---- */

static void whole_and_tiles(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    for (int round = 0; round < WHOLE_ROUNDS; round++) {
        hbg_submit(g, W, hbg_out(x));
        for (int64_t i = 0; i < SIDE; i++)
            for (int64_t j = 0; j < SIDE; j++) hbg_submit(g, U, hbg_inout(TILE_OF(x, i, j)));
        hbg_submit(g, R, hbg_in(x));
    }
}

static void transposed(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1), turned = hbg_permute(x, HBG_SHAPE(1, 0));
    (void)params;
    for (int round = 0; round < VIEW_ROUNDS; round++) {
        for (int64_t i = 0; i < SIDE; i++)
            for (int64_t j = 0; j < SIDE; j++) hbg_submit(g, RU, hbg_in(TILE_OF(turned, i, j)), hbg_inout(TILE_OF(y, i, j)));
        for (int64_t i = 0; i < SIDE; i++)
            for (int64_t j = 0; j < SIDE; j++) hbg_submit(g, RU, hbg_in(TILE_OF(y, i, j)), hbg_inout(TILE_OF(x, i, j)));
    }
}

static void rows_and_pieces(struct hbg_graph *g, const struct hbg_args *args, int64_t piece)
{
    struct hbg_region x = hbg_args_region(args, 0);
    int64_t rows = x.shape[0], columns = x.shape[1];
    struct hbg_region flat = hbg_reshape(x, HBG_SHAPE(rows * columns));
    for (int round = 0; round < ROW_ROUNDS; round++) {
        for (int64_t i = 0; i < rows; i++) hbg_submit(g, U, hbg_inout(hbg_cell(x, HBG_SHAPE(1, columns), HBG_SHAPE(i, 0))));
        for (int64_t i = 0; i * piece < rows * columns; i++) hbg_submit(g, R, hbg_in(hbg_cell(flat, HBG_SHAPE(piece), HBG_SHAPE(i))));
    }
}

static void reshaped(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    rows_and_pieces(g, args, SIDE * TILE);
}

static void askew(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    rows_and_pieces(g, args, ASKEW_BLOCK);
}

static void many_to_many(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    (void)params;
    for (int round = 0; round < MANY_ROUNDS; round++) {
        for (int64_t i = 0; i < MANY; i++) hbg_submit(g, U, hbg_inout(BLOCK_OF(x, i)));
        for (int64_t i = 0; i < MANY; i++) hbg_submit(g, R, hbg_in(x));
    }
}

/* ---- the table ---- */

static const struct bench_shape shapes[BENCH_SHAPE_COUNT] = {
    [BENCH_ARGS] = { "args", args_of_64, BUFFERS, { { SIDE * TILE, SIDE * TILE }, 2 }, 0, NULL },
    [BENCH_ARGS_OF_3] = { "args of 3", args_of_3, 3, { { SIDE * TILE, SIDE * TILE }, 2 }, 0, NULL },
    [BENCH_CHAIN] = { "chain", chain, 1, { { BLOCK }, 1 }, 0, "chain" },
    [BENCH_INDEPENDENT] = { "independent", independent, 1, { { TASKS * BLOCK }, 1 }, 0, "independent" },
    [BENCH_WAVEFRONT] = { "wavefront", wavefront, 1, { { WAVE_SIDE * TILE, WAVE_SIDE * TILE }, 2 }, 0, "wavefront" },
    [BENCH_CHOLESKY] = { "cholesky", cholesky, 1, { { SIDE * TILE, SIDE * TILE }, 2 }, 0, "cholesky" },
    [BENCH_GEMM] = { "gemm", gemm, 3, { { GEMM_SIDE * TILE, GEMM_SIDE * TILE }, 2 }, 2, "gemm" },
    [BENCH_TREE] = { "tree", tree, 1, { { LEAVES * BLOCK }, 1 }, 0, "reduction" },
    [BENCH_RANDOM] = { "random", random_reads, 1, { { TASKS * BLOCK }, 1 }, 0, "random" },
    [BENCH_LAYERED] = { "layered", layered, 1, { { LAYERS * LAYER * BLOCK }, 1 }, 0, "layered" },
    [BENCH_WHOLE] = { "whole, tiles, whole", whole_and_tiles, 1, { { SIDE * TILE, SIDE * TILE }, 2 }, 0, NULL },
    [BENCH_TRANSPOSED] = { "transposed", transposed, 2, { { SIDE * TILE, SIDE * TILE }, 2 }, 0, NULL },
    [BENCH_RESHAPED] = { "reshaped", reshaped, 1, { { SIDE * TILE, SIDE * TILE }, 2 }, 0, NULL },
    [BENCH_ASKEW] = { "reshaped, askew", askew, 1, { { SIDE * TILE, SIDE * TILE }, 2 }, 0, NULL },
    [BENCH_MANY_TO_MANY] = { "1000 x 1000", many_to_many, 1, { { MANY * BLOCK }, 1 }, 0, NULL },
};

const struct bench_shape *hbg__bench_shape(enum bench_shape_id id) { return &shapes[id]; }

size_t hbg__bench_shape_bytes(const struct bench_shape *shape)
{
    int64_t count = 1;
    for (int d = 0; d < shape->extent.rank; d++) count *= shape->extent.dim[d];
    return (size_t)(count * hbg_dtype_size(HBG_F32));
}
