/*
 * Inside of hknn: ensembles of K-local-hyperplane nearest-neighbour classifiers over subsets of the views.
 *
 * Everything is computed from squared distances, which add over the views of a subset: with the K nearest training
 * samples N_i of a class, nb their mean, v_i = N_i - nb, r = x - nb, a_i = |x - N_i|^2 and b_ij = |N_i - N_j|^2,
 *
 *     v_i'v_j = -(b_ij - b_i. - b_.j + b..) / 2,   |r|^2 = a. - b.. / 2,   r'v_i = (|r|^2 + |v_i|^2 - a_i) / 2
 *
 * (a dot is a mean over the neighbours), so one matrix per view serves all subsets.
 */
#ifndef PLX_METHODS_HKNN_HKNN_H
#define PLX_METHODS_HKNN_HKNN_H

#include "kernel/prepared.h"
#include "run/problem.h"

enum { HKNN_PENALISED = 0, HKNN_RESIDUAL = 1 };
enum { HKNN_CRV = 0, HKNN_VOTE = 1, HKNN_AUTO = 2 };

typedef struct hknn_params {
    plx__value k, lambda, k_grid, lambda_grid, max_subset;
    int distance, balance, missing, combine;
    const char *select, *validation;
    plx_index members, start;
} hknn_params;

/* Subsets of the views, in order of size, then lexicographic. */
typedef struct hknn_subsets {
    plx_index count;
    const plx_index *ptr; /* views of subset s: view[ptr[s] .. ptr[s+1]) */
    const int32_t *view;
    const char **name; /* views joined by '+' */
} hknn_subsets;

/* K and lambda of a subset. */
typedef struct hknn_setting {
    plx_index k;
    double lambda;
} hknn_setting;

/* Rows of some samples in every view: scaled, balanced, zero where the view is missing. */
typedef struct hknn_rows {
    plx_index n;
    plx__points *view;  /* per view */
    const uint8_t *has; /* n x views */
} hknn_rows;

typedef struct hknn {
    plx__run *run;
    plx_context *ctx;
    const hknn_params *set;
    plx_index n_views, classes;
    hknn_rows all;                /* the samples of this run */
    hknn_rows train;              /* training samples, grouped by class, in sample order within one */
    const plx_index *class_begin; /* classes + 1: where the training samples of a class begin */
    plx_mat *between;             /* per view: squared distances of the training samples, l x l */
    hknn_subsets subsets;         /* those considered */
    hknn_setting *setting;        /* per subset */
    double *error;                /* per subset: leave-one-out error */
    const plx_index *place;       /* n: place of a sample among the training samples, -1; NULL: nobody is one */
    int32_t *loo;                 /* l x subsets: leave-one-out predictions of the training samples, -1: none */
} hknn;

/* ---- subsets (hknn_subsets.c) ---- */

/* All subsets up to max_subset views, or those of select = list:..., in scratch. */
plx_status plx__hknn_subsets(hknn *h);
plx_status plx__hknn_subset_parse(hknn *h, const char *list);

/* ---- distances (hknn_distance.c) ---- */

/* One sample to be classified: its squared distances to the training samples in every view. */
typedef struct hknn_query {
    const double *const *row; /* per view: l */
    const uint8_t *has;       /* per view */
    plx_index own;            /* its place among the training samples, -1: none; it is not its own neighbour */
} hknn_query;

/* Room for one thread's work, for neighbourhoods of up to most_k. */
typedef struct hknn_work {
    double *total, *candidate, *matrix, *vector;
    int32_t *index, *neighbour;
    plx_index most_k, *found;
} hknn_work;

plx_status plx__hknn_work_new(hknn_work **out, const hknn *h, plx_index most_k);
double plx__hknn_work_bytes(double l, double classes, double most_k);

/* The nearest training samples of every class in subset s; false when s does not serve the query. */
bool plx__hknn_neighbours(hknn_work *w, const hknn *h, const hknn_query *q, plx_index s);
/* After that: d_c for every class (infinite without candidates) and the class with the smallest, -1: none. */
int32_t plx__hknn_classify(double *distance, hknn_work *w, const hknn *h, plx_index s, hknn_setting by);

/* ---- predictions of subsets (hknn_members.c) ---- */

/* Leave-one-out predictions, errors and (k, lambda = cv) settings of all subsets; those without any prediction go. */
plx_status plx__hknn_leave_one_out(hknn *h);
/* Predictions (rows x count, -1: none) of the subsets `chosen` for the samples `rows` of h->all; distances (rows x
 * classes) of the only subset when not NULL. */
plx_status plx__hknn_predict(int32_t *out, plx_mat *distances, const hknn *h, const plx_index *rows, plx_index n_rows,
                             const int32_t *chosen, plx_index count);

/* ---- combination (hknn_combine.c) ---- */

/* How vectors of member predictions become classes: against the training vectors, or by vote. */
typedef struct hknn_combiner {
    plx_index l, members, classes, stride; /* training vectors l x members, rows `stride` apart */
    const int32_t *vectors;
    const int32_t *truth; /* l */
    bool vote;
    int32_t majority; /* for samples no member predicts */
} hknn_combiner;

/* Class of a vector (-1: no member has a prediction) and the share of every class; `own`: left out, -1: nobody. */
int32_t plx__hknn_combine(double *share, const hknn_combiner *c, const int32_t *vector, plx_index own, int32_t *count);

/* Wrong share over vectors (rows x members, `stride` apart) with these true classes. `own`: they are the training
 * vectors themselves. */
plx_status plx__hknn_error(double *out, plx_context *ctx, const hknn_combiner *c, const int32_t *vectors,
                           plx_index stride, const int32_t *truth, plx_index n, bool own);

/* ---- selection (hknn_select.c) ---- */

/* The most frequent class of the training samples. */
int32_t plx__hknn_majority(const hknn *h);

/* What members are chosen on: the training samples' own vectors, or validation samples. */
typedef struct hknn_validation {
    plx_index n;
    const int32_t *vectors; /* n x subsets; NULL: leave-one-out */
    const int32_t *truth;
} hknn_validation;

typedef struct hknn_ensemble {
    int32_t *chosen; /* subsets, in ensemble order */
    plx_index count;
    double *trace; /* select = forward: validation error after every step */
    plx_index n_trace;
    int32_t *vectors; /* l x count: leave-one-out predictions of the training samples */
    hknn_combiner combiner;
} hknn_ensemble;

/* Chooses the members and, for combine = auto, how they are combined. truth: classes of the training samples. */
plx_status plx__hknn_select(hknn_ensemble *out, const hknn *h, const hknn_validation *validation, const int32_t *truth);

#endif
