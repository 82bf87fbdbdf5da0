/*
 * Multinomial naive Bayes on one view, and the ensemble of several views: what `nb`, the naive-Bayes start of `mvplsa`
 * and the learner of `cotrain` share.
 */
#ifndef PLX_MIXTURE_NAIVE_BAYES_H
#define PLX_MIXTURE_NAIVE_BAYES_H

#include "run/problem.h"
#include "linalg/distance.h"

/* What is learned from: a class index per sample (-1: none), and names for messages. */
typedef struct plx__nb_labels {
    const char *who; /* begins messages, e.g. "nb" */
    plx_index n, n_classes;
    const int32_t *label;
    const char *const *classes;
} plx__nb_labels;

plx__nb_labels plx__nb_labels_of(const plx__problem *p, const char *who);

/* prior_c = (labelled count + smoothing) / normaliser. A class without a labelled sample is PLX_E_DATA. */
plx_status plx__nb_prior(double *prior, plx_context *ctx, const plx__nb_labels *labels, double smoothing);

/* theta (K x d): theta_cf = (smoothing + sum of x_f over the labelled samples of c that have the view) / (smoothing d +
 * total_c); uniform where that is 0 / 0. total (K) receives the masses. Sums that overflow are PLX_E_NUMERIC. */
plx_status plx__nb_theta(plx_mat theta, double *total, plx_context *ctx, const plx__nb_labels *labels,
                         const plx__view *view, double smoothing);

/* The steps of it, for a learner that adds a few samples at a time: counts of all labelled samples, one more row, the
 * masses of the classes, and what a count stands for, as theta (in place) or as log theta. */
plx_status plx__nb_counts(plx_mat counts, plx_context *ctx, const plx__nb_labels *labels, const plx__view *view);
void plx__nb_add_row(double *sum, const plx__view *view, plx_index sample);
plx_status plx__nb_masses(double *total, plx_context *ctx, const plx__nb_labels *labels, plx_cmat counts,
                          const char *view);
void plx__nb_normalise(plx_mat counts, const double *total, double smoothing);
double plx__nb_log_theta(double count, double total, double smoothing, plx_index cols);

/* The rows of a view, dense or sparse. */
plx__points plx__view_points(const plx__view *view);

/* out[i,c] = sum_f x_if log theta_cf; log 0 is taken as log 1e-300. */
plx_status plx__nb_log_scores(plx_context *ctx, plx__points rows, plx_cmat theta, plx_mat out);
void plx__nb_logs(plx_cmat theta, plx_mat logs); /* d x K, as above */
/* The same of a view; of a divided one, of the rows that are here. */
plx_status plx__nb_view_scores(plx_context *ctx, const plx__view *view, plx_cmat theta, plx_mat out);
plx_status plx__nb_table_scores(plx_context *ctx, plx__points rows, plx_cmat logs, plx_mat out); /* logs: d x K */

/* Joining the views of every sample: the mean of their posteriors, or the product of their likelihoods. */
typedef struct plx__nb_joint {
    bool product;
    const double *prior;   /* K */
    double *log_prior;     /* K */
    plx_mat joint;         /* n x K, zero at the start */
    int32_t *views;        /* n: views joined so far */
    const plx__view *view; /* the one that joins; at first any, or NULL: it tells the rows that are here */
    plx_mat own;
    bool keep; /* every rank keeps the posteriors of its own rows */
} plx__nb_joint;

plx_status plx__nb_joint_open(plx__nb_joint *j, plx_context *ctx, const double *prior, plx_mat joint, bool product,
                              const plx__view *view);

/* One view's log scores `own` (n x K) become its posteriors (zero rows where it is missing) and join the others. */
plx_status plx__nb_joint_add(plx__nb_joint *j, plx_context *ctx, const plx__view *view, plx_mat own);

/* The joint posterior, of all samples on all ranks unless they keep their own; a sample without any view gets the prior. */
plx_status plx__nb_joint_close(plx__nb_joint *j, plx_context *ctx);

/* How samples are cut; which rows of divided views each rank must have for the counts: bound[r] .. bound[r+1]-1. */
void plx__nb_bounds(plx_index *bound, const plx_context *ctx, plx_index n);

/* All of the above with combine = mean: posteriors (n x K) of all samples by the labels of the problem. */
plx_status plx__nb_ensemble(plx_mat posterior, plx_context *ctx, const plx__nb_labels *labels, const plx__view *views,
                            plx_index n_views, double smoothing);

#endif
