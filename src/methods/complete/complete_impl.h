/*
 * Inside of completion: missing views, and single missing entries, from what is there.
 *
 * Every view is described by its leading principal components, x = mean + sd * (V z): columns of numbers are
 * standardised, columns of counts, binary values and sparse views centred only. A view is predicted from the z of the
 * other views a sample has,
 *
 *     ridge    z_v = z_O (C_OO + lambda I)^-1 C_Ov, C from the rows that have all of O and v, or block by block from the
 *              rows that have both of its views, whichever is better on hidden rows
 *     cca      the same with the leading canonical pairs of (O, v) only
 *     mixture  conditional mean of a Gaussian mixture over all z, fitted by EM to what is there
 *     knn      mean of the rows of the nearest samples that have the view, by z of the common views
 *     mean     the column means
 *
 * and single entries of a view that is there by z_v given the entries that are seen, with the prediction as prior. How
 * good each is, and which is chosen, is measured on known rows that are hidden.
 */
#ifndef PLX_METHODS_COMPLETE_COMPLETE_IMPL_H
#define PLX_METHODS_COMPLETE_COMPLETE_IMPL_H

#include "linalg/distance.h"
#include "mixture/incomplete_mixture.h"
#include "run/run.h"

enum { COMPLETE_MEAN = 0, COMPLETE_KNN = 1, COMPLETE_RIDGE = 2, COMPLETE_CCA = 3, COMPLETE_MIXTURE = 4 };
enum { COMPLETE_METHODS = 5 };

typedef struct complete_params {
    int with; /* 0: auto, else 1 + method */
    plx_index neighbours, dimensions, components;
    double hide;
} complete_params;

/* How a view is filled. */
typedef struct complete_choice {
    int method;
    double lambda;  /* ridge, cca: in units of the mean variance of a z */
    plx_index rank; /* cca */
    plx_index
        number; /* knn: neighbours; mixture: number of the mixture; ridge, cca: 1: covariances by pairs of views */
} complete_choice;

typedef struct complete_view {
    const char *name;
    plx_index d, r, at; /* columns; components, and the first of them among all z */
    const double *mean, *sd;
    plx_cmat basis;       /* r x d */
    const double *column; /* d: residual of a filled row, standardised, before calibration */
    const double *latent; /* r: residual variance of a predicted z */
    const double *noise;  /* d: variance the components leave, standardised */
    double calibration;   /* of standard deviations */
    complete_choice choice;
    plx__points rows; /* knn: the values as they are */
} complete_view;

enum { COMPLETE_MIXTURES = 3 };

typedef struct complete {
    plx__run *run;
    plx_context *ctx;
    const complete_params *set;
    plx_index n, m, dims; /* samples of the fit; views; all z */
    complete_view *views;
    plx_cmat z;          /* n x dims; 0 where a view is missing */
    const uint8_t *seen; /* n x m */
    plx_cmat cov;        /* dims x dims */
    plx_index n_mixtures;
    plx__incomplete_mixture mixture[COMPLETE_MIXTURES]; /* over the first columns of every view: mix_at */
    plx_index *mix_cols;                                /* dims of the mixture -> number of the z */
    plx_index mix_dims;
} complete;

/* Samples to be filled: those of the fit or others. */
typedef struct complete_rows {
    plx_index n;
    plx_cmat z;
    const uint8_t *seen; /* n x m */
} complete_rows;

/* ---- complete_latent.c ---- */

/* Means, scales, bases and z from the rows with seen[i*m+v] != 0; everything in `arena`, which is not scratch. */
plx_status plx__complete_learn_views(complete *c, plx__arena *arena, const plx__view *views, const uint8_t *seen);
/* z of rows under a fitted model; missing entries count as their mean. */
plx_status plx__complete_project(plx_mat *out, const complete *c, plx__arena *arena, const plx__view *views,
                                 const uint8_t *seen, plx_index n);
/* Row i of a view, standardised, missing entries 0; whether any is missing. */
bool plx__complete_row(double *out, const complete_view *v, const plx__view *view, plx_index i);

/* ---- complete_predict.c ---- */

/* Covariances of all z; mixtures of 1.. components where `mixtures`. */
plx_status plx__complete_learn_joint(complete *c, plx__arena *arena, bool mixtures);
/* Which z a mixture is over. */
plx_status plx__complete_mixture_columns(complete *c, plx__arena *arena);
/* Predicted z of view v (count x r) of some rows from their other views; 0 where there is none. */
plx_status plx__complete_predict(plx_mat out, const complete *c, plx_index v, const complete_choice *how,
                                 const complete_rows *rows, const plx_index *row, plx_index count);
/* Nearest samples of the fit that have view v, by the views both have (v itself included where `own`); -1: none.
 * `self`: rows are those of the fit, and none is its own neighbour. */
plx_status plx__complete_neighbours(plx_index *out, plx_index k, const complete *c, plx_index v, bool own, bool self,
                                    const complete_rows *rows, plx_index row);

/* ---- complete_fill.c ---- */

/* Values and standard deviations of a missing row of view v, in its own units; z its predicted components. */
void plx__complete_fill_row(double *value, double *deviation, const complete *c, plx_index v, const double *z);
plx_status plx__complete_fill_near(double *value, double *deviation, const complete *c, plx_index v,
                                   const complete_rows *rows, plx_index row, bool self);
/* Row i of view v, or the entries it lacks (the whole row is written): by neighbours, or by its predicted components z and
 * the entries that are seen. */
plx_status plx__complete_fill_sample(double *value, double *deviation, const complete *c, plx_index v,
                                     const plx__view *view, const complete_rows *rows, plx_index i, const double *z);
/* Array fill.VIEW: a line (row, column, value, deviation) for everything that is missing. */
plx_status plx__complete_put_fills(const complete *c, const plx__view *views, const complete_rows *rows);

/* ---- complete_choose.c ---- */

/* Errors on hidden rows (m x COMPLETE_METHODS), and with them the choice and calibration of every view; errors of single
 * hidden entries under that choice (m), NaN for views that lack none. */
plx_status plx__complete_choose(complete *c, plx_mat error, double *entry_error);
/* Residuals of the views' own choices, which deviations are in proportion to. */
plx_status plx__complete_residuals(complete *c, plx__arena *arena);

/* ---- complete_entries.c ---- */

/* Error of single entries of view v under its choice, by that of the column means: a share of the entries of some rows that
 * nothing was learned from are hidden and filled. left: which views of which rows were. NaN: no entry was hidden. */
plx_status plx__complete_entry_error(double *out, const complete *c, plx_index v, const plx__view *view,
                                     const plx_index *row, plx_index count, const uint8_t *left);

extern const plx__method plx__method_complete;

#endif
