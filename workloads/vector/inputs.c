/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector: parameters, tensors and the descriptor.
 */
#include "vector.h"

int hbg__vector_inputs(struct hbg_setup *s)
{
    struct vector_params params;
    int64_t n;
    float *x, *y;

    if (hbg__workload_param(s, "n", 0, INT64_MAX, &n) || hbg__workload_param(s, "block", 1, INT64_MAX, &params.block)
        || hbg__workload_param(s, "steps", 0, 1000000, &params.steps))
        return -1;
    x = hbg_setup_tensor(s, "x", HBG_ARG_IN, HBG_F32, HBG_SHAPE(n));
    y = hbg_setup_tensor(s, "y", HBG_ARG_IN, HBG_F32, HBG_SHAPE(n));
    if (!x || !y || !hbg_setup_tensor(s, "z", HBG_ARG_OUT, HBG_F32, HBG_SHAPE(n)))
        return -1;
    workload_fill_f32(s, x, n);
    workload_fill_f32(s, y, n);
    hbg_setup_scalar(s, "scale", hbg_f32((float)hbg_setup_f64(s, "scale")));
    hbg_setup_scalar(s, "shift", hbg_f32((float)hbg_setup_f64(s, "shift")));
    hbg_setup_params(s, &params, sizeof params);
    return 0;
}

static const char *const params[] = {
    "n=1048576  elements of each vector",
    "block=65536  elements that a task takes",
    "steps=4  how often f is applied",
    "scale=0.5  of f",
    "shift=1.0  of f",
    NULL,
};

const struct hbg_workload hbg__vector_workload = {
    WORKLOAD_PARTS(vector, VECTOR_KERNEL_COUNT),
    .doc = "elementwise chain over blocks: z = x * f(..f(x + y)) with f(s) = scale * s + shift, `steps` times",
    .pure_build = true,
};
