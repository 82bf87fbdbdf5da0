/*
 * Approximate nearest neighbours of the rows of one matrix among each other, by FAISS: cells around k-means centres, of
 * which the nearest few are searched in single precision. What was found is ranked as in knn.h, by directly computed
 * distances and then the smaller index; only neighbours in cells that were not searched can be missed. A row for which
 * too few were found is searched exactly. The same for every number of threads. Dense rows only.
 */
#ifndef PLX_LINALG_KNN_APPROX_H
#define PLX_LINALG_KNN_APPROX_H

#include "linalg/knn.h"

/* As plx__knn with options->self. *recall: share of the true neighbours that were found, over at most 1,000 rows drawn
 * by a stream of its own (a neighbour at the distance of the k-th counts); NaN without any neighbour. Without FAISS, and
 * for sparse rows, PLX_E_ARG; `view` is for messages. */
plx_status plx__knn_approx(plx_context *ctx, plx__points rows, const plx__knn_options *options, const char *view,
                           int64_t *index, double *distance, double *recall);

/* Bytes beyond the results: copies in single precision, and the work space of the blocks of every worker. */
double plx__knn_approx_bytes(plx_index n, plx_index cols, plx_index k, int workers);

#endif
