/*
 * Cholesky, Jacobi eigenvectors and an active-set method for the simplex (Lawson and Hanson's idea), written
 * out here because calls of LAPACK for ten unknowns cost more than the work.
 */
#include "graph/local_solve.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* L L' = A; the loops run along rows, which are contiguous. */
static bool factor(double *a, plx_index n)
{
    for (plx_index i = 0; i < n; i++) {
        double *row = a + i * n;
        for (plx_index j = 0; j <= i; j++) {
            const double *other = a + j * n;
            double sum = row[j];
            for (plx_index k = 0; k < j; k++) sum -= row[k] * other[k];
            if (j < i) row[j] = sum / other[j];
            else if (!(sum > 0)) return false;
            else row[i] = sqrt(sum);
        }
    }
    return true;
}

bool plx__small_solve(double *a, double *x, plx_index n)
{
    if (!factor(a, n)) return false;
    for (plx_index i = 0; i < n; i++) {
        double sum = x[i];
        for (plx_index k = 0; k < i; k++) sum -= a[i * n + k] * x[k];
        x[i] = sum / a[i * n + i];
    }
    for (plx_index i = n - 1; i >= 0; i--) {
        x[i] /= a[i * n + i];
        for (plx_index k = 0; k < i; k++) x[k] -= a[i * n + k] * x[i];
    }
    return true;
}

/* ---- eigenvalues ---- */

/* Rotation in the plane (p, q) that makes a_pq zero, applied to A on both sides and to the columns of U. */
static void rotate(double *a, double *u, plx_index n, plx_index p, plx_index q)
{
    double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
    double t = (theta >= 0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (plx_index k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (plx_index k = 0; k < n; k++) {
        double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
    }
    for (plx_index k = 0; k < n; k++) {
        double x = u[k * n + p], y = u[k * n + q];
        u[k * n + p] = c * x - s * y;
        u[k * n + q] = s * x + c * y;
    }
}

void plx__small_eigen(double *a, double *e, double *u, plx_index n)
{
    double largest = 0;
    memset(u, 0, (size_t)(n * n) * sizeof *u);
    for (plx_index i = 0; i < n; i++) u[i * n + i] = 1.0, largest = fmax(largest, fabs(a[i * n + i]));
    for (int sweep = 0; sweep < 60; sweep++) {
        bool changed = false;
        for (plx_index p = 0; p < n; p++)
            for (plx_index q = p + 1; q < n; q++) {
                if (fabs(a[p * n + q]) <= 1e-2 * DBL_EPSILON * largest) continue;
                rotate(a, u, n, p, q);
                changed = true;
            }
        if (!changed) break;
    }
    for (plx_index i = 0; i < n; i++) e[i] = a[i * n + i];
}

/* ---- on the simplex ---- */

/* z on the active set: A_PP z = 1 scaled to sum 1; 0 elsewhere. */
static void solve_active(const double *a, double *z, plx_index n, const uint8_t *active, double *matrix, double *rhs)
{
    plx_index count = 0, row = 0;
    for (plx_index i = 0; i < n; i++) count += active[i];
    for (plx_index i = 0; i < n; i++) {
        if (!active[i]) continue;
        plx_index col = 0;
        for (plx_index j = 0; j < n; j++)
            if (active[j]) matrix[row * count + col++] = a[i * n + j];
        rhs[row++] = 1.0;
    }
    bool solved = plx__small_solve(matrix, rhs, count);
    double sum = 0;
    for (plx_index i = 0; i < count; i++) sum += solved ? rhs[i] : 1.0;
    row = 0;
    for (plx_index i = 0; i < n; i++) {
        z[i] = active[i] ? (solved ? rhs[row] : 1.0) / sum : 0.0;
        row += active[i];
    }
}

/* b moves towards z until it is there or a weight becomes 0, which then leaves the set; true when it arrived. */
static bool move_towards(double *b, const double *z, plx_index n, uint8_t *active)
{
    double step = 1.0;
    plx_index leaves = -1;
    for (plx_index i = 0; i < n; i++) {
        if (!active[i] || z[i] > 0 || b[i] == z[i]) continue;
        double reach = b[i] / (b[i] - z[i]);
        if (reach < step || leaves < 0) step = fmin(step, reach), leaves = i;
    }
    for (plx_index i = 0; i < n; i++) b[i] += step * (z[i] - b[i]);
    if (leaves < 0) return true;
    active[leaves] = 0;
    b[leaves] = 0.0;
    return false;
}

/* The weight that would gain most by becoming positive (gradient below b'Ab), or -1. */
static plx_index next_weight(const double *a, const double *b, plx_index n, const uint8_t *active)
{
    double level = 0, least = 0;
    plx_index best = -1;
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < n; j++) level += b[i] * a[i * n + j] * b[j];
    for (plx_index i = 0; i < n; i++) {
        double gradient = -level;
        if (active[i]) continue;
        for (plx_index j = 0; j < n; j++) gradient += a[i * n + j] * b[j];
        if (gradient < least - 1e-12 * level) least = gradient, best = i;
    }
    return best;
}

void plx__small_simplex(const double *a, double *b, plx_index n, double *work, uint8_t *active)
{
    double *matrix = work, *rhs = work + n * n, *z = rhs + n;
    memset(active, 1, (size_t)n);
    for (plx_index i = 0; i < n; i++) b[i] = 1.0 / (double)n;
    for (plx_index round = 0; round < 10 * n + 10; round++) {
        solve_active(a, z, n, active, matrix, rhs);
        if (!move_towards(b, z, n, active)) continue;
        plx_index enters = next_weight(a, b, n, active);
        if (enters < 0) return;
        active[enters] = 1;
    }
}
