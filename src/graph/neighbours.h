/*
 * Nearest neighbours within one view by the parameter `knn`: exact, or by FAISS with the recall in the log and in the
 * JSON result (knn_recall: {VIEW: share of the true neighbours found}).
 */
#ifndef PLX_GRAPH_NEIGHBOURS_H
#define PLX_GRAPH_NEIGHBOURS_H

#include "run/run.h"
#include "linalg/knn.h"

/* Row knn of a method's parameter table. */
extern const plx__param_spec plx__knn_params[];

/* Is knn = approx? False for methods without the parameter. */
bool plx__knn_is_approx(const plx__run *run);

/* plx__knn of the rows of a view among each other (options->self). distance may be NULL. run NULL: exact. */
plx_status plx__neighbours(plx_context *ctx, plx__run *run, const char *view, plx__points rows,
                           const plx__knn_options *options, int64_t *index, double *distance);

/* Bytes knn = approx takes beyond the results, at most: a search in all dense views side by side. */
double plx__neighbours_bytes(const plx__run *run);

#endif
