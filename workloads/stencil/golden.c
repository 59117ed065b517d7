/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stencil: the reference, one plain loop over the plate for each step, in double precision.
 *
 * The tolerance. With a rate up to 1/4 a step is a weighted mean, so that errors do not grow, and no value exceeds the largest
 * one, M. A step adds those of its own: with u = 2^-24, sums up to 8 M are rounded, by at most 16 u M together, times the
 * rate, then the product by 2 u M and the last sum by u M: 7 u M a step. The expected copy is rounded once more.
 */
#include "stencil.h"

#include <stdlib.h>
#include <string.h>

static void step(int64_t rows, int64_t columns, double rate, const double *from, double *to)
{
    memcpy(to, from, (size_t)(rows * columns) * sizeof *to);
    for (int64_t i = 1; i < rows - 1; i++) {
        const double *u = from + i * columns;
        for (int64_t j = 1; j < columns - 1; j++)
            to[i * columns + j] = (1.0 - 4.0 * rate) * u[j] + rate * (u[j - columns] + u[j + columns] + u[j - 1] + u[j + 1]);
    }
}

int hbg__stencil_golden(struct hbg_setup *s)
{
    const float *u = hbg_setup_input(s, "u");
    float *result = hbg_setup_expected(s, "result");
    int64_t rows = hbg_setup_i64(s, "rows"), columns = hbg_setup_i64(s, "columns"), steps = hbg_setup_i64(s, "steps");
    int64_t count = rows * columns;
    double rate = (float)hbg_setup_f64(s, "rate"), *plate;

    if (!u || !result)
        return -1;
    plate = malloc((size_t)count * 2 * sizeof *plate + 1);
    if (!plate)
        return hbg_setup_fail(s, "no memory for the plate of the reference");
    for (int64_t i = 0; i < count; i++)
        plate[i] = u[i];
    for (int64_t k = 0; k < steps; k++)
        step(rows, columns, rate, plate + k % 2 * count, plate + (k + 1) % 2 * count);
    for (int64_t i = 0; i < count; i++)
        result[i] = (float)plate[steps % 2 * count + i];
    hbg_setup_tolerance(s, "result", 0x1p-24 * (7.0 * (double)steps + 1.0) * workload_largest_f32(u, count));
    free(plate);
    return 0;
}
