/*
 * Vector kernels with a fixed order of summation: eight running sums, whatever the registers are.
 */
#include <math.h>
#include <string.h>

#include "linalg/clones.h"
#include "linalg/dense.h"
#include "linalg/vecmath.h"

static double total8(const double s[8]) { return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])); }

#define DEFINE_SUMS(SUFFIX, TARGET, VEC)                                                                               \
    TARGET static double dot##SUFFIX(const double *x, const double *y, plx_index n)                                    \
    {                                                                                                                  \
        VEC s[PLX__VECS(VEC)] = {{0}};                                                                                 \
        plx_index i = 0;                                                                                               \
        for (; i + 8 <= n; i += 8)                                                                                     \
            for (int v = 0; v < PLX__VECS(VEC); v++) {                                                                 \
                plx_index at = i + v * PLX__LANES(VEC);                                                                \
                s[v] += *(const VEC##u *)(x + at) * *(const VEC##u *)(y + at);                                         \
            }                                                                                                          \
        double lane[8];                                                                                                \
        memcpy(lane, s, sizeof lane);                                                                                  \
        for (int l = 0; i < n; i++, l++) lane[l] += x[i] * y[i];                                                       \
        return total8(lane);                                                                                           \
    }                                                                                                                  \
    TARGET static double dist_sq##SUFFIX(const double *x, const double *y, plx_index n)                                \
    {                                                                                                                  \
        VEC s[PLX__VECS(VEC)] = {{0}};                                                                                 \
        plx_index i = 0;                                                                                               \
        for (; i + 8 <= n; i += 8)                                                                                     \
            for (int v = 0; v < PLX__VECS(VEC); v++) {                                                                 \
                plx_index at = i + v * PLX__LANES(VEC);                                                                \
                VEC d = *(const VEC##u *)(x + at) - *(const VEC##u *)(y + at);                                         \
                s[v] += d * d;                                                                                         \
            }                                                                                                          \
        double lane[8];                                                                                                \
        memcpy(lane, s, sizeof lane);                                                                                  \
        for (int l = 0; i < n; i++, l++) lane[l] += (x[i] - y[i]) * (x[i] - y[i]);                                     \
        return total8(lane);                                                                                           \
    }

PLX__EACH_WIDTH(DEFINE_SUMS)

/* Four rows at a time: x is read once, and the sums of one row do not wait for each other. */
#define DEFINE_DOT4(SUFFIX, TARGET, VEC)                                                                               \
    TARGET static void dot4##SUFFIX(double out[4], const double *rows, plx_index ld, const double *x, plx_index n)     \
    {                                                                                                                  \
        VEC s[4][PLX__VECS(VEC)] = {{{0}}};                                                                            \
        plx_index i = 0;                                                                                               \
        for (; i + 8 <= n; i += 8)                                                                                     \
            for (int v = 0; v < PLX__VECS(VEC); v++) {                                                                 \
                plx_index at = i + v * PLX__LANES(VEC);                                                                \
                VEC own = *(const VEC##u *)(x + at);                                                                   \
                for (int r = 0; r < 4; r++) s[r][v] += *(const VEC##u *)(rows + r * ld + at) * own;                    \
            }                                                                                                          \
        for (int r = 0; r < 4; r++) {                                                                                  \
            double lane[8];                                                                                            \
            memcpy(lane, s[r], sizeof lane);                                                                           \
            for (plx_index j = i; j < n; j++) lane[j - i] += rows[r * ld + j] * x[j];                                  \
            out[r] = total8(lane);                                                                                     \
        }                                                                                                              \
    }

PLX__EACH_WIDTH(DEFINE_DOT4)

void plx__dot4(double out[4], const double *rows, plx_index ld, const double *x, plx_index n)
{
    PLX__WIDEST(dot4)(out, rows, ld, x, n);
}

double plx__dot(const double *x, const double *y, plx_index n) { return PLX__WIDEST(dot)(x, y, n); }

double plx__dist_sq(const double *x, const double *y, plx_index n) { return PLX__WIDEST(dist_sq)(x, y, n); }

double plx__norm_sq(const double *x, plx_index n) { return plx__dot(x, x, n); }

double plx__norm(const double *x, plx_index n)
{
    double sq = plx__dot(x, x, n);
    if (sq > 1e-280 && sq < 1e280) return sqrt(sq);
    double big = plx__max_abs(x, n);
    if (big == 0 || !isfinite(big)) return big;
    double sum = 0;
    for (plx_index i = 0; i < n; i++) sum += x[i] / big * (x[i] / big);
    return big * sqrt(sum);
}

PLX__CLONES void plx__axpy(double *restrict y, double a, const double *restrict x, plx_index n)
{
    for (plx_index i = 0; i < n; i++) y[i] += a * x[i];
}

PLX__CLONES void plx__axpy4(double *restrict y, const double a[4], const double *restrict rows, plx_index ld,
                            plx_index n)
{
    const double *x0 = rows, *x1 = rows + ld, *x2 = rows + 2 * ld, *x3 = rows + 3 * ld;
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    for (plx_index i = 0; i < n; i++) y[i] = (((y[i] + a0 * x0[i]) + a1 * x1[i]) + a2 * x2[i]) + a3 * x3[i];
}

void plx__scale(double *x, double a, plx_index n)
{
    for (plx_index i = 0; i < n; i++) x[i] *= a;
}

double plx__max_abs(const double *x, plx_index n)
{
    double big = 0;
    for (plx_index i = 0; i < n; i++) {
        double v = fabs(x[i]);
        if (!(v <= big)) big = v;
        if (isnan(v)) return v;
    }
    return big;
}

/* x - x is 0 for finite x and NaN otherwise; NaN survives the sum. */
bool plx__all_finite(plx_cmat m)
{
    for (plx_index i = 0; i < m.rows; i++) {
        const double *row = m.data + i * m.ld;
        double zero = 0;
        for (plx_index j = 0; j < m.cols; j++) zero += row[j] - row[j];
        if (!(zero == 0)) return false;
    }
    return true;
}

/* ---- exponentials ---- */

/* out = factor exp(scale x), n a multiple of eight. */
#define DEFINE_SCALED_EXP(SUFFIX, TARGET, VEC)                                                                         \
    TARGET static void scaled_exp##SUFFIX(const double *x, plx_index n, double scale, double factor, double *out)      \
    {                                                                                                                  \
        for (plx_index i = 0; i < n; i += PLX__LANES(VEC)) {                                                           \
            VEC v = *(const VEC##u *)(x + i) * scale;                                                                  \
            PLX__EXP(VEC, v, v);                                                                                       \
            *(VEC##u *)(out + i) = v * factor;                                                                         \
        }                                                                                                              \
    }

PLX__EACH_WIDTH(DEFINE_SCALED_EXP)

void plx__exp_scaled(const double *x, plx_index n, double scale, double factor, double *out)
{
    plx_index whole = n / 8 * 8;
    double rest[8] = {0};
    PLX__WIDEST(scaled_exp)(x, whole, scale, factor, out);
    if (whole == n) return;
    memcpy(rest, x + whole, (size_t)(n - whole) * sizeof *rest);
    PLX__WIDEST(scaled_exp)(rest, 8, scale, factor, rest);
    memcpy(out + whole, rest, (size_t)(n - whole) * sizeof *rest);
}
