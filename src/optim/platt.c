/*
 * Newton's method with step halving, on log sigmoids that do not overflow; a tiny ridge keeps the 2 x 2
 * Hessian invertible when all decisions are alike.
 */
#include "optim/platt.h"

#include <math.h>

#include "optim/klr.h"

enum { MOST_STEPS = 200, HALVINGS = 60 };

typedef struct curve {
    const double *s;
    const uint8_t *positive;
    plx_index n;
    double high, low; /* targets */
} curve;

double plx__platt_probability(plx__platt p, double s) { return plx__sigmoid(-(p.a * s + p.b)); }

static double loss(const curve *c, plx__platt p)
{
    double sum = 0;
    for (plx_index i = 0; i < c->n; i++) {
        double u = p.a * c->s[i] + p.b, t = c->positive[i] ? c->high : c->low;
        sum -= t * plx__log_sigmoid(-u) + (1 - t) * plx__log_sigmoid(u);
    }
    return sum;
}

/* Newton's step; returns the slope along it. */
static double newton_step(const curve *c, plx__platt p, plx__platt *step, double *gradient)
{
    double ga = 0, gb = 0, aa = 1e-12, ab = 0, bb = 1e-12;
    for (plx_index i = 0; i < c->n; i++) {
        double q = plx__platt_probability(p, c->s[i]), d = (c->positive[i] ? c->high : c->low) - q, w = q * (1 - q);
        ga += d * c->s[i];
        gb += d;
        aa += w * c->s[i] * c->s[i];
        ab += w * c->s[i];
        bb += w;
    }
    double det = aa * bb - ab * ab;
    if (!(det > 0)) det = fmax(aa * bb, 1e-300), ab = 0; /* all decisions alike */
    *step = (plx__platt){-(bb * ga - ab * gb) / det, -(aa * gb - ab * ga) / det};
    *gradient = fmax(fabs(ga), fabs(gb));
    return ga * step->a + gb * step->b;
}

plx__platt plx__platt_fit(const double *s, const uint8_t *positive, plx_index n)
{
    curve c = {.s = s, .positive = positive, .n = n};
    double plus = 0, minus = 0, gradient = 0;
    for (plx_index i = 0; i < n; i++) positive[i] ? plus++ : minus++;
    c.high = (plus + 1) / (plus + 2);
    c.low = 1 / (minus + 2);
    plx__platt p = {0, log((minus + 1) / (plus + 1))}, step;
    double f = loss(&c, p);
    for (int it = 0; it < MOST_STEPS; it++) {
        double slope = newton_step(&c, p, &step, &gradient), length = 1;
        bool moved = false;
        if (gradient <= 1e-12 * (double)n || !isfinite(slope)) break;
        for (int h = 0; h < HALVINGS && !moved; h++, length *= 0.5) {
            plx__platt next = {p.a + length * step.a, p.b + length * step.b};
            double g = loss(&c, next);
            moved = isfinite(g) && g < f + 1e-4 * length * slope;
            if (moved) p = next, f = g;
        }
        if (!moved) break;
    }
    return p;
}
