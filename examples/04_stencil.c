/* SPDX-License-Identifier: Apache-2.0 */
/* 04_stencil.c - many steps of a stencil in one graph: two grids that take turns, blocks that read their neighbours' edges.
 *
 *     step 0   a -> b      block i of b reads block i of a and one row on each side of it, so it waits for
 *     step 1   b -> a      three blocks of the step before, and for nobody else: blocks of several steps run
 *     step 2   a -> b      at the same time, and no barrier stands between the steps
 *
 * That b may not be overwritten before step 1 has read it follows from the regions as well. The result is compared with that of a
 * plain loop, bit for bit.
 */
#include <hbg/hbg.h>
#include <stdio.h>
#include <string.h>

enum { STEP, KERNEL_COUNT };
enum { ROWS = 256, COLUMNS = 96, BLOCK = 32, STEPS = 40 };

/* One row from itself and its neighbours above and below; both ends of a row stay. */
static void step_row(const float *above, const float *row, const float *below, float *to)
{
    to[0] = row[0];
    to[COLUMNS - 1] = row[COLUMNS - 1];
    for (int j = 1; j < COLUMNS - 1; j++) to[j] = row[j] + 0.2f * (above[j] + below[j] + row[j - 1] + row[j + 1] - 4 * row[j]);
}

/* Kernel: one block of rows. Its input has one row more at each end, which is where the block's neighbours begin. */
static int step(const struct hbg_task_view *t)
{
    const float *from = HBG_VIEW(const float, t, 0) + COLUMNS;
    float *to = HBG_VIEW(float, t, 1);
    for (int64_t i = 0; i < hbg_view_shape(t, 1)[0]; i++, from += COLUMNS, to += COLUMNS) step_row(from - COLUMNS, from, from + COLUMNS, to);
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(STEP, step, "in f32, out f32") };

/* Rows 1 .. ROWS of a grid of ROWS + 2 are computed; the first and the last one are the boundary and stay as they are. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region grid[2] = { hbg_args_region(args, 0), hbg_args_region(args, 1) };
    int32_t steps = hbg_args_get_i32(args, 2);
    for (int32_t s = 0; s < steps; s++) {
        for (int64_t i = 1; i <= ROWS; i += BLOCK) {
            hbg_submit(g, STEP, hbg_in(hbg_slice(grid[s % 2], 0, i - 1, i + BLOCK + 1)), hbg_out(hbg_slice(grid[(s + 1) % 2], 0, i, i + BLOCK)));
        }
    }
}

static float a[ROWS + 2][COLUMNS], b[ROWS + 2][COLUMNS], plain[2][ROWS + 2][COLUMNS];

int main(void)
{
    struct hbg_device *device = NULL;
    struct hbg_program *program = NULL;
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_result result = HBG_OPTIONS(result);
    for (int i = 0; i < ROWS + 2; i++) {
        for (int j = 0; j < COLUMNS; j++) a[i][j] = b[i][j] = plain[0][i][j] = plain[1][i][j] = (float)((i * 37 + j * 11) % 101);
    }
    options.name = "stencil";
    options.build = build;
    options.kernels = kernels;
    options.kernel_count = KERNEL_COUNT;
    enum hbg_status s = hbg_device_open("cpu", NULL, &device);
    if (!s) s = hbg_program_create(device, &options, &program);
    if (!s) s = hbg_run_sync(program, HBG_ARGS(hbg_inout(hbg_host(a, HBG_F32, HBG_SHAPE(ROWS + 2, COLUMNS))), hbg_inout(hbg_host(b, HBG_F32, HBG_SHAPE(ROWS + 2, COLUMNS))),
                                               hbg_i32(STEPS)), &result);
    if (s) fprintf(stderr, "stencil: %s: %s\n", hbg_status_name(s), result.error.text);
    for (int k = 0; k < STEPS; k++) {
        for (int i = 1; i <= ROWS; i++) step_row(plain[k % 2][i - 1], plain[k % 2][i], plain[k % 2][i + 1], plain[(k + 1) % 2][i]);
    }
    int wrong = memcmp(a, plain[0], sizeof a) != 0 || memcmp(b, plain[1], sizeof b) != 0;
    printf("%d tasks, %d edges, %s a plain loop's values\n", (int)result.tasks, (int)result.edges, wrong ? "not" : "exactly");
    hbg_program_destroy(program);
    return hbg_device_close(device) || s || wrong || result.tasks != STEPS * ROWS / BLOCK;
}
