/*
 * Nearest neighbours of the samples of a view among each other, by the parameters knn and knn_recall: exactly, or
 * approximately with the recall measured. The JSON result says what was found (knn_recall: {VIEW: share}); a warning
 * says when it is less than was asked for, and when knn=auto took the approximate search. Several processes
 * (core/ranks.h) search exactly, each for its own rows; all of them must make the call. They may have all rows or rows of
 * their own (`bound`, data/divided.h; NULL: all are here), which are moved for the search where another cut suits it.
 */
#ifndef PLX_GRAPH_NEIGHBOURS_H
#define PLX_GRAPH_NEIGHBOURS_H

#include "linalg/knn.h"
#include "run/run.h"

enum { PLX__KNN_EXACT_ROWS = 100000 }; /* knn=auto compares all pairs of so many samples */

/* Rows knn and knn_recall (per view) of a method's parameter table. */
#define PLX__KNN_PARAMS                                                                                                \
    PLX__VIEW_CHOICE("knn", "auto", "auto|exact|approx",                                                               \
                     "Search of the neighbours: exact compares all pairs of samples; approx is for very many "         \
                     "and tells the share of the neighbours it found; auto = approx beyond 100000 samples."),          \
    {                                                                                                                  \
        "knn_recall", PLX_PARAM_REAL, PLX__PER_VIEW | PLX__NO_FIELD | PLX__ABOVE_LO, 0, "0.95", 0, 1, NULL,            \
            "Share of the true neighbours that knn=approx is to find; larger is slower."                               \
    }

/* plx__knn() of the rows of a view among each other (options->self). distance may be NULL. run NULL: exact. */
plx_status plx__neighbours(plx_context *ctx, plx__run *run, const char *view, plx__points rows, const plx_index *bound,
                           const plx__knn_options *options, int64_t *index, double *distance);

/* Most bytes of the search besides its results, in n rows of `entries` values in all. */
double plx__neighbours_bytes(const plx__run *run, const char *view, plx_index k, double entries, bool sparse);

#endif
