/* SPDX-License-Identifier: Apache-2.0 */
/* @NAME@.c - a workload of `hbg run`: y += a x, block by block, and the sum of y. */
#include <hbg/hbg.h>

enum { AXPY, SUM, KERNEL_COUNT };
enum { X, Y, TOTAL, A };                /* what a run is given, in the order in which inputs() declares it */
struct params { int64_t block; };

static int axpy(const struct hbg_task_view *t)
{
    const float *x = HBG_VIEW(const float, t, 0);
    float *y = HBG_VIEW(float, t, 1), a = hbg_view_f32(t, 2);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) y[i] += a * x[i];
    return 0;
}

static int sum(const struct hbg_task_view *t)
{
    const float *y = HBG_VIEW(const float, t, 0);
    double *total = HBG_VIEW(double, t, 1);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) *total += y[i];
    return 0;
}

static const struct hbg_kernel kernels[KERNEL_COUNT] = {
    HBG_KERNEL(AXPY, axpy, "in f32, inout f32, f32"),
    HBG_KERNEL(SUM, sum, "in f32, inout f64"),
};

/* the graph: as if the tasks ran one after the other; those that share no bytes run at the same time */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct params *p = params;
    struct hbg_region x = hbg_args_region(args, X), y = hbg_args_region(args, Y), total = hbg_args_region(args, TOTAL);
    for (int64_t i = 0; i * p->block < x.shape[0]; i++) {
        struct hbg_region xi = hbg_cell(x, HBG_SHAPE(p->block), HBG_SHAPE(i)), yi = hbg_cell(y, HBG_SHAPE(p->block), HBG_SHAPE(i));
        hbg_submit(g, AXPY, hbg_in(xi), hbg_inout(yi), hbg_args_scalar(args, A));
        hbg_submit(g, SUM, hbg_in(yi), hbg_inout(total));
    }
}

static int inputs(struct hbg_setup *s)
{
    struct params p = { hbg_setup_i64(s, "block") };
    int64_t n = hbg_setup_i64(s, "n");
    if (n < 0 || p.block < 1) return hbg_setup_fail(s, "n must be at least 0 and block at least 1");
    float *x = hbg_setup_tensor(s, "x", HBG_ARG_IN, HBG_F32, HBG_SHAPE(n)), *y = hbg_setup_tensor(s, "y", HBG_ARG_INOUT, HBG_F32, HBG_SHAPE(n));
    if (!x || !y || !hbg_setup_tensor(s, "total", HBG_ARG_INOUT, HBG_F64, HBG_SHAPE(1))) return -1;
    for (int64_t i = 0; i < n; i++) x[i] = (float)(hbg_setup_random(s) >> 40) * 0x1p-24f, y[i] = (float)i / (float)n;
    hbg_setup_scalar(s, "a", hbg_f32((float)hbg_setup_f64(s, "a")));
    hbg_setup_params(s, &p, sizeof p);
    return 0;
}

/* the reference, in double precision and without blocks */
static int golden(struct hbg_setup *s)
{
    const float *x = hbg_setup_input(s, "x"), *y = hbg_setup_input(s, "y");
    float *expected = hbg_setup_expected(s, "y"), a = (float)hbg_setup_f64(s, "a");
    double *total = hbg_setup_expected(s, "total");
    if (!x || !y || !expected || !total) return -1;
    for (int64_t i = 0; i < hbg_setup_count(s, "x"); i++) *total += expected[i] = (float)(y[i] + (double)a * x[i]);
    return 0;
}

static const char *const parameters[] = { "n=1000000  elements of x and y", "block=10000  elements that a task takes", "a=2  the factor of x", NULL };

HBG_WORKLOAD = {
    .size = sizeof(struct hbg_workload), .abi = HBG_WORKLOAD_ABI, .name = "@NAME@", .doc = "y += a x, block by block, and the sum of y",
    .params = parameters, .inputs = inputs, .build = build, .kernels = kernels, .kernel_count = KERNEL_COUNT, .golden = golden,
    .abs_tolerance = 1e-6, .rel_tolerance = 1e-6, .pure_build = true,
};
