/*
 * exp on eight lanes (linalg/vecmath.h) with a fixed order of summation, in the innermost loop of EM.
 */
#include "mixture/softmax.h"

#include <math.h>

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

PLX__CLONES static double exponentials(double *p, const double *scores, double top, plx_index padded)
{
    plx__v8 sum = {0};
    for (plx_index j = 0; j < padded; j += LANES) {
        plx__v8 e;
        PLX__EXP8(e, *(const plx__v8u *)(scores + j) - top);
        *(plx__v8u *)(p + j) = e;
        sum += e;
    }
    return sum_lanes((const double *)&sum);
}

double plx__softmax8(double *p, const double *scores, plx_index padded)
{
    double top = largest(scores, padded), sum = exponentials(p, scores, top, padded);
    for (plx_index j = 0; j < padded; j++) p[j] /= sum;
    return top + log(sum);
}

void plx__softmax_row(double *row, const double *offset, plx_index k)
{
    double top = -INFINITY, sum = 0;
    for (plx_index c = 0; c < k; c++) {
        if (offset) row[c] += offset[c];
        top = fmax(top, row[c]);
    }
    for (plx_index c = 0; c < k; c++) sum += row[c] = exp(row[c] - top);
    for (plx_index c = 0; c < k; c++) row[c] /= sum;
}

PLX__CLONES void plx__log_floored8(double *out, const double *x, plx_index padded)
{
    for (plx_index j = 0; j < padded; j += LANES) {
        plx__v8 y;
        double floored[LANES];
        for (int l = 0; l < LANES; l++) floored[l] = x[j + l] > 1e-300 ? x[j + l] : 1e-300;
        PLX__LOG8(y, *(const plx__v8u *)floored);
        *(plx__v8u *)(out + j) = y;
    }
}
