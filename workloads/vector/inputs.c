/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector: parameters, tensors and the descriptor.
 */
#include "vector.h"

int hbg__vector_inputs(struct hbg_setup *s)
{
    int64_t n = hbg_setup_i64(s, "n");
    struct vector_params params = { hbg_setup_i64(s, "block"), hbg_setup_i64(s, "steps") };
    float *x, *y;

    if (n < 0)
        return hbg_setup_fail(s, "n must be at least 0");
    if (params.block < 1)
        return hbg_setup_fail(s, "block must be at least 1");
    if (params.steps < 0)
        return hbg_setup_fail(s, "steps must be at least 0");

    x = hbg_setup_tensor(s, "x", HBG_ARG_IN, HBG_F32, HBG_SHAPE(n));
    y = hbg_setup_tensor(s, "y", HBG_ARG_IN, HBG_F32, HBG_SHAPE(n));
    if (!x || !y || !hbg_setup_tensor(s, "z", HBG_ARG_OUT, HBG_F32, HBG_SHAPE(n)))
        return -1;
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)workload_uniform(s);
        y[i] = (float)workload_uniform(s);
    }
    hbg_setup_scalar(s, "scale", hbg_f32((float)hbg_setup_f64(s, "scale")));
    hbg_setup_scalar(s, "shift", hbg_f32((float)hbg_setup_f64(s, "shift")));
    hbg_setup_params(s, &params, sizeof params);
    return 0;
}

static const char *const params[] = { "n=1048576", "block=65536", "steps=4", "scale=0.5", "shift=1.0", NULL };

const struct hbg_workload hbg__vector_workload = {
    .size = sizeof(struct hbg_workload),
    .abi = HBG_WORKLOAD_ABI,
    .name = "vector",
    .doc = "elementwise chain over blocks: z = x * f(..f(x + y)) with f(s) = scale * s + shift, `steps` times",
    .params = params,
    .inputs = hbg__vector_inputs,
    .build = hbg__vector_build,
    .kernels = hbg__vector_kernels,
    .kernel_count = VECTOR_KERNEL_COUNT,
    .golden = hbg__vector_golden,
    .abs_tolerance = 1e-5,
    .rel_tolerance = 1e-5,
    .pure_build = true,
};
