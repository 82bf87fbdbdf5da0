/*
 * Similarity graphs: who is near whom in one view, as a symmetric CSR matrix of edge weights.
 *
 * Two samples are joined when one (`or`) or each (`and`) is among the graph_k nearest of the other; ties go to the
 * smaller index. Samples that lack the view have no edges. A view of kind kernel is a graph already.
 */
#ifndef PLX_GRAPH_SIMILARITY_H
#define PLX_GRAPH_SIMILARITY_H

#include "graph/neighbours.h"
#include "linalg/distance.h"
#include "run/run.h"

typedef enum plx__edge_weights { /* order of the words in the parameter table */
                                 PLX__EDGES_BINARY = 0,
                                 PLX__EDGES_HEAT = 1,
                                 PLX__EDGES_COSINE = 2,
                                 PLX__EDGES_LOCAL = 3
} plx__edge_weights;

typedef enum plx__laplacian_kind { /* order of the words in the parameter table */
                                   PLX__LAPLACIAN_UNNORMALIZED = 0,
                                   PLX__LAPLACIAN_NORMALIZED = 1,
                                   PLX__LAPLACIAN_SCALED = 2
} plx__laplacian_kind;

typedef struct plx__graph_settings {
    plx_index k;
    bool k_given; /* set by the user: what a kernel view goes by */
    plx__metric metric;
    plx__edge_weights weights;
    double width; /* heat: NaN = mean distance over the edges */
    bool mutual;  /* graph_sym=and */
    plx_index scale_k;
    plx__laplacian_kind laplacian;
    plx_index power;
} plx__graph_settings;

/* Rows of a method's parameter table (all per view), by the defaults of graph_k, graph_weights and laplacian. */
#define PLX__GRAPH_PARAMS(k, weights, laplacian)                                                                       \
    PLX__VIEW_INT("graph_k", k, 1, 2147483647, "Neighbours of a sample in the graph; larger is smoother and slower."), \
        PLX__VIEW_CHOICE("graph_metric", "euclid", "euclid|cosine", "Distance by which neighbours are found."),        \
        PLX__KNN_PARAMS,                                                                                               \
        PLX__VIEW_CHOICE("graph_weights", weights, "binary|heat|cosine|local",                                         \
                         "Weight of an edge: 1, exp(-d^2/(2 graph_width^2)), max(0, cosine), or exp(-d^2/(s_i s_j)) "  \
                         "with s_i the distance to the graph_scale_k-th neighbour."),                                  \
        PLX__VIEW_REAL_OR("graph_width", "mean", 0, PLX__ABOVE_LO, "mean",                                             \
                          "Width of graph_weights=heat: larger is flatter; mean = mean distance over the edges."),     \
        PLX__VIEW_CHOICE("graph_sym", "or", "or|and",                                                                  \
                         "Join two samples when either, or when each, is among the neighbours of the other."),         \
        PLX__VIEW_INT("graph_scale_k", "7", 1, 2147483647,                                                             \
                      "Neighbour that sets the local scale of graph_weights=local; larger is flatter."),               \
        PLX__VIEW_CHOICE("laplacian", laplacian, "unnormalized|normalized|scaled",                                     \
                         "D - W, I - D^-1/2 W D^-1/2, or (D - W) / mean degree."),                                     \
        PLX__VIEW_INT("laplacian_power", "1", 1, 64, "Power of the Laplacian; larger punishes rough functions more.")

extern const plx__param_spec plx__graph_params[];        /* graph_k=10, binary, normalized */
extern const plx__param_spec plx__smooth_graph_params[]; /* graph_k=10, binary, scaled: the classifiers */

/* What was asked for a view (or "concat"). */
plx_status plx__graph_settings_of(plx__graph_settings *out, plx__run *run, const char *view);

/* Nearest neighbours of every row, nearest first; -1 ends a list. */
typedef struct plx__near {
    plx_index k; /* of a row; 0: not searched for */
    int64_t *index;
    double *distance;
} plx__near;

typedef struct plx__graph_source {
    plx__points rows;       /* n rows, scaled; kernel view: n x n similarities */
    const plx_index *bound; /* rows divided among processes (data/divided.h); NULL: all are here */
    const uint8_t *present;
    bool is_kernel;
    const char *view; /* for messages */
    plx__run *run;    /* whose parameter knn counts; NULL: exact */
    plx__near near;   /* what is known of them already, by the metric of the settings */
} plx__graph_source;

/* As many neighbours as the settings ask for, or all there are, in scratch. */
plx_status plx__similarity_near(plx__near *out, plx_context *ctx, const plx__graph_source *source,
                                const plx__graph_settings *settings);

/* scale[i] = distance to the scale_k-th neighbour of row i of n, or to the last one there is; 0: it has none. */
void plx__near_scales(double *scale, const plx__near *near, plx_index n, plx_index scale_k);

/* Symmetric weights (n x n, zero diagonal) into scratch. A kernel view is taken as it is, averaged with its transpose
 * (negative entries are PLX_E_DATA), thinned to the graph_k largest entries of each row when graph_k was given. */
plx_status plx__similarity_graph(plx_csr *out, plx_context *ctx, const plx__graph_source *source,
                                 const plx__graph_settings *settings);

/* Peak bytes of the above for n samples that are not a kernel view. */
double plx__similarity_bytes(plx_index n, const plx__graph_settings *settings);

/* Bytes of the search for k neighbours in a view (or in all joined: view < 0) of this name, as scaling leaves it, and of
 * rows that other processes have and the search or the weights need. */
double plx__graph_search_bytes(const plx__run *run, plx_index view, const char *name, plx_index k);

#endif
