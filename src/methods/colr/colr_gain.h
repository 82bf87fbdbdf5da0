/*
 * Information of candidates under colr; see colr_acquire.c for the formulas.
 */
#ifndef PLX_METHODS_COLR_COLR_GAIN_H
#define PLX_METHODS_COLR_COLR_GAIN_H

#include "active/acquirer.h"
#include "active/density.h"
#include "methods/colr/colr.h"

typedef struct colr_acquire_params {
    colr_params colr; /* first: colr reads its own part */
    int expectation;
} colr_acquire_params;

struct colr_work;

typedef struct colr_gains {
    colr *c;
    struct colr_work *workers; /* one per thread */
    plx_mat *rows;             /* m: block rows x d */
    bool labels, features, exact;
    plx__density density; /* of all views in their order; with features only */
    plx_index candidates; /* missing views */
    plx_mat label_gain;   /* n x 1, with labels */
    plx_mat gain;         /* n x views of the data, with features */
} colr_gains;

/* What the candidates of one view need, per component c of the density; matrices one below the other. */
typedef struct colr_tables {
    plx_index k;
    plx_mat mean;   /* k x d_v: mu_c with the constant */
    plx_mat pulled; /* k x d: S(:, v) mu_c */
    plx_mat second; /* exact: E[x x'] */
    plx_mat likely; /* exact: E[p(1-p) x x'] */
    plx_mat smooth; /* exact, graph: sum_l E[K_l (x - x_l)(x - x_l)'] */
} colr_tables;

typedef struct colr_work {
    plx_index *views;             /* m */
    double *pulled, *mean;        /* d: S m1; d_v: m1 */
    double *small, *small_inner;  /* (m + 1)^2 */
    double *columns;              /* (m + 1) x d_v: rows v of S U */
    double *full, *cov, *product; /* d_v x d_v */
} colr_work;

typedef struct colr_posterior {
    colr_gains *g;
    const colr *c;
    plx_context *ctx;
    const colr_fit *fit;
    plx_mat s;     /* n x m scores */
    plx_mat cov;   /* d x d: S */
    plx_mat *root; /* m: lower factors of the views' blocks of S as it was at first; unless `whole` */
    plx_index begin, end;
    plx_mat *rows;                 /* m: block rows x d: S x_ij; the gains' own */
    plx_index view;                /* whose candidates are at work */
    const colr_tables *tables;     /* of that view */
    const colr_tables *all_tables; /* m; NULL: no features */
    colr_work *workers;            /* the gains' own */
    bool changed;                  /* S is not the one the roots were made with */
    bool rooted;                   /* rows of S x hold L_j' x_j, S_jj = L_j L_j', in the columns of their own view */
    bool
        whole; /* rows of S x are needed in all columns (F is there); else in those of the view and the ones before it */
} colr_posterior;

/* Memory all problems share. */
plx_status plx__colr_open_gains(colr_gains *g);

/* The posterior and tables of one problem, in scratch; then adds the information of every candidate about its weights. */
plx_status plx__colr_open_posterior(colr_posterior *p, colr_gains *g, const colr_fit *fit);
plx_status plx__colr_add_gains(colr_posterior *p);

/* S is another one now: what was made with it follows. */
plx_status plx__colr_changed(colr_posterior *p);

/* ---- one candidate; S x of its sample must be at hand ---- */

/* S x_ij of samples begin..end-1 in all views. */
plx_status plx__colr_pull_block(colr_posterior *p, plx_index begin, plx_index end);
const double *plx__colr_pulled_row(const colr_posterior *p, plx_index i, plx_index j);

/* The change that a label, or measuring p->view, makes to the precision: columns U with weights a, and F. Leaves
 * I + A U'SU A in w->small, their views in w->views, and for a view m1 and S m1 and, if `whole`, rows v of S U A. */
typedef struct colr_change {
    plx_index size, views; /* columns; the first `views` of them belong to views of the sample */
    double agree, own;     /* weights of those of agreement, and of m1 itself */
} colr_change;
colr_change plx__colr_label_change(const colr_posterior *p, const colr_work *w, plx_index i);
colr_change plx__colr_feature_change(const colr_posterior *p, const colr_work *w, plx_index i);
/* F in w->full; false: it is 0. */
bool plx__colr_full_part(const colr_posterior *p, const colr_work *w, plx_index i, const colr_change *change);

plx_status plx__colr_label_gain(double *out, plx_context *ctx, const colr_posterior *p, const colr_work *w,
                                plx_index i);
plx_status plx__colr_feature_gain(double *out, plx_context *ctx, const colr_posterior *p, const colr_work *w,
                                  plx_index i);

/* ---- colr_batch.c ---- */

/* Takes `size` of the candidates together, S changed by each; sample and view (number among the model's; -1: label) of
 * every candidate. */
plx_status plx__colr_batch(colr_posterior *posteriors, plx__candidate *list, plx_index count, const plx_index *sample,
                           const plx_index *view, plx_index size);

#endif
