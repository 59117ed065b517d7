/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp: the reference, dense and in one piece.
 *
 * K is one array, factorised as R' R with R upper triangular, row by row. The covariance is written with the cosine of
 * the double angle and with logarithms; the likelihood comes from u = inv(R') z alone. No tile, no kernel and no formula
 * of the tasks is reused.
 */
#include "gp.h"

#include <math.h>
#include <stdlib.h>

struct model {
    int64_t n;
    double *r;                          /* n x n, upper triangle */
    double *weight;                     /* inv(K) z */
    double *column;                     /* n, scratch of one prediction */
};

static double covariance(const struct gp_covariance *c, double a, double b)
{
    double d = fabs(a - b), log_trend, log_season, log_medium, log_local;

    log_trend = 2.0 * log(c->trend_amplitude) - 0.5 * pow(d / c->trend_length, 2.0);
    log_season = 2.0 * log(c->season_amplitude) - 0.5 * pow(d / c->season_decay, 2.0)
                 - (1.0 - cos(2.0 * M_PI * d)) / pow(c->season_width, 2.0);
    log_medium = 2.0 * log(c->medium_amplitude)
                 - c->medium_shape * log1p(0.5 * pow(d / c->medium_length, 2.0) / c->medium_shape);
    log_local = 2.0 * log(c->local_amplitude) - 0.5 * pow(d / c->local_length, 2.0);
    return exp(log_trend) + exp(log_season) + exp(log_medium) + exp(log_local);
}

/* R of K = R' R; row k leaves its share in all rows below */
static void factorise(struct model *m, const double *x, const struct gp_covariance *c)
{
    int64_t n = m->n;

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++)
            m->r[i * n + j] = covariance(c, x[i], x[j]) + (i == j ? c->noise * c->noise : 0.0);
    for (int64_t k = 0; k < n; k++) {
        double *row = m->r + k * n, pivot = sqrt(row[k]);
        for (int64_t j = k; j < n; j++)
            row[j] /= pivot;
        for (int64_t i = k + 1; i < n; i++)
            for (int64_t j = i; j < n; j++)
                m->r[i * n + j] -= row[i] * row[j];
    }
}

/* v = inv(R') v; returns v' v */
static double solve_transposed(const struct model *m, double *v)
{
    int64_t n = m->n;
    double sum = 0.0;

    for (int64_t k = 0; k < n; k++) {
        v[k] /= m->r[k * n + k];
        sum += v[k] * v[k];
        for (int64_t i = k + 1; i < n; i++)
            v[i] -= m->r[k * n + i] * v[k];
    }
    return sum;
}

/* the weights inv(K) (y - mean), and the log marginal likelihood on the way */
static double fit(struct model *m, const double *y, double mean)
{
    int64_t n = m->n;
    double likelihood;

    for (int64_t i = 0; i < n; i++)
        m->weight[i] = y[i] - mean;
    likelihood = -0.5 * solve_transposed(m, m->weight) - 0.5 * (double)n * log(2.0 * M_PI);
    for (int64_t k = n - 1; k >= 0; k--) {
        likelihood -= log(m->r[k * n + k]);
        for (int64_t j = k + 1; j < n; j++)
            m->weight[k] -= m->r[k * n + j] * m->weight[j];
        m->weight[k] /= m->r[k * n + k];
    }
    return likelihood;
}

int hbg__gp_golden(struct hbg_setup *s)
{
    const double *x = hbg_setup_input(s, "times"), *y = hbg_setup_input(s, "values"), *t = hbg_setup_input(s, "t");
    double *prediction = hbg_setup_expected(s, "prediction"), *deviation = hbg_setup_expected(s, "deviation");
    double *likelihood = hbg_setup_expected(s, "likelihood"), mean = 0.0;
    struct gp_covariance c;
    struct model m = { 0 };
    int64_t n = hbg_setup_count(s, "times"), times = hbg_setup_count(s, "t");
    int status = -1;

    if (!x || !y || !t || !prediction || !deviation || !likelihood || hbg__gp_covariance_params(s, &c))
        return -1;
    m.n = n;
    m.r = malloc((size_t)n * (size_t)n * sizeof *m.r);
    m.weight = malloc((size_t)n * sizeof *m.weight);
    m.column = malloc((size_t)n * sizeof *m.column);
    if (!m.r || !m.weight || !m.column) {
        status = hbg_setup_fail(s, "no memory for the reference");
        goto out_free;
    }
    for (int64_t i = 0; i < n; i++)
        mean += y[i] / (double)n;
    factorise(&m, x, &c);
    *likelihood = fit(&m, y, mean);
    for (int64_t j = 0; j < times; j++) {
        prediction[j] = mean;
        for (int64_t i = 0; i < n; i++) {
            m.column[i] = covariance(&c, x[i], t[j]);
            prediction[j] += m.column[i] * m.weight[i];
        }
        deviation[j] = sqrt(fmax(0.0, covariance(&c, t[j], t[j]) - solve_transposed(&m, m.column)));
    }
    status = 0;
out_free:
    free(m.column);
    free(m.weight);
    free(m.r);
    return status;
}
