/*
 * Counter-based random numbers (Philox-4x32-10, Salmon et al. 2011).
 *
 * A value is a function of (seed, stream, counter): stream = purpose, counter = item. Neither the
 * number of threads nor the order of evaluation changes a draw. Streams are named where they are
 * used, for instance PLX__STREAM('n', 'b', 'f', 'd', fold): give every purpose its own.
 */
#ifndef PLX_CORE_RNG_H
#define PLX_CORE_RNG_H

#include "core/base.h"

/* Stream number from four letters and a 32-bit index (restart, fold, view, ...). */
#define PLX__STREAM(a, b, c, d, index)                                                                                 \
    (((uint64_t)(unsigned char)(a) << 56) | ((uint64_t)(unsigned char)(b) << 48) |                                     \
     ((uint64_t)(unsigned char)(c) << 40) | ((uint64_t)(unsigned char)(d) << 32) | (uint32_t)(index))

/* The raw block: 4 x 32 random bits. */
void plx__philox(uint32_t out[4], uint64_t seed, uint64_t stream, uint64_t counter);

/* Single values. */
uint64_t plx__rng_u64(uint64_t seed, uint64_t stream, uint64_t counter);
double plx__rng_uniform(uint64_t seed, uint64_t stream, uint64_t counter); /* in (0,1), never 0 or 1 */
double plx__rng_normal(uint64_t seed, uint64_t stream, uint64_t counter);

/* A sequence: successive counters of one stream. Serial by nature; for draws whose number is not
 * known in advance (rejection). */
typedef struct plx__rng {
    uint64_t seed, stream, counter;
} plx__rng;

static inline plx__rng plx__rng_start(uint64_t seed, uint64_t stream)
{
    plx__rng r = {seed, stream, 0};
    return r;
}

uint64_t plx__next_u64(plx__rng *r);
double plx__next_uniform(plx__rng *r);
double plx__next_normal(plx__rng *r);
plx_index plx__next_below(plx__rng *r, plx_index n); /* unbiased in 0..n-1, n >= 1 */
double plx__next_gamma(plx__rng *r, double shape);   /* scale 1, shape > 0 */
double plx__next_poisson(plx__rng *r, double mean);  /* integer-valued, mean >= 0 */
void plx__next_dirichlet(plx__rng *r, double *out, const double *alpha, plx_index k);

/* Unbiased Fisher-Yates over 0..n-1 in place; the permutation form fills items with 0..n-1 first. */
void plx__shuffle(plx__rng *r, plx_index *items, plx_index n);
void plx__permutation(plx__rng *r, plx_index *items, plx_index n);

/* Index drawn with probability weight[i] / sum (weights >= 0, sum > 0). */
plx_index plx__next_weighted(plx__rng *r, const double *weight, plx_index n);

#endif
