/*
 * exp on eight lanes (linalg/vecmath.h) with a fixed order of summation, in the innermost loop of EM.
 */
#include "mixture/softmax.h"

#include <math.h>
#include <string.h>

#include "linalg/vecmath.h"

enum { LANES = 8 };

/* The same order of summation on every processor: lanes first, then the eight lanes. */
static double sum_lanes(const double *x) { return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7])); }

PLX__CLONES static double largest(const double *x, plx_index padded)
{
    double top[LANES];
    for (int l = 0; l < LANES; l++) top[l] = x[l];
    for (plx_index j = LANES; j < padded; j += LANES)
        for (int l = 0; l < LANES; l++) top[l] = x[j + l] > top[l] ? x[j + l] : top[l];
    for (int l = 1; l < LANES; l++) top[0] = top[l] > top[0] ? top[l] : top[0];
    return top[0];
}

#define DEFINE_EXPONENTIALS(SUFFIX, TARGET, VEC)                                                                       \
    TARGET static double exponentials##SUFFIX(double *p, const double *scores, double top, plx_index padded)           \
    {                                                                                                                  \
        VEC sum[PLX__VECS(VEC)] = {{0}};                                                                               \
        for (plx_index j = 0; j < padded; j += LANES)                                                                  \
            for (int v = 0; v < PLX__VECS(VEC); v++) {                                                                 \
                plx_index at = j + v * PLX__LANES(VEC);                                                                \
                VEC e;                                                                                                 \
                PLX__EXP(VEC, e, *(const VEC##u *)(scores + at) - top);                                                \
                *(VEC##u *)(p + at) = e;                                                                               \
                sum[v] += e;                                                                                           \
            }                                                                                                          \
        return sum_lanes((const double *)sum);                                                                         \
    }

PLX__EACH_WIDTH(DEFINE_EXPONENTIALS)

double plx__softmax8(double *p, const double *scores, plx_index padded)
{
    double top = largest(scores, padded), sum = PLX__WIDEST(exponentials)(p, scores, top, padded);
    for (plx_index j = 0; j < padded; j++) p[j] /= sum;
    return top + log(sum);
}

void plx__softmax_row(double *row, const double *offset, plx_index k)
{
    plx_index whole = k / LANES * LANES, left = k - whole;
    double top = -INFINITY, rest[LANES];
    for (plx_index c = 0; c < k; c++) {
        if (offset) row[c] += offset[c];
        top = row[c] > top ? row[c] : top;
    }
    double sum = PLX__WIDEST(exponentials)(row, row, top, whole);
    if (left) {
        for (int l = 0; l < LANES; l++) rest[l] = l < left ? row[whole + l] : -INFINITY;
        sum += PLX__WIDEST(exponentials)(rest, rest, top, LANES);
        memcpy(row + whole, rest, (size_t)left * sizeof *rest);
    }
    for (plx_index c = 0; c < k; c++) row[c] /= sum;
}

#define DEFINE_LOGS(SUFFIX, TARGET, VEC)                                                                               \
    TARGET static void logs##SUFFIX(double *out, const double *x, plx_index padded)                                    \
    {                                                                                                                  \
        for (plx_index j = 0; j < padded; j += PLX__LANES(VEC)) {                                                      \
            const VEC given = *(const VEC##u *)(x + j), least = (VEC){0} + 1e-300;                                     \
            const VEC##bits fine = given > 1e-300;                                                                     \
            VEC y, floored = (VEC)(((VEC##bits)given & fine) | ((VEC##bits)least & ~fine));                            \
            PLX__LOG(VEC, y, floored);                                                                                 \
            *(VEC##u *)(out + j) = y;                                                                                  \
        }                                                                                                              \
    }

PLX__EACH_WIDTH(DEFINE_LOGS)

void plx__log_floored8(double *out, const double *x, plx_index padded) { PLX__WIDEST(logs)(out, x, padded); }
