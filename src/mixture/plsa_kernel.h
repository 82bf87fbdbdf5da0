/*
 * The inner loop of every PLSA E step: one document, one view.
 *
 * With rows u_f of a table (features x width) and the document's mixture c, over the entries (f, o) of its row:
 *     m = u_f . c,  r = o / m,  gain += r u_f,  scatter_f += r c,  log-likelihood += o log m.
 * m below 1e-300 counts as 0: r = 0, and log 1e-300 in the likelihood.
 */
#ifndef PLX_MIXTURE_PLSA_KERNEL_H
#define PLX_MIXTURE_PLSA_KERNEL_H

#include "core/base.h"

typedef struct plx__plsa_row {
    const int32_t *col;
    const double *val;
    plx_index count;
    plx_index beyond;    /* entries of later rows that follow in col: looked at only to fetch what they will need */
    plx_index width;     /* of the rows below: plx__plsa_width() of the number of classes or topics */
    const double *table; /* features x width, aligned to 64 bytes */
    const double *mix;   /* width, aligned */
    double *gain;        /* width, aligned, added to; NULL: not wanted */
    double *scatter;     /* features x width, aligned, added to; NULL: not wanted */
    bool likelihood;     /* compute the log-likelihood; else 0 is returned */
} plx__plsa_row;

/* Rows are padded with zeros to 1, 2, 4 or a multiple of 8 doubles. */
plx_index plx__plsa_width(plx_index k);

double plx__plsa_row_step(const plx__plsa_row *row);

#endif
