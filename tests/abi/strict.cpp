/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A C++ user's file with more warnings than C code usually has. It is compiled and not run: each macro and each inline function of the
 * headers is used, so that one which warns is seen.
 */
#include <hbg/hbg.h>

namespace {

struct params { int64_t n; };

int kernel(const hbg_task_view *t)
{
    const float *x = HBG_VIEW(const float, t, 0);
    const params *p = HBG_VIEW(const params, t, 2);
    float *y = HBG_VIEW(float, t, 1), a = hbg_view_f32(t, 3);
    double sum = hbg_view_f64(t, 4) + static_cast<double>(hbg_view_i64(t, 5) + hbg_view_i32(t, 6) + hbg_view_u32(t, 7) + p->n);
    if (hbg_view_bool(t, 8) && hbg_view_contiguous(t, 0) && hbg_view_u64(t, 9) > 0 && hbg_view_rank(t, 0) == 1 && hbg_view_dtype(t, 0) == HBG_F32)
        sum += static_cast<double>(hbg_view_shape(t, 0)[0] + hbg_view_stride_bytes(t, 0)[0] + hbg_view_ld(t, 0) + hbg_view_layout(t, 0)->count);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) y[i] += a * x[i];
    return hbg_view_data(t, 0) == nullptr || sum < 0.0;
}

const hbg_kernel kernels[] = { HBG_KERNEL(0, kernel, "in f32, inout f32, bytes, f32, f64, i64, i32, u32, bool, u64") };

void build(hbg_graph *g, const hbg_args *args, const void *given)
{
    const params *p = static_cast<const params *>(given);
    hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1), u = hbg_alloc(g, HBG_F32, HBG_SHAPE(3, 4));
    hbg_task_options options = HBG_OPTIONS(task_options);
    hbg_task task = hbg_submit(g, 0, hbg_in(hbg_cell(x, HBG_SHAPE(1000), HBG_SHAPE(1))), hbg_inout(hbg_slice(y, 0, 0, 1000)), hbg_bytes(p, sizeof *p),
                               hbg_args_scalar(args, 2), hbg_f64(1.0), hbg_i64(1), hbg_i32(-1), hbg_u32(1), hbg_bool(true), hbg_u64(1));
    (void)hbg_submit(g, 0);
    (void)hbg_submit_ex(g, 0, options, hbg_out(u), hbg_after(task));
    (void)hbg_noop(g, hbg_in(u), hbg_untracked(x), hbg_f32(1.0F));
    (void)hbg_submit_args(g, 0, HBG_NO_ARGS);
}

int inputs(hbg_setup *s)
{
    params p = { hbg_setup_i64(s, "n") };
    hbg_key key = HBG_KEY("strict", p);
    hbg_setup_params(s, &p, sizeof p);
    return hbg_setup_tensor(s, "x", HBG_ARG_IN, HBG_F32, HBG_SHAPE(p.n)) == nullptr || key.params_size != sizeof p;
}

hbg_workload workload()
{
    hbg_workload w = {};
    w.size = sizeof w;
    w.abi = HBG_WORKLOAD_ABI;
    w.name = w.doc = "strict";
    w.inputs = inputs;
    w.build = build;
    w.kernels = kernels;
    w.kernel_count = 1;
    return w;
}

} // namespace

HBG_WORKLOAD = workload();

int main()
{
    static float x[1000];
    hbg_device *device = nullptr;
    hbg_program *program = nullptr;
    hbg_device_options device_options = HBG_OPTIONS(device_options);
    hbg_program_options options = HBG_OPTIONS(program_options);
    hbg_run_options run_options = HBG_OPTIONS(run_options);
    hbg_error error = HBG_OPTIONS(error);
    hbg_result result = HBG_OPTIONS(result);
    hbg_counters counters = HBG_OPTIONS(counters);
    hbg_running running = HBG_OPTIONS(running);
    hbg_graph_info graph = HBG_OPTIONS(graph_info);
    hbg_run run;
    options.build = build;
    options.kernels = kernels;
    options.kernel_count = 1;
    options.error = device_options.error = run_options.error = &error;
    hbg_status s = hbg_device_open("cpu", &device_options, &device);
    if (!s) s = hbg_program_create(device, &options, &program);
    if (!s) s = hbg_run_prepare(program, HBG_ARGS(hbg_in(hbg_host_const(x, HBG_F32, HBG_SHAPE(1000)))), &run_options, &run);
    if (!s) s = hbg_run_sync(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_RECORD(4), HBG_SHAPE(1000)))), &result);
    hbg_device_counters(device, &counters);
    return s || hbg_running_get(&running) != HBG_INSIDE_NOTHING || graph.size == 0;
}
