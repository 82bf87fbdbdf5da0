/*
 * Eigenvalues of a symmetric tridiagonal matrix by bisection on Sturm counts, many at a time.
 *
 * The count of eigenvalues below x is the number of negative pivots q_i = (d_i - x) - e_{i-1}^2 / q_{i-1}, a chain of
 * divisions. LAPACK's dstebz runs one chain after the other and waits for each division; here LANES chains run side by
 * side, with the rules of its dlaebz for tiny pivots and for when an interval is small enough.
 */
#include <float.h>
#include <math.h>

#include "core/parallel.h"
#include "linalg/clones.h"
#include "linalg/eigen_lapack.h"

enum { LANES = 32, MOST_HALVINGS = 1100 }; /* lanes: four of the widest registers keep the divider busy */

typedef struct bisection {
    plx_index n, first; /* of the matrix; the first value wanted, counted from 0 */
    const double *d;
    double *squares; /* of the off-diagonal, n - 1 */
    double low, high, tiny, width;
    double *values;
} bisection;

/* count[l] = number of eigenvalues below x[l]. */
PLX__CLONES static void count_below(const double *d, const double *squares, plx_index n, double tiny, const double *x,
                                    double *count)
{
    double q[LANES], c[LANES] = {0};
    for (int l = 0; l < LANES; l++) q[l] = INFINITY;
    for (plx_index i = 0; i < n; i++) {
        double diagonal = d[i], square = i ? squares[i - 1] : 0.0;
        for (int l = 0; l < LANES; l++) {
            double next = diagonal - square / q[l] - x[l];
            c[l] += next <= tiny ? 1.0 : 0.0;
            q[l] = next > tiny || next < -tiny ? next : -tiny;
        }
    }
    for (int l = 0; l < LANES; l++) count[l] = c[l];
}

/* Halves the intervals of values begin..end-1 (of those wanted) until all are small. */
static plx_status halve(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const bisection *b = arg;
    double low[LANES], high[LANES], middle[LANES], count[LANES];
    bool open = true;
    (void)ctx, (void)worker;
    for (int l = 0; l < LANES; l++) low[l] = b->low, high[l] = b->high;
    for (int round = 0; open && round < MOST_HALVINGS; round++) {
        open = false;
        for (int l = 0; l < LANES; l++) middle[l] = 0.5 * (low[l] + high[l]);
        count_below(b->d, b->squares, b->n, b->tiny, middle, count);
        for (plx_index j = begin; j < end; j++) {
            plx_index l = j - begin;
            double least = fmax(b->width, 2 * DBL_EPSILON * fmax(fabs(low[l]), fabs(high[l])));
            if (high[l] - low[l] < least) continue;
            *(count[l] > (double)(b->first + j) ? &high[l] : &low[l]) = middle[l];
            open = true;
        }
    }
    for (plx_index j = begin; j < end; j++) b->values[j] = 0.5 * (low[j - begin] + high[j - begin]);
    return PLX_OK;
}

bool plx__tridiagonal_splits(const double *d, const double *e, plx_index n)
{
    for (plx_index i = 0; i + 1 < n; i++)
        if (e[i] * e[i] <= DBL_EPSILON * DBL_EPSILON * fabs(d[i] * d[i + 1]) + DBL_MIN) return true;
    return false;
}

plx_status plx__tridiagonal_values(plx_context *ctx, const double *d, const double *e, plx_index n, plx_index first,
                                   plx_index count, double *values)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    bisection b = {.n = n, .first = first, .d = d, .low = d[0], .high = d[0], .tiny = DBL_MIN, .values = values};
    double largest = 0, norm;
    PLX_TRY(plx__arena_f64(&b.squares, plx__scratch(ctx), n, 1));
    for (plx_index i = 0; i < n; i++) {
        double reach = (i ? fabs(e[i - 1]) : 0.0) + (i + 1 < n ? fabs(e[i]) : 0.0);
        b.squares[i] = i + 1 < n ? e[i] * e[i] : 0.0;
        b.low = fmin(b.low, d[i] - reach); /* Gershgorin */
        b.high = fmax(b.high, d[i] + reach);
        largest = fmax(largest, b.squares[i]);
    }
    norm = fmax(fabs(b.low), fabs(b.high));
    b.tiny = DBL_MIN * fmax(1.0, largest);
    b.width = DBL_EPSILON * norm;
    b.low -= 2.1 * norm * DBL_EPSILON * (double)n + 4.2 * b.tiny;
    b.high += 2.1 * norm * DBL_EPSILON * (double)n + 2.1 * b.tiny;
    PLX_TRY(plx__parallel_for(ctx, count, LANES, halve, &b));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
