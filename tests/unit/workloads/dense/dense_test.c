/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tile operations against their definitions, on ragged shapes inside wider rows; nothing beside the tile is touched.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "workloads/dense/dense.h"

enum { SIDE = 9, LD = 13 };

struct matrix {
    double at[SIDE][LD];
};

static struct hbg__rng rng;

static struct matrix random_matrix(void)
{
    struct matrix m;

    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < LD; j++)
            m.at[i][j] = 2.0 * hbg__rng_f64(&rng) - 1.0;
    return m;
}

/* lower triangular with a strong diagonal; above it NaN, which must not be read */
static struct matrix random_triangle(void)
{
    struct matrix m = random_matrix();

    for (int i = 0; i < SIDE; i++)
        for (int j = i; j < LD; j++)
            m.at[i][j] = i == j ? 3.0 + hbg__rng_f64(&rng) : (double)NAN;
    return m;
}

/* equal within rounding in the first rows x columns, bit for bit elsewhere */
static void expect_tile(const struct matrix *got, const struct matrix *expected, int rows, int columns)
{
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < LD; j++) {
            if (i < rows && j < columns)
                assert_true(fabs(got->at[i][j] - expected->at[i][j]) <= 1e-13);
            else
                assert_memory_equal(&got->at[i][j], &expected->at[i][j], sizeof(double));
        }
    }
}

static void products(void **state)
{
    (void)state;
    for (int m = 1; m <= SIDE; m += 4) {
        for (int n = 1; n <= SIDE; n += 2) {
            for (int k = 1; k <= SIDE; k += 3) {
                struct matrix a = random_matrix(), b = random_matrix(), c = random_matrix();
                struct matrix nt = c, nn = c, got_nt = c, got_nn = c;
                for (int i = 0; i < m; i++)
                    for (int j = 0; j < n; j++)
                        for (int p = 0; p < k; p++) {
                            nt.at[i][j] -= a.at[i][p] * b.at[j][p];
                            nn.at[i][j] -= a.at[i][p] * b.at[p][j];
                        }
                hbg__dense_gemm_nt(m, n, k, a.at[0], LD, b.at[0], LD, got_nt.at[0], LD);
                expect_tile(&got_nt, &nt, m, n);
                hbg__dense_gemm_nn(m, n, k, a.at[0], LD, b.at[0], LD, got_nn.at[0], LD);
                expect_tile(&got_nn, &nn, m, n);
            }
        }
    }
}

static void rank_update(void **state)
{
    (void)state;
    for (int n = 1; n <= SIDE; n++) {
        struct matrix a = random_matrix(), c = random_matrix(), expected = c;
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                for (int p = 0; p < 5; p++)
                    expected.at[i][j] -= a.at[i][p] * a.at[j][p];
        hbg__dense_syrk(n, 5, a.at[0], LD, c.at[0], LD);
        expect_tile(&c, &expected, n, n);
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++)
                assert_memory_equal(&c.at[i][j], &expected.at[i][j], sizeof(double));
    }
}

/* b = x L' and b = L x are made from a known x, which the solves must bring back */
static void triangular_solves(void **state)
{
    (void)state;
    for (int m = 1; m <= SIDE; m += 2) {
        for (int n = 1; n <= SIDE; n += 2) {
            struct matrix l = random_triangle(), x = random_matrix(), right = x, left = x;
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++) {
                    right.at[i][j] = left.at[i][j] = 0.0;
                    for (int p = 0; p <= j; p++)
                        right.at[i][j] += x.at[i][p] * l.at[j][p];
                    for (int p = 0; p <= i; p++)
                        left.at[i][j] += l.at[i][p] * x.at[p][j];
                }
            hbg__dense_trsm_right(m, n, l.at[0], LD, right.at[0], LD);
            expect_tile(&right, &x, m, n);
            hbg__dense_trsm_left(m, n, l.at[0], LD, left.at[0], LD);
            expect_tile(&left, &x, m, n);
        }
    }
}

static void factorisation(void **state)
{
    (void)state;
    for (int n = 1; n <= SIDE; n++) {
        struct matrix l = random_triangle(), a = random_matrix(), expected = a;
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                a.at[i][j] = 0.0;
                for (int p = 0; p <= j; p++)
                    a.at[i][j] += l.at[i][p] * l.at[j][p];
                expected.at[i][j] = l.at[i][j];
            }
        assert_int_equal(hbg__dense_potrf(n, a.at[0], LD), 0);
        expect_tile(&a, &expected, n, n);
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++)
                assert_memory_equal(&a.at[i][j], &expected.at[i][j], sizeof(double));
    }
}

static void bad_pivot_is_named(void **state)
{
    struct matrix a = { .at = { { 4.0 }, { 2.0, 5.0 }, { 1.0, 1.0, -3.0 } } };
    (void)state;

    assert_int_equal(hbg__dense_potrf(3, a.at[0], LD), 3);
}

/* m x n x k inside rows of LD; what is only written may hold anything before */
static void product_f32(int m, int n, int k, bool add)
{
    float a[SIDE][LD], b[SIDE][LD], c[SIDE][LD], before[SIDE][LD];

    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < LD; j++) {
            a[i][j] = (float)(2.0 * hbg__rng_f64(&rng) - 1.0);
            b[i][j] = (float)(2.0 * hbg__rng_f64(&rng) - 1.0);
            c[i][j] = add || i >= m || j >= n ? (float)i - (float)j : NAN;
        }
    memcpy(before, c, sizeof c);
    hbg__dense_gemm_f32(add, m, n, k, a[0], LD, b[0], LD, c[0], LD);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < LD; j++) {
            double expected = add ? before[i][j] : 0.0;
            for (int p = 0; p < k && i < m && j < n; p++)
                expected += (double)a[i][p] * b[p][j];
            if (i < m && j < n)
                assert_true(fabs(c[i][j] - expected) <= 1e-5);
            else
                assert_memory_equal(&c[i][j], &before[i][j], sizeof(float));
        }
}

static void products_f32(void **state)
{
    (void)state;
    for (int m = 1; m <= SIDE; m += 2)
        for (int n = 1; n <= SIDE; n += 4)
            for (int k = 0; k <= SIDE; k += 3)
                for (int add = 0; add < 2; add++)
                    product_f32(m, n, k, add);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products), cmocka_unit_test(rank_update), cmocka_unit_test(triangular_solves),
        cmocka_unit_test(factorisation), cmocka_unit_test(bad_pivot_is_named), cmocka_unit_test(products_f32),
    };
    hbg__dense_prepare();
    hbg__rng_seed(&rng, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
