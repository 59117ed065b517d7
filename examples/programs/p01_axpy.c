/* SPDX-License-Identifier: Apache-2.0 */
#include <hbg/hbg.h>
#include <stdio.h>
#include <stdlib.h>
enum { AXPY, KERNEL_COUNT };
enum { BLOCK = 4096 };
static int axpy(const struct hbg_task_view *t)
{
    const float *x = HBG_VIEW(const float, t, 0);
    float *y = HBG_VIEW(float, t, 1);
    float a = hbg_view_f32(t, 2);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) y[i] += a * x[i];
    return 0;
}
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    for (int64_t i = 0; i * BLOCK < x.shape[0]; i++)
        hbg_submit(g, AXPY, hbg_in(hbg_cell(x, HBG_SHAPE(BLOCK), HBG_SHAPE(i))),
                            hbg_inout(hbg_cell(y, HBG_SHAPE(BLOCK), HBG_SHAPE(i))), hbg_args_scalar(args, 2));
}
static const struct hbg_kernel kernels[] = { HBG_KERNEL(AXPY, axpy, "in f32, inout f32, f32") };
int main(void)
{
    int64_t n = 1000003;
    float *x = (float *)malloc((size_t)n * sizeof *x), *y = (float *)malloc((size_t)n * sizeof *y);
    if (!x || !y) return 1;
    for (int64_t i = 0; i < n; i++) { x[i] = (float)i; y[i] = 1.0f; }
    struct hbg_device *device = NULL; struct hbg_program *program = NULL;
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    o.name = "axpy"; o.build = build; o.kernels = kernels; o.kernel_count = KERNEL_COUNT;
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status s = hbg_device_open("cpu:workers=4", NULL, &device);
    if (!s) s = hbg_program_create(device, &o, &program);
    if (!s) s = hbg_run_sync(program, HBG_ARGS(hbg_in(hbg_host_const(x, HBG_F32, HBG_SHAPE(n))),
                                               hbg_inout(hbg_host(y, HBG_F32, HBG_SHAPE(n))), hbg_f32(2.0f)), &result);
    if (s) fprintf(stderr, "axpy: %s: %s\n", hbg_status_text(s), result.error.text);
    hbg_program_destroy(program);
    if (hbg_device_close(device)) s = HBG_E_BUSY;
    free(x); free(y);
    return s != HBG_OK;
}
