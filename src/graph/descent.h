/*
 * Approximate nearest neighbours within one view, for more samples than all pairs can be compared of: nearest-neighbour
 * descent (Dong, Moses and Li 2011) from the leaves of random-projection trees.
 *
 * The recall (the share of the true neighbours that are found) is measured against exact search on a sample of rows,
 * after every round; work goes on until it reaches the target or a bound. What was found is ranked by directly computed
 * distances, ordered as in linalg/knn.h. A seed gives the same bytes for any number of threads.
 */
#ifndef PLX_GRAPH_DESCENT_H
#define PLX_GRAPH_DESCENT_H

#include "linalg/knn.h"

typedef struct plx__descent_report {
    double recall;            /* on the sample of rows; 1 where the search was exact */
    plx_index rounds, length; /* of the descent, and the neighbours held per row at its end */
    bool exact;               /* too few rows for anything else */
    bool out_of_time;         /* the time limit ended it */
} plx__descent_report;

/* Neighbours of the rows among each other: as plx__knn() with options->self. Goes on until the measured recall is at
 * least `target`. distance may be NULL. */
plx_status plx__descent_knn(plx_context *ctx, plx__points rows, const plx__knn_options *options, double target,
                            int64_t *index, double *distance, plx__descent_report *report);

/* Most bytes of the above, as plx__knn_bytes(). */
double plx__descent_bytes(const plx_context *ctx, plx_index n, plx_index k, double entries, bool sparse);

#endif
