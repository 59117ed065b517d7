/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Student's t.
 */
#include "tools/ab/student.h"

#include <math.h>

/* The continued fraction of the incomplete beta function, evaluated from the front (Lentz). */
static double beta_fraction(double a, double b, double x)
{
    const double least = 1e-300, close = 1e-15;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0), value;

    d = 1.0 / (fabs(d) < least ? least : d);
    value = d;
    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

        d = 1.0 + even * d;
        d = 1.0 / (fabs(d) < least ? least : d);
        c = 1.0 + even / c;
        c = fabs(c) < least ? least : c;
        value *= d * c;
        d = 1.0 + odd * d;
        d = 1.0 / (fabs(d) < least ? least : d);
        c = 1.0 + odd / c;
        c = fabs(c) < least ? least : c;
        step = d * c;
        value *= step;
        if (fabs(step - 1.0) < close)
            break;
    }
    return value;
}

double hbg__beta_inc(double a, double b, double x)
{
    double front;

    if (x <= 0.0 || x >= 1.0)
        return x <= 0.0 ? 0.0 : 1.0;
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    /* the fraction converges quickly on the near side of the mean */
    return x < (a + 1.0) / (a + b + 2.0) ? front * beta_fraction(a, b, x) / a : 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

double hbg__student_cdf(double t, double df)
{
    double square = t * t, tail;

    if (square < df)                            /* near the middle: the distance from it */
        return 0.5 + copysign(0.5 * hbg__beta_inc(0.5, 0.5 * df, square / (df + square)), t);
    tail = 0.5 * hbg__beta_inc(0.5 * df, 0.5, df / (df + square));
    return t < 0.0 ? tail : 1.0 - tail;
}

static double density(double t, double df)
{
    return exp(lgamma(0.5 * (df + 1.0)) - lgamma(0.5 * df) - 0.5 * log(df * M_PI) - 0.5 * (df + 1.0) * log1p(t * t / df));
}

/* Newton's steps, and a bisection where one would leave what is known to hold the answer. */
double hbg__student_quantile(double p, double df)
{
    double low = -1.0, high = 1.0, t = 0.0;

    while (hbg__student_cdf(low, df) > p)
        low *= 2.0;
    while (hbg__student_cdf(high, df) < p)
        high *= 2.0;
    for (int i = 0; i < 200; i++) {
        double off = hbg__student_cdf(t, df) - p, next = t - off / density(t, df);

        if (off < 0.0)
            low = t;
        else
            high = t;
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        if (fabs(next - t) <= 1e-14 * (1.0 + fabs(t)))
            return next;
        t = next;
    }
    return t;
}

double hbg__student_shifted_cdf(double t, double df, double shift)
{
    double half = 0.5 * shift * shift, x = t * t / (t * t + df), sum = 0.5 * erfc(shift / sqrt(2.0));

    if (t < 0.0)
        return 1.0 - hbg__student_shifted_cdf(-t, df, -shift);
    /* a Poisson mixture of incomplete beta functions: terms grow until j is near `half`, and fall after it */
    for (int j = 0; j < 10000; j++) {
        double weight = half > 0.0 ? exp(-half + j * log(half) - lgamma(j + 1.0)) : j == 0;
        double other = half > 0.0 ? shift / sqrt(2.0) * exp(-half + j * log(half) - lgamma(j + 1.5)) : 0.0;
        double term = 0.5 * (weight * hbg__beta_inc(j + 0.5, 0.5 * df, x) + other * hbg__beta_inc(j + 1.0, 0.5 * df, x));

        sum += term;
        if (j > half && fabs(term) < 1e-16)
            break;
    }
    return sum < 0.0 ? 0.0 : sum > 1.0 ? 1.0 : sum;
}

double hbg__student_power(double shift, double df, double alpha)
{
    double t = hbg__student_quantile(1.0 - 0.5 * alpha, df);

    return 1.0 - hbg__student_shifted_cdf(t, df, shift) + hbg__student_shifted_cdf(-t, df, shift);
}
