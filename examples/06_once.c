/* SPDX-License-Identifier: Apache-2.0 */
/* 06_once.c - the shortest program: one call opens a device, runs a graph once and closes the device; whatever fails is one sentence.
 *
 * Four blocks of a vector are squared, then added up in the order in which the tasks were submitted.
 */
#include <hbg/hbg.h>
#include <stdio.h>

enum { SQUARE, ADD, N = 1000, BLOCK = 250 };

static int square(const struct hbg_task_view *t)
{
    double *x = HBG_VIEW(double, t, 0);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) x[i] *= x[i];
    return 0;
}

static int add(const struct hbg_task_view *t)
{
    const double *x = HBG_VIEW(const double, t, 0);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) *HBG_VIEW(double, t, 1) += x[i];
    return 0;
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0), sum = hbg_args_region(args, 1);
    for (int i = 0; i < N / BLOCK; i++) {
        struct hbg_region block = hbg_cell(x, HBG_SHAPE(BLOCK), HBG_SHAPE(i));
        hbg_submit(g, SQUARE, hbg_inout(block));
        hbg_submit(g, ADD, hbg_in(block), hbg_inout(sum));
    }
    (void)params;
}

int main(void)
{
    static const struct hbg_kernel kernels[] = { HBG_KERNEL(SQUARE, square, "inout f64"), HBG_KERNEL(ADD, add, "in f64, inout f64") };
    static double x[N], sum;
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_result result = HBG_OPTIONS(result);
    for (int i = 0; i < N; i++) x[i] = i;
    options.build = build;
    options.kernels = kernels;
    options.kernel_count = 2;
    struct hbg_arg arguments[] = { hbg_inout(hbg_host(x, HBG_F64, HBG_SHAPE(N))), hbg_inout(hbg_host(&sum, HBG_F64, HBG_SHAPE(1))) };
    struct hbg_arg_list list = { arguments, 2 };

    if (hbg_run_once("cpu", &options, list, &result)) {
        fprintf(stderr, "%s: %s\n", hbg_status_name(result.error.status), result.error.text);
        return 1;
    }
    printf("%d tasks, the squares below %d add up to %.0f\n", (int)result.tasks, N, sum);

    /* what fails is told of in the same place: here a device that there is not */
    if (hbg_run_once("cpu:worker=2", &options, list, &result) != HBG_E_OPTION) return 1;
    printf("%s: %s\n", hbg_status_name(result.error.status), result.error.text);
    return sum != 332833500;
}
