/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector: the reference. f applied k times is scale^k * s + shift * (1 + scale + .. + scale^(k-1)): two numbers for the
 * whole vector, in double precision, without blocks.
 */
#include "vector.h"

#include <math.h>

/* What rounding may do, with u = 2^-24: f turns an error e of values up to M into |scale| e, and rounds a product up to
   |scale| M and a sum up to |scale| M + |shift|. The first sum, the last product and the expected copy are rounded once. */
static double tolerance(double x, double y, double scale, double shift, int64_t steps)
{
    double most = x + y, error = 0x1p-24 * most;

    for (int64_t k = 0; k < steps && error <= 1e300; k++) {
        error = fabs(scale) * error + 0x1p-24 * (2.0 * fabs(scale) * most + fabs(shift));
        most = fabs(scale) * most + fabs(shift);
    }
    return fmin(2.0 * x * (error + 0x1p-24 * most), 1e300);      /* values that overflow are infinite in both */
}

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
    hbg_setup_tolerance(s, "z", tolerance(workload_largest_f32(x, n), workload_largest_f32(y, n), scale, shift, steps));
    return 0;
}
