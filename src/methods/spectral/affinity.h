/*
 * Affinities of samples in one view: exp(-|x-z|^2 / (2 width^2)), the locally scaled exp(-|x-z|^2 / (s_x s_z)), or a
 * given non-negative matrix (views of kind kernel). Dense by blocks of rows, or sparse between nearest neighbours.
 *
 * Samples that lack the view have affinity 0 with everybody; a sample has affinity 1 with itself (a given matrix: its
 * diagonal). A new sample keeps the affinity_k nearest fitted ones; where pairs are mutual also those that would have it
 * among theirs, as between fitted samples, so that a fitted sample fed back finds its own row again.
 */
#ifndef PLX_METHODS_SPECTRAL_AFFINITY_H
#define PLX_METHODS_SPECTRAL_AFFINITY_H

#include "graph/similarity.h"
#include "kernel/prepared.h"

typedef enum plx__width_rule { /* number, or the order of the words in the parameter table */
                               PLX__WIDTH_NUMBER = -1,
                               PLX__WIDTH_MEDIAN = 0,
                               PLX__WIDTH_LOCAL = 1,
                               PLX__WIDTH_AUTO = 2
} plx__width_rule;

typedef struct plx__affinity {
    plx__run *run;
    const char *name; /* view, or "concat" */
    bool given;       /* kind kernel: rows are similarities */
    plx__points rows; /* n of them, scaled */
    plx_index n;
    const uint8_t *present;
    plx__width_rule rule;
    double width; /* NaN: given or locally scaled, or not settled yet */
    plx_index scale_k;
    const double *scale; /* local: s of every sample */
    plx_index k;         /* affinity_k; 0: dense */
    plx__near near;      /* k > 0, fitting: found once for widths and affinities; not of a given matrix */
    const double *reach; /* k > 0, predicting with mutual pairs: distance (given: similarity) of the k-th neighbour of
                            every sample; NULL: pairs are not mutual */
} plx__affinity;

/* Rows width, graph_scale_k and knn (per view) of a method's parameter table, by the default of width. */
#define PLX__AFFINITY_PARAMS(width)                                                                                    \
    PLX__VIEW_REAL_OR(                                                                                                 \
        "width", width, 0, PLX__ABOVE_LO, "median|local|auto",                                                         \
        "Width of the affinity exp(-|x-z|^2/(2 width^2)): larger joins more; median = median distance, local = "       \
        "per sample (graph_scale_k), auto = the best of width_grid by the spread of its clusters."),                   \
        PLX__VIEW_INT("graph_scale_k", "7", 1, 2147483647,                                                             \
                      "Neighbour whose distance is the scale of a sample with width=local; larger joins more."),       \
        PLX__KNN_PARAMS

/* The view (-1: concatenation) of the samples of this run, scaled; given matrices are checked (>= 0) and, with
 * `symmetric`, averaged with their transpose. Widths that need no search are settled when fitting. */
plx_status plx__affinity_open(plx__affinity *out, plx__run *run, plx_index view, plx_index k, bool symmetric);

/* Rows begin .. end-1 of the n x n matrix. */
plx_status plx__affinity_block(plx_context *ctx, const plx__affinity *a, plx_index begin, plx_index end, plx_mat out);

/* Are the affinities of every view of the data those of near pairs, or given so? Several processes (core/ranks.h) work on
 * such only: PLX_E_UNSUPPORTED with a remedy. */
bool plx__affinities_sparse(const plx__run *run, plx_index k);
plx_status plx__affinities_divide(plx__run *run, plx_index k);

/* Can the matrix be had sparse (affinity_k, or given so)? */
bool plx__affinity_is_sparse(const plx__affinity *a);

/* The sparse n x n matrix with its diagonal, in scratch; symmetric unless it was given otherwise. */
plx_status plx__affinity_csr(plx_csr *out, plx_context *ctx, const plx__affinity *a);

/* ---- new samples ---- */

/* Leaves in the model what the functions below need. */
plx_status plx__affinity_keep(plx__run *run, const plx__affinity *a, bool mutual);

/* The fitted samples, from the model; `fresh` is the same view of the new ones. */
plx_status plx__affinity_recall(plx__affinity *out, plx__run *run, const plx__affinity *fresh, bool mutual);

/* A vector of a view among the private arrays of the model. */
plx_status plx__affinity_put(plx__run *run, const char *what, const char *view, const double *values, plx_index count);
plx_status plx__affinity_get(const double **out, plx__run *run, const char *what, const char *view, plx_index count);

/* Affinities of new samples begin .. end-1 to all fitted ones. own[i] is the fitted sample that new sample i is, or
 * -1; it does not count among its own neighbours. */
plx_status plx__affinity_to_fitted(plx_context *ctx, const plx__affinity *fitted, const plx__affinity *fresh,
                                   const plx_index *own, plx_index begin, plx_index end, plx_mat out);

/* Who is who: leaves a hash of every fitted sample's id in the model, and finds new samples among them. A new sample is
 * a fitted one when the ids agree and so do the rows of all views both have (ids may be mere row numbers). */
plx_status plx__identity_keep(plx__run *run);
plx_status plx__identity_find(plx_index **own, plx__run *run, const plx__affinity *fitted, const plx__affinity *fresh,
                              plx_index n_views);

/* Bytes of the rows of a view made ready and kept, of its width, and with k > 0 or a sparse given matrix of its affinity,
 * whose entries go to *entries. */
double plx__affinity_bytes(const plx__run *run, plx_index view, plx_index k, double *entries);

#endif
