/*
 * Inside of colr: one logistic classifier per view under a prior that shrinks weights, asks the views to agree and asks
 * each classifier to be smooth on its view's graph.
 *
 * Notation: w stacks the views' weights, the constant last within each view (d entries all in all); s_ij = w_j.x_ij;
 *
 *     P(lambda) = diag(lambda_1 .. lambda_d) + lambda_co Cm + blockdiag(lambda_gj Delta_j),
 *     w'Cm w    = sum over consensus samples i and pairs j < k of their views of (s_ij - s_ik)^2,
 *     Delta_j   = sum_{i > l} K_il (x_i - x_l)(x_i - x_l)' = X_j' (Deg - K) X_j.
 *
 * With c_i views of sample i the agreement is sum_ij t_ij s_ij, t_ij = c_i s_ij - sum_k s_ik: Cm acts through scores and
 * needs no matrix. Matrices d x d are formed while they are cheap, and steps then are solved by Cholesky; else the same
 * steps are solved by conjugate gradients.
 */
#ifndef PLX_METHODS_COLR_COLR_H
#define PLX_METHODS_COLR_COLR_H

#include "kernel/prepared.h"
#include "kernel/row_passes.h"
#include "linalg/distance.h"

enum { COLR_UNLABELLED = 0, COLR_ALL = 1 };
enum { COLR_GAMMA = 0, COLR_FIXED = 1 };
enum { COLR_NO_GRAPH = 0, COLR_RBF = 1 };
enum { COLR_MEAN = 0, COLR_SUM = 1 };
enum { COLR_BALANCED = 0, COLR_UNBALANCED = 1 };

/* Are d x d matrices formed when fitting? Always for few weights; else where a factorisation costs less than the products
 * with `entries` values of the data that conjugate gradients need instead. */
bool plx__colr_prefers_dense(double d, double entries);

typedef struct colr_params {
    int balance, consensus, hyper, graph, combine;
    bool bias, tie_graph;
    double lambda_ridge, lambda_graph, lambda_co;
    plx_index gem_iter;
    double gem_tol;
} colr_params;

typedef struct colr_view {
    plx_index view; /* number in the problem */
    const char *name;
    plx__points x;          /* n rows, scaled and balanced, without the constant */
    plx__row_passes rows;   /* passes over them */
    const uint8_t *present; /* n */
    plx_index features, d;  /* columns of x; with the constant */
    plx_index at;           /* first of its weights */
    double width;           /* of the graph */
    plx_mat laplacian;      /* n x n, zero where the view is missing; data NULL: no graph */
    plx_mat smooth;         /* d x d: Delta_j; data NULL: not formed */
} colr_view;

/* A Gamma prior on a precision whose quadratic form has this rank. */
typedef struct colr_gamma {
    double alpha, beta, rank;
} colr_gamma;

typedef struct colr {
    plx__run *run;
    plx_context *ctx;
    const colr_params *set;
    plx_index n, m, d;
    plx__slabs cut;         /* of the samples */
    plx_index begin, end;   /* samples of this process: what is made of samples is made of these */
    const plx_index *bound; /* processes have only their own rows of the views: bound[r] .. bound[r+1]-1; NULL: all */
    colr_view *views;       /* m views that are used */
    plx_index *count;       /* n: views of the sample */
    const int32_t *label;   /* n; -1 unlabelled or without any view */
    uint8_t *consensus;     /* n: takes part in the agreement */
    plx_index terms;        /* (sample, pair of views) terms in it */
    plx_index q;            /* problems */
    bool dense;             /* d x d matrices are formed: set before plx__colr_open_prior, or for small d */
    plx_mat full;           /* dense: n x d, rows of all views (that are here) with their constants, 0 where missing */
    plx_mat agree;          /* dense: Cm */
    plx_index n_graph;      /* graph precisions: 0, 1 or m */
    colr_gamma ridge, co;
    colr_gamma *graph; /* n_graph */
} colr;

/* Precisions of one problem. */
typedef struct colr_lambda {
    double *ridge; /* d */
    double *graph; /* n_graph */
    double co;
} colr_lambda;

/* ---- colr_input.c ---- */

/* Views scaled and balanced; when fitting what new samples need goes into the model. */
plx_status plx__colr_open(colr *c, plx__run *run);
/* s (n x m): scores of this process's samples in all views, 0 where a view is missing. */
plx_status plx__colr_scores(const colr *c, const double *w, plx_mat s);
/* g (d) += sum_ij t_ij x_ij with the constants, over all samples; t is n x m, 0 where a view is missing. */
plx_status plx__colr_pull(const colr *c, plx_cmat t, double *g);
/* Precision of the graph of view j, or 0. */
double plx__colr_graph_of(const colr *c, const colr_lambda *lambda, plx_index j);

/* ---- colr_prior.c ---- */

/* Bytes that finding the rank of the agreement takes where matrices of weights are not formed. */
double plx__colr_rank_bytes(const plx__run *run);
/* Graphs, Cm, ranks and Gamma priors. */
plx_status plx__colr_open_prior(colr *c);
/* Quadratic forms w'Cm w and (per graph precision) w'Delta w, from w and its scores. */
plx_status plx__colr_quadratic(const colr *c, const double *w, plx_cmat s, double *co, double *graph);
/* out = P(lambda) w; s are the scores of w. */
plx_status plx__colr_apply_prior(const colr *c, const colr_lambda *lambda, const double *w, plx_cmat s, double *out);
/* out (d x d) = blockdiag(X_j' diag(weight_j) X_j), weight n x m and >= 0; both triangles. Needs c->dense. */
plx_status plx__colr_information(const colr *c, plx_cmat weight, plx_mat out);
/* out = P(lambda) + information. */
void plx__colr_precision(const colr *c, const colr_lambda *lambda, plx_cmat information, plx_mat out);
/* The diagonal of P(lambda) + X' diag(weight) X, or close to it: for preconditioning. */
plx_status plx__colr_diagonal(const colr *c, const colr_lambda *lambda, plx_cmat weight, double *out);

/* ---- colr_fit.c ---- */

typedef struct colr_fit {
    double *w;
    colr_lambda lambda;
    double objective;
    plx_index iterations;
    bool converged;
} colr_fit;

/* Problem q: w, the final precisions, and the log posterior. */
plx_status plx__colr_learn(colr_fit *out, colr *c, plx_index q, plx__trace *trace);
/* The sum over all samples of what `fn` adds to a table of `width` numbers, on all processes. */
plx_status plx__colr_sum(const colr *c, plx_index width, plx__pane_fn fn, void *arg, double *table);
/* p(1-p) of every labelled (`labelled`) or every (else) present view, n x m; s are scores. */
void plx__colr_curvature(const colr *c, plx_cmat s, bool labelled, plx_mat out);

/* ---- colr.c ---- */
extern const plx__param_spec plx__colr_params[];
/* Everything of fit() up to predictions, with the fits of all problems. */
plx_status plx__colr_fit_all(colr *c, plx__run *run, colr_fit **fits);
plx_status plx__colr_predict(plx__run *run);
double plx__colr_memory(const plx__run *run);

/* ---- colr_acquire.c ---- */
extern const plx__method plx__acquire_colr_labels, plx__acquire_colr_features, plx__acquire_colr_any;

#endif
