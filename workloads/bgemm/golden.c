/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bgemm: the reference. Each row of C is summed over all steps and columns in double precision and rounded once.
 */
#include "bgemm.h"

#include <math.h>
#include <stdlib.h>

/* of inputs up to 1: sums of some hundred products differ by 1e-5 and less */
#define BGEMM_TOLERANCE 1e-4

/* sum[0..n) += row of a times b */
static void add_row_product(int64_t n, const float *row, const float *b, double *sum)
{
    for (int64_t p = 0; p < n; p++) {
        double factor = row[p];
        for (int64_t j = 0; j < n; j++)
            sum[j] += factor * b[p * n + j];
    }
}

int hbg__bgemm_golden(struct hbg_setup *s)
{
    const float *a = hbg_setup_input(s, "a"), *b = hbg_setup_input(s, "b"), *c = hbg_setup_input(s, "c");
    float *expected = hbg_setup_expected(s, "c");
    struct bgemm_params p;
    double *sum;

    if (!a || !b || !c || !expected || hbg__bgemm_params(s, &p))
        return -1;
    sum = malloc((size_t)p.tile * sizeof *sum);
    if (!sum)
        return hbg_setup_fail(s, "no memory for a row of the reference");
    int64_t tile_size = p.tile * p.tile;
    for (int64_t row = 0; row < p.groups * p.loop * p.tile; row++) {
        int64_t group = row / (p.loop * p.tile), l = row / p.tile % p.loop, i = row % p.tile;
        for (int64_t j = 0; j < p.tile; j++)
            sum[j] = c[row * p.tile + j];
        for (int64_t k = 0; k < p.grid_k; k++) {
            int64_t at = ((group * p.grid_k + k) * p.loop + l) * tile_size;
            add_row_product(p.tile, a + at + i * p.tile, b + at, sum);
        }
        for (int64_t j = 0; j < p.tile; j++)
            expected[row * p.tile + j] = (float)sum[j];
    }
    free(sum);
    hbg_setup_tolerance(s, "c", BGEMM_TOLERANCE * fmax(workload_largest_f32(c, p.groups * p.loop * tile_size),
                                                       workload_largest_f32(a, p.groups * p.grid_k * p.loop * tile_size)
                                                       * workload_largest_f32(b, p.groups * p.grid_k * p.loop * tile_size)));
    return 0;
}
