/*
 * The SVM dual of optim/svm_dual.h for many samples: nothing l x l is formed.
 *
 * Working sets (Osuna, Freund and Girosi 1997; Joachims 1999): some thousand samples at a time, the worst violators of
 * the optimality conditions and those between their bounds, are solved exactly on their own Gram matrix while all
 * others rest; then f is updated everywhere, through the weights of a linear kernel or by blocks of another one.
 */
#ifndef PLX_KERNEL_SVM_CHUNKS_H
#define PLX_KERNEL_SVM_CHUNKS_H

#include "kernel/expansion.h"
#include "optim/svm_dual.h"

/* sample: l rows of x; y: l values +-1 of both signs; a: l results. result->iterations counts working sets. */
plx_status plx__svm_chunks(plx_context *ctx, const plx__expansion *x, const plx_index *sample, plx_index l,
                           const double *y, const plx__svm_options *options, double *a, plx__svm_result *result);

/* Bytes it takes beyond the rows. */
double plx__svm_chunks_bytes(double l, double cols);

#endif
