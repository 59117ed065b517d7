/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector: the reference. f applied k times is scale^k * s + shift * (1 + scale + .. + scale^(k-1)): two numbers for the
 * whole vector, in double precision, without blocks.
 */
#include "vector.h"

int hbg__vector_golden(struct hbg_setup *s)
{
    const float *x = hbg_setup_input(s, "x"), *y = hbg_setup_input(s, "y");
    float *z = hbg_setup_expected(s, "z");
    int64_t n = hbg_setup_i64(s, "n"), steps = hbg_setup_i64(s, "steps");
    double scale = (float)hbg_setup_f64(s, "scale"), shift = (float)hbg_setup_f64(s, "shift");
    double power = 1.0, series = 0.0;

    if (!x || !y || !z)
        return -1;
    for (int64_t k = 0; k < steps; k++) {
        series += power;
        power *= scale;
    }
    for (int64_t i = 0; i < n; i++)
        z[i] = (float)((power * ((double)x[i] + y[i]) + shift * series) * x[i]);
    return 0;
}
