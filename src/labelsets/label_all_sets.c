/*
 * (all-sets) Few classes, one or two views, any rules: all 2^k sets.
 *
 * h_v(y) is the value of set y in view v. The best partner of every y, max_z h_2(z) - disagree |y ^ z|, comes from one
 * pass per class: g <- max(g, g with the class flipped - disagree).
 */
#include "labelsets/label_program_impl.h"

/* A set as a number: class i at bit k - 1 - i, so that larger is lexicographically larger. */
plx_status plx__label_cube_make(uint16_t **out, plx__arena *arena, const plx__label_rules *r)
{
    void *room = NULL;
    *out = NULL;
    if (r->k > CUBE_CLASSES || r->flat) return PLX_OK;
    PLX_TRY(plx__arena_bytes(&room, arena, (plx_index)1 << r->k, sizeof **out));
    *out = room;
    for (uint32_t y = 0; y < 1u << r->k; y++) {
        uint64_t set = r->k ? (uint64_t)y << (64 - r->k) : 0;
        (*out)[y] = (uint16_t)(r->k ? plx__label_violations(r, &set) : 0);
    }
    return PLX_OK;
}

static void fill_values(double *h, const plx__label_program *p, const double *gain, int s, int v)
{
    h[0] = 0;
    for (uint32_t y = 1; y < 1u << p->k; y++) {
        int low = __builtin_ctz(y);
        h[y] = h[y & (y - 1)] + gain[(p->k - 1 - low) * s + v];
    }
    for (uint32_t y = 0; y < 1u << p->k; y++) h[y] -= p->w.violate * p->cube[y];
}

static uint32_t distance_bits(uint32_t a, uint32_t b) { return (uint32_t)__builtin_popcount(a ^ b); }

/* g[y] = max_z h[z] - disagree |y ^ z|. */
static void spread_cube(double *g, const double *h, plx_index k, double disagree)
{
    memcpy(g, h, sizeof *g << k);
    for (plx_index axis = 0; axis < k; axis++) {
        uint32_t bit = 1u << axis;
        for (uint32_t y = 0; y < 1u << k; y++) {
            if (y & bit) continue;
            double a = g[y], b = g[y | bit];
            if (b - disagree > a) g[y] = b - disagree;
            if (a - disagree > b) g[y | bit] = a - disagree;
        }
    }
}

static void set_pattern(uint16_t *pattern, plx_index k, uint32_t first, uint32_t second, int s)
{
    for (plx_index i = 0; i < k; i++) {
        unsigned a = first >> (k - 1 - i) & 1, b = second >> (k - 1 - i) & 1;
        pattern[i] = (uint16_t)(s == 1 ? a : 2 * a + b);
    }
}

static void best_one(uint16_t *pattern, const plx__label_program *p, const double *h)
{
    uint32_t count = 1u << p->k, best = 0;
    for (uint32_t y = 1; y < count; y++)
        if (h[y] > h[best]) best = y;
    uint32_t top = best;
    for (uint32_t y = top + 1; y < count; y++)
        if (h[y] >= h[top] - TIE_WINDOW) best = y; /* the largest of the equals */
    set_pattern(pattern, p->k, best, 0, 1);
}

void plx__label_all_sets(uint16_t *pattern, const plx__label_program *p, plx__label_work *work, int s)
{
    uint32_t count = 1u << p->k;
    double *h1 = work->real, *h2 = h1 + count, *g = h2 + count, best = -INFINITY;
    bool any = false;
    fill_values(h1, p, work->gain, s, 0);
    if (s == 1) {
        best_one(pattern, p, h1);
        return;
    }
    fill_values(h2, p, work->gain, s, 1);
    spread_cube(g, h2, p->k, p->w.disagree);
    for (uint32_t y = 0; y < count; y++) best = fmax(best, h1[y] + g[y]);
    for (uint32_t y = 0; y < count; y++) {
        if (h1[y] + g[y] < best - TIE_WINDOW) continue;
        for (uint32_t z = 0; z < count; z++) {
            if (h1[y] + h2[z] - p->w.disagree * distance_bits(y, z) < best - TIE_WINDOW) continue;
            set_pattern(work->trial, p->k, y, z, 2);
            if (!any || plx__label_compare(work->trial, pattern, p->k) > 0)
                memcpy(pattern, work->trial, (size_t)p->k * sizeof *pattern);
            any = true;
        }
    }
}
