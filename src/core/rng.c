/*
 * Philox-4x32-10 and the distributions built on it.
 */
#include "core/rng.h"

#include <math.h>

static const double TWO_PI = 6.283185307179586476925286766559;

void plx__philox(uint32_t out[4], uint64_t seed, uint64_t stream, uint64_t counter)
{
    uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32);
    uint32_t c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* 52 bits, centred in their cell: never 0, never 1. */
static double to_unit(uint32_t hi, uint32_t lo)
{
    uint64_t bits = ((uint64_t)hi << 32 | lo) >> 12;
    return ((double)bits + 0.5) * 0x1p-52;
}

uint64_t plx__rng_u64(uint64_t seed, uint64_t stream, uint64_t counter)
{
    uint32_t b[4];
    plx__philox(b, seed, stream, counter);
    return (uint64_t)b[0] << 32 | b[1];
}

double plx__rng_uniform(uint64_t seed, uint64_t stream, uint64_t counter)
{
    uint32_t b[4];
    plx__philox(b, seed, stream, counter);
    return to_unit(b[0], b[1]);
}

double plx__rng_normal(uint64_t seed, uint64_t stream, uint64_t counter)
{
    uint32_t b[4];
    plx__philox(b, seed, stream, counter);
    return sqrt(-2.0 * log(to_unit(b[0], b[1]))) * cos(TWO_PI * to_unit(b[2], b[3])); /* Box-Muller */
}

uint64_t plx__next_u64(plx__rng *r) { return plx__rng_u64(r->seed, r->stream, r->counter++); }
double plx__next_uniform(plx__rng *r) { return plx__rng_uniform(r->seed, r->stream, r->counter++); }
double plx__next_normal(plx__rng *r) { return plx__rng_normal(r->seed, r->stream, r->counter++); }

/* Lemire's multiply-and-reject: exact for every n. */
plx_index plx__next_below(plx__rng *r, plx_index n)
{
    PLX_ASSERT(n >= 1);
    uint64_t range = (uint64_t)n, threshold = (0 - range) % range;
    for (;;) {
        __extension__ typedef unsigned __int128 wide;
        wide product = (wide)plx__next_u64(r) * range;
        if ((uint64_t)product >= threshold) return (plx_index)(product >> 64);
    }
}

/* Marsaglia and Tsang (2000); shapes below one through gamma(shape + 1) u^(1/shape). */
double plx__next_gamma(plx__rng *r, double shape)
{
    if (shape < 1.0) {
        double g = plx__next_gamma(r, shape + 1.0);
        return g * exp(log(plx__next_uniform(r)) / shape);
    }
    double d = shape - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        double x = plx__next_normal(r), t = 1.0 + c * x;
        if (t <= 0) continue;
        double v = t * t * t;
        if (log(plx__next_uniform(r)) < 0.5 * x * x + d - d * v + d * log(v)) return d * v;
    }
}

/* Small means by multiplication of uniforms; large ones are halved through the gamma waiting time
 * (Ahrens and Dieter 1974), so the loop stays short. */
double plx__next_poisson(plx__rng *r, double mean)
{
    double count = 0;
    while (mean > 16) {
        double m = floor(mean * 0.875), wait = plx__next_gamma(r, m);
        if (wait > mean) { /* the m-th event falls outside: binomial thinning of m - 1 */
            double p = mean / wait;
            for (int64_t i = 1; i < (int64_t)m; i++) count += plx__next_uniform(r) < p;
            return count;
        }
        count += m;
        mean -= wait;
    }
    double limit = exp(-mean), product = plx__next_uniform(r);
    while (product > limit) {
        count++;
        product *= plx__next_uniform(r);
    }
    return count;
}

void plx__next_dirichlet(plx__rng *r, double *out, const double *alpha, plx_index k)
{
    double sum = 0;
    for (plx_index i = 0; i < k; i++) sum += out[i] = plx__next_gamma(r, alpha[i]);
    if (sum > 0) {
        for (plx_index i = 0; i < k; i++) out[i] /= sum;
        return;
    }
    /* Every gamma underflowed (tiny alphas): the limit is a one-hot draw with odds alpha. */
    plx_index hot = plx__next_weighted(r, alpha, k);
    for (plx_index i = 0; i < k; i++) out[i] = i == hot;
}

void plx__shuffle(plx__rng *r, plx_index *items, plx_index n)
{
    for (plx_index i = n - 1; i > 0; i--) {
        plx_index j = plx__next_below(r, i + 1), t = items[i];
        items[i] = items[j];
        items[j] = t;
    }
}

void plx__permutation(plx__rng *r, plx_index *items, plx_index n)
{
    for (plx_index i = 0; i < n; i++) items[i] = i;
    plx__shuffle(r, items, n);
}

plx_index plx__next_weighted(plx__rng *r, const double *weight, plx_index n)
{
    double sum = 0;
    for (plx_index i = 0; i < n; i++) sum += weight[i];
    double u = plx__next_uniform(r) * sum;
    plx_index last = 0;
    for (plx_index i = 0; i < n; i++) {
        if (weight[i] <= 0) continue;
        last = i;
        u -= weight[i];
        if (u < 0) return i;
    }
    return last; /* rounding: the last item that can be drawn */
}
