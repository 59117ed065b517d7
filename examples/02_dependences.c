/* SPDX-License-Identifier: Apache-2.0 */
/* 02_dependences.c - nobody says what waits for what: hbg sees it in the regions that tasks read and write.
 *
 *     fill 16 tiles of a matrix    ->  each column's sum waits for the 4 tiles that it crosses
 *     column sums (4 at once)      ->  the halving of the matrix waits for all that still read it
 *     halve the matrix             ->  each row's sum waits for it; rows are columns of the transposed view
 *     row sums into an intermediate, which lives until its scope ends
 */
#include <hbg/hbg.h>
#include <stdio.h>

enum { FILL, SUM, HALVE, TOTAL, KERNEL_COUNT };
enum { SIDE = 512, TILE = 128, TILES = SIDE / TILE };

static double *element(const struct hbg_task_view *t, int arg, int64_t i, int64_t j)
{
    const int64_t *stride = hbg_view_stride_bytes(t, arg);
    return (double *)(void *)(HBG_VIEW(char, t, arg) + i * stride[0] + j * stride[1]);
}

static int fill(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_shape(t, 0)[0]; i++) {
        for (int64_t j = 0; j < hbg_view_shape(t, 0)[1]; j++) *element(t, 0, i, j) = (double)(hbg_view_i64(t, 1) + i);
    }
    return 0;
}

/* Sums of a block of columns; given the transposed view, of rows. */
static int sum(const struct hbg_task_view *t)
{
    double *sums = HBG_VIEW(double, t, 1);
    for (int64_t j = 0; j < hbg_view_shape(t, 0)[1]; j++) {
        sums[j] = 0;
        for (int64_t i = 0; i < hbg_view_shape(t, 0)[0]; i++) sums[j] += *element(t, 0, i, j);
    }
    return 0;
}

static int halve(const struct hbg_task_view *t)
{
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) HBG_VIEW(double, t, 0)[i] /= 2;
    return 0;
}

static int total(const struct hbg_task_view *t)
{
    double all = 0;
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) all += HBG_VIEW(const double, t, 0)[i];
    *HBG_VIEW(double, t, 1) = all;
    return 0;
}

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(FILL, fill, "out f64, i64"), HBG_KERNEL(SUM, sum, "in f64, out f64"),
    HBG_KERNEL(HALVE, halve, "inout f64"), HBG_KERNEL(TOTAL, total, "in f64, out f64"),
};

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region m = hbg_args_region(args, 0), columns = hbg_args_region(args, 1), all = hbg_args_region(args, 2);
    for (int64_t i = 0; i < TILES; i++) {
        for (int64_t j = 0; j < TILES; j++) hbg_submit(g, FILL, hbg_out(hbg_cell(m, HBG_SHAPE(TILE, TILE), HBG_SHAPE(i, j))), hbg_i64(i * TILE));
    }
    for (int64_t j = 0; j < TILES; j++) {
        hbg_submit(g, SUM, hbg_in(hbg_cell(m, HBG_SHAPE(SIDE, TILE), HBG_SHAPE(0, j))), hbg_out(hbg_cell(columns, HBG_SHAPE(TILE), HBG_SHAPE(j))));
    }
    hbg_submit(g, HALVE, hbg_inout(m));
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    struct hbg_region rows = hbg_alloc(g, HBG_F64, HBG_SHAPE(SIDE)), transposed = hbg_permute(m, HBG_SHAPE(1, 0));
    for (int64_t i = 0; i < TILES; i++) {
        hbg_submit(g, SUM, hbg_in(hbg_cell(transposed, HBG_SHAPE(SIDE, TILE), HBG_SHAPE(0, i))), hbg_out(hbg_cell(rows, HBG_SHAPE(TILE), HBG_SHAPE(i))));
    }
    hbg_submit(g, TOTAL, hbg_in(rows), hbg_out(all));
    hbg_scope_end(g);
}

int main(void)
{
    static double m[SIDE][SIDE], columns[SIDE];
    double all = 0, expected = SIDE * (SIDE - 1) / 2.0;         /* of each column: 0 + 1 + .. + 511 */
    struct hbg_device *device = NULL;
    struct hbg_program *program = NULL;
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_result result = HBG_OPTIONS(result);
    options.name = "dependences";
    options.build = build;
    options.kernels = kernels;
    options.kernel_count = KERNEL_COUNT;
    enum hbg_status s = hbg_device_open("cpu", NULL, &device);
    if (!s) s = hbg_program_create(device, &options, &program);
    if (!s) s = hbg_run_sync(program, HBG_ARGS(hbg_out(hbg_host(m, HBG_F64, HBG_SHAPE(SIDE, SIDE))), hbg_out(hbg_host(columns, HBG_F64, HBG_SHAPE(SIDE))),
                                               hbg_out(hbg_host(&all, HBG_F64, HBG_SHAPE(1)))), &result);
    if (s) fprintf(stderr, "dependences: %s: %s\n", hbg_status_name(s), result.error.text);
    int wrong = all != expected * SIDE / 2;
    for (int j = 0; j < SIDE; j++) wrong += columns[j] != expected;
    printf("%d tasks, %d edges, total %.0f, %d wrong values\n", (int)result.tasks, (int)result.edges, all, wrong);
    hbg_program_destroy(program);
    return hbg_device_close(device) || s || wrong;
}
