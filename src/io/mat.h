/*
 * MATLAB files (v4, v5, v7, v7.3), the usual home of multi-view benchmark data.
 *
 * Views, first that applies:
 *   1. a cell array `X` (else `x`, `data`, `fea`, `views`) of matrices: view1, view2, ...;
 *   2. a struct of that name with one matrix per field: the fields' names;
 *   3. matrices X1, X2, ... (at least two): their names;
 *   4. every numeric matrix that is not the labels: their names.
 * Truth: the first of `Y`, `gt`, `truth`, `y`, `labels`, `label`, `gnd`, `truelabel`, `GT`: numbers n x 1 or
 * 1 x n, one-hot n x K or K x n (classes 1..K), a cell array of texts, or a char matrix. It is never put
 * into the labels, which stay empty.
 * A matrix may be n x d or d x n: the number of labels decides, without labels the size the views share;
 * where both fit, n x d is taken and a warning says so.
 */
#ifndef PLX_IO_MAT_H
#define PLX_IO_MAT_H

#include "parallax/dataset.h"

/* options->label, when set, names the variable that holds the truth. options may be NULL. */
plx_status plx__mat_read(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *options);

#endif
