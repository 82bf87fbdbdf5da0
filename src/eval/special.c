/*
 * Incomplete beta and gamma functions.
 *
 * Both are a leading factor times a series or continued fraction that converges fast on its side of
 * the mean. The leading factors are written around their peak (Loader's saddle-point form):
 *
 *   x^a e^-x / Gamma(a)   = sqrt(a / 2pi) exp(-delta(a) - a phi(x/a - 1))
 *   x^a y^b  / B(a, b)    = sqrt(ab / 2pi(a+b)) exp(delta(a+b) - delta(a) - delta(b)
 *                                                   - a phi(x/x0 - 1) - b phi(y/y0 - 1)),  x0 = a/(a+b), y0 = b/(a+b)
 *
 * with delta the error of Stirling's formula and phi(u) = u - log(1+u), so that no large logarithms
 * cancel and the relative error stays near rounding for large arguments and in the far tails.
 */
#include "eval/special.h"

#include <float.h>
#include <math.h>

enum { MOST_TERMS = 1000000 };

static const double TWO_PI = 6.283185307179586477;

/* delta(x) = log Gamma(x) - ((x - 1/2) log x - x + log(2 pi)/2). */
static double stirling_error(double x)
{
    if (x < 10) {
        int sign;
        return lgamma_r(x, &sign) - ((x - 0.5) * log(x) - x + 0.5 * log(TWO_PI));
    }
    double w = 1 / (x * x); /* Bernoulli numbers B_2k / (2k (2k-1)) */
    double s = -691.0 / 360360 * w + 1.0 / 1188;
    s = s * w - 1.0 / 1680;
    s = s * w + 1.0 / 1260;
    s = s * w - 1.0 / 360;
    s = s * w + 1.0 / 12;
    return s / x;
}

/* phi(u) = u - log(1 + u) at u = x/x0 - 1. Away from 0 the logarithm is taken of the quotient itself, which keeps its
 * digits where u is near -1; near 0, with r = u/(2+u), u = 2r/(1-r) and log(1 + u) = 2 (r + r^3/3 + r^5/5 + ...). */
static double phi(double x, double x0)
{
    double u = (x - x0) / x0;
    if (u < -0.4 || u > 0.6) return u - log(x / x0);
    double r = u / (2 + u), r2 = r * r, sum = 0, power = r2 * r;
    for (int k = 3; k < 60; k += 2, power *= r2) {
        double term = power / k;
        sum += term;
        if (fabs(term) <= DBL_EPSILON * 0.01 * fabs(sum)) break;
    }
    return 2 * (r2 / (1 - r) - sum);
}

/* ---- continued fractions ---- */

/* b_0 + a_1/(b_1 + a_2/(b_2 + ...)); `get` tells a_i and b_i. */
typedef struct fraction {
    void (*get)(double *a, double *b, int i, const struct fraction *f);
    double p, q, x, y; /* parameters of the coefficients */
} fraction;

static double away_from_zero(double x) { return fabs(x) < 1e-300 ? 1e-300 : x; }

/* Number of terms after which the value stands, by Lentz's forward evaluation. */
static int terms_needed(const fraction *f)
{
    double a, b, d = 0, c;
    f->get(&a, &b, 0, f);
    c = away_from_zero(b);
    for (int i = 1; i < MOST_TERMS; i++) {
        f->get(&a, &b, i, f);
        d = 1 / away_from_zero(b + a * d);
        c = away_from_zero(b + a / c);
        if (fabs(c * d - 1) <= DBL_EPSILON) return i;
    }
    return MOST_TERMS;
}

/* Backwards, where rounding errors of the many outer terms die out instead of adding up. */
static double fraction_value(const fraction *f)
{
    double a, b, next_a, value;
    int terms = terms_needed(f);
    f->get(&a, &value, terms, f);
    for (int i = terms - 1; i >= 0; i--) {
        next_a = a;
        f->get(&a, &b, i, f);
        value = b + next_a / away_from_zero(value);
    }
    return value;
}

/* ---- beta ---- */

static double beta_factor(double a, double b, double x, double y)
{
    double s = a + b, x0 = a / s, y0 = b / s;
    double exponent = stirling_error(s) - stirling_error(a) - stirling_error(b);
    exponent -= a * phi(x, x0) + b * phi(y, y0);
    return sqrt(a * y0 / TWO_PI) * exp(exponent);
}

/* The even part of the classical fraction, in terms of lambda = a - (a+b) x = (a+b) y - b (DiDonato and Morris 1992);
 * the form with the smaller of x and y keeps its digits. */
static void beta_coefficients(double *a, double *b, int i, const fraction *f)
{
    double n = i, p = f->p, q = f->q, x = f->x, y = f->y;
    double lambda = x < y ? p - (p + q) * x : (p + q) * y - q;
    *b = n + n * (q - n) * x / (p + 2 * n - 1) + (p + n) / (p + 2 * n + 1) * (lambda + 1 + n * (1 + y));
    *a = (p + n - 1) / (p + 2 * n - 1) * (p + q + n - 1) / (p + 2 * n - 1) * n * (q - n) * x * x;
    if (i == 0) *b = p / (p + 1) * (lambda + 1); /* 0/0 above when p = 1 */
}

/* I_x(a, b) = factor / (b_0 + a_1/(b_1 + ...)); fast for x below the mean. */
static double beta_lower_side(double a, double b, double x, double y)
{
    fraction f = {beta_coefficients, a, b, x, y};
    double factor = beta_factor(a, b, x, y);
    return factor == 0 ? 0 : factor / fraction_value(&f);
}

double plx__beta_inc(double a, double b, double x, double y)
{
    if (x <= 0) return 0;
    if (y <= 0) return 1;
    if (x <= (a + 1) / (a + b + 2)) return beta_lower_side(a, b, x, y);
    return 1 - beta_lower_side(b, a, y, x);
}

/* ---- gamma ---- */

static double gamma_factor(double a, double x) { return sqrt(a / TWO_PI) * exp(-stirling_error(a) - a * phi(x, a)); }

/* P(a, x) = factor / a (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...). */
static double gamma_series(double a, double x)
{
    double term = 1, sum = 1;
    for (int k = 1; k < MOST_TERMS && term > DBL_EPSILON * 0.1 * sum; k++) {
        term *= x / (a + k);
        sum += term;
    }
    return gamma_factor(a, x) * sum / a;
}

static void gamma_coefficients(double *a, double *b, int i, const fraction *f)
{
    *a = -i * (i - f->p);
    *b = f->x + 2 * i + 1 - f->p;
}

/* Q(a, x) = factor / (x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - ...))). */
static double gamma_fraction(double a, double x)
{
    fraction f = {gamma_coefficients, a, 0, x, 0};
    double factor = gamma_factor(a, x);
    return factor == 0 ? 0 : factor / fraction_value(&f);
}

double plx__gamma_upper(double a, double x)
{
    if (x <= 0) return 1;
    if (isinf(x)) return 0;
    return x < a + 1 ? 1 - gamma_series(a, x) : gamma_fraction(a, x);
}

/* ---- distributions ---- */

double plx__student_two_sided(double t, double freedom)
{
    double square = t * t;
    return plx__beta_inc(freedom / 2, 0.5, 1 / (1 + square / freedom), 1 / (1 + freedom / square));
}

double plx__chi_square_upper(double x, double freedom) { return plx__gamma_upper(freedom / 2, x / 2); }

double plx__normal_two_sided(double z) { return erfc(fabs(z) / sqrt(2.0)); }
