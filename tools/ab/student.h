/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Student's t: distribution, quantile, and the noncentral one, which is the power of a t test. By the incomplete beta function as a
 * continued fraction, lgamma() and Newton's steps; good to about 12 digits for the degrees of freedom that comparisons have.
 */
#ifndef HBG_TOOLS_AB_STUDENT_H
#define HBG_TOOLS_AB_STUDENT_H

/* I_x(a, b), the regularised incomplete beta function; a, b > 0, 0 <= x <= 1. */
double hbg__beta_inc(double a, double b, double x);

/* P(T <= t) with df > 0 degrees of freedom. */
double hbg__student_cdf(double t, double df);

/* The t below which a share p of the distribution lies; 0 < p < 1. */
double hbg__student_quantile(double p, double df);

/* P(T <= t) where the mean of the normal part is `shift` (the noncentrality). */
double hbg__student_shifted_cdf(double t, double df, double shift);

/* How often a two-sided t test at level alpha finds an effect of `shift` standard errors. */
double hbg__student_power(double shift, double df, double alpha);

#endif
