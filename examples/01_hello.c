/* SPDX-License-Identifier: Apache-2.0 */
#include <hbg/hbg.h>
#include <stdio.h>

static int axpy(const struct hbg_task_view *t)          /* a kernel: y += a x, for one block */
{
    const float *x = HBG_VIEW(const float, t, 0);
    float *y = HBG_VIEW(float, t, 1), a = hbg_view_f32(t, 2);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) y[i] += a * x[i];
    return 0;
}
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, axpy, "in f32, inout f32, f32") };

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)     /* a graph: 100 blocks */
{
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    for (int i = 0; i < 100; i++)
        hbg_submit(g, 0, hbg_in(hbg_cell(x, HBG_SHAPE(1000), HBG_SHAPE(i))), hbg_inout(hbg_cell(y, HBG_SHAPE(1000), HBG_SHAPE(i))), hbg_args_scalar(args, 2));
    (void)params;
}

int main(void)
{
    static float x[100000], y[100000];
    for (int i = 0; i < 100000; i++) x[i] = (float)i;
    struct hbg_device *device = NULL; struct hbg_program *program = NULL;
    struct hbg_program_options options = HBG_OPTIONS(program_options); struct hbg_result result = HBG_OPTIONS(result);
    options.build = build; options.kernels = kernels; options.kernel_count = 1;
    enum hbg_status s = hbg_device_open("cpu", NULL, &device);
    if (!s) s = hbg_program_create(device, &options, &program);
    if (!s) s = hbg_run_sync(program, HBG_ARGS(hbg_in(hbg_host(x, HBG_F32, HBG_SHAPE(100000))), hbg_inout(hbg_host(y, HBG_F32, HBG_SHAPE(100000))), hbg_f32(2)), &result);
    printf("%s: %d tasks, y[99999] = %.0f\n", hbg_status_text(s), (int)result.tasks, y[99999]);
    hbg_program_destroy(program);
    return hbg_device_close(device) || s || y[99999] != 199998;
}
