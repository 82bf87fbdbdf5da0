/*
 * Tail probabilities of the tests: relative error about 1e-13, far tails included.
 */
#ifndef PLX_EVAL_SPECIAL_H
#define PLX_EVAL_SPECIAL_H

/* Regularised incomplete beta I_x(a, b), a, b > 0; y = 1 - x is given so that neither is lost to rounding. */
double plx__beta_inc(double a, double b, double x, double y);

/* Regularised upper incomplete gamma Q(a, x), a > 0, x >= 0. */
double plx__gamma_upper(double a, double x);

/* P(|T| >= |t|), T Student with `freedom` > 0 degrees. */
double plx__student_two_sided(double t, double freedom);

/* P(X >= x), X chi-square with `freedom` > 0 degrees. */
double plx__chi_square_upper(double x, double freedom);

/* P(|Z| >= |z|), Z standard normal. */
double plx__normal_two_sided(double z);

#endif
