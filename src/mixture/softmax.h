/*
 * Responsibilities of a row: softmax with the row maximum subtracted, eight components at a time.
 *
 * Rows of mixtures are padded to whole groups of eight; a padding entry of the scores is PLX__PAD_SCORE and its
 * probability comes out as exactly 0.
 */
#ifndef PLX_MIXTURE_SOFTMAX_H
#define PLX_MIXTURE_SOFTMAX_H

#include "core/base.h"

#define PLX__PAD_SCORE (-1e300)

static inline plx_index plx__padded(plx_index m) { return (m + 7) / 8 * 8; }

/* p = softmax(scores), both `padded` long; returns log sum exp(scores). p may be scores itself. */
double plx__softmax8(double *p, const double *scores, plx_index padded);

/* A row as it is, unpadded: row = softmax(row + offset); offset NULL: none. -INFINITY gives exactly 0. */
void plx__softmax_row(double *row, const double *offset, plx_index k);

/* out_j = log max(x_j, 1e-300): what the logarithm of a probability is taken as. */
void plx__log_floored8(double *out, const double *x, plx_index padded);

#endif
