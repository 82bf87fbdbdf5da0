/*
 * Local models: every sample is predicted from its neighbours by a small ridge regression of its own, per view and
 * coupled between views. The prediction is linear in the neighbours' values: o_i = alpha_i f. The rows alpha_i form a
 * sparse matrix A; functions that agree with their local models make |f - A f|^2 small.
 *
 * In view v, with S the neighbours that have it (lambda the ridge weight):
 *     linear   (lambda I + G) z = 1, G the Gram matrix of x_j - x_i;  a = z / 1'z,  g = 1 / (lambda 1'z)
 *     kernel   a = k (lambda I + K)^-1,  g = k (lambda I + K)^-1 K^+ k'   (expansion over the neighbours)
 *              or g = (K(i,i) - k (lambda I + K)^-1 k') / lambda          (expansion over the sample too)
 *     weights  locally linear weights: (Q + reg trace(Q)/|S| I) b = 1, b / sum b; or the same with b >= 0
 * A view of kind kernel is a Gram matrix: distances, differences and kernel values all follow from it.
 * And over the m views: alpha = sum_v q_v a_v / sum_v q_v, q_v = 1 / (1 + m coupling g_v).
 */
#ifndef PLX_GRAPH_LOCAL_MODEL_H
#define PLX_GRAPH_LOCAL_MODEL_H

#include "kernel/kernel.h"

enum { PLX__KERNEL_LOCAL = 5 }; /* exp(-d^2 / (s_i s_j)), beside the kinds of kernel.h */

typedef enum plx__local_kind { PLX__LOCAL_LINEAR = 0, PLX__LOCAL_KERNEL = 1, PLX__LOCAL_WEIGHTS = 2 } plx__local_kind;

/* One view: the samples to be predicted (queries) and those they are predicted from, the same when fitting. */
typedef struct plx__local_view {
    const char *name;
    plx__points queries, rows;
    const plx_index *bound; /* fitting: rows divided among processes by plx__slabs_even(); NULL: all are here */
    const uint8_t *query_present, *present;
    plx_index neighbours;
    plx__metric metric;
    double lambda;                     /* fitting with relative_lambda: in units of the view on entry, as it is after */
    plx__kernel kernel;                /* kind may be PLX__KERNEL_LOCAL */
    const double *query_scale, *scale; /* local kernel: s of queries and rows */
    bool given;                        /* kind kernel: queries and rows hold similarities to the rows' samples, ... */
    const double *query_own, *own;     /* ... and these are the similarities to themselves */
} plx__local_view;

typedef struct plx__local_options {
    plx__local_kind kind;
    bool self; /* queries are the rows */
    bool full; /* kernel: expansion includes the sample itself */
    double coupling;
    bool relative_lambda; /* fitting: lambda counts in units of the view, see plx__local_matrix */
    double weights_reg;   /* PLX__LOCAL_WEIGHTS */
    bool nonnegative;
    bool lonely;            /* a query without neighbours is no error: its row is empty */
    const char *const *ids; /* of the queries, for messages */
    const char *method;
    plx__run *run; /* whose parameter knn counts when fitting; NULL: exact */
} plx__local_options;

/* A: queries x rows, the rows alpha_i over the union of the neighbours in all views; in scratch. A query without any of
 * the views gets an empty row. A query that has views but no neighbour is PLX_E_DATA.
 * relative_lambda: the lambda of every view is multiplied by its unit first. Linear models: the mean of |x_j - x_i|^2
 * over the samples i that have the view and their neighbours j in it; kernel models: the mean of K(x_i, x_i). A unit of
 * 0 counts as 1. Every view's local Gram matrix then has a mean diagonal of 1 in units of its lambda. */
plx_status plx__local_matrix(plx_csr *out, plx_context *ctx, plx__local_view *views, plx_index n_views,
                             const plx__local_options *options);

/* s_i for the local kernel: distance from every query to its k-th neighbour among the rows, or the last one. */
plx_status plx__local_scales(double **out, plx__run *run, const plx__local_view *view, bool self, plx_index k);

/* Bytes plx__local_matrix takes besides for rows of other processes, where rows are divided; all rows have `bytes`. */
double plx__local_divided_bytes(const plx_context *ctx, plx_index n, plx_index neighbours, double bytes);

/* Bytes plx__local_matrix takes for n samples with `neighbours` in all views together. */
double plx__local_bytes(plx_index n, plx_index neighbours, plx_index dense_cols, plx_index n_views, int workers);

#endif
